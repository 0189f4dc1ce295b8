//! `finch selfplay`: positions from quick games, as EPD: Finch's own, for a mentor to judge, or the
//! mentor's, with its scores.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use crossbeam_channel::{Receiver, Sender, unbounded};
use flate2::Crc;
use rayon::prelude::*;

use super::WeightsOption;
use crate::data::{
    self, Judged, Mentor, MentorPlan, PATIENCE, PROBED_MOVES, PackedDraft, PackedLabel, PgnGame,
    Selection, SelfPlay, Source, fields, mentors_game, own_game, probed_games,
};
use crate::eval::Weights;
use crate::files::{Draft, write_atomically};
use crate::play::GameLimits;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
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
    /// Random plies each game begins with: from so many to so many.
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], default_values_t = [6, 16])]
    opening: Vec<u32>,
    /// A score beyond this, in centipawns, ends a game.
    #[arg(long, default_value_t = 1_500, value_name = "CENTIPAWNS", value_parser = clap::value_parser!(i32).range(1..))]
    decided: i32,
    /// Let this UCI engine play instead, and keep its scores as labels.
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
    /// Play ourselves and let the engine judge as cheaply as it can, positions a move or two
    /// away from the games: labels by the ten million, in 32 bytes each, for `finch train`.
    #[arg(long, requires = "engine")]
    packed: bool,
    /// With --packed: follow the games of these files (PGN) instead of playing, once each.
    #[arg(long, requires = "packed", value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// With --packed: how many positions a random move away are asked about with each.
    #[arg(long, requires = "packed", value_name = "N", default_value_t = 2)]
    away: u32,
}

/// Games played between two looks at how many positions there are.
const ROUND: u64 = 512;
/// The same where games are short work.
const LONG_ROUND: u64 = 2_048;
/// Games whose positions a mentor is asked about at once.
const CHAPTER: u64 = 32;
/// A mentor's depth where only the exchanges after a move are asked for.
const CHEAPEST: u32 = 1;
const NOTHING_KEPT: &str = "a whole round of games gave no position to keep";

impl Arguments {
    pub fn run(self) -> Result<()> {
        let weights = &self.weights.or_installed()?.weights;
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
        let play = SelfPlay {
            seed: self.seed,
            depth: self.depth,
            opening: [self.opening[0], self.opening[1]],
            blunders: self.blunders,
            share: self.share,
            decided: self.decided,
            away: self.away,
        };
        match &self.engine {
            Some(command) if self.packed => self.packed_rounds(command, &play, weights),
            Some(command) => self.mentors_rounds(command, &play),
            None => {
                let player = identified(weights);
                let game = |number| lines(number, &own_game(&play, number, weights), false);
                self.rounds(&player, &play, "", game)
            }
        }
    }

    /// A mentor's games: as many processes as there are threads, each with a game at a time.
    fn mentors_rounds(&self, command: &str, play: &SelfPlay) -> Result<()> {
        let mentors = Mentors::start(command, self.depth, 1, rayon::current_num_threads())?;
        let header = format!("# mentor: {}\n", mentors.description);
        let game = |number| {
            let judged = mentors.with_one(|mentor| mentors_game(play, number, mentor));
            lines(number, &judged, true)
        };
        self.rounds(&mentors.description, play, &header, game)
    }

    /// Own games that a mentor judges. While one thread plays, another waits for answers: two
    /// for each core keep it busy.
    fn packed_rounds(&self, command: &str, play: &SelfPlay, weights: &Arc<Weights>) -> Result<()> {
        let processes = 2 * rayon::current_num_threads();
        let mentors = Mentors::start(command, CHEAPEST, PROBED_MOVES, processes)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(processes)
            .build()?;
        let others = self.other_games()?;
        let player = match &others {
            Some(games) => format!("{} games", games.len()),
            None => identified(weights),
        };
        let header = data::LabelHeader {
            mentor: mentors.description.clone(),
            scale: None,
            origin: format!("{player}, {play:?}"),
        };
        let writing = || format!("writing {}", self.out.display());
        let mut file = PackedDraft::open(&self.out, &header, LONG_ROUND).with_context(writing)?;
        let chapter = |first: u64| {
            let games = first..first + CHAPTER;
            let others = others.as_deref();
            let judged =
                mentors.with_one(|mentor| probed_games(play, games, others, weights, mentor));
            let label = |(game, one): &(u64, Judged)| {
                let label = data::Label::new(one.position.clone(), one.score, data::GameId(*game));
                PackedLabel::new(&label)
            };
            judged.iter().map(label).collect::<Vec<_>>()
        };
        let last = others.as_ref().map_or(u64::MAX, |games| games.len() as u64);
        while file.count() < self.positions && file.next_game() < last {
            let first = file.next_game();
            let chapters = (0..LONG_ROUND / CHAPTER).into_par_iter();
            let chapters = chapters.map(|number| chapter(first + number * CHAPTER));
            let labels: Vec<_> = pool.install(|| chapters.collect());
            let labels = labels.concat();
            ensure!(!labels.is_empty(), NOTHING_KEPT);
            file.add(&labels).with_context(writing)?;
            eprintln!(
                "{} positions from {} games",
                file.count(),
                last.min(first + LONG_ROUND)
            );
        }
        file.finish(self.positions).with_context(writing)
    }

    /// The games to follow, if there are any.
    fn other_games(&self) -> Result<Option<Vec<PgnGame>>> {
        if self.games.is_empty() {
            return Ok(None);
        }
        let sources: Vec<_> = self.games.iter().map(Source::file).collect();
        let (games, tally) = data::games(&sources, &Selection::default())?;
        eprintln!("{}", tally.summary());
        Ok(Some(games))
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
            ensure!(!lines.is_empty(), NOTHING_KEPT);
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
        write_atomically(&self.out, &text).with_context(writing)?;
        draft.discard().with_context(writing)
    }
}

/// Processes of one mentor, each with a game at a time.
struct Mentors {
    description: String,
    idle: Receiver<Mentor>,
    give_back: Sender<Mentor>,
}

impl Mentors {
    fn start(command: &str, depth: u32, lines: usize, processes: usize) -> Result<Mentors> {
        // Quick games fill no more, and it is cleared before each.
        let mut options = vec![("Hash".to_owned(), "1".to_owned())];
        if lines > 1 {
            options.push(("MultiPV".to_owned(), lines.to_string()));
        }
        let plan = MentorPlan::parse(command, &options, GameLimits::depth(depth), PATIENCE)?;
        let (give_back, idle) = unbounded();
        let mut description = String::new();
        for _ in 0..processes {
            let mentor = plan.start()?;
            description = mentor.description();
            give_back.send(mentor)?;
        }
        Ok(Mentors {
            description,
            idle,
            give_back,
        })
    }

    /// Nothing, if there is none left to ask.
    fn with_one<T>(&self, ask: impl FnOnce(&mut Mentor) -> Vec<T>) -> Vec<T> {
        let Ok(mut mentor) = self.idle.recv() else {
            return Vec::new();
        };
        let told = ask(&mut mentor);
        // The receiver is ours and still there.
        let _ = self.give_back.send(mentor);
        told
    }
}

/// A name, and a sum that tells other weights of that name apart.
fn identified(weights: &Weights) -> String {
    let mut sum = Crc::new();
    sum.update(weights.to_toml().as_bytes());
    if let Some(network) = &weights.network {
        sum.update(&network.to_bytes());
    }
    format!("{} ({:08x})", weights.name, sum.sum())
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
