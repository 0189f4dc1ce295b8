//! `finch match A B [C …]`: who plays better, and how sure is that?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::match_display::Display;
use crate::play::GameRules;
use crate::play::adjudication::Adjudication;
use crate::play::games_file::GamesFile;
use crate::play::limits::{GameLimits, TimeControl};
use crate::play::openings::{self, Opening};
use crate::play::player_config::{PlayerConfig, distinguish};
use crate::play::schedule::{Format, Schedule};
use crate::play::sprt::Sprt;
use crate::play::summary;
use crate::play::tournament::{Tournament, TournamentResult};
use crate::search::plain::Breadth;
use crate::tablebase::Tablebases;

/// Games when nothing else ends the match.
const GAMES: usize = 100;
/// A test ends by itself; this many games are as good as endless.
const GAMES_OF_A_TEST: usize = 200_000;
const USUAL_CLOCK: &str = "3+0.03";

#[derive(Args)]
#[command(after_help = "\
Players: a weights file, 'default' for the weights built in, 'terms' for the same without their
  network, or settings in quotation marks:
  \"cmd=stockfish option.UCI_LimitStrength=true option.UCI_Elo=2400 name=SF2400\"
  \"weights=new.toml name=new depth=8\"
Settings: cmd args dir option.NAME patience (engines), weights hash (Finch),
  and for both: name, tc, st (seconds), movetime (milliseconds), depth, nodes, plain.

Exit status is 0 when the match came to its end, whoever won.")]
pub struct Arguments {
    /// Two or more players.
    #[arg(required = true, num_args = 2.., value_name = "PLAYER")]
    players: Vec<String>,
    /// Time control, as 3+0.03, 40/60+0.6 or 1:30+1 [default: 3+0.03 if nothing else is set].
    #[arg(long, value_name = "TC")]
    tc: Option<TimeControl>,
    /// Search every move to this depth.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Search every move with this many nodes.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Search every move for this many milliseconds.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Look at all moves for this many plies and then at captures, as older programs do: nothing
    /// pruned, reduced or extended. 3+3 limits the captures to three plies.
    #[arg(long, value_name = "PLIES", conflicts_with_all = ["tc", "depth", "nodes", "movetime"])]
    plain: Option<Breadth>,
    /// Games for each pairing, two from each opening [default: 100; with --sprt no limit].
    #[arg(long, value_name = "N")]
    games: Option<usize>,
    /// Openings: .epd, .pgn or .bin (Polyglot) [default: the book built in].
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// How many plies to follow games of a PGN file or lines of a Polyglot book.
    #[arg(long, value_name = "N", default_value_t = openings::PLIES)]
    plies: usize,
    /// Games at the same time [default: as many as processors].
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
    /// Chooses the openings and their order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop as soon as the test is decided: elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized.
    #[arg(long, num_args = 0..=5, value_name = "KEY=VALUE")]
    sprt: Option<Vec<String>>,
    /// The first player against all others, instead of everyone against everyone.
    #[arg(long)]
    gauntlet: bool,
    /// Draw when both see nothing: movenumber=40 movecount=8 score=10.
    #[arg(long, num_args = 1..=3, value_name = "KEY=VALUE")]
    draw: Option<Vec<String>>,
    /// Give up what is lost: movecount=3 score=600 twosided=true.
    #[arg(long, num_args = 1..=3, value_name = "KEY=VALUE")]
    resign: Option<Vec<String>>,
    /// Draw after this many moves.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    maxmoves: Option<u32>,
    /// End games as the Syzygy tables in this folder say, as soon as they can.
    #[arg(long, value_name = "DIR")]
    tablebases: Option<PathBuf>,
    /// Milliseconds tolerated beyond a time limit.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    margin: u64,
    /// Write the games here, each as it ends.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Go on with a match that was broken off, from its PGN file.
    #[arg(long, requires = "pgn")]
    resume: bool,
    /// The event named in the PGN file.
    #[arg(long, default_value = "Finch match")]
    event: String,
    /// Print the final table only.
    #[arg(long)]
    quiet: bool,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let tournament = self.tournament()?;
        tournament.check_players()?;
        let (journal, finished) = match &self.pgn {
            None => (None, BTreeMap::new()),
            Some(path) if self.resume => {
                let (journal, finished) = GamesFile::resume(path, &tournament.id())?;
                (Some(journal), finished)
            }
            Some(path) => (Some(GamesFile::create(path)?), BTreeMap::new()),
        };
        if !finished.is_empty() && !self.quiet {
            println!("{} games were finished before", finished.len());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        // Ctrl-C ends the match with a table; without a handler it just ends it.
        if let Err(error) = ctrlc::set_handler(move || flag.store(true, Relaxed)) {
            log::warn!("Ctrl-C is not handled: {error}");
        }
        let mut display = Display::new(
            &tournament,
            &self.conditions(&tournament),
            finished.len(),
            self.quiet,
        );
        let conclusion = tournament.run(journal, finished, &mut display, &stop)?;
        display.close();
        self.print(&tournament, &conclusion);
        Ok(())
    }

    fn tournament(&self) -> anyhow::Result<Tournament> {
        let mut players = self
            .players
            .iter()
            .map(|text| PlayerConfig::parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        distinguish(&mut players);
        let sprt = self
            .sprt
            .as_ref()
            .map(|words| words.join(" ").parse::<Sprt>());
        let sprt = sprt.transpose().context("--sprt")?;
        if sprt.is_some() && players.len() != 2 {
            bail!("--sprt compares two players, not {}", players.len());
        }
        let usual = if sprt.is_some() {
            GAMES_OF_A_TEST
        } else {
            GAMES
        };
        let format = if self.gauntlet {
            Format::Gauntlet
        } else {
            Format::RoundRobin
        };
        let games = self.games.unwrap_or(usual);
        Ok(Tournament {
            event: self.event.clone(),
            schedule: Schedule::new(players.len(), format, games),
            players,
            openings: self.openings()?,
            rules: GameRules {
                limits: self.limits()?,
                margin: Duration::from_millis(self.margin),
                adjudication: self.adjudication()?,
                tablebases: self.open_tablebases()?,
            },
            concurrency: self.concurrency(),
            sprt,
        })
    }

    fn limits(&self) -> anyhow::Result<GameLimits> {
        let mut limits = GameLimits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.map(Duration::from_millis),
            time_control: self.tc,
            plain: self.plain,
        };
        if limits.is_empty() {
            limits.time_control = Some(USUAL_CLOCK.parse()?);
        }
        Ok(limits)
    }

    fn adjudication(&self) -> anyhow::Result<Adjudication> {
        let joined = |words: &Option<Vec<String>>| words.as_ref().map(|words| words.join(" "));
        let draw = joined(&self.draw).map(|text| text.parse()).transpose();
        let resign = joined(&self.resign).map(|text| text.parse()).transpose();
        Ok(Adjudication {
            draw: draw.context("--draw")?,
            resign: resign.context("--resign")?,
            max_moves: self.maxmoves,
        })
    }

    fn open_tablebases(&self) -> anyhow::Result<Option<Arc<Tablebases>>> {
        let folder = self.tablebases.as_ref();
        let tables = folder.map(|folder| Tablebases::open(folder)).transpose();
        let tables = tables.context("--tablebases")?;
        Ok(tables.map(Arc::new))
    }

    fn openings(&self) -> anyhow::Result<Vec<Opening>> {
        let mut openings = match &self.openings {
            Some(file) => openings::load(file, self.plies, self.seed)?,
            None => openings::embedded(),
        };
        openings::shuffle(&mut openings, self.seed);
        Ok(openings)
    }

    fn concurrency(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.concurrency.unwrap_or_else(processors).max(1)
    }

    /// Limits and openings in a few words.
    fn conditions(&self, tournament: &Tournament) -> String {
        let mut own = tournament.players.iter().map(|player| player.limits);
        let limits = if own.all(|limits| !limits.is_empty()) {
            "limits of their own".to_owned()
        } else {
            tournament.rules.limits.to_string()
        };
        let book = match &self.openings {
            Some(file) => {
                let name = file.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            None => "Finch's openings".to_owned(),
        };
        format!("{limits}, {book}")
    }

    fn print(&self, tournament: &Tournament, conclusion: &TournamentResult) {
        let names: Vec<&str> = tournament
            .players
            .iter()
            .map(|player| player.name.as_str())
            .collect();
        let crosstable = &conclusion.crosstable;
        let sprt = tournament.sprt.as_ref();
        println!(
            "{}",
            summary::table(&names, &self.conditions(tournament), crosstable, sprt)
        );
        for line in summary::faults(&names, crosstable) {
            println!("{line}");
        }
        if let Some(decision) = conclusion.decision {
            println!("SPRT finished: {decision}");
        } else if crosstable.games() < tournament.schedule.games() {
            let games = tournament.schedule.games();
            let hint = if self.pgn.is_some() {
                "; --resume goes on"
            } else {
                ""
            };
            println!(
                "Broken off after {} of {games} games{hint}",
                crosstable.games()
            );
        }
    }
}
