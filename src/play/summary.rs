//! The result of a match as text, in the form that users of fastchess know.

use super::crosstable::Crosstable;
use super::match_score::{EloEstimate, MatchScore};
use super::sprt::Sprt;
use crate::terminal::printable;

/// The block of two players, or the ranking of many.
pub fn table(
    names: &[&str],
    conditions: &str,
    crosstable: &Crosstable,
    sprt: Option<&Sprt>,
) -> String {
    match names {
        [one, other] => report([one, other], conditions, &crosstable.total(0), sprt),
        _ => ranking(names, crosstable),
    }
}

/// One line for each player with faults: which and how often.
pub fn faults(names: &[&str], crosstable: &Crosstable) -> Vec<String> {
    let describe = |(player, name): (usize, &&str)| {
        let faults = crosstable.faults(player);
        let counts: Vec<String> = faults
            .iter()
            .map(|(kind, count)| format!("{} {count}", kind.plural()))
            .collect();
        (!counts.is_empty()).then(|| format!("Player {}: {}", printable(name), counts.join(", ")))
    };
    names.iter().enumerate().filter_map(describe).collect()
}

/// The block fastchess prints for two players.
pub fn report(
    names: [&str; 2],
    conditions: &str,
    score: &MatchScore,
    sprt: Option<&Sprt>,
) -> String {
    let [losses, worse, even, better, wins] = score.pairs;
    let pairs: u64 = score.pairs.iter().sum();
    let lines = [
        format!(
            "Results of {} vs {} ({conditions}):",
            printable(names[0]),
            printable(names[1])
        ),
        format!("Elo: {}, nElo: {}", score.elo(), score.normalized_elo()),
        format!(
            "LOS: {}, DrawRatio: {}, PairsRatio: {}",
            score.los().map_or_else(unknown, percent),
            ratio(even, pairs).map_or_else(unknown, percent),
            ratio(better + wins, worse + losses).map_or_else(unknown, two_digits)
        ),
        format!(
            "Games: {}, Wins: {}, Losses: {}, Draws: {}, Points: {:.1} ({:.2} %)",
            score.games(),
            score.wins,
            score.losses,
            score.draws,
            score.points(),
            score.ratio() * 100.0
        ),
        format!(
            "Ptnml(0-2): {:?}, WL/DD Ratio: {}",
            score.pairs,
            ratio(score.win_loss_pairs, even - score.win_loss_pairs)
                .map_or_else(unknown, two_digits)
        ),
    ];
    let test = sprt.map(|sprt| sprt.describe(score));
    let lines: Vec<String> = lines.into_iter().chain(test).collect();
    lines.join("\n")
}

fn ratio(one: u64, other: u64) -> Option<f64> {
    (other > 0).then(|| one as f64 / other as f64)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn two_digits(value: f64) -> String {
    format!("{value:.2}")
}

/// Stands for a figure that the games do not determine.
fn unknown() -> String {
    "-".to_owned()
}

/// Players by points, with their results against all others.
fn ranking(names: &[&str], crosstable: &Crosstable) -> String {
    let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0)
        .max(20);
    let mut totals: Vec<(&str, MatchScore)> = names
        .iter()
        .enumerate()
        .map(|(player, name)| (&**name, crosstable.total(player)))
        .collect();
    totals.sort_by(|(_, one), (_, other)| other.ratio().total_cmp(&one.ratio()));
    let heading = format!(
        "Rank {:width$} {:>8} {:>7} {:>8} {:>7} {:>7} {:>8} {:>8} {:>7}  Ptnml(0-2)",
        "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Points", "Score", "Draws"
    );
    let line = |(place, (name, score)): (usize, &(&str, MatchScore))| {
        let [elo, normalized] = [score.elo(), score.normalized_elo()].map(columns);
        let draws = score.draws as f64 / score.games().max(1) as f64;
        format!(
            "{:>4} {name:width$} {elo} {normalized} {:>7} {:>8.1} {:>7.1}% {:>6.1}%  {:?}",
            place + 1,
            score.games(),
            score.points(),
            score.ratio() * 100.0,
            draws * 100.0,
            score.pairs
        )
    };
    let lines: Vec<String> = totals.iter().enumerate().map(line).collect();
    format!("{heading}\n{}", lines.join("\n"))
}

fn columns(estimate: EloEstimate) -> String {
    let number = |value: f64| match value.is_finite() {
        true => two_digits(value),
        false => unknown(),
    };
    let error = estimate.error.map_or_else(unknown, two_digits);
    format!("{:>8} {error:>7}", number(estimate.value))
}
