//! The list of terms: each term of the evaluation is declared here, once.
//!
//! A line declares the term's name in weights files, its length if it is a table, the bounds of
//! its values, its family and, in the doc comment, its meaning, which `finch weights list` and
//! `finch eval` print. The list generates the order of all weights (the genome), the accessors
//! in [`term`] and the table [`TERMS`].
//!
//! Piece-square tables hold 64 values, written as a diagram from the piece's own side: the first
//! row is the eighth rank. They assume the own king on the files e to h; the board is mirrored
//! when it is not, so the king's own table has only these files. Tables by rank hold eight
//! values, the first rank first.

use std::mem::offset_of;

/// Index of one weight in the weight vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub(crate) u16);

impl Term {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The term with this index, if there is one.
    #[inline]
    pub fn from_index(index: usize) -> Option<Term> {
        (index < WEIGHT_COUNT).then_some(Term(index as u16))
    }

    /// The declaration that this weight belongs to.
    pub fn info(self) -> &'static TermInfo {
        let line = TERMS.partition_point(|info| info.offset + info.length <= self.index());
        &TERMS[line]
    }

    /// `name`, or `name[3]` for an entry of a table.
    pub fn label(self) -> String {
        let info = self.info();
        match info.length {
            1 => info.name.to_owned(),
            _ => format!("{}[{}]", info.name, self.index() - info.offset),
        }
    }
}

/// The declaration of one term.
#[derive(Debug)]
pub struct TermInfo {
    pub name: &'static str,
    pub family: Family,
    /// The doc comment of the declaration, one line.
    pub meaning: &'static str,
    /// Inclusive bounds of each value, in units of score.
    pub low: i32,
    pub high: i32,
    /// Index of the first value in the weight vector.
    pub offset: usize,
    /// The number of values: 1, or the length of a table.
    pub length: usize,
}

impl TermInfo {
    pub fn named(name: &str) -> Option<&'static TermInfo> {
        TERMS.iter().find(|info| info.name == name)
    }

    pub fn terms(&self) -> impl Iterator<Item = Term> + use<> {
        (self.offset..self.offset + self.length).map(|index| Term(index as u16))
    }
}

macro_rules! terms {
    (@length) => { 1 };
    (@length $length:literal) => { $length };
    (@accessor [$($doc:literal)+] $name:ident) => {
        $(#[doc = $doc])+
        #[inline(always)]
        pub const fn $name() -> Term {
            Term(offset_of!(super::Layout, $name) as u16)
        }
    };
    (@accessor [$($doc:literal)+] $name:ident $length:literal) => {
        $(#[doc = $doc])+
        #[inline(always)]
        pub const fn $name(index: usize) -> Term {
            debug_assert!(index < $length);
            Term((offset_of!(super::Layout, $name) + index) as u16)
        }
    };
    ($(
        $(#[doc = $family_doc:literal])+
        $family:ident $key:literal {
            $(
                $(#[doc = $doc:literal])+
                $name:ident $([$length:literal])? in $low:literal..=$high:literal;
            )+
        }
    )+) => {
        /// Terms that are reported by one file, and skipped together when all their weights are zero.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $( $(#[doc = $family_doc])+ $family, )+
        }

        impl Family {
            pub const ALL: &[Family] = &[$(Family::$family),+];

            /// The family's table in a weights file.
            pub const fn key(self) -> &'static str {
                match self { $(Family::$family => $key),+ }
            }

            /// The meaning of the family, one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Family::$family => concat!($($family_doc),+)),+ }
            }
        }

        /// The layout of the weight vector. One byte here stands for one weight, so a field's
        /// offset is the term's index.
        #[repr(C)]
        struct Layout {
            $($( $name: [u8; terms!(@length $($length)?)], )+)+
        }

        /// The number of weights.
        pub const WEIGHT_COUNT: usize = size_of::<Layout>();

        pub static TERMS: &[TermInfo] = &[
            $($( TermInfo {
                name: stringify!($name),
                family: Family::$family,
                meaning: concat!($($doc),+),
                low: $low,
                high: $high,
                offset: offset_of!(Layout, $name),
                length: terms!(@length $($length)?),
            }, )+)+
        ];

        /// One accessor per term: `term::tempo()`, `term::knight_mobility(4)`.
        pub mod term {
            use super::{Term, offset_of};
            $($( terms!(@accessor [$($doc)+] $name $($length)?); )+)+
        }
    };
}

terms! {
    /// Material on the board.
    Material "material" {
        /// A pawn.
        pawn in 0..=400;
        /// A knight.
        knight in 0..=1200;
        /// A bishop.
        bishop in 0..=1200;
        /// A rook.
        rook in 0..=1600;
        /// A queen.
        queen in 0..=2400;
        /// Two bishops cover both colours of squares.
        bishop_pair in -100..=200;
        /// Two knights: the second adds less than the first.
        knight_pair in -100..=100;
        /// Two rooks: the second adds less than the first.
        rook_pair in -100..=100;
        /// A knight, by the number of own pawns: knights are better in closed positions.
        knight_with_pawns[9] in -100..=100;
        /// A bishop, by the number of own pawns.
        bishop_with_pawns[9] in -100..=100;
        /// A rook, by the number of own pawns: rooks are better in open positions.
        rook_with_pawns[9] in -100..=100;
        /// A queen, by the number of enemy minor pieces and rooks.
        queen_against_pieces[9] in -150..=150;
        /// Tempo: being the side to move.
        tempo in -50..=100;
    }

    /// Piece-square tables.
    Squares "squares" {
        /// A pawn, by square.
        pawn_square[64] in -300..=400;
        /// A knight, by square.
        knight_square[64] in -300..=300;
        /// A bishop, by square.
        bishop_square[64] in -300..=300;
        /// A rook, by square.
        rook_square[64] in -300..=300;
        /// A queen, by square.
        queen_square[64] in -300..=300;
        /// The king, by square of the files e to h.
        king_square[32] in -400..=400;
    }

    /// Pawn structure.
    Pawns "pawns" {
        /// An isolated pawn: no own pawn on an adjacent file.
        pawn_isolated in -150..=100;
        /// An isolated pawn with no enemy pawn in front of it on its file.
        pawn_isolated_unopposed in -150..=100;
        /// A doubled pawn: an own pawn is in front of it on its file.
        pawn_doubled in -150..=100;
        /// A doubled pawn directly behind the other and not defended by a pawn.
        pawn_doubled_close in -150..=100;
        /// A doubled pawn that is also isolated.
        pawn_doubled_isolated in -150..=100;
        /// A backward pawn: an enemy pawn attacks its stop square, and no own pawn can ever defend it.
        pawn_backward in -150..=100;
        /// A backward pawn with no enemy pawn in front of it on its file.
        pawn_backward_unopposed in -150..=100;
        /// A phalanx pawn: an own pawn is beside it, by rank.
        pawn_phalanx[8] in -150..=250;
        /// A pawn defended by an own pawn, by rank.
        pawn_supported[8] in -150..=250;
        /// A phalanx or defended pawn with no enemy pawn in front of it on its file, by rank.
        pawn_connected_unopposed[8] in -150..=250;
        /// A pawn blocked by an enemy pawn, by rank.
        pawn_blocked[8] in -150..=150;
        /// A pawn island: pawns on adjacent files, separated from the other pawns.
        pawn_islands in -100..=100;
        /// A candidate passed pawn, by rank.
        pawn_candidate[8] in -100..=250;
        /// A lever: a pawn that attacks an enemy pawn, by rank.
        pawn_lever[8] in -100..=150;
        /// A pawn attacked by two enemy pawns and not defended by a pawn.
        pawn_weak_lever in -150..=100;
        /// No own pawns at all.
        pawns_none in -300..=100;
    }

    /// Piece activity.
    Pieces "pieces" {
        /// Knight mobility, by attacked squares of the mobility area.
        knight_mobility[9] in -250..=250;
        /// Bishop mobility, by attacked squares of the mobility area; queens are transparent.
        bishop_mobility[14] in -250..=250;
        /// Rook mobility, by attacked squares of the mobility area; own rooks and all queens are transparent.
        rook_mobility[15] in -250..=250;
        /// Queen mobility, by attacked squares of the mobility area.
        queen_mobility[28] in -250..=250;
        /// A knight on an outpost: a square of ranks 4 to 6 that no enemy pawn can ever attack and an own pawn defends.
        knight_outpost in -100..=200;
        /// A knight that can move to an outpost.
        knight_outpost_reach in -100..=150;
        /// A knight in a hole: a square of ranks 4 to 6 that no enemy pawn can ever attack, not defended by a pawn.
        knight_hole in -100..=150;
        /// A bishop on an outpost.
        bishop_outpost in -100..=200;
        /// A bishop that can move to an outpost.
        bishop_outpost_reach in -100..=150;
        /// A bishop on a long diagonal that attacks two centre squares.
        bishop_long_diagonal in -100..=150;
        /// A bad bishop: own pawns on squares of its colour.
        bishop_bad in -60..=60;
        /// A bad bishop: blocked own pawns on squares of its colour, files c to f.
        bishop_bad_blocked in -60..=60;
        /// Enemy pawns on the bishop's diagonals, with or without blockers.
        bishop_xray_pawns in -60..=60;
        /// A trapped bishop: off its first rank with no mobility.
        bishop_trapped in -250..=100;
        /// A knight or bishop directly behind a pawn of either side.
        minor_behind_pawn in -60..=100;
        /// A knight, by its distance from its own king.
        knight_king_distance[8] in -100..=100;
        /// A bishop, by its distance from its own king.
        bishop_king_distance[8] in -100..=100;
        /// A rook on an open file.
        rook_open_file in -100..=200;
        /// A rook on a half-open file: enemy pawns only.
        rook_half_open_file in -100..=200;
        /// A rook on a closed file, behind an own pawn.
        rook_closed_behind in -100..=100;
        /// A rook on a closed file, in front of its own pawns.
        rook_closed_ahead in -100..=100;
        /// A rook on a file with own pawns only.
        rook_own_file in -100..=100;
        /// A rook on the seventh rank.
        rook_on_seventh in -100..=150;
        /// A rook on the seventh rank that cuts off the king on the eighth or attacks pawns.
        rook_on_seventh_active in -100..=150;
        /// A rook defended by another rook.
        rook_connected in -100..=100;
        /// A rook behind an own passed pawn.
        rook_behind_passer in -100..=150;
        /// A rook behind an enemy passed pawn.
        rook_behind_enemy_passer in -100..=150;
        /// A rook on the file of an enemy queen.
        rook_on_queen_file in -100..=100;
        /// A rook trapped by its king, without castling rights.
        rook_trapped in -250..=100;
        /// A rook trapped by its king, with castling rights.
        rook_boxed in -150..=100;
        /// A queen attacked by an enemy bishop or rook through exactly one blocker.
        queen_exposed in -150..=100;
        /// A queen in the enemy half on a square that no enemy pawn can ever attack.
        queen_infiltrated in -100..=150;
        /// Early queen development: for a queen beyond the second rank, the own minor pieces on the first rank.
        queen_early in -60..=60;
    }

    /// King safety.
    King "king" {
        /// King danger, by its index: see `king.rs` for the units.
        king_danger[64] in -1500..=100;
        /// Pawn shelter of a file at the king, by distance of the file from the edge and rank of the nearest own pawn (0: none).
        king_shelter[32] in -200..=200;
        /// Pawn storm of a file at the king, by distance of the file from the edge and rank of the nearest enemy pawn (0: none).
        king_storm[32] in -200..=200;
        /// Blocked pawn storm: the same when an own pawn blocks the enemy pawn.
        king_storm_blocked[32] in -200..=200;
        /// The king is on an open file.
        king_open_file in -200..=100;
        /// The king is on a file without own pawns.
        king_half_open_file in -200..=100;
        /// A file adjacent to the king's has no own pawns.
        king_half_open_neighbour in -150..=100;
        /// Enemy knights that attack the king ring.
        king_attacked_by_knight in -100..=100;
        /// Enemy bishops that attack the king ring.
        king_attacked_by_bishop in -100..=100;
        /// Enemy rooks that attack the king ring.
        king_attacked_by_rook in -100..=100;
        /// Enemy queens that attack the king ring.
        king_attacked_by_queen in -100..=100;
        /// Attacks on squares adjacent to the king, summed over the attackers.
        king_ring_attacks in -64..=64;
        /// Squares of the king ring that the enemy attacks and at most the king or a queen defends.
        king_weak_squares in -100..=100;
        /// Squares of safe checks by an enemy knight.
        king_safe_knight_check in -150..=100;
        /// Squares of safe checks by an enemy bishop.
        king_safe_bishop_check in -150..=100;
        /// Squares of safe checks by an enemy rook.
        king_safe_rook_check in -150..=100;
        /// Squares of safe checks by an enemy queen.
        king_safe_queen_check in -150..=100;
        /// Squares of unsafe checks by enemy knights, bishops and rooks.
        king_unsafe_checks in -60..=60;
        /// Own pinned pieces.
        king_pinned_pieces in -100..=100;
        /// Squares of the king flank that the enemy attacks; twice attacked squares count twice.
        king_flank_attacks in -40..=40;
        /// Squares of the king flank that the own side attacks.
        king_flank_defence in -40..=40;
        /// No pawns of either side on the king flank.
        king_flank_pawnless in -200..=100;
        /// An own knight defends squares adjacent to the king.
        king_knight_defender in -60..=100;
        /// The king, by distance to the nearest own pawn.
        king_pawn_distance[8] in -150..=100;
        /// King mobility, by squares it can safely move to.
        king_mobility[9] in -150..=150;
        /// The right to castle king side.
        castling_king_side in -100..=150;
        /// The right to castle queen side.
        castling_queen_side in -100..=150;
    }

    /// Threats: attacks on undefended and weakly defended pieces.
    Threats "threats" {
        /// A safe pawn attacks a knight, bishop, rook or queen.
        threat_by_pawn[4] in -100..=300;
        /// A safe pawn push would attack a knight, bishop, rook or queen.
        threat_by_push[4] in -100..=200;
        /// A knight or bishop attacks a weakly defended pawn, knight, bishop, rook or queen.
        threat_by_minor[5] in -100..=250;
        /// A rook attacks a weakly defended pawn, knight, bishop, rook or queen.
        threat_by_rook[5] in -100..=250;
        /// The king attacks a weakly defended piece or pawn.
        threat_by_king in -100..=200;
        /// A queen attacks a weakly defended piece.
        threat_by_queen in -100..=100;
        /// A knight or bishop attacks a well defended rook or queen.
        threat_minor_on_major in -100..=200;
        /// A hanging piece or pawn: attacked and undefended, or a weakly defended piece attacked twice.
        threat_hanging in -100..=250;
        /// An attacked piece that only the queen defends.
        threat_guarded_by_queen in -100..=150;
        /// A restricted square: attacked by both sides and not strongly protected by the enemy.
        threat_restricted in -40..=60;
        /// A safe square from which a knight could attack the only enemy queen.
        threat_knight_on_queen in -60..=100;
        /// A safe square from which a bishop or rook could attack the only enemy queen.
        threat_slider_on_queen in -60..=100;
        /// An undefended own minor piece, attacked or not.
        loose_minor in -60..=60;
        /// An undefended own pawn.
        loose_pawn in -60..=60;
    }

    /// Passed pawns.
    Passed "passed" {
        /// A passed pawn, by rank.
        passed_rank[8] in -100..=600;
        /// A passed pawn, by distance of its file from the edge.
        passed_file[4] in -100..=100;
        /// An advanced passed pawn, by the own king's distance from its stop square.
        passed_own_king[8] in -60..=60;
        /// An advanced passed pawn, by the enemy king's distance from its stop square.
        passed_enemy_king[8] in -60..=100;
        /// An enemy piece blockades the passed pawn, by rank.
        passed_blockaded[8] in -250..=100;
        /// The stop square is empty and not attacked, by rank.
        passed_safe_step[8] in -100..=250;
        /// The stop square is empty and defended, by rank.
        passed_guarded_step[8] in -100..=250;
        /// The path to promotion is empty and not attacked, by rank.
        passed_safe_path[8] in -100..=400;
        /// The path to promotion is empty, by rank.
        passed_free_path[8] in -100..=250;
        /// A connected passed pawn: an own pawn defends it or is beside it, by rank.
        passed_connected[8] in -100..=300;
        /// A rook or queen supports the passed pawn from behind, by rank.
        passed_rook_support[8] in -100..=250;
        /// An unstoppable passed pawn: the enemy has only king and pawns, and the king cannot catch the pawn.
        passed_unstoppable in -100..=900;
        /// An outside passed pawn.
        passed_outside in -100..=150;
    }

    /// Space.
    Space "space" {
        /// Squares of files c to f, ranks 2 to 4, without own pawns and not attacked by enemy pawns, by the number of own minor and major pieces.
        space_safe[8] in -30..=60;
        /// Those of them behind an own pawn and not attacked at all, by the number of own minor and major pieces.
        space_behind_pawns[8] in -30..=60;
        /// Attacks on the four centre squares; twice attacked squares count twice.
        space_centre_attacks in -40..=60;
        /// Pawns on the four centre squares.
        space_centre_pawns in -60..=100;
    }

    /// Complexity: how hard the position is to draw. Moves the endgame score away from zero or toward it.
    Initiative "initiative" {
        /// In every position.
        complexity_base in -300..=300;
        /// A pawn of either side.
        complexity_pawns in -50..=50;
        /// A passed pawn of either side.
        complexity_passed in -50..=100;
        /// Outflanking: file distance minus rank distance of the kings.
        complexity_outflanking in -50..=50;
        /// Pawns on both wings.
        complexity_both_wings in -100..=200;
        /// A king in the enemy half.
        complexity_infiltration in -100..=200;
        /// Only kings and pawns are left.
        complexity_pawn_ending in -100..=300;
        /// Almost drawn: negative outflanking and pawns on one wing only.
        complexity_still in -200..=100;
    }

    /// Endgame knowledge: known wins. If all its weights are zero, drawish endgames are not scaled either.
    Endgame "endgame" {
        /// A known win: a bare king against mating material.
        known_win in 0..=2000;
        /// In a known win, by the losing king's distance from the edge.
        win_edge_distance[4] in -400..=400;
        /// Bishop and knight against king, by the losing king's Manhattan distance from a corner of the bishop's colour.
        win_corner_distance[8] in -800..=800;
        /// In a known win, by the distance between the kings.
        win_king_distance[8] in -400..=400;
        /// A won king and pawn against king, by the pawn's rank.
        win_pawn_rank[8] in 0..=900;
    }

    /// Piece-piece and piece-king relations: many small weights for training on very many positions.
    Patterns "patterns" {
        /// Enemy pieces attacked by the side to move: six attackers, pawn to king, by six undefended and six defended targets.
        attack_to_move[72] in -200..=200;
        /// Enemy pieces attacked by the side that has just moved, in the same order.
        attack_waiting[72] in -200..=200;
        /// Own pieces defended: six defenders, pawn to king, by six defended roles.
        guard[36] in -200..=200;
        /// X-ray attacks through one blocker: bishop, rook and queen by six targets.
        look_through[18] in -200..=200;
        /// Attacked squares within two of the enemy king: six attackers, by five ranks from behind the king to ahead and three file distances.
        zone_attack[90] in -100..=100;
        /// Defended squares within two of the own king, in the same order.
        zone_guard[90] in -100..=100;
        /// Two own pawns on adjacent files: seven pairs of files, by six ranks of each.
        pawn_neighbours[252] in -100..=100;
        /// A pawn and an enemy pawn on the same or an adjacent file: eight files, by the enemy's file (left, same, right), by six ranks of each.
        pawn_encounter[864] in -100..=100;
        /// Squares attacked, as a diagram.
        control_square[64] in -100..=100;
        /// Squares attacked twice, as a diagram.
        control_square_twice[64] in -100..=100;
        /// A pawn, by its square relative to the own king: fifteen ranks, seven behind to seven ahead, by eight file distances.
        pawn_from_own_king[120] in -200..=200;
        /// A pawn, by its square relative to the enemy king, in the same order.
        pawn_from_enemy_king[120] in -200..=200;
        /// A knight, by its square relative to the own king: fifteen ranks, seven behind to seven ahead, by eight file distances.
        knight_from_own_king[120] in -200..=200;
        /// A knight, by its square relative to the enemy king, in the same order.
        knight_from_enemy_king[120] in -200..=200;
        /// A bishop, by its square relative to the own king: fifteen ranks, seven behind to seven ahead, by eight file distances.
        bishop_from_own_king[120] in -200..=200;
        /// A bishop, by its square relative to the enemy king, in the same order.
        bishop_from_enemy_king[120] in -200..=200;
        /// A rook, by its square relative to the own king: fifteen ranks, seven behind to seven ahead, by eight file distances.
        rook_from_own_king[120] in -200..=200;
        /// A rook, by its square relative to the enemy king, in the same order.
        rook_from_enemy_king[120] in -200..=200;
        /// A queen, by its square relative to the own king: fifteen ranks, seven behind to seven ahead, by eight file distances.
        queen_from_own_king[120] in -200..=200;
        /// A queen, by its square relative to the enemy king, in the same order.
        queen_from_enemy_king[120] in -200..=200;
    }

    /// Features of the papers that no other term covers.
    Papers "papers" {
        /// Legal moves if the side were to move (the mobility of kendall-2001, nasreddine-2006, vazquez-2011).
        legal_moves in -50..=1200;
        /// Pawns on c4 c5 d4 d5 e4 e5 f4 f5 (vazquez-2013; its text prints f6 for f5).
        pawn_central in -100..=150;
        /// Knights defended by an own pawn (vazquez-2013).
        knight_supported in -100..=150;
        /// Knights that no enemy pawn can ever attack, on any rank (vazquez-2013, operations base).
        knight_base in -100..=150;
        /// A knight, by its distance from the edge (vazquez-2013, periphery 0 to 3; as a multiple of it david-tabibi-2011).
        knight_ring[4] in -100..=200;
        /// Pseudo-legal moves of the knights (vazquez-2013).
        knight_moves in -50..=150;
        /// Pseudo-legal moves of the bishops (vazquez-2013, david-tabibi-2011).
        bishop_moves in -50..=150;
        /// Pseudo-legal moves of the rooks (vazquez-2013, david-tabibi-2011).
        rook_moves in -50..=150;
        /// Pseudo-legal moves of the queens (vazquez-2013, david-tabibi-2011).
        queen_moves in -50..=150;
        /// Legal moves of the king without castling (vazquez-2013).
        king_moves in -50..=150;
        /// Material, in pawns, of enemy pieces that attack the own king's square or the squares around it (vazquez-2013; its bounds -100..0 make it a penalty).
        king_attacking_material in -150..=50;
        /// Material, in pawns, of own pieces that attack the own king's square or the squares around it (vazquez-2013).
        king_defending_material in -50..=150;
        /// The king has castled: it is on the first rank and on a wing, with no own rook on its outer side (vazquez-2013).
        king_castled in -100..=150;
        /// Own pawns adjacent to the king (vazquez-2013).
        king_pawns in -50..=150;
        /// Own pawns in front of a bishop that block its diagonals (vazquez-2013).
        bishop_ahead in -150..=150;
        /// Moves of own pawns in front of a bishop that block its diagonals (vazquez-2013).
        bishop_pawns_mobility in -50..=150;
        /// Ranks gained by pawns of the files a, b, g, h that are not passed (david-tabibi-2011, PAWN_ADVANCE_A, which the paper does not define).
        pawn_advance_wing in -64..=64;
        /// Ranks gained by pawns of the files c to f that are not passed (david-tabibi-2011, PAWN_ADVANCE_B, which the paper does not define).
        pawn_advance_centre in -64..=64;
        /// Ranks gained by passed pawns (david-tabibi-2011, PASSED_PAWN_MULT).
        passed_advance in -64..=64;
        /// Distance of the enemy king from each passed pawn (david-tabibi-2011).
        passed_enemy_king_steps in -64..=64;
        /// Squares of the files c to f, third and fourth rank, that no own pawn can ever defend (david-tabibi-2011).
        weak_squares in -64..=64;
        /// A knight on an outpost (defended by a pawn, and no enemy pawn can ever attack it), times its distance from the edge (david-tabibi-2011, KNIGHT_OUTPOST_MULT).
        knight_outpost_ring in -64..=64;
        /// Rooks on the enemy king's file without an own pawn in front (david-tabibi-2011).
        rook_on_king_file in -64..=64;
        /// Rooks on a central file adjacent to the enemy king's without an own pawn in front (david-tabibi-2011, ..ADJ_FILE).
        rook_by_king_file in -64..=64;
        /// Rooks on a file a, b, g or h adjacent to the enemy king's without an own pawn in front (david-tabibi-2011, ..ADJ_FILE_ABGH).
        rook_by_king_wing_file in -64..=64;
        /// Isolated or backward enemy pawns attacked by a rook along a file without own pawns (david-tabibi-2011).
        rook_attacks_weak_pawn in -64..=64;
        /// Distance of each rook's file from the edge (david-tabibi-2011, ROOK_COLUMN_MULT).
        rook_file_centrality in -64..=64;
        /// Pawns on the third rank on the king's file or adjacent to it (david-tabibi-2011).
        king_pawn_advanced in -64..=64;
        /// The king's file has no enemy pawn (david-tabibi-2011).
        king_no_enemy_pawn in -64..=64;
        /// A file adjacent to the king's has no enemy pawn (david-tabibi-2011).
        king_no_enemy_pawn_neighbour in -64..=64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_belongs_to_exactly_one_line() {
        let mut next = 0;
        for info in TERMS {
            assert_eq!(info.offset, next, "{}", info.name);
            assert!(info.low <= info.high, "{}", info.name);
            next += info.length;
        }
        assert_eq!(next, WEIGHT_COUNT);
    }

    #[test]
    fn names_are_unique() {
        for (line, info) in TERMS.iter().enumerate() {
            assert!(
                TERMS[..line].iter().all(|other| other.name != info.name),
                "{}",
                info.name
            );
        }
    }

    #[test]
    fn a_term_finds_its_line() {
        assert_eq!(term::tempo().info().name, "tempo");
        assert_eq!(term::king_square(31).info().name, "king_square");
        assert_eq!(term::knight_square(3).label(), "knight_square[3]");
    }
}
