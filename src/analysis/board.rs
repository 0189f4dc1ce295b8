//! A position as a drawing: the board, and what each piece is worth where it stands.

use std::collections::HashMap;
use std::fmt::Write as _;

use shakmaty::{File, Piece, Rank, Role, Square};

use crate::eval::{Weights, explain};
use crate::position::Position;
use crate::terminal::{escaped, printable};

const CELL: f64 = 60.0;
const MARGIN: f64 = 24.0;
/// A piece that is worth so many pawns more or less than its kind is shaded in full.
const FULL_SHADE: f64 = 1.0;

/// A piece and the loss of its side's score when it is removed.
struct PieceWorth {
    square: Square,
    piece: Piece,
    /// In pawns; none for kings, and where the position without it is not legal.
    worth: Option<f64>,
}

/// Draws the position as SVG. Under each piece stands its worth in pawns; its square is green if
/// that is more than the mean of its kind on the board, and red if it is less.
pub fn board_svg(position: &Position, weights: &Weights) -> String {
    let pieces = worths(position, weights);
    let means = means(&pieces);
    let score = explain(position, weights).score_white;
    let size = 8.0 * CELL + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{0}\" \
         viewBox=\"0 0 {size} {0}\" font-family=\"sans-serif\" text-anchor=\"middle\">\n\
         <title>{1}</title><rect width=\"{size}\" height=\"{0}\" fill=\"#fff\"/>\n",
        size + MARGIN,
        escaped(&position.fen())
    );
    for square in Square::ALL {
        let (x, y) = corner(square);
        let fill = if square.is_light() {
            "#f0e6d2"
        } else {
            "#c9b18c"
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\"/>"
        );
    }
    for piece in &pieces {
        draw_piece(piece, &means, &mut svg);
    }
    draw_coordinates(&mut svg);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" font-size=\"14\">{:+.2} for White by {}</text>\n</svg>",
        size / 2.0,
        size + MARGIN - 7.0,
        f64::from(score) / pawn(weights),
        escaped(&printable(&weights.name))
    );
    svg
}

/// The network says what its pieces are worth; else the position is evaluated without each.
fn worths(position: &Position, weights: &Weights) -> Vec<PieceWorth> {
    let explanation = explain(position, weights);
    let by_network = explanation.network.as_ref().map(|network| {
        let worth = network.pieces.iter();
        worth
            .map(|one| (one.square.clone(), one.worth))
            .collect::<HashMap<_, _>>()
    });
    let pieces = position.board().iter();
    let score = |square: Square, piece: Piece| match &by_network {
        Some(known) => known.get(&square.to_string()).copied(),
        None => without(position, square).map(|other| {
            let loss = explanation.score_white - explain(&other, weights).score_white;
            piece.color.fold_wb(loss, -loss)
        }),
    };
    let worth = |(square, piece): (Square, Piece)| PieceWorth {
        square,
        piece,
        worth: score(square, piece).map(|score| f64::from(score) / pawn(weights)),
    };
    pieces.into_iter().map(worth).collect()
}

/// The score that `score cp 100` stands for.
fn pawn(weights: &Weights) -> f64 {
    weights.win_model().midpoint
}

/// The position without the piece on a square, if it is legal.
fn without(position: &Position, square: Square) -> Option<Position> {
    if position.board().kings().contains(square) {
        return None;
    }
    let mut board = position.board().clone();
    board.discard_piece_at(square);
    // Castling rights and en passant would need a look at what was removed; no term counts them.
    let turn = position.turn().char();
    Position::from_fen(&format!("{} {turn} - - 0 1", board.board_fen())).ok()
}

/// The mean worth of each kind of piece, of both colours.
fn means(pieces: &[PieceWorth]) -> HashMap<Role, f64> {
    let mut sums: HashMap<Role, (f64, f64)> = HashMap::new();
    for one in pieces {
        if let Some(worth) = one.worth {
            let (sum, count) = sums.entry(one.piece.role).or_default();
            *sum += worth;
            *count += 1.0;
        }
    }
    let mean = |(role, (sum, count))| (role, sum / count);
    sums.into_iter().map(mean).collect()
}

fn draw_piece(one: &PieceWorth, means: &HashMap<Role, f64>, svg: &mut String) {
    let (x, y) = corner(one.square);
    if let (Some(worth), Some(mean)) = (one.worth, means.get(&one.piece.role)) {
        let more = worth - mean;
        let fill = if more < 0.0 { "#c0392b" } else { "#1a7f5a" };
        let opacity = 0.8 * (more.abs() / FULL_SHADE).min(1.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" \
             fill-opacity=\"{opacity:.2}\"><title>{} {}: {:+.2}, its kind {:+.2} on average</title></rect>\
             <text x=\"{}\" y=\"{}\" font-size=\"12\">{:+.2}</text>",
            one.piece.role.upper_char(),
            one.square,
            worth,
            mean,
            x + CELL / 2.0,
            y + CELL - 4.0,
            worth
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" font-size=\"40\" pointer-events=\"none\">{}</text>",
        x + CELL / 2.0,
        y + 41.0,
        glyph(one.piece)
    );
}

fn glyph(piece: Piece) -> char {
    let (white, black) = match piece.role {
        Role::King => ('♔', '♚'),
        Role::Queen => ('♕', '♛'),
        Role::Rook => ('♖', '♜'),
        Role::Bishop => ('♗', '♝'),
        Role::Knight => ('♘', '♞'),
        Role::Pawn => ('♙', '♟'),
    };
    piece.color.fold_wb(white, black)
}

/// The upper left corner of a square, seen from White's side.
fn corner(square: Square) -> (f64, f64) {
    let (file, rank) = (
        f64::from(u32::from(square.file())),
        f64::from(u32::from(square.rank())),
    );
    (MARGIN + CELL * file, CELL * (7.0 - rank))
}

fn draw_coordinates(svg: &mut String) {
    for file in File::ALL {
        let (x, _) = corner(Square::from_coords(file, Rank::First));
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"#555\">{}</text>",
            x + CELL / 2.0,
            8.0 * CELL + 16.0,
            file.char()
        );
    }
    for rank in Rank::ALL {
        let (_, y) = corner(Square::from_coords(File::A, rank));
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"#555\">{}</text>",
            MARGIN / 2.0,
            y + CELL / 2.0 + 5.0,
            rank.char()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_and_piece_is_drawn_and_the_better_knight_is_green() {
        let knights = "4k3/pppp4/8/8/3N4/8/PPPP4/N3K3 w - - 0 1";
        let position = Position::from_fen(knights).unwrap();
        let weights = Weights::built_in("hand-set").unwrap();
        let svg = board_svg(&position, &weights);
        assert_eq!(
            svg.matches("#f0e6d2").count() + svg.matches("#c9b18c").count(),
            64
        );
        assert_eq!(svg.matches('♘').count(), 2);
        let shade = |square: &str| {
            let at = svg.find(&format!("<title>N {square}: ")).unwrap();
            svg[..at].rsplit("fill=\"").next().unwrap()[..7].to_owned()
        };
        assert_eq!(shade("d4"), "#1a7f5a");
        assert_eq!(shade("a1"), "#c0392b");
    }

    #[test]
    fn a_piece_that_shields_a_king_has_no_worth_but_is_drawn() {
        // Without the bishop the side not to move would be in check.
        let position = Position::from_fen("4k3/8/8/4b3/8/8/8/4RK2 w - - 0 1").unwrap();
        let svg = board_svg(&position, &Weights::built_in("hand-set").unwrap());
        assert!(svg.contains('♝') && !svg.contains("<title>B e5"), "{svg}");
        assert!(svg.contains("<title>R e1"), "{svg}");
    }
}
