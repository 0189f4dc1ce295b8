//! Labels of several mentors merged into one.
//!
//! Engines do not agree on what a centipawn is, but scores stand for chances of winning, by each
//! mentor's scale. Chances are averaged and written in the first mentor's centipawns.
//!
//! A scale that is neither given nor named by the file is fitted: to the results of the games
//! where enough labels carry them, else to the chances that the first mentor gives, whose own
//! scale is then [`DEFAULT_SCALE`].

use std::collections::{HashMap, HashSet};

use super::label::{DEFAULT_SCALE, Label, LabelHeader};
use super::labels::LabelReader;
use super::scale::{SUREST, fit_scale, fit_scale_to_chances, win_chance};
use super::{DataError, Source};

/// One mentor's part in a merger.
#[derive(Clone, Debug, PartialEq)]
pub struct MentorShare {
    pub mentor: String,
    pub scale: f64,
    pub weight: f64,
}

impl MentorShare {
    /// The mentor without limits and options.
    pub fn name(&self) -> &str {
        self.mentor.split(';').next().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub struct Merged {
    pub shares: Vec<MentorShare>,
    pub header: LabelHeader,
    /// In the order of the first file.
    pub labels: Vec<Label>,
    /// Positions that not all mentors have scored.
    pub left_out: usize,
    /// Lines that are no labels.
    pub unreadable: usize,
}

struct LabelledFile {
    header: LabelHeader,
    labels: Vec<Label>,
    unreadable: usize,
}

/// A position that all mentors have scored: the first one's label, and everyone's score.
struct Common {
    label: Label,
    scores: Vec<f64>,
}

/// Merges files of labels; `given` has a scale and a weight for each, where a scale of 0 is not
/// given.
pub fn merge(sources: &[Source], given: &[(f64, f64)]) -> Result<Merged, DataError> {
    let files = sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let positions = files.iter().flat_map(|file| &file.labels);
    let all: HashSet<u64> = positions.map(|label| label.position.key()).collect();
    let mut common = common_labels(&files);
    if common.is_empty() {
        let names: Vec<_> = sources.iter().map(Source::name).collect();
        return Err(DataError::NoPositions(format!(
            "{} have none in common",
            names.join(", ")
        )));
    }
    let mut shares: Vec<MentorShare> = Vec::new();
    for (place, (file, &(scale, weight))) in files.iter().zip(given).enumerate() {
        let known = Some(scale)
            .filter(|scale| *scale > 0.0)
            .or(file.header.scale);
        let first = shares.first().map(|share| share.scale);
        shares.push(MentorShare {
            mentor: file.header.mentor.clone(),
            scale: known.unwrap_or_else(|| fitted_scale(&common, place, first)),
            weight,
        });
    }
    for one in &mut common {
        one.label.score = average(&one.scores, &shares).round() as i32;
    }
    Ok(Merged {
        header: header(&shares),
        shares,
        unreadable: files.iter().map(|file| file.unreadable).sum(),
        left_out: all.len().saturating_sub(common.len()),
        labels: common.into_iter().map(|one| one.label).collect(),
    })
}

fn read(source: &Source) -> Result<LabelledFile, DataError> {
    let mut reader = LabelReader::open(source)?;
    let mut header = reader.header().clone();
    if header.mentor.is_empty() {
        header.mentor = source.name().into_owned();
    }
    let (mut labels, mut unreadable) = (Vec::new(), 0);
    for label in reader.by_ref() {
        match label {
            Ok(label) => labels.push(label),
            Err(DataError::BadLabel { .. }) => unreadable += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(LabelledFile {
        header,
        labels,
        unreadable,
    })
}

fn common_labels(files: &[LabelledFile]) -> Vec<Common> {
    let Some((first, others)) = files.split_first() else {
        return Vec::new();
    };
    let score = |label: &Label| (label.position.key(), f64::from(label.score));
    let maps: Vec<HashMap<_, _>> = others
        .iter()
        .map(|file| file.labels.iter().map(score).collect())
        .collect();
    let mut seen = HashSet::new();
    let common = first.labels.iter().filter_map(|label| {
        let (key, first) = score(label);
        let others = maps.iter().map(|map| map.get(&key).copied());
        let scores = std::iter::once(Some(first)).chain(others);
        Some(Common {
            scores: scores.collect::<Option<_>>()?,
            label: seen.insert(key).then(|| label.clone())?,
        })
    });
    common.collect()
}

/// The scale of one mentor: from results, or from its agreement with the first.
fn fitted_scale(common: &[Common], place: usize, first: Option<f64>) -> f64 {
    let with_result = |one: &Common| Some((one.scores[place], one.label.points()?));
    let results: Vec<_> = common.iter().filter_map(with_result).collect();
    fit_scale(&results).unwrap_or_else(|| match first {
        None => DEFAULT_SCALE,
        Some(first) => {
            let chance = |one: &Common| (one.scores[place], win_chance(one.scores[0], first));
            let chances: Vec<_> = common.iter().map(chance).collect();
            fit_scale_to_chances(&chances)
        }
    })
}

/// The weighted mean of the chances, in the first mentor's centipawns.
fn average(scores: &[f64], shares: &[MentorShare]) -> f64 {
    let weights: f64 = shares.iter().map(|share| share.weight).sum();
    let chances = scores.iter().zip(shares);
    let chances = chances.map(|(score, share)| share.weight * win_chance(*score, share.scale));
    let mean = (chances.sum::<f64>() / weights).clamp(SUREST, 1.0 - SUREST);
    shares[0].scale * (mean / (1.0 - mean)).ln()
}

fn header(shares: &[MentorShare]) -> LabelHeader {
    let mentor = match shares {
        // One file is copied, perhaps to another format.
        [share] => share.mentor.clone(),
        _ => {
            let each = shares.iter().map(|share| {
                let MentorShare { scale, weight, .. } = share;
                format!("{} (scale {scale:.1}, weight {weight})", share.name())
            });
            each.collect::<Vec<_>>().join(", ")
        }
    };
    LabelHeader {
        mentor,
        scale: shares.first().map(|share| share.scale),
        origin: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_chances_stay_what_they_are() {
        let share = |scale| MentorShare {
            mentor: String::new(),
            scale,
            weight: 1.0,
        };
        let mean = average(&[100.0, 250.0], &[share(100.0), share(250.0)]);
        assert!((mean - 100.0).abs() < 1e-6, "{mean}");
    }
}
