//! What the stages of a generation play. All of it follows from the settings, the number of the
//! generation and the weights in the folder: another rank of an MPI job with the same three plays the
//! same games.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::matches::Gauntlet;
use super::start;
use super::{CHAMPION, ChallengeSettings, EvolveError, EvolveSettings, GENERATION};
use crate::data::{
    LabelFormat, LabelGeneration, LabelMaker, MENTOR_TIMEOUT, MentorConfig, PROBED_MOVES, SelfPlay,
};
use crate::eval::Weights;
use crate::play::GameLimits;
use crate::play::player_config::PlayerConfig;
use crate::play::sprt::{EloModel, Sprt};
use crate::random::mix;

/// A mentor's depth where only the exchanges after a move matter.
const PROBE_DEPTH: u32 = 1;
/// Positions a random move away that a mentor scores with each.
const PROBED_AWAY: u32 = 2;
/// The challenger's weights file in the folder of the generation.
pub const CHALLENGER: &str = "challenger.toml";

/// A generation, and the folder of its run.
#[derive(Clone, Copy)]
pub struct StagePlan<'a> {
    pub settings: &'a EvolveSettings,
    pub generation: u64,
    pub folder: &'a Path,
    pub threads: usize,
}

impl StagePlan<'_> {
    pub fn champion_path(&self) -> PathBuf {
        self.folder.join(CHAMPION)
    }

    pub fn champion(&self) -> Result<Weights, EvolveError> {
        Ok(Weights::load(&self.champion_path())?)
    }

    pub fn generation_folder(&self) -> PathBuf {
        let name = format!("{GENERATION}{:04}", self.generation);
        self.folder.join(name)
    }

    pub fn challenger_path(&self) -> PathBuf {
        self.generation_folder().join(CHALLENGER)
    }

    pub fn labels_folder(&self) -> PathBuf {
        self.folder.join(super::LABELS)
    }

    pub fn labels_path(&self, generation: u64) -> PathBuf {
        self.labels_folder().join(format!("{generation:04}.bin"))
    }

    /// The champion's games against itself: each depends on the settings, the champion and the
    /// numbers of generation and game alone.
    pub fn self_play(&self) -> Result<LabelGeneration, EvolveError> {
        let selfplay = &self.settings.selfplay;
        let generation = self.generation;
        let weights = Arc::new(self.champion()?);
        let scale = network_scale(&weights);
        let (maker, scale) = match mentor(self.settings)? {
            Some(mentor) => {
                let maker = LabelMaker::Probes {
                    mentor,
                    weights,
                    games: None,
                };
                (maker, None)
            }
            None => (LabelMaker::Own(weights), scale),
        };
        Ok(LabelGeneration {
            part: None,
            play: SelfPlay {
                seed: mix(self.settings.start.seed, generation),
                depth: 0,
                nodes: Some(self.settings.nodes(generation)),
                opening: selfplay.opening,
                blunders: 0.0,
                share: self.settings.share(generation),
                settled: selfplay.settled,
                decided: selfplay.decided,
                away: PROBED_AWAY,
            },
            maker,
            threads: self.threads,
            positions: self.settings.positions(generation),
            scale,
            out: self.labels_path(generation),
            format: LabelFormat::Packed,
            force: false,
        })
    }

    /// The challenger's match against the champion.
    pub fn challenge(&self) -> Result<Gauntlet, EvolveError> {
        let challenger = Weights::load(&self.challenger_path())?;
        let settings = &self.settings.sprt;
        Ok(Gauntlet {
            event: format!("Finch evolve, generation {}", self.generation),
            players: vec![
                PlayerConfig::in_process("challenger", Arc::new(challenger)),
                PlayerConfig::in_process("champion", Arc::new(self.champion()?)),
            ],
            games: settings.games,
            nodes: settings.nodes,
            seed: mix(self.settings.start.seed, self.generation),
            sprt: Some(sprt(settings)),
            threads: self.threads,
            file: self.generation_folder().join("games.pgn"),
        })
    }

    /// The champion's games against the anchors.
    pub fn anchors(&self) -> Result<Gauntlet, EvolveError> {
        let champion = PlayerConfig::in_process("champion", Arc::new(self.champion()?));
        let anchors = start::anchors(self.settings)?;
        Ok(Gauntlet {
            event: format!("Finch evolve, anchors after generation {}", self.generation),
            players: [champion].into_iter().chain(anchors).collect(),
            games: self.settings.anchors.games,
            nodes: self.settings.anchors.nodes,
            // The same openings each time, so that only the champion differs.
            seed: self.settings.start.seed,
            sprt: None,
            threads: self.threads,
            file: self.generation_folder().join("anchors.pgn"),
        })
    }
}

/// The mentor that scores positions, if there is one.
pub fn mentor(settings: &EvolveSettings) -> Result<Option<MentorConfig>, EvolveError> {
    let command = &settings.selfplay.mentor;
    if command.is_empty() {
        return Ok(None);
    }
    let options = [
        ("Hash", "1".to_owned()),
        ("MultiPV", PROBED_MOVES.to_string()),
    ];
    let options = options.map(|(name, value)| (name.to_owned(), value));
    let limits = GameLimits::depth(PROBE_DEPTH);
    let mentor = MentorConfig::parse(command, &options, limits, MENTOR_TIMEOUT);
    mentor.map(Some).map_err(EvolveError::Mentor)
}

/// Centipawns that multiply the odds of winning by e, for scores of this network: what it learns
/// from its own scores is then what it says already.
fn network_scale(weights: &Weights) -> Option<f64> {
    let network = weights.network.as_ref()?;
    Some(f64::from(network.header.scale) * 100.0 / network.header.win_model.midpoint)
}

pub fn sprt(settings: &ChallengeSettings) -> Sprt {
    Sprt {
        elo0: settings.elo0,
        elo1: settings.elo1,
        alpha: settings.alpha,
        beta: settings.beta,
        model: EloModel::default(),
    }
}
