//! How a run is getting on: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;

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
            let style = ProgressStyle::with_template(
                "{bar:30} generation {pos}/{len}  {msg}  {elapsed} (eta {eta})",
            );
            let bar = ProgressBar::new(last);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress {
            bar,
            interval: (last / 10).max(1),
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

impl Observer for Progress {
    fn prepared(&mut self, tally: &Tally, training: usize, validation: usize) {
        println!(
            "{}; {training} positions to train on, {validation} to validate with",
            tally.summary()
        );
    }

    fn generation(&mut self, row: &Row, last: u64, fitness: &dyn Fitness) {
        let validation = row.validation.map_or(String::new(), |value| {
            format!("  validation {}", fitness.shown_validation(value))
        });
        let line = format!(
            "best {}  mean {}{validation}",
            fitness.shown(row.record),
            fitness.shown(row.mean)
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(row.generation);
                bar.set_message(line);
            }
            None if row.generation.is_multiple_of(self.interval) || row.generation == last => {
                println!(
                    "generation {}/{last}  {line}  {:.1} s",
                    row.generation, row.seconds
                );
            }
            None => {}
        }
    }
}
