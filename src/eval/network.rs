//! A small network that judges a position by which piece stands where.
//!
//! Each side looks at the board from its own end, mirrored so that its king stands on the files
//! a to d, and sees 768 inputs: its own pieces and the other's, by role and square. What an input
//! weighs depends on which of four zones the king is in: its [`Outlook`]. They are
//! summed into [`HIDDEN`] numbers a side; the sums, clipped to 0..1 and squared, are weighed by
//! one of eight outputs, chosen by how many pieces are left. The side to move comes first, so
//! the network knows whose turn it is.
//!
//! A move changes few inputs. An [`Accumulators`] therefore remembers the sums of the positions
//! evaluated last, with the boards they belong to, and mends the nearest of them: whatever
//! position comes next, the difference of two boards says what to add and what to take away.
//! The search need not tell what it does.
//!
//! Weights are 16-bit whole numbers: a sum of 1 is [`SUM_ONE`], an output weight of 1 is
//! [`OUTPUT_ONE`]. How they are learned is told in `tune::network`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arrayvec::ArrayVec;
use bytemuck::{Pod, Zeroable};
use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use super::terms::sink::SCORE_LIMIT;
use crate::hash::stable_hash;
use crate::position::Position;

/// Sums a side.
pub const HIDDEN: usize = 256;
/// Pieces of either side by role and square.
pub const INPUTS: usize = 768;
/// Zones of the board in which a king sees it alike: the corner, the rest of the first rank, the
/// second rank, and everything beyond.
pub const ZONES: usize = 4;
/// Outputs, by how many pieces are left.
pub const OUTPUTS: usize = 8;
/// The whole number that stands for a sum of 1.
pub const SUM_ONE: i32 = 255;
/// The whole number that stands for an output weight of 1.
pub const OUTPUT_ONE: i32 = 64;
/// Centipawns of ours that multiply the odds of winning by e: the output is the logarithm of
/// the odds.
pub const ODDS_SCALE: i32 = 182;
/// Larger weights could overflow the sums.
const LARGEST_INPUT_WEIGHT: i16 = 900;
const LARGEST_OUTPUT_WEIGHT: i16 = 127;
/// How a file begins.
const MAGIC: &[u8; 64] = b"finch network 2: 4 x 768 mirrored inputs, 256 sums, 8 outputs   ";

/// All weights, as they are in a file.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Parameters {
    pub inputs: [[i16; HIDDEN]; ZONES * INPUTS],
    pub bias: [i16; HIDDEN],
    /// For the side to move, then for the other.
    pub outputs: [[[i16; HIDDEN]; 2]; OUTPUTS],
    pub output_bias: [i32; OUTPUTS],
    pub unused: [i32; 8],
}

/// A network and what it is called.
#[derive(Clone)]
pub struct Network {
    /// The file it came from, as a weights file names it.
    pub file: String,
    parameters: Arc<Parameters>,
}

impl PartialEq for Network {
    fn eq(&self, other: &Network) -> bool {
        self.file == other.file && self.parameters == other.parameters
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", self.file)
    }
}

impl Network {
    pub fn new(file: &str, parameters: Box<Parameters>) -> Network {
        Network {
            file: file.to_owned(),
            parameters: Arc::from(parameters),
        }
    }

    /// Reads a network; what is wrong with it, if anything, in words.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Network, String> {
        let Some(body) = bytes.strip_prefix(MAGIC) else {
            return Err("no network of Finch's".to_owned());
        };
        if body.len() != size_of::<Parameters>() {
            return Err(format!(
                "{} bytes where a network has {}",
                body.len(),
                size_of::<Parameters>()
            ));
        }
        let mut parameters = bytemuck::zeroed_box::<Parameters>();
        bytemuck::bytes_of_mut(&mut *parameters).copy_from_slice(body);
        if !parameters.is_sound() {
            return Err("weights too large to add up".to_owned());
        }
        Ok(Network::new(file, parameters))
    }

    /// A stable hash over all weights.
    pub fn hash(&self) -> u64 {
        stable_hash(bytemuck::bytes_of(&*self.parameters))
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        [MAGIC, bytemuck::bytes_of(&*self.parameters)].concat()
    }

    pub fn load(path: &Path, file: &str) -> Result<Network, String> {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        Network::from_bytes(file, &bytes)
    }

    /// The score in centipawns, seen by the side to move, from the board alone.
    pub fn evaluate(&self, position: &Position) -> i32 {
        self.evaluate_board(position.board(), position.turn())
    }

    /// The same, whether the board can be reached or not.
    pub fn evaluate_board(&self, board: &Board, turn: Color) -> i32 {
        let snapshot = Snapshot::of(board);
        let sums = |perspective| {
            let mut beginning = Beginning::new(&self.parameters);
            beginning.follow(&snapshot, Eye::on(&snapshot, perspective, &self.parameters));
            beginning.sums
        };
        self.parameters
            .output(&sums(turn), &sums(!turn), snapshot.count())
    }
}

impl Parameters {
    fn is_sound(&self) -> bool {
        let within = |weights: &[i16], most: i16| {
            let range = -most..=most;
            weights.iter().all(|weight| range.contains(weight))
        };
        within(self.inputs.as_flattened(), LARGEST_INPUT_WEIGHT)
            && within(&self.bias, LARGEST_INPUT_WEIGHT)
            && within(
                self.outputs.as_flattened().as_flattened(),
                LARGEST_OUTPUT_WEIGHT,
            )
            && self.output_bias.iter().all(|bias| bias.abs() < 1 << 24)
    }

    fn output(&self, us: &Sums, them: &Sums, pieces: u32) -> i32 {
        let output = output_of(pieces);
        let [ours, theirs] = &self.outputs[output];
        let sum = i64::from(weighed(us, ours)) + i64::from(weighed(them, theirs));
        let logarithm = sum / i64::from(SUM_ONE) + i64::from(self.output_bias[output]);
        let score = logarithm * i64::from(ODDS_SCALE) / i64::from(SUM_ONE * OUTPUT_ONE);
        score.clamp((-SCORE_LIMIT).into(), SCORE_LIMIT.into()) as i32
    }
}

/// Which output judges a board with so many pieces.
#[inline]
pub fn output_of(pieces: u32) -> usize {
    (pieces.clamp(1, 32) as usize - 1) / 4
}

/// How a side looks at the board: the zone its king is in, and whether it sees it mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    zone: usize,
    mirrored: bool,
}

impl Outlook {
    const COUNT: usize = 2 * ZONES;

    #[inline]
    pub fn new(perspective: Color, king: Square) -> Outlook {
        let mirrored = king.file() as u32 >= 4;
        let to_edge = (king.file() as u32).min(7 - king.file() as u32);
        let rank = king.rank() as u32 ^ if perspective.is_white() { 0 } else { 7 };
        let zone = match rank {
            0 if to_edge < 2 => 0,
            0 => 1,
            1 => 2,
            _ => 3,
        };
        Outlook { zone, mirrored }
    }

    #[inline]
    fn number(self) -> usize {
        2 * self.zone + usize::from(self.mirrored)
    }

    /// The input that a piece is for the side that looks.
    #[inline]
    pub fn input(self, perspective: Color, piece: Piece, square: Square) -> usize {
        let flip = if perspective.is_white() { 0 } else { 56 } ^ if self.mirrored { 7 } else { 0 };
        let theirs = if piece.color == perspective { 0 } else { 384 };
        let place = theirs + 64 * (piece.role as usize - 1) + (square.to_usize() ^ flip);
        INPUTS * self.zone + place
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Sums([i16; HIDDEN]);

/// Squared sums, clipped, weighed. No overflow: a square of at most 255, times at most 127, times
/// 256 of them stays within 32 bits.
#[inline]
fn weighed(sums: &Sums, weights: &[i16; HIDDEN]) -> i32 {
    let mut total = 0;
    for (sum, weight) in sums.0.iter().zip(weights) {
        let clipped = (*sum).clamp(0, SUM_ONE as i16);
        // |clipped * weight| is at most 32,385: it fits 16 bits, which is twice as fast.
        total += i32::from(clipped.wrapping_mul(*weight)) * i32::from(clipped);
    }
    total
}

/// Where the pieces of a board stand.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Snapshot {
    roles: [u64; 6],
    colors: [u64; 2],
}

impl Snapshot {
    const EMPTY: Snapshot = Snapshot {
        roles: [0; 6],
        colors: [0; 2],
    };

    #[inline]
    fn of(board: &Board) -> Snapshot {
        Snapshot {
            roles: Role::ALL.map(|role| board.by_role(role).0),
            colors: [Color::White, Color::Black].map(|color| board.by_color(color).0),
        }
    }

    #[inline]
    fn count(&self) -> u32 {
        (self.colors[0] | self.colors[1]).count_ones()
    }

    /// On how many squares two boards differ.
    #[inline]
    fn distance(&self, other: &Snapshot) -> u32 {
        self.differences(other).count_ones()
    }

    #[inline]
    fn outlook(&self, perspective: Color) -> Outlook {
        let kings = self.roles[Role::King as usize - 1];
        let king = Bitboard(kings & self.colors[usize::from(perspective.is_black())]);
        Outlook::new(perspective, king.first().unwrap_or(Square::A1))
    }

    /// The squares on which two boards differ.
    #[inline]
    fn differences(&self, other: &Snapshot) -> u64 {
        let mut squares = 0;
        for (ours, theirs) in self.roles.iter().zip(&other.roles) {
            squares |= ours ^ theirs;
        }
        for (ours, theirs) in self.colors.iter().zip(&other.colors) {
            squares |= ours ^ theirs;
        }
        squares
    }

    /// What stands on a square. Counted rather than looked for: a branch for each role would be
    /// guessed wrong more often than not.
    #[inline]
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

/// The pieces that one board has and the other has not.
#[derive(Default)]
struct Change {
    gone: ArrayVec<(Piece, Square), 64>,
    new: ArrayVec<(Piece, Square), 64>,
}

impl Change {
    #[inline]
    fn between(before: &Snapshot, after: &Snapshot) -> Change {
        let mut change = Change::default();
        for square in Bitboard(before.differences(after)) {
            let here = |piece| (piece, square);
            change.gone.extend(before.piece_at(square).map(here));
            change.new.extend(after.piece_at(square).map(here));
        }
        change
    }

    /// Makes the sums of the board after from those of the board before. A move, a capture and two
    /// moves are done in one go.
    #[inline]
    fn apply(&self, from: &Sums, to: &mut Sums, eye: Eye) {
        let weights = |place: &(Piece, Square)| eye.weights(place.0, place.1);
        match (&self.gone[..], &self.new[..]) {
            ([gone], [new]) => {
                let (gone, new) = (weights(gone), weights(new));
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + new[at] - gone[at];
                }
            }
            ([gone, taken], [new]) => {
                let (gone, taken, new) = (weights(gone), weights(taken), weights(new));
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + new[at] - gone[at] - taken[at];
                }
            }
            ([gone, taken], [new, other]) => {
                let (gone, taken) = (weights(gone), weights(taken));
                let (new, other) = (weights(new), weights(other));
                for at in 0..HIDDEN {
                    to.0[at] = from.0[at] + new[at] - gone[at] + other[at] - taken[at];
                }
            }
            (gone, new) => {
                *to = *from;
                for gone in gone {
                    for (sum, gone) in to.0.iter_mut().zip(weights(gone)) {
                        *sum -= gone;
                    }
                }
                for new in new {
                    for (sum, new) in to.0.iter_mut().zip(weights(new)) {
                        *sum += new;
                    }
                }
            }
        }
    }
}

/// A side, how it looks at the board, and what it knows.
#[derive(Clone, Copy)]
struct Eye<'p> {
    perspective: Color,
    outlook: Outlook,
    parameters: &'p Parameters,
}

impl<'p> Eye<'p> {
    #[inline]
    fn on(board: &Snapshot, perspective: Color, parameters: &'p Parameters) -> Eye<'p> {
        Eye {
            perspective,
            outlook: board.outlook(perspective),
            parameters,
        }
    }

    #[inline]
    fn weights(self, piece: Piece, square: Square) -> &'p [i16; HIDDEN] {
        &self.parameters.inputs[self.outlook.input(self.perspective, piece, square)]
    }
}

/// The sums of one side for a board that is remembered elsewhere.
#[derive(Clone)]
struct View {
    outlook: Outlook,
    sums: Sums,
}

/// Where the sums of an outlook begin when no similar board was seen lately.
struct Beginning {
    board: Snapshot,
    sums: Sums,
}

impl Beginning {
    fn new(parameters: &Parameters) -> Beginning {
        Beginning {
            board: Snapshot::EMPTY,
            sums: Sums(parameters.bias),
        }
    }

    fn follow(&mut self, board: &Snapshot, eye: Eye) {
        let before = self.sums;
        Change::between(&self.board, board).apply(&before, &mut self.sums, eye);
        self.board = *board;
    }
}

/// The sums of both sides for a board.
#[derive(Clone)]
struct Sight {
    board: Snapshot,
    views: [View; 2],
}

/// The sums of the positions evaluated last: one for each ply, and for each side and outlook
/// one to begin from when the king has gone where the board looks different.
pub struct Accumulators {
    plies: Vec<Sight>,
    beginnings: [[Beginning; Outlook::COUNT]; 2],
}

impl Accumulators {
    pub fn new(network: &Network, plies: usize) -> Accumulators {
        let parameters = &*network.parameters;
        let view = View {
            outlook: Snapshot::EMPTY.outlook(Color::White),
            sums: Sums(parameters.bias),
        };
        let sight = Sight {
            board: Snapshot::EMPTY,
            views: [view.clone(), view],
        };
        Accumulators {
            plies: vec![sight; plies.max(1)],
            beginnings: std::array::from_fn(|_| {
                std::array::from_fn(|_| Beginning::new(parameters))
            }),
        }
    }

    /// The network's score of a position `ply` plies from the root, seen by the side to move. The
    /// ply only tells where to look for a similar position.
    pub fn evaluate(&mut self, network: &Network, position: &Position, ply: usize) -> i32 {
        let parameters = &*network.parameters;
        let board = Snapshot::of(position.board());
        let ply = ply.min(self.plies.len() - 1);
        self.bring_up_to_date(&board, ply, parameters);
        let us = usize::from(position.turn().is_black());
        let views = &self.plies[ply].views;
        parameters.output(&views[us].sums, &views[1 - us].sums, board.count())
    }

    /// Mends the sums of the ply above or of this ply, whichever is nearer; for a side that looks
    /// at the board differently by now, or when both are far, those of a beginning.
    #[inline]
    fn bring_up_to_date(&mut self, board: &Snapshot, ply: usize, parameters: &Parameters) {
        let (earlier, later) = self.plies.split_at_mut(ply);
        let here = &mut later[0];
        let from_here = board.distance(&here.board);
        let from_above = earlier
            .last()
            .map_or(u32::MAX, |above| board.distance(&above.board));
        let above = earlier.last().filter(|_| from_above < from_here);
        let distance = from_above.min(from_here);
        let change = Change::between(above.map_or(&here.board, |above| &above.board), board);
        for perspective in [Color::White, Color::Black] {
            let side = usize::from(perspective.is_black());
            let eye = Eye::on(board, perspective, parameters);
            let view = &mut here.views[side];
            let before = above.map_or(&*view, |above| &above.views[side]);
            let beginning = &mut self.beginnings[side][eye.outlook.number()];
            // To mend a beginning costs a copy more.
            if before.outlook != eye.outlook || distance > board.distance(&beginning.board) + 1 {
                beginning.follow(board, eye);
                view.sums = beginning.sums;
            } else if let Some(above) = above {
                change.apply(&above.views[side].sums, &mut view.sums, eye);
            } else {
                let before = view.sums;
                change.apply(&before, &mut view.sums, eye);
            }
            view.outlook = eye.outlook;
        }
        here.board = *board;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::movegen::legal_moves;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Weights by chance, large enough that a mistake shows.
    fn by_chance() -> Network {
        let mut random = stream(1, Purpose::Initialisation, 0, 0);
        let mut parameters = bytemuck::zeroed_box::<Parameters>();
        for weight in parameters.inputs.as_flattened_mut() {
            *weight = random.random_range(-60..=60);
        }
        parameters.bias.fill(50);
        for weight in parameters.outputs.as_flattened_mut().as_flattened_mut() {
            *weight = random.random_range(-127..=127);
        }
        Network::new("by chance", parameters)
    }

    #[test]
    fn mended_sums_are_those_of_the_board() {
        let network = by_chance();
        let mut accumulators = Accumulators::new(&network, 8);
        let mut random = stream(2, Purpose::Game, 0, 0);
        for _ in 0..200 {
            let mut position = Position::default();
            for _ in 0..120 {
                let moves = legal_moves(&position);
                if moves.is_empty() {
                    break;
                }
                position = position.after(moves[random.random_range(0..moves.len())]);
                let ply = random.random_range(0..12);
                assert_eq!(
                    accumulators.evaluate(&network, &position, ply),
                    network.evaluate(&position),
                    "{}",
                    position.fen()
                );
            }
        }
    }

    #[test]
    fn a_network_survives_its_file_and_others_are_refused() {
        let network = by_chance();
        let bytes = network.to_bytes();
        let again = Network::from_bytes("by chance", &bytes);
        assert_eq!(again, Ok(network));
        assert!(Network::from_bytes("cut", &bytes[..bytes.len() - 1]).is_err());
        assert!(Network::from_bytes("other", b"something else").is_err());
        let mut damaged = bytes;
        damaged[64..68].fill(0x7f);
        assert!(Network::from_bytes("damaged", &damaged).is_err());
    }
}
