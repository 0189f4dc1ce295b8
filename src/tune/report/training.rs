//! The page of a training run: loss, learning rate, speed.

use super::chart::{Chart, Series};
use super::{cards, date, duration, elo_section, verdict};
use crate::terminal::escaped;
use crate::tune::network::TrainingPreset;
use crate::tune::run::{ClosingScore, RunError, RunFolder, RunJournal, SECONDS};

pub fn body(preset: &TrainingPreset, folder: &RunFolder) -> Result<String, RunError> {
    let journal = RunJournal::read(folder)?;
    let scores = ClosingScore::read(folder)?;
    Ok(heading(preset, &journal)
        + &verdict::closing(&scores)
        + &elo_section(&journal, &preset.run)
        + &curves(&journal))
}

fn heading(preset: &TrainingPreset, journal: &RunJournal) -> String {
    let shown = |name: &str, digits: usize| {
        let last = journal.last(name);
        last.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let generations = format!("{} of {}", shown("generation", 0), preset.run.generations);
    let figures = [
        (shown("training_loss", 6), "training loss"),
        (shown("positions", 0), "positions"),
        (shown("positions_per_second", 0), "positions/s"),
        (generations, "generations"),
        (
            journal.last(SECONDS).map_or("-".to_owned(), duration),
            "time",
        ),
    ];
    format!(
        "<h1>{}</h1><p>A network trained by {}, seed {}, {}.</p>{}{}",
        escaped(&preset.name),
        escaped(&preset.method.name),
        preset.run.seed,
        escaped(date(&preset.run.started)),
        sentence(preset, journal),
        cards(&figures.map(|(value, name)| (value, name.to_owned())))
    )
}

/// The loss on unseen games: where it began, its least, and where it is.
fn sentence(preset: &TrainingPreset, journal: &RunJournal) -> String {
    let losses = journal.curve("validation_loss");
    let best = losses.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(first), Some(best)) = (losses.first(), best) else {
        return String::new();
    };
    let generation = journal.last("generation").unwrap_or_default() as u64;
    format!(
        "<p class=\"verdict\">{}The least loss on unseen games is {:.6}, at generation {}; it began at {:.6}.</p>",
        verdict::so_far(generation, preset.run.generations),
        best.1,
        best.0,
        first.1
    )
}

fn curves(journal: &RunJournal) -> String {
    let loss = [
        ("training", "c1", "training_loss"),
        ("unseen games", "c3", "validation_loss"),
    ];
    let up = "mean squared error of the win chance, lower is better";
    section(journal, "Loss", up, &loss, 6)
        + &section(
            journal,
            "Learning rate",
            "at the last batch of each generation",
            &[("", "c2", "learning_rate")],
            6,
        )
        + &section(
            journal,
            "Speed",
            "positions per second, without validation",
            &[("", "c1", "positions_per_second")],
            0,
        )
}

/// A chart of some columns, each with its label and its colour.
fn section(
    journal: &RunJournal,
    title: &str,
    up: &str,
    columns: &[(&str, &str, &str)],
    digits: usize,
) -> String {
    let series = |(label, class, column): &(&str, &str, &str)| {
        Series::new(label, class, journal.curve(column))
    };
    let series: Vec<Series> = columns.iter().map(series).collect();
    let chart = Chart {
        title,
        series: &series,
        levels: &[],
        format: &|value| format!("{value:.digits$}"),
        across: "generation",
        up,
    };
    format!("<h2>{title}</h2>{}", chart.figure())
}
