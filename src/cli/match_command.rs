//! `finch match A B [C …]`: plays games between players and rates the result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::match_display::{Display, score_fields};
use super::output::{OutputOptions, json_line};
use crate::play::adjudication::Adjudication;
use crate::play::games_file::GamesFile;
use crate::play::limits::TimeControl;
use crate::play::match_settings::MatchSettings;
use crate::play::merged_match::MergedMatch;
use crate::play::openings;
use crate::play::schedule::Format;
use crate::play::sprt::{Sprt, SprtDecision};
use crate::play::summary;
use crate::play::tournament::{Tournament, TournamentResult};
use crate::play::{GameLimits, MatchScore};
use crate::search::full_width::FullWidthDepth;
use crate::work;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch match default stockfish --games 100 --tc 10+0.1 --pgn games.pgn
  finch match new.toml default --sprt elo0=0 elo1=5
  finch match default terms hand-set --nodes 5000 --games 40
  finch match --merge one.pgn two.pgn --sprt elo0=0 elo1=5

Players: a weights file, built-in weights ('default', 'terms' for the same without their network,
  'hand-set', 'moves', 'vazquez-2013' and other papers), an engine's name ('stockfish'), or settings
  in quotation marks:
  \"cmd=stockfish option.UCI_LimitStrength=true option.UCI_Elo=2400 name=SF2400\"
  \"weights=new.toml name=new depth=8\"
Settings: cmd args dir option.NAME timeout (UCI engines), weights hash (Finch),
  and for both: tb (plays with the Syzygy tables in this folder), name, tc, st (seconds), movetime (milliseconds), depth, nodes, plain.

Finch plays with the defaults of its UCI options.
Games of several machines, each with a --seed of its own, are put together by --merge.
Exit status is 0 when the match ended, whoever won.")]
pub struct Arguments {
    /// Two or more players.
    #[arg(required_unless_present = "merge", num_args = 2.., value_name = "PLAYER")]
    players: Vec<String>,
    /// Instead of playing: the score, and with --sprt the test, of two players in these PGN files
    /// together.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["players", "pgn", "resume"])]
    merge: Vec<PathBuf>,
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
    /// Full-width search to this many plies, then captures, as in older programs: no pruning,
    /// reductions or extensions. 3+3 limits the captures to three plies; 3+c1 tries quiet checks
    /// in the first of these plies.
    #[arg(long, value_name = "PLIES", conflicts_with_all = ["tc", "depth", "nodes", "movetime"])]
    plain: Option<FullWidthDepth>,
    /// Games between each two players, two per opening [default: 100; with --sprt no limit].
    #[arg(long, value_name = "N")]
    games: Option<usize>,
    /// Openings: .epd, .pgn or .bin (Polyglot) [default: built-in openings].
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// How many plies to follow games of a PGN file or lines of a Polyglot book.
    #[arg(long, value_name = "N", default_value_t = openings::PLIES)]
    plies: usize,
    /// Games played at the same time [default: number of processors].
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
    /// Chooses the openings and their order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop as soon as the SPRT is decided: elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized.
    #[arg(long, num_args = 0..=5, value_name = "KEY=VALUE")]
    sprt: Option<Vec<String>>,
    /// The first player against all others, instead of everyone against everyone.
    #[arg(long)]
    gauntlet: bool,
    /// Adjudicate draws: movenumber=40 movecount=8 score=10.
    #[arg(long, num_args = 1..=3, value_name = "KEY=VALUE")]
    draw: Option<Vec<String>>,
    /// Adjudicate lost games: movecount=3 score=600 twosided=true.
    #[arg(long, num_args = 1..=3, value_name = "KEY=VALUE")]
    resign: Option<Vec<String>>,
    /// Adjudicate a draw after this many moves.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    maxmoves: Option<u32>,
    /// Adjudicate by the Syzygy tables in this folder.
    #[arg(long, value_name = "DIR")]
    tablebases: Option<PathBuf>,
    /// Milliseconds tolerated beyond a time limit.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    margin: u64,
    /// Append each finished game to this file.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Resume an interrupted match from its PGN file.
    #[arg(long, requires = "pgn")]
    resume: bool,
    /// The event tag of the PGN file.
    #[arg(long, default_value = "Finch match")]
    event: String,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        if !self.merge.is_empty() {
            let merged = MergedMatch::read(&self.merge)?;
            let sprt = self.sprt()?;
            if self.output.json {
                let [player, opponent] = &merged.players;
                print_score(player, opponent, &merged.score);
                print_end(&merged.score, None, sprt.as_ref(), None);
            } else {
                println!("{}", merged.report(sprt.as_ref()));
            }
            return Ok(());
        }
        let settings = self.settings()?;
        let tournament = settings.tournament()?;
        tournament.check_players()?;
        if work::is_helper() {
            tournament.serve();
            return Ok(());
        }
        let (file, finished) = match &self.pgn {
            None => (None, BTreeMap::new()),
            Some(path) if self.resume => {
                let (file, finished) = GamesFile::resume(path, &tournament.id())?;
                (Some(file), finished)
            }
            Some(path) => (Some(GamesFile::create(path)?), BTreeMap::new()),
        };
        if !finished.is_empty() && self.output.shows_progress() {
            println!("{} games were finished before", finished.len());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        // Ctrl-C ends the match with a summary.
        if let Err(error) = ctrlc::set_handler(move || flag.store(true, Relaxed)) {
            log::warn!("Ctrl-C is not handled: {error}");
        }
        let conditions = settings.conditions(&tournament);
        let mut display = Display::new(&tournament, &conditions, finished.len(), self.output);
        let result = tournament.run(file, finished, &mut display, &stop)?;
        display.close();
        match self.output.json {
            true => print_json(&tournament, &result),
            false => self.print(&tournament, &conditions, &result),
        }
        Ok(())
    }

    fn sprt(&self) -> anyhow::Result<Option<Sprt>> {
        let sprt = self.sprt.as_ref().map(|words| words.join(" ").parse());
        sprt.transpose().context("--sprt")
    }

    fn settings(&self) -> anyhow::Result<MatchSettings> {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(MatchSettings {
            event: self.event.clone(),
            players: self.players.clone(),
            format: if self.gauntlet {
                Format::Gauntlet
            } else {
                Format::RoundRobin
            },
            games: self.games,
            limits: GameLimits {
                depth: self.depth,
                nodes: self.nodes,
                move_time: self.movetime.map(Duration::from_millis),
                time_control: self.tc,
                full_width: self.plain,
            },
            margin: Duration::from_millis(self.margin),
            adjudication: self.adjudication()?,
            tablebases: self.tablebases.clone(),
            openings: self.openings.clone(),
            opening_plies: self.plies,
            seed: self.seed,
            concurrency: self.concurrency.unwrap_or_else(processors).max(1),
            sprt: self.sprt()?,
        })
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

    fn print(&self, tournament: &Tournament, conditions: &str, result: &TournamentResult) {
        let names: Vec<&str> = tournament
            .players
            .iter()
            .map(|player| player.name.as_str())
            .collect();
        let crosstable = &result.crosstable;
        println!(
            "{}",
            summary::table(&names, conditions, crosstable, tournament.sprt.as_ref())
        );
        for line in summary::faults(&names, crosstable) {
            println!("{line}");
        }
        let (played, games) = (crosstable.games(), tournament.schedule.games());
        if let Some(decision) = result.decision {
            println!("SPRT finished: {decision}");
        } else if played < games {
            let hint = if self.pgn.is_some() {
                "; --resume continues it"
            } else {
                ""
            };
            println!("Interrupted after {played} of {games} games{hint}");
        }
    }
}

/// The score of each two players, and how the match ended.
fn print_json(tournament: &Tournament, result: &TournamentResult) {
    let name = |player: usize| &tournament.players[player].name;
    let crosstable = &result.crosstable;
    for ((one, other), score) in crosstable.scores() {
        print_score(name(one), name(other), &score);
    }
    let sprt = tournament.sprt.as_ref();
    let planned = sprt.is_none().then(|| tournament.schedule.games());
    let mut total = MatchScore::default();
    crosstable.scores().for_each(|(_, score)| total += score);
    print_end(&total, planned, sprt, result.decision);
}

fn print_score(player: &str, opponent: &str, score: &MatchScore) {
    let mut fields = score_fields(score);
    fields.insert("player".to_owned(), json!(player));
    fields.insert("opponent".to_owned(), json!(opponent));
    json_line("score", fields);
}

/// An SPRT is between two players, so that the score of all games is theirs.
fn print_end(
    score: &MatchScore,
    planned: Option<usize>,
    sprt: Option<&Sprt>,
    decision: Option<SprtDecision>,
) {
    let decision = decision.or_else(|| sprt?.decision(score));
    let fields = json!({
        "games": score.games(),
        "planned": planned,
        "llr": sprt.map(|sprt| sprt.llr(score)),
        "decision": decision.map(|decision| decision.to_string()),
    });
    json_line("end", fields);
}
