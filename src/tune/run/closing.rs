//! The last word: do the new weights beat those they started from, and others?

use crate::eval::Weights;
use crate::play::{self, Pace, Score, Terms, openings};
use crate::tune::genome::Genome;
use crate::tune::preset::{FitnessSettings, Preset};

use super::RunError;

/// One closing match, from the view of the result.
pub struct Closing {
    /// Whom it was played against.
    pub opponent: String,
    pub score: Score,
}

/// Plays the result against its start and against the rivals of the preset, each opening with
/// both colours; nobody when the preset asks for no games. The seed of the run chooses the
/// openings; what learned from games plays as it did then, anything else by nodes.
pub fn closing_matches(
    preset: &Preset,
    genome: &Genome,
    new: &Weights,
    start: &Weights,
) -> Result<Vec<Closing>, RunError> {
    let mut opponents = vec![("its start".to_owned(), start.clone())];
    for (name, genes) in &preset.run.rivals {
        // Checked when the preset was read.
        if let Ok(genes) = genome.genes_named(genes) {
            opponents.push((name.clone(), genome.weights(&genes)));
        }
    }
    if preset.run.closing_games == 0 {
        opponents.clear();
    }
    let matches = opponents.into_iter().map(|(opponent, weights)| {
        let score = closing_match(preset, new, &weights)?;
        Ok(Closing { opponent, score })
    });
    matches.collect()
}

fn closing_match(preset: &Preset, new: &Weights, opponent: &Weights) -> Result<Score, RunError> {
    let run = &preset.run;
    let threads = match run.threads {
        0 => rayon::current_num_threads(),
        threads => threads,
    };
    let terms = match &preset.fitness {
        FitnessSettings::Games(settings) => settings.terms(),
        _ => Terms::from(Pace::nodes(run.closing_nodes)),
    };
    let games = run.closing_games.next_multiple_of(2) as usize;
    let book = openings::embedded();
    let score = play::duel(new, opponent, terms, &book, games, run.seed, threads);
    score.map_err(|error| RunError::File {
        path: "closing match".to_owned(),
        reason: error.to_string(),
    })
}
