//! `finch tune [PRESET]`: evolves weights and says what came of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, ensure};
use clap::Args;

use super::progress::Progress;
use crate::tune::preset::Preset;
use crate::tune::report;
use crate::tune::run::{self, Folder, Journal, Outcome, Summary, Workshop};

#[derive(Args)]
pub struct Arguments {
    /// A preset that comes with Finch, or a file.
    #[arg(default_value = "vazquez-2013")]
    preset: String,
    /// Games (PGN), positions (EPD with bm) or labels (EPD with ce) to learn from, instead of the preset's.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// Seed of the run; with --runs, of the first.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads to work with; the result does not depend on it.
    #[arg(long)]
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
    /// Folder to write to; runs/PRESET, with a number if that is taken.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a run that was broken off.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["preset", "games", "seed", "runs", "set", "sweep", "out"])]
    resume: Option<PathBuf>,
    /// Folder of a run whose last population this one goes on from (coevolution).
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    from: Option<PathBuf>,
    /// Make the result the weights this Finch plays with.
    #[arg(long)]
    install: bool,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let stop = stop_on_interrupt()?;
        if let Some(folder) = &self.resume {
            return self.resume(folder, &stop);
        }
        let variants = self.variants()?;
        ensure!(
            !self.install || self.runs == 1 && variants.len() == 1,
            "--install: of several runs none is the result"
        );
        let mut session = Session::default();
        let out = self.place(&variants[0].1, &mut session)?;
        for (label, preset) in &variants {
            let base = label.as_ref().map_or(out.clone(), |label| out.join(label));
            self.run_variant(label.as_deref(), preset, &base, &mut session, &stop)?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if session.folders.len() > 1 {
            report::write_comparison(&out, &session.folders)?;
            println!("report: {}", out.join("report.html").display());
        }
        Ok(())
    }

    /// Where to write. Games that cannot be read leave no folder behind.
    fn place(&self, preset: &Preset, session: &mut Session) -> anyhow::Result<PathBuf> {
        if let Some(out) = &self.out {
            ensure!(
                !Folder::holds_run(out),
                "{}: holds a run already; --resume {} goes on with it",
                out.display(),
                out.display()
            );
            return Ok(out.clone());
        }
        session.prepare(preset)?;
        Ok(Folder::create_free(&self.preset)?.path().to_owned())
    }

    fn resume(&self, path: &Path, stop: &AtomicBool) -> anyhow::Result<()> {
        let folder = Folder::open(path)?;
        let mut preset = folder.preset()?;
        preset.run.threads = self.threads.unwrap_or(preset.run.threads);
        let mut session = Session::default();
        let outcome = session.run(&preset, &folder, stop)?;
        self.conclude(&preset, &folder, &outcome, stop)
    }

    /// The runs of one variant of the preset, each in a folder of its own if there are several.
    fn run_variant(
        &self,
        label: Option<&str>,
        preset: &Preset,
        base: &Path,
        session: &mut Session,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        if let Some(label) = label {
            println!("{label}");
        }
        let mut summaries = Vec::new();
        for number in 0..self.runs {
            let mut preset = preset.clone();
            preset.run.seed = preset.run.seed.wrapping_add(number);
            let path = match self.runs {
                1 => base.to_owned(),
                _ => base.join(format!("seed-{}", preset.run.seed)),
            };
            session.prepare(&preset)?;
            let folder = Folder::claim(&path, &mut preset)?;
            let outcome = session.run(&preset, &folder, stop)?;
            if !outcome.interrupted {
                summaries.extend(Summary::of(preset.run.seed, &outcome.rows));
            }
            if self.runs == 1 {
                self.conclude(&preset, &folder, &outcome, stop)?;
            } else {
                report::write(&folder)?;
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if self.runs > 1 {
            let table = run::table(&summaries, preset.reference(), &preset.fitness);
            run::write_atomically(&base.join("table.txt"), &table)?;
            print!("{table}");
        }
        Ok(())
    }

    /// The presets to run: one, or one for each value of the sweeps, with a label.
    fn variants(&self) -> anyhow::Result<Vec<(Option<String>, Preset)>> {
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
            let mut preset = Preset::parse_with(&text, &file, &all)?;
            if !self.games.is_empty() {
                let names = self.games.iter().map(|path| path.display().to_string());
                preset.data.games = names.collect();
            }
            preset.run.seed = self.seed.unwrap_or(preset.run.seed);
            preset.run.threads = self.threads.unwrap_or(preset.run.threads);
            preset.run.started = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
            let settings = changes.iter().map(|(key, value)| format!("{key}={value}"));
            let label = settings.collect::<Vec<_>>().join(" ");
            Ok(((!label.is_empty()).then_some(label), preset))
        };
        combinations.iter().map(variant).collect()
    }

    /// Says what came of a single run, and does with it what was asked for.
    fn conclude(
        &self,
        preset: &Preset,
        folder: &Folder,
        outcome: &Outcome,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        report::write(folder)?;
        let best = folder.path().join("best.toml");
        let summary = Summary::of(preset.run.seed, &outcome.rows);
        if let (Some(summary), Some(reference)) = (summary, preset.reference()) {
            print!("{}", run::beside(&summary, reference, &preset.fitness));
        }
        if outcome.interrupted {
            let folder = folder.path().display();
            println!("interrupted; go on with: finch tune --resume {folder}");
        } else {
            print_averages(preset, folder)?;
            close(preset, folder, outcome, stop)?;
        }
        println!("weights: {}", best.display());
        println!("report: {}", folder.path().join("report.html").display());
        if self.install {
            let path = crate::eval::install(&outcome.best).context("--install")?;
            println!("installed: {}", path.display());
        } else if !outcome.interrupted {
            println!("play with them: finch --weights {}", best.display());
        }
        Ok(())
    }
}

fn print_averages(preset: &Preset, folder: &Folder) -> anyhow::Result<()> {
    let (genes, rows) = Journal::read(folder)?;
    print!("{}", run::averages(&genes, &rows, preset.reference()));
    Ok(())
}

/// New weights against start weights and rivals, in games: a line for each.
fn close(
    preset: &Preset,
    folder: &Folder,
    outcome: &Outcome,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let players = [&outcome.best, &outcome.start];
    let closings = run::closing_matches(preset, &outcome.genome, players, folder, stop)?;
    let Some(closings) = closings else {
        let folder = folder.path().display();
        println!("closing match interrupted; go on with: finch tune --resume {folder}");
        return Ok(());
    };
    let line = |closing: run::Closing| {
        let (opponent, score) = (closing.opponent, closing.score);
        format!(
            "result against {opponent}: {} wins, {} draws, {} losses; Elo {}\n",
            score.wins,
            score.draws,
            score.losses,
            score.elo()
        )
    };
    let text: String = closings.into_iter().map(line).collect();
    print!("{text}");
    run::write_atomically(&folder.path().join("closing.txt"), &text)?;
    Ok(())
}

/// What several runs of one command share.
#[derive(Default)]
struct Session {
    workshop: Option<Workshop>,
    folders: Vec<PathBuf>,
}

impl Session {
    /// Reads the games, unless those read before will do.
    fn prepare(&mut self, preset: &Preset) -> anyhow::Result<&Workshop> {
        let workshop = match self.workshop.take() {
            Some(workshop) if workshop.serves(preset) => workshop,
            _ => Workshop::new(preset, &mut Progress::new(preset))?,
        };
        Ok(self.workshop.insert(workshop))
    }

    fn run(
        &mut self,
        preset: &Preset,
        folder: &Folder,
        stop: &AtomicBool,
    ) -> anyhow::Result<Outcome> {
        let workshop = self.prepare(preset)?;
        let mut progress = Progress::new(preset);
        let outcome = run::run(preset, workshop, folder, &mut progress, stop)?;
        progress.finish();
        self.folders.push(folder.path().to_owned());
        Ok(outcome)
    }
}

fn key_and_value(option: &str, text: &str) -> anyhow::Result<(String, String)> {
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

/// The first interrupt ends the run after its generation; the second ends the program.
pub(super) fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if heard.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("finch: stopping after this generation or game; once more to stop at once");
    })?;
    Ok(stop)
}
