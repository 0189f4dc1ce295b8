//! Limits of thinking: time control, fixed time, depth or nodes per move.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use shakmaty::{ByColor, Color};
use thiserror::Error;

use crate::search::Limits;
use crate::search::full_width::FullWidthDepth;

#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a time control such as 3+0.03, 40/60+0.6 or 1:30+1")]
pub struct TimeControlError(String);

/// Base time for all moves, or for every `moves` moves, and an increment after each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeControl {
    pub moves: Option<u32>,
    pub base: Duration,
    pub increment: Duration,
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<TimeControl, TimeControlError> {
        let wrong = || TimeControlError(text.to_owned());
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                let moves = moves.parse().ok().filter(|moves| *moves > 0);
                (Some(moves.ok_or_else(wrong)?), rest)
            }
            None => (None, text),
        };
        let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
        let (minutes, seconds) = base.split_once(':').unwrap_or(("0", base));
        let control = TimeControl {
            moves,
            base: duration(minutes).ok_or_else(wrong)? * 60
                + duration(seconds).ok_or_else(wrong)?,
            increment: duration(increment).ok_or_else(wrong)?,
        };
        if control.base + control.increment == Duration::ZERO {
            return Err(wrong());
        }
        Ok(control)
    }
}

/// Parses a number of seconds, possibly fractional, up to a day.
pub fn duration(seconds: &str) -> Option<Duration> {
    const DAY: f64 = 86_400.0;
    let seconds: f64 = seconds.parse().ok()?;
    (0.0..=DAY)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.base.as_secs_f64())?;
        if !self.increment.is_zero() {
            write!(f, "+{}", self.increment.as_secs_f64())?;
        }
        Ok(())
    }
}

/// A player's limits for a whole game; at least one should be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GameLimits {
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    pub move_time: Option<Duration>,
    pub time_control: Option<TimeControl>,
    /// The full-width search of the papers to this depth; Finch's players then ignore all other
    /// limits.
    pub full_width: Option<FullWidthDepth>,
}

impl GameLimits {
    pub fn full_width(depth: FullWidthDepth) -> GameLimits {
        GameLimits {
            full_width: Some(depth),
            ..GameLimits::default()
        }
    }

    pub fn depth(depth: u32) -> GameLimits {
        GameLimits {
            depth: Some(depth),
            ..GameLimits::default()
        }
    }

    pub fn nodes(nodes: u64) -> GameLimits {
        GameLimits {
            nodes: Some(nodes),
            ..GameLimits::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == GameLimits::default()
    }

    /// Whether the moves depend on the speed of the machine.
    pub fn is_timed(&self) -> bool {
        self.move_time.is_some() || self.time_control.is_some()
    }

    /// The size in MiB of a hash table that such searches can fill. Clearing a larger one before
    /// each game would cost time for nothing.
    pub fn hash(&self) -> usize {
        const SMALL: usize = 1;
        const USUAL: usize = 16;
        let shallow = self.depth.is_some_and(|depth| depth <= 8);
        let few = self.nodes.is_some_and(|nodes| nodes <= 50_000);
        if shallow || few { SMALL } else { USUAL }
    }

    /// The PGN tag `TimeControl`.
    pub fn tag(&self) -> String {
        match (self.time_control, self.move_time) {
            (Some(clock), _) => clock.to_string(),
            (None, Some(time)) => format!("{}/move", time.as_secs_f64()),
            (None, None) => "-".to_owned(),
        }
    }
}

impl fmt::Display for GameLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.time_control.map(|clock| clock.to_string()),
            self.move_time
                .map(|time| format!("{} s a move", time.as_secs_f64())),
            self.depth.map(|depth| format!("depth {depth}")),
            self.nodes.map(|nodes| format!("{nodes} nodes")),
            self.full_width
                .map(|depth| format!("{depth} plies, full width")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// A player's running clock.
#[derive(Clone, Copy, Debug)]
struct PlayerClock {
    control: TimeControl,
    remaining: Duration,
    moves_to_go: Option<u32>,
}

/// The limits of one move, as the UCI command `go` gives them.
#[derive(Clone, Copy, Debug)]
pub struct MoveLimits {
    pub search: Limits,
    /// Time tolerated beyond the limit.
    pub margin: Duration,
}

/// Both clocks of a game.
#[derive(Clone, Debug)]
pub struct GameClocks {
    limits: ByColor<GameLimits>,
    clocks: ByColor<Option<PlayerClock>>,
    margin: Duration,
}

impl GameClocks {
    pub fn new(limits: ByColor<GameLimits>, margin: Duration) -> GameClocks {
        let clock = |limits: GameLimits| {
            limits.time_control.map(|control| PlayerClock {
                control,
                remaining: control.base + control.increment,
                moves_to_go: control.moves,
            })
        };
        GameClocks {
            limits,
            clocks: limits.map(clock),
            margin,
        }
    }

    pub fn move_limits(&self, mover: Color) -> MoveLimits {
        let limits = self.limits.get(mover);
        let clock = self.clocks.get(mover);
        let increment = |clock: PlayerClock| clock.control.increment;
        let search = Limits {
            // Other engines have no full-width search; the same depth comes closest.
            depth: limits.depth.or(limits.full_width.map(|depth| depth.plies)),
            nodes: limits.nodes,
            move_time: limits.move_time,
            time: self.clocks.map(|clock| clock.map(|clock| clock.remaining)),
            increment: self
                .clocks
                .map(|clock| clock.map_or(Duration::ZERO, increment)),
            moves_to_go: clock.and_then(|clock| clock.moves_to_go),
            ..Limits::default()
        };
        MoveLimits {
            search,
            margin: self.margin,
        }
    }

    /// What is left on a player's clock.
    pub fn remaining(&self, color: Color) -> Option<Duration> {
        self.clocks.get(color).map(|clock| clock.remaining)
    }

    /// Ends the mover's turn: subtracts the elapsed time and adds the increment. False if the time
    /// limit was exceeded.
    pub fn press(&mut self, mover: Color, elapsed: Duration) -> bool {
        let allowed = self.move_limits(mover).search.allowance(mover);
        if allowed.is_some_and(|allowed| elapsed > allowed.saturating_add(self.margin)) {
            return false;
        }
        if let Some(clock) = self.clocks.get_mut(mover) {
            clock.remaining = clock.remaining.saturating_sub(elapsed) + clock.control.increment;
            clock.moves_to_go = match clock.moves_to_go {
                Some(1) => {
                    clock.remaining += clock.control.base;
                    clock.control.moves
                }
                Some(moves) => Some(moves - 1),
                None => None,
            };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_read_as_runners_write_them() {
        let control: TimeControl = "40/1:30+0.5".parse().unwrap();
        assert_eq!(control.moves, Some(40));
        assert_eq!(control.base, Duration::from_secs(90));
        assert_eq!(control.increment, Duration::from_millis(500));
        assert_eq!(control.to_string(), "40/90+0.5");
        assert_eq!(
            "8+0.08".parse::<TimeControl>().unwrap().to_string(),
            "8+0.08"
        );
        for wrong in ["", "x", "0", "-1+1", "0/5", "3+", "nan", "1e99"] {
            assert!(wrong.parse::<TimeControl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn clocks_count_down_add_increments_and_refill() {
        let limits = GameLimits {
            time_control: "2/1+0.5".parse().ok(),
            ..GameLimits::default()
        };
        let mut clocks = GameClocks::new(ByColor::new_with(|_| limits), Duration::ZERO);
        let remaining =
            |clocks: &GameClocks| clocks.move_limits(Color::White).search.time.white.unwrap();
        let start = remaining(&clocks);
        assert!(clocks.press(Color::White, Duration::from_millis(400)));
        assert_eq!(remaining(&clocks), start + Duration::from_millis(100));
        assert_eq!(clocks.move_limits(Color::White).search.moves_to_go, Some(1));
        assert!(clocks.press(Color::White, Duration::from_millis(500)));
        assert_eq!(remaining(&clocks), start + Duration::from_millis(1100));
        assert_eq!(clocks.move_limits(Color::White).search.moves_to_go, Some(2));
        assert!(!clocks.press(Color::White, Duration::from_secs(60)));
    }
}
