//! Prints `info` lines during a search and `bestmove` after it.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;
use shakmaty::Move;
use shakmaty::uci::UciMove;

use super::output::Output;
use crate::eval::{Centipawns, Score, WinModel};
use crate::position::{Position, movegen};
use crate::search::score::{DRAW, ReportedScore, mated_in};
use crate::search::{Bound, SearchInfo, SearchObserver, SearchResult};

/// Prints what a search reports as UCI lines.
pub struct Printer {
    output: Arc<Output>,
    root: Position,
    show_wdl: bool,
    /// Of the weights that play.
    win_model: WinModel,
    /// No sequence of moves can win.
    is_drawn: bool,
    /// Cleared when the search is over.
    searching: Arc<AtomicBool>,
    best_line: Mutex<BestLine>,
}

/// The last line of the best move.
#[derive(Default)]
struct BestLine {
    text: Option<String>,
    /// It was printed before the ponder hit.
    is_stale: bool,
}

impl Printer {
    pub fn new(
        output: Arc<Output>,
        root: Position,
        win_model: WinModel,
        show_wdl: bool,
        searching: Arc<AtomicBool>,
    ) -> Printer {
        let is_stalemate = !root.in_check() && !movegen::has_legal_move(&root);
        Printer {
            output,
            is_drawn: is_stalemate || root.is_insufficient_material(),
            root,
            show_wdl,
            win_model,
            searching,
            best_line: Mutex::default(),
        }
    }

    /// GUIs take a move's score from the lines between `ponderhit` and `bestmove`. If the search
    /// prints none there, the last line is repeated.
    pub fn ponderhit(&self) {
        self.best_line.lock().is_stale = true;
    }

    /// Match runners and GUIs expect a score with each move: that of a book move is the static
    /// evaluation after it.
    pub fn book_move(&self, m: Move, score: Score) {
        let (m, score) = (self.uci(m), self.score(score, Bound::Exact));
        self.output.message(format_args!("book move {m}"));
        let line =
            format_args!("info depth 1 seldepth 1 multipv 1 score {score} nodes 1 time 0 pv {m}");
        self.output.line(line);
        self.output.line(format_args!("bestmove {m}"));
    }

    fn uci(&self, m: Move) -> UciMove {
        self.root.uci(m)
    }

    fn line(&self, info: &SearchInfo) -> String {
        let milliseconds = info.elapsed.as_millis();
        let nps = u128::from(info.nodes) * 1000 / milliseconds.max(1);
        let mut line = format!(
            "info depth {} seldepth {} multipv {} score {}",
            info.depth,
            info.seldepth,
            info.multi_pv,
            self.score(info.score, info.bound)
        );
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            " nodes {} nps {nps} hashfull {} tbhits {} time {milliseconds} pv",
            info.nodes, info.hashfull, info.tb_hits
        );
        for m in &info.pv {
            let _ = write!(line, " {}", self.uci(*m));
        }
        line
    }

    fn score(&self, score: Score, bound: Bound) -> String {
        let score = if self.is_drawn { DRAW } else { score };
        let mut text = match ReportedScore::new(score, &self.win_model) {
            ReportedScore::Centipawns(Centipawns(centipawns)) => format!("cp {centipawns}"),
            ReportedScore::Mate(moves) => format!("mate {moves}"),
        };
        match bound {
            Bound::Lower => text.push_str(" lowerbound"),
            Bound::Upper => text.push_str(" upperbound"),
            Bound::Exact | Bound::None => {}
        }
        if self.show_wdl {
            let [win, draw, loss] = match self.is_drawn {
                true => [0, 1000, 0],
                false => self.win_model.wdl(score),
            };
            let _ = write!(text, " wdl {win} {draw} {loss}");
        }
        text
    }
}

impl SearchObserver for Printer {
    fn info(&self, info: &SearchInfo) {
        let line = self.line(info);
        // Held while printing: a ponder hit comes before this line or after it.
        let mut best_line = self.best_line.lock();
        self.output.line(&line);
        if info.multi_pv == 1 {
            *best_line = BestLine {
                text: Some(line),
                is_stale: false,
            };
        }
    }

    fn current_move(&self, depth: i32, m: Move, number: usize) {
        let m = self.uci(m);
        self.output.line(format_args!(
            "info depth {depth} currmove {m} currmovenumber {number}"
        ));
    }

    fn message(&self, text: &str) {
        self.output.message(text);
    }

    fn finished(&self, result: &SearchResult) {
        self.searching.store(false, Relaxed);
        let Some(best) = result.best_move else {
            // Mate or stalemate: `0000` means that there is no move.
            let score = self.score(mated_in(0), Bound::Exact);
            self.output.line(format_args!("info depth 0 score {score}"));
            self.output.line("bestmove 0000");
            return;
        };
        let last = std::mem::take(&mut *self.best_line.lock());
        if let Some(text) = last.text.filter(|_| last.is_stale) {
            self.output.line(text);
        }
        match result.ponder {
            Some(ponder) => self.output.line(format_args!(
                "bestmove {} ponder {}",
                self.uci(best),
                self.uci(ponder)
            )),
            None => self
                .output
                .line(format_args!("bestmove {}", self.uci(best))),
        }
    }
}
