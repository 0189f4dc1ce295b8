//! `finch recognise`: which player model most likely made the moves of each side of games.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::filters::Filters;
use crate::data::{self, PgnGame, Selection, Source};
use crate::eval::Weights;
use crate::tune::fitness::QuiescenceLimits;
use crate::tune::recognition::{
    Calibration, GameSide, MoveModel, PlayerModel, RecognitionScore, collect_sides, most_likely,
};

#[derive(Args)]
#[command(after_help = "\
Example:
  finch recognise unknown.pgn --among Anand=anand.toml Carlsen=carlsen.toml --calibrate known.pgn")]
pub struct Arguments {
    /// Games in PGN, plain or compressed.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// The player models: weights files, optionally named as in Carlsen=best.toml. A player of a
    /// game is known if the name is part of his.
    #[arg(long, required = true, num_args = 2.., value_name = "[NAME=]FILE")]
    among: Vec<String>,
    /// Games with known players, to calibrate the confidence.
    #[arg(long, num_args = 1.., value_name = "GAMES")]
    calibrate: Vec<PathBuf>,
    /// Only sides whose players have a model.
    #[arg(long)]
    known: bool,
    /// Moves at the start of each game that do not count.
    #[arg(long, default_value_t = 0)]
    skip_moves: u32,
    /// Only this many moves at the start of each game count, 0 for all; as in the preset that made
    /// the models.
    #[arg(long, default_value_t = 12)]
    first_moves: u32,
    /// Softmax temperature: centipawns that make a move e times as likely.
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
        let models = self.models()?;
        let calibration = match self.calibrate[..] {
            [] => Calibration::none(models.len()),
            _ => {
                let (_, sides) = self.read_sides(&self.calibrate, &models, true)?;
                let fitted = Calibration::fit(&sides, models.len());
                let fitted = fitted.context("--calibrate: no player of these games has a model; name the models as the games do")?;
                print_score("calibrated", &RecognitionScore::of(&sides, &fitted));
                println!("evidence scaled by {:.3}", fitted.evidence_scale());
                fitted
            }
        };
        let (games, sides) = self.read_sides(&self.games, &models, self.known)?;
        if !self.brief {
            for side in &sides {
                println!("{}", line(side, &games, &models, &calibration));
            }
        }
        let score = RecognitionScore::of(&sides, &calibration);
        if score.sides > 0 {
            print_score("recognised", &score);
        }
        Ok(())
    }

    fn models(&self) -> Result<Vec<PlayerModel>> {
        let model = |text: &String| {
            let (name, path) = match text.split_once('=') {
                // A path may contain the sign itself, as those of sweeps do.
                Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => {
                    (name.to_owned(), path)
                }
                _ => {
                    let stem = Path::new(text).file_stem().unwrap_or_default();
                    (stem.to_string_lossy().into_owned(), text.as_str())
                }
            };
            Ok(PlayerModel {
                name,
                weights: Weights::named(Path::new(path))?,
            })
        };
        self.among.iter().map(model).collect()
    }

    fn read_sides(
        &self,
        files: &[PathBuf],
        models: &[PlayerModel],
        known_only: bool,
    ) -> Result<(Vec<PgnGame>, Vec<GameSide>)> {
        let selection = Selection {
            skip_moves: self.skip_moves,
            first_moves: self.first_moves,
            ..self.filters.selection()
        };
        let sources: Vec<_> = files.iter().map(Source::file).collect();
        let (games, tally) = data::games(&sources, &selection)?;
        println!("{}", tally.summary());
        let move_model = MoveModel {
            temperature: self.temperature,
            quiescence: QuiescenceLimits::default(),
        };
        let sides = collect_sides(&games, models, move_model, &selection, known_only);
        Ok((games, sides))
    }
}

fn line(
    side: &GameSide,
    games: &[PgnGame],
    models: &[PlayerModel],
    calibration: &Calibration,
) -> String {
    let posterior = calibration.posterior(side);
    let answer = most_likely(&posterior);
    let mark = match side.actual {
        Some(actual) if actual == answer => " (right)",
        Some(_) => " (wrong)",
        None => "",
    };
    let all = models.iter().zip(&posterior);
    let all: Vec<_> = all
        .map(|(model, share)| format!("{} {:.0}%", model.name, 100.0 * share))
        .collect();
    format!(
        "game {} {}, {} {}: {}{mark}; {} moves; {}",
        side.game + 1,
        games[side.game].date.0,
        side.color,
        side.player,
        models[answer].name,
        side.moves,
        all.join(", ")
    )
}

fn print_score(word: &str, score: &RecognitionScore) {
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
