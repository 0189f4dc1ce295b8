//! The optimisation problem of an evolution run: the genome, and the fitness with its cases. Runs
//! that differ only in seed or method share one.

use std::path::Path;
use std::sync::Arc;

use super::{RunError, RunFolder, RunObserver, checkpoint};
use crate::data::Selection;
use crate::tune::fitness::{Fitness, FitnessError, FitnessInputs, FitnessSettings};
use crate::tune::genome::{Candidate, Genome, GenomeSettings};
use crate::tune::methods::{Individual, SeedGenes};
use crate::tune::preset::{Preset, PresetError, Reference};
use crate::tune::settings::SettingError;

/// The name of the paper's evolved player in the closing match.
const PAPER_PLAYER: &str = "the paper's weights";

pub struct Problem {
    pub genome: Arc<Genome>,
    fitness: Box<dyn Fitness + Send>,
    /// Name of the fitness and a description of the cases, for provenance.
    pub fitness_name: String,
    pub description: String,
    /// The survivors of an earlier run, its best first.
    pub ancestors: Vec<Individual>,
    made_from: Origin,
}

/// The settings that a problem depends on.
type Origin = (GenomeSettings, Selection, FitnessSettings, Option<String>);

impl Problem {
    pub fn new(preset: &Preset, observer: &mut dyn RunObserver) -> Result<Problem, RunError> {
        let genome = Arc::new(genome(preset)?);
        let ancestors = ancestors(preset, &genome)?;
        let inputs = FitnessInputs {
            genome: Arc::clone(&genome),
            selection: &preset.data,
        };
        let built = preset.fitness.build(inputs).map_err(|error| match error {
            FitnessError::Data(error) => RunError::Data(error),
            FitnessError::Setting(error) => refused(preset, error.in_table("fitness")),
        })?;
        if let Some(counts) = &built.counts {
            observer.prepared(&format!(
                "{}; {} positions to train on, {} to validate with",
                counts.tally.summary(),
                counts.training,
                counts.validation
            ));
        }
        if let Some(note) = &built.note {
            observer.prepared(note);
        }
        Ok(Problem {
            fitness: built.fitness,
            genome,
            fitness_name: preset.fitness.name().to_owned(),
            description: built.description,
            ancestors,
            made_from: key(preset),
        })
    }

    pub fn fitness(&self) -> &dyn Fitness {
        &*self.fitness
    }

    /// The rivals of a preset as players, and the paper's evolved player if there is one.
    pub fn rivals(&self, preset: &Preset) -> Vec<(String, Candidate)> {
        let rival = |(name, genes): (&String, &SeedGenes)| {
            // The preset was refused if it named other genes.
            let genes = self.genome.genes_named(genes).ok()?;
            Some((name.clone(), self.genome.candidate(&genes)))
        };
        let mut rivals: Vec<_> = preset.run.rivals.iter().filter_map(rival).collect();
        let player = preset.reference().and_then(Reference::player);
        let player = player.map(Candidate::Weights).or_else(|| {
            // A paper that prints only some of the values has no player to offer.
            let genes = self.genome.genes_named(&preset.paper_values()).ok()?;
            Some(self.genome.candidate(&genes))
        });
        rivals.extend(player.map(|player| (PAPER_PLAYER.to_owned(), player)));
        rivals
    }

    /// Whether this is the problem of a preset.
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

fn ancestors(preset: &Preset, genome: &Genome) -> Result<Vec<Individual>, RunError> {
    let Some(path) = preset.method.earlier_run() else {
        return Ok(Vec::new());
    };
    checkpoint::survivors(&RunFolder::open(Path::new(path))?, genome)
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
    let genome = preset.genome.build();
    genome.map_err(|error| refused(preset, error.in_table("genome")))
}
