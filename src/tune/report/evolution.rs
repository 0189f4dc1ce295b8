//! The page of an evolution run.

use super::chart::{Chart, Level, Series};
use super::{cards, date, duration, elo_section, game, values, verdict};
use crate::terminal::escaped;
use crate::tune::preset::Preset;
use crate::tune::run::{
    ClosingScore, GenerationFigures, RunError, RunFolder, RunJournal, generations,
};

/// An evolution run as read from its folder.
pub struct EvolutionRun<'a> {
    pub folder: &'a RunFolder,
    pub preset: Preset,
    pub journal: RunJournal,
    pub genes: Vec<String>,
    pub rows: Vec<GenerationFigures>,
}

impl EvolutionRun<'_> {
    pub fn read(folder: &RunFolder, preset: Preset) -> Result<EvolutionRun<'_>, RunError> {
        let journal = RunJournal::read(folder)?;
        let (genes, rows) = generations(&journal);
        if rows.is_empty() {
            return Err(folder.unusable("journal.csv", "no generation yet"));
        }
        Ok(EvolutionRun {
            folder,
            preset,
            journal,
            genes,
            rows,
        })
    }

    pub fn last(&self) -> &GenerationFigures {
        &self.rows[self.rows.len() - 1]
    }

    /// Whether its fitness says how far it has come. Players who only meet each other share the
    /// points, whatever they learn.
    pub fn is_measured(&self) -> bool {
        self.preset.measures_fitness() && !self.preset.method.selects_by_games()
    }

    /// A fitness as people read it.
    pub fn shown(&self, value: f64) -> String {
        self.preset.fitness.format(value)
    }

    pub fn curve(
        &self,
        label: &str,
        class: &str,
        value: impl Fn(&GenerationFigures) -> Option<f64>,
    ) -> Series {
        let point = |row: &GenerationFigures| Some((row.generation as f64, value(row)?));
        Series::new(label, class, self.rows.iter().filter_map(point).collect())
    }

    /// 1, or -1 if people read the fitness as an error, which falls.
    pub fn sign(&self) -> f64 {
        match self.preset.fitness.is_error() {
            true => -1.0,
            false => 1.0,
        }
    }

    /// What the left axis of a chart of the fitness counts.
    pub fn axis(&self) -> String {
        let direction = match self.preset.fitness.is_error() {
            true => "lower",
            false => "higher",
        };
        format!("{}, {direction} is better", self.preset.fitness.measure())
    }
}

pub fn body(run: &EvolutionRun) -> Result<String, RunError> {
    let scores = ClosingScore::read(run.folder)?;
    Ok(heading(run)
        + &verdict::closing(&scores)
        + &elo_section(&run.journal, &run.preset.run)
        + &fitness_section(run)
        + &draws_section(run)
        + &closing_game(run, &scores)
        + &values::section(run)?)
}

/// A game of the closing match, once that is over.
fn closing_game(run: &EvolutionRun, scores: &[ClosingScore]) -> String {
    match scores.is_empty() {
        true => String::new(),
        false => game::section(run.folder),
    }
}

fn heading(run: &EvolutionRun) -> String {
    let (preset, last) = (&run.preset, run.last());
    let mut figures = Vec::new();
    if run.is_measured() {
        figures.push((run.shown(last.record), "best, training".to_owned()));
        if let Some(value) = last.validation {
            let value = preset.fitness.format_validation(value);
            figures.push((value, "best, unseen games".to_owned()));
        }
        let mean = run.shown(last.mean);
        figures.push((mean, "mean of the population".to_owned()));
    }
    let generations = format!("{} of {}", last.generation, preset.run.generations);
    figures.push((generations, "generations".to_owned()));
    figures.push((duration(last.seconds), "time".to_owned()));
    let seconds = preset.reference().and_then(|reference| reference.seconds);
    if let Some(seconds) = seconds {
        figures.push((duration(seconds), "time in the paper".to_owned()));
    }
    format!(
        "<h1>{}</h1><p>Method {}, seed {}, {}.</p>{}{}",
        escaped(&preset.name),
        escaped(preset.method.name()),
        preset.run.seed,
        escaped(date(&preset.run.started)),
        verdict::sentences(run),
        cards(&figures)
    )
}

fn fitness_section(run: &EvolutionRun) -> String {
    let preset = &run.preset;
    if !run.is_measured() {
        let chart = piece_values(run);
        let words = "Players meet each other, so the share of the points stays near a half: what \
                     counts is where the values go. The closing match measures the strength.";
        return match chart.is_empty() {
            true => String::new(),
            false => format!("<h2>Piece values by generation</h2><p>{words}</p>{chart}"),
        };
    }
    let sign = run.sign();
    let mut series = vec![
        run.curve("best", "c1", |row| Some(sign * row.record)),
        run.curve("mean", "c2", |row| Some(sign * row.mean)),
    ];
    let validated = run.last().validation.is_some();
    let same_unit = preset.fitness.validates_in_same_unit();
    if validated && same_unit {
        let unseen = run.curve("unseen games", "c3", |row| Some(sign * row.validation?));
        series.push(unseen);
    }
    let chart = Chart {
        title: "Fitness",
        series: &series,
        levels: &paper_levels(run, validated && same_unit),
        format: &|value| run.shown(sign * value),
        across: "generation",
        up: &run.axis(),
    };
    // Where each generation draws its own cases, an earlier best is not kept.
    let is_kept = run.rows.is_sorted_by(|a, b| a.record <= b.record);
    let best = match is_kept {
        true => "The best individual so far",
        false => "The best individual of each generation, on cases drawn anew",
    };
    let unseen = match validated {
        true => ", and the best on positions from games it never saw",
        false => "",
    };
    let words = format!("{best}; the mean of the population{unseen}.");
    let mut text = format!("<h2>Fitness</h2><p>{words}</p>{}", chart.figure());
    if validated && !same_unit {
        text += &unseen_chart(run);
    }
    text
}

/// The share of draws, where individuals play each other.
fn draws_section(run: &EvolutionRun) -> String {
    let chart = Chart {
        title: "Drawn games",
        series: &[run.curve("", "c2", |row| row.draws)],
        levels: &[],
        format: &|value| format!("{:.0}%", 100.0 * value),
        across: "generation",
        up: "share of drawn games between the individuals",
    };
    let chart = chart.figure();
    let words = "Many draws mean that the players have become alike, or that the limit of moves \
                 ends their games; then little is selected.";
    match chart.is_empty() {
        true => chart,
        false => format!("<h2>Drawn games</h2><p>{words}</p>{chart}"),
    }
}

/// Validation in a chart of its own, where its unit is another.
fn unseen_chart(run: &EvolutionRun) -> String {
    let chart = Chart {
        title: "Unseen games",
        series: &[run.curve("unseen games", "c3", |row| row.validation)],
        levels: &[],
        format: &|value| run.preset.fitness.format_validation(value),
        across: "generation",
        up: "moves found on unseen games, higher is better",
    };
    chart.figure()
}

/// What the paper reports, as dashed lines.
fn paper_levels(run: &EvolutionRun, with_validation: bool) -> Vec<Level> {
    let Some(reference) = run.preset.reference() else {
        return Vec::new();
    };
    let fitness = &run.preset.fitness;
    let level = |name: &str, class, figure: f64| Level {
        label: format!("{name} {}", fitness.format_reference(figure)),
        class,
        value: run.sign() * fitness.fitness_of_reference(figure),
    };
    let best = reference.best_last.or(reference.mean_last);
    let unseen = reference.validation.filter(|_| with_validation);
    let best = best.map(|figure| level("paper", "c1", figure));
    let unseen = unseen.map(|figure| level("paper, unseen", "c3", figure));
    best.into_iter().chain(unseen).collect()
}

const PIECES: [(&str, &str); 5] = [
    ("pawn", "c5"),
    ("knight", "c1"),
    ("bishop", "c2"),
    ("rook", "c3"),
    ("queen", "c4"),
];

/// The values of the pieces, beside the paper's.
fn piece_values(run: &EvolutionRun) -> String {
    let printed = run.preset.paper_values();
    let (mut series, mut levels) = (Vec::new(), Vec::new());
    for (name, class) in PIECES {
        let Some(place) = run.genes.iter().position(|gene| gene == name) else {
            continue;
        };
        let mut line = run.curve(name, class, |row| Some(row.genes.get(place)?.mean));
        let deviations = run.rows.iter().map(|row| row.genes.get(place));
        line.band = deviations.flatten().map(|gene| gene.deviation).collect();
        series.push(line);
        levels.extend(printed.get(name).map(|value| Level {
            label: format!("paper: {name} {value}"),
            class,
            value: *value,
        }));
    }
    let chart = Chart {
        title: "Piece values",
        series: &series,
        levels: &levels,
        format: &|value| format!("{value:.2}"),
        across: "generation",
        up: "mean value in the population with one standard deviation; dashed: the paper",
    };
    chart.figure()
}
