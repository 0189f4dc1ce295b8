//! `finch weights`: check a weights file, compare two, list the terms, fit the win model; say and
//! change which weights play.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use super::tune::stop_on_interrupt;
use crate::data::{Source, scored_results};
use crate::eval::{
    self, Family, LoadedWeights, TERMS, TaperedValue, TermInfo, Weights, WinModel, differences,
};
use crate::search::SearchParams;
use crate::tune::preset::RunSettings;
use crate::tune::run;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch weights list
  finch weights check mine.toml
  finch weights diff default hand-set
  finch weights install runs/texel/best.toml --games 400")]
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
    /// Say which weights play: name, id, network, where they come from.
    Installed,
    /// Play with these weights from now on, if they win a match against the weights in use.
    #[command(after_help = "\
Example: finch weights install runs/texel/best.toml --games 400
The file is copied beside the program as finch-weights.toml; finch weights uninstall goes back.")]
    Install {
        /// The weights file.
        file: PathBuf,
        /// Games of the match, two per opening.
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
        games: u32,
        /// Nodes a move in the match.
        #[arg(long, default_value_t = RunSettings::default().closing_nodes, value_parser = clap::value_parser!(u64).range(1..))]
        nodes: u64,
        /// Install without a match.
        #[arg(long, conflicts_with_all = ["games", "nodes"])]
        force: bool,
    },
    /// Go back to the built-in weights.
    Uninstall,
    /// Fit the win model (what score wins half of the games) to games the weights played against
    /// their equal, in PGN with scores in the comments as match runners write them.
    WinModel {
        /// The weights file.
        file: PathBuf,
        /// Games in PGN.
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
            Action::Installed => installed()?,
            Action::Install {
                file,
                games,
                nodes,
                force,
            } => {
                let settings = RunSettings {
                    closing_games: games,
                    closing_nodes: nodes,
                    ..RunSettings::default()
                };
                let stop = stop_on_interrupt()?;
                install(&file, &settings, force, &stop)?
            }
            Action::Uninstall => uninstall()?,
            Action::WinModel { file, games, save } => win_model(&file, &games, save)?,
        };
        print!("{text}");
        Ok(())
    }
}

fn check(file: &Path) -> Result<String> {
    let weights = Weights::named(file)?;
    let mut lines = vec![format!("{}: {}", file.display(), weights.name)];
    let provenance = weights.provenance.iter();
    lines.extend(provenance.map(|(key, value)| format!("  {key}: {value}")));
    let network = weights.network.iter();
    lines.extend(network.map(|network| {
        let architecture = network.architecture();
        format!(
            "  evaluated by the network {} ({architecture})",
            network.file
        )
    }));
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
    let (first, second) = (Weights::named(left)?, Weights::named(right)?);
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

fn installed() -> Result<String> {
    let LoadedWeights { weights, origin } = LoadedWeights::installed()
        .context("the installed weights cannot be read; finch weights uninstall removes them")?;
    let network = match &weights.network {
        Some(network) => network.file.as_str(),
        None => "none: the terms evaluate",
    };
    let (name, id) = (&weights.name, weights.id());
    let mut lines = vec![
        format!("name:    {name}"),
        format!("id:      {id}"),
        format!("network: {network}"),
        format!("from:    {origin}"),
    ];
    if !weights.search.is_empty() {
        let constants = weights.search.len();
        lines.push(format!("search:  {constants} constants of their own"));
    }
    Ok(lines.join("\n") + "\n")
}

/// Installs a weights file that wins a match against the weights that play now; any if `force`.
pub(super) fn install(
    file: &Path,
    settings: &RunSettings,
    force: bool,
    stop: &AtomicBool,
) -> Result<String> {
    let challenger = Weights::named(file)?;
    SearchParams::from_table(&challenger.search)
        .with_context(|| format!("{}: [search]", file.display()))?;
    let mut text = String::new();
    if !force {
        let incumbent = LoadedWeights::installed()
            .context("the installed weights cannot be read; --force replaces them")?
            .weights;
        if incumbent.id() == challenger.id() {
            return Ok(format!("{}: plays already\n", file.display()));
        }
        let closing = run::prove(&challenger, &incumbent, settings, stop)?;
        closing.check_winner()?;
        let lines = closing.all().map(|played| format!("{played}\n"));
        text = lines.collect();
    }
    let path =
        eval::install(&challenger).with_context(|| format!("{}: not installed", file.display()))?;
    Ok(text + &format!("installed: {}\n", path.display()))
}

fn uninstall() -> Result<String> {
    let removed = eval::uninstall().context("cannot remove the installed weights")?;
    Ok(match removed {
        Some(path) => format!("removed: {}; the built-in weights play\n", path.display()),
        None => "none are installed; the built-in weights play\n".to_owned(),
    })
}

fn win_model(file: &Path, games: &[PathBuf], save: bool) -> Result<String> {
    let mut weights = Weights::load(file)?;
    let before = weights.win_model();
    let mut samples = Vec::new();
    for games in games {
        samples.extend(scored_results(&Source::file(games), &before)?);
    }
    let fitted = WinModel::fit(&samples).map(WinModel::rounded);
    let fitted = fitted.with_context(|| {
        let scored = samples.len();
        format!("{scored} scored moves are too few for a win model; play more games")
    })?;
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
