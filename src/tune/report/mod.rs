//! What came of a run, as one page that needs nothing else: figures, curves, weights.
//!
//! Everything is read back from the run's folder, so the page can be drawn again at any time
//! (`finch report`), also of runs that were broken off.

mod chart;
mod comparison;

use std::fmt::Write as _;

use super::fitness::FitnessSettings;
use super::preset::{Preset, Reference};
use super::run::{Folder, Journal, Row, RunError};
use chart::{Chart, Series, escaped};

pub use comparison::write_comparison;

/// A run as its folder tells it.
struct Told {
    preset: Preset,
    genes: Vec<String>,
    rows: Vec<Row>,
}

impl Told {
    fn read(folder: &Folder) -> Result<Told, RunError> {
        let preset = folder.preset()?;
        let (genes, rows) = Journal::read(folder)?;
        if rows.is_empty() {
            return Err(folder.unusable("journal.csv", "no generation yet"));
        }
        Ok(Told {
            preset,
            genes,
            rows,
        })
    }

    fn last(&self) -> &Row {
        &self.rows[self.rows.len() - 1]
    }

    /// A fitness as people read it.
    fn shown(&self, value: f64) -> String {
        self.preset.fitness.format(value)
    }

    fn curve(&self, label: &str, class: &str, value: impl Fn(&Row) -> Option<f64>) -> Series {
        let points = self.rows.iter();
        Series {
            label: label.to_owned(),
            class: class.to_owned(),
            points: points
                .filter_map(|row| Some((row.generation as f64, value(row)?)))
                .collect(),
            band: Vec::new(),
        }
    }
}

/// Draws a folder's page.
pub fn write(folder: &Folder) -> Result<(), RunError> {
    let told = Told::read(folder)?;
    let mut body = heading(&told);
    body.push_str(&fitness_section(&told));
    body.push_str(&weights_section(&told));
    let config = told.preset.to_toml().unwrap_or_default();
    let _ = write!(
        body,
        "<details><summary>Settings</summary><pre>{}</pre></details>",
        escaped(&config)
    );
    folder.write("report.html", &page(&told.preset.name, &body))
}

/// A whole page around its contents.
fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{}</style></head><body>{body}</body></html>\n",
        escaped(title),
        include_str!("style.css")
    )
}

fn heading(told: &Told) -> String {
    let (preset, last) = (&told.preset, told.last());
    let mut text = format!("<h1>{}</h1>", escaped(&preset.name));
    let _ = write!(
        text,
        "<p>Method {}, seed {}, {}.</p><div class=\"cards\">",
        escaped(preset.method.name()),
        preset.run.seed,
        match preset.run.started.as_str() {
            "" => "undated",
            date => date,
        }
    );
    let mut card = |value: String, name: &str| {
        let _ = write!(
            text,
            "<div class=\"card\"><b>{value}</b><span>{name}</span></div>"
        );
    };
    card(told.shown(last.record), "best, training");
    if let Some(value) = last.validation {
        card(
            told.preset.fitness.format_validation(value),
            "best, validation",
        );
    }
    card(told.shown(last.mean), "mean of the population");
    card(
        format!("{} of {}", last.generation, preset.run.generations),
        "generations",
    );
    card(format!("{:.1} s", last.seconds), "time");
    text.push_str("</div>");
    if let Some(reference) = preset.reference() {
        text.push_str(&reference_line(reference, &preset.fitness));
    }
    text
}

fn reference_line(reference: &Reference, fitness: &FitnessSettings) -> String {
    let mut figures = Vec::new();
    let mut figure = |name: &str, value: Option<f64>| {
        figures.extend(value.map(|value| format!("{name} {}", fitness.format_reference(value))));
    };
    figure("best at first", reference.best_first);
    figure("best at last", reference.best_last);
    figure("mean at first", reference.mean_first);
    figure("mean at last", reference.mean_last);
    figure("validation", reference.validation);
    figures.extend(reference.seconds.map(|seconds| format!("{seconds:.0} s")));
    if figures.is_empty() {
        // Its weights stand in the table below.
        return format!("<p>The paper: {}.</p>", escaped(&reference.source));
    }
    format!(
        "<p>The paper reports: {} ({}).</p>",
        figures.join(", "),
        escaped(&reference.source)
    )
}

fn fitness_section(told: &Told) -> String {
    let mut series = vec![
        told.curve("best", "c1", |row| Some(row.record)),
        told.curve("mean", "c2", |row| Some(row.mean)),
    ];
    if told.preset.fitness.validates_in_same_unit() && told.last().validation.is_some() {
        series.push(told.curve("validation", "c3", |row| row.validation));
    }
    let chart = Chart {
        width: 1000.0,
        height: 380.0,
        series: &series,
        format: &|value| told.shown(value),
        labelled: true,
    };
    let words = match (
        told.preset.method.selects_by_games(),
        told.last().validation,
    ) {
        (true, _) => {
            "Shares of the points in games of the generation: what counts is who replaces whom, not a number that rises."
        }
        (false, Some(_)) => {
            "The best individual so far, the mean of the population, and the best on positions from games it never saw."
        }
        (false, None) => "The best individual so far and the mean of the population.",
    };
    format!(
        "<h2>Fitness</h2><p>{words}</p><figure>{}</figure>",
        chart.svg()
    )
}

/// Averages and deviations of every weight by generation, then the final values.
fn weights_section(told: &Told) -> String {
    if told.genes.is_empty() {
        return String::new();
    }
    let mut text = "<h2>Weights by generation</h2><p>Average of the population in the unit of the preset, with one standard deviation to either side.</p><div class=\"small\">".to_owned();
    for (place, name) in told.genes.iter().enumerate() {
        let mut series = [told.curve("", "c1", |row| Some(row.genes.get(place)?.mean))];
        series[0].band = told
            .rows
            .iter()
            .filter_map(|row| Some(row.genes.get(place)?.deviation))
            .collect();
        let chart = Chart {
            width: 260.0,
            height: 120.0,
            series: &series,
            format: &|value| format!("{value}"),
            labelled: false,
        };
        let last = told.last().genes.get(place).map_or(0.0, |gene| gene.mean);
        let _ = write!(
            text,
            "<figure><figcaption>{}<span>{last:.1}</span></figcaption>{}</figure>",
            escaped(name),
            chart.svg()
        );
    }
    text.push_str("</div>");
    text.push_str(&weights_table(told));
    text
}

fn weights_table(told: &Told) -> String {
    let reference = told.preset.reference();
    let printed = reference.map(|reference| &reference.weights);
    let printed = printed.filter(|weights| !weights.is_empty());
    let mut text = "<h2>Final weights</h2><div class=\"wide\"><table><tr><th>weight</th><th>best</th><th>mean</th><th>deviation</th><th>first mean</th><th>first deviation</th>".to_owned();
    if printed.is_some() {
        text.push_str("<th>paper</th>");
    }
    text.push_str("</tr>");
    for (place, name) in told.genes.iter().enumerate() {
        let figures = |row: &Row| row.genes.get(place).copied();
        let (Some(first), Some(last)) = (figures(&told.rows[0]), figures(told.last())) else {
            continue;
        };
        let _ = write!(
            text,
            "<tr><td>{}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td>",
            escaped(name),
            last.best,
            last.mean,
            last.deviation,
            first.mean,
            first.deviation
        );
        if let Some(printed) = printed {
            let value = printed
                .get(name)
                .map_or(String::new(), |value| value.to_string());
            let _ = write!(text, "<td>{value}</td>");
        }
        text.push_str("</tr>");
    }
    text.push_str("</table></div>");
    text
}
