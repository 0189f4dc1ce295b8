//! Positions in EPD: four fields of a FEN, then operations. `bm` names the best moves, `ce` a
//! score in centipawns, `c9` the result of the game, `id` the game or the position.

use shakmaty::san::SanPlus;
use shakmaty::{KnownOutcome, Move, Outcome};

use super::label::{GameGrouper, Label, read_score};
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
pub(super) fn read_label(text: &str, games: &mut GameGrouper) -> Result<Label, String> {
    let position = Position::from_fen(&fields(text)).map_err(|error| error.to_string())?;
    let score = read_score(operand(text, "ce").ok_or("no score (ce)")?)?;
    Ok(Label {
        source: games.group(operand(text, "id"), &position),
        result: operand(text, "c9").and_then(read_result),
        position,
        score,
    })
}

fn read_result(text: &str) -> Option<KnownOutcome> {
    let outcome = Outcome::from_ascii(text.trim_matches('"').as_bytes()).ok()?;
    match outcome {
        Outcome::Known(known) => Some(known),
        Outcome::Unknown => None,
    }
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
pub(super) fn operand<'a>(text: &'a str, code: &str) -> Option<&'a str> {
    let operations = text.splitn(5, char::is_whitespace).nth(4)?;
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
        let read = |line: &str| read_label(line, &mut GameGrouper::default());
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\"; c9 \"1-0\"; ce 135;";
        let label = read(line).unwrap();
        assert_eq!((label.score, label.source), (135, GameId(7)));
        assert_eq!(label.points(), Some(1.0));
        assert_eq!(write_label(&label), line);
        assert!(read("4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\";").is_err());
        assert!(read("4k3/8/8/8/8/8/4P3/4K3 w - - ce x;").is_err());
    }
}
