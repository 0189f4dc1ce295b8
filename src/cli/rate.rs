//! `finch rate games.pgn…`: ratings of all players, as BayesElo and Ordo print them.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::output::json_line;
use crate::play::pgn::read_results;
use crate::play::ratings::{RatingSettings, Ratings, rate};
use crate::terminal::printable;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch rate games.pgn
  finch rate games.pgn more.pgn --anchor Stockfish=3500")]
pub struct Arguments {
    /// PGN files; only tags and results are read.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A known rating; may be given for several players.
    #[arg(long, value_name = "NAME=ELO", value_parser = anchor)]
    anchor: Vec<(String, f64)>,
    /// The average of all ratings when none is known.
    #[arg(
        long,
        value_name = "ELO",
        default_value_t = 0.0,
        conflicts_with = "anchor"
    )]
    average: f64,
    /// Virtual draws of each player; 0 for plain maximum likelihood.
    #[arg(long, value_name = "GAMES", default_value_t = 2.0, value_parser = not_negative)]
    prior: f64,
    /// Hold white's advantage instead of estimating it.
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, value_parser = finite)]
    white_advantage: Option<f64>,
    /// Hold the draw threshold instead of estimating it.
    #[arg(long, value_name = "ELO", value_parser = not_negative)]
    draw_elo: Option<f64>,
    /// Hold both at BayesElo's defaults (32.8 and 97.3).
    #[arg(long, conflicts_with_all = ["white_advantage", "draw_elo"])]
    bayeselo: bool,
    /// Print JSON, one object a line; docs/json.md explains the fields.
    #[arg(long)]
    json: bool,
}

fn anchor(text: &str) -> Result<(String, f64), String> {
    let (name, elo) = text.rsplit_once('=').ok_or("not of the form NAME=ELO")?;
    Ok((name.to_owned(), finite(elo)?))
}

fn finite(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("'{text}' is not a number"))
}

fn not_negative(text: &str) -> Result<f64, String> {
    finite(text).and_then(|number| match number {
        number if number < 0.0 => Err("must not be negative".to_owned()),
        number => Ok(number),
    })
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let mut games = Vec::new();
        let mut unfinished = 0;
        for file in &self.files {
            let (played, skipped) = read_results(file)?;
            games.extend(played);
            unfinished += skipped;
        }
        let held = |default: f64, own: Option<f64>| own.or(self.bayeselo.then_some(default));
        let settings = RatingSettings {
            prior: self.prior,
            anchors: self.anchor.clone(),
            average: self.average,
            white_advantage: held(RatingSettings::BAYESELO_ADVANTAGE, self.white_advantage),
            draw_elo: held(RatingSettings::BAYESELO_DRAW, self.draw_elo),
        };
        let ratings = rate(&games, &settings)?;
        if self.json {
            print_json(&ratings, games.len(), unfinished);
            return Ok(());
        }
        print(&ratings);
        let (total, s) = (games.len(), if games.len() == 1 { "" } else { "s" });
        println!(
            "\n{total} game{s}; white advantage {:.1}, draw threshold {:.1} Elo; errors are 95%",
            ratings.white_advantage, ratings.draw_elo
        );
        if unfinished > 0 {
            println!("{unfinished} games without players or result were skipped");
        }
        if ratings.disconnected {
            println!(
                "some groups of players are not connected by games: compare within groups only"
            );
        }
        Ok(())
    }
}

fn print_json(ratings: &Ratings, games: usize, unfinished: usize) {
    for (rank, player) in ratings.players.iter().enumerate() {
        let fields = json!({
            "rank": rank + 1,
            "name": player.name,
            "elo": player.elo,
            "error": player.error,
            "games": player.games(),
            "wins": player.wins,
            "draws": player.draws,
            "losses": player.losses,
            "score": player.score(),
            "opposition": player.opposition,
        });
        json_line("player", fields);
    }
    let fields = json!({
        "games": games,
        "skipped": unfinished,
        "white_advantage": ratings.white_advantage,
        "draw_elo": ratings.draw_elo,
        "disconnected": ratings.disconnected,
    });
    json_line("ratings", fields);
}

fn print(ratings: &Ratings) {
    let names: Vec<_> = ratings
        .players
        .iter()
        .map(|player| printable(&player.name))
        .collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let width = longest.unwrap_or(0).max(20);
    println!(
        "Rank {:width$} {:>6} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "Name", "Elo", "+/-", "Games", "Score", "Oppo.", "Draws", "Won", "Drawn", "Lost"
    );
    for (rank, (player, name)) in ratings.players.iter().zip(&names).enumerate() {
        let draws = player.draws as f64 / player.games().max(1) as f64;
        println!(
            "{:>4} {:width$} {:>6.0} {:>5.0} {:>6} {:>5.1}% {:>6.0} {:>5.1}% {:>6} {:>6} {:>6}",
            rank + 1,
            name,
            player.elo,
            player.error,
            player.games(),
            player.score() * 100.0,
            player.opposition,
            draws * 100.0,
            player.wins,
            player.draws,
            player.losses
        );
    }
}
