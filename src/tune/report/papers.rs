//! The papers on one page: every run below a folder, by paper, beside what the paper prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::comparison::{self, Variant};
use super::{FILE, Report};
use crate::terminal::escaped;
use crate::tune::experiment::Experiment;
use crate::tune::run::{RunError, RunFolder, RunJournal, generations};
use crate::tune::statistics::mean_and_deviation;

/// Draws the page into the folder. Returns how many runs it shows.
pub fn write_papers(root: &Path) -> Result<usize, RunError> {
    let mut paths = Vec::new();
    run_folders(root, &mut paths);
    let mut by_paper: BTreeMap<String, Vec<RunFolder>> = BTreeMap::new();
    let mut unfinished = Vec::new();
    for path in paths {
        let folder = RunFolder::open(&path)?;
        match paper_of(&folder)? {
            Some((paper, true)) => by_paper.entry(paper).or_default().push(folder),
            Some((_, false)) => unfinished.push(path),
            None => {}
        }
    }
    let count = by_paper.values().map(Vec::len).sum();
    if count == 0 {
        return Ok(0);
    }
    let mut body = "<h1>The papers</h1>".to_owned() + &left_out(root, &unfinished);
    for (paper, folders) in &by_paper {
        body += &section(paper, &comparison::variants(folders, Some(root))?);
    }
    let title = "The papers".to_owned();
    RunFolder::create(root)?.write(FILE, Report { title, body }.page())?;
    Ok(count)
}

/// All folders with a config, in the order of their names. One that cannot be read has no runs.
fn run_folders(folder: &Path, found: &mut Vec<PathBuf>) {
    if folder.join("config.toml").is_file() {
        found.push(folder.to_owned());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_dir()) {
        run_folders(path, found);
    }
}

/// Says which runs are not on the page: their last figures are not final.
fn left_out(root: &Path, unfinished: &[PathBuf]) -> String {
    if unfinished.is_empty() {
        return String::new();
    }
    let name = |path: &PathBuf| {
        let inside = path.strip_prefix(root).unwrap_or(path);
        escaped(&inside.display().to_string())
    };
    let names: Vec<String> = unfinished.iter().map(name).collect();
    format!("<p>Not finished, left out: {}.</p>", names.join(", "))
}

/// The paper that a run repeats (author and year, with which the names of its presets begin), and
/// whether it is finished. None for other runs, and before the first generation.
fn paper_of(folder: &RunFolder) -> Result<Option<(String, bool)>, RunError> {
    let Experiment::Evolution(preset) = folder.experiment()? else {
        return Ok(None);
    };
    let (_, rows) = generations(&RunJournal::read(folder)?);
    let Some(last) = rows.last().filter(|_| !preset.reference.is_empty()) else {
        return Ok(None);
    };
    let is_finished = last.generation >= preset.run.generations;
    let words: Vec<&str> = preset.name.split('-').collect();
    let year = words.iter().position(|word| word.parse::<u32>().is_ok());
    Ok(year.map(|year| (words[..=year].join("-"), is_finished)))
}

fn section(paper: &str, variants: &[Variant]) -> String {
    let mut text = format!("<h2>{}</h2>", escaped(paper));
    let measured = variants
        .iter()
        .filter(|variant| variant.runs[0].is_measured());
    let measured: Vec<&Variant> = measured.collect();
    if !measured.is_empty() {
        text += &comparison::fitness_chart(&measured[0].axis(), &measured);
        text += &figures(&measured);
    }
    text + &comparison::settings_that_differ(variants) + &comparison::values_side_by_side(variants)
}

/// The last figures of each variant beside those of the paper.
fn figures(variants: &[&Variant]) -> String {
    let mut text = "<div class=\"scroll\"><table><tr><th></th><th>runs</th><th>mean of the last population</th>\
                    <th>± between runs</th><th>paper</th><th>unseen games</th><th>paper</th></tr>"
        .to_owned();
    for variant in variants {
        let run = &variant.runs[0];
        let (mean, deviation) = mean_and_deviation(&variant.last_means());
        let unseen = variant.runs.iter().filter_map(|run| run.last().validation);
        let unseen: Vec<f64> = unseen.collect();
        let fitness = &run.preset.fitness;
        let reference = run.preset.reference();
        let printed = |value: Option<f64>| {
            value.map_or("-".to_owned(), |value| fitness.format_reference(value))
        };
        let _ = write!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&variant.name),
            variant.runs.len(),
            run.shown(mean),
            match variant.runs.len() {
                1 => "-".to_owned(),
                _ => run.shown(deviation).trim_start_matches('-').to_owned(),
            },
            printed(reference.and_then(|reference| reference.mean_last)),
            match unseen.is_empty() {
                true => "-".to_owned(),
                false => fitness.format_validation(mean_and_deviation(&unseen).0),
            },
            printed(reference.and_then(|reference| reference.validation)),
        );
    }
    text + "</table></div>"
}
