//! `finch selfplay`: labels from quick games: Finch's own, a mentor's, or a mentor's scores of
//! positions around games.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::WeightsOption;
use crate::data::{
    self, FollowedGame, LabelFormat, LabelGeneration, LabelMaker, MENTOR_TIMEOUT, MentorConfig,
    PROBED_MOVES, Portion, Selection, SelfPlay, Source, is_scale,
};
use crate::files::check_file;
use crate::play::GameLimits;
use crate::work;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch selfplay --positions 100000 --out own.epd
  finch selfplay --engine stockfish --packed --positions 10000000 --out labels.bin")]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// How many positions to keep [default: 100000; with --part all].
    #[arg(long)]
    positions: Option<usize>,
    /// File to write. The same call resumes after an interruption.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Format of the file: epd, packed or text (FEN | centipawns | result). By default the name
    /// decides: .bin is packed, .txt is text, anything else is EPD.
    #[arg(long, conflicts_with = "packed")]
    format: Option<LabelFormat>,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Search depth of the players.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// The chance that a move is random.
    #[arg(long, default_value_t = 0.11)]
    blunders: f64,
    /// The chance that a quiet position is kept.
    #[arg(long, default_value_t = 0.35)]
    share: f64,
    /// Random plies at the start of each game: the least and the largest number.
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], default_values_t = [6, 16])]
    opening: Vec<u32>,
    /// A score beyond this ends a game, in centipawns of whoever plays.
    #[arg(long, default_value_t = 1_500, value_name = "CENTIPAWNS", value_parser = clap::value_parser!(u32).range(1..))]
    decided: u32,
    /// Let this UCI engine play instead, and keep its scores as labels.
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
    /// Finch plays, and the engine scores positions in and around the games as cheaply as it
    /// can: millions of packed labels, 32 bytes each, for `finch train`.
    #[arg(long, requires = "engine")]
    packed: bool,
    /// With --packed: follow the games of these files (PGN) instead of playing, once each.
    #[arg(long, requires = "packed", value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// With --games: follow the games of part K of N only. The parts, each made on a machine of its
    /// own and put together by `finch label --join`, are what one machine makes of all games.
    #[arg(
        long,
        requires = "games",
        conflicts_with = "positions",
        value_name = "K/N"
    )]
    part: Option<Portion>,
    /// With --games: only games in which both players have at least this rating.
    #[arg(long, requires = "games", default_value_t = 0, value_name = "ELO")]
    min_rating: u32,
    /// With --games: only games in which at least one player is rated below this.
    #[arg(long, requires = "games", default_value_t = 0, value_name = "ELO")]
    below: u32,
    /// With --packed: how many positions a random move away to score with each.
    #[arg(long, requires = "packed", value_name = "N", default_value_t = 2)]
    away: u32,
    /// The engine's centipawns that multiply the odds of winning by e; written to the file.
    #[arg(long, requires = "engine", value_name = "CENTIPAWNS")]
    scale: Option<f64>,
}

/// Positions to keep if nothing else is asked for.
const POSITIONS: usize = 100_000;
/// A mentor's depth where only the exchanges after a move matter.
const PROBE_DEPTH: u32 = 1;

impl Arguments {
    pub fn run(self) -> Result<()> {
        check_file(&self.out).with_context(|| self.out.display().to_string())?;
        for (name, chance) in [("--blunders", self.blunders), ("--share", self.share)] {
            ensure!(
                (0.0..=1.0).contains(&chance),
                "{name} is a chance, from 0 to 1"
            );
        }
        ensure!(
            self.opening[0] <= self.opening[1],
            "--opening goes from few to many"
        );
        ensure!(
            self.scale.is_none_or(is_scale),
            "--scale must be more than 0"
        );
        let generation = LabelGeneration {
            play: SelfPlay {
                seed: self.seed,
                depth: self.depth,
                nodes: None,
                opening: [self.opening[0], self.opening[1]],
                blunders: self.blunders,
                share: self.share,
                settled: true,
                decided: self.decided,
                away: self.away,
            },
            maker: self.maker()?,
            threads: 0,
            positions: self.positions.unwrap_or(match self.part {
                Some(_) => usize::MAX,
                None => POSITIONS,
            }),
            part: self.part,
            scale: self.scale,
            format: match self.packed {
                true => LabelFormat::Packed,
                false => self
                    .format
                    .unwrap_or_else(|| LabelFormat::of_name(&self.out)),
            },
            out: self.out,
            force: self.force,
        };
        if work::is_helper() {
            return Ok(generation.serve()?);
        }
        let count = generation.run(|progress| {
            eprintln!(
                "{} positions from {} games",
                progress.positions, progress.games
            );
        })?;
        eprintln!("{}: {count} positions", generation.out.display());
        Ok(())
    }

    fn maker(&self) -> Result<LabelMaker> {
        let weights = || anyhow::Ok(self.weights.or_installed()?.weights);
        Ok(match &self.engine {
            None => LabelMaker::Own(weights()?),
            Some(command) if self.packed => LabelMaker::Probes {
                mentor: mentor(command, PROBE_DEPTH, PROBED_MOVES)?,
                weights: weights()?,
                games: self.followed_games()?,
            },
            Some(command) => LabelMaker::Mentor(mentor(command, self.depth, 1)?),
        })
    }

    /// The games to follow instead of playing.
    fn followed_games(&self) -> Result<Option<Vec<FollowedGame>>> {
        if self.games.is_empty() {
            return Ok(None);
        }
        let sources: Vec<_> = self.games.iter().map(Source::file).collect();
        let selection = Selection {
            min_rating: self.min_rating,
            below: self.below,
            ..Selection::default()
        };
        let mut games = Vec::new();
        let tally = data::each_game(&sources, &selection, |game| {
            games.push(FollowedGame::from(game));
        })?;
        eprintln!("{}", tally.summary());
        Ok(Some(games))
    }
}

fn mentor(command: &str, depth: u32, lines: usize) -> Result<MentorConfig> {
    // Quick games fill no more, and it is cleared before each.
    let mut options = vec![("Hash".to_owned(), "1".to_owned())];
    if lines > 1 {
        options.push(("MultiPV".to_owned(), lines.to_string()));
    }
    let limits = GameLimits::depth(depth);
    Ok(MentorConfig::parse(
        command,
        &options,
        limits,
        MENTOR_TIMEOUT,
    )?)
}
