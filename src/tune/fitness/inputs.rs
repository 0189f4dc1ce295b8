//! What a fitness is built from, and the data that comes with the program.

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::Fitness;
use crate::data::{DataError, Labels, Selection, Source, Tally};
use crate::eval::{Weights, WeightsError};
use crate::tune::genome::Genome;
use crate::tune::settings::SettingError;

/// The games that come with the program, used if no others are given.
pub fn built_in_games() -> Source {
    Source::built_in(
        "stockfish.pgn.zst (built in)",
        include_bytes!("../../../tuning/games/stockfish.pgn.zst"),
    )
}

/// The labels that come with the program, used if no others are given.
pub fn built_in_labels() -> Source {
    Source::built_in(
        "stockfish.epd.zst (built in)",
        include_bytes!("../../../tuning/labels/stockfish.epd.zst"),
    )
}

/// Weights by the name a preset gives them: "none", a built-in name such as "default" or "hand-set"
/// (the terms before any tuning), or a file. They have no network, since it would evaluate in place of the terms that
/// evolve.
pub fn named_weights(name: &str) -> Result<Weights, WeightsError> {
    weights_with_network(name).map(Weights::without_network)
}

/// The same with their network, for genomes that leave the terms alone.
pub fn weights_with_network(name: &str) -> Result<Weights, WeightsError> {
    match name {
        "" | "none" => Ok(Weights::zero("none")),
        name => Weights::named(Path::new(name)),
    }
}

/// What a fitness may be built from.
pub struct FitnessInputs<'a> {
    pub genome: Arc<Genome>,
    pub selection: &'a Selection,
}

impl FitnessInputs<'_> {
    /// The files of the selection, or what is built in.
    pub fn sources(&self, built_in: fn() -> Source) -> Vec<Source> {
        match self.selection.games[..] {
            [] => vec![built_in()],
            _ => self.selection.games.iter().map(Source::file).collect(),
        }
    }
}

/// A fitness ready for use.
pub struct BuiltFitness {
    pub fitness: Box<dyn Fitness + Send>,
    /// The data in one line, for provenance.
    pub description: String,
    /// What the fitness found out from its data, for people.
    pub note: Option<String>,
    /// How many cases were read; none if the fitness reads none.
    pub counts: Option<CaseCounts>,
}

pub struct CaseCounts {
    pub tally: Tally,
    pub training: usize,
    pub validation: usize,
}

impl From<&Labels> for CaseCounts {
    fn from(labels: &Labels) -> CaseCounts {
        CaseCounts {
            tally: labels.tally.clone(),
            training: labels.training.len(),
            validation: labels.validation.len(),
        }
    }
}

impl BuiltFitness {
    pub fn from_cases(
        fitness: impl Fitness + Send + 'static,
        sources: &[Source],
        counts: CaseCounts,
    ) -> BuiltFitness {
        let names: Vec<_> = sources.iter().map(|source| source.name()).collect();
        BuiltFitness {
            fitness: Box::new(fitness),
            description: format!(
                "{}: {} positions, {} for validation",
                names.join(", "),
                counts.training,
                counts.validation
            ),
            note: None,
            counts: Some(counts),
        }
    }

    /// Adds a note, which provenance keeps.
    pub fn with_note(self, note: &str) -> BuiltFitness {
        BuiltFitness {
            description: format!("{}; {note}", self.description),
            note: Some(note.to_owned()),
            ..self
        }
    }
}

/// Why a fitness cannot be built.
#[derive(Debug, Error)]
pub enum FitnessError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("fitness.{0}")]
    Setting(#[from] SettingError),
}
