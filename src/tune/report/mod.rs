//! The result of a run as one page that needs no other file: figures, curves, weights.
//!
//! Everything is read back from the run's folder, so the page can be drawn again at any time
//! (`finch report`), also of a run that is not complete.

mod chart;
mod comparison;
mod evolve;
mod training;

use std::fmt::Write as _;

use super::evolve::EvolveSettings;
use super::experiment::Experiment;
use super::fitness::FitnessSettings;
use super::preset::{Preset, Reference};
use super::run::{GenerationFigures, RunError, RunFolder, RunJournal, generations};
use crate::terminal::escaped;
use chart::{Chart, Series};

pub use comparison::write_comparison;

/// The page's file in the folder of a run.
pub const FILE: &str = "report.html";

/// An evolution run as read from its folder.
struct EvolutionRun {
    preset: Preset,
    genes: Vec<String>,
    rows: Vec<GenerationFigures>,
}

impl EvolutionRun {
    fn read(folder: &RunFolder, preset: Preset) -> Result<EvolutionRun, RunError> {
        let (genes, rows) = generations(&RunJournal::read(folder)?);
        if rows.is_empty() {
            return Err(folder.unusable("journal.csv", "no generation yet"));
        }
        Ok(EvolutionRun {
            preset,
            genes,
            rows,
        })
    }

    fn last(&self) -> &GenerationFigures {
        &self.rows[self.rows.len() - 1]
    }

    /// A fitness as people read it.
    fn shown(&self, value: f64) -> String {
        self.preset.fitness.format(value)
    }

    fn curve(
        &self,
        label: &str,
        class: &str,
        value: impl Fn(&GenerationFigures) -> Option<f64>,
    ) -> Series {
        let point = |row: &GenerationFigures| Some((row.generation as f64, value(row)?));
        Series {
            label: label.to_owned(),
            class: class.to_owned(),
            points: self.rows.iter().filter_map(point).collect(),
            band: Vec::new(),
        }
    }
}

/// Draws the page of a folder.
pub fn write(folder: &RunFolder) -> Result<(), RunError> {
    let config = folder.config()?;
    if EvolveSettings::is_in(&config) {
        let settings = EvolveSettings::parse(&config, "config.toml")?;
        let body = evolve::body(&settings, &RunJournal::read(folder)?);
        let page = page(
            &evolve::title(&settings),
            &(body + &settings_section(&config)),
        );
        return folder.write(FILE, page);
    }
    let experiment = folder.experiment()?;
    let config = experiment.to_toml().unwrap_or_default();
    let name = experiment.name().to_owned();
    let mut body = match experiment {
        Experiment::Evolution(preset) => {
            let run = EvolutionRun::read(folder, *preset)?;
            heading(&run)
                + &closing_section(folder)?
                + &fitness_section(&run)
                + &weights_section(&run)
        }
        Experiment::Training(preset) => {
            let journal = RunJournal::read(folder)?;
            training::heading(&preset, &journal)
                + &closing_section(folder)?
                + &training::curves(&journal)
        }
    };
    body += &settings_section(&config);
    folder.write(FILE, page(&name, &body))
}

fn settings_section(config: &str) -> String {
    format!(
        "<details><summary>Settings</summary><pre>{}</pre></details>",
        escaped(config)
    )
}

/// The scores of the closing match, once it is played.
fn closing_section(folder: &RunFolder) -> Result<String, RunError> {
    let Some(scores) = folder.read(super::run::SCORES)? else {
        return Ok(String::new());
    };
    let line = |line: &str| format!("<li>{}</li>", escaped(line));
    let lines: String = scores.lines().map(line).collect();
    Ok(format!("<h2>Closing match</h2><ul>{lines}</ul>"))
}

/// A whole page around its contents.
fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{}</style></head><body>{body}</body></html>\n",
        escaped(title),
        include_str!("style.css")
    )
}

/// Figures in a row, each with its name below.
fn cards(figures: &[(String, &str)]) -> String {
    let mut text = "<div class=\"cards\">".to_owned();
    for (value, name) in figures {
        let _ = write!(
            text,
            "<div class=\"card\"><b>{value}</b><span>{name}</span></div>"
        );
    }
    text + "</div>"
}

fn date(started: &str) -> &str {
    match started {
        "" => "undated",
        date => date,
    }
}

fn heading(run: &EvolutionRun) -> String {
    let (preset, last) = (&run.preset, run.last());
    let mut figures = Vec::new();
    if preset.measures_fitness() {
        figures.push((run.shown(last.record), "best, training"));
    }
    if let Some(value) = last.validation {
        figures.push((preset.fitness.format_validation(value), "best, validation"));
    }
    let generations = format!("{} of {}", last.generation, preset.run.generations);
    if preset.measures_fitness() {
        figures.push((run.shown(last.mean), "mean of the population"));
    }
    figures.extend([
        (generations, "generations"),
        (format!("{:.1} s", last.seconds), "time"),
    ]);
    let mut text = format!(
        "<h1>{}</h1><p>Method {}, seed {}, {}.</p>{}",
        escaped(&preset.name),
        escaped(preset.method.name()),
        preset.run.seed,
        date(&preset.run.started),
        cards(&figures)
    );
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

fn fitness_section(run: &EvolutionRun) -> String {
    if !run.preset.measures_fitness() {
        let words = "Two neighbours of the estimate play each other, and the estimate moves towards the winner: there is no curve of its fitness. The closing match measures it.";
        return format!("<h2>Fitness</h2><p>{words}</p>");
    }
    let mut series = vec![
        run.curve("best", "c1", |row| Some(row.record)),
        run.curve("mean", "c2", |row| Some(row.mean)),
    ];
    if run.preset.fitness.validates_in_same_unit() && run.last().validation.is_some() {
        series.push(run.curve("validation", "c3", |row| row.validation));
    }
    let chart = Chart {
        width: 1000.0,
        height: 380.0,
        series: &series,
        format: &|value| run.shown(value),
        labelled: true,
        across: "generation",
    };
    let words = match (run.preset.method.selects_by_games(), run.last().validation) {
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
fn weights_section(run: &EvolutionRun) -> String {
    if run.genes.is_empty() {
        return String::new();
    }
    let mut text = "<h2>Values by generation</h2><p>Average of the population in the unit of the preset, with one standard deviation to either side.</p><div class=\"small\">".to_owned();
    for (place, name) in run.genes.iter().enumerate() {
        let mut series = [run.curve("", "c1", |row| Some(row.genes.get(place)?.mean))];
        series[0].band = run
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
            across: "generation",
        };
        let last = run.last().genes.get(place).map_or(0.0, |gene| gene.mean);
        let _ = write!(
            text,
            "<figure><figcaption>{}<span>{last:.1}</span></figcaption>{}</figure>",
            escaped(name),
            chart.svg()
        );
    }
    text.push_str("</div>");
    text.push_str(&weights_table(run));
    text
}

fn weights_table(run: &EvolutionRun) -> String {
    let reference = run.preset.reference();
    let printed = reference.map(|reference| &reference.weights);
    let printed = printed.filter(|weights| !weights.is_empty());
    let mut text = "<h2>Final values</h2><div class=\"wide\"><table><tr><th>gene</th><th>best</th><th>mean</th><th>deviation</th><th>first mean</th><th>first deviation</th>".to_owned();
    if printed.is_some() {
        text.push_str("<th>paper</th>");
    }
    text.push_str("</tr>");
    for (place, name) in run.genes.iter().enumerate() {
        let figures = |row: &GenerationFigures| row.genes.get(place).copied();
        let (Some(first), Some(last)) = (figures(&run.rows[0]), figures(run.last())) else {
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
