//! Ratings of many players from their games, by maximum likelihood.
//!
//! The model is the one BayesElo made common. White's rating is raised by an advantage, a draw
//! is the probability left between two thresholds:
//!
//! - P(white wins) = f(white + advantage - black - draw), f(x) = 1 / (1 + 10^(-x/400))
//! - P(black wins) = f(black - white - advantage - draw)
//!
//! Ratings, advantage and draw threshold maximise the likelihood of all results. Newton's method
//! finds the maximum (there is only one), and the Hessian there gives the errors. A few virtual
//! draws, spread over each player's opponents, keep a player who won every game at a finite rating,
//! and a few more hold the draw threshold. Printed differences are scaled so that near equality one
//! point means the same as on the logistic scale, whatever the share of draws.

mod newton;

use std::collections::HashMap;

use thiserror::Error;

use super::game::GameResult;
use super::match_score::SIGMAS_95;
use newton::{FittedRatings, RatingProblem};

/// One finished game between named players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    pub white: String,
    pub black: String,
    pub result: GameResult,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RatingSettings {
    /// Virtual draws of each player: two as in BayesElo, none for plain likelihood.
    pub prior: f64,
    /// Known ratings. With one, all others follow; with more, all of these are held.
    pub anchors: Vec<(String, f64)>,
    /// The average rating when nobody is anchored.
    pub average: f64,
    /// Held instead of estimated.
    pub white_advantage: Option<f64>,
    /// Held instead of estimated.
    pub draw_elo: Option<f64>,
}

impl Default for RatingSettings {
    fn default() -> RatingSettings {
        RatingSettings {
            prior: 2.0,
            anchors: Vec::new(),
            average: 0.0,
            white_advantage: None,
            draw_elo: None,
        }
    }
}

impl RatingSettings {
    /// BayesElo's defaults.
    pub const BAYESELO_ADVANTAGE: f64 = 32.8;
    pub const BAYESELO_DRAW: f64 = 97.3;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    pub name: String,
    pub elo: f64,
    /// 95%, relative to the anchors or else to the average.
    pub error: f64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// The average rating of the opponents, by games.
    pub opposition: f64,
}

impl Rating {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    pub fn score(&self) -> f64 {
        (self.wins as f64 + self.draws as f64 / 2.0) / self.games().max(1) as f64
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ratings {
    /// Best first.
    pub players: Vec<Rating>,
    pub white_advantage: f64,
    pub draw_elo: f64,
    /// Some players are in groups that never met: differences between groups mean nothing.
    pub disconnected: bool,
}

#[derive(Debug, Error, PartialEq)]
pub enum RatingError {
    #[error("there are no finished games to rate")]
    NoGames,
    #[error("the anchor '{0}' played no game")]
    UnknownAnchor(String),
    #[error(
        "the ratings have no bound: some players never lost points to the others; \
         give them virtual draws (--prior 2)"
    )]
    Unbounded,
}

/// Elo in the natural units of the logistic function.
const NATURAL: f64 = std::f64::consts::LN_10 / 400.0;

pub fn rate(games: &[PlayedGame], settings: &RatingSettings) -> Result<Ratings, RatingError> {
    let mut tally = Tally::of(games);
    if tally.pairings.is_empty() {
        return Err(RatingError::NoGames);
    }
    let anchors = settings
        .anchors
        .iter()
        .map(|(name, elo)| match tally.index.get(name) {
            Some(player) => Ok((*player, *elo)),
            None => Err(RatingError::UnknownAnchor(name.clone())),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let disconnected = !tally.is_connected(&anchors);
    tally.add_prior(settings.prior);
    if settings.draw_elo.is_none() {
        tally.add_draw_prior(settings.prior);
    }
    let fit = fit(&tally, &anchors, settings)?;
    Ok(tally.ratings(&fit, &anchors, settings, disconnected))
}

/// Several anchors are given on the printed scale, which depends on the draw threshold: that is
/// found first, with one anchor only, and then held.
fn fit(
    tally: &Tally,
    anchors: &[(usize, f64)],
    settings: &RatingSettings,
) -> Result<FittedRatings, RatingError> {
    let mut problem = RatingProblem {
        players: tally.names.len(),
        pairings: &tally.pairings,
        held: anchors
            .first()
            .map(|(player, _)| (*player, 0.0))
            .into_iter()
            .collect(),
        advantage: settings.white_advantage.map(|elo| elo * NATURAL),
        draw: settings.draw_elo.map(|elo| elo * NATURAL),
    };
    let free = problem.solve().ok_or(RatingError::Unbounded)?;
    let [(_, reference), _, ..] = anchors else {
        return Ok(free);
    };
    let unit = scale(free.draw) / NATURAL;
    problem.draw = Some(free.draw);
    problem.held = anchors
        .iter()
        .map(|(player, elo)| (*player, (elo - reference) / unit))
        .collect();
    problem.solve().ok_or(RatingError::Unbounded)
}

/// The slope of the expected score at equality, relative to the logistic curve without draws.
fn scale(draw: f64) -> f64 {
    let x = (-draw).exp();
    4.0 * x / (1.0 + x).powi(2)
}

/// Results of one player with white against another; virtual games make the counts fractional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeadToHead {
    pub white: usize,
    pub black: usize,
    pub wins: f64,
    pub draws: f64,
    pub losses: f64,
}

impl HeadToHead {
    fn games(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

/// All results by pairs of players.
struct Tally {
    names: Vec<String>,
    index: HashMap<String, usize>,
    pairings: Vec<HeadToHead>,
    /// Wins, draws and losses of each player, real games only.
    totals: Vec<[u64; 3]>,
}

impl Tally {
    fn of(games: &[PlayedGame]) -> Tally {
        let mut tally = Tally {
            names: Vec::new(),
            index: HashMap::new(),
            pairings: Vec::new(),
            totals: Vec::new(),
        };
        let mut places: HashMap<(usize, usize), usize> = HashMap::new();
        for game in games {
            let (white, black) = (tally.player(&game.white), tally.player(&game.black));
            let place = *places.entry((white, black)).or_insert_with(|| {
                tally.pairings.push(HeadToHead {
                    white,
                    black,
                    ..HeadToHead::default()
                });
                tally.pairings.len() - 1
            });
            let pairing = &mut tally.pairings[place];
            let (count, for_white) = match game.result {
                GameResult::WhiteWins => (&mut pairing.wins, 0),
                GameResult::Draw => (&mut pairing.draws, 1),
                GameResult::BlackWins => (&mut pairing.losses, 2),
            };
            *count += 1.0;
            tally.totals[white][for_white] += 1;
            tally.totals[black][2 - for_white] += 1;
        }
        tally
    }

    fn player(&mut self, name: &str) -> usize {
        if let Some(player) = self.index.get(name) {
            return *player;
        }
        let player = self.names.len();
        self.index.insert(name.to_owned(), player);
        self.names.push(name.to_owned());
        self.totals.push([0; 3]);
        player
    }

    fn games_of(&self, player: usize) -> f64 {
        self.totals[player].iter().sum::<u64>() as f64
    }

    /// Half of each player's virtual draws come from itself, half (in sum) from its opponents,
    /// spread as its real games are.
    fn add_prior(&mut self, draws: f64) {
        let shares: Vec<f64> = self
            .pairings
            .iter()
            .map(|pairing| {
                let each = |player| draws / 2.0 * pairing.games() / self.games_of(player);
                each(pairing.white) + each(pairing.black)
            })
            .collect();
        // Virtual games are played with both colours, or they would pull at the advantage.
        let mirrored: Vec<HeadToHead> = self
            .pairings
            .iter()
            .zip(&shares)
            .map(|(pairing, share)| HeadToHead {
                white: pairing.black,
                black: pairing.white,
                draws: share / 2.0,
                ..HeadToHead::default()
            })
            .collect();
        for (pairing, share) in self.pairings.iter_mut().zip(shares) {
            pairing.draws += share / 2.0;
        }
        self.pairings
            .extend(mirrored.into_iter().filter(|mirror| mirror.draws > 0.0));
    }

    /// Where nobody lost a game, a larger draw threshold explains wins and draws as well as
    /// larger differences do, without end. A few virtual games of a player against itself, drawn
    /// as often as BayesElo assumes, say nothing about ratings and hold the threshold.
    fn add_draw_prior(&mut self, games: f64) {
        let decided = games / (1.0 + (RatingSettings::BAYESELO_DRAW * NATURAL).exp());
        if games > 0.0 {
            self.pairings.push(HeadToHead {
                wins: decided,
                losses: decided,
                draws: games - 2.0 * decided,
                ..HeadToHead::default()
            });
        }
    }

    /// Whether games or anchors connect all players.
    fn is_connected(&self, anchors: &[(usize, f64)]) -> bool {
        let mut group: Vec<usize> = (0..self.names.len()).collect();
        let games = self
            .pairings
            .iter()
            .map(|pairing| (pairing.white, pairing.black));
        let held = anchors.windows(2).map(|pair| (pair[0].0, pair[1].0));
        for (one, other) in games.chain(held) {
            let (keep, replace) = (group[one], group[other]);
            for member in &mut group {
                if *member == replace {
                    *member = keep;
                }
            }
        }
        group.windows(2).all(|pair| pair[0] == pair[1])
    }

    fn ratings(
        &self,
        fit: &FittedRatings,
        anchors: &[(usize, f64)],
        settings: &RatingSettings,
        disconnected: bool,
    ) -> Ratings {
        let unit = scale(fit.draw) / NATURAL;
        let origin = anchors.first().map_or(settings.average, |(_, elo)| *elo);
        let elo: Vec<f64> = fit
            .ratings
            .iter()
            .map(|rating| origin + rating * unit)
            .collect();
        let mut players: Vec<Rating> = (0..self.names.len())
            .map(|player| {
                let [wins, draws, losses] = self.totals[player];
                Rating {
                    name: self.names[player].clone(),
                    elo: elo[player],
                    error: SIGMAS_95 * fit.variances[player].max(0.0).sqrt() * unit,
                    wins,
                    draws,
                    losses,
                    opposition: self.opposition(player, &elo),
                }
            })
            .collect();
        players.sort_by(|one, other| other.elo.total_cmp(&one.elo));
        Ratings {
            players,
            white_advantage: fit.advantage / NATURAL,
            draw_elo: fit.draw / NATURAL,
            disconnected,
        }
    }

    fn opposition(&self, player: usize, elo: &[f64]) -> f64 {
        let (mut sum, mut games) = (0.0, 0.0);
        for pairing in &self.pairings {
            let opponent = match (pairing.white == player, pairing.black == player) {
                (true, false) => pairing.black,
                (false, true) => pairing.white,
                _ => continue,
            };
            sum += elo[opponent] * pairing.games();
            games += pairing.games();
        }
        if games == 0.0 { 0.0 } else { sum / games }
    }
}
