//! Several runs on one page: the fitness by generation as a band over the seeds of each variant,
//! settings that differ, values side by side, and a table of each variant with its median run
//! marked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::chart::{Chart, Level, Series};
use super::{EvolutionRun, FILE, Report};
use crate::terminal::escaped;
use crate::tune::experiment::Experiment;
use crate::tune::run::{RunError, RunFolder, RunSummary};
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
    let mut body = format!("<h1>{} runs</h1>", folders.len());
    let axes: BTreeSet<String> = variants.iter().map(Variant::axis).collect();
    // Different measures have no axis in common.
    for axis in &axes {
        let measured: Vec<&Variant> = variants.iter().filter(|one| one.axis() == *axis).collect();
        body += &fitness_chart(axis, &measured);
        body += &differences(&measured);
    }
    body += &settings_that_differ(&variants);
    body += &values_side_by_side(&variants);
    for variant in &variants {
        body += &table(variant, out);
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

pub(super) fn fitness_chart(axis: &str, variants: &[&Variant]) -> String {
    let Some(run) = variants.first().map(|variant| &variant.runs[0]) else {
        return String::new();
    };
    let series: Vec<Series> = variants.iter().map(|variant| variant.curve()).collect();
    let printed = run.preset.reference().and_then(|paper| paper.mean_last);
    let level = printed.map(|figure| Level {
        label: format!("paper {}", run.preset.fitness.format_reference(figure)),
        class: "c1",
        value: run.sign() * run.preset.fitness.fitness_of_reference(figure),
    });
    let chart = Chart {
        title: "Mean fitness by generation",
        series: &series,
        levels: level.as_slice(),
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
    side_by_side("Settings that differ", variants, &rows)
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
    let printed = variants[0].runs[0].preset.paper_values();
    let row = |name: &&String| {
        let values = variants.iter().map(|variant| value(variant, name));
        let paper = printed.get(*name).map(|value| format!("{value:.2}"));
        ((*name).clone(), values.chain(paper).collect())
    };
    let rows: Vec<_> = names.iter().map(row).collect();
    side_by_side("Final values", variants, &rows)
}

/// A table with a column for each variant; nothing if it has no rows.
fn side_by_side(title: &str, variants: &[Variant], rows: &[(String, Vec<String>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<h2>{title}</h2><div class=\"scroll\"><table><tr><th></th>");
    for variant in variants {
        let _ = write!(text, "<th>{}</th>", escaped(&variant.name));
    }
    // A further column is the paper's.
    if rows.iter().any(|(_, values)| values.len() > variants.len()) {
        text.push_str("<th>paper</th>");
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

fn table(variant: &Variant, out: &Path) -> String {
    let mut sorted: Vec<_> = variant
        .runs
        .iter()
        .filter_map(|run| {
            let seed = run.preset.run.seed;
            Some((
                run,
                RunSummary::of_generations(seed, &run.genes, &run.rows)?,
            ))
        })
        .collect();
    sorted.sort_by(|a, b| a.1.mean_last.total_cmp(&b.1.mean_last));
    let median = sorted.len().saturating_sub(1) / 2;
    let mut text = format!(
        "<h2>{}</h2><div class=\"scroll\"><table><tr><th>seed</th><th>best first</th><th>best last</th><th>mean first</th><th>mean last</th><th>validation</th><th>seconds</th></tr>",
        escaped(&variant.name)
    );
    for (place, (run, summary)) in sorted.iter().enumerate() {
        let class = if place == median {
            " class=\"median\""
        } else {
            ""
        };
        let _ = write!(
            text,
            "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td></tr>",
            link(run.folder.path(), out, summary.seed),
            run.shown(summary.best_first),
            run.shown(summary.best_last),
            run.shown(summary.mean_first),
            run.shown(summary.mean_last),
            summary.validation.map_or("-".to_owned(), |value| {
                run.preset.fitness.format_validation(value)
            }),
            summary.seconds
        );
    }
    text + "</table></div>"
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
