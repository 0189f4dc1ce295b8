//! The page of a training run: loss, learning rate, speed.

use super::chart::{Chart, Series};
use super::{cards, date};
use crate::terminal::escaped;
use crate::tune::network::TrainingPreset;
use crate::tune::run::{RunJournal, SECONDS};

pub fn heading(preset: &TrainingPreset, journal: &RunJournal) -> String {
    let shown = |name: &str, digits: usize| {
        let last = journal.last(name);
        last.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let losses = journal.curve("validation_loss");
    let best = losses.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map_or("-".to_owned(), |(generation, loss)| {
        format!("{loss:.6} (generation {generation})")
    });
    let generations = format!("{} of {}", shown("generation", 0), preset.run.generations);
    let figures = [
        (best, "least validation loss"),
        (shown("training_loss", 6), "training loss"),
        (shown("positions", 0), "positions"),
        (shown("positions_per_second", 0), "positions/s"),
        (generations, "generations"),
        (format!("{} s", shown(SECONDS, 1)), "time"),
    ];
    format!(
        "<h1>{}</h1><p>A network trained by {}, seed {}, {}.</p>{}",
        escaped(&preset.name),
        escaped(&preset.method.name),
        preset.run.seed,
        date(&preset.run.started),
        cards(&figures)
    )
}

pub fn curves(journal: &RunJournal) -> String {
    let loss = [
        ("training", "c1", "training_loss"),
        ("validation", "c3", "validation_loss"),
    ];
    section(
        journal,
        "Loss",
        "Mean squared error of the win chance.",
        &loss,
        6,
    ) + &section(
        journal,
        "Learning rate",
        "At the last batch of each generation.",
        &[("", "c2", "learning_rate")],
        6,
    ) + &section(
        journal,
        "Speed",
        "Positions per second, without validation.",
        &[("", "c1", "positions_per_second")],
        0,
    )
}

/// A chart of some columns, each with its label and its colour.
fn section(
    journal: &RunJournal,
    title: &str,
    words: &str,
    columns: &[(&str, &str, &str)],
    digits: usize,
) -> String {
    let series = |(label, class, column): &(&str, &str, &str)| Series {
        label: (*label).to_owned(),
        class: (*class).to_owned(),
        points: journal.curve(column),
        band: Vec::new(),
    };
    let series: Vec<Series> = columns.iter().map(series).collect();
    let chart = Chart {
        width: 1000.0,
        height: 300.0,
        series: &series,
        format: &|value| format!("{value:.digits$}"),
        labelled: true,
        across: "generation",
    };
    format!(
        "<h2>{title}</h2><p>{words}</p><figure>{}</figure>",
        chart.svg()
    )
}
