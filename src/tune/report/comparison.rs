//! Several runs on one page: the fitness by generation as a band over the seeds of each variant,
//! settings that differ, values side by side, and a table of each variant with its median run
//! marked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::chart::{Chart, Level, Series};
use super::{EvolutionRun, FILE, Report, verdict};
use crate::terminal::escaped;
use crate::tune::experiment::Experiment;
use crate::tune::run::{ClosingScore, RunError, RunFolder, RunSummary};
use crate::tune::statistics::mean_and_deviation;

/// Colours the style sheet has.
const COLOURS: usize = 6;

/// Runs that differ only in their seed.
pub(super) struct Variant<'a> {
    pub name: String,
    class: String,
    pub runs: Vec<EvolutionRun<'a>>,
}

/// Draws the page of several runs into `out`. Runs in the same parent folder are one variant.
pub fn write_comparison(out: &Path, folders: &[PathBuf]) -> Result<(), RunError> {
    let opened = folders.iter().map(|path| RunFolder::open(path));
    let opened = opened.collect::<Result<Vec<_>, RunError>>()?;
    let variants = variants(&opened, None)?;
    let mut body = format!("<h1>{} runs</h1>{}", folders.len(), heading(&variants));
    let measured = || variants.iter().filter(|one| one.runs[0].is_measured());
    let axes: BTreeSet<String> = measured().map(Variant::axis).collect();
    // Different measures have no axis in common.
    for axis in &axes {
        let measured: Vec<&Variant> = measured().filter(|one| one.axis() == *axis).collect();
        body += &fitness_chart(axis, &measured);
        body += &differences(&measured);
    }
    body += &settings_that_differ(&variants);
    body += &values_side_by_side(&variants);
    for variant in &variants {
        body += &table(variant, out)?;
    }
    let title = "Runs".to_owned();
    RunFolder::create(out)?.write(FILE, Report { title, body }.page())
}

/// The runs by variant, each named by its path below `root` or by its last folder.
pub(super) fn variants<'a>(
    folders: &'a [RunFolder],
    root: Option<&Path>,
) -> Result<Vec<Variant<'a>>, RunError> {
    let mut variants: Vec<Variant> = Vec::new();
    for folder in folders {
        let Experiment::Evolution(preset) = folder.experiment()? else {
            return Err(folder.unusable(
                "config.toml",
                "a training run; only evolution runs are compared",
            ));
        };
        let run = EvolutionRun::read(folder, *preset)?;
        let name = variant_name(folder.path(), root);
        match variants.iter_mut().find(|known| known.name == name) {
            Some(known) => known.runs.push(run),
            None => variants.push(Variant {
                name,
                class: format!("c{}", 1 + variants.len() % COLOURS),
                runs: vec![run],
            }),
        }
    }
    Ok(variants)
}

/// The folder that holds a run's folder, or the run's own when it stands alone.
fn variant_name(path: &Path, root: Option<&Path>) -> String {
    let last = |path: &Path| path.file_name().unwrap_or_default().to_owned();
    let is_seed = last(path).to_string_lossy().starts_with("seed-");
    let variant = path.parent().filter(|_| is_seed).unwrap_or(path);
    let below = root.and_then(|root| variant.strip_prefix(root).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let name = below.map_or_else(|| last(variant).into(), Path::to_owned);
    name.to_string_lossy().into_owned()
}

impl Variant<'_> {
    pub(super) fn axis(&self) -> String {
        self.runs[0].axis()
    }

    /// The mean over the seeds by generation, with their standard deviation.
    fn curve(&self) -> Series {
        let sign = self.runs[0].sign();
        let mut means: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in self.runs.iter().flat_map(|run| &run.rows) {
            means.entry(row.generation).or_default().push(row.mean);
        }
        let mut series = Series::new(&self.name, &self.class, Vec::new());
        for (generation, values) in means {
            let (mean, deviation) = mean_and_deviation(&values);
            series.points.push((generation as f64, sign * mean));
            if self.runs.len() > 1 {
                series.band.push(deviation);
            }
        }
        series
    }

    /// The last means of its runs.
    pub(super) fn last_means(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.last().mean).collect()
    }
}

/// What came out, a sentence for each variant.
fn heading(variants: &[Variant]) -> String {
    let mut text = String::new();
    for variant in variants.iter().filter(|one| one.runs[0].is_measured()) {
        let run = &variant.runs[0];
        let (mean, deviation) = mean_and_deviation(&variant.last_means());
        let spread = run.shown(deviation);
        let paper = run.preset.reference().and_then(|reference| {
            let figure = reference.mean_last.or(reference.best_last)?;
            let figure = run.preset.fitness.format_reference(figure);
            Some(format!(" The paper reports {figure}."))
        });
        let _ = write!(
            text,
            "<p class=\"verdict\">{}: {} ± {} is the last mean of {} runs, with their standard deviation.{}</p>",
            escaped(&variant.name),
            run.shown(mean),
            spread.trim_start_matches('-'),
            variant.runs.len(),
            escaped(&paper.unwrap_or_default())
        );
    }
    text
}

/// The paper's figure of each variant that has one; equal ones once.
fn paper_levels(variants: &[&Variant]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for run in variants.iter().map(|variant| &variant.runs[0]) {
        let fitness = &run.preset.fitness;
        let reference = run.preset.reference();
        let Some(figure) = reference.and_then(|one| one.mean_last.or(one.best_last)) else {
            continue;
        };
        let level = Level {
            label: format!("paper {}", fitness.format_reference(figure)),
            class: "c6",
            value: run.sign() * fitness.fitness_of_reference(figure),
        };
        if levels.iter().all(|known| known.label != level.label) {
            levels.push(level);
        }
    }
    levels
}

pub(super) fn fitness_chart(axis: &str, variants: &[&Variant]) -> String {
    let Some(run) = variants.first().map(|variant| &variant.runs[0]) else {
        return String::new();
    };
    let series: Vec<Series> = variants.iter().map(|variant| variant.curve()).collect();
    let chart = Chart {
        title: "Mean fitness by generation",
        series: &series,
        levels: &paper_levels(variants),
        format: &|value| run.shown(run.sign() * value),
        across: "generation",
        up: &format!(
            "{axis}: the mean of the population, averaged over the seeds with one standard deviation"
        ),
    };
    format!("<h2>Mean fitness by generation</h2>{}", chart.figure())
}

/// The last means of each variant against the first's, with the 95% error of the difference.
fn differences(variants: &[&Variant]) -> String {
    let Some((first, others)) = variants.split_first() else {
        return String::new();
    };
    let measured = |variant: &Variant| {
        let (mean, deviation) = mean_and_deviation(&variant.last_means());
        let count = variant.runs.len() as f64;
        (count > 1.0).then(|| (mean, deviation * deviation / count))
    };
    let mut text = String::new();
    for other in others {
        let (Some(base), Some(own)) = (measured(first), measured(other)) else {
            continue;
        };
        let (difference, error) = (own.0 - base.0, 1.96 * (own.1 + base.1).sqrt());
        let verdict = match difference.abs() > error {
            true => "beyond the error",
            false => "within the error",
        };
        let size = |value: f64| {
            let text = first.runs[0].shown(value.abs());
            text.trim_start_matches('-').to_owned()
        };
        let word = if difference < 0.0 { "worse" } else { "better" };
        let _ = write!(
            text,
            "<li>{} is {} {word} than {}, ± {} (95%): {verdict}.</li>",
            escaped(&other.name),
            size(difference),
            escaped(&first.name),
            size(error)
        );
    }
    match text.is_empty() {
        true => text,
        false => format!("<h2>Differences of the last mean</h2><ul>{text}</ul>"),
    }
}

/// The keys of the presets whose values are not the same in all variants.
pub(super) fn settings_that_differ(variants: &[Variant]) -> String {
    let flat: Vec<BTreeMap<String, String>> = variants
        .iter()
        .map(|variant| {
            let table = toml::Table::try_from(&variant.runs[0].preset).unwrap_or_default();
            let mut flat = BTreeMap::new();
            flatten("", &table, &mut flat);
            flat
        })
        .collect();
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let hidden = [
        "run.seed",
        "run.started",
        "run.threads",
        "name",
        "reference",
    ];
    let differs = |key: &&&String| {
        !hidden.contains(&key.as_str())
            && flat.iter().any(|one| one.get(**key) != flat[0].get(**key))
    };
    let rows: Vec<(String, Vec<String>)> = keys
        .iter()
        .filter(differs)
        .map(|key| {
            let values = flat.iter().map(|one| one.get(*key).cloned());
            let values = values.map(|value| value.unwrap_or_else(|| "-".to_owned()));
            ((*key).clone(), values.collect())
        })
        .collect();
    let names: Vec<&str> = variants.iter().map(|one| one.name.as_str()).collect();
    side_by_side("Settings that differ", &names, &rows)
}

fn flatten(prefix: &str, table: &toml::Table, into: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            toml::Value::Table(table) => flatten(&format!("{key}."), table, into),
            value => {
                into.insert(key, value.to_string());
            }
        }
    }
}

/// The final means of each gene, averaged over the seeds, with their deviation between runs.
pub(super) fn values_side_by_side(variants: &[Variant]) -> String {
    let genes = variants.iter().flat_map(|variant| &variant.runs[0].genes);
    let mut names: Vec<&String> = Vec::new();
    for name in genes {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |variant: &Variant, name: &String| {
        let values = variant.runs.iter().filter_map(|run| {
            let place = run.genes.iter().position(|gene| gene == name)?;
            Some(run.last().genes.get(place)?.mean)
        });
        let values: Vec<f64> = values.collect();
        match (mean_and_deviation(&values), values.len()) {
            (_, 0) => "-".to_owned(),
            ((mean, _), 1) => format!("{mean:.2}"),
            ((mean, deviation), _) => format!("{mean:.2} ± {deviation:.2}"),
        }
    };
    // A paper prints the values of one of its settings.
    let mut printed = variants.iter().map(|one| one.runs[0].preset.paper_values());
    let printed = printed
        .find(|values| !values.is_empty())
        .unwrap_or_default();
    let paper = |name: &String| printed.get(name).map_or(String::new(), f64::to_string);
    let with_paper = !printed.is_empty();
    let row = |name: &&String| {
        let values = variants.iter().map(|variant| value(variant, name));
        let values = values.chain(with_paper.then(|| paper(name)));
        ((*name).clone(), values.collect())
    };
    let rows: Vec<_> = names.iter().map(row).collect();
    let columns = variants.iter().map(|one| one.name.as_str());
    let columns: Vec<&str> = columns.chain(with_paper.then_some("paper")).collect();
    side_by_side("Final values", &columns, &rows)
}

/// A table with these columns; nothing if it has no rows.
fn side_by_side(title: &str, columns: &[&str], rows: &[(String, Vec<String>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<h2>{title}</h2><div class=\"scroll\"><table><tr><th></th>");
    for column in columns {
        let _ = write!(text, "<th>{}</th>", escaped(column));
    }
    text.push_str("</tr>");
    for (name, values) in rows {
        let _ = write!(text, "<tr><td>{}</td>", escaped(name));
        for value in values {
            let _ = write!(text, "<td>{}</td>", escaped(value));
        }
        text.push_str("</tr>");
    }
    text + "</table></div>"
}

/// The runs of a variant, the median one marked.
fn table(variant: &Variant, out: &Path) -> Result<String, RunError> {
    let summary = |run| {
        let EvolutionRun {
            preset,
            genes,
            rows,
            ..
        }: &EvolutionRun = run;
        Some((
            run,
            RunSummary::of_generations(preset.run.seed, genes, rows)?,
        ))
    };
    let mut sorted: Vec<_> = variant.runs.iter().filter_map(summary).collect();
    let is_measured = variant.runs[0].is_measured();
    if is_measured {
        sorted.sort_by(|a, b| a.1.mean_last.total_cmp(&b.1.mean_last));
    }
    let median = sorted.len().saturating_sub(1) / 2;
    let shares = match is_measured {
        true => {
            "<th>best first</th><th>best last</th><th>mean first</th><th>mean last</th><th>validation</th>"
        }
        false => "",
    };
    let mut text = format!(
        "<h2>{}</h2><div class=\"scroll\"><table><tr><th>seed</th>{shares}<th>against its start</th><th>time</th></tr>",
        escaped(&variant.name)
    );
    for (place, (run, summary)) in sorted.iter().enumerate() {
        let class = match is_measured && place == median {
            true => " class=\"median\"",
            false => "",
        };
        let scores = ClosingScore::read(run.folder)?;
        let elo = scores
            .first()
            .map_or("-".to_owned(), |score| verdict::elo(&score.elo));
        let _ = write!(
            text,
            "<tr{class}><td>{}</td>{}<td>{}</td><td>{}</td></tr>",
            link(run.folder.path(), out, summary.seed),
            if is_measured {
                share_cells(run, summary)
            } else {
                String::new()
            },
            escaped(&elo),
            super::duration(summary.seconds)
        );
    }
    Ok(text + "</table></div>")
}

fn share_cells(run: &EvolutionRun, summary: &RunSummary) -> String {
    let validation = summary.validation.map_or("-".to_owned(), |value| {
        run.preset.fitness.format_validation(value)
    });
    let RunSummary {
        best_first,
        best_last,
        mean_first,
        mean_last,
        ..
    } = *summary;
    let shares = [best_first, best_last, mean_first, mean_last].map(|value| run.shown(value));
    let cells = shares.into_iter().chain([validation]);
    cells.map(|cell| format!("<td>{cell}</td>")).collect()
}

/// The seed of a run, as a link to its own page where that lies below this one.
fn link(folder: &Path, out: &Path, seed: u64) -> String {
    let inside = folder.strip_prefix(out).ok().and_then(Path::to_str);
    match inside {
        Some(inside) if !inside.is_empty() => {
            format!("<a href=\"{}/{FILE}\">{seed}</a>", escaped(inside))
        }
        _ => seed.to_string(),
    }
}
