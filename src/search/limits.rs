//! What ends a search: the one struct that `go`, matches and data generation fill in.

use std::time::Duration;

use shakmaty::{ByColor, Color};

/// Everything absent means: until told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    /// Mate in this many moves ends the search.
    pub mate: Option<u32>,
    /// Exactly this long.
    pub move_time: Option<Duration>,
    /// What is left on the clocks; zero when the GUI says a clock has run out.
    pub time: ByColor<Option<Duration>>,
    pub increment: ByColor<Duration>,
    /// Moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// Until told to stop, whatever is found; the result waits for it.
    pub infinite: bool,
    /// On the opponent's time: the clock counts after the ponder hit.
    pub ponder: bool,
}

impl Limits {
    pub fn depth(depth: u32) -> Limits {
        Limits {
            depth: Some(depth),
            ..Limits::default()
        }
    }

    pub fn nodes(nodes: u64) -> Limits {
        Limits {
            nodes: Some(nodes),
            ..Limits::default()
        }
    }

    pub fn move_time(time: Duration) -> Limits {
        Limits {
            move_time: Some(time),
            ..Limits::default()
        }
    }

    /// The mover's clock. A clock that is missing is taken to be the opponent's, or as much as
    /// one increment.
    pub fn remaining(&self, mover: Color) -> Option<Duration> {
        let increment = *self.increment.get(mover);
        let assumed = (!increment.is_zero()).then_some(increment);
        self.time.get(mover).or(*self.time.get(!mover)).or(assumed)
    }

    /// The longest this move may take; `None` without a clock.
    pub fn allowance(&self, mover: Color) -> Option<Duration> {
        let limits = [self.move_time, *self.time.get(mover)];
        limits.into_iter().flatten().min()
    }
}
