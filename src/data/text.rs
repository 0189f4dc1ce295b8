//! Labels as `FEN | centipawns | result`: the text of the trainer bullet and of others. Score and
//! result are White's. A file names no mentor, scale or game.

use shakmaty::{Color, KnownOutcome};

use super::label::{GameGrouper, Label, read_result, read_score};
use crate::position::Position;

pub(super) fn is_text(line: &str) -> bool {
    line.contains('|')
}

pub(super) fn read_label(line: &str, games: &mut GameGrouper) -> Result<Label, String> {
    let mut parts = line.split('|').map(str::trim);
    let mut part = |name: &str| parts.next().ok_or_else(|| format!("no {name}"));
    let position = Position::from_fen(part("position")?).map_err(|error| error.to_string())?;
    let white = read_score(part("score")?)?;
    Ok(Label {
        score: if position.turn().is_white() {
            white
        } else {
            -white
        },
        result: read_result(part("result")?)?,
        source: games.group(None, &position),
        position,
    })
}

pub(super) fn write_label(label: &Label) -> String {
    let white = match label.position.turn() {
        Color::White => label.score,
        Color::Black => -label.score,
    };
    let result = match label.result {
        Some(KnownOutcome::Draw) => "0.5",
        Some(KnownOutcome::Decisive { winner }) => winner.fold_wb("1.0", "0.0"),
        None => "*",
    };
    format!("{} | {white} | {result}", label.position.fen())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_results_are_whites() {
        let read = |line: &str| read_label(line, &mut GameGrouper::default());
        let line = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20 | 135 | 1.0";
        let label = read(line).unwrap();
        assert_eq!((label.score, label.points()), (-135, Some(0.0)));
        assert_eq!(write_label(&label), line);
        for bad in [
            "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20 | 135",
            "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20 | -2147483648 | 0.5",
            "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20 | 1 | 2",
            "| |",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
