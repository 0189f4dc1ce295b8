//! Features of the papers that no other term covers.
//!
//! Where a paper and the other families measure the same feature, they share a term; the
//! comments of the paper's weights file say which. All other features of the papers are here.
//! They cost nothing while their weights are zero. Where a paper leaves a definition open, the
//! doc comment in `list.rs` states the choice.

use shakmaty::{Bitboard, Role, attacks};

use super::board::{
    BlackSide, CENTRE_FILES, Pieces, StaticColor, WhiteSide, beside, count, edge_distance,
    file_fill,
};
use super::list::{Term, term};
use super::moves;
use super::pawns::PawnStructure;
use super::sink::Sink;
use crate::position::Position;

#[inline(never)]
pub fn report(position: &Position, pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    report_side::<WhiteSide>(position, pieces, pawns, sink);
    report_side::<BlackSide>(position, pieces, pawns, sink);
}

fn report_side<S: StaticColor>(
    position: &Position,
    pieces: &Pieces,
    pawns: &PawnStructure,
    sink: &mut impl Sink,
) {
    let legal = moves::legal_moves::<S>(position, pieces);
    sink.add(S::COLOR, term::legal_moves(), legal);
    if !sink.wants_papers_in_full() {
        return;
    }
    piece_activity::<S>(position, pieces, sink);
    knights::<S>(pieces, pawns, sink);
    bishop_pawns::<S>(pieces, sink);
    rooks::<S>(pieces, pawns, sink);
    pawn_advance::<S>(pieces, pawns, sink);
    king::<S>(position, pieces, pawns, sink);
}

/// Whether a term of this family needs more than the number of legal moves.
pub fn needs_more_than_legal_moves(term: Term) -> bool {
    term != term::legal_moves()
}

/// Piece values in pawns, for the material around a king.
fn pawn_units(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// Moves of each piece, and the material that attacks the zone of either king.
fn piece_activity<S: StaticColor>(position: &Position, pieces: &Pieces, sink: &mut impl Sink) {
    let zone = |color: usize| {
        let king = pieces.king[color];
        attacks::king_attacks(king) | Bitboard::from_square(king)
    };
    let (own_zone, enemy_zone) = (zone(S::US), zone(S::THEM));
    let pawns_on = |zone| count(pieces.pawns(S::US) & S::Them::pawn_attacks(zone));
    let (mut defending, mut attacking) = (pawns_on(own_zone), pawns_on(enemy_zone));
    for (role, mobility) in [
        (Role::Knight, term::knight_moves()),
        (Role::Bishop, term::bishop_moves()),
        (Role::Rook, term::rook_moves()),
        (Role::Queen, term::queen_moves()),
    ] {
        for square in pieces.of_role(S::US, role) {
            let attacked = attacks::attacks(square, role.of(S::COLOR), pieces.occupied);
            sink.add(S::COLOR, mobility, count(attacked & !pieces.all[S::US]));
            defending += pawn_units(role) * i32::from((attacked & own_zone).any());
            attacking += pawn_units(role) * i32::from((attacked & enemy_zone).any());
        }
    }
    sink.add(S::COLOR, term::king_defending_material(), defending);
    // The attacked king's side has the feature.
    sink.add(S::Them::COLOR, term::king_attacking_material(), attacking);
    let king_moves = count(moves::king_moves::<S>(position, pieces));
    sink.add(S::COLOR, term::king_moves(), king_moves);
}

fn knights<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    let knights = pieces.knights(S::US);
    let supported = knights & pawns.attacks[S::US];
    let undisturbed = knights & !pawns.attack_span[S::THEM];
    sink.add(S::COLOR, term::knight_supported(), count(supported));
    sink.add(S::COLOR, term::knight_base(), count(undisturbed));
    for square in knights {
        let rank = square.to_usize() >> 3;
        let ring = edge_distance(square).min(rank.min(7 - rank));
        sink.add(S::COLOR, term::knight_ring(ring), 1);
        let outpost = (supported & undisturbed).contains(square);
        sink.add(
            S::COLOR,
            term::knight_outpost_ring(),
            ring as i32 * i32::from(outpost),
        );
    }
}

/// Own pawns in front of a bishop that block its diagonals, and the moves of these pawns.
fn bishop_pawns<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    for square in pieces.bishops(S::US) {
        let in_front = S::ranks_from(S::rank(square));
        let obstructing =
            attacks::bishop_attacks(square, pieces.occupied) & in_front & pieces.pawns(S::US);
        sink.add(S::COLOR, term::bishop_ahead(), count(obstructing));
        let mobility = moves::pawn_moves::<S>(obstructing, pieces);
        sink.add(S::COLOR, term::bishop_pawns_mobility(), mobility);
    }
}

fn rooks<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    let rooks = pieces.rooks(S::US);
    let unblocked = rooks & !S::rear_span(pieces.pawns(S::US));
    let king_file = file_fill(Bitboard::from_square(pieces.king[S::THEM]));
    let neighbours = unblocked & beside(king_file);
    sink.add(
        S::COLOR,
        term::rook_on_king_file(),
        count(unblocked & king_file),
    );
    sink.add(
        S::COLOR,
        term::rook_by_king_file(),
        count(neighbours & CENTRE_FILES),
    );
    sink.add(
        S::COLOR,
        term::rook_by_king_wing_file(),
        count(neighbours & !CENTRE_FILES),
    );

    let weak_pawns = pawns.isolated::<S::Them>(pieces) | pawns.backward::<S::Them>(pieces);
    for square in rooks & !pawns.files[S::US] {
        let attacked = attacks::rook_attacks(square, pieces.occupied);
        let file = file_fill(Bitboard::from_square(square));
        let weak = attacked & file & weak_pawns;
        sink.add(S::COLOR, term::rook_attacks_weak_pawn(), count(weak));
    }
    for square in rooks {
        sink.add(
            S::COLOR,
            term::rook_file_centrality(),
            edge_distance(square) as i32,
        );
    }
}

fn pawn_advance<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    const CENTRAL_SQUARES: Bitboard = Bitboard(0x0000_003c_3c00_0000);
    let own = pieces.pawns(S::US);
    sink.add(S::COLOR, term::pawn_central(), count(own & CENTRAL_SQUARES));
    for pawn in own & !pawns.passed[S::US] {
        let advance = S::rank(pawn) as i32 - 1;
        let central = CENTRE_FILES.contains(pawn);
        let term = if central {
            term::pawn_advance_centre()
        } else {
            term::pawn_advance_wing()
        };
        sink.add(S::COLOR, term, advance);
    }
    for pawn in pawns.passed[S::US] {
        sink.add(S::COLOR, term::passed_advance(), S::rank(pawn) as i32 - 1);
        let distance = pieces.king[S::THEM].distance(pawn) as i32;
        sink.add(S::COLOR, term::passed_enemy_king_steps(), distance);
    }
    let home = CENTRE_FILES & (S::rank_squares(2) | S::rank_squares(3));
    sink.add(
        S::COLOR,
        term::weak_squares(),
        count(home & !pawns.attack_span[S::US]),
    );
}

fn king<S: StaticColor>(
    position: &Position,
    pieces: &Pieces,
    pawns: &PawnStructure,
    sink: &mut impl Sink,
) {
    let square = pieces.king[S::US];
    let king = Bitboard::from_square(square);
    let own = pieces.pawns(S::US);
    sink.add(
        S::COLOR,
        term::king_castled(),
        i32::from(is_castled::<S>(position, pieces)),
    );
    sink.add(
        S::COLOR,
        term::king_pawns(),
        count(attacks::king_attacks(square) & own),
    );

    let near = file_fill(king | beside(king));
    let advanced = own & near & S::rank_squares(2);
    sink.add(S::COLOR, term::king_pawn_advanced(), count(advanced));
    let theirs = pawns.files[S::THEM];
    sink.add(S::COLOR, term::king_no_enemy_pawn(), count(king & !theirs));
    sink.add(
        S::COLOR,
        term::king_no_enemy_pawn_neighbour(),
        count(beside(king) & !theirs),
    );
}

/// The king is on the first rank and on a wing, has no castling rights, and has no own rook on
/// its outer side.
fn is_castled<S: StaticColor>(position: &Position, pieces: &Pieces) -> bool {
    let king = pieces.king[S::US];
    let file = king.to_u32() & 7;
    let at_home = S::rank(king) == 0 && matches!(file, 0..=2 | 6..=7);
    let left = Bitboard((1 << king.to_u32()) - 1);
    let outer = if file < 4 { left } else { !left };
    let boxed = (pieces.rooks(S::US) & outer & S::rank_squares(0)).any();
    at_home && !boxed && !position.castles().has_color(S::COLOR)
}
