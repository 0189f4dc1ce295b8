//! `finch selfplay`: positions from quick games, as EPD: Finch's own, for a mentor to judge, or the
//! mentor's, with its scores.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use flate2::Crc;
use rayon::prelude::*;

use super::Choice;
use crate::data::{Judged, Mentor, MentorPlan, PATIENCE, SelfPlay, fields, mentors_game, own_game};
use crate::eval::Weights;
use crate::files::{Draft, write_whole};
use crate::play::Pace;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// How many positions.
    #[arg(long, default_value_t = 100_000)]
    positions: usize,
    /// Where to write them. A call that was broken off goes on where it stopped.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How deep the players look.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// The chance that a move is random.
    #[arg(long, default_value_t = 0.11)]
    blunders: f64,
    /// The chance that a quiet position is kept.
    #[arg(long, default_value_t = 0.35)]
    share: f64,
    /// Let this UCI engine play instead, and keep its scores as labels.
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
}

/// Games played between two looks at how many positions there are.
const ROUND: u64 = 512;

impl Arguments {
    pub fn run(self, weights: &Arc<Weights>) -> Result<()> {
        for (name, chance) in [("--blunders", self.blunders), ("--share", self.share)] {
            ensure!(
                (0.0..=1.0).contains(&chance),
                "{name} is a chance, from 0 to 1"
            );
        }
        let play = SelfPlay {
            seed: self.seed,
            depth: self.depth,
            opening: [6, 16],
            blunders: self.blunders,
            share: self.share,
        };
        match &self.engine {
            None => {
                let mut sum = Crc::new();
                sum.update(weights.to_toml().as_bytes());
                let player = format!("{} ({:08x})", weights.name, sum.sum());
                let game = |number| lines(number, &own_game(&play, number, weights), false);
                self.rounds(&player, &play, "", game)
            }
            Some(command) => self.mentors_rounds(command, &play),
        }
    }

    /// A mentor's games: as many processes as there are threads, each with a game at a time.
    fn mentors_rounds(&self, command: &str, play: &SelfPlay) -> Result<()> {
        // Quick games fill no more, and it is cleared before each.
        let options = [("Hash".to_owned(), "1".to_owned())];
        let plan = MentorPlan::parse(command, &options, Pace::depth(self.depth), PATIENCE)?;
        let idle: Vec<_> = (0..rayon::current_num_threads())
            .map(|_| plan.start())
            .collect::<Result<_, _>>()?;
        let mentor = idle[0].description();
        let header = format!("# mentor: {mentor}\n");
        let (give_back, idle_mentors) = crossbeam_channel::unbounded::<Mentor>();
        for mentor in idle {
            give_back.send(mentor)?;
        }
        let game = |number| {
            let Ok(mut mentor) = idle_mentors.recv() else {
                return Vec::new();
            };
            let judged = mentors_game(play, number, &mut mentor);
            // The receiver is ours and still there.
            let _ = give_back.send(mentor);
            lines(number, &judged, true)
        };
        self.rounds(&mentor, play, &header, game)
    }

    /// Plays games until there are enough positions, and writes them. A round without any, as when
    /// the mentor is gone, would be followed by others like it.
    fn rounds(
        &self,
        player: &str,
        play: &SelfPlay,
        header: &str,
        game: impl Fn(u64) -> Vec<String> + Sync,
    ) -> Result<()> {
        let writing = || format!("writing {}", self.out.display());
        let mut draft =
            Draft::open(&self.out, &format!("{player}, {play:?}")).with_context(writing)?;
        let mut count = draft.text().lines().count();
        while count < self.positions {
            let next = draft.parts() as u64 * ROUND;
            let games: Vec<_> = (next..next + ROUND).into_par_iter().map(&game).collect();
            let lines: Vec<_> = games.into_iter().flatten().collect();
            ensure!(
                !lines.is_empty(),
                "{ROUND} games in a row gave no position to keep"
            );
            draft.add(&lines.concat()).with_context(writing)?;
            count += lines.len();
            eprintln!(
                "{} positions from {} games",
                count.min(self.positions),
                next + ROUND
            );
        }
        let lines = draft.text().split_inclusive('\n').take(self.positions);
        let text = header.to_owned() + &lines.collect::<String>();
        write_whole(&self.out, &text).with_context(writing)?;
        draft.discard().with_context(writing)
    }
}

/// Four fields of a FEN, the game it comes from and, if asked for, its score.
fn lines(game: u64, judged: &[Judged], scored: bool) -> Vec<String> {
    let line = |one: &Judged| {
        let position = fields(&one.position.fen());
        let score = match scored {
            true => format!(" ce {};", one.score),
            false => String::new(),
        };
        format!("{position} id \"{game}\";{score}\n")
    };
    judged.iter().map(line).collect()
}
