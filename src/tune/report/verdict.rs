//! What came out, in a sentence or two at the top of the page, and Elo with its error.

use super::cards;
use super::evolution::EvolutionRun;
use crate::terminal::escaped;
use crate::tune::fitness::FitnessSettings;
use crate::tune::preset::{Preset, Reference};
use crate::tune::run::{ClosingScore, GenerationFigures};

/// A figure this much worse than the paper's, as a share of it, still reproduces it.
const TOLERANCE: f64 = 0.01;
/// A value this near the paper's, as a share of it, agrees with it.
const AGREEMENT: f64 = 0.1;

/// The sentences about an evolution run.
pub fn sentences(run: &EvolutionRun) -> String {
    let preset = &run.preset;
    let mut text = so_far(run.last().generation, preset.run.generations);
    text += &match (run.is_measured(), preset.method.selects_by_games()) {
        (true, _) => measured(run),
        (false, true) => played(run),
        (false, false) => "the estimate moves towards the winner of each pair of neighbours; \
                           the closing match measures it."
            .to_owned(),
    };
    let mut source = String::new();
    if let Some(reference) = preset.reference() {
        text += &beside_paper(run, reference);
        source = format!("<p>The paper, {}.</p>", escaped(&reference.source));
    }
    let text = escaped(&capitalised(&text));
    format!("<p class=\"verdict\">{text}</p>{source}")
}

/// How far a run is that has not reached its last generation.
pub fn so_far(generation: u64, last: u64) -> String {
    match generation < last {
        true => format!("So far, at generation {generation} of {last}: "),
        false => String::new(),
    }
}

fn measured(run: &EvolutionRun) -> String {
    let (fitness, last) = (&run.preset.fitness, run.last());
    let unseen = last.validation.map(|value| {
        let value = fitness.format_validation(value);
        match fitness.validates_in_same_unit() {
            true => format!(", {value} on unseen games"),
            false => format!(", {value} of the moves found on unseen games"),
        }
    });
    let best = run.shown(last.record);
    let unseen = unseen.unwrap_or_default();
    format!(
        "{}: {best} in training{unseen}.",
        capitalised(fitness.measure())
    )
}

/// Games have no measure that rises: the values are the result.
fn played(run: &EvolutionRun) -> String {
    let generations = run.last().generation;
    let values = run.genes.iter().zip(&run.last().genes);
    let mut values: Vec<String> = values
        .map(|(name, gene)| format!("{name} {:.2}", gene.mean))
        .collect();
    let more = values.len() > 6;
    values.truncate(6);
    let more = if more { ", …" } else { "" };
    match values.is_empty() {
        true => format!("{generations} generations of games."),
        false => format!(
            "After {generations} generations of games the population has {}{more}.",
            values.join(", ")
        ),
    }
}

fn beside_paper(run: &EvolutionRun, reference: &Reference) -> String {
    let preset = &run.preset;
    let mut text = String::new();
    if let Some((figure, own)) = comparable(reference, run.last()) {
        let fitness = &preset.fitness;
        let unseen = reference.validation.map_or(String::new(), |figure| {
            format!(", {} on unseen games", fitness.format_reference(figure))
        });
        let figure_text = fitness.format_reference(figure);
        let outcome = outcome(fitness, fitness.fitness_of_reference(figure), own);
        text += &format!(" The paper reports {figure_text}{unseen}: {outcome}");
    }
    text + &agreement(run, preset)
}

/// The paper's last figure and the fitness here that it speaks of.
fn comparable(reference: &Reference, last: &GenerationFigures) -> Option<(f64, f64)> {
    let best = reference.best_last.map(|figure| (figure, last.record));
    best.or_else(|| reference.mean_last.map(|figure| (figure, last.mean)))
}

/// Whether the run comes up to the paper.
fn outcome(fitness: &FitnessSettings, paper: f64, own: f64) -> String {
    let short = paper - own;
    if short <= TOLERANCE * paper.abs() {
        return "reproduced.".to_owned();
    }
    match fitness.is_error() {
        // The labels are those of another mentor.
        true => format!(
            "{} more here, from another mentor's labels, so the two hardly compare.",
            fitness.format(-short)
        ),
        false => format!("not reproduced, {:.1} points less here.", 100.0 * short),
    }
}

/// How many values come near those that the paper prints.
fn agreement(run: &EvolutionRun, preset: &Preset) -> String {
    let printed = preset.paper_values();
    let values = run.genes.iter().zip(&run.last().genes);
    let pairs = values.filter_map(|(name, gene)| Some((gene.mean, *printed.get(name)?)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    if pairs.is_empty() {
        return String::new();
    }
    let agrees = |(own, paper): &&(f64, f64)| (own - paper).abs() <= AGREEMENT * paper.abs();
    format!(
        " {} of {} values lie within {:.0}% of the paper's.",
        pairs.iter().filter(agrees).count(),
        pairs.len(),
        100.0 * AGREEMENT
    )
}

/// A card for each closing match, once they are played.
pub fn closing(scores: &[ClosingScore]) -> String {
    if scores.is_empty() {
        return String::new();
    }
    let card = |score: &ClosingScore| {
        let counts = format!("+{} ={} −{}", score.wins, score.draws, score.losses);
        (
            elo(&score.elo),
            format!("against {} ({counts})", score.opponent),
        )
    };
    let figures: Vec<_> = scores.iter().map(card).collect();
    format!("<h2>Closing match</h2>{}", cards(&figures))
}

/// An estimate in fewer digits.
pub fn elo(text: &str) -> String {
    let rounded = |text: &str| text.trim().parse::<f64>().ok();
    let (value, error) = match text.split_once(" +/- ") {
        Some((value, error)) => (rounded(value), rounded(error)),
        None => (text.split(' ').next().and_then(rounded), None),
    };
    match (value, error) {
        (Some(value), Some(error)) => format!("{} ± {error:.0} Elo", signed(value)),
        (Some(value), None) => format!("{} Elo", signed(value)),
        (None, _) if text.contains("no points lost") => "all points won".to_owned(),
        (None, _) if text.contains("no points won") => "no point won".to_owned(),
        (None, _) => text.to_owned(),
    }
}

/// A whole number with its sign; 0 has none.
pub fn signed(value: f64) -> String {
    match value.round() {
        0.0 => "0".to_owned(),
        value => format!("{value:+.0}"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_is_short_and_says_when_it_is_unbounded() {
        assert_eq!(elo("190.85 +/- 45.95"), "+191 ± 46 Elo");
        assert_eq!(elo("-7.2 (too few games for an error)"), "-7 Elo");
        assert_eq!(elo("unbounded (no points won)"), "no point won");
        assert_eq!(elo("-0.20 +/- 45.95"), "0 ± 46 Elo");
    }

    #[test]
    fn a_paper_is_reproduced_or_the_distance_is_named() {
        let moves = Preset::load("vazquez-2013").unwrap().fitness;
        assert_eq!(
            outcome(&moves, 0.53, 0.27),
            "not reproduced, 26.0 points less here."
        );
        assert_eq!(outcome(&moves, 0.53, 0.526), "reproduced.");
        let mentor = Preset::load("david-tabibi-2011").unwrap().fitness;
        assert_eq!(
            outcome(&mentor, -28.0, -74.0),
            "46.00 cp more here, from another mentor's labels, so the two hardly compare."
        );
        assert_eq!(outcome(&mentor, -28.0, -20.0), "reproduced.");
    }

    #[test]
    fn an_unfinished_run_says_how_far_it_is() {
        assert_eq!(so_far(3, 200), "So far, at generation 3 of 200: ");
        assert_eq!(so_far(200, 200), "");
    }
}
