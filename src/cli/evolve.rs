//! `finch evolve`: self-play, training and SPRT in turn, for as long as it is left alone.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::output::{OutputOptions, json_line};
use super::progress::row_fields;
use super::report::start_watch;
use super::thread_count;
use super::tune::{key_and_value, stop_on_interrupt, today};
use super::weights::install;
use crate::tune::evolve::{
    self, EvolveLimits, EvolveObserver, EvolveRun, EvolveSettings, EvolveStage, EvolveState,
    STARTED, ZERO, engine_anchors,
};
use crate::tune::preset::RunSettings;
use crate::tune::report::{self, Watch};
use crate::tune::run::RunJournal;
use crate::work;

/// A generation: the champion plays itself at fixed nodes from random openings; a challenger
/// learns from the positions of the last generations (scores of the search mixed with results); an
/// SPRT between the two decides who plays on. Every sixth generation tunes the constants of the
/// search instead, by SPSA (search.every). Every few generations the champion plays fixed
/// anchors. Budgets are games and positions, so the same seed gives the same champions on any
/// number of threads, whatever interrupts the run.
#[derive(Args)]
#[command(after_help = "\
--from zero: a random network of a small width judges every position, endings too; there are no
  fitted terms. Exchanges and pruning use fixed textbook piece values. The constants of the search
  start from values that were once tuned with another evaluation.

Files in DIR: config.toml (all settings with their values), journal.csv (a row for each
  generation), champion.toml and its network, report.html. Labels that have left the window and
  folders of earlier generations are removed: a run takes less than 500 MB with the defaults.

Examples:
  finch evolve --from zero --hours 3 --out runs/zero
  finch evolve --out runs/zero --hours 6           # three more hours
  finch evolve --hours 8 --install                 # from the built-in weights; a winner plays
  finch evolve --from zero --set selfplay.positions=[50000,100000] --set sprt.games=200 --out runs/quick
  finch match runs/zero/champion.toml default --nodes 8000")]
pub struct Arguments {
    /// The first champion: zero (random network), default (built-in weights) or a weights file
    /// with a network [default: default].
    #[arg(long, value_name = "zero|default|FILE")]
    from: Option<String>,
    /// Stop after so many hours of work, those of earlier calls included.
    #[arg(long, value_name = "H")]
    hours: Option<f64>,
    /// Stop after this generation.
    #[arg(long, value_name = "N")]
    generations: Option<u64>,
    /// A UCI engine that scores positions in and around the champion's games, instead of the
    /// champion's own scores and results.
    #[arg(long, value_name = "CMD")]
    mentor: Option<String>,
    /// A UCI engine with UCI_Elo: an anchor at 1800, 2100 and 2400.
    #[arg(long, value_name = "CMD")]
    anchor_engine: Option<String>,
    /// Folder to write to. The same command resumes there after an interruption.
    #[arg(long, value_name = "DIR", default_value = "runs/evolve")]
    out: PathBuf,
    /// Seed of the run [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Another value for a key of config.toml, such as sprt.games=200.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// At the end, play the champion against the weights that play now (sprt.games at sprt.nodes),
    /// and install it if it wins.
    #[arg(long)]
    install: bool,
    /// Install the champion without that match.
    #[arg(long, requires = "install")]
    force: bool,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = thread_count())]
    threads: usize,
    /// Show the run's page in the browser while it goes on. Only this machine can open it.
    #[arg(long)]
    watch: bool,
    /// Refuse a run whose settings start another engine.
    #[arg(long)]
    no_engines: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        if work::is_helper() {
            return Ok(evolve::serve(self.threads)?);
        }
        let hours = self.hours.unwrap_or_default();
        ensure!(
            (0.0..=1e6).contains(&hours),
            "--hours {hours}: must be 0 or more"
        );
        let stop = stop_on_interrupt()?;
        let limits = EvolveLimits {
            stop: &stop,
            time: self
                .hours
                .map(|hours| Duration::from_secs_f64(3600.0 * hours)),
            generations: self.generations,
        };
        let changes = self.changes()?;
        let watch = start_watch(self.watch)?;
        watch.iter().for_each(|watch| watch.show(&self.out));
        let mut display = Display {
            output: self.output,
            no_engines: self.no_engines,
            bar: None,
        };
        let mut run = EvolveRun::open(
            &self.out,
            self.from.as_deref(),
            &changes,
            self.threads,
            limits,
            &mut display,
        )?;
        if self.output.shows_progress() {
            announce(&run);
        }
        let worked = run.run();
        let (champion, generation) = (run.champion_path(), run.state().champion);
        let settings = RunSettings {
            closing_games: run.settings().sprt.games as u32,
            closing_nodes: run.settings().sprt.nodes,
            threads: self.threads,
            ..RunSettings::default()
        };
        // The folder is free again.
        drop(run);
        display.clear();
        watch.iter().for_each(Watch::finish);
        worked?;
        self.print_result(&champion, generation);
        if self.install {
            // The interruption ended the generations; another one ends this match.
            stop.store(false, Ordering::Relaxed);
            let installed = install(&champion, &settings, self.force, &stop)?;
            match self.output.json {
                true => eprint!("{installed}"),
                false => print!("{installed}"),
            }
        }
        Ok(())
    }

    fn print_result(&self, champion: &Path, generation: u64) {
        let text = |path: &Path| path.display().to_string();
        let report = text(&self.out.join(report::FILE));
        if self.output.json {
            let fields = json!({
                "folder": text(&self.out),
                "champion": text(champion),
                "champion_generation": generation,
                "report": report,
            });
            return json_line("result", fields);
        }
        println!("champion: {} (generation {generation})", text(champion));
        println!("report: {report}");
        println!("resume with: finch evolve --out {}", text(&self.out));
    }

    /// The settings that were given, as changes of the config.
    fn changes(&self) -> Result<Vec<(String, String)>> {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut changes = vec![(STARTED.to_owned(), quoted(&today()))];
        let mut change = |key: &str, value: Option<String>| {
            changes.extend(value.map(|value| (key.to_owned(), value)));
        };
        change("start.seed", self.seed.map(|seed| seed.to_string()));
        change("selfplay.mentor", self.mentor.as_deref().map(quoted));
        let anchors = self.anchor_engine.as_deref().map(|command| {
            let mut players = EvolveSettings::new(ZERO).anchors.players;
            players.extend(engine_anchors(command));
            toml::Value::from(players).to_string()
        });
        change("anchors.players", anchors);
        for set in &self.set {
            changes.push(key_and_value("--set", set)?);
        }
        Ok(changes)
    }
}

fn announce(run: &EvolveRun<'_>) {
    let settings = run.settings();
    let megabytes = settings.label_bytes().div_ceil(1_000_000);
    println!(
        "evolve from {}, seed {}: generation {}, labels take up to {megabytes} MB",
        settings.start.from,
        settings.start.seed,
        run.state().generation
    );
}

/// A bar for the stage under way on a terminal, and a line for each generation.
struct Display {
    output: OutputOptions,
    bar: Option<ProgressBar>,
    no_engines: bool,
}

impl Display {
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl EvolveObserver for Display {
    fn stage(&mut self, generation: u64, stage: EvolveStage, steps: u64) {
        self.clear();
        log::info!("generation {generation}: {stage}");
        let has_bar = self.output.shows_progress() && std::io::stderr().is_terminal();
        self.bar = has_bar.then(|| {
            let style = ProgressStyle::with_template(
                "{msg} {bar:30} {pos}/{len}, {per_sec}  {elapsed} (eta {eta})",
            );
            let bar = ProgressBar::new(steps);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.with_message(format!("generation {generation}: {stage}"))
        });
    }

    fn progress(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }

    fn generation(&mut self, state: &EvolveState, journal: &RunJournal) {
        self.clear();
        match (self.output.json, journal.rows().last()) {
            (true, Some(row)) => json_line("generation", row_fields(journal.columns(), row)),
            _ if self.output.shows_progress() => println!("{}", state.describe()),
            _ => {}
        }
    }

    fn allows_engine(&mut self, command: &str) -> bool {
        if !self.no_engines {
            eprintln!("starts an engine: {command}");
        }
        !self.no_engines
    }
}
