//! The result of a run as one page that needs no other file: what came out, curves, values.
//!
//! Everything is read back from the run's folder, so the page can be drawn again at any time
//! (`finch report`), also of a run that is under way (`--watch`) or incomplete.

mod chart;
mod comparison;
mod evolution;
mod evolve;
mod game;
mod papers;
mod training;
mod values;
mod verdict;
mod watch;

use std::fmt::Write as _;

use super::evolve::EvolveSettings;
use super::experiment::Experiment;
use super::preset::RunSettings;
use super::run::{ELO, ELO_ERROR, RunError, RunFolder, RunJournal};
use crate::terminal::escaped;
use chart::{Chart, Series};
use evolution::EvolutionRun;

pub use comparison::write_comparison;
pub use papers::write_papers;
pub use watch::Watch;

/// The page's file in the folder of a run.
pub const FILE: &str = "report.html";

/// A page without its frame.
pub struct Report {
    pub title: String,
    pub body: String,
}

/// Draws the page of a folder into its file.
pub fn write(folder: &RunFolder) -> Result<(), RunError> {
    folder.write(FILE, draw(folder)?.page())
}

/// Draws the page of a folder.
pub fn draw(folder: &RunFolder) -> Result<Report, RunError> {
    let config = folder.config()?;
    if EvolveSettings::is_in(&config) {
        let settings = EvolveSettings::parse(&config, "config.toml")?;
        let body = evolve::body(&settings, &RunJournal::read(folder)?);
        return Ok(Report {
            title: evolve::title(&settings),
            body: body + &settings_section(&config),
        });
    }
    let experiment = folder.experiment()?;
    let config = experiment.to_toml().unwrap_or_default();
    let title = experiment.name().to_owned();
    let body = match experiment {
        Experiment::Evolution(preset) => evolution::body(&EvolutionRun::read(folder, *preset)?)?,
        Experiment::Training(preset) => training::body(&preset, folder)?,
    };
    Ok(Report {
        title,
        body: body + &settings_section(&config),
    })
}

impl Report {
    /// The whole page.
    pub fn page(&self) -> String {
        page(&self.title, &self.body, include_str!("page.js"))
    }
}

fn settings_section(config: &str) -> String {
    format!(
        "<details class=\"settings\"><summary>Settings</summary><pre>{}</pre></details>",
        escaped(config)
    )
}

/// A whole page around its contents. It may load nothing from anywhere.
fn page(title: &str, body: &str, script: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{}</title><style>{}</style></head>\
         <body><main>{body}</main><script>{script}</script></body></html>\n",
        escaped(title),
        include_str!("style.css")
    )
}

/// Figures in a row, each with its name below.
fn cards(figures: &[(String, String)]) -> String {
    let mut text = "<div class=\"cards\">".to_owned();
    for (value, name) in figures {
        let _ = write!(
            text,
            "<div class=\"card\"><b>{}</b><span>{}</span></div>",
            escaped(value),
            escaped(name)
        );
    }
    text + "</div>"
}

/// The best so far against the start by generation, where the run measures it (`run.elo_every`).
fn elo_section(journal: &RunJournal, settings: &RunSettings) -> String {
    let mut series = Series::new("", "c1", journal.curve(ELO));
    let errors = journal.curve(ELO_ERROR).into_iter();
    series.band = errors.map(|(_, error)| error).collect();
    let chart = Chart {
        title: "Elo by generation",
        series: &[series],
        levels: &[],
        format: &verdict::signed,
        across: "generation",
        up: "Elo against the start with its 95% error, higher is better",
    };
    let chart = chart.figure();
    match chart.is_empty() {
        true => chart,
        false => format!(
            "<h2>Elo by generation</h2><p>The best so far against the start: {} games at {} nodes a move.</p>{chart}",
            settings.elo_games, settings.closing_nodes
        ),
    }
}

/// A time as people say it.
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

fn date(started: &str) -> &str {
    match started {
        "" => "undated",
        date => date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_their_unit() {
        assert_eq!(duration(5.14), "5.1 s");
        assert_eq!(duration(59.9), "1 min 0 s");
        assert_eq!(duration(3734.0), "1 h 2 min");
    }
}
