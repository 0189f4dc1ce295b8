//! Which games and which of their positions count.

use serde::{Deserialize, Serialize};
use shakmaty::{Color, KnownOutcome, Outcome};

use super::pgn::PgnGame;

/// Filters and limits, as the table `[data]` of a preset has them. A limit of 0 is no limit.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Selection {
    /// Files of games (PGN) or positions (EPD with `bm`); the built-in games when empty.
    pub games: Vec<String>,
    /// Lowest rating of both players; games without ratings are then left out.
    pub min_rating: u32,
    /// At least one player has a known rating below this; 0 is no limit. Games of the best alone can
    /// then be kept for judging.
    pub below: u32,
    /// Only this player's moves: part of the name, any case.
    pub player: String,
    /// The lowest rating of the player's opponents; of both sides when no player is named.
    pub min_opponent: u32,
    /// Whose moves count.
    pub side: Side,
    pub outcomes: Outcomes,
    /// First and last day of the games, as PGN writes them: "1999.02.21" or "1999".
    pub from: Date,
    pub to: Date,
    /// Read no more games than this.
    pub max_games: usize,
    /// Moves at the start of each game that do not count (a move is one of each side).
    pub skip_moves: u32,
    /// Moves of each game that count; later ones do not.
    pub first_moves: u32,
    /// Positions taken from one game; 1 is the papers' "one position a game".
    pub per_game: usize,
    /// Whether a repeated position counts only once.
    pub distinct: bool,
    /// Whether positions with a single legal move count.
    pub forced: bool,
    /// Decides which positions are drawn. It is not the run's seed, so several runs can learn from
    /// the same positions.
    pub seed: u64,
    /// Positions to train on.
    pub positions: usize,
    /// Positions to validate with, from games that none of the training comes from. With games 0
    /// is none; with labels it is all that the share sets aside.
    pub validation: usize,
    /// Share of the games set aside for validation.
    pub validation_share: f64,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            games: Vec::new(),
            min_rating: 0,
            below: 0,
            player: String::new(),
            min_opponent: 0,
            side: Side::Both,
            outcomes: Outcomes::Any,
            from: Date::default(),
            to: Date::default(),
            max_games: 0,
            skip_moves: 0,
            first_moves: 0,
            per_game: 0,
            distinct: true,
            forced: false,
            seed: 1,
            positions: 4000,
            validation: 4000,
            validation_share: 0.5,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    #[default]
    Both,
    White,
    Black,
    /// The moves of the winner.
    Winner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcomes {
    #[default]
    Any,
    Decisive,
    Draw,
    White,
    Black,
}

/// A day, a month or a year as PGN writes it; parts that are missing or `??` match all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Date(pub String);

impl Date {
    /// Year, month, day, as far as they are known.
    fn parts(&self) -> Vec<u32> {
        let parts = self.0.split(['.', '-']).map(|part| part.trim().parse());
        parts.map_while(Result::ok).collect()
    }

    /// An empty date, or one that starts with a year.
    pub fn is_valid(&self) -> bool {
        self.0.is_empty() || !self.parts().is_empty()
    }
}

impl Selection {
    /// The filter that rejects a game, if one does.
    pub fn rejects(&self, game: &PgnGame) -> Option<&'static str> {
        let rating = game.ratings.iter().min().copied().flatten();
        if self.min_rating > 0 && rating.is_none_or(|rating| rating < self.min_rating) {
            return Some("rating too low or unknown");
        }
        let lowest = game.ratings.iter().copied().flatten().min();
        if self.below > 0 && lowest.is_none_or(|rating| rating >= self.below) {
            return Some("ratings too high or unknown");
        }
        if !self.player.is_empty() && !Color::ALL.iter().any(|color| self.is_player(game, *color)) {
            return Some("another player");
        }
        if self.min_opponent > 0
            && !Color::ALL
                .iter()
                .any(|color| self.opponent_fits(game, *color))
        {
            return Some("opponent's rating too low or unknown");
        }
        if !self.outcome_fits(game.outcome) {
            return Some("another result");
        }
        if !self.date_fits(&game.date) {
            return Some("another date");
        }
        None
    }

    /// Whether the move at this ply counts.
    pub fn wants_ply(&self, ply: usize) -> bool {
        let number = (ply / 2) as u32;
        number >= self.skip_moves && (self.first_moves == 0 || number < self.first_moves)
    }

    /// Whether the moves of `color` count in this game.
    pub fn wants_side(&self, game: &PgnGame, color: Color) -> bool {
        let side = match self.side {
            Side::Both => true,
            Side::White => color.is_white(),
            Side::Black => color.is_black(),
            Side::Winner => game.outcome.winner() == Some(color),
        };
        side && (self.player.is_empty() || self.is_player(game, color))
            && self.opponent_fits(game, color)
    }

    /// Whether `color` is a player of interest with an opponent that is strong enough.
    fn opponent_fits(&self, game: &PgnGame, color: Color) -> bool {
        let rating = game.ratings[color.other() as usize];
        self.min_opponent == 0
            || self.is_player(game, color)
                && rating.is_some_and(|rating| rating >= self.min_opponent)
    }

    fn is_player(&self, game: &PgnGame, color: Color) -> bool {
        let name = game.names[color as usize].to_lowercase();
        name.contains(&self.player.to_lowercase())
    }

    fn outcome_fits(&self, outcome: Outcome) -> bool {
        let winner = outcome.winner();
        match self.outcomes {
            Outcomes::Any => true,
            Outcomes::Decisive => winner.is_some(),
            Outcomes::Draw => outcome == Outcome::Known(KnownOutcome::Draw),
            Outcomes::White => winner == Some(Color::White),
            Outcomes::Black => winner == Some(Color::Black),
        }
    }

    /// Dates are compared as far as both are known; a game without a year is outside of any bound.
    fn date_fits(&self, date: &Date) -> bool {
        let day = date.parts();
        let in_order = |earlier: &[u32], later: &[u32]| {
            let known = earlier.len().min(later.len());
            known > 0 && earlier[..known] <= later[..known]
        };
        (self.from.0.is_empty() || in_order(&self.from.parts(), &day))
            && (self.to.0.is_empty() || in_order(&day, &self.to.parts()))
    }
}
