//! `finch openings`: generates a file of balanced opening positions.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;

use super::WeightsOption;
use super::thread_count;
use crate::files::AtomicFile;
use crate::play::opening_generator::{OpeningSettings, generate, to_epd};

#[derive(Args)]
#[command(after_help = "\
Example:
  finch openings --count 500 --seed 7 --out mine.epd")]
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
    /// The largest absolute score of the deep search, in internal units.
    #[arg(long, default_value_t = OpeningSettings::default().balance)]
    balance: i32,
    /// Nodes of the deep search.
    #[arg(long, default_value_t = OpeningSettings::default().nodes)]
    nodes: u64,
    /// Threads [default: number of processors].
    #[arg(long, value_parser = thread_count())]
    threads: Option<usize>,
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "openings.epd")]
    out: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let weights = &self.weights.or_installed()?.weights;
        if self.out.exists() && !self.force {
            bail!("{} exists; --force replaces it", self.out.display());
        }
        let named = || self.out.display().to_string();
        // Before the work: a folder that cannot be written to fails now.
        let mut file = AtomicFile::create(&self.out).with_context(named)?;
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let settings = OpeningSettings {
            count: self.count,
            seed: self.seed,
            shortest: self.shortest,
            longest: self.longest,
            balance: self.balance,
            nodes: self.nodes,
            threads: self.threads.unwrap_or_else(processors).max(1),
        };
        let bar = ProgressBar::new(self.count as u64);
        let openings = generate(weights, &settings, &[], |found| {
            bar.set_position(found.len() as u64);
            ControlFlow::Continue(())
        })?;
        bar.finish_and_clear();
        let epd = to_epd(&openings);
        file.write_all(epd.as_bytes())
            .and_then(|()| file.commit())
            .with_context(named)?;
        println!("{} openings in {}", openings.len(), self.out.display());
        Ok(())
    }
}
