//! `finch tune [PRESET]`: runs an experiment and prints its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::json;

use super::match_display::score_fields;
use super::output::{OutputOptions, json_line};
use super::progress::Progress;
use super::report::start_watch;
use super::thread_count;
use crate::eval::{LoadedWeights, Weights};
use crate::tune::experiment::Experiment;
use crate::tune::preset::Preset;
use crate::tune::report::{self, Watch};
use crate::tune::run::{
    self, Closing, FinishedRun, InstallError, RUNS, RunFolder, RunSummary, Session, SilentObserver,
};
use crate::work;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch tune                                   # the evolution of the 2013 paper, on the built-in games
  finch tune --list                            # the presets
  finch tune vazquez-2011 --games masters.pgn --runs 10
  finch tune --set run.generations=50 --set method.population=20 --out runs/short
  finch tune --watch                           # its page in the browser, live
  finch tune my-preset.toml --install          # play with the result if it wins
  finch tune --resume runs/short")]
pub struct Arguments {
    /// A preset that comes with Finch, or a file.
    #[arg(default_value = "vazquez-2013")]
    preset: String,
    /// List the presets that come with Finch.
    #[arg(long, exclusive = true)]
    list: bool,
    /// Games (PGN), positions (EPD with bm) or labels to learn from, instead of the preset's.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// Seed of the run; with --runs, of the first.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, value_parser = thread_count())]
    threads: Option<usize>,
    /// Repeat with this many seeds and print the table.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Another value for a key of the preset.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Repeat with a key of the preset set to each of these values.
    #[arg(long, value_name = "KEY=A,B,…")]
    sweep: Vec<String>,
    /// Folder to write to; runs/PRESET, with a number if that is taken. A folder that holds the
    /// same run, interrupted, is resumed.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Resume an interrupted run.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["preset", "games", "seed", "runs", "set", "sweep", "out"])]
    resume: Option<PathBuf>,
    /// Folder of a run whose last population this one starts from (coevolution).
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    from: Option<PathBuf>,
    /// Play with the result from now on, if it wins its closing match against the weights that play now.
    #[arg(long)]
    install: bool,
    /// Install the result even if it does not win.
    #[arg(long, requires = "install")]
    force: bool,
    /// Show the run's page in the browser while it goes on. Only this machine can open it.
    #[arg(long)]
    watch: bool,
    /// Refuse presets that start another engine: for presets from elsewhere.
    #[arg(long)]
    no_engines: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        if self.list {
            for (name, about) in Preset::built_in() {
                println!("{name:<25} {about}");
            }
            return Ok(());
        }
        if work::is_helper() {
            return self.serve();
        }
        let stop = stop_on_interrupt()?;
        let watch = start_watch(self.watch)?;
        let mut progress = Progress::new(self.output);
        let mut session = Session::new(incumbent(), &mut progress, &stop);
        if let Some(path) = &self.resume {
            announce_engine(&RunFolder::resume(path)?.experiment()?, self.no_engines)?;
            let how = (self.install.then_some(self.force), self.output);
            return resume(path, self.threads, how, watch.as_ref(), &mut session);
        }
        let variants = self.variants()?;
        ensure!(
            !self.install || self.runs == 1 && variants.len() == 1,
            "--install: several runs have no single result; run one"
        );
        if self.install && !variants[0].1.makes_weights() {
            return Err(InstallError::NotWeights.into());
        }
        for (_, experiment) in &variants {
            announce_engine(experiment, self.no_engines)?;
        }
        let is_single = self.runs == 1 && variants.len() == 1;
        let out = self.out_folder(&variants[0].1, is_single, &mut session)?;
        for (label, experiment) in &variants {
            let base = label.as_ref().map_or(out.clone(), |label| out.join(label));
            let label = label.as_deref();
            self.run_variant(
                label,
                experiment,
                &base,
                watch.as_ref(),
                &mut session,
                &stop,
            )?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        match session.compare(&out)? {
            Some(page) if self.output.json => {
                json_line(
                    "comparison",
                    json!({ "report": page.display().to_string() }),
                );
            }
            Some(page) => println!("report: {}", page.display()),
            None => {}
        }
        watch.iter().for_each(Watch::finish);
        Ok(())
    }

    /// Works for rank 0 of an MPI job: the same experiments in the same order.
    fn serve(&self) -> anyhow::Result<()> {
        let (mut silent, never) = (SilentObserver, AtomicBool::new(false));
        let mut session = Session::new(incumbent(), &mut silent, &never);
        // Rank 0 says what is refused.
        let is_refused = |experiment: &Experiment| self.no_engines && experiment.engine().is_some();
        if let Some(path) = &self.resume {
            let mut experiment = RunFolder::open(path)?.experiment()?;
            let run = experiment.run_mut();
            run.threads = self.threads.unwrap_or(run.threads);
            if !is_refused(&experiment) {
                session.serve(&experiment)?;
            }
            return Ok(());
        }
        let variants = self.variants()?;
        if variants
            .iter()
            .any(|(_, experiment)| is_refused(experiment))
        {
            return Ok(());
        }
        for (_, experiment) in variants {
            for number in 0..self.runs {
                session.serve(&numbered(&experiment, number))?;
            }
        }
        Ok(())
    }

    /// The folder to write to. Data that cannot be read leaves no folder behind.
    fn out_folder(
        &self,
        experiment: &Experiment,
        is_single: bool,
        session: &mut Session<'_>,
    ) -> anyhow::Result<PathBuf> {
        if let Some(out) = &self.out {
            ensure!(
                is_single || !RunFolder::holds_run(out),
                "{}: holds a single run; choose another folder for several",
                out.display()
            );
            RunFolder::check(out)?;
            return Ok(out.clone());
        }
        RunFolder::check(Path::new(RUNS))?;
        session.prepare(experiment)?;
        Ok(RunFolder::create_free(&self.preset)?.path().to_owned())
    }

    /// The runs of one variant of the preset, each in a folder of its own if there are several.
    fn run_variant(
        &self,
        label: Option<&str>,
        experiment: &Experiment,
        base: &Path,
        watch: Option<&Watch>,
        session: &mut Session<'_>,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        if let (Some(label), false) = (label, self.output.json) {
            println!("{label}");
        }
        let mut summaries = Vec::new();
        for number in 0..self.runs {
            let mut experiment = numbered(experiment, number);
            let seed = experiment.run().seed;
            let path = match self.runs {
                1 => base.to_owned(),
                _ => base.join(format!("seed-{seed}")),
            };
            session.prepare(&experiment)?;
            let folder = RunFolder::claim(&path, &mut experiment)?;
            watch.iter().for_each(|watch| watch.show(folder.path()));
            let finished = session.run(&experiment, &folder)?;
            if !finished.outcome.interrupted {
                summaries.extend(RunSummary::of(seed, &finished.outcome.journal));
            }
            if self.runs == 1 || self.output.json {
                let install = self.install.then_some(self.force);
                print_result(&experiment, &folder, &finished, install, self.output)?;
            } else {
                print_closing(&folder, &finished);
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if let (true, Experiment::Evolution(preset)) = (self.runs > 1, experiment) {
            let table = run::table(&summaries, preset.reference(), &preset.fitness);
            run::write_file(&base.join("table.txt"), &table)?;
            if !self.output.json {
                print!("{table}");
            }
        }
        Ok(())
    }

    /// The presets to run: one, or one for each value of the sweeps, with a label.
    fn variants(&self) -> anyhow::Result<Vec<(Option<String>, Experiment)>> {
        let (file, text) = Preset::text(&self.preset)?;
        let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for sweep in &self.sweep {
            let (key, values) = key_and_value("--sweep", sweep)?;
            let grown = combinations.iter().flat_map(|earlier| {
                split_values(&values).into_iter().map(|value| {
                    let mut changes = earlier.clone();
                    changes.push((key.clone(), value));
                    changes
                })
            });
            combinations = grown.collect();
        }
        let set = self.set.iter().map(|text| key_and_value("--set", text));
        let set = set.collect::<anyhow::Result<Vec<_>>>()?;
        let variant = |changes: &Vec<(String, String)>| {
            let from = self.from.iter().map(|folder| {
                let folder = toml::Value::String(folder.display().to_string());
                ("method.from".to_owned(), folder.to_string())
            });
            let set = set.iter().chain(changes).cloned();
            let all: Vec<_> = from.chain(set).collect();
            let mut experiment = Experiment::parse_with(&text, &file, &all)?;
            if !self.games.is_empty() {
                experiment.set_data(&self.games);
            }
            let run = experiment.run_mut();
            run.seed = self.seed.unwrap_or(run.seed);
            run.threads = self.threads.unwrap_or(run.threads);
            run.started = today();
            let settings = changes.iter().map(|(key, value)| format!("{key}={value}"));
            let label = settings.collect::<Vec<_>>().join(" ");
            Ok(((!label.is_empty()).then_some(label), experiment))
        };
        combinations.iter().map(variant).collect()
    }
}

/// Says which other engine the preset of a run is about to start, or refuses to.
fn announce_engine(experiment: &Experiment, no_engines: bool) -> anyhow::Result<()> {
    if let Some(command) = experiment.engine() {
        ensure!(
            !no_engines,
            "{}: it starts an engine, which --no-engines forbids: {command}",
            experiment.name()
        );
        eprintln!("starts an engine: {command}");
    }
    Ok(())
}

/// The experiment of one of several runs: each has a seed of its own.
fn numbered(experiment: &Experiment, number: u64) -> Experiment {
    let mut experiment = experiment.clone();
    let run = experiment.run_mut();
    run.seed = run.seed.wrapping_add(number);
    experiment
}

/// Resumes the run of a folder; `install` says whether to install the result, and whether by force.
pub(super) fn resume(
    path: &Path,
    threads: Option<usize>,
    (install, output): (Option<bool>, OutputOptions),
    watch: Option<&Watch>,
    session: &mut Session<'_>,
) -> anyhow::Result<()> {
    let folder = RunFolder::resume(path)?;
    watch.iter().for_each(|watch| watch.show(folder.path()));
    let mut experiment = folder.experiment()?;
    let run = experiment.run_mut();
    run.threads = threads.unwrap_or(run.threads);
    let finished = session.run(&experiment, &folder)?;
    watch.into_iter().for_each(Watch::finish);
    print_result(&experiment, &folder, &finished, install, output)
}

/// Prints the result of a single run, and installs it if asked to.
pub(super) fn print_result(
    experiment: &Experiment,
    folder: &RunFolder,
    finished: &FinishedRun,
    install: Option<bool>,
    output: OutputOptions,
) -> anyhow::Result<()> {
    if output.json {
        return print_json(folder, finished, install);
    }
    let outcome = &finished.outcome;
    let path = folder.path();
    if let Experiment::Evolution(preset) = experiment {
        print!("{}", run::figures_beside_paper(preset, outcome));
    }
    if outcome.interrupted {
        println!(
            "interrupted; resume with: finch tune --resume {}",
            path.display()
        );
    } else {
        print_closing(folder, finished);
    }
    let best = path.join(run::BEST);
    let weights = outcome.best.weights();
    let kind = weights.map_or("options", |_| "weights");
    println!("{kind}: {}", best.display());
    println!("report: {}", path.join(report::FILE).display());
    if let Some(force) = install {
        println!("installed: {}", finished.install(force)?.display());
    } else if weights.is_some() && !outcome.interrupted {
        println!("play with them: finch --weights {}", best.display());
    }
    Ok(())
}

/// The same as JSON.
fn print_json(
    folder: &RunFolder,
    finished: &FinishedRun,
    install: Option<bool>,
) -> anyhow::Result<()> {
    let path = folder.path();
    for played in finished.closing.iter().flat_map(Closing::all) {
        let mut fields = score_fields(&played.score);
        fields.insert("opponent".to_owned(), json!(played.opponent));
        json_line("closing", fields);
    }
    let installed = install.map(|force| finished.install(force)).transpose();
    let text = |path: &Path| path.display().to_string();
    let fields = json!({
        "folder": text(path),
        "best": text(&path.join(run::BEST)),
        "report": text(&path.join(report::FILE)),
        "interrupted": finished.outcome.interrupted,
        "installed": installed.as_ref().ok().and_then(Option::as_deref).map(text),
    });
    json_line("result", fields);
    installed?;
    Ok(())
}

/// Prints the scores of the closing match, a line for each opponent.
fn print_closing(folder: &RunFolder, finished: &FinishedRun) {
    match &finished.closing {
        Some(closing) => closing.all().for_each(|played| println!("{played}")),
        None if finished.outcome.interrupted => {}
        None => {
            let folder = folder.path().display();
            println!("closing match interrupted; resume with: finch tune --resume {folder}");
        }
    }
}

/// The weights that play now: the installed ones, or the built-in ones if there are none to use.
pub(super) fn incumbent() -> Weights {
    let loaded = LoadedWeights::installed().unwrap_or_else(|_| LoadedWeights::built_in());
    (*loaded.weights).clone()
}

/// The date that a run carries.
pub(super) fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

pub(super) fn key_and_value(option: &str, text: &str) -> anyhow::Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .with_context(|| format!("{option} {text}: not of the form KEY=VALUE"))?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// Commas between values, but not those inside brackets.
fn split_values(text: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = text.split(|c| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

/// The first Ctrl-C ends the run after its generation; the second ends the program.
pub(super) fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if heard.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!(
            "finch: stopping after this generation or game; press Ctrl-C again to stop at once"
        );
    })?;
    Ok(stop)
}
