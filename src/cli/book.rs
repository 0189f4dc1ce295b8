//! `finch book`: makes, shows and merges opening books in Polyglot's format.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use shakmaty::KnownOutcome;
use shakmaty::san::SanPlus;

use crate::book::{BookBuilder, BookResult, PolyglotBook};
use crate::data::{self, PgnGame, Selection, Source};
use crate::files::{check_file, write_atomically};
use crate::position::Position;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch book build games.pgn --out my.bin --plies 24 --min-games 5
  finch book show my.bin
  finch book show built-in \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\"
  finch book merge mine.bin yours.bin --out both.bin

A UCI session plays from a book with the options OwnBook and BookFile.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make a book from games in PGN: a move's weight is two for each win and one for each draw.
    Build {
        /// PGN files, plain or compressed.
        #[arg(required = true)]
        games: Vec<PathBuf>,
        /// The most plies of a game.
        #[arg(long, value_name = "N", default_value_t = 20)]
        plies: usize,
        /// Leave out moves that were played in fewer games.
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
        min_games: u64,
        #[command(flatten)]
        out: Out,
    },
    /// List the moves of a position.
    Show {
        /// A Polyglot book, or `built-in`.
        book: PathBuf,
        /// The position [default: the initial position].
        fen: Option<String>,
    },
    /// Merge books: the weights of the same move are added.
    Merge {
        #[arg(required = true, num_args = 2..)]
        books: Vec<PathBuf>,
        #[command(flatten)]
        out: Out,
    },
}

#[derive(Args)]
struct Out {
    /// The book to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let text = match self.action {
            Action::Build {
                games,
                plies,
                min_games,
                out,
            } => build(&games, plies, min_games, &out)?,
            Action::Show { book, fen } => show(&book, fen.as_deref())?,
            Action::Merge { books, out } => merge(&books, &out)?,
        };
        print!("{text}");
        Ok(())
    }
}

impl Out {
    /// Before the work: a file that exists or cannot be written.
    fn check(&self) -> Result<()> {
        if self.out.exists() && !self.force {
            bail!("{} exists; --force replaces it", self.out.display());
        }
        check_file(&self.out).with_context(|| self.out.display().to_string())
    }

    fn write(&self, book: &PolyglotBook) -> Result<String> {
        let name = self.out.display();
        if book.move_count() == 0 {
            bail!("no move is left for {name}; lower --min-games or take more games");
        }
        write_atomically(&self.out, book.to_bytes()).with_context(|| name.to_string())?;
        Ok(format!("{} in {name}\n", size(book)))
    }
}

fn build(games: &[PathBuf], plies: usize, min_games: u64, out: &Out) -> Result<String> {
    out.check()?;
    let sources: Vec<Source> = games.iter().map(Source::file).collect();
    let mut builder = BookBuilder::default();
    let mut used = 0;
    let tally = data::each_game(&sources, &Selection::default(), |game| {
        if let Some(result) = result(&game) {
            let moves = &game.moves[..plies.min(game.moves.len())];
            builder.add_game(&Position::from_chess(game.start.clone()), moves, result);
            used += 1;
        }
    })?;
    let written = out.write(&builder.build(min_games))?;
    Ok(format!(
        "{}, {used} with a result: {written}",
        tally.summary()
    ))
}

/// Games without a result say nothing about their moves.
fn result(game: &PgnGame) -> Option<BookResult> {
    Some(match game.outcome.known()? {
        KnownOutcome::Decisive { winner } => BookResult::Won(winner),
        KnownOutcome::Draw => BookResult::Drawn,
    })
}

fn show(file: &Path, fen: Option<&str>) -> Result<String> {
    let book = load(file)?;
    let position = match fen {
        None => Position::default(),
        Some(fen) => {
            Position::from_fen(fen).with_context(|| format!("illegal position '{fen}'"))?
        }
    };
    let moves = book.moves(&position);
    let mut text = format!("{}: {}\n{}\n", file.display(), size(&book), position.fen());
    if moves.is_empty() {
        text.push_str("no moves\n");
    }
    let total: u32 = moves.iter().map(|one| u32::from(one.weight)).sum();
    for one in moves {
        let san = SanPlus::from_move(position.chess().clone(), one.m).to_string();
        let share = 100.0 * f64::from(one.weight) / f64::from(total.max(1));
        let _ = writeln!(text, "  {san:<7} weight {:>5}  {share:5.1}%", one.weight);
    }
    Ok(text)
}

fn merge(books: &[PathBuf], out: &Out) -> Result<String> {
    out.check()?;
    let mut builder = BookBuilder::default();
    for file in books {
        builder.add_book(&load(file)?);
    }
    out.write(&builder.build(1))
}

fn load(file: &Path) -> Result<PolyglotBook> {
    if file == Path::new("built-in") {
        return Ok(PolyglotBook::built_in());
    }
    PolyglotBook::load(file).with_context(|| file.display().to_string())
}

fn size(book: &PolyglotBook) -> String {
    format!(
        "{} moves of {} positions",
        book.move_count(),
        book.position_count()
    )
}
