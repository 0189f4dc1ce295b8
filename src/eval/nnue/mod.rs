//! An efficiently updatable neural network (NNUE): it judges a position by which piece stands
//! where.
//!
//! Each side sees the board from its own [`Perspective`]: its own end of the board is the first
//! rank, and the board is mirrored so that its king stands on the files a to d. A feature is a
//! piece of either side on a square, [`FEATURES`] of them for each king bucket. The weights of
//! the active features add up to an accumulator of the network's width a side. Their squared
//! clipped values (SCReLU) are weighed by one of the output buckets, chosen by the number of
//! pieces. The side to move comes first, so the network knows whose turn it is. Width, king
//! buckets and output buckets are the network's [`Architecture`], which its file states.
//!
//! - `architecture`: the shapes there are, feature indices, quantisation, and why nothing
//!   overflows
//! - `parameters`: all weights of a network
//! - `accumulator`: accumulators that follow the search, and the refresh table
//! - `inference`: from accumulators to a score; the instruction set is chosen at run time
//! - `output_layer`: the output layer by itself, for tuning without gradients
//! - `file`: the file format, which carries scale, win model and provenance
//!
//! Training is in `tune::network`.

mod accumulator;
mod architecture;
mod file;
mod inference;
mod output_layer;
mod parameters;

use std::fmt;
use std::sync::Arc;

use shakmaty::{Board, Color};

use super::score::Score;
use crate::hash::StableHasher;
use crate::position::Position;
use accumulator::BoardSnapshot;
use inference::InstructionSet;

pub use accumulator::AccumulatorStack;
pub use architecture::{
    Architecture, FEATURES, MAX_OUTPUT_WEIGHT, Perspective, QA, QB, UnsupportedArchitecture,
};
pub use file::{NetworkError, NetworkHeader};
pub use output_layer::OutputLayer;
pub use parameters::NetworkParameters;

/// A network that plays. Clones share the parameters.
#[derive(Clone)]
pub struct Network {
    /// The file it came from, as a weights file names it.
    pub file: String,
    /// What the file says about the network besides its parameters.
    pub header: NetworkHeader,
    parameters: Arc<NetworkParameters>,
    instructions: InstructionSet,
}

impl PartialEq for Network {
    fn eq(&self, other: &Network) -> bool {
        self.file == other.file
            && self.header == other.header
            && self.parameters == other.parameters
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({})", self.file)
    }
}

impl Network {
    pub fn new(file: &str, parameters: NetworkParameters, header: NetworkHeader) -> Network {
        Network {
            file: file.to_owned(),
            header,
            parameters: Arc::new(parameters),
            instructions: InstructionSet::detect(),
        }
    }

    /// A stable hash over what decides the network's scores.
    pub fn hash(&self) -> u64 {
        let mut hasher = StableHasher::new();
        hasher.write_u64(self.header.scale as u64);
        hasher.write(self.parameters.bytes());
        hasher.finish()
    }

    #[inline(always)]
    pub fn architecture(&self) -> Architecture {
        self.parameters.architecture()
    }

    pub fn parameters(&self) -> &NetworkParameters {
        &self.parameters
    }

    /// The score seen by the side to move, from the board alone.
    pub fn evaluate(&self, position: &Position) -> Score {
        self.evaluate_board(position.board(), position.turn())
    }

    /// The same for a board that need not be reachable in a game.
    pub fn evaluate_board(&self, board: &Board, turn: Color) -> Score {
        inference::evaluate_board(self, &BoardSnapshot::of(board), turn)
    }
}
