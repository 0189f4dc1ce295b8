//! `finch train LABELS…`: teaches a network and writes it beside a weights file.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::tune::stop_on_interrupt;
use crate::data::is_scale;
use crate::tune::network::{Course, Settings};

#[derive(Args)]
pub struct Arguments {
    /// Labels in any format, such as `finch selfplay --engine … --packed` writes.
    #[arg(required_unless_present = "resume")]
    labels: Vec<PathBuf>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often the journal has a line and the network is saved.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    generations: u64,
    /// Steps in a generation.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Labels a step looks at.
    #[arg(long, default_value_t = 16_384)]
    batch: usize,
    /// How far a weight moves in a step, at first and at last.
    #[arg(long, num_args = 2, value_names = ["FIRST", "LAST"], default_values_t = [0.001, 0.000_002])]
    rate: Vec<f64>,
    /// The mentor's centipawns that multiply the odds of winning by e; what the files of labels
    /// say if it is not given.
    #[arg(long, value_name = "CENTIPAWNS")]
    mentor_scale: Option<f64>,
    /// The share of games that is not learned from, to measure by.
    #[arg(long, default_value_t = 0.01)]
    validation_share: f64,
    /// Threads to work with; the result does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Folder to write to.
    #[arg(long, value_name = "DIR", default_value = "runs/network")]
    out: PathBuf,
    /// Go on with a course that was broken off.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["labels", "seed", "generations", "steps", "batch", "rate", "out"])]
    resume: Option<PathBuf>,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let stop = stop_on_interrupt()?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build_global()
            .context("threads")?;
        let folder = self.resume.as_ref().unwrap_or(&self.out);
        let mut course = match &self.resume {
            Some(folder) => Course::resume(folder)?,
            None => Course::begin(&self.settings()?, folder)?,
        };
        for origin in course.origins() {
            println!("labels: {origin}");
        }
        let last = course.settings().generations;
        let ended = course.run(&stop, |generation| {
            println!(
                "generation {}/{last}: {} labels, training {:.6}, validation {:.6}, {:.0} s",
                generation.number,
                generation.labels,
                generation.training,
                generation.validation,
                generation.seconds
            );
        })?;
        if !ended {
            let folder = folder.display();
            println!("interrupted; go on with: finch train --resume {folder}");
        }
        let best = folder.join("best.toml");
        println!("play with it: finch --weights {}", best.display());
        Ok(())
    }

    fn settings(&self) -> Result<Settings> {
        ensure!(
            self.mentor_scale.is_none_or(is_scale),
            "--mentor-scale must be more than 0"
        );
        ensure!(
            (0.0..1.0).contains(&self.validation_share),
            "--validation-share is from 0 to 1"
        );
        ensure!(
            self.rate.iter().all(|rate| (0.0..=1.0).contains(rate)),
            "--rate is from 0 to 1"
        );
        ensure!(
            (8..=1 << 24).contains(&self.batch),
            "--batch is from 8 to 16777216"
        );
        Ok(Settings {
            labels: self.labels.clone(),
            seed: self.seed,
            generations: self.generations,
            steps: self.steps,
            batch: self.batch,
            rate: [self.rate[0], self.rate[1]],
            mentor_scale: self.mentor_scale,
            validation_share: self.validation_share,
        })
    }
}
