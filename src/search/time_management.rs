//! Time management: how long to search.
//!
//! The soft limit is checked between iterations; an unstable best move, a falling score and nodes
//! spread over many moves extend it. The hard limit is checked all the time and never changes.
//! Both leave the overhead of GUI and connection; a time for the move alone is used in full.

use std::time::{Duration, Instant};

use shakmaty::Color;

use super::limits::Limits;
use super::params::SearchParams;

#[derive(Clone, Debug)]
pub struct TimeManager {
    started: Instant,
    soft: Option<Duration>,
    hard: Option<Duration>,
}

/// How settled the best move is after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct IterationStats {
    /// Iterations in a row with the same best move.
    pub stable_iterations: u32,
    /// How far the score fell since the iteration before.
    pub score_drop: i32,
    /// Share of all nodes spent on the best move, from 0 to 1.
    pub best_move_share: f64,
}

const SMALLEST: Duration = Duration::from_millis(1);

impl TimeManager {
    /// For a move of `mover`; `move_number` is the game's, from one.
    pub fn new(
        limits: &Limits,
        mover: Color,
        move_number: u32,
        overhead: Duration,
        started: Instant,
        params: &SearchParams,
    ) -> TimeManager {
        if let Some(move_time) = limits.move_time {
            // Who gives a time for the move wants it used: no overhead is held back.
            return TimeManager {
                started,
                soft: None,
                hard: Some(move_time.max(SMALLEST)),
            };
        }
        let Some(remaining) = limits.remaining(mover) else {
            return TimeManager {
                started,
                soft: None,
                hard: None,
            };
        };
        let control = TimeLeft {
            remaining,
            increment: *limits.increment.get(mover),
            moves_to_go: limits.moves_to_go,
        };
        let (soft, hard) = plan(&control, move_number, overhead, params);
        TimeManager {
            started,
            soft: Some(soft),
            hard: Some(hard),
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn is_timed(&self) -> bool {
        self.hard.is_some()
    }

    pub fn past_hard_limit(&self) -> bool {
        self.hard.is_some_and(|hard| self.elapsed() >= hard)
    }

    /// Whether another iteration is not worth starting.
    pub fn past_soft_limit(&self, stats: &IterationStats) -> bool {
        self.soft
            .is_some_and(|soft| self.elapsed() >= soft.mul_f64(time_factor(stats)))
    }
}

/// The mover's clock.
#[derive(Clone, Copy, Debug)]
struct TimeLeft {
    remaining: Duration,
    increment: Duration,
    moves_to_go: Option<u32>,
}

/// The soft and the hard limit.
fn plan(
    left: &TimeLeft,
    move_number: u32,
    overhead: Duration,
    params: &SearchParams,
) -> (Duration, Duration) {
    let usable = left.remaining.saturating_sub(overhead).max(SMALLEST);
    let per_mille = |duration: Duration, share: i32| duration.mul_f64(f64::from(share) / 1000.0);
    let increment = per_mille(left.increment, params.time_increment_share);

    let (soft, hard) = match left.moves_to_go {
        Some(moves) if moves > 0 => {
            // Overhead is paid at each of the moves still to go.
            let moves = moves.min(50);
            let usable = usable
                .saturating_sub(overhead * (moves - 1))
                .max(usable / 4);
            let share = usable / moves + increment;
            (share.mul_f64(0.8), share * 4)
        }
        _ => {
            // A reserve against stalls of the machine. Once it is touched, part of each increment
            // refills it.
            let reserve = Duration::from_millis(params.time_reserve as u64);
            let free = usable - reserve.min(usable * 5 / 6);
            let filled = (usable.as_secs_f64() / reserve.as_secs_f64()).min(1.0);
            let soft = per_mille(free, share(move_number, params)) + increment.mul_f64(filled);
            let hard = if filled < 1.0 {
                // Never risk the game: the clock gains time whatever happens.
                soft.max(increment)
            } else {
                soft * 4
            };
            (soft, hard)
        }
    };
    let most = match left.moves_to_go {
        Some(1) => usable.mul_f64(0.9),
        _ => per_mille(usable, params.time_hard_share),
    };
    let hard = hard.min(most).max(SMALLEST);
    (soft.min(hard), hard)
}

/// Share of the free clock, in per mille. It grows with the move number: a constant share would
/// spend most of the clock on the opening.
fn share(move_number: u32, params: &SearchParams) -> i32 {
    let growth = params.time_share_growth * move_number.min(1_000) as i32 / 10;
    (params.time_share + growth).min(params.time_share_limit)
}

/// Factor on the soft limit: below one when the choice is clear, above when it is not.
fn time_factor(stats: &IterationStats) -> f64 {
    const BY_STABILITY: [f64; 5] = [1.9, 1.25, 0.95, 0.8, 0.7];
    let stability = BY_STABILITY[(stats.stable_iterations as usize).min(4)];
    let trend = (1.0 + f64::from(stats.score_drop) / 90.0).clamp(0.8, 1.6);
    let effort = (1.65 - stats.best_move_share).clamp(0.6, 1.5);
    stability * trend * effort
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: Duration = Duration::from_millis(10);

    fn planned(remaining: u64, increment: u64, moves_to_go: Option<u32>) -> (Duration, Duration) {
        let left = TimeLeft {
            remaining: Duration::from_millis(remaining),
            increment: Duration::from_millis(increment),
            moves_to_go,
        };
        plan(&left, 60, OVERHEAD, &SearchParams::default())
    }

    #[test]
    fn the_middle_of_a_game_gets_as_much_as_its_beginning() {
        let (mut remaining, mut taken) = (3_000, Vec::new());
        for move_number in 1..=60 {
            let left = TimeLeft {
                remaining: Duration::from_millis(remaining),
                increment: Duration::from_millis(30),
                moves_to_go: None,
            };
            let (soft, _) = plan(&left, move_number, OVERHEAD, &SearchParams::default());
            taken.push(soft);
            remaining = remaining + 30 - soft.as_millis() as u64;
        }
        assert!(taken[24] > taken[0].mul_f64(0.7), "{taken:?}");
        assert!(taken[4] < taken[0].mul_f64(1.3), "{taken:?}");
        assert!(remaining > 300, "{remaining}");
    }

    #[test]
    fn no_plan_uses_more_than_there_is() {
        for remaining in [0, 1, 5, 20, 100, 1_000, 60_000] {
            for increment in [0, 10, 1_000, 60_000] {
                for moves_to_go in [None, Some(1), Some(2), Some(40)] {
                    let (soft, hard) = planned(remaining, increment, moves_to_go);
                    let most = Duration::from_millis(remaining.saturating_sub(10).max(1));
                    assert!(
                        soft <= hard && hard <= most,
                        "{remaining}+{increment} {moves_to_go:?}"
                    );
                }
            }
        }
    }

    /// However long a game lasts, a tenth of a second that something else takes must not lose it.
    #[test]
    fn a_long_game_settles_where_a_stall_is_survived() {
        for (start, increment, reserve) in [(3_000, 30, 270), (1_000, 10, 180)] {
            let mut remaining = start;
            for _ in 0..200 {
                let (soft, _) = planned(remaining, increment, None);
                // Moves take somewhat longer than planned: an iteration runs to its end.
                let taken = soft.mul_f64(1.15).as_millis() as u64;
                remaining = remaining + increment - taken;
            }
            assert!(remaining >= reserve, "{start}+{increment}: {remaining}");
            let (_, hard) = planned(remaining, increment, None);
            assert!(hard.as_millis() as u64 * 2 <= remaining);
        }
    }

    #[test]
    fn what_a_stall_took_comes_back_however_hard_the_moves_are() {
        let mut remaining = 50;
        for _ in 0..40 {
            let (_, hard) = planned(remaining, 10, None);
            let before = remaining;
            remaining = remaining + 10 - hard.as_millis() as u64;
            assert!(remaining > before || before >= 150, "{before}: {hard:?}");
        }
        assert!(remaining >= 120, "{remaining}");
    }

    #[test]
    fn the_last_move_before_the_control_may_use_most_of_the_clock() {
        let (_, last) = planned(10_000, 0, Some(1));
        let (_, first) = planned(10_000, 0, Some(40));
        assert!(last > Duration::from_secs(8) && first < Duration::from_secs(2));
    }

    #[test]
    fn an_unsettled_best_move_gets_more_time() {
        let certain = IterationStats {
            stable_iterations: 9,
            score_drop: -5,
            best_move_share: 0.95,
        };
        let torn = IterationStats {
            stable_iterations: 0,
            score_drop: 60,
            best_move_share: 0.3,
        };
        assert!(time_factor(&certain) < 0.6 && time_factor(&torn) > 2.0);
    }

    #[test]
    fn movetime_is_used_in_full() {
        let limits = Limits::move_time(Duration::from_millis(100));
        let params = SearchParams::default();
        let clock = TimeManager::new(&limits, Color::White, 1, OVERHEAD, Instant::now(), &params);
        assert_eq!(clock.hard, Some(Duration::from_millis(100)));
        assert_eq!(clock.soft, None);
    }
}
