//! Progress of long work: a bar on a terminal, plain lines elsewhere, or JSON.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::output::{OutputOptions, json_line};
use crate::tune::preset::RunSettings;
use crate::tune::run::{Figures, RunObserver};

/// Generations that follow each other faster than this do not all get a line on a terminal.
const LINE_INTERVAL: Duration = Duration::from_millis(100);
/// Where there is no terminal, a count is printed this often.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(100);

/// Shows how a run advances.
pub struct Progress {
    output: OutputOptions,
    bar: Option<ProgressBar>,
    /// Without a bar, a line every so many generations.
    interval: u64,
    /// Generations since the first of this process, and when that was complete: it may be the
    /// start of the run, which takes another time than those that follow.
    done: u64,
    since: Option<Instant>,
    last_line: Option<Instant>,
}

impl Progress {
    pub fn new(output: OutputOptions) -> Progress {
        Progress {
            output,
            bar: None,
            interval: 1,
            done: 0,
            since: None,
            last_line: None,
        }
    }

    fn has_bar(&self) -> bool {
        self.output.shows_progress() && std::io::stderr().is_terminal()
    }

    /// Shows that something is under way whose end is not known.
    fn spin(&mut self, message: String) {
        self.clear();
        self.bar = self.has_bar().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(style("{spinner} {msg}  {elapsed}"));
            bar.set_message(message);
            bar.enable_steady_tick(TICK);
            bar
        });
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A row of a journal as fields of JSON.
pub fn row_fields(columns: &[String], figures: &Figures) -> Map<String, Value> {
    let values = figures.iter().map(|one| json!(one));
    columns.iter().cloned().zip(values).collect()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The time left if the rest takes as long as what is done. All of the work so far counts: single
/// generations differ too much.
fn time_left(elapsed: Duration, done: u64, left: u64) -> Duration {
    Duration::from_secs_f64(elapsed.as_secs_f64() / done.max(1) as f64 * left as f64)
}

impl RunObserver for Progress {
    fn preparing(&mut self) {
        self.spin("reading the data".to_owned());
    }

    fn prepared(&mut self, summary: &str) {
        self.clear();
        match self.output {
            OutputOptions { json: true, .. } => json_line("data", json!({ "summary": summary })),
            output if output.shows_progress() => println!("{summary}"),
            _ => {}
        }
    }

    fn started(&mut self, settings: &RunSettings) {
        self.clear();
        let last = settings.generations;
        self.interval = match settings.lines {
            0 => (last / 10).max(1),
            lines => lines,
        };
        self.done = 0;
        self.since = None;
        self.bar = self.has_bar().then(|| {
            let bar = ProgressBar::new(last);
            bar.set_style(style("{bar:30} {pos}/{len} generations  {elapsed}  {msg}"));
            bar.enable_steady_tick(TICK);
            bar
        });
    }

    fn generation(&mut self, generation: u64, last: u64, line: &str) {
        match self.since {
            None => self.since = Some(Instant::now()),
            Some(_) => self.done += 1,
        }
        if !self.output.shows_progress() {
            return;
        }
        let Some(bar) = &self.bar else {
            if generation.is_multiple_of(self.interval) || generation == last {
                println!("{line}");
            }
            return;
        };
        bar.set_position(generation);
        if let (Some(since), 1..) = (self.since, self.done) {
            let left = time_left(since.elapsed(), self.done, last - generation);
            bar.set_message(format!("about {} left", HumanDuration(left)));
        }
        let is_due = self
            .last_line
            .is_none_or(|at| at.elapsed() >= LINE_INTERVAL);
        if is_due || generation == last {
            bar.suspend(|| println!("{line}"));
            self.last_line = Some(Instant::now());
        }
    }

    fn row(&mut self, columns: &[String], figures: &Figures) {
        if self.output.json {
            json_line("generation", row_fields(columns, figures));
        }
    }

    fn finished(&mut self) {
        self.clear();
    }

    fn closing(&mut self, games: u64) {
        if self.output.shows_progress() {
            println!("closing match: {games} games");
        }
        self.spin("playing".to_owned());
    }

    fn closed(&mut self) {
        self.clear();
    }
}

/// Counts steps on standard error: a bar on a terminal, else a line now and then.
pub struct Counter {
    bar: Option<ProgressBar>,
    name: &'static str,
    last: u64,
    done: AtomicU64,
    started: Instant,
    /// Lines printed so far.
    lines: AtomicU64,
}

impl Counter {
    pub fn new(last: u64, name: &'static str) -> Counter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(last).with_message(name);
            bar.set_style(style(
                "{bar:30} {pos}/{len} {msg}, {per_sec}  {elapsed} (eta {eta})",
            ));
            bar
        });
        Counter {
            bar,
            name,
            last,
            done: AtomicU64::new(0),
            started: Instant::now(),
            lines: AtomicU64::new(0),
        }
    }

    pub fn step(&self) {
        if let Some(bar) = &self.bar {
            return bar.inc(1);
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let elapsed = self.started.elapsed();
        let lines = self.lines.load(Ordering::Relaxed);
        if elapsed < COUNT_INTERVAL * (lines as u32 + 1) {
            return;
        }
        // Of several threads one prints.
        let due = elapsed.as_secs() / COUNT_INTERVAL.as_secs();
        let printed = self
            .lines
            .compare_exchange(lines, due, Ordering::Relaxed, Ordering::Relaxed);
        if printed.is_ok() {
            let rate = done as f64 / elapsed.as_secs_f64();
            let left = time_left(elapsed, done, self.last - done).as_secs();
            let (last, name) = (self.last, self.name);
            eprintln!("{done} of {last} {name}, {rate:.0} a second, about {left} s left");
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_all_work_so_far() {
        let seconds =
            |elapsed, done, left| time_left(Duration::from_secs(elapsed), done, left).as_secs_f64();
        assert_eq!(seconds(10, 5, 20), 40.0);
        // One slow generation does not upset the estimate.
        assert!(seconds(13, 6, 19) < 42.0);
        assert_eq!(seconds(0, 0, 7), 0.0);
    }
}
