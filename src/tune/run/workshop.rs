//! What the runs of an experiment share: the genome, and the fitness with its cases.

use std::path::Path;
use std::sync::Arc;

use super::{Observer, RunError};
use crate::data::{self, Selection, Source, Tally};
use crate::eval::Weights;
use crate::tune::fitness::{Fitness, Mentor, Moves};
use crate::tune::genome::{Genome, GenomeSettings};
use crate::tune::preset::{FitnessSettings, Preset, PresetError};

/// The games that come with the program, for whoever has no others.
pub fn built_in_games() -> Source {
    Source::built_in(
        "stockfish.pgn.zst (built in)",
        include_bytes!("../../../tuning/games/stockfish.pgn.zst"),
    )
}

pub struct Workshop {
    pub genome: Arc<Genome>,
    fitness: Box<dyn Fitness + Send>,
    /// Name of the fitness and words about the cases, for provenance.
    pub fitness_name: String,
    pub description: String,
    /// What it was made from.
    made_from: (GenomeSettings, Selection, FitnessSettings),
}

impl Workshop {
    pub fn new(preset: &Preset, observer: &mut dyn Observer) -> Result<Workshop, RunError> {
        let genome = Arc::new(genome(preset)?);
        let sources = sources(&preset.data);
        let gathered = gather(preset, &genome, &sources)?;
        let (training, validation) = (gathered.training, gathered.validation);
        observer.prepared(&gathered.tally, training, validation);
        let names: Vec<_> = sources.iter().map(|source| source.name()).collect();
        let description = format!(
            "{}: {training} positions, {validation} for validation",
            names.join(", ")
        );
        Ok(Workshop {
            fitness: gathered.fitness,
            genome,
            fitness_name: preset.fitness.name().to_owned(),
            description,
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

/// A fitness with its cases, and how many there are.
struct Gathered {
    fitness: Box<dyn Fitness + Send>,
    tally: Tally,
    training: usize,
    validation: usize,
}

fn gather(preset: &Preset, genome: &Arc<Genome>, sources: &[Source]) -> Result<Gathered, RunError> {
    let genome = Arc::clone(genome);
    Ok(match &preset.fitness {
        FitnessSettings::Moves(settings) => {
            let collection = data::collect(sources, &preset.data)?;
            Gathered {
                tally: collection.tally.clone(),
                training: collection.training.len(),
                validation: collection.validation.len(),
                fitness: Box::new(Moves::new(genome, settings.clone(), collection)),
            }
        }
        FitnessSettings::Mentor(settings) => {
            let labels = data::collect_labels(sources, &preset.data)?;
            Gathered {
                tally: labels.tally.clone(),
                training: labels.training.len(),
                validation: labels.validation.len(),
                fitness: Box::new(Mentor::new(genome, settings.clone(), &labels)),
            }
        }
    })
}

fn key(preset: &Preset) -> (GenomeSettings, Selection, FitnessSettings) {
    (
        preset.genome.clone(),
        preset.data.clone(),
        preset.fitness.clone(),
    )
}

fn sources(selection: &Selection) -> Vec<Source> {
    if selection.games.is_empty() {
        return vec![built_in_games()];
    }
    selection.games.iter().map(Source::file).collect()
}

fn genome(preset: &Preset) -> Result<Genome, RunError> {
    let base = match preset.genome.base.as_str() {
        "" | "none" => Weights::zero("none"),
        "default" => Weights::default(),
        file => Weights::load(Path::new(file))?,
    };
    Genome::new(&preset.genome, base).map_err(|(key, problem)| {
        RunError::Preset(PresetError {
            file: preset.name.clone(),
            line: None,
            key: Some(format!("genome.{key}")),
            problem,
        })
    })
}
