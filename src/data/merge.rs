//! Several mentors' labels made one.
//!
//! Engines do not agree what a centipawn is. What they can agree on is a chance of winning: each
//! mentor's scale is the number of its centipawns that multiply the odds by e. Chances are
//! averaged and told in the first mentor's centipawns.
//!
//! A scale that is not given is estimated: from the results of the games where the labels carry
//! them (`c9`), else as the one at which the mentor agrees best with the first, whose own is
//! then [`COMMON_SCALE`].

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use super::epd::{fields, operand, without};
use super::{DataError, Source, unreadable};

/// Centipawns that multiply the odds of winning by e, where nothing tells better.
pub const COMMON_SCALE: f64 = 105.0;
/// Scales of engines lie well within these.
const SCALES: [f64; 2] = [10.0, 2_000.0];
/// Fewer results than this say little.
const RESULTS_NEEDED: usize = 100;
/// A chance of nothing or of everything is no number of centipawns.
const SUREST: f64 = 1e-6;

/// One mentor's part in a merger; scale 0 is to be estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub mentor: String,
    pub scale: f64,
    pub weight: f64,
}

#[derive(Debug, Default)]
pub struct Merged {
    pub shares: Vec<Share>,
    /// The file's text: a header, then labels in the order of the first file.
    pub text: String,
    pub labels: usize,
    /// Positions that not all have scored.
    pub left_out: usize,
}

/// One mentor's file.
struct Scores {
    mentor: String,
    /// Lines without their score, in order, with the score and perhaps the game's result for
    /// the side to move.
    labels: Vec<(String, Scored)>,
}

#[derive(Clone, Copy)]
struct Scored {
    score: f64,
    result: Option<f64>,
}

/// Merges files of labels; `given` has a scale and a weight for each.
pub fn merge(sources: &[Source], given: &[(f64, f64)]) -> Result<Merged, DataError> {
    let files = sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let common = common_scores(&files);
    if common.is_empty() {
        let names: Vec<_> = sources.iter().map(Source::name).collect();
        return Err(DataError::NoPositions(format!(
            "{} have none in common",
            names.join(", ")
        )));
    }
    let lines = files.iter().flat_map(|file| &file.labels);
    let all: HashSet<&str> = lines.map(|(line, _)| line.as_str()).collect();
    let mut shares: Vec<Share> = Vec::new();
    for (place, (file, &(scale, weight))) in files.iter().zip(given).enumerate() {
        let first = shares.first().map(|share: &Share| share.scale);
        shares.push(Share {
            mentor: file.mentor.clone(),
            scale: match scale {
                0.0 => estimated_scale(&common, place, first),
                given => given,
            },
            weight,
        });
    }
    let mut merged = Merged {
        text: header(&shares),
        labels: common.len(),
        left_out: all.len() - common.len(),
        shares,
    };
    for (line, scores) in &common {
        let score = averaged(scores, &merged.shares);
        merged.text.push_str(&format!("{line} ce {score:.0};\n"));
    }
    Ok(merged)
}

fn read(source: &Source) -> Result<Scores, DataError> {
    let mut scores = Scores {
        mentor: source.name().into_owned(),
        labels: Vec::new(),
    };
    for line in BufReader::new(source.open()?).lines() {
        let line = line.map_err(|error| unreadable(source.path(), &error))?;
        if let Some(mentor) = line.strip_prefix("# mentor: ") {
            scores.mentor = mentor.split(';').next().unwrap_or_default().to_owned();
        }
        let score = operand(&line, "ce").and_then(|score| score.parse().ok());
        if let Some(score) = score {
            let scored = Scored {
                score,
                result: result(&line),
            };
            scores.labels.push((without(&line, &["ce", "acd"]), scored));
        }
    }
    Ok(scores)
}

/// The game's result for the side to move.
fn result(line: &str) -> Option<f64> {
    let white = match operand(line, "c9")?.trim_matches('"') {
        "1-0" => 1.0,
        "0-1" => 0.0,
        "1/2-1/2" => 0.5,
        _ => return None,
    };
    let white_moves = line.split_whitespace().nth(1) == Some("w");
    Some(if white_moves { white } else { 1.0 - white })
}

/// Positions that every file knows, with their scores by file.
fn common_scores(files: &[Scores]) -> Vec<(String, Vec<Scored>)> {
    let Some((first, others)) = files.split_first() else {
        return Vec::new();
    };
    let maps = others.iter().map(|file| {
        let labels = file.labels.iter();
        labels
            .map(|(line, scored)| (fields(line), *scored))
            .collect::<HashMap<_, _>>()
    });
    let maps: Vec<_> = maps.collect();
    let scores = |line: &String, scored: &Scored| {
        let position = fields(line);
        let others = maps.iter().map(|map| map.get(&position).copied());
        let scores = std::iter::once(Some(*scored)).chain(others);
        scores.collect::<Option<Vec<_>>>()
    };
    let labels = first.labels.iter();
    let common = labels.filter_map(|(line, scored)| Some((line.clone(), scores(line, scored)?)));
    common.collect()
}

/// The scale of one mentor: from results, or from its agreement with the first.
fn estimated_scale(common: &[(String, Vec<Scored>)], place: usize, first: Option<f64>) -> f64 {
    let scores = common.iter().map(|(_, scores)| scores);
    let with_result = |scores: &Vec<Scored>| Some((scores[place].score, scores[place].result?));
    let results: Vec<_> = scores.clone().filter_map(with_result).collect();
    if results.len() >= RESULTS_NEEDED {
        return least(|scale| {
            let surprise = results.iter().map(|&(score, result)| {
                let chance = win_chance(score, scale).clamp(SUREST, 1.0 - SUREST);
                -result * chance.ln() - (1.0 - result) * (1.0 - chance).ln()
            });
            surprise.sum()
        });
    }
    let Some(first) = first else {
        return COMMON_SCALE;
    };
    least(|scale| {
        let difference = |scores: &Vec<Scored>| {
            win_chance(scores[place].score, scale) - win_chance(scores[0].score, first)
        };
        scores
            .clone()
            .map(|scores| difference(scores).powi(2))
            .sum()
    })
}

/// Where a function of the scale with one valley is lowest (golden section, on logarithms).
fn least(value: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_895;
    let [mut low, mut high] = SCALES.map(f64::ln);
    for _ in 0..40 {
        let width = SECTION * (high - low);
        if value((high - width).exp()) < value((low + width).exp()) {
            high = low + width;
        } else {
            low = high - width;
        }
    }
    ((low + high) / 2.0).exp()
}

/// The weighted mean of the chances, in the first mentor's centipawns.
fn averaged(scores: &[Scored], shares: &[Share]) -> f64 {
    let weights: f64 = shares.iter().map(|share| share.weight).sum();
    let chances = scores.iter().zip(shares);
    let chances =
        chances.map(|(scored, share)| share.weight * win_chance(scored.score, share.scale));
    let mean = (chances.sum::<f64>() / weights).clamp(SUREST, 1.0 - SUREST);
    shares[0].scale * (mean / (1.0 - mean)).ln()
}

/// The chance of winning that a score stands for.
pub fn win_chance(score: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-score / scale).exp())
}

fn header(shares: &[Share]) -> String {
    let each = shares.iter().map(|share| {
        let Share {
            mentor,
            scale,
            weight,
        } = share;
        format!("{mentor} (scale {scale:.1}, weight {weight})")
    });
    let each: Vec<_> = each.collect();
    format!("# mentors: {}\n", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_found_again() {
        let valley = least(|scale| (scale - 137.0).powi(2));
        assert!((valley - 137.0).abs() < 0.01, "{valley}");
    }

    #[test]
    fn equal_chances_stay_what_they_are() {
        let share = |scale| Share {
            mentor: String::new(),
            scale,
            weight: 1.0,
        };
        let scored = |score| Scored {
            score,
            result: None,
        };
        let mean = averaged(
            &[scored(100.0), scored(250.0)],
            &[share(100.0), share(250.0)],
        );
        assert!((mean - 100.0).abs() < 1e-6, "{mean}");
    }
}
