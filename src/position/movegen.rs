//! Staged move generation, with shakmaty's attack tables.
//!
//! shakmaty generates all moves at once, but a search that often fails high on the first capture
//! needs only captures. Two stages cover each legal move exactly once: [`MoveKind::Tactical`]
//! (captures, en passant, promotions to queen) and [`MoveKind::Quiet`] (all others, with castling and
//! under-promotions without capture). Only legal moves are generated: check and pin masks are
//! applied first, so no pseudo-legal move has to be filtered out.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use shakmaty::{
    Bitboard, Board, CastlingSide, Color, File, Move, MoveList, Position as _, Rank, Role, Square,
    attacks,
};

use super::Position;

/// The two stages of move generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    Tactical,
    Quiet,
}

const UNDER_PROMOTIONS: [Role; 3] = [Role::Knight, Role::Rook, Role::Bishop];

/// All legal moves, tactical moves first.
pub fn legal_moves(position: &Position) -> MoveList {
    let mut moves = MoveList::new();
    generate(position, MoveKind::Tactical, |m| moves.push(m));
    generate(position, MoveKind::Quiet, |m| moves.push(m));
    moves
}

pub fn has_legal_move(position: &Position) -> bool {
    !legal_moves(position).is_empty()
}

/// Calls `emit` for each legal move of one kind.
pub fn generate(position: &Position, kind: MoveKind, mut emit: impl FnMut(Move)) {
    let masks = Masks::of(position);
    let board = position.board();
    let targets = match kind {
        MoveKind::Tactical => position.them(),
        MoveKind::Quiet => !board.occupied(),
    };
    king_moves(position, &masks, targets, &mut emit);
    if position.checkers().more_than_one() {
        return;
    }
    let targets_in_check = targets & masks.check;
    piece_moves(position, &masks, |_| targets_in_check, &mut emit);
    match kind {
        MoveKind::Tactical => tactical_pawn_moves(position, &masks, &mut emit),
        MoveKind::Quiet => {
            quiet_pawn_moves(position, &masks, masks.check, &mut emit);
            castling(position, &mut emit);
        }
    }
}

/// Calls `emit` for each quiet direct check. Not allowed in check.
pub fn quiet_checks(position: &Position, mut emit: impl FnMut(Move)) {
    debug_assert!(!position.in_check());
    let masks = Masks::of(position);
    let squares = position.check_squares();
    let empty = !position.board().occupied();
    piece_moves(position, &masks, |role| squares.of(role) & empty, &mut emit);
    quiet_pawn_moves(position, &masks, squares.of(Role::Pawn), &mut emit);
}

/// Check and pin masks.
struct Masks {
    king: Square,
    /// Squares that capture or block the checker; all squares when not in check.
    check: Bitboard,
    pinned: Bitboard,
}

impl Masks {
    #[inline]
    fn of(position: &Position) -> Masks {
        let king = position.king(position.turn());
        let check = match position.checkers().first() {
            Some(checker) => attacks::between(king, checker) | position.checkers(),
            None => Bitboard::FULL,
        };
        Masks {
            king,
            check,
            pinned: position.pinned(),
        }
    }

    /// Whether a pin allows the move: a pinned piece stays on the line through its king.
    #[inline]
    fn allows(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || attacks::ray(self.king, from).contains(to)
    }
}

fn king_moves(position: &Position, masks: &Masks, targets: Bitboard, emit: &mut impl FnMut(Move)) {
    for to in attacks::king_attacks(masks.king) & targets {
        if is_safe_for_king(position, masks.king, to) {
            emit(normal(position.board(), Role::King, masks.king, to));
        }
    }
}

/// Whether the square is not attacked once the king has left its own.
#[inline]
fn is_safe_for_king(position: &Position, king: Square, to: Square) -> bool {
    let board = position.board();
    let occupied = board.occupied() ^ Bitboard::from(king);
    board.attacks_to(to, !position.turn(), occupied).is_empty()
}

fn piece_moves(
    position: &Position,
    masks: &Masks,
    targets: impl Fn(Role) -> Bitboard,
    emit: &mut impl FnMut(Move),
) {
    let board = position.board();
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for from in board.by_role(role) & position.us() {
            let mut targets = piece_attacks(role, from, board.occupied()) & targets(role);
            if masks.pinned.contains(from) {
                targets &= attacks::ray(masks.king, from);
            }
            for to in targets {
                emit(normal(board, role, from, to));
            }
        }
    }
}

fn tactical_pawn_moves(position: &Position, masks: &Masks, emit: &mut impl FnMut(Move)) {
    let (us, board) = (position.turn(), position.board());
    let pawns = board.pawns() & position.us();
    let targets = position.them() & masks.check;
    let promotion_rank = Bitboard::from(us.backrank().flip_vertical());

    for (delta, wrap_file) in capture_directions(us) {
        for to in pawns.shift(delta) & targets & !Bitboard::from(wrap_file) {
            let from = step_back(to, delta);
            if !masks.allows(from, to) {
                continue;
            }
            let capture = board.role_at(to);
            if promotion_rank.contains(to) {
                for promotion in [Role::Queen].into_iter().chain(UNDER_PROMOTIONS) {
                    emit(pawn(from, to, capture, Some(promotion)));
                }
            } else {
                emit(pawn(from, to, capture, None));
            }
        }
    }
    for to in pushes(position, pawns) & promotion_rank & masks.check {
        let from = step_back(to, forward(us));
        if masks.allows(from, to) {
            emit(pawn(from, to, None, Some(Role::Queen)));
        }
    }
    if position.chess().maybe_ep_square().is_some() {
        position
            .chess()
            .en_passant_moves()
            .into_iter()
            .for_each(emit);
    }
}

fn quiet_pawn_moves(
    position: &Position,
    masks: &Masks,
    targets: Bitboard,
    emit: &mut impl FnMut(Move),
) {
    let us = position.turn();
    let pawns = position.board().pawns() & position.us();
    let promotion_rank = Bitboard::from(us.backrank().flip_vertical());
    let third_rank = Bitboard::from(us.fold_wb(Rank::Third, Rank::Sixth));

    let single = pushes(position, pawns);
    for to in single & targets {
        let from = step_back(to, forward(us));
        if !masks.allows(from, to) {
            continue;
        }
        if promotion_rank.contains(to) {
            for promotion in UNDER_PROMOTIONS {
                emit(pawn(from, to, None, Some(promotion)));
            }
        } else {
            emit(pawn(from, to, None, None));
        }
    }
    for to in pushes(position, single & third_rank) & targets {
        let from = step_back(to, 2 * forward(us));
        if masks.allows(from, to) {
            emit(pawn(from, to, None, None));
        }
    }
}

fn castling(position: &Position, emit: &mut impl FnMut(Move)) {
    if position.in_check() || !position.castles().has_color(position.turn()) {
        return;
    }
    for side in CastlingSide::ALL {
        let path = position.castles().path(position.turn(), side);
        if position.castles().has(position.turn(), side)
            && !path.intersects(position.board().occupied())
        {
            position
                .chess()
                .castling_moves(side)
                .into_iter()
                .for_each(&mut *emit);
        }
    }
}

#[inline]
fn forward(us: Color) -> i32 {
    us.fold_wb(8, -8)
}

/// The shifts of pawn captures, each with the file onto which it wraps.
#[inline]
fn capture_directions(us: Color) -> [(i32, File); 2] {
    us.fold_wb([(7, File::H), (9, File::A)], [(-9, File::H), (-7, File::A)])
}

#[inline]
fn pushes(position: &Position, pawns: Bitboard) -> Bitboard {
    pawns.shift(forward(position.turn())) & !position.board().occupied()
}

#[inline]
fn step_back(to: Square, delta: i32) -> Square {
    Square::new((i32::from(to) - delta) as u32)
}

#[inline]
fn pawn(from: Square, to: Square, capture: Option<Role>, promotion: Option<Role>) -> Move {
    Move::Normal {
        role: Role::Pawn,
        from,
        capture,
        to,
        promotion,
    }
}

#[inline]
fn normal(board: &Board, role: Role, from: Square, to: Square) -> Move {
    Move::Normal {
        role,
        from,
        capture: board.role_at(to),
        to,
        promotion: None,
    }
}

/// Attacks of a piece; empty for pawns, whose attacks depend on colour.
#[inline]
pub fn piece_attacks(role: Role, from: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Knight => attacks::knight_attacks(from),
        Role::Bishop => attacks::bishop_attacks(from, occupied),
        Role::Rook => attacks::rook_attacks(from, occupied),
        Role::Queen => attacks::queen_attacks(from, occupied),
        Role::King => attacks::king_attacks(from),
        Role::Pawn => Bitboard::EMPTY,
    }
}

/// A move in 16 bits, for the transposition table and killers: origin, target, promotion.
/// Castling is encoded as king takes rook. The value 0 is no move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedMove(u16);

impl PackedMove {
    pub const NONE: PackedMove = PackedMove(0);

    #[inline]
    pub fn new(m: Move) -> PackedMove {
        let Some(from) = m.from() else {
            return PackedMove::NONE;
        };
        let promotion = m.promotion().map_or(0, u16::from);
        PackedMove(u16::from(from) | u16::from(m.to()) << 6 | promotion << 12)
    }

    #[inline]
    pub fn from_bits(bits: u16) -> PackedMove {
        PackedMove(bits)
    }

    #[inline]
    pub fn bits(self) -> u16 {
        self.0
    }

    #[inline]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub fn is(self, m: Move) -> bool {
        self == PackedMove::new(m)
    }

    /// The move in `position`, if it is legal there. Packed moves may come from other positions
    /// (killers, key collisions), so legality is checked in full.
    pub fn unpack(self, position: &Position) -> Option<Move> {
        if !self.is_some() {
            return None;
        }
        let from = Square::new(u32::from(self.0 & 63));
        let to = Square::new(u32::from(self.0 >> 6 & 63));
        let promotion = match self.0 >> 12 {
            0 => None,
            bits => Some(Role::try_from(bits).ok()?),
        };
        let board = position.board();
        let role = board.role_at(from)?;
        if !position.us().contains(from) {
            return None;
        }
        match role {
            Role::Pawn => unpack_pawn(position, from, to, promotion),
            _ if promotion.is_some() => None,
            Role::King if position.us().contains(to) => unpack_castling(position, from, to),
            _ if position.us().contains(to) => None,
            Role::King => (attacks::king_attacks(from).contains(to)
                && is_safe_for_king(position, from, to))
            .then(|| normal(board, role, from, to)),
            _ => (piece_attacks(role, from, board.occupied()).contains(to)
                && leaves_king_safe(position, from, to))
            .then(|| normal(board, role, from, to)),
        }
    }
}

/// For any piece but the king: the move evades check and respects pins.
fn leaves_king_safe(position: &Position, from: Square, to: Square) -> bool {
    let masks = Masks::of(position);
    !position.checkers().more_than_one() && masks.check.contains(to) && masks.allows(from, to)
}

fn unpack_castling(position: &Position, king: Square, rook: Square) -> Option<Move> {
    let m = Move::Castle { king, rook };
    let side = CastlingSide::from_queen_side(rook < king);
    let legal = !position.in_check() && position.chess().castling_moves(side).contains(&m);
    legal.then_some(m)
}

fn unpack_pawn(
    position: &Position,
    from: Square,
    to: Square,
    promotion: Option<Role>,
) -> Option<Move> {
    let (us, board) = (position.turn(), position.board());
    let captures = attacks::pawn_attacks(us, from).contains(to);
    if captures && board.role_at(to).is_none() {
        let m = Move::EnPassant { from, to };
        let legal = promotion.is_none() && position.chess().en_passant_moves().contains(&m);
        return legal.then_some(m);
    }
    let promotes = to.rank() == us.backrank().flip_vertical();
    let promotion_fits = match promotion {
        Some(role) => promotes && !matches!(role, Role::Pawn | Role::King),
        None => !promotes,
    };
    let reaches = if captures {
        position.them().contains(to)
    } else {
        push_reaches(position, from, to)
    };
    (promotion_fits && reaches && leaves_king_safe(position, from, to))
        .then(|| pawn(from, to, board.role_at(to), promotion))
}

fn push_reaches(position: &Position, from: Square, to: Square) -> bool {
    let us = position.turn();
    let single = pushes(position, Bitboard::from(from));
    let start = us.fold_wb(Rank::Second, Rank::Seventh);
    single.contains(to) || (from.rank() == start && pushes(position, single).contains(to))
}

/// Counts the leaf nodes of the legal move tree, with the staged generator.
pub fn perft(position: &Position, depth: u32) -> u64 {
    perft_until(position, depth, &AtomicBool::new(false))
}

/// The same, until `stop` is set; the count is then meaningless.
pub fn perft_until(position: &Position, depth: u32, stop: &AtomicBool) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = legal_moves(position);
    if depth == 1 || stop.load(Relaxed) {
        return moves.len() as u64;
    }
    moves
        .into_iter()
        .map(|m| perft_until(&position.after(m), depth - 1, stop))
        .sum()
}
