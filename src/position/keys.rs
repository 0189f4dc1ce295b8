//! Incremental Zobrist keys.
//!
//! shakmaty's `update_zobrist_hash` does not support king moves, castling, double pushes and en
//! passant, so the keys are updated here, with shakmaty's Zobrist numbers. `full` always equals
//! `Chess::zobrist_hash(EnPassantMode::Legal)`; a test checks it.

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{
    ByColor, CastlingSide, Chess, Color, EnPassantMode, Move, Piece, Position as _, Role, Square,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The whole position, for the transposition table and repetitions.
    pub full: u64,
    /// The pawn key: pawns of both sides.
    pub pawns: u64,
    /// The non-pawn keys: each side's pieces other than pawns.
    pub non_pawn: ByColor<u64>,
}

impl Keys {
    pub fn of(chess: &Chess) -> Keys {
        let mut keys = Keys {
            full: chess.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0,
            pawns: 0,
            non_pawn: ByColor { black: 0, white: 0 },
        };
        for (square, piece) in chess.board() {
            *keys.part_of(piece) ^= piece_key(square, piece);
        }
        keys
    }

    /// The key of pawns and kings of both sides.
    #[inline]
    pub fn pawns_and_kings(&self, [white, black]: [Square; 2]) -> u64 {
        self.pawns ^ piece_key(white, Color::White.king()) ^ piece_key(black, Color::Black.king())
    }

    fn part_of(&mut self, piece: Piece) -> &mut u64 {
        match piece.role {
            Role::Pawn => &mut self.pawns,
            _ => self.non_pawn.get_mut(piece.color),
        }
    }

    #[inline]
    fn toggle(&mut self, square: Square, piece: Piece) {
        let key = piece_key(square, piece);
        self.full ^= key;
        *self.part_of(piece) ^= key;
    }

    /// Removes the old castling rights and en passant file, and moves the pieces.
    #[inline]
    pub(super) fn before_move(&mut self, chess: &Chess, m: Move) {
        let us = chess.turn();
        self.full ^= castling_key(chess) ^ en_passant_key(chess) ^ turn_key();
        match m {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => {
                self.toggle(from, role.of(us));
                if let Some(captured) = capture {
                    self.toggle(to, captured.of(!us));
                }
                self.toggle(to, promotion.unwrap_or(role).of(us));
            }
            Move::EnPassant { from, to } => {
                self.toggle(from, us.pawn());
                self.toggle(Square::from_coords(to.file(), from.rank()), (!us).pawn());
                self.toggle(to, us.pawn());
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_queen_side(rook < king);
                self.toggle(king, us.king());
                self.toggle(rook, us.rook());
                self.toggle(side.king_to(us), us.king());
                self.toggle(side.rook_to(us), us.rook());
            }
            Move::Put { .. } => {}
        }
    }

    /// Adds the castling rights and the en passant file of the new position.
    #[inline]
    pub(super) fn after_move(&mut self, chess: &Chess) {
        self.full ^= castling_key(chess) ^ en_passant_key(chess);
    }

    #[inline]
    pub(super) fn after_null_move(mut self, before: &Chess) -> Keys {
        self.full ^= en_passant_key(before) ^ turn_key();
        self
    }
}

#[inline]
fn piece_key(square: Square, piece: Piece) -> u64 {
    Zobrist64::zobrist_for_piece(square, piece).0
}

#[inline]
fn turn_key() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

#[inline]
fn castling_key(chess: &Chess) -> u64 {
    let castles = chess.castles();
    if castles.is_empty() {
        return 0;
    }
    let mut key = 0;
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            if castles.has(color, side) {
                key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
            }
        }
    }
    key
}

/// En passant counts only if the capture is legal.
#[inline]
fn en_passant_key(chess: &Chess) -> u64 {
    if chess.maybe_ep_square().is_none() {
        return 0;
    }
    chess.legal_ep_square().map_or(0, |square| {
        Zobrist64::zobrist_for_en_passant_file(square.file()).0
    })
}
