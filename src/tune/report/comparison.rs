//! Several runs on one page: the mean of each by generation, coloured by variant, and a table
//! of each variant with its median run marked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::chart::{Chart, escaped};
use super::{Told, page};
use crate::tune::run::{Folder, RunError, Summary};

/// Colours the style sheet has.
const COLOURS: usize = 6;

/// Draws the page of several runs into `out`. Runs in the same parent folder are one variant.
pub fn write_comparison(out: &Path, folders: &[PathBuf]) -> Result<(), RunError> {
    let mut variants: Vec<(String, Vec<Told>)> = Vec::new();
    for path in folders {
        let told = Told::read(&Folder::open(path)?)?;
        let name = variant_name(path);
        match variants.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push(told),
            None => variants.push((name, vec![told])),
        }
    }
    let mut series = Vec::new();
    let mut tables = String::new();
    for (place, (name, runs)) in variants.iter().enumerate() {
        let class = format!("c{}", 1 + place % COLOURS);
        for (number, told) in runs.iter().enumerate() {
            let label = if number == 0 { name.as_str() } else { "" };
            series.push(told.curve(label, &class, |row| Some(row.mean)));
        }
        tables.push_str(&table(name, runs));
    }
    let first = variants.iter().find_map(|(_, runs)| runs.first());
    let chart = Chart {
        width: 1000.0,
        height: 420.0,
        series: &series,
        format: &|value| first.map_or_else(String::new, |told| told.shown(value)),
        labelled: true,
    };
    let body = format!(
        "<h1>{} runs</h1><h2>Mean fitness by generation</h2><figure>{}</figure>{tables}",
        folders.len(),
        chart.svg()
    );
    Folder::create(out)?.write("report.html", &page("Runs", &body))
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

fn table(name: &str, runs: &[Told]) -> String {
    let mut sorted: Vec<_> = runs
        .iter()
        .filter_map(|told| Some((told, Summary::of(told.preset.run.seed, &told.rows)?)))
        .collect();
    sorted.sort_by(|a, b| a.1.mean_last.total_cmp(&b.1.mean_last));
    let median = sorted.len().saturating_sub(1) / 2;
    let mut text = format!(
        "<h2>{}</h2><div class=\"wide\"><table><tr><th>seed</th><th>best first</th><th>best last</th><th>mean first</th><th>mean last</th><th>validation</th><th>seconds</th></tr>",
        escaped(name)
    );
    for (place, (told, run)) in sorted.iter().enumerate() {
        let class = if place == median {
            " class=\"median\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td></tr>",
            run.seed,
            told.shown(run.best_first),
            told.shown(run.best_last),
            told.shown(run.mean_first),
            told.shown(run.mean_last),
            run.validation.map_or("-".to_owned(), |value| {
                told.preset.fitness.format_validation(value)
            }),
            run.seconds
        );
    }
    text.push_str("</table></div>");
    text
}
