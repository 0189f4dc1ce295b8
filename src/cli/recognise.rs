//! `finch recognise`: which clone agrees most with the moves of each side of games.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::filters::Filters;
use crate::data::{self, PgnGame, Selection, Source};
use crate::eval::Weights;
use crate::tune::fitness::Quiescence;
use crate::tune::recognition::{
    Calibration, Likeness, Manner, Score, Witness, most_likely, witnesses,
};

#[derive(Args)]
pub struct Arguments {
    /// Games in PGN, plain or compressed.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// The clones: weights files, perhaps with a name as in Carlsen=best.toml. A player of a
    /// game is known if the name is part of his.
    #[arg(long, required = true, num_args = 2.., value_name = "[NAME=]FILE")]
    among: Vec<String>,
    /// Games whose players are known, to learn how far the clones can be trusted.
    #[arg(long, num_args = 1.., value_name = "GAMES")]
    calibrate: Vec<PathBuf>,
    /// Look only at sides whose players are known.
    #[arg(long)]
    known: bool,
    /// Moves at the start of each game that do not count.
    #[arg(long, default_value_t = 0)]
    skip_moves: u32,
    /// Moves after so many of a game do not count, 0 for all; as in the preset the clones are
    /// from.
    #[arg(long, default_value_t = 12)]
    first_moves: u32,
    /// Centipawns that make a move e times as likely.
    #[arg(long, default_value_t = 60.0)]
    temperature: f64,
    /// Print the summary only.
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    filters: Filters,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        ensure!(
            self.temperature > 0.0 && self.temperature.is_finite(),
            "--temperature must be above 0"
        );
        let clones = self.clones()?;
        let calibration = match self.calibrate[..] {
            [] => Calibration::none(clones.len()),
            _ => {
                let (_, sides) = self.hear(&self.calibrate, &clones, true)?;
                let fitted = Calibration::fit(&sides, clones.len());
                let fitted = fitted.context("--calibrate: no player of the games is known")?;
                print_score("calibrated", &Score::of(&sides, &fitted));
                println!("evidence counts {:.3} times", fitted.trust());
                fitted
            }
        };
        let (games, sides) = self.hear(&self.games, &clones, self.known)?;
        if !self.brief {
            for side in &sides {
                println!("{}", line(side, &games, &clones, &calibration));
            }
        }
        let score = Score::of(&sides, &calibration);
        if score.sides > 0 {
            print_score("recognised", &score);
        }
        Ok(())
    }

    fn clones(&self) -> Result<Vec<Likeness>> {
        let clone = |text: &String| {
            let (name, path) = match text.split_once('=') {
                // A path may hold the sign itself, as those of sweeps do.
                Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => {
                    (name.to_owned(), path)
                }
                _ => {
                    let stem = Path::new(text).file_stem().unwrap_or_default();
                    (stem.to_string_lossy().into_owned(), text.as_str())
                }
            };
            Ok(Likeness {
                name,
                weights: Weights::load(Path::new(path))?,
            })
        };
        self.among.iter().map(clone).collect()
    }

    fn hear(
        &self,
        files: &[PathBuf],
        clones: &[Likeness],
        known_only: bool,
    ) -> Result<(Vec<PgnGame>, Vec<Witness>)> {
        let selection = Selection {
            skip_moves: self.skip_moves,
            first_moves: self.first_moves,
            ..self.filters.selection()
        };
        let sources: Vec<_> = files.iter().map(Source::file).collect();
        let (games, tally) = data::games(&sources, &selection)?;
        println!("{}", tally.summary());
        let manner = Manner {
            temperature: self.temperature,
            quiescence: Quiescence::default(),
        };
        let sides = witnesses(&games, clones, manner, &selection, known_only);
        Ok((games, sides))
    }
}

fn line(
    side: &Witness,
    games: &[PgnGame],
    clones: &[Likeness],
    calibration: &Calibration,
) -> String {
    let posterior = calibration.posterior(side);
    let answer = most_likely(&posterior);
    let mark = match side.truth {
        Some(truth) if truth == answer => " (right)",
        Some(_) => " (wrong)",
        None => "",
    };
    let all = clones.iter().zip(&posterior);
    let all: Vec<_> = all
        .map(|(clone, share)| format!("{} {:.0}%", clone.name, 100.0 * share))
        .collect();
    format!(
        "game {} {}, {} {}: {}{mark}; {} moves; {}",
        side.game + 1,
        games[side.game].date.0,
        side.color,
        side.player,
        clones[answer].name,
        side.moves,
        all.join(", ")
    )
}

fn print_score(word: &str, score: &Score) {
    println!(
        "{word}: {} of {} sides, {:.1}%; mean confidence {:.1}%; guessing {:.1}%, p = {:.2e}",
        score.right,
        score.sides,
        100.0 * score.share(),
        100.0 * score.confidence,
        100.0 * score.chance,
        score.p_value()
    );
}
