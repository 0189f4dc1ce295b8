//! `finch weights`: check a weights file, compare two, list what can be weighed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};

use super::output;
use crate::eval::{Family, TERMS, TermInfo, Value, Weights, differences};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Read a weights file and say what it holds, or what is wrong and where.
    Check { file: PathBuf },
    /// Show every weight two files disagree on.
    Diff { left: PathBuf, right: PathBuf },
    /// List every term: name, bounds, meaning.
    List,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let text = match self.action {
            Action::Check { file } => check(&file)?,
            Action::Diff { left, right } => diff(&left, &right)?,
            Action::List => list(),
        };
        Ok(output::print(&text)?)
    }
}

fn check(file: &Path) -> Result<String> {
    let weights = Weights::load(file)?;
    let mut lines = vec![format!("{}: {}", file.display(), weights.name)];
    let provenance = weights.provenance.iter();
    lines.extend(provenance.map(|(key, value)| format!("  {key}: {value}")));
    let network = weights.network.iter();
    lines.extend(network.map(|network| format!("  judged by the network {}", network.file)));
    let weighs = |info: &&&TermInfo| weights.values(info).iter().any(|v| *v != Value::default());
    for &family in Family::ALL {
        let all: Vec<_> = family_terms(family).collect();
        let used = all.iter().filter(weighs).count();
        lines.push(format!(
            "  {:<10} {used:>3} of {:>3} terms",
            family.key(),
            all.len()
        ));
    }
    lines.push("  ok\n".to_owned());
    Ok(lines.join("\n"))
}

fn diff(left: &Path, right: &Path) -> Result<String> {
    let (first, second) = (Weights::load(left)?, Weights::load(right)?);
    let found = differences(&first, &second);
    let labels: Vec<_> = found.iter().map(|one| one.term.label()).collect();
    let width = labels.iter().map(String::len).max().unwrap_or(0);
    let mut lines = vec![
        format!("left:  {} ({})", left.display(), first.name),
        format!("right: {} ({})", right.display(), second.name),
    ];
    for (label, one) in labels.iter().zip(&found) {
        let (before, after) = (shown(one.left), shown(one.right));
        lines.push(format!("{label:<width$}  {before:>18}  {after:>18}"));
    }
    if first.network != second.network {
        let name = |weights: &Weights| match &weights.network {
            Some(network) => network.file.clone(),
            None => "none".to_owned(),
        };
        let (before, after) = (name(&first), name(&second));
        lines.push(format!("the networks differ: {before}, {after}"));
    }
    lines.push(format!("{} weights differ\n", found.len()));
    Ok(lines.join("\n"))
}

fn shown(value: Value) -> String {
    if value.midgame == value.endgame {
        format!("{}", value.midgame)
    } else {
        format!("[{}, {}]", value.midgame, value.endgame)
    }
}

fn list() -> String {
    let mut text = String::new();
    for &family in Family::ALL {
        let _ = writeln!(text, "[{}]  {}", family.key(), family.meaning().trim());
        for info in family_terms(family) {
            let name = match info.length {
                1 => info.name.to_owned(),
                length => format!("{}[{length}]", info.name),
            };
            let bounds = format!("{}..={}", info.low, info.high);
            let _ = writeln!(text, "  {name:<32} {bounds:>12}  {}", info.meaning.trim());
        }
        text.push('\n');
    }
    text
}

fn family_terms(family: Family) -> impl Iterator<Item = &'static TermInfo> {
    TERMS.iter().filter(move |info| info.family == family)
}
