//! Positions in EPD: four fields of a FEN, then operations. `bm` names the best moves, `ce` a
//! score in centipawns, `c9` the result of the game, `id` the game or the position. Where a result
//! is wanted, `[1.0]`, `"1-0"` or `1/2-1/2` at the end of a line or of a complete FEN will do.

use shakmaty::san::SanPlus;
use shakmaty::{KnownOutcome, Move};

use super::label::{GameGrouper, Label, LabelNeeds, read_result, read_score};
use super::sample::Sampler;
use super::{DataError, Source};
use crate::position::Position;

/// Reads every line with best moves into the sampler. [`GameGrouper`] states which lines belong
/// to one game.
pub fn read(source: &Source, sampler: &mut Sampler<'_>) -> Result<(), DataError> {
    let mut games = GameGrouper::default();
    for line in source.lines()? {
        if sampler.is_full() {
            break;
        }
        let (number, text) = line?;
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match best_moves(&text) {
            Ok((position, answers)) => {
                let game = games.group(operand(&text, "id"), &position);
                sampler.take_position(position, answers, game);
            }
            Err(reason) => {
                sampler.skip_bad(|| format!("{}:{number}: {reason}", source.name()));
            }
        }
    }
    Ok(())
}

fn best_moves(text: &str) -> Result<(Position, Vec<Move>), String> {
    let position = Position::from_fen(&fields(text)).map_err(|error| error.to_string())?;
    let moves = operand(text, "bm").ok_or("no best move (bm)")?;
    let answers = moves
        .split_whitespace()
        .map(|san| {
            let written = SanPlus::from_ascii(san.as_bytes()).ok();
            let legal = written.and_then(|plus| plus.san.to_move(position.chess()).ok());
            legal.ok_or_else(|| format!("illegal best move {san}"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if answers.is_empty() {
        return Err("no best move (bm)".to_owned());
    }
    Ok((position, answers))
}

/// Reads one label.
pub(super) fn read_label(
    text: &str,
    games: &mut GameGrouper,
    needs: LabelNeeds,
) -> Result<Label, String> {
    let position = Position::from_fen(&fields(text)).map_err(|error| error.to_string())?;
    let score = match operand(text, "ce") {
        Some(score) => read_score(score)?,
        None if needs.score => return Err("no score (ce)".to_owned()),
        None => 0,
    };
    Ok(Label {
        source: games.group(operand(text, "id"), &position),
        result: result(text),
        position,
        score,
    })
}

/// The result that a line names: as `c9`, or as its last word. Other comments in `c9` are ignored.
fn result(text: &str) -> Option<KnownOutcome> {
    let named = operand(text, "c9").map(|c9| c9.trim_matches('"'));
    let last = || {
        let word = text.trim_end_matches(';').split_whitespace().next_back()?;
        let bracketed = word
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        // A bare number at the end counts moves.
        bracketed.or(Some(word.trim_matches('"')).filter(|word| word.contains(['-', '/'])))
    };
    read_result(named.or_else(last)?).ok().flatten()
}

/// Writes one label as a line.
pub(super) fn write_label(label: &Label) -> String {
    let position = fields(&label.position.fen());
    let result = label
        .result
        .map_or(String::new(), |result| format!(" c9 \"{result}\";"));
    let Label { score, source, .. } = label;
    format!("{position} id \"{source}\";{result} ce {score};")
}

/// The part of a line that is the position.
pub fn fields(line: &str) -> String {
    let fields: Vec<_> = line.split_whitespace().take(4).collect();
    fields.join(" ")
}

/// A line without some of its operations.
pub fn without(line: &str, codes: &[&str]) -> String {
    let operations = line
        .splitn(5, char::is_whitespace)
        .nth(4)
        .unwrap_or_default();
    let kept = operations
        .split_inclusive(';')
        .map(str::trim)
        .filter(|operation| {
            let code = operation.split_whitespace().next();
            code.is_some_and(|code| !codes.contains(&code))
        });
    let parts: Vec<_> = kept.collect();
    [fields(line), parts.join(" ")]
        .join(" ")
        .trim_end()
        .to_owned()
}

/// What follows an operation code, up to its semicolon.
pub fn operand<'a>(text: &'a str, code: &str) -> Option<&'a str> {
    let operations = text.splitn(5, char::is_whitespace).nth(4)?;
    // A complete FEN has two counters before the operations.
    let operations = operations.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    operations.split(';').find_map(|operation| {
        let (name, operand) = operation.trim().split_once(char::is_whitespace)?;
        (name == code).then_some(operand.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::super::label::GameId;
    use super::*;

    #[test]
    fn operations_are_found_and_taken_away() {
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\"; ce 135; acd 5;";
        assert_eq!(operand(line, "ce"), Some("135"));
        let rest = "4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\";";
        assert_eq!(without(line, &["ce", "acd"]), rest);
        assert_eq!(
            without("8/8/8/8/8/8/8/8 w - -", &["ce"]),
            "8/8/8/8/8/8/8/8 w - -"
        );
    }

    #[test]
    fn a_label_is_a_position_with_a_score() {
        let read = |line: &str| read_label(line, &mut GameGrouper::default(), LabelNeeds::SCORE);
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\"; c9 \"1-0\"; ce 135;";
        let label = read(line).unwrap();
        assert_eq!((label.score, label.source), (135, GameId(7)));
        assert_eq!(label.points(), Some(1.0));
        assert_eq!(write_label(&label), line);
        assert!(read("4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\";").is_err());
        assert!(read("4k3/8/8/8/8/8/4P3/4K3 w - - ce x;").is_err());
    }

    #[test]
    fn results_are_read_as_others_write_them() {
        let needs = LabelNeeds {
            score: false,
            result: true,
        };
        let points = |rest: &str| {
            let line = format!("4k3/8/8/8/8/8/4P3/4K3 w - - {rest}");
            let label = read_label(&line, &mut GameGrouper::default(), needs).unwrap();
            label.points()
        };
        for won in [
            "c9 \"1-0\";",
            "0 1 c9 \"1-0\";",
            "c9 1-0",
            "c9 \"1.0\";",
            "0 1 [1.0]",
            "0 1 1-0",
            "\"1-0\";",
            "id \"a\"; [1.0]",
        ] {
            assert_eq!(points(won), Some(1.0), "{won}");
        }
        for drawn in ["c9 \"1/2-1/2\";", "0 1 [0.5]", "1/2-1/2", "1/2-1/2;"] {
            assert_eq!(points(drawn), Some(0.5), "{drawn}");
        }
        assert_eq!(points("5 20 [0.0]"), Some(0.0));
        for unknown in ["", "0 1", "c9 \"*\";", "c9 \"sharp\";", "id \"1-0\"; ce 3;"] {
            assert_eq!(points(unknown), None, "{unknown}");
        }
    }
}
