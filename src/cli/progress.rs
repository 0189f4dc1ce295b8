//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::tune::preset::RunSettings;
use crate::tune::run::RunObserver;

/// Shows how a run advances.
#[derive(Default)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Without a bar, a line every so many generations.
    interval: u64,
}

/// Shows nothing: only rank 0 of an MPI job speaks.
pub struct SilentObserver;

impl RunObserver for SilentObserver {
    fn prepared(&mut self, _: &str) {}

    fn generation(&mut self, _: u64, _: u64, _: &str) {}
}

/// Counts steps on standard error: a bar on a terminal, else a line every twentieth of them.
pub struct Counter {
    bar: Option<ProgressBar>,
    name: &'static str,
    last: u64,
    done: AtomicU64,
    started: Instant,
}

impl Counter {
    pub fn new(last: u64, name: &'static str) -> Counter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "{bar:30} {pos}/{len} {msg}, {per_sec}  {elapsed} (eta {eta})",
            );
            let bar = ProgressBar::new(last).with_message(name);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Counter {
            bar,
            name,
            last,
            done: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    pub fn step(&self) {
        if let Some(bar) = &self.bar {
            return bar.inc(1);
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of((self.last / 20).max(1)) {
            let rate = done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
            let left = (self.last - done) as f64 / rate;
            let (last, name) = (self.last, self.name);
            eprintln!("{done} of {last} {name}, {rate:.0} a second, {left:.0} s to go");
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl RunObserver for Progress {
    fn prepared(&mut self, summary: &str) {
        println!("{summary}");
    }

    fn started(&mut self, settings: &RunSettings) {
        let last = settings.generations;
        self.interval = match settings.lines {
            0 => (last / 10).max(1),
            lines => lines,
        };
        self.bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg} (eta {eta})");
            let bar = ProgressBar::new(last);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
    }

    fn generation(&mut self, generation: u64, last: u64, line: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(generation);
                bar.set_message(line.to_owned());
            }
            None if generation.is_multiple_of(self.interval) || generation == last => {
                println!("{line}");
            }
            None => {}
        }
    }

    /// Clears the bar; the last figures stay.
    fn finished(&mut self) {
        if let Some(bar) = self.bar.take() {
            let message = bar.message();
            bar.finish_and_clear();
            println!("{message}");
        }
    }

    fn closing(&mut self, games: u64) {
        println!("closing match: {games} games");
    }
}
