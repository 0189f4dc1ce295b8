//! `finch openings`: makes a file of balanced opening positions.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;

use super::WeightsOption;
use crate::files::write_atomically;
use crate::play::opening_generator::{OpeningSettings, make};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// How many positions.
    #[arg(long, default_value_t = OpeningSettings::default().count)]
    count: usize,
    /// The same seed makes the same positions.
    #[arg(long, default_value_t = OpeningSettings::default().seed)]
    seed: u64,
    /// The shortest line, in plies.
    #[arg(long, default_value_t = OpeningSettings::default().shortest)]
    shortest: usize,
    /// The longest line, in plies.
    #[arg(long, default_value_t = OpeningSettings::default().longest)]
    longest: usize,
    /// The largest deep score, in hundredths of a pawn of the evaluation.
    #[arg(long, default_value_t = OpeningSettings::default().balance)]
    balance: i32,
    /// Nodes of the deep search.
    #[arg(long, default_value_t = OpeningSettings::default().nodes)]
    nodes: u64,
    /// [default: as many as processors]
    #[arg(long)]
    threads: Option<usize>,
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "openings.epd")]
    out: PathBuf,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let weights = &self.weights.or_installed()?.weights;
        if self.shortest > self.longest || self.longest > 60 {
            bail!(
                "lines from {} to {} plies cannot be made",
                self.shortest,
                self.longest
            );
        }
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = OpeningSettings {
            count: self.count,
            seed: self.seed,
            shortest: self.shortest,
            longest: self.longest,
            balance: self.balance,
            nodes: self.nodes,
            threads: self.threads.unwrap_or_else(processors).max(1),
        };
        let bar = ProgressBar::new(self.count as u64);
        let openings = make(weights, &wanted, |found| bar.set_position(found as u64))?;
        bar.finish_and_clear();
        write(&self.out, &openings).with_context(|| self.out.display().to_string())?;
        println!("{} openings in {}", openings.len(), self.out.display());
        Ok(())
    }
}

/// One position a line, without the counters that mean nothing at the start of a game.
fn write(path: &Path, openings: &[String]) -> std::io::Result<()> {
    let line = |fen: &String| {
        let position: Vec<&str> = fen.split(' ').take(4).collect();
        format!("{}\n", position.join(" "))
    };
    let text: String = openings.iter().map(line).collect();
    write_atomically(path, &text)
}
