//! What an evolve run knows between two stages: the file `state.toml`, replaced atomically.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::tune::run::{Figures, RunError, RunFolder};

const FILE: &str = "state.toml";

/// The stages of a generation, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EvolveStage {
    /// The champion plays itself.
    #[default]
    SelfPlay,
    /// A challenger learns from the labels of the window.
    Training,
    /// In place of both: a challenger with other constants of the search.
    Search,
    /// The challenger plays the champion.
    Challenge,
    /// The winner becomes the champion.
    Succession,
    /// The champion plays the anchors.
    Anchors,
    /// The generation goes into the journal.
    Closing,
}

impl fmt::Display for EvolveStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EvolveStage::SelfPlay => "self-play",
            EvolveStage::Training => "training",
            EvolveStage::Search => "search constants",
            EvolveStage::Challenge => "match",
            EvolveStage::Succession => "succession",
            EvolveStage::Anchors => "anchors",
            EvolveStage::Closing => "closing",
        })
    }
}

/// The generation under way.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct EvolveState {
    /// Counted from 1.
    pub generation: u64,
    /// The stage that comes next.
    pub stage: EvolveStage,
    /// Time spent so far.
    pub seconds: f64,
    /// The generation that the champion comes from; 0 is the start.
    pub champion: u64,
    /// The champion's Elo against the start: the sum of all matches it and its ancestors won.
    pub elo: CumulativeElo,
    /// What the stages so far came to.
    pub result: GenerationResult,
}

/// A sum of Elo differences and the variance of its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CumulativeElo {
    pub value: f64,
    pub variance: f64,
}

impl CumulativeElo {
    pub fn add(&mut self, elo: f64, error: f64) {
        self.value += elo;
        self.variance += error * error;
    }

    /// 95%.
    pub fn error(&self) -> f64 {
        self.variance.sqrt()
    }
}

/// What the stages of a generation came to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GenerationResult {
    pub games: u64,
    pub positions: usize,
    pub training_loss: Option<f64>,
    pub validation_loss: Option<f64>,
    /// In a generation for the constants of the search.
    pub constants: Option<ConstantsResult>,
    pub challenge: Option<ChallengeResult>,
    #[serde(default)]
    pub anchors: Vec<AnchorResult>,
}

/// What SPSA made of the champion's constants of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ConstantsResult {
    pub games: u64,
    /// How many constants differ from the champion's.
    pub changed: u64,
}

/// The match of challenger and champion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ChallengeResult {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    pub llr: f64,
    pub accepted: bool,
    pub elo: f64,
    /// 95%.
    pub error: f64,
}

/// The champion's score against an anchor.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct AnchorResult {
    pub name: String,
    /// Points per game.
    pub score: f64,
    pub elo: f64,
    /// 95%.
    pub error: f64,
}

impl EvolveState {
    /// The state of a folder, if it has one yet.
    pub fn read(folder: &RunFolder) -> Result<Option<EvolveState>, RunError> {
        let Some(text) = folder.read(FILE)? else {
            return Ok(None);
        };
        let damaged = |error: toml::de::Error| folder.unusable(FILE, error.message());
        toml::from_str(&text).map_err(damaged).map(Some)
    }

    pub fn write(&self, folder: &RunFolder) -> Result<(), RunError> {
        let text = toml::to_string(self);
        let text = text.map_err(|error| folder.unusable(FILE, &error.to_string()))?;
        folder.write(FILE, text)
    }

    /// The columns of the journal beside the generation and the seconds.
    pub fn columns(anchors: &[String]) -> Vec<String> {
        let always = [
            "games",
            "positions",
            "training_loss",
            "validation_loss",
            "search_games",
            "search_changed",
            "match_games",
            "wins",
            "draws",
            "losses",
            "llr",
            "accepted",
            "elo",
            "elo_error",
            "cumulative_elo",
            "cumulative_error",
            "hours",
        ];
        let measured = anchors
            .iter()
            .flat_map(|name| ["score", "elo", "error"].map(|figure| anchor_column(figure, name)));
        always
            .map(str::to_owned)
            .into_iter()
            .chain(measured)
            .collect()
    }

    /// The generation's row of the journal.
    pub fn figures(&self, anchors: &[String]) -> Figures {
        let result = &self.result;
        let challenge = result.challenge.unwrap_or_default();
        let ChallengeResult {
            wins,
            draws,
            losses,
            ..
        } = challenge;
        let mut figures = vec![
            Some(result.games as f64),
            Some(result.positions as f64),
            result.training_loss,
            result.validation_loss,
            result.constants.map(|constants| constants.games as f64),
            result.constants.map(|constants| constants.changed as f64),
            Some((wins + draws + losses) as f64),
            Some(wins as f64),
            Some(draws as f64),
            Some(losses as f64),
            Some(rounded(challenge.llr)),
            Some(f64::from(u8::from(challenge.accepted))),
            Some(rounded(challenge.elo)),
            Some(rounded(challenge.error)),
            Some(rounded(self.elo.value)),
            Some(rounded(self.elo.error())),
            Some((self.seconds / 3.6).round() / 1000.0),
        ];
        for name in anchors {
            let measured = result.anchors.iter().find(|anchor| anchor.name == *name);
            figures.extend([
                measured.map(|anchor| (1000.0 * anchor.score).round() / 1000.0),
                measured.map(|anchor| rounded(anchor.elo)),
                measured.map(|anchor| rounded(anchor.error)),
            ]);
        }
        figures
    }

    /// The generation in a line.
    pub fn describe(&self) -> String {
        let result = &self.result;
        let challenge = match &result.challenge {
            None => "no challenger".to_owned(),
            Some(challenge) => challenge.describe(),
        };
        let mut line = format!(
            "generation {}: {}; {challenge}; champion {:+.0} in all, {:.2} h",
            self.generation,
            result.learned(),
            self.elo.value,
            self.seconds / 3600.0
        );
        for anchor in &result.anchors {
            let AnchorResult { name, score, .. } = anchor;
            line += &format!("; {:.0}% against {name}", 100.0 * score);
        }
        line
    }
}

impl GenerationResult {
    /// What was learned, and from what.
    fn learned(&self) -> String {
        if let Some(ConstantsResult { games, changed }) = self.constants {
            return format!("search constants, {games} games of SPSA, {changed} changed");
        }
        let loss = self.validation_loss.or(self.training_loss);
        let loss = loss.map_or(String::new(), |loss| format!(", loss {loss:.5}"));
        format!("{} games, {} positions{loss}", self.games, self.positions)
    }
}

impl ChallengeResult {
    fn describe(&self) -> String {
        let verdict = match self.accepted {
            true => "accepted",
            false => "rejected",
        };
        format!(
            "challenger {verdict}: {} wins, {} draws, {} losses, LLR {:.2}, Elo {:+.0} +/- {:.0}",
            self.wins, self.draws, self.losses, self.llr, self.elo, self.error
        )
    }
}

/// The column of an anchor's `score`, `elo` or `error`.
pub fn anchor_column(figure: &str, name: &str) -> String {
    format!("{figure} {name}")
}

fn rounded(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_survives_its_file() {
        let desk = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(desk.path()).unwrap();
        assert_eq!(EvolveState::read(&folder).unwrap(), None);
        let mut state = EvolveState {
            generation: 3,
            stage: EvolveStage::Challenge,
            seconds: 12.5,
            ..EvolveState::default()
        };
        state.elo.add(100.0, 30.0);
        state.result.challenge = Some(ChallengeResult::default());
        state.write(&folder).unwrap();
        assert_eq!(EvolveState::read(&folder).unwrap(), Some(state));
        folder.write("state.toml", "generation = 'many'").unwrap();
        assert!(EvolveState::read(&folder).is_err());
    }
}
