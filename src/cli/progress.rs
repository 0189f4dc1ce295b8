//! How a run is getting on: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::data::Tally;
use crate::tune::fitness::Fitness;
use crate::tune::preset::Preset;
use crate::tune::run::{Observer, Row};

pub struct Progress {
    bar: Option<ProgressBar>,
    /// Without a bar every so many generations have a line.
    interval: u64,
}

impl Progress {
    pub fn new(preset: &Preset) -> Progress {
        let last = preset.run.generations;
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg} (eta {eta})");
            let bar = ProgressBar::new(last);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress {
            bar,
            interval: match preset.run.lines {
                0 => (last / 10).max(1),
                lines => lines,
            },
        }
    }

    /// Clears the bar away; the last figures stay.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            let message = bar.message();
            bar.finish_and_clear();
            println!("{message}");
        }
    }
}

/// Many small steps of known number, on standard error: a bar on a terminal, else a line for
/// each twentieth.
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

impl Observer for Progress {
    fn prepared(&mut self, tally: &Tally, training: usize, validation: usize) {
        println!(
            "{}; {training} positions to train on, {validation} to validate with",
            tally.summary()
        );
    }

    fn generation(&mut self, row: &Row, last: u64, fitness: &dyn Fitness) {
        let line = row.told(last, fitness);
        match &self.bar {
            Some(bar) => {
                bar.set_position(row.generation);
                bar.set_message(line);
            }
            None if row.generation.is_multiple_of(self.interval) || row.generation == last => {
                println!("{line}");
            }
            None => {}
        }
    }
}
