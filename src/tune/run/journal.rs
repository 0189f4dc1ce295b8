//! The journal: one row a generation, as CSV, for people and for the report.

use super::RunError;
use super::folder::Folder;
use crate::tune::fitness::Fitness;
use crate::tune::genome::Genome;
use crate::tune::methods::Individual;
use crate::tune::statistics::mean_and_deviation;

const FILE: &str = "journal.csv";
/// With more genes than this their columns would drown the journal.
const GENES_KEPT: usize = 64;
const FIGURES: [&str; 7] = [
    "generation",
    "best",
    "mean",
    "deviation",
    "record",
    "validation",
    "seconds",
];

/// One gene over a population, and in the best individual so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneFigures {
    pub mean: f64,
    pub deviation: f64,
    pub best: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub generation: u64,
    /// Fitness in the population of this generation.
    pub best: f64,
    pub mean: f64,
    pub deviation: f64,
    /// Fitness of the best individual so far, on the training and on the validation cases.
    pub record: f64,
    pub validation: Option<f64>,
    pub seconds: f64,
    pub genes: Vec<GeneFigures>,
}

impl Row {
    pub fn new(
        generation: u64,
        population: &[Individual],
        record: &Individual,
        validation: Option<f64>,
        seconds: f64,
    ) -> Row {
        let fitness: Vec<f64> = population
            .iter()
            .map(Individual::fitness_or_lowest)
            .collect();
        let (mean, deviation) = mean_and_deviation(&fitness);
        let figures = |place: usize| {
            let values: Vec<f64> = population.iter().map(|one| one.genes[place]).collect();
            let (mean, deviation) = mean_and_deviation(&values);
            GeneFigures {
                mean,
                deviation,
                best: record.genes[place],
            }
        };
        Row {
            generation,
            best: fitness.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean,
            deviation,
            record: record.fitness_or_lowest(),
            validation,
            seconds,
            genes: (0..record.genes.len()).map(figures).collect(),
        }
    }

    /// The row as a line for people; the fitness knows how its values are read.
    pub fn told(&self, last: u64, fitness: &dyn Fitness) -> String {
        let validation = self.validation.map_or(String::new(), |value| {
            format!("  validation {}", fitness.config().format_validation(value))
        });
        format!(
            "generation {}/{last}  best {}  mean {}{validation}  {:.1} s",
            self.generation,
            fitness.config().format(self.record),
            fitness.config().format(self.mean),
            self.seconds
        )
    }

    fn fields(&self, genes: usize) -> Vec<String> {
        let validation = self
            .validation
            .map_or(String::new(), |value| value.to_string());
        let mut fields = vec![
            self.generation.to_string(),
            self.best.to_string(),
            self.mean.to_string(),
            self.deviation.to_string(),
            self.record.to_string(),
            validation,
            format!("{:.3}", self.seconds),
        ];
        for gene in self.genes.iter().take(genes) {
            fields
                .extend([gene.mean, gene.deviation, gene.best].map(|value| format!("{value:.4}")));
        }
        fields
    }

    fn from_fields(fields: &csv::StringRecord) -> Option<Row> {
        let number = |place: usize| fields.get(place)?.parse::<f64>().ok();
        let genes = (FIGURES.len()..fields.len()).step_by(3).map(|place| {
            Some(GeneFigures {
                mean: number(place)?,
                deviation: number(place + 1)?,
                best: number(place + 2)?,
            })
        });
        Some(Row {
            generation: fields.get(0)?.parse().ok()?,
            best: number(1)?,
            mean: number(2)?,
            deviation: number(3)?,
            record: number(4)?,
            validation: number(5),
            seconds: number(6)?,
            genes: genes.collect::<Option<_>>()?,
        })
    }
}

pub struct Journal {
    header: Vec<String>,
    genes: usize,
    rows: Vec<Row>,
}

impl Journal {
    pub fn new(genome: &Genome) -> Journal {
        let kept = if genome.len() <= GENES_KEPT {
            genome.len()
        } else {
            0
        };
        let mut header: Vec<String> = FIGURES.map(str::to_owned).into();
        for gene in genome.genes.iter().take(kept) {
            let name = &gene.name;
            header.extend([
                format!("{name} mean"),
                format!("{name} deviation"),
                format!("{name} best"),
            ]);
        }
        Journal {
            header,
            genes: kept,
            rows: Vec::new(),
        }
    }

    /// Reads a folder's journal: the names of the genes, and the rows.
    pub fn read(folder: &Folder) -> Result<(Vec<String>, Vec<Row>), RunError> {
        let text = folder
            .read(FILE)?
            .ok_or_else(|| folder.unusable(FILE, "no such file"))?;
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(text.as_bytes());
        let header = reader.headers().cloned().unwrap_or_default();
        if header.len() < FIGURES.len() || !header.iter().zip(FIGURES).all(|(a, b)| a == b) {
            return Err(folder.unusable(FILE, "not a journal"));
        }
        let genes = header.iter().skip(FIGURES.len()).step_by(3);
        let genes = genes.map(|name| name.trim_end_matches(" mean").to_owned());
        let genes: Vec<_> = genes.collect();
        // A row that a kill cut short is no row.
        let whole = |fields: &csv::StringRecord| fields.len() == header.len();
        let records = reader.records().filter_map(Result::ok).filter(whole);
        let rows = records.filter_map(|fields| Row::from_fields(&fields));
        Ok((genes, rows.collect()))
    }

    /// Takes up a folder's journal where a checkpoint left off.
    pub fn restore(&mut self, folder: &Folder, generation: u64) -> Result<(), RunError> {
        let (_, mut rows) = Journal::read(folder)?;
        rows.retain(|row| row.generation <= generation);
        self.rows = rows;
        let mut text = line(&self.header);
        for row in &self.rows {
            text.push_str(&line(&row.fields(self.genes)));
        }
        folder.write(FILE, &text)
    }

    pub fn append(&mut self, folder: &Folder, row: &Row) -> Result<(), RunError> {
        let fields = line(&row.fields(self.genes));
        if self.rows.is_empty() {
            folder.write(FILE, &(line(&self.header) + &fields))?;
        } else {
            folder.append(FILE, &fields)?;
        }
        self.rows.push(row.clone());
        Ok(())
    }

    pub fn last(&self) -> Option<&Row> {
        self.rows.last()
    }

    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}

fn line(fields: &[String]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(fields);
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
