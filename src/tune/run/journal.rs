//! The journal: a CSV file with named columns and one row per generation, for people, for the
//! report and for `--resume`. Columns are found by name, so their order does not matter and a
//! column that a version does not know is ignored.

use super::{RunError, RunFolder};

/// The journal in the folder of a run.
pub const JOURNAL_FILE: &str = "journal.csv";
pub const GENERATION: &str = "generation";
pub const SECONDS: &str = "seconds";
/// Columns before those of the learner.
pub const ALWAYS: usize = 2;
/// Elo of the best so far against the start, where a run measures it, and its 95% error.
pub const ELO: &str = "elo";
pub const ELO_ERROR: &str = "elo_error";
/// On the ranks of an MPI job: the share of the time in which their threads worked.
pub const BUSY: &str = "busy";

/// One figure per column; an empty cell is none.
pub type Figures = Vec<Option<f64>>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunJournal {
    columns: Vec<String>,
    rows: Vec<Figures>,
}

impl RunJournal {
    /// An empty journal with these columns after the generation and the seconds.
    pub fn new(columns: Vec<String>) -> RunJournal {
        let always: [String; ALWAYS] = [GENERATION, SECONDS].map(str::to_owned);
        RunJournal {
            columns: always.into_iter().chain(columns).collect(),
            rows: Vec::new(),
        }
    }

    /// The journal of a folder.
    pub fn read(folder: &RunFolder) -> Result<RunJournal, RunError> {
        let text = folder
            .read(JOURNAL_FILE)?
            .ok_or_else(|| folder.unusable(JOURNAL_FILE, "no such file"))?;
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(text.as_bytes());
        let header = reader.headers().cloned().unwrap_or_default();
        let has = |name: &str| header.iter().any(|known| known == name);
        if !has(GENERATION) || !has(SECONDS) {
            return Err(folder.unusable(JOURNAL_FILE, "not the journal of a run"));
        }
        // A row that a kill cut short is not counted.
        let complete = |row: &csv::StringRecord| row.len() == header.len();
        let records = reader.records().filter_map(Result::ok).filter(complete);
        let parsed = |row: csv::StringRecord| row.iter().map(|cell| cell.parse().ok()).collect();
        Ok(RunJournal {
            rows: records.map(parsed).collect(),
            columns: header.iter().map(str::to_owned).collect(),
        })
    }

    /// Takes the rows of a folder's journal up to a generation, and cuts the file there.
    pub fn restore(&mut self, folder: &RunFolder, generation: u64) -> Result<(), RunError> {
        let earlier = RunJournal::read(folder)?;
        let place = |column: &String| earlier.column(column);
        let places: Vec<_> = self.columns.iter().map(place).collect();
        let value = |row: &Figures, place: &Option<usize>| place.and_then(|place| row[place]);
        let reordered = |row: &Figures| places.iter().map(|place| value(row, place)).collect();
        self.rows = earlier.rows.iter().map(reordered).collect();
        self.rows.retain(|row| row[0] <= Some(generation as f64));
        let rows = self.rows.iter().map(|row| line(&cells(row)));
        let text = line(&self.columns) + &rows.collect::<String>();
        folder.write(JOURNAL_FILE, &text)
    }

    /// Adds a row to the journal and to the file.
    pub fn append(
        &mut self,
        folder: &RunFolder,
        generation: u64,
        seconds: f64,
        figures: Figures,
    ) -> Result<(), RunError> {
        let mut row = vec![Some(generation as f64), Some(rounded(seconds, 1000.0))];
        row.extend(figures);
        let text = line(&cells(&row));
        if self.rows.is_empty() {
            folder.write(JOURNAL_FILE, &(line(&self.columns) + &text))?;
        } else {
            folder.append(JOURNAL_FILE, &text)?;
        }
        self.rows.push(row);
        Ok(())
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn rows(&self) -> &[Figures] {
        &self.rows
    }

    /// Where a column stands in a row.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The figures of one column against the generation; empty cells are left out.
    pub fn curve(&self, name: &str) -> Vec<(f64, f64)> {
        let (Some(x), Some(y)) = (self.column(GENERATION), self.column(name)) else {
            return Vec::new();
        };
        let point = |row: &Figures| Some((row[x]?, row[y]?));
        self.rows.iter().filter_map(point).collect()
    }

    /// The last figure of a column.
    pub fn last(&self, name: &str) -> Option<f64> {
        let column = self.column(name)?;
        self.rows.last()?[column]
    }
}

/// A figure with fewer decimals, for columns that nobody reads to the last digit.
pub fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

fn cells(row: &Figures) -> Vec<String> {
    let cell = |value: &Option<f64>| value.map_or(String::new(), |value| value.to_string());
    row.iter().map(cell).collect()
}

fn line(fields: &[String]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record(fields);
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_incomplete_rows_are_dropped() {
        let desk = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(desk.path()).unwrap();
        // The order of an earlier version, with a column that is gone and a row cut by a kill.
        let text = "generation,best,gone,seconds\n0,1.5,7,0.1\n1,2.5,7,0.2\n2,,7,0.3\n3,4";
        folder.write(JOURNAL_FILE, text).unwrap();
        let mut journal = RunJournal::new(vec!["best".to_owned(), "mean".to_owned()]);
        journal.restore(&folder, 2).unwrap();
        assert_eq!(journal.curve("best"), [(0.0, 1.5), (1.0, 2.5)]);
        assert_eq!(journal.last(SECONDS), Some(0.3));
        assert_eq!(journal.last("mean"), None);
        journal
            .append(&folder, 3, 0.4, vec![Some(9.0), None])
            .unwrap();
        assert_eq!(RunJournal::read(&folder).unwrap(), journal);
    }
}
