//! The progress of a match: a live table on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::play::crosstable::Crosstable;
use crate::play::game::GameRecord;
use crate::play::schedule::Pairing;
use crate::play::sprt::Sprt;
use crate::play::summary;
use crate::play::tournament::{Tournament, TournamentObserver};
use crate::terminal::printable;

/// Fast games must not flood the terminal with tables.
const LIVE_INTERVAL: Duration = Duration::from_millis(200);
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

pub struct Display {
    names: Vec<String>,
    conditions: String,
    sprt: Option<Sprt>,
    games: usize,
    view: View,
    last_table: Instant,
}

enum View {
    Live(ProgressBar),
    Plain,
    Nothing,
}

impl Display {
    pub fn new(tournament: &Tournament, conditions: &str, finished: usize, quiet: bool) -> Display {
        let games = tournament.schedule.games();
        let view = if quiet {
            View::Nothing
        } else if std::io::stdout().is_terminal() {
            View::Live(bar(games, finished, tournament.sprt.is_some()))
        } else {
            View::Plain
        };
        Display {
            names: tournament
                .players
                .iter()
                .map(|player| player.name.clone())
                .collect(),
            conditions: conditions.to_owned(),
            sprt: tournament.sprt,
            games,
            view,
            last_table: Instant::now(),
        }
    }

    fn table(&self, crosstable: &Crosstable) -> String {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        summary::table(&names, &self.conditions, crosstable, self.sprt.as_ref())
    }

    /// Removes the live table; the final one follows.
    pub fn close(self) {
        if let View::Live(bar) = self.view {
            bar.finish_and_clear();
        }
    }
}

/// An SPRT has no known length: it gets a counter instead of a bar.
fn bar(games: usize, finished: usize, is_test: bool) -> ProgressBar {
    let (length, template) = if is_test {
        (None, "{msg}\n{pos} games, {per_sec}, {elapsed_precise}")
    } else {
        let template = "{msg}\n[{wide_bar}] {pos}/{len} games, {per_sec}, {eta_precise} left";
        (Some(games as u64), template)
    };
    let style = ProgressStyle::with_template(template);
    let bar = match length {
        Some(length) => ProgressBar::new(length),
        None => ProgressBar::new_spinner(),
    };
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_position(finished as u64);
    bar.reset_eta();
    bar
}

impl TournamentObserver for Display {
    fn finished(
        &mut self,
        number: usize,
        pairing: Pairing,
        record: &GameRecord,
        crosstable: &Crosstable,
    ) {
        let game = || {
            let fault = record
                .fault
                .as_ref()
                .filter(|fault| !fault.detail.is_empty());
            let detail = fault.map_or(String::new(), |fault| format!(": {}", fault.detail));
            let text = format!(
                "Finished game {} ({} vs {}): {} {{{}{detail}}}",
                number + 1,
                self.names[pairing.white],
                self.names[pairing.black],
                record.result(),
                record.end
            );
            // Engines put anything into their answers.
            printable(&text).into_owned()
        };
        let since = self.last_table.elapsed();
        match &self.view {
            View::Nothing => {}
            View::Live(bar) => {
                bar.set_position(crosstable.games() as u64);
                if record.fault.is_some() {
                    bar.println(game());
                }
                if since >= LIVE_INTERVAL || crosstable.games() == self.games {
                    bar.set_message(self.table(crosstable));
                    self.last_table = Instant::now();
                }
            }
            View::Plain => {
                println!("{}", game());
                if since >= PLAIN_INTERVAL {
                    println!("{}", self.table(crosstable));
                    self.last_table = Instant::now();
                }
            }
        }
    }
}
