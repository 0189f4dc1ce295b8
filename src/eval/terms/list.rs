//! The list: every term of the evaluation, declared once.
//!
//! A line gives a term its name in weights files, its length when it is a table, the bounds its
//! value must keep, the family that reports it and, in the doc comment, its meaning as `finch
//! weights list` and `finch eval` print it. From the list follow the flat order of all weights
//! (the gene vector), the accessors in [`term`] and the table [`TERMS`].
//!
//! Tables of squares hold 64 values written as a diagram seen from the piece's own side: the
//! first row is the eighth rank, and the own king is thought to stand on the right half (the
//! board is mirrored when it does not). The king's own table therefore needs only the files e
//! to h. Tables by rank hold eight values, the first rank first.

use std::mem::offset_of;

/// Place of one weight in the flat vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub(crate) u16);

impl Term {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The term with this place, if the list is that long.
    #[inline]
    pub fn from_index(index: usize) -> Option<Term> {
        (index < WEIGHT_COUNT).then_some(Term(index as u16))
    }

    /// The line of the list this weight belongs to.
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

/// What the list says about one term.
#[derive(Debug)]
pub struct TermInfo {
    pub name: &'static str,
    pub family: Family,
    /// The doc comment, one line.
    pub meaning: &'static str,
    /// Bounds of each value, in centipawns, both ends included.
    pub low: i32,
    pub high: i32,
    /// Place of the first value in the flat vector.
    pub offset: usize,
    /// How many values: 1, or the length of a table.
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
        /// Terms that are reported by one file and skipped together when all weigh nothing.
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

            /// What the family is about, one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Family::$family => concat!($($family_doc),+)),+ }
            }
        }

        /// The order of all weights: one byte here stands for one weight, so that a field's
        /// offset is the term's place in the flat vector.
        #[repr(C)]
        struct Layout {
            $($( $name: [u8; terms!(@length $($length)?)], )+)+
        }

        /// How many weights there are.
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
    /// What is on the board.
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
        /// A second knight repeats what the first does.
        knight_pair in -100..=100;
        /// A second rook repeats what the first does.
        rook_pair in -100..=100;
        /// A knight, by the number of own pawns: it likes closed positions.
        knight_with_pawns[9] in -100..=100;
        /// A bishop, by the number of own pawns.
        bishop_with_pawns[9] in -100..=100;
        /// A rook, by the number of own pawns: it likes open positions.
        rook_with_pawns[9] in -100..=100;
        /// A queen, by the number of enemy minor pieces and rooks that work against it.
        queen_against_pieces[9] in -150..=150;
        /// The right to move.
        tempo in -50..=100;
    }

    /// Where the pieces stand.
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

    /// How the pawns stand together.
    Pawns "pawns" {
        /// A pawn with no own pawn on a neighbouring file.
        pawn_isolated in -150..=100;
        /// An isolated pawn that no enemy pawn on its file shields from rooks.
        pawn_isolated_unopposed in -150..=100;
        /// A pawn with an own pawn ahead of it on its file.
        pawn_doubled in -150..=100;
        /// A doubled pawn close behind the other, with no pawn to support it.
        pawn_doubled_close in -150..=100;
        /// A doubled pawn that is isolated too.
        pawn_doubled_isolated in -150..=100;
        /// A pawn whose next square is guarded by an enemy pawn and can never be guarded by an own one.
        pawn_backward in -150..=100;
        /// A backward pawn that no enemy pawn on its file shields from rooks.
        pawn_backward_unopposed in -150..=100;
        /// A pawn with an own pawn beside it, by rank.
        pawn_phalanx[8] in -150..=250;
        /// A pawn guarded by an own pawn, by rank.
        pawn_supported[8] in -150..=250;
        /// A connected pawn that no enemy pawn opposes on its file, by rank.
        pawn_connected_unopposed[8] in -150..=250;
        /// A pawn stopped by an enemy pawn in front of it, by rank.
        pawn_blocked[8] in -150..=150;
        /// A group of pawns on neighbouring files, divided from the others.
        pawn_islands in -100..=100;
        /// A pawn with a free file and enough helpers to become passed, by rank.
        pawn_candidate[8] in -100..=250;
        /// A pawn that attacks an enemy pawn, by rank.
        pawn_lever[8] in -100..=150;
        /// An unsupported pawn attacked by two enemy pawns.
        pawn_weak_lever in -150..=100;
        /// No own pawns at all.
        pawns_none in -300..=100;
    }

    /// What the pieces do from where they stand.
    Pieces "pieces" {
        /// Knight activity, by squares it attacks in the safe area.
        knight_mobility[9] in -250..=250;
        /// Bishop activity, by squares it attacks in the safe area, looking through queens.
        bishop_mobility[14] in -250..=250;
        /// Rook activity, by squares it attacks in the safe area, looking through rooks and queens.
        rook_mobility[15] in -250..=250;
        /// Queen activity, by squares it attacks in the safe area.
        queen_mobility[28] in -250..=250;
        /// A knight on an outpost: a square of the enemy half no enemy pawn can attack, guarded by an own pawn.
        knight_outpost in -100..=200;
        /// A knight that can jump to a free outpost.
        knight_outpost_reach in -100..=150;
        /// A knight on a square of the enemy half no enemy pawn can attack, without a pawn's support.
        knight_hole in -100..=150;
        /// A bishop on an outpost.
        bishop_outpost in -100..=200;
        /// A bishop that can move to a free outpost.
        bishop_outpost_reach in -100..=150;
        /// A bishop whose diagonal takes in two squares of the centre.
        bishop_long_diagonal in -100..=150;
        /// A bad bishop: own pawns on squares of the bishop's colour.
        bishop_bad in -60..=60;
        /// A bad bishop: own pawns on its colour that an enemy pawn stops on the central files.
        bishop_bad_blocked in -60..=60;
        /// Enemy pawns on the bishop's diagonals, seen through everything.
        bishop_xray_pawns in -60..=60;
        /// A bishop that has left its first rank and has no safe square.
        bishop_trapped in -250..=100;
        /// A knight or bishop right behind a pawn of either side.
        minor_behind_pawn in -60..=100;
        /// A knight, by its distance from its own king.
        knight_king_distance[8] in -100..=100;
        /// A bishop, by its distance from its own king.
        bishop_king_distance[8] in -100..=100;
        /// A rook on a file without pawns.
        rook_open_file in -100..=200;
        /// A rook on a file with enemy pawns only.
        rook_half_open_file in -100..=200;
        /// A rook on a file with pawns of both sides, behind an own pawn.
        rook_closed_behind in -100..=100;
        /// A rook on a file with pawns of both sides, ahead of its own pawns.
        rook_closed_ahead in -100..=100;
        /// A rook on a file with own pawns only.
        rook_own_file in -100..=100;
        /// A rook on the seventh rank.
        rook_on_seventh in -100..=150;
        /// A rook on the seventh rank that cuts off the king on the eighth or attacks pawns.
        rook_on_seventh_active in -100..=150;
        /// A rook that another own rook guards.
        rook_connected in -100..=100;
        /// A rook behind an own passed pawn.
        rook_behind_passer in -100..=150;
        /// A rook behind an enemy passed pawn.
        rook_behind_enemy_passer in -100..=150;
        /// A rook on the file of an enemy queen.
        rook_on_queen_file in -100..=100;
        /// A rook shut in by its king, which cannot castle.
        rook_trapped in -250..=100;
        /// A rook shut in by its king, which can still castle.
        rook_boxed in -150..=100;
        /// A queen with an enemy bishop or rook on its line, one piece between them.
        queen_exposed in -150..=100;
        /// A queen in the enemy half, where no enemy pawn can attack it.
        queen_infiltrated in -100..=150;
        /// A queen that has left home, by own minor pieces still at home.
        queen_early in -60..=60;
    }

    /// How safe the king is.
    King "king" {
        /// Index of all dangers together: see `king.rs` for its units.
        king_danger[64] in -1500..=100;
        /// A file at the king, by distance from the edge and rank of the own pawn nearest to him (0: none).
        king_shelter[32] in -200..=200;
        /// The same for the nearest enemy pawn, when no own pawn stops it.
        king_storm[32] in -200..=200;
        /// The same for the nearest enemy pawn, when an own pawn stands right before it.
        king_storm_blocked[32] in -200..=200;
        /// The king's file has no pawns.
        king_open_file in -200..=100;
        /// The king's file has no own pawn.
        king_half_open_file in -200..=100;
        /// A neighbouring file has no own pawn.
        king_half_open_neighbour in -150..=100;
        /// Enemy knights that attack the king's ring.
        king_attacked_by_knight in -100..=100;
        /// Enemy bishops that attack the king's ring.
        king_attacked_by_bishop in -100..=100;
        /// Enemy rooks that attack the king's ring.
        king_attacked_by_rook in -100..=100;
        /// Enemy queens that attack the king's ring.
        king_attacked_by_queen in -100..=100;
        /// Attacks on the squares next to the king, counted with each attacker.
        king_ring_attacks in -64..=64;
        /// Squares of the ring that the enemy attacks and only king or queen guards.
        king_weak_squares in -100..=100;
        /// Squares from which an enemy knight could safely check.
        king_safe_knight_check in -150..=100;
        /// Squares from which an enemy bishop could safely check.
        king_safe_bishop_check in -150..=100;
        /// Squares from which an enemy rook could safely check.
        king_safe_rook_check in -150..=100;
        /// Squares from which an enemy queen could safely check.
        king_safe_queen_check in -150..=100;
        /// Squares from which an enemy piece could check but be taken.
        king_unsafe_checks in -60..=60;
        /// Own pieces that alone stand between the king and an enemy slider.
        king_pinned_pieces in -100..=100;
        /// Squares of the king's part of the board that the enemy attacks.
        king_flank_attacks in -40..=40;
        /// Squares of the king's part of the board that the own side guards.
        king_flank_defence in -40..=40;
        /// No pawns of either side in the king's part of the board.
        king_flank_pawnless in -200..=100;
        /// A knight beside the king guards him.
        king_knight_defender in -60..=100;
        /// Distance from the king to the nearest own pawn.
        king_pawn_distance[8] in -150..=100;
        /// Squares the king can safely go to.
        king_mobility[9] in -150..=150;
        /// The right to castle on the king's side.
        castling_king_side in -100..=150;
        /// The right to castle on the queen's side.
        castling_queen_side in -100..=150;
    }

    /// What is attacked and poorly guarded.
    Threats "threats" {
        /// A safe pawn attacks a knight, bishop, rook or queen.
        threat_by_pawn[4] in -100..=300;
        /// A safe pawn could advance and attack a knight, bishop, rook or queen.
        threat_by_push[4] in -100..=200;
        /// A knight or bishop attacks a poorly guarded pawn, knight, bishop, rook or queen.
        threat_by_minor[5] in -100..=250;
        /// A rook attacks a poorly guarded pawn, knight, bishop, rook or queen.
        threat_by_rook[5] in -100..=250;
        /// The king attacks a poorly guarded piece or pawn.
        threat_by_king in -100..=200;
        /// A queen attacks a poorly guarded piece.
        threat_by_queen in -100..=100;
        /// A knight or bishop attacks a guarded rook or queen.
        threat_minor_on_major in -100..=200;
        /// An attacked piece or pawn that nothing guards, or that is attacked twice.
        threat_hanging in -100..=250;
        /// An attacked piece that only the queen guards.
        threat_guarded_by_queen in -100..=150;
        /// A square both sides attack, which the enemy does not firmly hold.
        threat_restricted in -40..=60;
        /// A safe square from which a knight would attack the only enemy queen.
        threat_knight_on_queen in -60..=100;
        /// A safe square from which a bishop or rook would attack the only enemy queen.
        threat_slider_on_queen in -60..=100;
        /// An unguarded minor piece, attacked or not.
        loose_minor in -60..=60;
        /// A pawn of our own that nothing guards.
        loose_pawn in -60..=60;
    }

    /// Pawns that no enemy pawn can stop.
    Passed "passed" {
        /// A passed pawn, by rank.
        passed_rank[8] in -100..=600;
        /// A passed pawn, by distance of its file from the edge.
        passed_file[4] in -100..=100;
        /// An advanced passed pawn, by the own king's distance from the square before it.
        passed_own_king[8] in -60..=60;
        /// An advanced passed pawn, by the enemy king's distance from the square before it.
        passed_enemy_king[8] in -60..=100;
        /// An enemy piece stands before the pawn, by rank.
        passed_blockaded[8] in -250..=100;
        /// The next square is empty and safe, by rank.
        passed_safe_step[8] in -100..=250;
        /// The next square is guarded by its own side, by rank.
        passed_guarded_step[8] in -100..=250;
        /// The whole way to promotion is empty and the enemy attacks none of it, by rank.
        passed_safe_path[8] in -100..=400;
        /// The whole way to promotion is empty, by rank.
        passed_free_path[8] in -100..=250;
        /// A pawn guards the passed pawn or stands beside it, by rank.
        passed_connected[8] in -100..=300;
        /// A rook or queen behind it supports the pawn, by rank.
        passed_rook_support[8] in -100..=250;
        /// The enemy has only king and pawns, and the king cannot catch the pawn.
        passed_unstoppable in -100..=900;
        /// The farthest passed pawn outside all other pawns.
        passed_outside in -100..=150;
    }

    /// Room behind and around the pawns.
    Space "space" {
        /// Central squares on the own side that no enemy pawn attacks, by own minors_and_majors' number.
        space_safe[8] in -30..=60;
        /// Such squares behind an own pawn that no enemy piece attacks, by own minors_and_majors' number.
        space_behind_pawns[8] in -30..=60;
        /// Attacks on the four squares of the centre.
        space_centre_attacks in -40..=60;
        /// Pawns on the four squares of the centre.
        space_centre_pawns in -60..=100;
    }

    /// How hard the position is to draw: these move an endgame advantage away from zero or toward it.
    Initiative "initiative" {
        /// Always.
        complexity_base in -300..=300;
        /// A pawn of either side.
        complexity_pawns in -50..=50;
        /// A passed pawn of either side.
        complexity_passed in -50..=100;
        /// How much farther the kings are apart in files than in ranks.
        complexity_outflanking in -50..=50;
        /// Pawns on both wings.
        complexity_both_wings in -100..=200;
        /// A king in the enemy half.
        complexity_infiltration in -100..=200;
        /// Nothing but kings and pawns.
        complexity_pawn_ending in -100..=300;
        /// Too little going on: kings not outflanking, pawns on one wing.
        complexity_still in -200..=100;
    }

    /// What is known of endings: how a won one is won and a drawn one held. Without it no ending is scaled.
    Endgame "endgame" {
        /// An ending known to be won.
        known_win in 0..=2000;
        /// In such an ending, by the losing king's distance from the centre.
        win_edge_distance[4] in -400..=400;
        /// Bishop and knight against king, by the losing king's distance from a corner of the bishop's colour.
        win_corner_distance[8] in -800..=800;
        /// In such an ending, by the distance between the kings.
        win_king_distance[8] in -400..=400;
        /// King and pawn against king, won: by the pawn's rank.
        win_pawn_rank[8] in 0..=900;
    }

    /// What pieces have to do with each other and with the kings: for learning from very many positions.
    Patterns "patterns" {
        /// Enemy pieces attacked by the side to move: six attackers, pawn to king, by six targets that nothing guards and six that something guards.
        attack_to_move[72] in -200..=200;
        /// Enemy pieces attacked by the side that has just moved, in the same order.
        attack_waiting[72] in -200..=200;
        /// Own pieces guarded: six guards, pawn to king, by six kinds of pieces.
        guard[36] in -200..=200;
        /// Enemy pieces seen through one piece between: bishop, rook and queen by six targets.
        look_through[18] in -200..=200;
        /// Squares within two of the enemy king that a piece attacks: six attackers, by five ranks from behind him to ahead and three distances in files.
        zone_attack[90] in -100..=100;
        /// Squares within two of the own king that a piece guards, in the same order.
        zone_guard[90] in -100..=100;
        /// Two pawns on neighbouring files: seven pairs of files, by the six ranks of one and of the other.
        pawn_neighbours[252] in -100..=100;
        /// A pawn and an enemy pawn on its file or a neighbouring one: eight files, by the enemy's file to the left, the same or to the right, by six ranks of each.
        pawn_encounter[864] in -100..=100;
        /// Squares attacked, as a diagram.
        control_square[64] in -100..=100;
        /// Squares attacked twice, as a diagram.
        control_square_twice[64] in -100..=100;
        /// A pawn, by its place as seen from the own king: fifteen ranks, seven behind to seven ahead, by eight distances in files.
        pawn_from_own_king[120] in -200..=200;
        /// A pawn, by its place as seen from the enemy king.
        pawn_from_enemy_king[120] in -200..=200;
        /// A knight, by its place as seen from the own king: fifteen ranks, seven behind to seven ahead, by eight distances in files.
        knight_from_own_king[120] in -200..=200;
        /// A knight, by its place as seen from the enemy king.
        knight_from_enemy_king[120] in -200..=200;
        /// A bishop, by its place as seen from the own king: fifteen ranks, seven behind to seven ahead, by eight distances in files.
        bishop_from_own_king[120] in -200..=200;
        /// A bishop, by its place as seen from the enemy king.
        bishop_from_enemy_king[120] in -200..=200;
        /// A rook, by its place as seen from the own king: fifteen ranks, seven behind to seven ahead, by eight distances in files.
        rook_from_own_king[120] in -200..=200;
        /// A rook, by its place as seen from the enemy king.
        rook_from_enemy_king[120] in -200..=200;
        /// A queen, by its place as seen from the own king: fifteen ranks, seven behind to seven ahead, by eight distances in files.
        queen_from_own_king[120] in -200..=200;
        /// A queen, by its place as seen from the enemy king.
        queen_from_enemy_king[120] in -200..=200;
    }

    /// Features of the papers that no modern term covers.
    Papers "papers" {
        /// Legal moves, as if it were the side's turn (the mobility of kendall-2001, nasreddine-2006, vazquez-2011).
        legal_moves in -50..=1200;
        /// Pawns on c4 c5 d4 d5 e4 e5 f4 f5 (vazquez-2013; its text prints f6 for f5).
        pawn_central in -100..=150;
        /// Knights guarded by an own pawn (vazquez-2013).
        knight_supported in -100..=150;
        /// Knights that no enemy pawn can ever drive away, on any rank (vazquez-2013, operations base).
        knight_base in -100..=150;
        /// A knight, by its distance from the edge (vazquez-2013, periphery 0 to 3; as a multiple of it david-tabibi-2011).
        knight_ring[4] in -100..=200;
        /// Moves of the knights, onto any square that holds no own piece (vazquez-2013).
        knight_moves in -50..=150;
        /// Moves of the bishops (vazquez-2013, david-tabibi-2011).
        bishop_moves in -50..=150;
        /// Moves of the rooks (vazquez-2013, david-tabibi-2011).
        rook_moves in -50..=150;
        /// Moves of the queens (vazquez-2013, david-tabibi-2011).
        queen_moves in -50..=150;
        /// Legal moves of the king, castling apart (vazquez-2013).
        king_moves in -50..=150;
        /// Material, in pawns, of enemy pieces that bear on the own king's square or the squares around it (vazquez-2013; its bounds -100..0 make it a danger to the king's owner).
        king_attacking_material in -150..=50;
        /// Material, in pawns, of own pieces that bear on the own king's square or the squares around it (vazquez-2013).
        king_defending_material in -50..=150;
        /// The king has castled: he stands on the first rank toward a wing, no own rook outside him (vazquez-2013).
        king_castled in -100..=150;
        /// Own pawns on squares next to the king (vazquez-2013).
        king_pawns in -50..=150;
        /// Own pawns ahead of a bishop that end one of its diagonals (vazquez-2013).
        bishop_ahead in -150..=150;
        /// Moves of the pawns ahead of a bishop that end one of its diagonals (vazquez-2013).
        bishop_pawns_mobility in -50..=150;
        /// Ranks gained by pawns of the files a, b, g, h that are not passed (david-tabibi-2011, PAWN_ADVANCE_A, which the paper does not define).
        pawn_advance_wing in -64..=64;
        /// Ranks gained by pawns of the files c to f that are not passed (david-tabibi-2011, PAWN_ADVANCE_B, which the paper does not define).
        pawn_advance_centre in -64..=64;
        /// Ranks gained by passed pawns (david-tabibi-2011, PASSED_PAWN_MULT).
        passed_advance in -64..=64;
        /// Distance of the enemy king from each passed pawn (david-tabibi-2011).
        passed_enemy_king_steps in -64..=64;
        /// Squares of the files c to f, third and fourth rank, that no own pawn can ever guard (david-tabibi-2011).
        weak_squares in -64..=64;
        /// An outposted knight (pawn-guarded, not to be driven away), by its distance from the edge (david-tabibi-2011, KNIGHT_OUTPOST_MULT).
        knight_outpost_ring in -64..=64;
        /// Rooks on the enemy king's file, no own pawn ahead of them (david-tabibi-2011).
        rook_on_king_file in -64..=64;
        /// Rooks on a central file next to the enemy king's, no own pawn ahead of them (david-tabibi-2011, ..ADJ_FILE).
        rook_by_king_file in -64..=64;
        /// Rooks on a file a, b, g or h next to the enemy king's, no own pawn ahead of them (david-tabibi-2011, ..ADJ_FILE_ABGH).
        rook_by_king_wing_file in -64..=64;
        /// Isolated or backward enemy pawns attacked by a rook along a file without own pawns (david-tabibi-2011).
        rook_attacks_weak_pawn in -64..=64;
        /// Distance of each rook's file from the edge (david-tabibi-2011, ROOK_COLUMN_MULT).
        rook_file_centrality in -64..=64;
        /// Pawns one step advanced on the king's file or next to it (david-tabibi-2011).
        king_pawn_advanced in -64..=64;
        /// The king's file has no enemy pawn (david-tabibi-2011).
        king_no_enemy_pawn in -64..=64;
        /// A file next to the king's has no enemy pawn (david-tabibi-2011).
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
