//! A generation of an evolution run as figures: the population's fitness and its genes.

use super::journal::{Figures, GENERATION, RunJournal, SECONDS, rounded};
use crate::tune::genome::Genome;
use crate::tune::methods::Individual;
use crate::tune::statistics::mean_and_deviation;

/// With more genes than this their columns would drown the journal.
const GENES_KEPT: usize = 64;
const FIGURES: [&str; 6] = ["best", "mean", "deviation", "record", "validation", "draws"];
const MEAN: &str = " mean";

/// One gene over a population, and in the best individual so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneFigures {
    pub mean: f64,
    pub deviation: f64,
    pub best: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GenerationFigures {
    pub generation: u64,
    /// Fitness in the population of this generation.
    pub best: f64,
    pub mean: f64,
    pub deviation: f64,
    /// Fitness of the best individual so far, on the training and on the validation cases.
    pub record: f64,
    pub validation: Option<f64>,
    /// The share of draws, where individuals play each other.
    pub draws: Option<f64>,
    pub seconds: f64,
    pub genes: Vec<GeneFigures>,
}

/// The journal's columns for a genome.
pub fn columns(genome: &Genome) -> Vec<String> {
    let mut columns: Vec<String> = FIGURES.map(str::to_owned).into();
    for gene in genome.genes.iter().take(kept(genome)) {
        let name = &gene.name;
        columns.extend(["mean", "deviation", "best"].map(|figure| format!("{name} {figure}")));
    }
    columns
}

fn kept(genome: &Genome) -> usize {
    match genome.len() {
        count if count <= GENES_KEPT => count,
        _ => 0,
    }
}

/// The figures of a population in the order of [`columns`].
pub fn figures(
    genome: &Genome,
    population: &[Individual],
    record: &Individual,
    validation: Option<f64>,
    draws: Option<f64>,
) -> Figures {
    let fitness: Vec<f64> = population
        .iter()
        .map(Individual::fitness_or_lowest)
        .collect();
    let best = fitness.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mean, deviation) = mean_and_deviation(&fitness);
    let mut figures = vec![Some(best), Some(mean), Some(deviation)];
    figures.extend([Some(record.fitness_or_lowest()), validation]);
    figures.push(draws.map(|share| rounded(share, 10_000.0)));
    for place in 0..kept(genome) {
        let values: Vec<f64> = population.iter().map(|one| one.genes[place]).collect();
        let (mean, deviation) = mean_and_deviation(&values);
        let gene = [mean, deviation, record.genes[place]];
        figures.extend(gene.map(|value| Some(rounded(value, 10_000.0))));
    }
    figures
}

/// The names of the genes and the generations of a journal. Rows without the figures of an
/// evolution run are left out.
pub fn generations(journal: &RunJournal) -> (Vec<String>, Vec<GenerationFigures>) {
    let names = journal.columns().iter();
    let names = names.filter_map(|column| column.strip_suffix(MEAN));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let read = |row: &Figures| {
        let value = |name: &str| row[journal.column(name)?];
        let gene = |name: &String| {
            Some(GeneFigures {
                mean: value(&format!("{name} mean"))?,
                deviation: value(&format!("{name} deviation"))?,
                best: value(&format!("{name} best"))?,
            })
        };
        Some(GenerationFigures {
            generation: value(GENERATION)? as u64,
            best: value("best")?,
            mean: value("mean")?,
            deviation: value("deviation")?,
            record: value("record")?,
            validation: value("validation"),
            draws: value("draws"),
            seconds: value(SECONDS)?,
            genes: names.iter().map(gene).collect::<Option<_>>()?,
        })
    };
    let rows = journal.rows().iter().filter_map(read).collect();
    (names, rows)
}
