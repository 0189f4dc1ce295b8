//! Accumulators that follow the search.
//!
//! A move changes few features. The [`AccumulatorStack`] therefore keeps the accumulators of the
//! position evaluated last at each ply, with the boards they belong to, and updates the nearest:
//! the difference of two boards says which features to add and which to remove. The search need
//! not tell which moves it makes.
//!
//! When a king leaves its bucket or crosses the middle, all features of its side change. Then the
//! accumulator is updated from the refresh table ("Finny table"), which remembers the last board
//! and accumulator of each perspective.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use super::architecture::{HIDDEN, NetworkParameters, Perspective};
use super::{Network, Score, inference};
use crate::position::Position;

/// The hidden layer of one side before activation: the bias and the weights of all active
/// features.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Accumulator(pub [i16; HIDDEN]);

impl Accumulator {
    /// The accumulator of a board, from scratch.
    #[inline(always)]
    pub fn of(board: &BoardSnapshot, color: Color, parameters: &NetworkParameters) -> Accumulator {
        let mut accumulator = Accumulator(parameters.feature_bias);
        let perspective = board.perspective(color);
        for square in Bitboard(board.occupied()) {
            if let Some(piece) = board.piece_at(square) {
                let weights = &parameters.feature_weights[perspective.feature(piece, square)];
                for (value, weight) in accumulator.0.iter_mut().zip(weights) {
                    *value += weight;
                }
            }
        }
        accumulator
    }
}

/// The pieces of a board, in a form that is quick to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BoardSnapshot {
    roles: [u64; 6],
    colors: [u64; 2],
}

impl BoardSnapshot {
    const EMPTY: BoardSnapshot = BoardSnapshot {
        roles: [0; 6],
        colors: [0; 2],
    };

    #[inline(always)]
    pub fn of(board: &Board) -> BoardSnapshot {
        BoardSnapshot {
            roles: Role::ALL.map(|role| board.by_role(role).0),
            colors: [Color::White, Color::Black].map(|color| board.by_color(color).0),
        }
    }

    #[inline(always)]
    fn occupied(&self) -> u64 {
        self.colors[0] | self.colors[1]
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.occupied().count_ones()
    }

    /// The number of squares on which two boards differ.
    #[inline(always)]
    fn distance(&self, other: &BoardSnapshot) -> u32 {
        self.differences(other).count_ones()
    }

    #[inline(always)]
    fn perspective(&self, color: Color) -> Perspective {
        let kings = self.roles[Role::King as usize - 1];
        let king = Bitboard(kings & self.colors[usize::from(color.is_black())]);
        Perspective::new(color, king.first().unwrap_or(Square::A1))
    }

    /// The squares on which two boards differ.
    #[inline(always)]
    fn differences(&self, other: &BoardSnapshot) -> u64 {
        let mut squares = 0;
        for (ours, theirs) in self.roles.iter().zip(&other.roles) {
            squares |= ours ^ theirs;
        }
        for (ours, theirs) in self.colors.iter().zip(&other.colors) {
            squares |= ours ^ theirs;
        }
        squares
    }

    /// The piece on a square. Computed without branches: a branch for each role would be
    /// mispredicted more often than not.
    #[inline(always)]
    fn piece_at(&self, square: Square) -> Option<Piece> {
        let bit = |squares: u64| squares >> square.to_u32() & 1;
        let mut number = 0;
        for (squares, role) in self.roles.iter().zip(1..) {
            number += role * bit(*squares) as u32;
        }
        let role = Role::try_from(number).ok()?;
        let color = Color::from_white(bit(self.colors[0]) != 0);
        Some(Piece { color, role })
    }
}

/// The pieces that one board has and another has not.
#[derive(Default)]
struct BoardDelta {
    removed: ArrayVec<(Piece, Square), 64>,
    added: ArrayVec<(Piece, Square), 64>,
}

impl BoardDelta {
    #[inline(always)]
    fn between(before: &BoardSnapshot, after: &BoardSnapshot) -> BoardDelta {
        let mut delta = BoardDelta::default();
        for square in Bitboard(before.differences(after)) {
            let here = |piece| (piece, square);
            delta.removed.extend(before.piece_at(square).map(here));
            delta.added.extend(after.piece_at(square).map(here));
        }
        delta
    }

    /// Makes the accumulator of the board after from that of the board before. A quiet move, a
    /// capture and two moves are done in one pass.
    #[inline(always)]
    fn apply(
        &self,
        from: &Accumulator,
        to: &mut Accumulator,
        perspective: Perspective,
        parameters: &NetworkParameters,
    ) {
        let weights = |&(piece, square): &(Piece, Square)| {
            &parameters.feature_weights[perspective.feature(piece, square)]
        };
        match (&self.removed[..], &self.added[..]) {
            ([removed], [added]) => {
                let (removed, added) = (weights(removed), weights(added));
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + added[at] - removed[at];
                }
            }
            ([removed, captured], [added]) => {
                let (removed, captured) = (weights(removed), weights(captured));
                let added = weights(added);
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + added[at] - removed[at] - captured[at];
                }
            }
            ([first, second], [third, fourth]) => {
                let (first, second) = (weights(first), weights(second));
                let (third, fourth) = (weights(third), weights(fourth));
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + third[at] - first[at] + fourth[at] - second[at];
                }
            }
            (removed, added) => {
                *to = *from;
                for removed in removed {
                    for (value, weight) in to.0.iter_mut().zip(weights(removed)) {
                        *value -= weight;
                    }
                }
                for added in added {
                    for (value, weight) in to.0.iter_mut().zip(weights(added)) {
                        *value += weight;
                    }
                }
            }
        }
    }
}

/// The accumulator of one side, for a board that is stored elsewhere.
#[derive(Clone)]
struct SideAccumulator {
    perspective: Perspective,
    accumulator: Accumulator,
}

/// The accumulators of both sides for a board.
#[derive(Clone)]
struct PlyAccumulators {
    board: BoardSnapshot,
    sides: [SideAccumulator; 2],
}

/// The last board seen in a perspective, and its accumulator.
struct RefreshEntry {
    board: BoardSnapshot,
    accumulator: Accumulator,
}

impl RefreshEntry {
    fn new(parameters: &NetworkParameters) -> RefreshEntry {
        RefreshEntry {
            board: BoardSnapshot::EMPTY,
            accumulator: Accumulator(parameters.feature_bias),
        }
    }
}

/// The accumulators of the position evaluated last at each ply, and the refresh table.
pub struct AccumulatorStack {
    plies: Vec<PlyAccumulators>,
    refresh_table: [[RefreshEntry; Perspective::COUNT]; 2],
}

impl AccumulatorStack {
    pub fn new(network: &Network, plies: usize) -> AccumulatorStack {
        let parameters = &*network.parameters;
        let side = |color| SideAccumulator {
            perspective: BoardSnapshot::EMPTY.perspective(color),
            accumulator: Accumulator(parameters.feature_bias),
        };
        let empty = PlyAccumulators {
            board: BoardSnapshot::EMPTY,
            sides: [side(Color::White), side(Color::Black)],
        };
        AccumulatorStack {
            plies: vec![empty; plies.max(1)],
            refresh_table: std::array::from_fn(|_| {
                std::array::from_fn(|_| RefreshEntry::new(parameters))
            }),
        }
    }

    /// The network's score of a position `ply` plies from the root, seen by the side to move. The
    /// ply only says where a similar position is likely to be found.
    pub fn evaluate(&mut self, network: &Network, position: &Position, ply: usize) -> Score {
        let board = BoardSnapshot::of(position.board());
        inference::evaluate_stack(self, network, &board, position.turn(), ply)
    }

    /// The accumulators of White and Black for the board. They are updated from this ply or the
    /// one above, whichever is nearer; or from the refresh table if the perspective has changed
    /// or both are far.
    #[inline(always)]
    pub(super) fn update(
        &mut self,
        board: &BoardSnapshot,
        ply: usize,
        parameters: &NetworkParameters,
    ) -> [&Accumulator; 2] {
        let ply = ply.min(self.plies.len() - 1);
        let (earlier, later) = self.plies.split_at_mut(ply);
        let here = &mut later[0];
        let from_here = board.distance(&here.board);
        let from_above = earlier
            .last()
            .map_or(u32::MAX, |above| board.distance(&above.board));
        let above = earlier.last().filter(|_| from_above < from_here);
        let distance = from_above.min(from_here);
        let delta = BoardDelta::between(above.map_or(&here.board, |above| &above.board), board);
        for color in [Color::White, Color::Black] {
            let index = usize::from(color.is_black());
            let perspective = board.perspective(color);
            let side = &mut here.sides[index];
            let before = above
                .map_or(&*side, |above| &above.sides[index])
                .perspective;
            let entry = &mut self.refresh_table[index][perspective.index()];
            // The refresh table costs a copy more.
            let refresh = before != perspective || distance > board.distance(&entry.board) + 1;
            let (refresh_delta, copy);
            let (delta, from) = if refresh {
                refresh_delta = BoardDelta::between(&entry.board, board);
                (&refresh_delta, &entry.accumulator)
            } else if let Some(above) = above {
                (&delta, &above.sides[index].accumulator)
            } else {
                copy = side.accumulator;
                (&delta, &copy)
            };
            delta.apply(from, &mut side.accumulator, perspective, parameters);
            if refresh {
                entry.accumulator = side.accumulator;
                entry.board = *board;
            }
            side.perspective = perspective;
        }
        here.board = *board;
        let [white, black] = &here.sides;
        [&white.accumulator, &black.accumulator]
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::eval::nnue::NetworkHeader;
    use crate::position::movegen::legal_moves;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Random weights, large enough that a mistake shows.
    pub fn random_network() -> Network {
        let mut random = stream(1, Purpose::Initialisation, 0, 0);
        let mut parameters = bytemuck::zeroed_box::<NetworkParameters>();
        for weight in parameters.feature_weights.as_flattened_mut() {
            *weight = random.random_range(-60..=60);
        }
        parameters.feature_bias.fill(50);
        let outputs = parameters.output_weights.as_flattened_mut();
        for weight in outputs.as_flattened_mut() {
            *weight = random.random_range(-127..=127);
        }
        Network::new("random", parameters, NetworkHeader::default())
    }

    /// The positions of random games.
    pub fn random_positions(games: usize) -> Vec<Position> {
        let mut random = stream(2, Purpose::Game, 0, 0);
        let mut positions = Vec::new();
        for _ in 0..games {
            let mut position = Position::default();
            for _ in 0..120 {
                let moves = legal_moves(&position);
                if moves.is_empty() {
                    break;
                }
                position = position.after(moves[random.random_range(0..moves.len())]);
                positions.push(position.clone());
            }
        }
        positions
    }

    #[test]
    fn updated_accumulators_are_those_of_the_board() {
        let network = random_network();
        let mut stack = AccumulatorStack::new(&network, 8);
        let mut random = stream(3, Purpose::Game, 0, 0);
        for position in random_positions(200) {
            let ply = random.random_range(0..12);
            assert_eq!(
                stack.evaluate(&network, &position, ply),
                network.evaluate(&position),
                "{}",
                position.fen()
            );
        }
    }
}
