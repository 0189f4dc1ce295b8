//! The budgets of an evolve run: the file `config.toml` of its folder.

use serde::{Deserialize, Deserializer, Serialize};

use crate::eval::{Architecture, UnsupportedArchitecture};
use crate::tune::preset::{PresetError, Reader, with_changes};
use crate::tune::settings::{SettingError, check_range};

/// The `from` that means random weights.
pub const ZERO: &str = "zero";

/// Everything that decides which champions a run finds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EvolveSettings {
    pub start: StartSettings,
    pub selfplay: SelfPlaySettings,
    pub training: WindowTraining,
    /// A folder of an earlier version has no such table, and goes on without.
    #[serde(default)]
    pub search: ConstantsTuning,
    pub sprt: ChallengeSettings,
    pub anchors: AnchorSettings,
}

/// The table `[start]`: the first champion.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StartSettings {
    /// `zero` (random network), `default` (built-in weights) or a weights file with a network.
    pub from: String,
    pub seed: u64,
    /// From zero: width of the hidden layer, king buckets and output buckets of the network.
    pub width: usize,
    pub king_buckets: usize,
    pub output_buckets: usize,
    /// Pairs of values (`positions`, `nodes`, `share`, `lambda`) go from their first to their second over so many
    /// generations; 0 means the second from the beginning.
    pub ramp: u64,
    /// The day it began, filled in by the run.
    #[serde(default)]
    pub started: String,
}

/// The table `[selfplay]`: the champion's games against itself.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Positions kept in a generation, at first and later.
    pub positions: [usize; 2],
    /// Nodes of each search, at first and later.
    pub nodes: [u64; 2],
    /// The least and the largest number of random plies at the start of each game.
    pub opening: [u32; 2],
    /// The chance that a quiet position is kept, at first and later. An untrained network learns from
    /// results alone, so at first many games count more than many positions of each.
    #[serde(deserialize_with = "one_or_both")]
    pub share: [f64; 2],
    /// Only positions in which no capture wins anything are quiet; otherwise all whose best move is
    /// quiet and that are not in check. An untrained network leaves much to be captured, so that few
    /// positions of its games are settled.
    #[serde(default = "settled_in_earlier_versions")]
    pub settled: bool,
    /// A score beyond this ends the game: centipawns.
    pub decided: u32,
    /// A UCI engine that scores positions in and around the games; empty: own scores and results.
    pub mentor: String,
}

fn settled_in_earlier_versions() -> bool {
    true
}

/// A pair, or the one value for both that earlier versions had.
fn one_or_both<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; 2], D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number or a pair of numbers")]
    enum OneOrBoth {
        One(f64),
        Both([f64; 2]),
    }
    Ok(match OneOrBoth::deserialize(deserializer)? {
        OneOrBoth::One(value) => [value; 2],
        OneOrBoth::Both(values) => values,
    })
}

/// The table `[training]`: a network learns from the labels of the last generations.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WindowTraining {
    /// Generations whose labels are learned from.
    pub window: u64,
    /// How often each label of the window is learned from in a generation; 0 leaves it to
    /// `positions`, as a config of an earlier version does.
    #[serde(default)]
    pub passes: f64,
    /// The most positions that are learned from in a generation.
    pub positions: u64,
    pub batch: usize,
    /// Validations, of which the best counts.
    pub validations: u64,
    /// The learning rate after the warm-up and at the end.
    pub learning_rate: [f64; 2],
    pub weight_decay: f64,
    /// The share of the game's result in the target, at first and later; the rest is the score.
    pub lambda: [f64; 2],
    /// The share of games that is kept for validation.
    pub validation_share: f64,
}

/// The table `[search]`: generations that tune the constants of the search, by SPSA.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantsTuning {
    /// Every so many generations; 0 is never.
    pub every: u64,
    /// Games between neighbours of the champion's constants.
    pub games: u64,
    pub nodes: u64,
    /// The learning rate at the end, as in the method `spsa`: more games, less of it.
    pub r: f64,
}

/// The table `[sprt]`: the challenger's match against the champion.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeSettings {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    /// The most games. If the test has not decided by then, the sign of its LLR does.
    pub games: usize,
    pub nodes: u64,
}

/// The table `[anchors]`: fixed opponents that show the progress.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AnchorSettings {
    /// Measured after every so many generations; 0 is never.
    pub every: u64,
    /// Games against each.
    pub games: usize,
    pub nodes: u64,
    /// Weights that are built in by name, or players as `finch match` takes them.
    pub players: Vec<String>,
}

impl EvolveSettings {
    /// The defaults: generations of two to nine minutes on two cores.
    pub fn new(from: &str) -> EvolveSettings {
        EvolveSettings {
            start: StartSettings {
                from: from.to_owned(),
                seed: 1,
                width: 128,
                king_buckets: 1,
                output_buckets: 8,
                ramp: if from == ZERO { 8 } else { 0 },
                started: String::new(),
            },
            selfplay: SelfPlaySettings {
                positions: [60_000, 1_500_000],
                // From zero many positions teach more than good ones.
                nodes: if from == ZERO { [100, 250] } else { [500, 500] },
                opening: [5, 10],
                share: [0.15, 0.6],
                settled: false,
                decided: 600,
                mentor: String::new(),
            },
            training: WindowTraining {
                window: 8,
                passes: 3.0,
                positions: 20_000_000,
                batch: 8_192,
                validations: 10,
                learning_rate: [0.001, 0.00005],
                weight_decay: 0.01,
                lambda: [1.0, 0.2],
                validation_share: 0.02,
            },
            search: ConstantsTuning {
                every: 10,
                games: 2_000,
                nodes: 2_000,
                r: 0.04,
            },
            sprt: ChallengeSettings {
                elo0: 0.0,
                elo1: 10.0,
                alpha: 0.05,
                beta: 0.05,
                games: 500,
                nodes: 2_000,
            },
            anchors: AnchorSettings {
                every: 5,
                games: 60,
                nodes: 8_000,
                players: ["vazquez-2013", "david-tabibi-2011", "hand-set"]
                    .map(str::to_owned)
                    .into(),
            },
        }
    }

    pub fn parse(text: &str, file: &str) -> Result<EvolveSettings, PresetError> {
        let reader = Reader::new(text, file);
        let settings: EvolveSettings = reader.document()?;
        match settings.validate() {
            Err(error) => Err(reader.refuse(&error.key, error.problem)),
            Ok(()) => Ok(settings),
        }
    }

    /// The same with some keys set to other values, each written as TOML or as a bare word.
    pub fn with(&self, changes: &[(String, String)]) -> Result<EvolveSettings, PresetError> {
        with_changes(
            &self.to_toml(),
            "config.toml",
            changes,
            EvolveSettings::parse,
        )
    }

    /// The text of a file that gives these settings again.
    pub fn to_toml(&self) -> String {
        // Strings, numbers and lists of them always make TOML.
        toml::to_string(self).unwrap_or_default()
    }

    /// Whether a text looks like the config of an evolve run.
    pub fn is_in(text: &str) -> bool {
        let table: toml::Table = text.parse().unwrap_or_default();
        table.contains_key("start") && table.contains_key("sprt")
    }

    /// Fails on the first key whose value is impossible.
    fn validate(&self) -> Result<(), SettingError> {
        let fail = |key: &str, problem: &str| Err(SettingError::new(key, problem));
        let EvolveSettings {
            selfplay,
            training,
            search,
            sprt,
            anchors,
            ..
        } = self;
        if let Err(error) = self.architecture() {
            let problem = format!(
                "{} is not supported; there are {}",
                error.found, error.supported
            );
            return fail(&format!("start.{}", error.field), &problem);
        }
        for positions in selfplay.positions {
            check_range("selfplay.positions", positions, 1..=1 << 31)?;
        }
        for nodes in selfplay.nodes {
            check_range("selfplay.nodes", nodes, 1..=1_000_000_000)?;
        }
        if selfplay.opening[0] > selfplay.opening[1] {
            return fail("selfplay.opening", "goes from few to many");
        }
        check_range("selfplay.opening", selfplay.opening[1], 0..=100)?;
        for share in selfplay.share {
            check_range("selfplay.share", share, 0.001..=1.0)?;
        }
        check_range("selfplay.decided", selfplay.decided, 1..=100_000)?;
        check_range("training.window", training.window, 1..=10_000)?;
        check_range("training.positions", training.positions, 8..=1 << 40)?;
        check_range("training.passes", training.passes, 0.0..=1e6)?;
        check_range("training.batch", training.batch, 8..=1 << 24)?;
        check_range("training.validations", training.validations, 1..=10_000)?;
        for lambda in training.lambda {
            check_range("training.lambda", lambda, 0.0..=1.0)?;
        }
        if search.every > 0 {
            check_range("search.games", search.games, 2..=10_000_000)?;
            check_range("search.nodes", search.nodes, 1..=1_000_000_000)?;
            check_range("search.r", search.r, 1e-9..=100.0)?;
        }
        if sprt.elo0 >= sprt.elo1 {
            return fail("sprt.elo0", "must be below elo1");
        }
        for (key, chance) in [("sprt.alpha", sprt.alpha), ("sprt.beta", sprt.beta)] {
            check_range(key, chance, 0.0001..=0.4999)?;
        }
        check_range("sprt.games", sprt.games, 2..=10_000_000)?;
        check_range("sprt.nodes", sprt.nodes, 1..=1_000_000_000)?;
        check_range("anchors.games", anchors.games, 2..=10_000_000)?;
        check_range("anchors.nodes", anchors.nodes, 1..=1_000_000_000)
    }

    /// The shape of a network from zero.
    pub fn architecture(&self) -> Result<Architecture, UnsupportedArchitecture> {
        let start = &self.start;
        Architecture::new(start.width, start.king_buckets, start.output_buckets)
    }

    /// How far a generation, counted from 1, is on the way from first to later values: 0 to 1.
    fn ramp(&self, generation: u64) -> f64 {
        match self.start.ramp {
            0 => 1.0,
            ramp => ((generation - 1) as f64 / ramp as f64).min(1.0),
        }
    }

    fn between(&self, [first, last]: [f64; 2], generation: u64) -> f64 {
        let ramp = self.ramp(generation);
        first * (1.0 - ramp) + last * ramp
    }

    /// Positions kept in a generation.
    pub fn positions(&self, generation: u64) -> usize {
        let positions = self.selfplay.positions.map(|positions| positions as f64);
        self.between(positions, generation).round() as usize
    }

    /// The chance that a quiet position of a generation's games is kept.
    pub fn share(&self, generation: u64) -> f64 {
        self.between(self.selfplay.share, generation)
    }

    /// Nodes of a search in the games of a generation.
    pub fn nodes(&self, generation: u64) -> u64 {
        let nodes = self.selfplay.nodes.map(|nodes| nodes as f64);
        self.between(nodes, generation).round() as u64
    }

    /// Positions that are learned from in a generation whose window has so many labels.
    pub fn training_positions(&self, labels: usize) -> u64 {
        let WindowTraining {
            passes, positions, ..
        } = self.training;
        match passes {
            0.0 => positions,
            passes => positions.min((passes * labels as f64).ceil() as u64),
        }
    }

    /// The share of the result in the target of a generation.
    pub fn lambda(&self, generation: u64) -> f64 {
        let lambda = self.between(self.training.lambda, generation);
        (lambda * 1000.0).round() / 1000.0
    }

    /// Whether a generation tunes the constants of the search, not the network.
    pub fn is_search_generation(&self, generation: u64) -> bool {
        let every = self.search.every;
        every > 0 && generation.is_multiple_of(every)
    }

    /// The generations whose labels the network learns from in a generation, the latest last.
    pub fn window(&self, generation: u64) -> Vec<u64> {
        let with_labels = (1..=generation).rev();
        let with_labels = with_labels.filter(|number| !self.is_search_generation(*number));
        let mut window: Vec<u64> = with_labels.take(self.training.window as usize).collect();
        window.reverse();
        window
    }

    /// Whether the anchors are played after a generation.
    pub fn is_anchor_generation(&self, generation: u64) -> bool {
        let AnchorSettings { every, players, .. } = &self.anchors;
        *every > 0 && generation.is_multiple_of(*every) && !players.is_empty()
    }

    /// The most that labels take on disk, in bytes: the window and the generation under way.
    pub fn label_bytes(&self) -> u64 {
        let positions = self.selfplay.positions.into_iter().max().unwrap_or(0);
        (self.training.window + 1) * positions as u64 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_their_file_and_changes_are_checked() {
        let settings = EvolveSettings::new(ZERO);
        let again = EvolveSettings::parse(&settings.to_toml(), "config.toml").unwrap();
        assert_eq!(again, settings);
        assert!(EvolveSettings::is_in(&settings.to_toml()));
        let with = |key: &str, value: &str| settings.with(&[(key.to_owned(), value.to_owned())]);
        assert_eq!(with("sprt.games", "20").unwrap().sprt.games, 20);
        for (key, value) in [
            ("sprt.games", "0"),
            ("sprt.elo1", "-5"),
            ("selfplay.nodes", "[0, 5]"),
            ("training.lambda", "[1.5, 0.5]"),
            ("training.passes", "-1"),
            ("search.games", "1"),
            ("search.nodes", "0"),
            ("training.weather", "fine"),
        ] {
            let error = with(key, value).unwrap_err().to_string();
            assert!(error.contains(key.split('.').nth(1).unwrap()), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn the_window_leaves_out_generations_without_labels() {
        let mut settings = EvolveSettings::new(ZERO);
        settings.training.window = 3;
        settings.search.every = 2;
        assert!(settings.is_search_generation(4) && !settings.is_search_generation(5));
        assert_eq!(settings.window(1), [1]);
        assert_eq!(settings.window(9), [5, 7, 9]);
        settings.search.every = 0;
        assert_eq!(settings.window(9), [7, 8, 9]);
    }

    #[test]
    fn a_config_of_an_earlier_version_means_what_it_meant() {
        let settings = EvolveSettings::new(ZERO);
        let mut table: toml::Table = settings.to_toml().parse().unwrap();
        table.remove("search");
        let training = table["training"].as_table_mut().unwrap();
        training.remove("passes");
        let selfplay = table["selfplay"].as_table_mut().unwrap();
        selfplay.remove("settled");
        selfplay.insert("share".to_owned(), toml::Value::Float(0.3));
        let earlier = EvolveSettings::parse(&table.to_string(), "config.toml").unwrap();
        assert!((1..100).all(|generation| !earlier.is_search_generation(generation)));
        assert!(settings.is_search_generation(10));
        assert_eq!(earlier.training_positions(1_000), 20_000_000);
        assert_eq!(settings.training_positions(1_000), 3_000);
        assert_eq!(settings.training_positions(10_000_000), 20_000_000);
        assert!(earlier.selfplay.settled && !settings.selfplay.settled);
        assert_eq!((earlier.share(1), earlier.share(90)), (0.3, 0.3));
        // It can be written and changed.
        let again = EvolveSettings::parse(&earlier.to_toml(), "config.toml").unwrap();
        assert_eq!(again, earlier);
    }

    #[test]
    fn values_move_from_first_to_later() {
        let settings = EvolveSettings::new(ZERO);
        assert_eq!((settings.nodes(1), settings.lambda(1)), (100, 1.0));
        assert_eq!((settings.nodes(5), settings.lambda(5)), (175, 0.6));
        assert_eq!((settings.nodes(90), settings.lambda(90)), (250, 0.2));
        assert_eq!((settings.share(1), settings.share(9)), (0.15, 0.6));
        let settings = EvolveSettings::new("default");
        assert_eq!((settings.nodes(1), settings.lambda(1)), (500, 0.2));
    }
}
