//! The UCI session. Commands are read on this thread and never wait for a search: `isready` and
//! `stop` are answered at any time.

use std::io::{BufRead, IsTerminal, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use anyhow::Context as _;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Move};

use super::background::Background;
use super::command::{self, Command, Go};
use super::genfens::Genfens;
use super::info::Printer;
use super::options::{self, Applied, OPTIONS};
use super::output::Output;
use super::own_book::OwnBook;
use super::tuning::{Tuning, place_of_runs};
use crate::bench;
use crate::eval::{self, LoadedWeights, Weights, WeightsOrigin};
use crate::position::{Game, Position, movegen};
use crate::search::{Engine, EngineSettings, SearchParams, SearchRequest};
use crate::tablebase::{Tablebases, Wdl};
use crate::tune::experiment::Experiment;

/// The longest line that is read: a game of 100,000 moves fits in. What is longer is no command,
/// and must not fill the memory.
const LINE_LIMIT: usize = 1 << 20;

/// What the options set, apart from the engine's settings.
pub(super) struct Settings {
    pub chess960: bool,
    pub show_wdl: bool,
    pub network: bool,
    pub book: OwnBook,
}

pub(super) struct Session {
    output: Arc<Output>,
    engine: Engine,
    /// `isready` or a search has been here.
    is_prepared: bool,
    /// Of the last search.
    printer: Option<Arc<Printer>>,
    /// From `go` to `bestmove`.
    searching: Arc<AtomicBool>,
    /// What an empty `WeightsFile` returns to.
    start: LoadedWeights,
    /// As they were loaded; the engine's may be without the network.
    loaded: LoadedWeights,
    game: Game,
    pub settings: Settings,
    background: Option<Background>,
    tuning: Option<Tuning>,
}

/// Speaks UCI until `quit` or the end of input: runs `commands`, or reads standard input if there
/// are none.
pub fn run(weights: LoadedWeights, commands: &[String]) -> anyhow::Result<()> {
    let mut session = Session::new(weights)?;
    if !commands.is_empty() {
        session.run_all(commands);
        return Ok(());
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        session.greet();
    }
    let mut input = stdin.lock();
    let mut bytes = Vec::new();
    while read_line(&mut input, &mut bytes).context("reading standard input")? {
        if bytes.len() > LINE_LIMIT {
            session.output.message("line too long, ignored");
            continue;
        }
        // A GUI may send a file name in any encoding; the rest of UCI is ASCII.
        let line = String::from_utf8_lossy(&bytes);
        if !session.run_line(line.trim_end_matches(['\r', '\n'])) {
            return Ok(());
        }
    }
    // The input ended without `quit`, as that of `echo bench | finch`. A message that nobody reads ends
    // the process.
    if let Some(background) = &mut session.background {
        background.wait_with(|| {
            session
                .output
                .message("still at work after the end of the input")
        });
    }
    Ok(())
}

/// Reads a line, of a longer one than [`LINE_LIMIT`] only a part; false at the end of the input.
fn read_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    bytes.clear();
    let limit = LINE_LIMIT as u64 + 1;
    let read = input.by_ref().take(limit).read_until(b'\n', bytes)?;
    if bytes.len() > LINE_LIMIT && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

impl Session {
    pub fn new(start: LoadedWeights) -> anyhow::Result<Session> {
        Ok(Session {
            output: Arc::default(),
            engine: Engine::new(EngineSettings::new(start.weights.clone())?)?,
            is_prepared: false,
            printer: None,
            searching: Arc::default(),
            loaded: start.clone(),
            start,
            game: Game::default(),
            settings: Settings {
                chess960: false,
                show_wdl: false,
                network: true,
                book: OwnBook::new(),
            },
            background: None,
            tuning: None,
        })
    }

    /// One line for a person at a terminal.
    fn greet(&self) {
        let version = env!("CARGO_PKG_VERSION");
        self.output.line(format_args!(
            "Finch {version}, a UCI chess engine; {}. Type help",
            self.start
        ));
    }

    /// Runs commands one after the other; each waits for the search before it. A search without an
    /// end of its own is waited for once `stop` or `ponderhit` gives it one.
    fn run_all(&mut self, commands: &[String]) {
        let (mut search_ends, mut ends_after_ponderhit) = (true, true);
        for line in commands {
            if !self.run_line(line) {
                return;
            }
            match command::parse(line) {
                Ok(Some(Command::Go(go))) => {
                    search_ends = go.ends_by_itself();
                    ends_after_ponderhit = go.ends_after_ponderhit();
                }
                Ok(Some(Command::PonderHit)) => search_ends |= ends_after_ponderhit,
                Ok(Some(Command::Stop)) => search_ends = true,
                _ => {}
            }
            if search_ends {
                self.engine.wait();
            }
            if let Some(background) = &mut self.background {
                background.wait();
            }
        }
    }

    /// Parses and executes one line; false when the session is over.
    fn run_line(&mut self, line: &str) -> bool {
        self.output.received(line);
        match command::parse(line) {
            Ok(Some(command)) => return self.execute(command),
            Ok(None) => {}
            Err(error) => self.output.message(error),
        }
        true
    }

    /// False when the session is over.
    fn execute(&mut self, command: Command) -> bool {
        if !may_come_during_a_search(&command) {
            self.use_tuned_weights();
        }
        match command {
            Command::Uci => self.introduce(),
            // The debug log is an option; everything else is always printed.
            Command::Debug(_) => {}
            Command::IsReady => self.ready(),
            Command::NewGame => self.clear(),
            Command::Position { fen, moves } => self.set_position(fen.as_deref(), &moves),
            Command::Go(go) => self.go(&go),
            Command::Perft(depth) => self.perft(depth),
            Command::Stop => self.stop(),
            Command::PonderHit => self.ponderhit(),
            Command::SetOption { name, value } => {
                if let Err(error) = options::set(self, &name, value.as_deref()) {
                    self.output.message(error);
                }
            }
            Command::Quit => return false,
            Command::Display => self.display(),
            Command::Flip => self.flip(),
            Command::Eval => {
                let explanation = eval::explain(self.game.position(), &self.engine().weights);
                self.output.line(explanation);
            }
            Command::Bench => self.bench(),
            Command::Genfens(genfens) => self.genfens(genfens),
            Command::Help => self.help(),
        }
        true
    }

    fn help(&self) {
        self.output.line(format_args!(
            "Finch speaks UCI, usually with a chess GUI. Commands:\n{}\nOptions (setoption name Hash value 256):\n{}\nCommand line: finch --help",
            command::list(),
            options::list()
        ));
    }

    fn introduce(&self) {
        self.output
            .line(format_args!("id name Finch {}", env!("CARGO_PKG_VERSION")));
        self.output.line("id author the Finch developers");
        for option in OPTIONS {
            self.output.line(option.declaration());
        }
        if SearchParams::are_listed() {
            for info in SearchParams::LIST {
                self.output.line(info.uci_option());
            }
        }
        self.output.message(&self.start);
        self.output.line("uciok");
    }

    /// An illegal position leaves the one before in place.
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
        if let Some(warning) = &go.warning {
            self.output.message(warning);
        }
        let request = SearchRequest {
            searchmoves: self.legal_among(&go.search_moves),
            started,
            ..SearchRequest::new(self.game.clone(), go.limits)
        };
        let printer = Printer::new(
            self.output.clone(),
            self.game.position().clone(),
            self.engine().weights.win_model(),
            self.settings.show_wdl,
            self.searching.clone(),
        );
        if go.may_use_book()
            && !self.engine().analyse_mode
            && let Some(m) = self.settings.book.choose(self.game.position())
        {
            return self.play_from_book(m, &printer);
        }
        let printer = Arc::new(printer);
        self.printer = Some(printer.clone());
        self.is_prepared = true;
        // A search under way ends first, and clears the flag.
        self.engine.stop();
        self.engine.wait();
        self.searching.store(true, Relaxed);
        self.engine.start(request, printer);
    }

    fn play_from_book(&mut self, m: Move, printer: &Printer) {
        self.stop();
        self.engine.wait();
        let position = self.game.position();
        let after = position.after(m);
        printer.book_move(m, -eval::evaluate_uncached(&after, &self.engine().weights));
    }

    fn legal_among(&self, texts: &[String]) -> Vec<Move> {
        let chess = self.game.position().chess();
        let read = |text: &String| text.parse::<UciMove>().ok()?.to_move(chess).ok();
        texts.iter().filter_map(read).collect()
    }

    /// Before the first search, `isready` is the time for preparations.
    fn ready(&mut self) {
        if !self.is_prepared {
            self.engine.prepare();
            self.is_prepared = true;
        }
        self.output.line("readyok");
    }

    fn ponderhit(&self) {
        if let Some(printer) = &self.printer {
            printer.ponderhit();
        }
        self.engine.ponderhit();
    }

    fn stop(&mut self) {
        self.engine.stop();
        self.background = None;
    }

    /// Forgets what was learned in the game before.
    pub fn clear(&mut self) {
        if self.engine().strength.rating().is_some() {
            // A limited player errs differently in each game.
            let seed = rand::random();
            let _ = self.configure(|engine| engine.strength.seed = seed);
        }
        self.engine.new_game();
    }

    /// Starts a run; an empty name ends the one under way.
    pub fn tune(&mut self, preset: &str) -> Applied {
        match &self.tuning {
            Some(tuning) if preset.is_empty() => tuning.stop(),
            None if preset.is_empty() => {}
            Some(_) => return Err("tuning is under way; an empty Tune ends it".to_owned()),
            None => {
                let experiment = Experiment::load(preset).map_err(|error| error.to_string())?;
                if let Some(command) = experiment.engine() {
                    let text = format_args!("starts an engine: {command}");
                    self.output.message(text);
                }
                let playing = (*self.engine().weights).clone();
                let tuning = Tuning::start(
                    experiment,
                    place_of_runs(preset),
                    playing,
                    self.searching.clone(),
                    self.output.clone(),
                );
                self.tuning = Some(tuning.map_err(|error| error.to_string())?);
            }
        }
        Ok(())
    }

    /// Plays with the result of tuning, if it is done and won.
    fn use_tuned_weights(&mut self) {
        let outcome = self.tuning.as_ref().and_then(Tuning::outcome);
        if let Some(outcome) = outcome {
            self.tuning = None;
            if let Some(weights) = outcome {
                let loaded = LoadedWeights {
                    weights: Arc::new(weights),
                    origin: WeightsOrigin::Tuned,
                };
                let applied = self.play_with(loaded);
                applied.unwrap_or_else(|reason| self.output.message(reason));
            }
        }
    }

    /// As `finch bench`: installed weights do not change the signature, chosen ones do.
    fn bench(&mut self) {
        let weights = match self.loaded.origin {
            WeightsOrigin::Installed(_) => LoadedWeights::built_in().weights,
            _ => self.engine().weights.clone(),
        };
        let output = self.output.clone();
        self.work(move |stop| match bench::run(&weights, stop) {
            // A part of the nodes looks like another engine's signature.
            Ok(_) if stop.load(Relaxed) => output.message("bench was stopped"),
            Ok(benchmark) => output.line(benchmark),
            Err(error) => output.message(error),
        });
    }

    fn genfens(&mut self, genfens: Genfens) {
        let (weights, output) = (self.engine().weights.clone(), self.output.clone());
        self.work(move |stop| genfens.run(&weights, &output, stop));
    }

    fn perft(&mut self, depth: u32) {
        let (position, output) = (self.game.position().clone(), self.output.clone());
        self.work(move |stop| {
            let mut total = u64::from(depth == 0);
            for m in movegen::legal_moves(&position) {
                if depth == 0 {
                    break;
                }
                let child = position.after(m);
                let leaves = movegen::perft_until(&child, depth - 1, stop);
                if stop.load(Relaxed) {
                    return output.message("perft was stopped");
                }
                total += leaves;
                output.line(format_args!("{}: {leaves}", position.uci(m)));
            }
            output.line(format_args!("\nNodes searched: {total}"));
        });
    }

    /// Long work beside the session; it replaces the one under way.
    fn work(&mut self, work: impl FnOnce(&Arc<AtomicBool>) + Send + 'static) {
        self.background = None;
        match Background::start(work) {
            Ok(background) => self.background = Some(background),
            Err(error) => self
                .output
                .message(format_args!("no thread for it: {error}")),
        }
    }

    fn display(&self) {
        let position = self.game.position();
        let checkers: Vec<String> = position
            .checkers()
            .into_iter()
            .map(|square| square.to_string())
            .collect();
        self.output.line(format_args!(
            "{}\nFen: {}\nKey: {:016X}\nCheckers: {}",
            position.diagram(),
            position.fen(),
            position.key(),
            checkers.join(" ")
        ));
        if let Some((wdl, dtz)) = self.probe_tablebases() {
            self.output.line(format_args!(
                "Tablebases WDL: {wdl:?}\nTablebases DTZ: {dtz}"
            ));
        }
    }

    /// What the tablebases say about the position, its fifty-move counter apart.
    fn probe_tablebases(&self) -> Option<(Wdl, i32)> {
        let tables = self.engine().syzygy.tables.as_ref()?;
        let position = self.game.position();
        Some((tables.probe_wdl(position)?, tables.probe_dtz(position)?))
    }

    fn flip(&mut self) {
        self.game = Game::new(self.game.position().mirrored());
    }

    /// The settings of the engine.
    pub fn engine(&self) -> &EngineSettings {
        self.engine.settings()
    }

    pub fn configure(&mut self, change: impl FnOnce(&mut EngineSettings)) -> Applied {
        let mut settings = self.engine().clone();
        change(&mut settings);
        let configured = self.engine.configure(settings);
        configured.map_err(|error| error.to_string())
    }

    /// Takes another book; an empty name means the built-in one.
    pub fn open_book(&mut self, file: &str) -> Applied {
        let opened = self.settings.book.open(file);
        opened.map_err(|error| format!("BookFile: {file}: {error}; no book is used"))
    }

    /// Opens the tablebases of these folders; an empty name closes them.
    pub fn open_tablebases(&mut self, path: &str) -> Applied {
        // Whatever fails, tables of before are not what was asked for.
        self.configure(|engine| engine.syzygy.tables = None)?;
        if path.is_empty() {
            return Ok(());
        }
        let opened = Tablebases::open(path);
        let tables = opened.map_err(|error| format!("SyzygyPath: {error}; no tables are used"))?;
        let problem = tables
            .problem()
            .map_or(String::new(), |text| format!("; {text}"));
        self.output
            .message(format_args!("SyzygyPath: {tables}{problem}"));
        self.configure(|engine| engine.syzygy.tables = Some(Arc::new(tables)))
    }

    pub fn set_log_file(&mut self, path: &str) -> Applied {
        self.output
            .log_to(path)
            .map_err(|error| format!("cannot write the log {path}: {error}"))
    }

    /// Loads weights; an empty name returns to those of the start.
    pub fn load_weights(&mut self, path: &str) -> Applied {
        let loaded = match path {
            "" => self.start.clone(),
            path => LoadedWeights::named(Path::new(path))
                .map_err(|error| format!("{error}; weights unchanged"))?,
        };
        let message = loaded.to_string();
        self.play_with(loaded)?;
        self.output.message(message);
        Ok(())
    }

    fn play_with(&mut self, loaded: LoadedWeights) -> Applied {
        let params = SearchParams::from_table(&loaded.weights.search);
        let params = params.map_err(|error| format!("{error}; weights unchanged"))?;
        self.loaded = loaded;
        self.configure(|engine| engine.params = params)?;
        self.choose_evaluator()
    }

    /// Other weights clear the table: its scores come from the evaluator before.
    pub fn choose_evaluator(&mut self) -> Applied {
        let weights = match self.settings.network {
            true => self.loaded.weights.clone(),
            false => Arc::new(Weights::clone(&self.loaded.weights).without_network()),
        };
        self.configure(|engine| engine.weights = weights)
    }
}

/// Commands after which tuned weights wait, because taking them up ends a search.
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
