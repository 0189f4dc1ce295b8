//! The page of an evolve run: Elo by generation and by hours, matches, anchors.

use std::fmt::Write as _;

use super::chart::{Chart, Series};
use super::{cards, duration, verdict};
use crate::terminal::escaped;
use crate::tune::evolve::{DISCLOSURE, EvolveSettings, ZERO, anchor_column};
use crate::tune::run::{Figures, RunJournal, SECONDS};

/// The column that is filled in generations for the constants of the search.
const SEARCH_GAMES: &str = "search_games";

/// The page's contents.
pub fn body(settings: &EvolveSettings, journal: &RunJournal) -> String {
    heading(settings, journal)
        + &elo_section(journal)
        + &anchor_section(journal)
        + &loss_section(journal)
        + &table(journal)
}

pub fn title(settings: &EvolveSettings) -> String {
    format!("Evolve from {}", settings.start.from)
}

fn heading(settings: &EvolveSettings, journal: &RunJournal) -> String {
    let sum = |column: &str| -> f64 { journal.curve(column).iter().map(|point| point.1).sum() };
    let sentence = sentence(journal);
    let tuned = journal.curve(SEARCH_GAMES).len();
    let figures = [
        (sum("games").to_string(), "games of self-play"),
        (sum("positions").to_string(), "positions"),
        (tuned.to_string(), "generations for search constants"),
        (sum("match_games").to_string(), "games of matches"),
    ];
    let start = &settings.start;
    let mut text = format!(
        "<h1>{}</h1><p>Seed {}, {}.</p><p class=\"verdict\">{sentence}</p>{}",
        escaped(&title(settings)),
        start.seed,
        escaped(super::date(&start.started)),
        cards(&figures.map(|(value, name)| (value, name.to_owned())))
    );
    if start.from == ZERO {
        let _ = write!(text, "<p>{DISCLOSURE}</p>");
    }
    text
}

/// What came out.
fn sentence(journal: &RunJournal) -> String {
    let last = |column: &str| journal.last(column).unwrap_or_default();
    let count = |column: &str| {
        let figures = journal.curve(column).into_iter();
        figures.filter(|point| point.1 > 0.0).count()
    };
    let generations = journal.rows().len();
    let plural = if generations == 1 { "" } else { "s" };
    let (accepted, challengers) = (count("accepted"), count("match_games"));
    let outcome = match accepted {
        0 => format!("the start still plays: none of {challengers} challengers won."),
        _ => format!(
            "the champion is {} ± {:.0} Elo against its start; {accepted} of {challengers} challengers won.",
            verdict::signed(last("cumulative_elo")),
            last("cumulative_error")
        ),
    };
    let time = duration(last(SECONDS));
    format!("After {generations} generation{plural} and {time} {outcome}")
}

fn elo_section(journal: &RunJournal) -> String {
    let series = |across: &str| {
        let mut series = Series::new("champion", "c1", vec![(0.0, 0.0)]);
        series
            .points
            .extend(points(journal, across, "cumulative_elo"));
        series.band = vec![0.0];
        series.band.extend(column(journal, "cumulative_error"));
        [series]
    };
    let words = "The champion's Elo against the start: the sum of the matches that it and its \
                 ancestors won, with the 95% error of that sum. Differences between relatives \
                 add up to more than other opponents would see: the anchors say how much.";
    let mut text = format!("<h2>Elo</h2><p>{words}</p>");
    for (across, label) in [("generation", "generation"), ("hours", "hours")] {
        text += &figure(
            "Elo",
            "Elo against the start, higher is better",
            &series(across),
            label,
            0,
        );
    }
    text
}

/// One line for each anchor, through the generations after which they were played.
fn anchor_section(journal: &RunJournal) -> String {
    let prefix = anchor_column("elo", "");
    let names = journal.columns().iter();
    let names = names.filter_map(|column| column.strip_prefix(&prefix));
    let line = |(number, name): (usize, &str)| {
        let points = points(journal, "generation", &anchor_column("elo", name));
        let mut series = Series::new(name, &format!("c{}", number % 6 + 1), points);
        series.band = column(journal, &anchor_column("error", name));
        series
    };
    let series: Vec<Series> = names.enumerate().map(line).collect();
    if series.iter().all(|series| series.points.is_empty()) {
        return String::new();
    }
    let words = "The champion's Elo against fixed opponents, with its 95% error.";
    let up = "Elo against the anchor, higher is better";
    let chart = figure("Anchors", up, &series, "generation", 0);
    format!("<h2>Anchors</h2><p>{words}</p>{chart}")
}

fn loss_section(journal: &RunJournal) -> String {
    let line = |label: &str, class: &str, column: &str| {
        Series::new(label, class, points(journal, "generation", column))
    };
    let series = [
        line("training", "c1", "training_loss"),
        line("unseen games", "c3", "validation_loss"),
    ];
    let words = "Mean squared error of the challenger's win chance. Labels and the share of \
                 results in them change, so generations are not comparable.";
    let up = "mean squared error of the win chance, lower is better";
    let chart = figure("Loss", up, &series, "generation", 4);
    format!("<h2>Loss</h2><p>{words}</p>{chart}")
}

/// All figures, a row for each generation.
fn table(journal: &RunJournal) -> String {
    let words = "A generation learns a network from the champion's own games, or tunes the \
                 constants of its search by SPSA.";
    let mut text = format!(
        "<h2>Generations</h2><p>{words}</p><div class=\"scroll\"><table><tr><th>learns</th>"
    );
    let constants = journal.column(SEARCH_GAMES);
    for column in journal.columns() {
        let _ = write!(text, "<th>{}</th>", escaped(&column.replace('_', " ")));
    }
    text.push_str("</tr>");
    for row in journal.rows() {
        let learns = match constants.and_then(|column| row[column]) {
            Some(_) => "search constants",
            None => "network",
        };
        let _ = write!(text, "<tr><td>{learns}</td>");
        for value in row {
            let _ = write!(text, "<td>{}</td>", value.map_or(String::new(), cell));
        }
        text.push_str("</tr>");
    }
    text + "</table></div>"
}

/// A figure in as many digits as anyone reads.
fn cell(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 => value.to_string(),
        value if value.abs() < 1.0 => format!("{value:.5}"),
        value => format!("{value:.1}"),
    }
}

fn figure(title: &str, up: &str, series: &[Series], across: &str, digits: usize) -> String {
    let chart = Chart {
        title,
        series,
        levels: &[],
        format: &|value| format!("{value:.digits$}"),
        across,
        up,
    };
    chart.figure()
}

/// One column against another; rows that lack either are left out.
fn points(journal: &RunJournal, across: &str, up: &str) -> Vec<(f64, f64)> {
    let (Some(x), Some(y)) = (journal.column(across), journal.column(up)) else {
        return Vec::new();
    };
    let point = |row: &Figures| Some((row[x]?, row[y]?));
    journal.rows().iter().filter_map(point).collect()
}

fn column(journal: &RunJournal, name: &str) -> Vec<f64> {
    let points = points(journal, "generation", name);
    points.into_iter().map(|point| point.1).collect()
}
