//! A chess position for the search: shakmaty's board and rules, with Zobrist keys, checkers and
//! pinned pieces.
//!
//! shakmaty's [`Chess`] is the single source of truth for the board and for the effect of moves.
//! [`Position`] adds the Zobrist keys (full, pawn, non-pawn), updated incrementally, and the
//! checkers and pinned pieces, computed once per position for move generation. It is small, and
//! the search makes a move by copying it (copy-make).
//!
//! - `keys.rs`: Zobrist keys
//! - `movegen.rs`: staged generation of legal moves, packed moves, perft
//! - `see.rs`: static exchange evaluation (SEE)
//! - `game.rs`: a position with its key history, for repetitions

mod game;
mod keys;
pub mod movegen;
mod see;

use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, Board, Castles, CastlingMode, Chess, Color, EnPassantMode, File, FromSetup, Move,
    Position as _, PositionError, Rank, Role, Square, attacks,
};
use thiserror::Error;

pub use game::{Game, IllegalMove};
pub use keys::Keys;
pub use see::{safe_quiet_checks, see_at_least};

/// Why a FEN is not accepted.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum FenError {
    #[error("{0}")]
    Syntax(String),
    #[error("{0}")]
    Rules(String),
}

impl From<ParseFenError> for FenError {
    fn from(error: ParseFenError) -> FenError {
        FenError::Syntax(error.to_string())
    }
}

impl From<PositionError<Chess>> for FenError {
    fn from(error: PositionError<Chess>) -> FenError {
        FenError::Rules(error.to_string())
    }
}

/// What is wrong with the board of a FEN, by rank as players count them.
fn board_fault(fen: &str) -> Option<String> {
    let board = fen.split_ascii_whitespace().next().unwrap_or_default();
    let ranks: Vec<&str> = board.split('/').collect();
    if ranks.len() != 8 {
        return Some(format!(
            "the board needs 8 ranks with / between them, not {}",
            ranks.len()
        ));
    }
    ranks.iter().zip((1..=8).rev()).find_map(|(rank, number)| {
        let place = format!("rank {number} ('{rank}')");
        let mut squares = 0;
        for letter in rank.chars().filter(|letter| *letter != '~') {
            squares += match letter.to_digit(10) {
                Some(empty) => empty,
                None if Role::from_char(letter).is_some() => 1,
                None => return Some(format!("{place}: no piece is written {letter}")),
            };
        }
        (squares != 8).then(|| format!("{place} has {squares} squares, not 8"))
    })
}

#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    keys: Keys,
    checkers: Bitboard,
    pinned: Bitboard,
}

impl Default for Position {
    fn default() -> Position {
        Position::from_chess(Chess::default())
    }
}

impl Position {
    pub fn from_chess(chess: Chess) -> Position {
        let keys = Keys::of(&chess);
        let mut position = Position {
            chess,
            keys,
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
        };
        position.update_checkers_and_pins();
        position
    }

    /// Parses a FEN. Castling rights may be in standard, X-FEN or Shredder-FEN notation, and the
    /// counters may be missing. Invalid castling rights, an invalid en passant square and
    /// impossible checks are tolerated, because GUIs send all of them.
    pub fn from_fen(fen: &str) -> Result<Position, FenError> {
        Position::from_fen_in_mode(fen, None)
    }

    /// The same with a given castling mode; `None` detects it from the rooks' squares.
    pub fn from_fen_in_mode(fen: &str, mode: Option<CastlingMode>) -> Result<Position, FenError> {
        let parsed = fen.parse::<Fen>();
        let parsed = parsed.map_err(|error| {
            board_fault(fen).map_or_else(|| FenError::from(error), FenError::Syntax)
        });
        let setup = parsed?.into_setup();
        let mode = mode.unwrap_or_else(|| CastlingMode::detect(&setup));
        let chess = Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)?;
        Ok(Position::from_chess(chess))
    }

    /// The same position with White and Black swapped.
    pub fn mirrored(&self) -> Position {
        let mode = self.chess.castles().mode();
        let setup = self.chess.to_setup(EnPassantMode::Legal).into_mirrored();
        // A mirrored legal position is legal; the fallback keeps this free of panics.
        Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_impossible_check)
            .map_or_else(|_| self.clone(), Position::from_chess)
    }

    pub fn fen(&self) -> String {
        Fen::from_position(&self.chess, EnPassantMode::Legal).to_string()
    }

    /// The board with coordinates, for people.
    pub fn diagram(&self) -> String {
        let mut text = String::from("  ┌─────────────────┐\n");
        for rank in Rank::ALL.into_iter().rev() {
            text.push_str(&format!("{} │", rank.char()));
            for file in File::ALL {
                let piece = self.board().piece_at(Square::from_coords(file, rank));
                text.push(' ');
                text.push(piece.map_or('·', |piece| piece.char()));
            }
            text.push_str(" │\n");
        }
        text.push_str("  └─────────────────┘\n    a b c d e f g h\n");
        text
    }

    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    #[inline]
    pub fn board(&self) -> &Board {
        self.chess.board()
    }

    #[inline]
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    #[inline]
    pub fn castles(&self) -> &Castles {
        self.chess.castles()
    }

    /// The fifty-move counter, in plies.
    #[inline]
    pub fn halfmoves(&self) -> u32 {
        self.chess.halfmoves()
    }

    /// The full move number, from one.
    pub fn move_number(&self) -> u32 {
        self.chess.fullmoves().get()
    }

    #[inline]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The Zobrist key of the whole position.
    #[inline]
    pub fn key(&self) -> u64 {
        self.keys.full
    }

    /// Enemy pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    #[inline]
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Pinned pieces of the side to move.
    #[inline]
    pub fn pinned(&self) -> Bitboard {
        self.pinned
    }

    #[inline]
    pub fn us(&self) -> Bitboard {
        self.board().by_color(self.turn())
    }

    #[inline]
    pub fn them(&self) -> Bitboard {
        self.board().by_color(!self.turn())
    }

    /// Whether one side has its king only.
    #[inline]
    pub fn has_bare_king(&self) -> bool {
        self.us().count() == 1 || self.them().count() == 1
    }

    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.board()
            .king_of(color)
            .expect("shakmaty positions have both kings")
    }

    /// Whether `color` has a piece other than king and pawns. Without one zugzwang is likely.
    #[inline]
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        let board = self.board();
        (board.by_color(color) & !board.pawns() & !board.kings()).any()
    }

    /// All squares that pieces of `color` attack.
    pub fn attacked_by(&self, color: Color) -> Bitboard {
        let (board, own) = (self.board(), self.board().by_color(color));
        let pawns = (board.pawns() & own).0;
        let (not_a, not_h) = (!Bitboard::from(File::A).0, !Bitboard::from(File::H).0);
        let mut attacked = Bitboard(match color {
            Color::White => (pawns & not_a) << 7 | (pawns & not_h) << 9,
            Color::Black => (pawns & not_a) >> 9 | (pawns & not_h) >> 7,
        });
        for from in own & !board.pawns() {
            attacked |= board.attacks_from(from);
        }
        attacked
    }

    /// The squares from which pieces of the side to move would give check.
    #[inline]
    pub fn check_squares(&self) -> CheckSquares {
        let king = self.king(!self.turn());
        let mut squares = [Bitboard::EMPTY; 7];
        squares[Role::Pawn as usize] = attacks::pawn_attacks(!self.turn(), king);
        for role in [Role::Knight, Role::Bishop, Role::Rook] {
            let occupied = self.board().occupied();
            squares[role as usize] = movegen::piece_attacks(role, king, occupied);
        }
        squares[Role::Queen as usize] =
            squares[Role::Bishop as usize] | squares[Role::Rook as usize];
        CheckSquares(squares)
    }

    #[inline]
    pub fn is_insufficient_material(&self) -> bool {
        self.board().occupied().count() <= 4 && self.chess.is_insufficient_material()
    }

    /// The position after the legal move `m`.
    #[inline]
    pub fn after(&self, m: Move) -> Position {
        let mut next = self.clone();
        next.play(m);
        next
    }

    /// Makes the legal move `m`.
    #[inline]
    pub fn play(&mut self, m: Move) {
        self.keys.before_move(&self.chess, m);
        self.chess.play_unchecked(m);
        self.keys.after_move(&self.chess);
        self.update_checkers_and_pins();
    }

    /// The position after a null move, which is not allowed in check.
    pub fn after_null_move(&self) -> Position {
        debug_assert!(!self.in_check());
        let mut setup = self.chess.to_setup(EnPassantMode::Always);
        setup.swap_turn();
        let chess = Chess::from_setup(setup, self.castles().mode())
            .or_else(PositionError::ignore_impossible_check)
            .unwrap_or_else(|_| self.chess.clone());
        let mut next = Position {
            keys: self.keys.after_null_move(&self.chess),
            chess,
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
        };
        next.update_checkers_and_pins();
        next
    }

    /// A move in UCI notation. Castling is "king takes rook" in Chess960, and the king's move
    /// otherwise.
    pub fn uci(&self, m: Move) -> UciMove {
        UciMove::from_move(m, self.castles().mode())
    }

    fn update_checkers_and_pins(&mut self) {
        let (us, board) = (self.turn(), self.chess.board());
        let king = self.king(us);
        let enemy = board.by_color(!us);
        let mut checkers = attacks::knight_attacks(king) & board.knights()
            | attacks::pawn_attacks(us, king) & board.pawns();
        let snipers = (attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens())
            | (attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens());
        let mut pinned = Bitboard::EMPTY;
        for sniper in snipers & enemy {
            let blockers = attacks::between(king, sniper) & board.occupied();
            if blockers.is_empty() {
                checkers.add(sniper);
            } else if !blockers.more_than_one() {
                pinned |= blockers;
            }
        }
        self.checkers = checkers & enemy;
        self.pinned = pinned & board.by_color(us);
    }
}

/// The squares from which a piece of each role attacks the enemy king. Discovered checks are not
/// covered: they are rare.
pub struct CheckSquares([Bitboard; 7]);

impl CheckSquares {
    #[inline]
    pub fn of(&self, role: Role) -> Bitboard {
        self.0[role as usize]
    }

    /// Whether the move is a direct check.
    #[inline]
    pub fn include(&self, m: Move) -> bool {
        self.of(m.promotion().unwrap_or(m.role())).contains(m.to())
    }
}

/// Piece values for SEE and pruning. They are not part of the evaluation.
pub const fn see_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight => 310,
        Role::Bishop => 325,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 20_000,
    }
}
