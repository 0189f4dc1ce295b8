//! A score taken apart, for display (`finch eval`).
//!
//! [`Explanation`] holds the numbers and serialises to JSON. Its `Display` draws the board and a
//! table of all terms that occur, by family, in pawns.

use std::fmt;

use serde::Serialize;
use shakmaty::Color;

use super::list::{Family, TERMS, Term, TermInfo, WEIGHT_COUNT};
use super::sink::{Sink, Taper, Totals, tapered_score_for_white};
use crate::eval::nnue::Network;
use crate::eval::weights::{PackedScore, TaperedValue, Weights};
use crate::position::Position;

/// A sink that counts the terms of each side.
pub struct Explainer<'a> {
    weights: &'a Weights,
    counts: [Vec<i32>; 2],
    complexity: Vec<i32>,
}

impl<'a> Explainer<'a> {
    pub fn new(weights: &'a Weights) -> Explainer<'a> {
        let zeros = || vec![0; WEIGHT_COUNT];
        Explainer {
            weights,
            counts: [zeros(), zeros()],
            complexity: zeros(),
        }
    }

    pub fn into_explanation(self, position: &Position, taper: Taper) -> Explanation {
        let families = Family::ALL.iter().filter_map(|family| self.family(*family));
        let families: Vec<_> = families.collect();
        let sum = |side: fn(&FamilyLines) -> TaperedValue| {
            families.iter().map(side).sum::<TaperedValue>()
        };
        let (white, black) = (sum(|lines| lines.white), sum(|lines| lines.black));
        let complexity = sum(|lines| lines.complexity);
        let scaled = self.weights.uses(Family::Endgame);
        let totals = Totals {
            midgame: hundredths(white.midgame - black.midgame),
            endgame: hundredths(white.endgame - black.endgame),
            complexity: hundredths(complexity.endgame),
        };
        let scale = taper.scale_of(totals.endgame_with_complexity());
        let white_view = tapered_score_for_white(totals, &taper, scaled);
        let white_to_move = position.turn().is_white();
        Explanation {
            fen: position.fen(),
            weights: self.weights.name.clone(),
            families,
            midgame: white.midgame - black.midgame,
            endgame: white.endgame - black.endgame,
            complexity: complexity.endgame,
            phase: taper.phase,
            phase_of: Taper::FULL_PHASE,
            scale: if scaled { scale } else { Taper::FULL_SCALE },
            scale_of: Taper::FULL_SCALE,
            white_to_move,
            score_white: white_view,
            score: if white_to_move {
                white_view
            } else {
                -white_view
            },
            network: None,
            mop_up: false,
            pawn: self.weights.win_model().midpoint,
            board: position.diagram(),
        }
    }

    /// The lines of a family; `None` if none of its terms occurs.
    fn family(&self, family: Family) -> Option<FamilyLines> {
        let lines = TERMS.iter().filter(|info| info.family == family);
        let terms: Vec<_> = lines.filter_map(|info| self.line(info)).collect();
        if terms.is_empty() {
            return None;
        }
        let sum =
            |side: fn(&TermLine) -> TaperedValue| terms.iter().map(side).sum::<TaperedValue>();
        let (white, black) = (sum(|line| line.white), sum(|line| line.black));
        let complexity = sum(|line| line.complexity);
        Some(FamilyLines {
            family: family.key(),
            meaning: family.meaning().trim(),
            white,
            black,
            complexity,
            terms,
        })
    }

    fn line(&self, info: &'static TermInfo) -> Option<TermLine> {
        let value = |counts: &[i32]| {
            let each = info
                .terms()
                .map(|term| self.weights.packed(term) * counts[term.index()]);
            each.map(TaperedValue::from).sum::<TaperedValue>()
        };
        let total = |counts: &[i32]| info.terms().map(|term| counts[term.index()]).sum::<i32>();
        let [white, black] = [0, 1].map(|side| value(&self.counts[side]));
        let complexity = value(&self.complexity);
        let zero = TaperedValue::default();
        (white != zero || black != zero || complexity != zero).then(|| TermLine {
            term: info.name,
            meaning: info.meaning.trim(),
            white_count: total(&self.counts[0]),
            black_count: total(&self.counts[1]),
            white,
            black,
            complexity,
        })
    }
}

impl Sink for Explainer<'_> {
    fn wants(&self, family: Family) -> bool {
        self.weights.uses(family)
    }

    fn add(&mut self, color: Color, term: Term, count: i32) {
        let side = usize::from(color.is_black());
        self.counts[side][term.index()] += count;
    }

    fn add_complexity(&mut self, term: Term, count: i32) {
        self.complexity[term.index()] += count;
    }
}

fn hundredths(centipawns: f64) -> i64 {
    (centipawns * f64::from(PackedScore::UNIT)).round() as i64
}

/// One term: its count and its value for each side.
#[derive(Clone, Debug, Serialize)]
pub struct TermLine {
    pub term: &'static str,
    pub meaning: &'static str,
    pub white_count: i32,
    pub black_count: i32,
    pub white: TaperedValue,
    pub black: TaperedValue,
    /// Its part of the complexity, which belongs to neither side.
    pub complexity: TaperedValue,
}

/// A family and its terms that occur.
#[derive(Clone, Debug, Serialize)]
pub struct FamilyLines {
    pub family: &'static str,
    pub meaning: &'static str,
    pub white: TaperedValue,
    pub black: TaperedValue,
    pub complexity: TaperedValue,
    pub terms: Vec<TermLine>,
}

/// A score taken apart. All values are in units of score.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    pub fen: String,
    pub weights: String,
    pub families: Vec<FamilyLines>,
    /// White's sum minus Black's.
    pub midgame: f64,
    pub endgame: f64,
    pub complexity: f64,
    pub phase: i32,
    pub phase_of: i32,
    pub scale: i32,
    pub scale_of: i32,
    pub white_to_move: bool,
    pub score_white: i32,
    /// From the side to move's point of view, as the search uses it.
    pub score: i32,
    /// If there is a network, it gives the score, not the sum of the terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkExplanation>,
    /// The mop-up evaluation gives the score, not the sum of the terms.
    pub mop_up: bool,
    /// The score that `score cp 100` stands for. The display is in such pawns.
    #[serde(skip)]
    pawn: f64,
    #[serde(skip)]
    board: String,
}

/// What a network's score can be split into.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkExplanation {
    pub file: String,
    /// The score of the terms, for White.
    pub terms_white: i32,
    pub pieces: Vec<PieceContribution>,
}

/// The contribution of a piece to its side's score: the score's loss when it is removed.
#[derive(Clone, Debug, Serialize)]
pub struct PieceContribution {
    pub square: String,
    pub piece: char,
    pub worth: i32,
}

impl Explanation {
    /// Replaces the score of the terms by that of the mop-up evaluation.
    pub(in crate::eval) fn with_mop_up(mut self, score: i32) -> Explanation {
        self.mop_up = true;
        self.score = score;
        self.score_white = if self.white_to_move { score } else { -score };
        self
    }

    /// Replaces the score of the terms by the network's.
    pub(in crate::eval) fn with_network(
        mut self,
        network: &Network,
        position: &Position,
    ) -> Explanation {
        self.score = network.evaluate(position);
        let white = |score: i32| if self.white_to_move { score } else { -score };
        let terms_white = std::mem::replace(&mut self.score_white, white(self.score));
        let kings = position.board().kings();
        let pieces = position.board().iter();
        let pieces = pieces.filter(|(square, _)| !kings.contains(*square));
        let worth = pieces.map(|(square, piece)| {
            let mut board = position.board().clone();
            board.discard_piece_at(square);
            let without = network.evaluate_board(&board, position.turn());
            let loss = if piece.color == position.turn() {
                self.score - without
            } else {
                without - self.score
            };
            PieceContribution {
                square: square.to_string(),
                piece: piece.char(),
                worth: loss,
            }
        });
        self.network = Some(NetworkExplanation {
            file: network.file.clone(),
            terms_white,
            pieces: worth.collect(),
        });
        self
    }
}

/// A value in pawns of so much; a dot for zero.
fn pawns(value: f64, pawn: f64) -> String {
    if value == 0.0 {
        "·".to_owned()
    } else {
        format!("{:+.2}", value / pawn)
    }
}

const RULE: &str =
    "────────────────────────────┼─────────────────┼─────────────────┼────────────────";

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.board)?;
        writeln!(f, "{}", self.fen)?;
        writeln!(f, "Weights: {}\n", self.weights)?;
        let heads = ["White", "Black", "Total"].map(|head| format!("{head:^15}"));
        writeln!(f, " {:<26} │ {}", "In pawns", heads.join(" │ "))?;
        let phases = ["    mg      eg "; 3];
        writeln!(f, " {:<26} │ {}", "", phases.join(" │ "))?;
        for family in &self.families {
            writeln!(f, "{RULE}")?;
            family.write(f, self.pawn)?;
        }
        writeln!(f, "{RULE}\n")?;
        self.write_outcome(f)
    }
}

impl NetworkExplanation {
    fn write(&self, f: &mut fmt::Formatter<'_>, pawn: f64) -> fmt::Result {
        let terms = f64::from(self.terms_white) / pawn;
        writeln!(
            f,
            "Terms       {terms:+.2} for White (not used: a network evaluates)"
        )?;
        writeln!(
            f,
            "\nNetwork {}: loss of each side's score when a piece is removed",
            self.file
        )?;
        for row in self.pieces.chunks(6) {
            let cell = |one: &PieceContribution| {
                let worth = f64::from(one.worth) / pawn;
                format!("{}{} {worth:>+6.2}", one.piece, one.square)
            };
            let cells: Vec<_> = row.iter().map(cell).collect();
            writeln!(f, "  {}", cells.join("   "))?;
        }
        Ok(())
    }
}

impl FamilyLines {
    fn write(&self, f: &mut fmt::Formatter<'_>, pawn: f64) -> fmt::Result {
        let title = self.family.to_uppercase();
        write_row(f, &title, [self.white, self.black, self.complexity], pawn)?;
        for line in &self.terms {
            let name = format!("  {}", line.term);
            write_row(f, &name, [line.white, line.black, line.complexity], pawn)?;
        }
        Ok(())
    }
}

fn write_row(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    [white, black, complexity]: [TaperedValue; 3],
    pawn: f64,
) -> fmt::Result {
    let total = TaperedValue {
        midgame: white.midgame - black.midgame,
        endgame: white.endgame - black.endgame + complexity.endgame,
    };
    let cell = |value: TaperedValue| {
        let (midgame, endgame) = (pawns(value.midgame, pawn), pawns(value.endgame, pawn));
        format!("{midgame:>7} {endgame:>7}")
    };
    let cells = [cell(white), cell(black), cell(total)];
    writeln!(f, " {name:<26} │ {}", cells.join(" │ "))
}

impl Explanation {
    fn write_outcome(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pawns = |value: f64| pawns(value, self.pawn);
        writeln!(f, "Midgame     {:>7}", pawns(self.midgame))?;
        writeln!(f, "Endgame     {:>7}", pawns(self.endgame))?;
        if self.complexity != 0.0 {
            let note = "positive: away from a draw; never changes the sign of the endgame score";
            writeln!(f, "Complexity  {:>7}  {note}", pawns(self.complexity))?;
        }
        writeln!(
            f,
            "Phase       {:>4}/{}  all pieces on the board: {}",
            self.phase, self.phase_of, self.phase_of
        )?;
        let draw = if self.scale == 0 {
            "  a known draw"
        } else {
            "  share of the endgame score that counts"
        };
        writeln!(f, "Scale       {:>3}/{}{draw}", self.scale, self.scale_of)?;
        if let Some(network) = &self.network {
            network.write(f, self.pawn)?;
        }
        if self.mop_up {
            let note = "the losing king to the edge, the kings together (terms are not used)";
            writeln!(f, "Mop-up      {note}")?;
        }
        let mover = if self.white_to_move { "White" } else { "Black" };
        // Rounded as in `score cp`.
        let centipawns = |score: i32| (f64::from(score) * 100.0 / self.pawn).round();
        let (score, white) = (
            centipawns(self.score) / 100.0,
            centipawns(self.score_white) / 100.0,
        );
        writeln!(
            f,
            "\nScore       {white:+.2} for White ({score:+.2} for {mover}, to move)"
        )
    }
}
