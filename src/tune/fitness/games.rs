//! Fitness `games`: how well an individual plays.
//!
//! An [`Arena`] plays individuals against each other under the rules of a preset; methods that
//! select by games use it directly. As a [`Fitness`] it measures each individual by its score
//! against one fixed opponent, all from the same openings with both colours, so any method that
//! takes a number can learn from games. Some openings are kept for validation.
//!
//! Games at fixed depth or nodes are the same on any number of threads; games on a clock differ
//! from run to run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use super::shared::game_message;
use super::{
    Batch, BuiltFitness, Fitness, FitnessConfig, FitnessError, FitnessInputs, ValueAndGradient,
    named_weights, weights_with_network,
};
use crate::play::adjudication::{Adjudication, DrawRule, ResignRule};
use crate::play::game::PlayerResult;
use crate::play::limits::TimeControl;
use crate::play::openings::{self, OpeningsError};
use crate::play::player_config::{PlayerConfig, PlayerKind};
use crate::play::uci_engine::EnginePool;
use crate::play::{self, GameLimits, GameResult, GameRules, Opening, Pairing};
use crate::search::full_width::FullWidthDepth;
use crate::tune::genome::{Candidate, Genome};
use crate::tune::settings::{NamedSettings, SettingError, check_range};
use crate::work;

/// The table `[fitness]` of a preset that says `name = "games"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GamesSettings {
    pub name: String,
    pub search: SearchKind,
    pub plies: u32,
    /// Own search: these limits instead of `plies`. A clock such as "3+0.03" is that of
    /// `finch match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Plain search: plies of quiescence on captures; without a value there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<u32>,
    /// Plain search: plies of quiescence in which quiet checks are tried as well.
    pub checks: u32,
    /// Full moves after which a game is drawn; 0 leaves it to the rules of chess.
    pub max_moves: u32,
    /// End games that both players score as decided, or as drawn for long.
    pub adjudicate: bool,
    pub openings: OpeningSource,
    /// The fixed opponent: "base" for the base of the genome, "default" or a weights file. Methods
    /// that select by games between individuals need none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub opponent: String,
    /// Fixed opponent: games of each individual in a generation, two from each opening.
    pub games: usize,
    /// Fixed opponent: draw other openings in each generation. Otherwise all generations play the
    /// same games, and selection fits those games rather than chess.
    pub redraw: bool,
    /// Fixed opponent: games of the validation, from openings that training never uses.
    pub validation_games: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchKind {
    /// Alpha-beta in full width with quiescence on captures, without pruning.
    #[default]
    Plain,
    /// Finch's own search, or that of the engine whose options are tuned.
    #[serde(alias = "own")]
    Finch,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub enum OpeningSource {
    /// The initial position: a game depends only on who plays it.
    #[default]
    Start,
    /// The built-in opening book.
    Book,
    /// A file of openings: EPD, PGN or Polyglot.
    File(PathBuf),
}

impl From<String> for OpeningSource {
    fn from(name: String) -> OpeningSource {
        match name.as_str() {
            "start" => OpeningSource::Start,
            "book" => OpeningSource::Book,
            file => OpeningSource::File(file.into()),
        }
    }
}

impl From<OpeningSource> for String {
    fn from(source: OpeningSource) -> String {
        match source {
            OpeningSource::Start => "start".to_owned(),
            OpeningSource::Book => "book".to_owned(),
            OpeningSource::File(file) => file.display().to_string(),
        }
    }
}

impl OpeningSource {
    fn load(&self) -> Result<Vec<Opening>, OpeningsError> {
        match self {
            OpeningSource::Start => Ok(vec![Opening::default()]),
            OpeningSource::Book => Ok(openings::embedded()),
            // A Polyglot book gives the same lines to all seeds of a run.
            OpeningSource::File(file) => openings::load(file, openings::PLIES, 0),
        }
    }
}

impl Default for GamesSettings {
    fn default() -> GamesSettings {
        GamesSettings {
            name: Self::NAME.to_owned(),
            search: SearchKind::Plain,
            plies: 3,
            depth: None,
            nodes: None,
            clock: None,
            captures: None,
            checks: 0,
            max_moves: 0,
            adjudicate: false,
            openings: OpeningSource::Start,
            opponent: String::new(),
            games: 20,
            redraw: true,
            validation_games: 100,
        }
    }
}

/// More games than anyone waits for: a preset that asks for more has a mistake in it.
const MAX_GAMES: usize = 10_000_000;

impl NamedSettings for GamesSettings {
    const NAME: &'static str = "games";
}

impl FitnessConfig for GamesSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("plies", self.plies, 1..=16)?;
        check_range("depth", self.depth.unwrap_or(1), 1..=100)?;
        check_range("nodes", self.nodes.unwrap_or(1), 1..=1_000_000_000)?;
        check_range("games", self.games, 0..=MAX_GAMES)?;
        check_range("validation_games", self.validation_games, 0..=MAX_GAMES)?;
        self.time_control()?;
        if !self.full_width().has_room_for_checks() {
            let problem = "more plies of checks than of captures";
            return Err(SettingError::new("checks", problem));
        }
        let has_limit = self.depth.is_some() || self.nodes.is_some() || self.clock.is_some();
        if has_limit && self.search == SearchKind::Plain {
            let problem = "depth, nodes and clock are for search = \"finch\"";
            return Err(SettingError::new("search", problem));
        }
        let refuse = |problem: &str| Err(SettingError::new("games", problem));
        if self.games == 0 || !self.games.is_multiple_of(2) {
            return refuse("each opening is played with both colours: even, not 0");
        }
        if !self.validation_games.is_multiple_of(2) {
            let problem = "each opening is played with both colours: even";
            return Err(SettingError::new("validation_games", problem));
        }
        if !self.opponent.is_empty() && self.openings == OpeningSource::Start && self.games > 2 {
            return refuse(
                "from the start the same two would be played again: 2, or openings = \"book\"",
            );
        }
        Ok(())
    }

    /// A share of the points.
    fn format(&self, value: f64) -> String {
        format!("{:.1}%", 100.0 * value)
    }

    fn measure(&self) -> &'static str {
        "share of the points"
    }

    fn game_rules(&self) -> Option<GameRules> {
        Some(self.rules())
    }

    fn scores_individuals(&self) -> bool {
        !self.opponent.is_empty()
    }

    fn has_gradient(&self) -> bool {
        false
    }

    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError> {
        let opponent = self.opponent(&inputs.genome)?;
        let fitness = GamesFitness::new(inputs.genome, self.clone(), opponent)
            .map_err(|error| SettingError::new("openings", error.to_string()))?;
        Ok(BuiltFitness {
            fitness: Box::new(fitness),
            description: self.description(),
            note: None,
            counts: None,
        })
    }
}

impl GamesSettings {
    pub fn rules(&self) -> GameRules {
        let decided = ResignRule {
            count: 4,
            score: 600,
            two_sided: true,
        };
        let drawn = DrawRule {
            number: 40,
            count: 6,
            score: 10,
        };
        GameRules {
            limits: self.limits(),
            adjudication: Adjudication {
                draw: self.adjudicate.then_some(drawn),
                resign: self.adjudicate.then_some(decided),
                max_moves: (self.max_moves > 0).then_some(self.max_moves),
            },
            ..GameRules::default()
        }
    }

    fn limits(&self) -> GameLimits {
        let own = GameLimits {
            depth: self.depth,
            nodes: self.nodes,
            // Refused by `validate` if it is none.
            time_control: self.time_control().unwrap_or_default(),
            ..GameLimits::default()
        };
        match self.search {
            SearchKind::Plain => GameLimits::full_width(self.full_width()),
            SearchKind::Finch if own.is_empty() => GameLimits::depth(self.plies),
            SearchKind::Finch => own,
        }
    }

    fn full_width(&self) -> FullWidthDepth {
        FullWidthDepth {
            plies: self.plies,
            captures: self.captures,
            checks: self.checks,
        }
    }

    fn time_control(&self) -> Result<Option<TimeControl>, SettingError> {
        let parse = |clock: &String| {
            let parsed = clock.parse::<TimeControl>();
            parsed.map_err(|error| SettingError::new("clock", error.to_string()))
        };
        self.clock.as_ref().map(parse).transpose()
    }

    /// The fixed opponent, if there is one.
    fn opponent(&self, genome: &Genome) -> Result<Option<Candidate>, SettingError> {
        let fail = |problem: String| SettingError::new("opponent", problem);
        let load = match self.opponent.as_str() {
            "" => return Ok(None),
            "base" => return Ok(Some(genome.candidate(&genome.base_genes()))),
            _ if genome.candidate(&genome.base_genes()).weights().is_none() => {
                let problem = "an engine's options play against those at the start: \"base\"";
                return Err(fail(problem.to_owned()));
            }
            _ if genome.sets_terms() => named_weights,
            _ => weights_with_network,
        };
        let weights = load(&self.opponent).map_err(|error| fail(error.to_string()))?;
        Ok(Some(Candidate::Weights(weights)))
    }

    /// The rules as text.
    pub fn description(&self) -> String {
        let source = match &self.openings {
            OpeningSource::Start => "the start".to_owned(),
            OpeningSource::Book => "Finch's openings".to_owned(),
            OpeningSource::File(file) => file.display().to_string(),
        };
        format!("games from {source}, {}", self.rules().limits)
    }
}

/// Plays games between individuals. Engines are kept from one call to the next.
pub struct Arena {
    genome: Arc<Genome>,
    rules: GameRules,
    openings: Vec<Opening>,
    engines: Arc<EnginePool>,
    tally: GameTally,
}

/// Games between individuals so far in a generation.
#[derive(Default)]
struct GameTally {
    games: AtomicU64,
    drawn: AtomicU64,
}

impl GameTally {
    fn count(&self, result: &GameResult) {
        let drawn = result.result_for(Color::White) == PlayerResult::Draw;
        self.games.fetch_add(1, Ordering::Relaxed);
        self.drawn.fetch_add(u64::from(drawn), Ordering::Relaxed);
    }
}

impl Arena {
    pub fn new(genome: Arc<Genome>, settings: &GamesSettings) -> Result<Arena, OpeningsError> {
        Ok(Arena {
            rules: settings.rules(),
            openings: settings.openings.load()?,
            engines: Arc::new(EnginePool::new(genome.restarts_engine())),
            genome,
            tally: GameTally::default(),
        })
    }

    /// How many openings there are to choose from.
    pub fn openings(&self) -> usize {
        self.openings.len()
    }

    /// One game, on this thread.
    pub fn game(&self, white: &[f64], black: &[f64], opening: usize) -> GameResult {
        let [white, black] = [white, black].map(|genes| self.individual(genes));
        let players = ByColor {
            white: &white,
            black: &black,
        };
        let result = play::play_single_game(players, &self.openings[opening], &self.rules);
        self.tally.count(&result);
        result
    }

    /// The share of draws among the games between individuals since the last call; none if there
    /// were no games.
    pub fn take_draws(&self) -> Option<f64> {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed) as f64;
        let (games, drawn) = (take(&self.tally.games), take(&self.tally.drawn));
        (games > 0.0).then(|| drawn / games)
    }

    /// Many games at once; results are in the order of the pairings.
    pub fn games(&self, players: &[&[f64]], pairings: &[Pairing]) -> Vec<GameResult> {
        let message = |index: usize| game_message(players, &pairings[index]);
        let message: Option<&(dyn Fn(usize) -> Vec<u8> + Sync)> = if work::has_helpers() {
            Some(&message)
        } else {
            None
        };
        let players: Vec<_> = players.iter().map(|genes| self.individual(genes)).collect();
        let results = self.play_all(&players, pairings, message);
        results.iter().for_each(|result| self.tally.count(result));
        results
    }

    /// Asks another rank for a game.
    pub fn message(&self, white: &[f64], black: &[f64], opening: usize) -> Vec<u8> {
        let pairing = Pairing {
            white: 0,
            black: 1,
            opening,
        };
        game_message(&[white, black], &pairing)
    }

    /// The result of a game that another rank played; `None` if it could not.
    pub fn result_in(&self, answer: &[u8], opening: usize) -> Option<GameResult> {
        play::result_in_message(answer, self.openings.get(opening)?)
    }

    /// One game for another rank; `None` if `stop` is set before its end.
    pub fn game_as_message(
        &self,
        white: &[f64],
        black: &[f64],
        opening: usize,
        stop: &AtomicBool,
    ) -> Option<Vec<u8>> {
        let [white, black] = [white, black].map(|genes| self.individual(genes));
        let players = ByColor {
            white: &white,
            black: &black,
        };
        play::game_as_message(players, self.openings.get(opening)?, &self.rules, stop)
    }

    fn individual(&self, genes: &[f64]) -> PlayerConfig {
        self.player(&self.genome.candidate(genes))
    }

    fn player(&self, candidate: &Candidate) -> PlayerConfig {
        match candidate {
            Candidate::Weights(weights) => PlayerConfig::self_play(Arc::new(weights.clone())),
            Candidate::Options(options) => PlayerConfig {
                name: String::new(),
                kind: PlayerKind::Pooled(options.command(), Arc::clone(&self.engines)),
                limits: GameLimits::default(),
            },
        }
    }

    /// `message` tells other ranks of a game.
    fn play_all(
        &self,
        players: &[PlayerConfig],
        pairings: &[Pairing],
        message: Option<&(dyn Fn(usize) -> Vec<u8> + Sync)>,
    ) -> Vec<GameResult> {
        let threads = rayon::current_num_threads();
        let (openings, rules) = (&self.openings, &self.rules);
        let played = play::play_shared_games(players, openings, pairings, rules, threads, message);
        played.unwrap_or_else(|error| {
            // One thread takes longer and gives the same results.
            log::warn!("games on one thread: {error}");
            let game = |pairing: &Pairing| {
                let sides = ByColor {
                    white: &players[pairing.white],
                    black: &players[pairing.black],
                };
                let opening = &self.openings[pairing.opening];
                play::play_single_game(sides, opening, &self.rules)
            };
            pairings.iter().map(game).collect()
        })
    }
}

/// One opening in this many is kept for validation.
const VALIDATION_STEP: usize = 5;

/// The fitness: an arena and, unless a method pairs individuals itself, a fixed opponent.
pub struct GamesFitness {
    arena: Arena,
    settings: GamesSettings,
    opponent: Option<PlayerConfig>,
    /// Indices of the openings to train with and of those kept for validation.
    training: Vec<usize>,
    validation: Vec<usize>,
}

impl GamesFitness {
    pub fn new(
        genome: Arc<Genome>,
        settings: GamesSettings,
        opponent: Option<Candidate>,
    ) -> Result<GamesFitness, OpeningsError> {
        let arena = Arena::new(genome, &settings)?;
        let is_validation = |opening: &usize| opening % VALIDATION_STEP == VALIDATION_STEP - 1;
        let (mut validation, training): (Vec<_>, Vec<_>) =
            (0..arena.openings()).partition(is_validation);
        validation.truncate(settings.validation_games / 2);
        Ok(GamesFitness {
            opponent: opponent.map(|opponent| arena.player(&opponent)),
            arena,
            settings,
            training,
            validation,
        })
    }

    /// The openings of a batch, as indices into those of the arena.
    pub fn training_openings(&self, batch: &Batch) -> Vec<usize> {
        match batch {
            Batch::All => self.training.clone(),
            Batch::Some(indices) => {
                let openings = indices.iter().map(|index| self.training[*index as usize]);
                openings.collect()
            }
        }
    }

    /// The openings of the validation, as indices into those of the arena.
    pub fn validation_openings(&self) -> &[usize] {
        &self.validation
    }

    /// Each individual's share of the points against the opponent, both colours of each opening.
    fn scores(
        &self,
        individuals: &[&[f64]],
        opponent: &PlayerConfig,
        openings: &[usize],
    ) -> Vec<f64> {
        let own = individuals.iter().map(|genes| self.arena.individual(genes));
        let players: Vec<PlayerConfig> = own.chain([opponent.clone()]).collect();
        let last = individuals.len();
        let pair = |player: usize, opening: usize| {
            [(player, last), (last, player)].map(|(white, black)| Pairing {
                white,
                black,
                opening,
            })
        };
        let pairings: Vec<Pairing> = (0..last)
            .flat_map(|player| openings.iter().flat_map(move |&at| pair(player, at)))
            .collect();
        let results = self.arena.play_all(&players, &pairings, None);
        let mut points = vec![0; last];
        for (pairing, result) in pairings.iter().zip(results) {
            let (player, color) = match pairing.white {
                white if white < last => (white, Color::White),
                _ => (pairing.black, Color::Black),
            };
            points[player] += result.result_for(color).half_points();
        }
        let most = (4 * openings.len().max(1)) as f64;
        let share = |points: u32| f64::from(points) / most;
        points.into_iter().map(share).collect()
    }
}

/// The fitness before the first game.
pub const EVEN_SCORE: f64 = 0.5;

impl Fitness for GamesFitness {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        match &self.opponent {
            Some(opponent) => self.scores(individuals, opponent, &self.training_openings(batch)),
            None => vec![EVEN_SCORE; individuals.len()],
        }
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        let generation = if self.settings.redraw { generation } else { 0 };
        let count = self.settings.games / 2;
        Batch::sample(self.case_count(), count, seed, generation)
    }

    /// A single opening leaves nothing to draw: then all generations play the same games.
    fn is_fixed(&self) -> bool {
        self.opponent.is_some() && (!self.settings.redraw || self.training.len() == 1)
    }

    fn averages_generations(&self) -> bool {
        true
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        let opponent = self.opponent.as_ref()?;
        if self.validation.is_empty() {
            return None;
        }
        let scores = self.scores(&[individual], opponent, &self.validation);
        scores.first().copied()
    }

    fn gradient(&self, _individual: &[f64], _batch: &Batch) -> Option<ValueAndGradient> {
        None
    }

    fn case_count(&self) -> usize {
        self.training.len()
    }

    fn config(&self) -> &dyn FitnessConfig {
        &self.settings
    }

    fn arena(&self) -> Option<&Arena> {
        Some(&self.arena)
    }
}
