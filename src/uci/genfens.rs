//! `genfens N seed S book PATH|None`: openings for training games, one `info string genfens FEN` a
//! line, as OpenBench's workers ask for them.
//!
//! A worker takes every line that begins so for a position and waits a limited time for the next
//! one: openings are printed as they are found, and messages begin with another word.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context as _;

use super::output::Output;
use crate::eval::Weights;
use crate::play::opening_generator::{OpeningSettings, generate};
use crate::play::{Opening, openings};
use crate::position::Position;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genfens {
    pub count: usize,
    pub seed: u64,
    /// A file of openings to continue.
    pub book: Option<String>,
}

impl Genfens {
    /// The arguments of the command; `None` without a count. What else a worker was told to add is
    /// ignored.
    pub fn parse(words: &[&str]) -> Option<Genfens> {
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1).copied()
        };
        let book = after("book").filter(|name| !name.eq_ignore_ascii_case("none"));
        Some(Genfens {
            count: words.first()?.parse().ok()?,
            seed: after("seed").map_or(Some(1), |seed| seed.parse().ok())?,
            book: book.map(str::to_owned),
        })
    }

    /// Prints the openings until all are found or `stop` is set.
    pub fn run(&self, weights: &Arc<Weights>, output: &Output, stop: &AtomicBool) {
        if let Err(error) = self.print_openings(weights, output, stop) {
            output.message(format_args!("no more openings: {error:#}"));
        }
    }

    fn print_openings(
        &self,
        weights: &Arc<Weights>,
        output: &Output,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        let book = self.read_book().context("genfens")?;
        let settings = OpeningSettings::for_training(self.count, self.seed, self.book.is_some());
        let mut printed = 0;
        generate(weights, &settings, &book, |found| {
            for fen in &found[printed..] {
                output.line(format_args!("info string genfens {fen}"));
            }
            printed = found.len();
            match stop.load(Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(())
    }

    fn read_book(&self) -> Result<Vec<Position>, openings::OpeningsError> {
        let Some(file) = &self.book else {
            return Ok(Vec::new());
        };
        let read = openings::load(Path::new(file), openings::PLIES, self.seed)?;
        Ok(read.iter().map(Opening::end).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_workers_write_them() {
        let parse = |text: &str| Genfens::parse(&text.split_whitespace().collect::<Vec<_>>());
        let genfens = |count, seed, book: Option<&str>| {
            Some(Genfens {
                count,
                seed,
                book: book.map(str::to_owned),
            })
        };
        assert_eq!(parse("8 seed 42 book None "), genfens(8, 42, None));
        let book = Some("Books/a.epd");
        assert_eq!(parse("1 seed 2 book Books/a.epd x 3"), genfens(1, 2, book));
        for wrong in ["", "seed 3", "many seed 3", "4 seed x", "-1 seed 2"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
