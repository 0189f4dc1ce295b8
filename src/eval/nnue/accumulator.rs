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

use super::architecture::{Architecture, Perspective};
use super::parameters::{CacheLine, Rows, zeroed_lines};
use super::{Network, Score, inference};
use crate::position::Position;

/// The hidden layer of one side before activation: the bias and the weights of all active
/// features.
pub(super) type Accumulator<const W: usize> = [i16; W];

/// The accumulator of a board, from scratch.
#[inline(always)]
pub(super) fn accumulate<const W: usize>(
    board: &BoardSnapshot,
    color: Color,
    rows: Rows<'_, W>,
) -> Accumulator<W> {
    let mut accumulator = *rows.feature_bias();
    let perspective = board.perspective(color, rows.architecture);
    for square in Bitboard(board.occupied()) {
        if let Some(piece) = board.piece_at(square) {
            let weights = rows.feature(perspective, piece, square);
            for (value, weight) in accumulator.iter_mut().zip(weights) {
                *value += weight;
            }
        }
    }
    accumulator
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
    fn perspective(&self, color: Color, architecture: Architecture) -> Perspective {
        let kings = self.roles[Role::King as usize - 1];
        let king = Bitboard(kings & self.colors[usize::from(color.is_black())]);
        let king = king.first().unwrap_or(Square::A1);
        Perspective::new(color, king, architecture)
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
    fn apply<const W: usize>(
        &self,
        from: &Accumulator<W>,
        to: &mut Accumulator<W>,
        perspective: Perspective,
        rows: Rows<'_, W>,
    ) {
        let weights = |&(piece, square): &(Piece, Square)| rows.feature(perspective, piece, square);
        match (&self.removed[..], &self.added[..]) {
            ([removed], [added]) => {
                let (removed, added) = (weights(removed), weights(added));
                for at in 0..W {
                    to[at] = from[at] + added[at] - removed[at];
                }
            }
            ([removed, captured], [added]) => {
                let (removed, captured) = (weights(removed), weights(captured));
                let added = weights(added);
                for at in 0..W {
                    to[at] = from[at] + added[at] - removed[at] - captured[at];
                }
            }
            ([first, second], [third, fourth]) => {
                let (first, second) = (weights(first), weights(second));
                let (third, fourth) = (weights(third), weights(fourth));
                for at in 0..W {
                    to[at] = from[at] + third[at] - first[at] + fourth[at] - second[at];
                }
            }
            (removed, added) => {
                *to = *from;
                for removed in removed {
                    for (value, weight) in to.iter_mut().zip(weights(removed)) {
                        *value -= weight;
                    }
                }
                for added in added {
                    for (value, weight) in to.iter_mut().zip(weights(added)) {
                        *value += weight;
                    }
                }
            }
        }
    }
}

/// The board that the accumulators of a ply belong to, and how White and Black see it.
#[derive(Clone)]
struct PlyBoard {
    board: BoardSnapshot,
    perspectives: [Perspective; 2],
}

/// The accumulators of the position evaluated last at each ply, and the refresh table. The memory
/// is that of the network's width.
pub struct AccumulatorStack {
    plies: Vec<PlyBoard>,
    /// The last board seen in each perspective, White's and Black's in turn.
    refresh_boards: Vec<BoardSnapshot>,
    /// The accumulators of all plies, then those of the refresh table; White's and Black's in
    /// turn.
    accumulators: Vec<CacheLine>,
}

impl AccumulatorStack {
    pub fn new(network: &Network, plies: usize) -> AccumulatorStack {
        let architecture = network.architecture();
        let empty = PlyBoard {
            board: BoardSnapshot::EMPTY,
            perspectives: [Color::White, Color::Black]
                .map(|color| BoardSnapshot::EMPTY.perspective(color, architecture)),
        };
        let plies = vec![empty; plies.max(1)];
        let refresh_boards = vec![BoardSnapshot::EMPTY; 2 * architecture.perspectives()];
        let rows = 2 * plies.len() + refresh_boards.len();
        let mut stack = AccumulatorStack {
            plies,
            refresh_boards,
            accumulators: zeroed_lines(rows * architecture.width()),
        };
        stack.clear(network);
        stack
    }

    /// As new: all boards are empty. It needs no memory.
    pub fn clear(&mut self, network: &Network) {
        let architecture = network.architecture();
        let empty = BoardSnapshot::EMPTY;
        for ply in &mut self.plies {
            ply.board = empty;
            ply.perspectives =
                [Color::White, Color::Black].map(|color| empty.perspective(color, architecture));
        }
        self.refresh_boards.fill(empty);
        // The accumulator of an empty board is the bias.
        let bias = &network.parameters.weights()[architecture.features() * architecture.width()..];
        let bias = &bias[..architecture.width()];
        for row in bytemuck::cast_slice_mut(&mut self.accumulators).chunks_exact_mut(bias.len()) {
            row.copy_from_slice(bias);
        }
    }

    /// The network's score of a position `ply` plies from the root, seen by the side to move. The
    /// ply only says where a similar position is likely to be found. The network is the one that
    /// the stack was made for.
    pub fn evaluate(&mut self, network: &Network, position: &Position, ply: usize) -> Score {
        let board = BoardSnapshot::of(position.board());
        inference::evaluate_stack(self, network, &board, position.turn(), ply)
    }

    /// The accumulators of White and Black for the board. They are updated from this ply or the
    /// one above, whichever is nearer; or from the refresh table if the perspective has changed
    /// or both are far.
    #[inline(always)]
    pub(super) fn update<const W: usize>(
        &mut self,
        board: &BoardSnapshot,
        ply: usize,
        rows: Rows<'_, W>,
    ) -> [&Accumulator<W>; 2] {
        let ply = ply.min(self.plies.len() - 1);
        let accumulators: &mut [Accumulator<W>] = bytemuck::cast_slice_mut(&mut self.accumulators);
        let (of_plies, refresh_table) = accumulators.split_at_mut(2 * self.plies.len());
        let (of_earlier, of_later) = of_plies.split_at_mut(2 * ply);
        let of_above = of_earlier.last_chunk::<2>();
        let (earlier, later) = self.plies.split_at_mut(ply);
        let here = &mut later[0];
        let from_here = board.distance(&here.board);
        let from_above = earlier
            .last()
            .map_or(u32::MAX, |above| board.distance(&above.board));
        let above = earlier.last().zip(of_above);
        let above = above.filter(|_| from_above < from_here);
        let distance = from_above.min(from_here);
        let delta =
            BoardDelta::between(above.map_or(&here.board, |(above, _)| &above.board), board);
        for color in [Color::White, Color::Black] {
            let index = usize::from(color.is_black());
            let perspective = board.perspective(color, rows.architecture);
            let before = above.map_or(&*here, |(above, _)| above).perspectives[index];
            let to = &mut of_later[index];
            let entry = 2 * perspective.index() + index;
            let refresh_board = &mut self.refresh_boards[entry];
            // The refresh table costs a copy more.
            let refresh = before != perspective || distance > board.distance(refresh_board) + 1;
            let (refresh_delta, copy);
            let (delta, from) = if refresh {
                refresh_delta = BoardDelta::between(refresh_board, board);
                (&refresh_delta, &refresh_table[entry])
            } else if let Some((_, of_above)) = above {
                (&delta, &of_above[index])
            } else {
                copy = *to;
                (&delta, &copy)
            };
            delta.apply(from, to, perspective, rows);
            if refresh {
                refresh_table[entry] = *to;
                *refresh_board = *board;
            }
            here.perspectives[index] = perspective;
        }
        here.board = *board;
        [&of_later[0], &of_later[1]]
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::eval::nnue::{NetworkHeader, NetworkParameters};
    use crate::position::movegen::legal_moves;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Random weights, large enough that a mistake shows.
    pub fn random_network(architecture: Architecture) -> Network {
        let mut random = stream(1, Purpose::Initialisation, 0, 0);
        let width = architecture.width();
        let features = architecture.features() * width;
        let outputs = 2 * architecture.output_buckets() * width;
        let mut weights: Vec<i16> = Vec::new();
        weights.extend((0..features).map(|_| random.random_range(-60..=60)));
        weights.extend(std::iter::repeat_n(50, width));
        weights.extend((0..outputs).map(|_| random.random_range(-127..=127)));
        let biases = (0..8).map(|bucket| 1_000 * bucket);
        let biases = biases.filter(|_| architecture != Architecture::default());
        let parameters = NetworkParameters::new(architecture, weights, biases);
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
        let positions = random_positions(30);
        for architecture in Architecture::all() {
            let network = random_network(architecture);
            let mut stack = AccumulatorStack::new(&network, 8);
            let mut random = stream(3, Purpose::Game, 0, 0);
            for position in &positions {
                let ply = random.random_range(0..12);
                assert_eq!(
                    stack.evaluate(&network, position, ply),
                    network.evaluate(position),
                    "{architecture}: {}",
                    position.fen()
                );
            }
        }
    }
}
