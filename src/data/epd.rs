//! Positions in EPD: four fields of a FEN, then operations. `bm` names the best moves.

use std::io::{BufRead, BufReader};

use shakmaty::Move;
use shakmaty::san::SanPlus;

use super::sample::Sampler;
use super::{DataError, Source, unreadable};
use crate::position::Position;

/// Reads every line of a source into the sampler; each counts as a game of its own.
pub fn read(source: &Source, sampler: &mut Sampler<'_>) -> Result<(), DataError> {
    let reader = BufReader::new(source.open()?);
    for (number, line) in reader.split(b'\n').enumerate() {
        if sampler.is_full() {
            break;
        }
        let line = line.map_err(|error| unreadable(source.path(), &error))?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match case(text) {
            Ok((position, answers)) => sampler.take_position(position, answers),
            Err(reason) => {
                sampler.skip_bad(|| format!("{}:{}: {reason}", source.name(), number + 1));
            }
        }
    }
    Ok(())
}

fn case(text: &str) -> Result<(Position, Vec<Move>), String> {
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
}
