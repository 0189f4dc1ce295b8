//! What a run knows between two generations, as a file.

use serde::{Deserialize, Serialize};

use super::{Folder, Record, RunError};
use crate::eval::Weights;
use crate::tune::genome::Genome;
use crate::tune::methods::Individual;

const FILE: &str = "checkpoint";

#[derive(Deserialize, Serialize)]
pub struct Checkpoint {
    pub generation: u64,
    pub seconds: f64,
    pub best: Record,
    /// What the method saved.
    pub method: toml::Table,
}

impl Checkpoint {
    /// The checkpoint of a folder, if it has one yet.
    pub fn read(folder: &Folder) -> Result<Option<Checkpoint>, RunError> {
        let unusable = |error: toml::de::Error| folder.unusable(FILE, error.message());
        let text = folder.read(FILE)?;
        text.map(|text| toml::from_str(&text).map_err(unusable))
            .transpose()
    }

    pub fn write(&self, folder: &Folder) -> Result<(), RunError> {
        let unusable = |error: toml::ser::Error| folder.unusable(FILE, &error.to_string());
        folder.write(FILE, &toml::to_string(self).map_err(unusable)?)
    }
}

/// Fails unless everyone has as many genes as the genome.
pub fn check_genes(
    folder: &Folder,
    population: &[Individual],
    genome: &Genome,
) -> Result<(), RunError> {
    let fits = |one: &Individual| one.genes.len() == genome.len();
    if population.iter().all(fits) {
        return Ok(());
    }
    Err(folder.unusable(FILE, "of another genome"))
}

/// Whom a run left behind: its best, then its last population.
pub fn survivors(folder: &Folder, genome: &Genome) -> Result<Vec<Individual>, RunError> {
    let unusable = |reason: &str| folder.unusable(FILE, reason);
    let checkpoint = Checkpoint::read(folder)?.ok_or_else(|| unusable("no such file"))?;
    let population = checkpoint.method.get("population").cloned();
    let population = population.ok_or_else(|| unusable("its method keeps no population"))?;
    let population: Vec<Individual> = population
        .try_into()
        .map_err(|error: toml::de::Error| unusable(error.message()))?;
    let earlier = Genome::new(&folder.preset()?.genome, Weights::zero("none"));
    if !earlier.is_ok_and(|earlier| earlier.is_compatible_with(genome)) {
        return Err(unusable("of another genome"));
    }
    let best = checkpoint.best.individual;
    let others = population.into_iter().filter(|one| one.genes != best.genes);
    let survivors: Vec<Individual> = [best.clone()].into_iter().chain(others).collect();
    check_genes(folder, &survivors, genome)?;
    Ok(survivors)
}
