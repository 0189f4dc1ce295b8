//! Several runs side by side, in the form of the tables in vazquez-2013: sorted by the last
//! mean, the median marked, with deviation and mean time; the paper's own figures below. Where
//! the paper prints weights, and where individuals only play each other, those of each run follow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::generation::{GenerationFigures, generations};
use super::{RunJournal, RunOutcome};
use crate::tune::fitness::FitnessSettings;
use crate::tune::preset::{Preset, Reference};
use crate::tune::statistics::mean_and_deviation;

/// One run in a line.
#[derive(Clone, Debug)]
pub struct RunSummary {
    pub seed: u64,
    pub best_first: f64,
    pub best_last: f64,
    pub mean_first: f64,
    pub mean_last: f64,
    pub validation: Option<f64>,
    pub seconds: f64,
    /// Each gene of the last population: its name, mean and standard deviation.
    pub genes: Vec<(String, f64, f64)>,
}

impl RunSummary {
    /// The summary of an evolution run's journal.
    pub fn of(seed: u64, journal: &RunJournal) -> Option<RunSummary> {
        let (genes, rows) = generations(journal);
        RunSummary::of_generations(seed, &genes, &rows)
    }

    pub fn of_generations(
        seed: u64,
        genes: &[String],
        rows: &[GenerationFigures],
    ) -> Option<RunSummary> {
        let (first, last) = (rows.first()?, rows.last()?);
        let genes = genes.iter().zip(&last.genes);
        Some(RunSummary {
            seed,
            best_first: first.best,
            best_last: last.record,
            mean_first: first.mean,
            mean_last: last.mean,
            validation: last.validation,
            seconds: last.seconds,
            genes: genes
                .map(|(name, gene)| (name.clone(), gene.mean, gene.deviation))
                .collect(),
        })
    }
}

const HEADER: &str =
    "   seed   best first    best last   mean first    mean last   validation     time";

/// The table as text.
pub fn table(
    runs: &[RunSummary],
    reference: Option<&Reference>,
    fitness: &FitnessSettings,
) -> String {
    let printed = reference.filter(|reference| !reference.weights.is_empty());
    // Games between individuals give each generation half of the points: the weights say more.
    let (mut text, shows_weights) = match fitness.scores_individuals() {
        true => (shares(runs, reference, fitness), printed.is_some()),
        false => (String::new(), true),
    };
    if shows_weights {
        text.push_str(&weights_by_run(runs, printed));
    }
    text
}

fn shares(runs: &[RunSummary], reference: Option<&Reference>, fitness: &FitnessSettings) -> String {
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| a.mean_last.total_cmp(&b.mean_last));
    let median = sorted.len().saturating_sub(1) / 2;
    let mut text = format!("{HEADER}\n");
    for (place, run) in sorted.iter().enumerate() {
        let mark = if place == median { "  <- median" } else { "" };
        let _ = writeln!(text, "{}{mark}", line(run, fitness));
    }
    let of = |value: fn(&RunSummary) -> f64| runs.iter().map(value).collect::<Vec<_>>();
    let (_, deviation) = mean_and_deviation(&of(|run| run.mean_last));
    let (seconds, _) = mean_and_deviation(&of(|run| run.seconds));
    let _ = writeln!(
        text,
        "standard deviation of the last mean: {}; mean time {}",
        spread(deviation, fitness),
        time(seconds)
    );
    if let Some(reference) = reference {
        text.push_str(&reference_line(reference, fitness));
    }
    text
}

/// The last population's weights of every run, their mean and deviation between the runs, and the
/// paper's if it prints them.
fn weights_by_run(runs: &[RunSummary], printed: Option<&Reference>) -> String {
    let Some(first) = runs.first() else {
        return String::new();
    };
    let names = || first.genes.iter().map(|(name, ..)| name);
    let row = |head: &str, cells: Vec<String>| {
        let cells = cells.iter().zip(names()).map(|(cell, name)| {
            let width = name.chars().count().max(16);
            format!(" {cell:>width$}")
        });
        format!("{head:>12}{}\n", cells.collect::<String>())
    };
    let figure = |mean: f64, deviation: f64| format!("{mean:.2} ± {deviation:.2}");
    let mut text = row("seed", names().cloned().collect());
    for run in runs {
        let cells = run
            .genes
            .iter()
            .map(|(_, mean, deviation)| figure(*mean, *deviation));
        text.push_str(&row(&run.seed.to_string(), cells.collect()));
    }
    let between = (0..first.genes.len()).map(|place| {
        let means = runs.iter().filter_map(|run| run.genes.get(place));
        let means: Vec<f64> = means.map(|(_, mean, _)| *mean).collect();
        let (mean, deviation) = mean_and_deviation(&means);
        figure(mean, deviation)
    });
    text.push_str(&row("between runs", between.collect()));
    let Some(reference) = printed else {
        return text;
    };
    let printed = names().map(|name| {
        let mean = reference.weights.get(name).map(|mean| format!("{mean:.2}"));
        let deviation = reference
            .deviations
            .get(name)
            .map(|one| format!(" ± {one:.2}"));
        mean.unwrap_or_default() + &deviation.unwrap_or_default()
    });
    text.push_str(&row("paper", printed.collect()));
    text
}

/// The figures of a run beside those of the paper it repeats; for a complete run also the averages
/// of its weights. Empty if the preset has no reference.
pub fn figures_beside_paper(preset: &Preset, outcome: &RunOutcome) -> String {
    let (genes, rows) = generations(&outcome.journal);
    let summary = RunSummary::of_generations(preset.run.seed, &genes, &rows);
    let (Some(summary), Some(reference)) = (summary, preset.reference()) else {
        return String::new();
    };
    // Games between individuals give each generation half of the points.
    let figures = match preset.fitness.scores_individuals() {
        true => beside(&summary, reference, &preset.fitness),
        false => String::new(),
    };
    match outcome.interrupted {
        true => figures,
        false => figures + &averages(&genes, &rows, &preset.paper_values(), reference),
    }
}

fn beside(run: &RunSummary, reference: &Reference, fitness: &FitnessSettings) -> String {
    format!(
        "{HEADER}\n{}\n{}",
        line(run, fitness),
        reference_line(reference, fitness)
    )
}

fn line(run: &RunSummary, fitness: &FitnessSettings) -> String {
    let shown = |value: f64| fitness.format(value);
    format!(
        "{:>7} {:>12} {:>12} {:>12} {:>12} {:>12} {:>8}",
        run.seed,
        shown(run.best_first),
        shown(run.best_last),
        shown(run.mean_first),
        shown(run.mean_last),
        run.validation
            .map_or("-".to_owned(), |value| fitness.format_validation(value)),
        time(run.seconds),
    )
}

fn reference_line(reference: &Reference, fitness: &FitnessSettings) -> String {
    let shown =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| fitness.format_reference(value));
    let mut text = format!(
        "{:>7} {:>12} {:>12} {:>12} {:>12} {:>12} {:>8}  {}\n",
        "paper",
        shown(reference.best_first),
        shown(reference.best_last),
        shown(reference.mean_first),
        shown(reference.mean_last),
        shown(reference.validation),
        reference.seconds.map_or("-".to_owned(), time),
        reference.source,
    );
    if let Some(deviation) = reference.deviation {
        let _ = writeln!(
            text,
            "        standard deviation in the paper: {}",
            fitness.format_reference(deviation)
        );
    }
    text
}

/// Means and deviations of the weights in the first and the last population beside the paper's;
/// empty if the paper prints no weights.
fn averages(
    names: &[String],
    rows: &[GenerationFigures],
    printed: &BTreeMap<String, f64>,
    reference: &Reference,
) -> String {
    let printed = Some(printed).filter(|values| !values.is_empty());
    let (Some(printed), Some(first), Some(last)) = (printed, rows.first(), rows.last()) else {
        return String::new();
    };
    let figure = |mean: f64, deviation: f64| format!("{mean:.2} ± {deviation:.2}");
    let widths = names.iter().map(|name| name.chars().count());
    let width = widths.max().unwrap_or(0);
    let mut text = format!(
        "{:>width$} {:>18} {:>18} {:>18}\n",
        "", "first", "last", "paper"
    );
    for (place, name) in names.iter().enumerate() {
        let own = |row: &GenerationFigures| {
            let gene = row.genes.get(place);
            gene.map_or_else(String::new, |gene| figure(gene.mean, gene.deviation))
        };
        let paper = match (printed.get(name), reference.deviations.get(name)) {
            (Some(mean), Some(deviation)) => figure(*mean, *deviation),
            (Some(mean), None) => format!("{mean:.2}"),
            (None, _) => String::new(),
        };
        let _ = writeln!(
            text,
            "{name:>width$} {:>18} {:>18} {paper:>18}",
            own(first),
            own(last)
        );
    }
    text
}

/// A deviation has no sign to turn, whatever that of the fitness.
fn spread(deviation: f64, fitness: &FitnessSettings) -> String {
    fitness.format(deviation).trim_start_matches('-').to_owned()
}

fn time(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}
