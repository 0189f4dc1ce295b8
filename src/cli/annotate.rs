//! `finch annotate GAMES.pgn`: analyses games and writes them back with scores and better lines.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use indicatif::ProgressBar;

use super::WeightsOption;
use super::output::{OutputOptions, json_line};
use crate::analysis::Analyser;
use crate::analysis::annotate::{
    AnalysisDraft, AnnotatedGame, Annotator, GameItem, PlayerErrors, PlayerFigures, SourceGame,
    each_game, errors_by_player, page,
};
use crate::data::Source;
use crate::files::{check_file, draft_path, write_atomically};
use crate::hash::StableHasher;
use crate::play::player_config::PlayerConfig;
use crate::search::{Limits, STACK_BYTES};
use crate::terminal;

/// Annotate games: `[%eval]` after every move, mistakes marked, better lines as variations.
#[derive(Args)]
#[command(
    after_help = "Example:\n  finch annotate games.pgn --movetime 200 --out annotated.pgn --page annotated.html\n\n\
    Clocks ([%clk], [%emt]) are kept, other comments and variations are not. Each player gets an\n\
    accuracy and a mean centipawn loss, in tags and on the page. A table at the end tells how each\n\
    player errs over all games; --json prints it instead of the games.\n\n\
    With --out or --page, the same call resumes after an interruption, from a file that ends in .draft."
)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// Games in PGN, plain or compressed.
    #[arg(value_name = "GAMES")]
    games: PathBuf,
    /// Milliseconds for each position [default: 100].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Nodes for each position.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Threads of the engine.
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    /// Transposition table, in MiB.
    #[arg(long, default_value_t = 64, value_name = "MIB")]
    hash: usize,
    /// Another engine instead of Finch: a command, weights, or settings as `finch match` takes them.
    #[arg(long, value_name = "CMD")]
    engine: Option<String>,
    /// Where to write the games [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a page with the graph of each game.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        ensure!(
            self.page.is_none() || self.out != self.page,
            "--out and --page name the same file"
        );
        for path in [&self.out, &self.page].into_iter().flatten() {
            self.check(path)?;
        }
        let games = self.read()?;
        let plies = games.iter().map(|game| game.moves.len() as u64).sum();
        let bar = match self.output.shows_progress() {
            true => ProgressBar::new(plies),
            false => ProgressBar::hidden(),
        };
        let mut annotator = self.annotator(&games)?;
        let worker = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let one = |game: &SourceGame| annotator.annotate(game, |_| bar.inc(1));
                let annotated: Result<Vec<AnnotatedGame>, _> = games.iter().map(one).collect();
                bar.finish_and_clear();
                annotated.map(|games| (annotator, games))
            })?;
        let Ok(annotated) = worker.join() else {
            bail!("the analysis failed; this is a bug in Finch, please report it");
        };
        let (annotator, annotated) = annotated?;
        let pgn: String = annotated.iter().map(AnnotatedGame::pgn).collect();
        match &self.out {
            Some(path) => write(path, &pgn)?,
            None if self.output.json => {}
            None => print!("{pgn}"),
        }
        if let Some(path) = &self.page {
            write(path, &page(&annotated))?;
        }
        annotator.finish()?;
        self.tell(&annotated);
        Ok(())
    }

    fn tell(&self, games: &[AnnotatedGame]) {
        let players = errors_by_player(games);
        if self.output.json {
            for player in &players {
                json_line("player", player);
            }
        } else if !self.output.quiet {
            eprint!("{}", summary(games));
            eprint!("{}", table(&players));
        }
    }

    /// Before the work: a folder that cannot be written to fails now. A call that was killed
    /// between its last two steps may have written a file already; its draft is still there.
    fn check(&self, path: &Path) -> Result<()> {
        let is_resumed = self.draft_for().is_some_and(|out| draft_path(out).exists());
        if !is_resumed {
            self.refuse_existing(path)?;
        }
        check_file(path).with_context(|| path.display().to_string())
    }

    /// The file beside which the draft is kept.
    fn draft_for(&self) -> Option<&PathBuf> {
        self.out.as_ref().or(self.page.as_ref())
    }

    fn read(&self) -> Result<Vec<SourceGame>> {
        let mut games = Vec::new();
        let source = Source::file(&self.games);
        each_game(&source, |item| {
            match item {
                GameItem::Game(game) => games.push(*game),
                GameItem::Bad(reason) => {
                    eprintln!("skipped a game: {}", terminal::printable(&reason));
                }
            }
            true
        })?;
        if games.is_empty() {
            bail!("{}: no games", self.games.display());
        }
        Ok(games)
    }

    fn annotator(&self, games: &[SourceGame]) -> Result<Annotator> {
        let mut id = StableHasher::new();
        let config = match &self.engine {
            Some(text) => {
                id.write(text.as_bytes());
                PlayerConfig::parse_engine(text)?
            }
            None => {
                let weights = self.weights.or_installed()?.weights;
                id.write(format!("{:?}", weights.id()).as_bytes());
                PlayerConfig::in_process("Finch", weights)
            }
        };
        let (threads, hash) = (self.threads.max(1), self.hash.max(1));
        let limits = self.limits();
        let version = env!("CARGO_PKG_VERSION");
        id.write(format!("{version} {threads} {hash} {limits:?}").as_bytes());
        for game in games {
            id.write(format!("{:?} {:?}", game.start, game.moves).as_bytes());
        }
        id.write(format!("{:?} {:?}", self.out, self.page).as_bytes());
        let analyser = Analyser::new(config, threads, hash)?;
        let draft = self.draft_for().map(|out| self.draft(out, id.finish()));
        Ok(Annotator::new(analyser, limits, draft.transpose()?))
    }

    /// A draft that holds nothing allows to replace nothing.
    fn draft(&self, out: &Path, id: u64) -> Result<AnalysisDraft> {
        let draft = AnalysisDraft::open(out, id, self.force)
            .with_context(|| draft_path(out).display().to_string())?;
        if !draft.is_resumed() {
            for path in [&self.out, &self.page].into_iter().flatten() {
                self.refuse_existing(path)?;
            }
        }
        Ok(draft)
    }

    fn refuse_existing(&self, path: &Path) -> Result<()> {
        ensure!(
            self.force || !path.exists(),
            "{} exists; --force replaces it",
            path.display()
        );
        Ok(())
    }

    fn limits(&self) -> Limits {
        let default = self.nodes.is_none().then_some(100);
        Limits {
            nodes: self.nodes,
            move_time: self.movetime.or(default).map(Duration::from_millis),
            ..Limits::default()
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, text).with_context(|| path.display().to_string())
}

/// A line for each game.
fn summary(games: &[AnnotatedGame]) -> String {
    let line = |game: &AnnotatedGame| {
        let figures = game.figures();
        let side = |name: &str, figures: &PlayerFigures| {
            let name = terminal::printable(game.tag(name)).into_owned();
            let (accuracy, loss) = (figures.accuracy, figures.mean_centipawn_loss);
            format!("{name} {accuracy:.1}% ({loss:.0} centipawns a move)")
        };
        format!(
            "{} – {}\n",
            side("White", &figures.white),
            side("Black", &figures.black)
        )
    };
    games.iter().map(line).collect()
}

/// How each player errs, over all games.
fn table(players: &[PlayerErrors]) -> String {
    let head = "\nCentipawns lost by a move; inaccuracies, mistakes and blunders of 100 moves:\n";
    let names = format!(
        "{:<24} {:>6} {:>8} {:>6} {:>6} {:>6} {:>6} {:>7} {:>7} {:>7}\n",
        "player", "moves", "accuracy", "mean", "median", "90%", "99%", "inacc.", "mist.", "blund."
    );
    let line = |errors: &PlayerErrors| {
        format!(
            "{:<24} {:>6} {:>7.1}% {:>6.1} {:>6} {:>6} {:>6} {:>7.1} {:>7.1} {:>7.1}\n",
            terminal::printable(&errors.player),
            errors.moves,
            errors.accuracy,
            errors.mean_centipawn_loss,
            errors.median_loss,
            errors.loss_90,
            errors.loss_99,
            errors.inaccuracies,
            errors.mistakes,
            errors.blunders,
        )
    };
    let lines: String = players.iter().map(line).collect();
    format!("{head}{names}{lines}")
}
