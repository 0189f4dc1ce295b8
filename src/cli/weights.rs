//! `finch weights`: check a weights file, compare two, list what can be weighed.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};

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
        match self.action {
            Action::Check { file } => check(&file),
            Action::Diff { left, right } => diff(&left, &right),
            Action::List => {
                list();
                Ok(())
            }
        }
    }
}

fn check(file: &Path) -> Result<()> {
    let weights = Weights::load(file)?;
    println!("{}: {}", file.display(), weights.name);
    for (key, value) in &weights.provenance {
        println!("  {key}: {value}");
    }
    let weighs = |info: &&TermInfo| weights.values(info).iter().any(|v| *v != Value::default());
    for &family in Family::ALL {
        let all: Vec<_> = TERMS.iter().filter(|info| info.family == family).collect();
        let used = all.iter().filter(|info| weighs(info)).count();
        println!("  {:<10} {used:>3} of {:>3} terms", family.key(), all.len());
    }
    println!("  ok");
    Ok(())
}

fn diff(left: &Path, right: &Path) -> Result<()> {
    let (first, second) = (Weights::load(left)?, Weights::load(right)?);
    let found = differences(&first, &second);
    if found.is_empty() {
        println!("no difference");
        return Ok(());
    }
    let width = found
        .iter()
        .map(|difference| difference.term.label().len())
        .max()
        .unwrap_or(0);
    println!(
        "{:<width$}  {:>18}  {:>18}",
        "",
        left.display(),
        right.display()
    );
    for difference in &found {
        let (before, after) = (shown(difference.left), shown(difference.right));
        println!(
            "{:<width$}  {before:>18}  {after:>18}",
            difference.term.label()
        );
    }
    println!("{} weights differ", found.len());
    Ok(())
}

fn shown(value: Value) -> String {
    if value.midgame == value.endgame {
        format!("{}", value.midgame)
    } else {
        format!("[{}, {}]", value.midgame, value.endgame)
    }
}

fn list() {
    for &family in Family::ALL {
        println!("[{}]  {}", family.key(), family.meaning().trim());
        for info in TERMS.iter().filter(|info| info.family == family) {
            let name = match info.length {
                1 => info.name.to_owned(),
                length => format!("{}[{length}]", info.name),
            };
            let bounds = format!("{}..={}", info.low, info.high);
            println!("  {name:<32} {bounds:>12}  {}", info.meaning.trim());
        }
        println!();
    }
}
