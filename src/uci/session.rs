//! The loop that obeys a GUI. Commands are read on this thread and never wait for a search:
//! `isready` is answered, `stop` is heard, at any time.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, Move};

use super::chore::Chore;
use super::command::{self, Command, Go};
use super::info::Printer;
use super::options::{self, DEFAULT_CONTEMPT, DEFAULT_HASH, DEFAULT_OVERHEAD, OPTIONS, Value};
use super::output::Output;
use super::tuning::Tuning;
use super::wdl;
use crate::bench;
use crate::eval::{self, Weights};
use crate::position::{Game, Position, movegen};
use crate::search::{Pool, Request};
use crate::tune::preset::Preset;

const HELP: &str = "\
Finch speaks UCI; a chess GUI does the talking. By hand, try:
  position startpos moves e2e4    set up a position (or: position fen <FEN>)
  go movetime 1000                think for a second (or: go depth 12, go infinite and stop)
  go perft 5                      count legal move sequences
  d                               show the board
  eval                            explain the static evaluation
  setoption name Hash value 256   change an option (uci lists them)
  bench                           run the benchmark
  quit                            leave
Command line: finch --help";

struct Settings {
    multi_pv: usize,
    overhead: Duration,
    contempt: i64,
    analyse: bool,
    chess960: bool,
    show_wdl: bool,
    network: bool,
}

struct Session {
    output: Arc<Output>,
    pool: Pool,
    /// As they were loaded.
    weights: Arc<Weights>,
    /// What plays: the same, or without their network.
    judge: Arc<Weights>,
    game: Game,
    settings: Settings,
    chore: Option<Chore>,
    tuning: Option<Tuning>,
}

/// Speaks UCI on standard input and output until `quit` or the end of input.
pub fn run(weights: Arc<Weights>) -> anyhow::Result<()> {
    let mut session = Session::new(weights)?;
    let mut input = std::io::stdin().lock();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = input
            .read_until(b'\n', &mut bytes)
            .context("reading standard input")?;
        if read == 0 {
            return Ok(());
        }
        // A GUI may send a file name in any encoding; the rest of UCI is ASCII.
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\r', '\n']);
        session.output.received(line);
        if let Some(command) = command::parse(line)
            && !session.obey(command)
        {
            return Ok(());
        }
    }
}

impl Session {
    fn new(weights: Arc<Weights>) -> anyhow::Result<Session> {
        Ok(Session {
            output: Arc::default(),
            pool: Pool::new(1, DEFAULT_HASH as usize, weights.clone())?,
            judge: weights.clone(),
            weights,
            game: Game::default(),
            settings: Settings {
                multi_pv: 1,
                overhead: Duration::from_millis(DEFAULT_OVERHEAD as u64),
                contempt: DEFAULT_CONTEMPT,
                analyse: false,
                chess960: false,
                show_wdl: false,
                network: true,
            },
            chore: None,
            tuning: None,
        })
    }

    /// False when the session is over.
    fn obey(&mut self, command: Command) -> bool {
        if !may_come_during_a_search(&command) {
            self.take_up_tuned();
        }
        match command {
            Command::Uci => self.introduce(),
            // Finch has nothing to add: the debug log is an option, the rest is always said.
            Command::Debug(_) => {}
            Command::IsReady => self.output.line("readyok"),
            Command::NewGame => self.pool.clear(),
            Command::Position { fen, moves } => self.set_position(fen.as_deref(), &moves),
            Command::Go(go) => self.go(&go),
            Command::Perft(depth) => self.perft(depth),
            Command::Stop => self.stop(),
            Command::PonderHit => self.pool.ponderhit(),
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::Quit => return false,
            Command::Display => self.display(),
            Command::Eval => {
                let explanation = eval::explain(self.game.position(), &self.judge);
                self.output.line(explanation);
            }
            Command::Bench => self.bench(),
            Command::Help => self.output.line(HELP),
        }
        true
    }

    fn introduce(&self) {
        self.output
            .line(format_args!("id name Finch {}", env!("CARGO_PKG_VERSION")));
        self.output.line("id author the Finch developers");
        for option in OPTIONS {
            self.output.line(option.declaration());
        }
        #[cfg(feature = "tunable")]
        for param in crate::search::params::ALL {
            self.output.line(format_args!(
                "option name {} type spin default {} min {} max {}",
                param.name, param.default, param.min, param.max
            ));
        }
        self.output.line("uciok");
    }

    /// A position that cannot be set up leaves the one before in place.
    fn set_position(&mut self, fen: Option<&str>, moves: &[String]) {
        match self.read_position(fen, moves) {
            Ok(game) => self.game = game,
            Err(reason) => self.output.message(reason),
        }
    }

    fn read_position(&self, fen: Option<&str>, moves: &[String]) -> Result<Game, String> {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let fen = fen.unwrap_or(START);
        let mode = self.settings.chess960.then_some(CastlingMode::Chess960);
        let position = Position::from_fen_in_mode(fen, mode)
            .map_err(|error| format!("illegal position '{fen}': {error}"))?;
        let mut game = Game::new(position);
        for text in moves {
            game.play_uci(text).map_err(|error| error.to_string())?;
        }
        Ok(game)
    }

    fn go(&mut self, go: &Go) {
        let started = Instant::now();
        let position = self.game.position().clone();
        let request = Request {
            only: self.legal_among(&go.search_moves),
            multi_pv: self.settings.multi_pv,
            overhead: self.settings.overhead,
            contempt: self.contempt(go),
            started,
            ..Request::new(
                self.game.clone(),
                go.limits(position.turn() == Color::White),
                self.judge.clone(),
            )
        };
        let printer = Printer {
            output: self.output.clone(),
            root: position,
            show_wdl: self.settings.show_wdl,
        };
        self.pool.start(request, Arc::new(printer));
    }

    /// How little a draw is welcome, as the search counts. Who analyses wants to know how things
    /// are.
    fn contempt(&self, go: &Go) -> i32 {
        match self.settings.analyse || go.infinite {
            true => 0,
            false => wdl::internal(self.settings.contempt as i32),
        }
    }

    fn legal_among(&self, texts: &[String]) -> Vec<Move> {
        let chess = self.game.position().chess();
        let read = |text: &String| text.parse::<UciMove>().ok()?.to_move(chess).ok();
        texts.iter().filter_map(read).collect()
    }

    fn stop(&mut self) {
        self.pool.stop();
        self.chore = None;
        if let Some(tuning) = &self.tuning {
            tuning.stop();
        }
    }

    /// Starts a run; an empty name ends the one under way.
    fn tune(&mut self, preset: &str) -> Result<(), String> {
        if preset.is_empty() {
            self.stop();
            return Ok(());
        }
        if self.tuning.is_some() {
            return Err("tuning is under way; stop ends it".to_owned());
        }
        let preset = Preset::load(preset).map_err(|error| error.to_string())?;
        self.tuning = Some(Tuning::start(preset, self.output.clone()));
        Ok(())
    }

    /// Plays with what tuning has found, if it is done.
    fn take_up_tuned(&mut self) {
        let outcome = self.tuning.as_ref().and_then(Tuning::outcome);
        if let Some(outcome) = outcome {
            self.tuning = None;
            if let Ok(weights) = outcome {
                self.play_with(weights);
            }
        }
    }

    fn bench(&mut self) {
        let (weights, output) = (self.judge.clone(), self.output.clone());
        self.chore = Some(Chore::start(move |control| {
            output.line(bench::run(&weights, control));
        }));
    }

    fn perft(&mut self, depth: u32) {
        let (position, output) = (self.game.position().clone(), self.output.clone());
        self.chore = Some(Chore::start(move |control| {
            let mut total = u64::from(depth == 0);
            for m in movegen::legal_moves(&position) {
                if depth == 0 || control.is_stopped() {
                    break;
                }
                let child = position.after(m);
                let leaves = movegen::perft_until(&child, depth - 1, control.stop_flag());
                total += leaves;
                output.line(format_args!("{}: {leaves}", position.uci(m)));
            }
            output.line(format_args!("\nNodes searched: {total}"));
        }));
    }

    fn display(&self) {
        let position = self.game.position();
        let checkers: Vec<String> = position
            .checkers()
            .into_iter()
            .map(|square| square.to_string())
            .collect();
        self.output.line(format_args!(
            "{:?}\nFen: {}\nKey: {:016X}\nCheckers: {}",
            position.board(),
            position.fen(),
            position.key(),
            checkers.join(" ")
        ));
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        #[cfg(feature = "tunable")]
        if let Some(param) = crate::search::params::find(name) {
            if let Some(number) = value.and_then(|text| text.parse().ok()) {
                param.set(number);
            }
            return;
        }
        let applied = match options::read(name, value) {
            Ok((name, value)) => self.apply(name, value),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = applied {
            self.output.message(reason);
        }
    }

    fn apply(&mut self, name: &str, value: Value) -> Result<(), String> {
        match (name, value) {
            ("Hash", Value::Number(mebibytes)) => {
                let before = self.pool.table().mebibytes();
                self.pool
                    .set_hash(mebibytes as usize)
                    .map_err(|error| format!("{error}; Hash stays at {before} MiB"))?;
            }
            ("Threads", Value::Number(count)) => {
                self.pool.set_threads(count as usize);
                let threads = self.pool.threads();
                if threads != count as usize {
                    return Err(format!(
                        "cannot start {count} threads; Threads is {threads}"
                    ));
                }
            }
            ("Clear Hash", _) => self.pool.clear(),
            ("MultiPV", Value::Number(lines)) => self.settings.multi_pv = lines as usize,
            ("Move Overhead", Value::Number(milliseconds)) => {
                self.settings.overhead = Duration::from_millis(milliseconds as u64);
            }
            ("Contempt", Value::Number(centipawns)) => self.settings.contempt = centipawns,
            ("UCI_AnalyseMode", Value::Flag(on)) => self.settings.analyse = on,
            ("UCI_Chess960", Value::Flag(on)) => self.settings.chess960 = on,
            ("UCI_ShowWDL", Value::Flag(on)) => self.settings.show_wdl = on,
            ("Debug Log File", Value::Text(path)) => self
                .output
                .log_to(&path)
                .map_err(|error| format!("cannot write the log {path}: {error}"))?,
            ("WeightsFile", Value::Text(path)) => self.load_weights(&path)?,
            ("Network", Value::Flag(on)) => {
                self.settings.network = on;
                self.choose_judge();
            }
            ("Tune", Value::Text(preset)) => self.tune(&preset)?,
            // Ponder tells what the GUI will do; Finch plays the same.
            _ => {}
        }
        Ok(())
    }

    /// Loads weights, or returns to the embedded ones when the name is empty. What was learned
    /// with the old weights is worth nothing with the new.
    fn load_weights(&mut self, path: &str) -> Result<(), String> {
        let weights = match path {
            "" => Weights::default(),
            path => Weights::load(Path::new(path))
                .map_err(|error| format!("{error}; weights unchanged"))?,
        };
        self.output.message(weights.summary());
        self.play_with(weights);
        Ok(())
    }

    fn play_with(&mut self, weights: Weights) {
        self.weights = Arc::new(weights);
        self.choose_judge();
    }

    /// What was learned with another judge is worth nothing.
    fn choose_judge(&mut self) {
        self.judge = match self.settings.network {
            true => self.weights.clone(),
            false => Arc::new(Weights::clone(&self.weights).without_network()),
        };
        self.pool.clear();
    }
}

/// New weights end a search, so these leave them waiting.
fn may_come_during_a_search(command: &Command) -> bool {
    matches!(
        command,
        Command::Uci
            | Command::Debug(_)
            | Command::IsReady
            | Command::Stop
            | Command::PonderHit
            | Command::Quit
    )
}
