//! `finch train LABELS…`: trains a network. The same as `finch tune network --games LABELS…`, with
//! the preset's settings as options.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::output::OutputOptions;
use super::progress::Progress;
use super::report::start_watch;
use super::thread_count;
use super::tune::{incumbent, print_result, resume, stop_on_interrupt, today};
use crate::tune::experiment::Experiment;
use crate::tune::preset::Preset;
use crate::tune::report::Watch;
use crate::tune::run::{RunFolder, Session};

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch train labels.bin --out runs/network
  finch train labels.bin more.bin --generations 20 --set genome.width=64
  finch train --resume runs/network")]
pub struct Arguments {
    /// Labels in any format, such as `finch selfplay --engine … --packed` writes.
    #[arg(required_unless_present = "resume")]
    labels: Vec<PathBuf>,
    /// Seed of the run [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Rows of the journal; after each the network is validated and saved [default: 60].
    #[arg(long)]
    generations: Option<u64>,
    /// Batches in a generation [default: 1000].
    #[arg(long)]
    steps: Option<u64>,
    /// Labels in a batch [default: 16384].
    #[arg(long)]
    batch: Option<usize>,
    /// The learning rate after the warm-up and at the end [default: 0.001 0.000002].
    #[arg(long, num_args = 2, value_names = ["FIRST", "LAST"])]
    rate: Vec<f64>,
    /// The mentor's centipawns that multiply the odds of winning by e [default: as the files say].
    #[arg(long, value_name = "CENTIPAWNS")]
    mentor_scale: Option<f64>,
    /// The share of games that is kept for validation [default: 0.01].
    #[arg(long)]
    validation_share: Option<f64>,
    /// Another value for a key of the preset `network`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, value_parser = thread_count())]
    threads: Option<usize>,
    /// Folder to write to. The same command resumes there after an interruption.
    #[arg(long, value_name = "DIR", default_value = "runs/network")]
    out: PathBuf,
    /// Resume an interrupted run.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["labels", "seed", "generations", "steps", "batch", "rate", "mentor_scale", "validation_share", "set", "out"])]
    resume: Option<PathBuf>,
    /// Play with the network from now on, if it wins its closing match against the weights that play now.
    #[arg(long)]
    install: bool,
    /// Install the network even if it does not win.
    #[arg(long, requires = "install")]
    force: bool,
    /// Show the training's page in the browser while it goes on. Only this machine can open it.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let stop = stop_on_interrupt()?;
        let watch = start_watch(self.watch)?;
        let mut progress = Progress::new(self.output);
        let mut session = Session::new(incumbent(), &mut progress, &stop);
        let install = self.install.then_some(self.force);
        let how = (install, self.output);
        if let Some(path) = &self.resume {
            return resume(path, self.threads, how, watch.as_ref(), &mut session);
        }
        let mut experiment = self.experiment()?;
        RunFolder::check(&self.out)?;
        session.prepare(&experiment)?;
        let folder = RunFolder::claim(&self.out, &mut experiment)?;
        watch.iter().for_each(|watch| watch.show(folder.path()));
        let finished = session.run(&experiment, &folder)?;
        watch.iter().for_each(Watch::finish);
        print_result(&experiment, &folder, &finished, install, self.output)
    }

    fn experiment(&self) -> Result<Experiment> {
        let (file, text) = Preset::text("network")?;
        let mut changes: Vec<(String, String)> = Vec::new();
        let mut change = |key: &str, value: Option<String>| {
            changes.extend(value.map(|value| (key.to_owned(), value)));
        };
        let text_of = |value: Option<f64>| value.map(|value| format!("{value:?}"));
        change("run.seed", self.seed.map(|seed| seed.to_string()));
        change(
            "run.generations",
            self.generations.map(|count| count.to_string()),
        );
        change("method.steps", self.steps.map(|count| count.to_string()));
        change("method.batch", self.batch.map(|count| count.to_string()));
        let rate = (!self.rate.is_empty()).then(|| format!("{:?}", self.rate));
        change("method.learning_rate", rate);
        change("fitness.mentor_scale", text_of(self.mentor_scale));
        change("data.validation_share", text_of(self.validation_share));
        for set in &self.set {
            changes.push(super::tune::key_and_value("--set", set)?);
        }
        let mut experiment = Experiment::parse_with(&text, &file, &changes)?;
        experiment.set_data(&self.labels);
        let run = experiment.run_mut();
        run.threads = self.threads.unwrap_or(run.threads);
        run.started = today();
        Ok(experiment)
    }
}
