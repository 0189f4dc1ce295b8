//! The full-width search of the older papers: all moves to a fixed depth, then captures until the
//! position is quiet, without pruning.
//!
//! The margins of the main search are tuned for one evaluation. At three plies they prune most of
//! the tree, and they do not fit an evaluation that is still evolving. Here only alpha-beta skips
//! moves, so the value is that of the full tree for any weights; move ordering and the TT only
//! save time. One thread, no clock: a move depends on the game so far, the weights and the
//! [`FullWidthDepth`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrayvec::ArrayVec;
use shakmaty::Move;
use thiserror::Error;

use super::move_picker::is_tactical;
use super::score::{DRAW, FIFTY_MOVES, INFINITE, MAX_PLY, mated_in};
use super::transposition::{Bound, Entry, TranspositionTable};
use super::{EngineError, SearchResult};
use crate::eval::{Evaluator, Weights};
use crate::position::movegen::{self, MoveKind, PackedMove};
use crate::position::{Game, Position, safe_quiet_checks, see_at_least, see_value};

/// Depth of a full-width search: all moves, then captures, written `3`, `3+3`, or with checks
/// `3+c1` and `3+3c1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FullWidthDepth {
    /// Plies with all moves.
    pub plies: u32,
    /// Plies with captures alone after them; `None` until there are no more.
    pub captures: Option<u32>,
    /// Of these, plies in which quiet checks are tried as well, and each check is answered by all
    /// evasions.
    pub checks: u32,
}

/// Full width beyond this takes years.
const MOST_PLIES: u32 = 64;

#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "'{0}' is not a number of plies such as 3, 3+3 with a limit to captures, or 3+c1 with checks"
)]
pub struct FullWidthDepthError(String);

impl FromStr for FullWidthDepth {
    type Err = FullWidthDepthError;

    fn from_str(text: &str) -> Result<FullWidthDepth, FullWidthDepthError> {
        let wrong = || FullWidthDepthError(text.to_owned());
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| wrong());
        let (plies, quiescence) = match text.split_once('+') {
            Some((plies, quiescence)) => (number(plies)?, quiescence),
            None => (number(text)?, "c0"),
        };
        let (captures, checks) = quiescence.split_once('c').unwrap_or((quiescence, "0"));
        let depth = FullWidthDepth {
            plies,
            captures: match captures {
                "" if quiescence.len() > 1 => None,
                _ => Some(number(captures)?),
            },
            checks: number(checks)?,
        };
        match (1..=MOST_PLIES).contains(&plies) && depth.has_room_for_checks() {
            true => Ok(depth),
            false => Err(wrong()),
        }
    }
}

impl FullWidthDepth {
    /// Checks are tried in plies of quiescence only.
    pub fn has_room_for_checks(&self) -> bool {
        self.captures.is_none_or(|captures| self.checks <= captures)
    }
}

impl fmt::Display for FullWidthDepth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.plies)?;
        match (self.captures, self.checks) {
            (None, 0) => Ok(()),
            (None, checks) => write!(f, "+c{checks}"),
            (Some(captures), 0) => write!(f, "+{captures}"),
            (Some(captures), checks) => write!(f, "+{captures}c{checks}"),
        }
    }
}

/// Small enough to be emptied before every game.
const TABLE_MEBIBYTES: usize = 1;

/// The search of one player, with its TT, killers and history.
pub struct FullWidthSearch {
    depth_limit: FullWidthDepth,
    evaluator: Evaluator,
    table: TranspositionTable,
    killers: [[PackedMove; 2]; MOST_PLIES as usize],
    /// Butterfly history: cut-offs by quiet moves, weighted by depth.
    history: Box<[[u32; 64]; 64]>,
    /// Keys of all positions before the current one, oldest first.
    keys: Vec<u64>,
    best: Option<Move>,
    nodes: u64,
}

impl FullWidthSearch {
    pub fn weights(&self) -> &Weights {
        self.evaluator.weights()
    }

    pub fn new(
        weights: Arc<Weights>,
        depth_limit: FullWidthDepth,
    ) -> Result<FullWidthSearch, EngineError> {
        Ok(FullWidthSearch {
            depth_limit,
            evaluator: Evaluator::new(weights),
            table: TranspositionTable::new(TABLE_MEBIBYTES)?,
            killers: [[PackedMove::NONE; 2]; MOST_PLIES as usize],
            history: Box::new([[0; 64]; 64]),
            keys: Vec::new(),
            best: None,
            nodes: 0,
        })
    }

    /// Forgets the last game.
    pub fn clear(&mut self) {
        self.table.clear(1);
        self.killers.fill([PackedMove::NONE; 2]);
        self.history.fill([0; 64]);
    }

    /// The best move, one ply deeper at a time so that each iteration orders the next.
    pub fn run(&mut self, game: &Game) -> SearchResult {
        self.keys.clear();
        self.keys.extend_from_slice(game.key_history());
        self.table.next_search();
        self.best = None;
        self.nodes = 0;
        for row in self.history.iter_mut() {
            row.iter_mut().for_each(|count| *count /= 8);
        }
        let mut score = DRAW;
        for depth in 1..=self.depth_limit.plies {
            score = self.full_width(game.position(), depth, 0, -INFINITE, INFINITE);
        }
        SearchResult {
            best_move: self.best,
            ponder: None,
            score,
            bound: Bound::Exact,
            depth: self.depth_limit.plies as i32,
            nodes: self.nodes,
        }
    }

    /// The value of a node with `depth` plies of all moves to go.
    fn full_width(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        if ply > 0 && self.is_drawn(position) {
            return DRAW;
        }
        if depth == 0 {
            return self.qsearch(position, 0, ply, alpha, beta);
        }
        self.nodes += 1;
        let entry = self.table.probe(position.key(), ply, position.halfmoves());
        // Only the same depth has the same value.
        if let Some(entry) = entry.filter(|entry| ply > 0 && entry.depth == depth as i32)
            && decides(&entry, alpha, beta)
        {
            return entry.score;
        }
        let first = entry.map_or(PackedMove::NONE, |entry| entry.best);
        self.keys.push(position.key());
        let best = self.best_move(position, first, depth, ply, [alpha, beta]);
        self.keys.pop();
        let Some((m, score)) = best else {
            return if position.in_check() {
                mated_in(ply)
            } else {
                DRAW
            };
        };
        if ply == 0 {
            self.best = Some(m);
        }
        let bound = Bound::of(score, alpha, beta);
        self.store(position, m, score, bound, depth, ply);
        score
    }

    /// The best of all legal moves, or the first with a beta cut-off; none if there are none.
    fn best_move(
        &mut self,
        position: &Position,
        first: PackedMove,
        depth: u32,
        ply: usize,
        [mut alpha, beta]: [i32; 2],
    ) -> Option<(Move, i32)> {
        let mut moves = Moves::default();
        self.order_moves(position, first, ply, &mut moves);
        let mut best: Option<(Move, i32)> = None;
        while let Some(m) = moves.pop() {
            let child = position.after(m);
            let score = self.child(&child, depth, ply, [alpha, beta], best.is_none());
            if best.is_some_and(|(_, best)| score <= best) {
                continue;
            }
            best = Some((m, score));
            alpha = alpha.max(score);
            if score >= beta {
                self.update_history(m, depth, ply);
                break;
            }
        }
        best
    }

    /// Principal variation search: the first child has the full window, the others a null window
    /// first.
    fn child(
        &mut self,
        child: &Position,
        depth: u32,
        ply: usize,
        [alpha, beta]: [i32; 2],
        first: bool,
    ) -> i32 {
        if !first {
            let score = -self.full_width(child, depth - 1, ply + 1, -alpha - 1, -alpha);
            if score <= alpha || score >= beta {
                return score;
            }
        }
        -self.full_width(child, depth - 1, ply + 1, -beta, -alpha)
    }

    /// Stand pat, or captures, promotions and the checks of the first plies. `played` counts the
    /// plies of quiescence before this node.
    fn qsearch(
        &mut self,
        position: &Position,
        played: u32,
        ply: usize,
        mut alpha: i32,
        beta: i32,
    ) -> i32 {
        self.nodes += 1;
        if position.in_check() && !movegen::has_legal_move(position) {
            return mated_in(ply);
        }
        let captures = self.depth_limit.captures.unwrap_or(MAX_PLY as u32);
        let checks = self.depth_limit.checks;
        let is_last = ply + 1 >= MAX_PLY;
        // Nobody stands pat in check; the last check is answered, too.
        let evades = position.in_check() && checks > 0 && played <= checks && !is_last;
        let mut best_score = -INFINITE;
        if !evades {
            best_score = self.evaluator.evaluate(position);
            if played >= captures || is_last || best_score >= beta {
                return best_score;
            }
        }
        alpha = alpha.max(best_score);
        let mut moves = Moves::default();
        moves.add_quiescence(position, evades, played < checks);
        while let Some(m) = moves.pop() {
            let child = position.after(m);
            let score = -self.qsearch(&child, played + 1, ply + 1, -beta, -alpha);
            if score > best_score {
                best_score = score;
                alpha = alpha.max(score);
                if score >= beta {
                    break;
                }
            }
        }
        best_score
    }

    /// A repetition, in the game or in the search, counts as a draw at once.
    fn is_drawn(&self, position: &Position) -> bool {
        let key = position.key();
        let reversible = position.halfmoves() as usize;
        let mut earlier = self.keys.iter().rev().take(reversible);
        reversible >= FIFTY_MOVES
            || position.is_insufficient_material()
            || earlier.any(|old| *old == key)
    }

    /// All legal moves, the table's first, then captures that do not lose material, killers,
    /// quiet moves by their history, losing captures.
    fn order_moves(&self, position: &Position, first: PackedMove, ply: usize, moves: &mut Moves) {
        const STEP: i32 = 1 << 24;
        let killers = &self.killers[ply];
        let mut add = |m: Move| {
            let packed = PackedMove::new(m);
            let score = if packed == first {
                3 * STEP
            } else if is_tactical(m) {
                let side = if see_at_least(position, m, 0) { 2 } else { -1 };
                side * STEP + exchange_gain(m)
            } else if killers.contains(&packed) {
                STEP
            } else {
                self.history_of(m) as i32
            };
            moves.push(m, score);
        };
        movegen::generate(position, MoveKind::Tactical, &mut add);
        movegen::generate(position, MoveKind::Quiet, &mut add);
    }

    fn history_of(&self, m: Move) -> u32 {
        let from = m.from().map_or(0, usize::from);
        self.history[from][usize::from(m.to())].min(1 << 20)
    }

    /// Killers and history after a beta cut-off by a quiet move.
    fn update_history(&mut self, m: Move, depth: u32, ply: usize) {
        if is_tactical(m) {
            return;
        }
        let (packed, killers) = (PackedMove::new(m), &mut self.killers[ply]);
        if killers[0] != packed {
            *killers = [packed, killers[0]];
        }
        let from = m.from().map_or(0, usize::from);
        let count = &mut self.history[from][usize::from(m.to())];
        *count = count.saturating_add(depth * depth);
    }

    fn store(
        &self,
        position: &Position,
        best: Move,
        score: i32,
        bound: Bound,
        depth: u32,
        ply: usize,
    ) {
        let entry = Entry {
            best: PackedMove::new(best),
            score,
            eval: None,
            depth: depth as i32,
            bound,
            pv: false,
        };
        self.table.store(position.key(), entry, ply);
    }
}

/// Whether a known score ends a search with this window.
fn decides(entry: &Entry, alpha: i32, beta: i32) -> bool {
    match entry.bound {
        Bound::Exact => true,
        Bound::Lower => entry.score >= beta,
        Bound::Upper => entry.score <= alpha,
        Bound::None => false,
    }
}

/// Most valuable victim first, least valuable attacker among equals.
fn exchange_gain(m: Move) -> i32 {
    let victim = m.capture().map_or(0, see_value);
    let promotion = m.promotion().map_or(0, see_value);
    16 * (victim + promotion) - see_value(m.role()) / 10
}

/// Picks the best remaining move when asked: most nodes ask for few.
#[derive(Default)]
struct Moves(ArrayVec<(i32, Move), 256>);

impl Moves {
    fn push(&mut self, m: Move, score: i32) {
        // No position has more moves than there is room.
        let _ = self.0.try_push((score, m));
    }

    fn pop(&mut self) -> Option<Move> {
        let mut best = 0;
        for (place, (score, _)) in self.0.iter().enumerate().skip(1) {
            if *score > self.0[best].0 {
                best = place;
            }
        }
        self.0.swap_pop(best).map(|(_, m)| m)
    }

    /// What quiescence tries: every evasion, or captures and promotions, with `checks` also quiet
    /// moves that give check without losing material.
    fn add_quiescence(&mut self, position: &Position, evades: bool, checks: bool) {
        movegen::generate(position, MoveKind::Tactical, |m| {
            self.push(m, exchange_gain(m));
        });
        if evades {
            movegen::generate(position, MoveKind::Quiet, |m| self.push(m, 0));
        } else if checks {
            safe_quiet_checks(position, |m| self.push(m, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the full tree, without any cut.
    fn minimax(position: &Position, depth: u32, ply: usize, weights: &Weights) -> i32 {
        let moves = movegen::legal_moves(position);
        if moves.is_empty() {
            return if position.in_check() {
                mated_in(ply)
            } else {
                DRAW
            };
        }
        if depth == 0 {
            return crate::eval::evaluate_uncached(position, weights);
        }
        let children = moves
            .iter()
            .map(|m| -minimax(&position.after(*m), depth - 1, ply + 1, weights));
        children.max().unwrap_or(DRAW)
    }

    #[test]
    fn the_value_is_that_of_the_full_tree() {
        let weights = Arc::new(Weights::default());
        for fen in [
            "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            let depth_limit = "3+0".parse().unwrap();
            let mut search = FullWidthSearch::new(weights.clone(), depth_limit).unwrap();
            let result = search.run(&Game::new(position.clone()));
            assert_eq!(result.score, minimax(&position, 3, 0, &weights), "{fen}");
        }
    }

    #[test]
    fn breadths_are_read_as_they_are_written() {
        for text in ["3", "3+3", "6+0", "6+c1", "6+3c2"] {
            assert_eq!(text.parse::<FullWidthDepth>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "3+", "+3", "3+c", "3+c1c1", "3+1c2", "x", "65"] {
            assert!(wrong.parse::<FullWidthDepth>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn quiescence_with_checks_sees_a_mate_by_a_quiet_move() {
        // The pawn on d4 is free, but without the knight on e6 Ra8 mates.
        let game = Game::new(Position::from_fen("6k1/5ppp/4n3/8/3P4/8/8/R5K1 b - - 0 1").unwrap());
        let takes = |depth: &str| {
            let depth_limit = depth.parse().unwrap();
            let weights = Arc::new(Weights::built_in("hand-set").unwrap());
            let mut search = FullWidthSearch::new(weights, depth_limit).unwrap();
            search.run(&game).best_move.unwrap().is_capture()
        };
        assert!(takes("1"));
        assert!(!takes("1+c1"));
        assert!(!takes("1+1c1"));
    }
}
