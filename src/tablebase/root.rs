//! Ranks the moves at the root by the tablebases.
//!
//! Moves of the same rank keep the same result; the search chooses among them. As long as nothing
//! endangers a win, all winning moves have one rank, so that the search may choose the quickest
//! mate. Once a position has repeated or the fifty moves run out, the distance to the next capture
//! or pawn move (DTZ) decides: following it wins without fail.

use shakmaty::Move;
use shakmaty_syzygy::Dtz;

use super::{TablebaseResult, Tablebases};
use crate::position::{Game, Position, movegen};

/// Plies without capture or pawn move after which the game is drawn.
const FIFTY_MOVES: i32 = 100;
/// A win that nothing endangers. Wins and losses that the fifty-move rule turns into draws lie
/// halfway to zero.
const WIN: i32 = 10_000;

#[derive(Clone, Copy, Debug)]
pub struct RankedMove {
    pub m: Move,
    pub result: TablebaseResult,
    /// Higher is better.
    pub rank: i32,
}

/// What the tablebases say about the moves at the root.
#[derive(Clone, Debug)]
pub struct RootRanking {
    pub moves: Vec<RankedMove>,
    /// False if only WDL tables are there: these know who wins, not how to make progress.
    pub by_dtz: bool,
}

impl RootRanking {
    /// `None` unless the tables know all of the moves.
    pub(super) fn new(
        tables: &Tablebases,
        game: &Game,
        moves: &[Move],
        fifty_move_rule: bool,
    ) -> Option<RootRanking> {
        if !tables.covers(game.position()) {
            return None;
        }
        let ranked = |rank: &dyn Fn(&Position, Move) -> Option<i32>| {
            let one = |m: &Move| {
                let child = game.position().after(*m);
                let rank = match is_third_occurrence(game, &child) {
                    true => 0,
                    false => rank(&child, *m)?,
                };
                Some(RankedMove {
                    m: *m,
                    result: result(rank, fifty_move_rule),
                    rank,
                })
            };
            moves.iter().map(one).collect::<Option<Vec<_>>>()
        };
        let halfmoves = game.position().halfmoves() as i32;
        let repeated = has_repeated(game);
        let by_dtz = |child: &Position, m: Move| {
            let dtz = dtz_of_move(tables, child, m)?;
            Some(rank_by_dtz(dtz, halfmoves, repeated))
        };
        if let Some(moves) = ranked(&by_dtz) {
            return Some(RootRanking {
                moves,
                by_dtz: true,
            });
        }
        let by_wdl = |child: &Position, _| {
            let Dtz(dtz) = Dtz::before_zeroing(-tables.wdl_after_zeroing(child)?);
            Some(rank_by_dtz(dtz, 0, false))
        };
        ranked(&by_wdl).map(|moves| RootRanking {
            moves,
            by_dtz: false,
        })
    }

    /// The result of the best move.
    pub fn result(&self) -> Option<TablebaseResult> {
        self.moves.iter().map(|ranked| ranked.result).max()
    }
}

/// Plies to the next capture or pawn move, this one included: positive on the way to win.
fn dtz_of_move(tables: &Tablebases, child: &Position, m: Move) -> Option<i32> {
    if child.in_check() && !movegen::has_legal_move(child) {
        return Some(1);
    }
    if m.is_zeroing() {
        let Dtz(dtz) = Dtz::before_zeroing(-tables.wdl_after_zeroing(child)?);
        return Some(dtz);
    }
    let dtz = -tables.probe_dtz(child)?;
    Some(dtz + dtz.signum())
}

fn rank_by_dtz(dtz: i32, halfmoves: i32, repeated: bool) -> i32 {
    let plies = dtz.abs();
    // DTZ may be one too small, unless it is this very move.
    let in_time = plies == 1 || plies + halfmoves < FIFTY_MOVES;
    match dtz {
        0 => 0,
        1.. if !in_time => WIN / 2 - plies - halfmoves,
        1.. if repeated => WIN - plies,
        1.. => WIN,
        _ if plies + halfmoves > FIFTY_MOVES => plies + halfmoves - WIN / 2,
        // The fifty-move rule may come to help: hold out.
        _ if 2 * plies + halfmoves >= FIFTY_MOVES => plies + halfmoves - WIN,
        _ => -WIN,
    }
}

fn result(rank: i32, fifty_move_rule: bool) -> TablebaseResult {
    let decided = if fifty_move_rule { WIN / 2 } else { 0 };
    match rank {
        rank if rank > decided => TablebaseResult::Win,
        rank if rank < -decided => TablebaseResult::Loss,
        _ => TablebaseResult::Draw,
    }
}

fn is_third_occurrence(game: &Game, child: &Position) -> bool {
    // The current position differs from its successors by the side to move.
    let same = |key: &&u64| **key == child.key();
    game.key_history().iter().filter(same).count() >= 2
}

/// Whether a position has occurred twice since the last capture or pawn move.
fn has_repeated(game: &Game) -> bool {
    let keys = game.key_history();
    game.repetitions() > 0
        || keys
            .iter()
            .enumerate()
            .any(|(at, key)| keys[..at].contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_in_time_comes_first_and_a_loss_in_time_last() {
        let rank = |dtz, halfmoves| rank_by_dtz(dtz, halfmoves, false);
        let best_first = [
            rank(20, 10),  // a win
            rank(20, 85),  // a win that comes too late
            rank(150, 0),  // a cursed win
            rank(0, 0),    // a draw
            rank(-150, 0), // a blessed loss
            rank(-20, 85), // a loss that comes too late
            rank(-60, 10), // a loss: the longer, the better
            rank(-50, 10),
            rank(-20, 10),
        ];
        assert!(best_first.is_sorted_by(|a, b| a > b), "{best_first:?}");
        assert_eq!(rank(20, 10), rank(60, 10));
        assert_eq!(rank(1, 99), rank(1, 0));
    }

    #[test]
    fn after_a_repetition_the_distance_decides() {
        assert!(rank_by_dtz(20, 10, true) > rank_by_dtz(22, 10, true));
        assert_eq!(
            result(rank_by_dtz(22, 10, true), true),
            TablebaseResult::Win
        );
    }

    #[test]
    fn without_the_fifty_move_rule_late_wins_are_wins() {
        for (dtz, result_without) in [(150, TablebaseResult::Win), (-150, TablebaseResult::Loss)] {
            let rank = rank_by_dtz(dtz, 0, false);
            assert_eq!(result(rank, true), TablebaseResult::Draw);
            assert_eq!(result(rank, false), result_without);
        }
    }
}
