//! What the runs of an experiment share: the genome, and the fitness with its cases.

use std::path::Path;
use std::sync::Arc;

use super::{Folder, Observer, RunError, checkpoint};
use crate::data::{self, Selection, Source, Tally};
use crate::eval::Weights;
use crate::tune::fitness::{Fitness, Games, Mentor, Moves};
use crate::tune::genome::{Genome, GenomeSettings};
use crate::tune::methods::Individual;
use crate::tune::preset::{FitnessSettings, Preset, PresetError};

/// The games that come with the program, for whoever has no others.
pub fn built_in_games() -> Source {
    Source::built_in(
        "stockfish.pgn.zst (built in)",
        include_bytes!("../../../tuning/games/stockfish.pgn.zst"),
    )
}

/// The labels that come with the program, for whoever asks no mentor of his own.
pub fn built_in_labels() -> Source {
    Source::built_in(
        "stockfish.epd.zst (built in)",
        include_bytes!("../../../tuning/labels/stockfish.epd.zst"),
    )
}

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
        let gathered = gather(preset, &genome)?;
        if let Some(cases) = &gathered.cases {
            observer.prepared(&cases.tally, cases.training, cases.validation);
        }
        Ok(Workshop {
            fitness: gathered.fitness,
            genome,
            fitness_name: preset.fitness.name().to_owned(),
            description: gathered.description,
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

/// A fitness, words about what it measures on, and its cases if it has any.
struct Gathered {
    fitness: Box<dyn Fitness + Send>,
    description: String,
    cases: Option<Cases>,
}

/// How many cases there are, and where they come from.
struct Cases {
    tally: Tally,
    training: usize,
    validation: usize,
}

impl Gathered {
    fn from_data(
        fitness: Box<dyn Fitness + Send>,
        tally: Tally,
        [training, validation]: [usize; 2],
        sources: &[Source],
    ) -> Gathered {
        let names: Vec<_> = sources.iter().map(|source| source.name()).collect();
        Gathered {
            fitness,
            description: format!(
                "{}: {training} positions, {validation} for validation",
                names.join(", ")
            ),
            cases: Some(Cases {
                tally,
                training,
                validation,
            }),
        }
    }
}

fn gather(preset: &Preset, genome: &Arc<Genome>) -> Result<Gathered, RunError> {
    let genome = Arc::clone(genome);
    let sources = || sources(preset);
    Ok(match &preset.fitness {
        FitnessSettings::Moves(settings) => {
            let sources = sources();
            let collection = data::collect(&sources, &preset.data)?;
            let counts = [collection.training.len(), collection.validation.len()];
            let tally = collection.tally.clone();
            let moves = Moves::new(genome, settings.clone(), collection);
            Gathered::from_data(Box::new(moves), tally, counts, &sources)
        }
        FitnessSettings::Mentor(settings) => {
            let sources = sources();
            let labels = data::collect_labels(&sources, &preset.data)?;
            let counts = [labels.training.len(), labels.validation.len()];
            let mentor = Mentor::new(genome, settings.clone(), &labels);
            Gathered::from_data(Box::new(mentor), labels.tally.clone(), counts, &sources)
        }
        FitnessSettings::Games(settings) => {
            let opponent = Some(settings.opponent.as_str()).filter(|name| !name.is_empty());
            let opponent = opponent
                .map(|name| named_weights(preset, "fitness.opponent", name))
                .transpose()?;
            Gathered {
                fitness: Box::new(Games::new(genome, settings.clone(), opponent)),
                description: settings.description(),
                cases: None,
            }
        }
    })
}

fn key(preset: &Preset) -> Origin {
    (
        preset.genome.clone(),
        preset.data.clone(),
        preset.fitness.clone(),
        preset.method.first_stage().map(str::to_owned),
    )
}

fn founders(preset: &Preset, genome: &Genome) -> Result<Vec<Individual>, RunError> {
    let Some(path) = preset.method.first_stage() else {
        return Ok(Vec::new());
    };
    checkpoint::survivors(&Folder::open(Path::new(path))?, genome)
}

/// Weights by what a key of the preset calls them. Only terms evolve: a network would judge in
/// their place.
fn named_weights(preset: &Preset, key: &str, name: &str) -> Result<Weights, RunError> {
    let weights = match name {
        "" | "none" => Weights::zero("none"),
        "default" => Weights::default(),
        file => Weights::load(Path::new(file))
            .map_err(|error| complaint(preset, key, error.to_string()))?,
    };
    Ok(weights.without_network())
}

/// What is wrong with a key of the preset.
fn complaint(preset: &Preset, key: &str, problem: String) -> RunError {
    RunError::Preset(PresetError {
        file: preset.name.clone(),
        line: None,
        key: Some(key.to_owned()),
        problem,
    })
}

fn sources(preset: &Preset) -> Vec<Source> {
    let built_in = match preset.fitness {
        FitnessSettings::Mentor(_) => built_in_labels,
        FitnessSettings::Moves(_) | FitnessSettings::Games(_) => built_in_games,
    };
    match preset.data.games[..] {
        [] => vec![built_in()],
        _ => preset.data.games.iter().map(Source::file).collect(),
    }
}

fn genome(preset: &Preset) -> Result<Genome, RunError> {
    let base = named_weights(preset, "genome.base", &preset.genome.base)?;
    Genome::new(&preset.genome, base)
        .map_err(|(key, problem)| complaint(preset, &format!("genome.{key}"), problem))
}
