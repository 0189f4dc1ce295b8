//! Several runs on one page: the mean of each by generation, coloured by variant, and a table
//! of each variant with its median run marked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::chart::Chart;
use super::{EvolutionRun, FILE, page};
use crate::terminal::escaped;
use crate::tune::experiment::Experiment;
use crate::tune::run::{RunError, RunFolder, RunSummary};

/// Colours the style sheet has.
const COLOURS: usize = 6;

/// Draws the page of several runs into `out`. Runs in the same parent folder are one variant.
pub fn write_comparison(out: &Path, folders: &[PathBuf]) -> Result<(), RunError> {
    let mut variants: Vec<(String, Vec<EvolutionRun>)> = Vec::new();
    for path in folders {
        let folder = RunFolder::open(path)?;
        let Experiment::Evolution(preset) = folder.experiment()? else {
            return Err(folder.unusable(
                "config.toml",
                "a training run; only evolution runs are compared",
            ));
        };
        let run = EvolutionRun::read(&folder, *preset)?;
        let name = variant_name(path);
        match variants.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(run),
            None => variants.push((name, vec![run])),
        }
    }
    let mut series = Vec::new();
    let mut tables = String::new();
    for (place, (name, runs)) in variants.iter().enumerate() {
        let class = format!("c{}", 1 + place % COLOURS);
        for (number, run) in runs.iter().enumerate() {
            let label = if number == 0 { name.as_str() } else { "" };
            series.push(run.curve(label, &class, |row| Some(row.mean)));
        }
        tables.push_str(&table(name, runs));
    }
    let first = variants.iter().find_map(|(_, runs)| runs.first());
    let chart = Chart {
        width: 1000.0,
        height: 420.0,
        series: &series,
        format: &|value| first.map_or_else(String::new, |run| run.shown(value)),
        labelled: true,
        across: "generation",
    };
    let body = format!(
        "<h1>{} runs</h1><h2>Mean fitness by generation</h2><figure>{}</figure>{tables}",
        folders.len(),
        chart.svg()
    );
    RunFolder::create(out)?.write(FILE, page("Runs", &body))
}

/// The folder that holds a run's folder, or the run's own when it stands alone.
fn variant_name(path: &Path) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let own = name(path);
    match path.parent() {
        Some(parent) if own.starts_with("seed-") => name(parent),
        _ => own,
    }
}

fn table(name: &str, runs: &[EvolutionRun]) -> String {
    let mut sorted: Vec<_> = runs
        .iter()
        .filter_map(|run| {
            let seed = run.preset.run.seed;
            Some((run, RunSummary::of_generations(seed, &run.rows)?))
        })
        .collect();
    sorted.sort_by(|a, b| a.1.mean_last.total_cmp(&b.1.mean_last));
    let median = sorted.len().saturating_sub(1) / 2;
    let mut text = format!(
        "<h2>{}</h2><div class=\"wide\"><table><tr><th>seed</th><th>best first</th><th>best last</th><th>mean first</th><th>mean last</th><th>validation</th><th>seconds</th></tr>",
        escaped(name)
    );
    for (place, (run, summary)) in sorted.iter().enumerate() {
        let class = if place == median {
            " class=\"median\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td></tr>",
            summary.seed,
            run.shown(summary.best_first),
            run.shown(summary.best_last),
            run.shown(summary.mean_first),
            run.shown(summary.mean_last),
            summary.validation.map_or("-".to_owned(), |value| {
                run.preset.fitness.format_validation(value)
            }),
            summary.seconds
        );
    }
    text.push_str("</table></div>");
    text
}
