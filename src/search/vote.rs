//! Which thread's move is played. Threads search the same tree in another order; a move that many
//! of them chose, deeply and with a good score, is the safest.

use shakmaty::Move;

use super::SearchResult;
use super::score::MATE_IN_MAX;

/// What the lowest score still counts for, so that depth tells among equals.
const LEAST: i32 = 15;

/// The place of the result to play: one for the move with the most votes, the weightiest of them.
/// A forced mate needs no votes: the shortest wins. `None` if there are no results.
pub(super) fn choose(results: &[&SearchResult]) -> Option<usize> {
    let lowest = results.iter().map(|result| result.score).min()?;
    let weight = |result: &SearchResult| {
        i64::from(result.score - lowest + LEAST) * i64::from(result.depth.max(1))
    };
    let votes = |m: Option<Move>| -> i64 {
        let same = results.iter().filter(|result| result.best_move == m);
        same.map(|result| weight(result)).sum()
    };
    let rank = |result: &SearchResult| {
        let mate = if result.score >= MATE_IN_MAX {
            result.score
        } else {
            0
        };
        (mate, votes(result.best_move), weight(result))
    };
    // The first of equals: the main thread's, whose line was reported.
    (0..results.len())
        .rev()
        .max_by_key(|place| rank(results[*place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{Position, movegen};
    use crate::search::score::MATE;

    fn result(number: usize, score: i32, depth: i32) -> SearchResult {
        let moves = movegen::legal_moves(&Position::default());
        SearchResult {
            best_move: Some(moves[number]),
            score,
            depth,
            ..SearchResult::default()
        }
    }

    fn chosen(results: &[SearchResult]) -> Option<usize> {
        choose(&results.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_move_of_most_threads_wins_over_one_that_is_a_little_deeper() {
        let results = [result(0, 30, 21), result(1, 28, 20), result(1, 31, 20)];
        assert_eq!(chosen(&results), Some(2));
    }

    #[test]
    fn a_much_better_or_much_deeper_result_outvotes_two() {
        let better = [result(0, 20, 20), result(0, 22, 20), result(1, 120, 20)];
        assert_eq!(chosen(&better), Some(2));
        let deeper = [result(0, 20, 10), result(0, 20, 10), result(1, 20, 25)];
        assert_eq!(chosen(&deeper), Some(2));
    }

    #[test]
    fn the_shortest_mate_is_played_whatever_the_others_say() {
        let results = [
            result(0, 900, 30),
            result(0, 900, 30),
            result(1, MATE - 9, 12),
            result(2, MATE - 5, 9),
        ];
        assert_eq!(chosen(&results), Some(3));
    }

    #[test]
    fn the_main_thread_wins_among_equals() {
        assert_eq!(chosen(&[result(0, 10, 9), result(1, 10, 9)]), Some(0));
        assert_eq!(chosen(&[]), None);
    }
}
