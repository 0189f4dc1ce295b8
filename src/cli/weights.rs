//! `finch weights`: check a weights file, compare two, list the terms, fit the win model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use super::output;
use crate::data::{Source, scored_results};
use crate::eval::{Family, TERMS, TaperedValue, TermInfo, Weights, WinModel, differences};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Summarise a weights file, or name the line with an error.
    Check { file: PathBuf },
    /// List the weights that differ between two files.
    Diff { left: PathBuf, right: PathBuf },
    /// List all terms: name, bounds, meaning.
    List,
    /// Fit the win model (what score wins half of the games) to games the weights played against
    /// their equal, in PGN with scores in the comments as match runners write them.
    WinModel {
        file: PathBuf,
        #[arg(required = true)]
        games: Vec<PathBuf>,
        /// Write the model into the network file or, without a network, the weights file.
        #[arg(long)]
        save: bool,
    },
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let text = match self.action {
            Action::Check { file } => check(&file)?,
            Action::Diff { left, right } => diff(&left, &right)?,
            Action::List => list(),
            Action::WinModel { file, games, save } => win_model(&file, &games, save)?,
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
    lines.extend(network.map(|network| format!("  evaluated by the network {}", network.file)));
    let weighs = |info: &&&TermInfo| {
        weights
            .values(info)
            .iter()
            .any(|v| *v != TaperedValue::default())
    };
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

fn win_model(file: &Path, games: &[PathBuf], save: bool) -> Result<String> {
    let mut weights = Weights::load(file)?;
    let before = weights.win_model();
    let mut samples = Vec::new();
    for games in games {
        samples.extend(scored_results(&Source::file(games), &before)?);
    }
    let fitted = WinModel::fit(&samples).with_context(|| {
        let scored = samples.len();
        format!("{scored} scored moves are too few for a win model; play more games")
    })?;
    // Files show whole units: the rest is noise.
    let fitted = WinModel {
        midpoint: fitted.midpoint.round(),
        slope: fitted.slope.round(),
    };
    if save {
        weights
            .save_win_model(file, fitted)
            .with_context(|| format!("{}: cannot save the win model", file.display()))?;
    }
    let shown = |model: WinModel| format!("midpoint {}, slope {}", model.midpoint, model.slope);
    Ok(format!(
        "{} scored moves: {} (before: {})\n",
        samples.len(),
        shown(fitted),
        shown(before)
    ))
}

fn shown(value: TaperedValue) -> String {
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
