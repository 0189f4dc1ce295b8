//! What Finch prints while and after it searches.

use std::fmt::Write;
use std::sync::Arc;

use shakmaty::Move;
use shakmaty::uci::UciMove;

use super::output::Output;
use crate::eval::{Centipawns, WinModel};
use crate::position::Position;
use crate::search::score::{DRAW, ReportedScore, mated_in};
use crate::search::{Bound, SearchInfo, SearchObserver, SearchResult};

/// Turns a search's reports into UCI lines.
pub struct Printer {
    pub output: Arc<Output>,
    pub root: Position,
    pub show_wdl: bool,
    /// Of the weights that play.
    pub win_model: WinModel,
}

impl Printer {
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
            " nodes {} nps {nps} hashfull {} tbhits 0 time {milliseconds} pv",
            info.nodes, info.hashfull
        );
        for m in &info.pv {
            let _ = write!(line, " {}", self.uci(*m));
        }
        line
    }

    fn score(&self, score: i32, bound: Bound) -> String {
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
            let [win, draw, loss] = self.win_model.wdl(score);
            let _ = write!(text, " wdl {win} {draw} {loss}");
        }
        text
    }
}

impl SearchObserver for Printer {
    fn info(&self, info: &SearchInfo) {
        self.output.line(self.line(info));
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
        let Some(best) = result.best_move else {
            // Mated or stalemated already: say so, and that there is nothing to play.
            let score = if self.root.in_check() {
                mated_in(0)
            } else {
                DRAW
            };
            let score = self.score(score, Bound::Exact);
            self.output.line(format_args!("info depth 0 score {score}"));
            self.output.line("bestmove 0000");
            return;
        };
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
