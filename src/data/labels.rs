//! Positions with a mentor's score: EPD lines with the operation `ce`, centipawns seen by the
//! side to move. Lines that share an `id` come from one game and stay on one side of the split.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};

use super::epd::{fields, operand};
use super::sample::Tally;
use super::selection::Selection;
use super::{DataError, Source, unreadable};
use crate::position::Position;
use crate::random::mix;

#[derive(Clone, Debug)]
pub struct Label {
    pub position: Position,
    /// The mentor's centipawns, seen by the side to move.
    pub score: i32,
    /// What belongs together; from the `id`, or the line itself.
    group: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Labels {
    pub training: Vec<Label>,
    pub validation: Vec<Label>,
    pub tally: Tally,
}

/// Reads all sources and keeps what the selection's seed and limits ask for. Which side of the
/// split a game falls on, and which positions stay, depends on seed and position alone.
pub fn collect_labels(sources: &[Source], selection: &Selection) -> Result<Labels, DataError> {
    let mut labels = Labels::default();
    let mut seen = HashSet::new();
    let mut games = HashSet::new();
    for source in sources {
        let reader = BufReader::new(source.open()?);
        for (number, line) in reader.split(b'\n').enumerate() {
            let line = line.map_err(|error| unreadable(source.path(), &error))?;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            match label(text) {
                Ok(label) if seen.insert(label.position.key()) => {
                    games.insert(label.group);
                    labels.put(label, selection);
                }
                Ok(_) => *labels.tally.unwanted.entry("repeated").or_default() += 1,
                Err(reason) => {
                    let place = format!("{}:{}", source.name(), number + 1);
                    labels.tally.skip_bad(|| format!("{place}: {reason}"));
                }
            }
        }
    }
    labels.tally.games = games.len();
    limit(&mut labels.training, selection.positions, selection.seed);
    limit(&mut labels.validation, selection.validation, selection.seed);
    if labels.training.is_empty() {
        return Err(DataError::NoPositions(labels.tally.summary()));
    }
    Ok(labels)
}

impl Labels {
    fn put(&mut self, label: Label, selection: &Selection) {
        let drawn = mix(selection.seed, label.group) as f64 / u64::MAX as f64;
        if drawn < selection.validation_share {
            self.validation.push(label);
        } else {
            self.training.push(label);
        }
    }
}

fn limit(labels: &mut Vec<Label>, most: usize, seed: u64) {
    labels.sort_by_key(|label| mix(seed, label.position.key()));
    if most > 0 {
        labels.truncate(most);
    }
}

fn label(text: &str) -> Result<Label, String> {
    let position = Position::from_fen(&fields(text)).map_err(|error| error.to_string())?;
    let score = operand(text, "ce").ok_or("no score (ce)")?;
    let score = score
        .parse()
        .map_err(|_| format!("'{score}' is no score"))?;
    let mut hasher = DefaultHasher::new();
    operand(text, "id").unwrap_or(text).hash(&mut hasher);
    Ok(Label {
        position,
        score,
        group: hasher.finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_position_with_a_score() {
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\"; ce 135; acd 5;";
        assert_eq!(label(line).map(|label| label.score), Ok(135));
        assert!(label("4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\";").is_err());
        assert!(label("4k3/8/8/8/8/8/4P3/4K3 w - - ce x;").is_err());
    }

    #[test]
    fn positions_of_one_game_share_a_group() {
        let group = |line: &str| label(line).unwrap().group;
        assert_eq!(
            group("4k3/8/8/8/8/8/4P3/4K3 w - - id \"7\"; ce 1;"),
            group("4k3/8/8/8/8/8/3P4/4K3 w - - id \"7\"; ce 2;")
        );
    }
}
