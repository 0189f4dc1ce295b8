//! What the runs of an experiment share: the genome, and the fitness with its cases.

use std::path::Path;
use std::sync::Arc;

use super::{Folder, Observer, RunError, checkpoint};
use crate::data::Selection;
use crate::tune::fitness::{Fitness, FitnessError, FitnessInputs, FitnessSettings, named_weights};
use crate::tune::genome::{Genome, GenomeSettings};
use crate::tune::methods::Individual;
use crate::tune::preset::{Preset, PresetError};
use crate::tune::settings::SettingError;

pub struct Workshop {
    pub genome: Arc<Genome>,
    fitness: Box<dyn Fitness + Send>,
    /// Name of the fitness and words about the cases, for provenance.
    pub fitness_name: String,
    pub description: String,
    /// Whom an earlier run left behind, its best first.
    pub founders: Vec<Individual>,
    made_from: Origin,
}

/// What a workshop was made from.
type Origin = (GenomeSettings, Selection, FitnessSettings, Option<String>);

impl Workshop {
    pub fn new(preset: &Preset, observer: &mut dyn Observer) -> Result<Workshop, RunError> {
        let genome = Arc::new(genome(preset)?);
        let founders = founders(preset, &genome)?;
        let inputs = FitnessInputs {
            genome: Arc::clone(&genome),
            selection: &preset.data,
        };
        let built = preset.fitness.build(inputs).map_err(|error| match error {
            FitnessError::Data(error) => RunError::Data(error),
            FitnessError::Setting(error) => refused(preset, error.in_table("fitness")),
        })?;
        if let Some(counts) = &built.counts {
            observer.prepared(&counts.tally, counts.training, counts.validation);
        }
        Ok(Workshop {
            fitness: built.fitness,
            genome,
            fitness_name: preset.fitness.name().to_owned(),
            description: built.description,
            founders,
            made_from: key(preset),
        })
    }

    pub fn fitness(&self) -> &dyn Fitness {
        &*self.fitness
    }

    /// Whether a preset needs nothing else than what is here.
    pub fn serves(&self, preset: &Preset) -> bool {
        self.made_from == key(preset)
    }
}

fn key(preset: &Preset) -> Origin {
    (
        preset.genome.clone(),
        preset.data.clone(),
        preset.fitness.clone(),
        preset.method.earlier_run().map(str::to_owned),
    )
}

fn founders(preset: &Preset, genome: &Genome) -> Result<Vec<Individual>, RunError> {
    let Some(path) = preset.method.earlier_run() else {
        return Ok(Vec::new());
    };
    checkpoint::survivors(&Folder::open(Path::new(path))?, genome)
}

fn refused(preset: &Preset, error: SettingError) -> RunError {
    RunError::Preset(PresetError {
        file: preset.name.clone(),
        line: None,
        key: Some(error.key),
        problem: error.problem,
    })
}

fn genome(preset: &Preset) -> Result<Genome, RunError> {
    let base = named_weights(&preset.genome.base)
        .map_err(|error| SettingError::new("base", error.to_string()));
    base.and_then(|base| Genome::new(&preset.genome, base))
        .map_err(|error| refused(preset, error.in_table("genome")))
}
