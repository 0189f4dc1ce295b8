//! The progress of a match: a live table on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::output::{OutputOptions, json_line};
use crate::play::MatchScore;
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
    Json,
    Nothing,
}

impl Display {
    pub fn new(
        tournament: &Tournament,
        conditions: &str,
        finished: usize,
        output: OutputOptions,
    ) -> Display {
        let games = tournament.schedule.games();
        let view = if output.json {
            View::Json
        } else if output.quiet {
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

/// A score as fields of a JSON object.
pub fn score_fields(score: &MatchScore) -> Map<String, Value> {
    let (elo, normalized) = (score.elo(), score.normalized_elo());
    let fields = [
        ("games", json!(score.games())),
        ("wins", json!(score.wins)),
        ("draws", json!(score.draws)),
        ("losses", json!(score.losses)),
        ("score", json!(score.ratio())),
        ("elo", json!(elo.value)),
        ("elo_error", json!(elo.error)),
        ("nelo", json!(normalized.value)),
        ("nelo_error", json!(normalized.error)),
        ("los", json!(score.los())),
        ("pairs", json!(score.pairs)),
    ];
    let named = |(name, value): (&str, Value)| (name.to_owned(), value);
    fields.into_iter().map(named).collect()
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
            View::Json => json_line(
                "game",
                json!({
                    "number": number + 1,
                    "white": self.names[pairing.white],
                    "black": self.names[pairing.black],
                    "result": record.result().to_string(),
                    "reason": record.end.to_string(),
                    "plies": record.moves.len(),
                    "seconds": record.duration.as_secs_f64(),
                }),
            ),
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
