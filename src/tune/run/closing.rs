//! The last word: do the new weights beat those they started from, and others?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::eval::Weights;
use crate::play::games_file::GamesFile;
use crate::play::player_config::PlayerConfig;
use crate::play::schedule::{Format, Schedule};
use crate::play::tournament::{NoObserver, Tournament};
use crate::play::{GameLimits, GameRules, MatchScore, openings};
use crate::tune::genome::Genome;
use crate::tune::preset::Preset;

use super::{Folder, RunError};

/// One closing match, from the view of the result.
pub struct Closing {
    /// Whom it was played against.
    pub opponent: String,
    pub score: MatchScore,
}

/// The file of the games, in the folder of the run.
const GAMES: &str = "games.pgn";

/// Plays the result against its start and against the rivals of the preset, each opening with
/// both colours; nobody when the preset asks for no games. The seed of the run chooses the
/// openings; what learned from games plays as it did then, anything else by nodes. The games are kept
/// in the folder; a match that `stop` broke off goes on from there, and is none yet.
pub fn closing_matches(
    preset: &Preset,
    genome: &Genome,
    [new, start]: [&Weights; 2],
    folder: &Folder,
    stop: &AtomicBool,
) -> Result<Option<Vec<Closing>>, RunError> {
    if preset.run.closing_games == 0 {
        return Ok(Some(Vec::new()));
    }
    let mut players = vec![("result", new.clone()), ("its start", start.clone())];
    for (name, genes) in &preset.run.rivals {
        // Checked when the preset was read.
        if let Ok(genes) = genome.genes_named(genes) {
            players.push((name, genome.weights(&genes)));
        }
    }
    let tournament = tournament(preset, &players);
    let unusable = |error: &dyn std::fmt::Display| folder.unusable(GAMES, &error.to_string());
    let path = folder.path().join(GAMES);
    let (journal, finished) =
        GamesFile::resume(&path, &tournament.id()).map_err(|error| unusable(&error))?;
    let conclusion = tournament
        .run(Some(journal), finished, &mut NoObserver, stop)
        .map_err(|error| unusable(&error))?;
    let crosstable = conclusion.crosstable;
    if crosstable.games() < tournament.schedule.games() {
        return Ok(None);
    }
    let closings = crosstable.scores().map(|((_, opponent), score)| Closing {
        opponent: players[opponent].0.to_owned(),
        score,
    });
    Ok(Some(closings.collect()))
}

fn tournament(preset: &Preset, players: &[(&str, Weights)]) -> Tournament {
    let run = &preset.run;
    let by_nodes = || GameRules::from(GameLimits::nodes(run.closing_nodes));
    let rules = preset.fitness.game_rules().unwrap_or_else(by_nodes);
    let mut openings = openings::embedded();
    openings::shuffle(&mut openings, run.seed);
    let player = |(name, weights): &(&str, Weights)| {
        PlayerConfig::in_process(name, Arc::new(weights.clone()))
    };
    Tournament {
        event: format!("{}, seed {}: closing match", preset.name, run.seed),
        players: players.iter().map(player).collect(),
        openings,
        schedule: Schedule::new(players.len(), Format::Gauntlet, run.closing_games as usize),
        rules,
        concurrency: match run.threads {
            0 => rayon::current_num_threads(),
            threads => threads,
        },
        sprt: None,
    }
}
