//! How players err over all their games.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{AnnotatedGame, AnnotatedMove, Judgement};

/// The moves of one player in all games, by what they cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerErrors {
    pub player: String,
    pub moves: usize,
    pub accuracy: f64,
    pub mean_centipawn_loss: f64,
    /// Centipawn losses that half, nine in ten and 99 in 100 moves do not exceed.
    pub median_loss: i32,
    pub loss_90: i32,
    pub loss_99: i32,
    /// Of a hundred moves.
    pub inaccuracies: f64,
    pub mistakes: f64,
    pub blunders: f64,
}

/// Every player's errors, by name.
pub fn errors_by_player(games: &[AnnotatedGame]) -> Vec<PlayerErrors> {
    let mut by_name: BTreeMap<&str, Vec<&AnnotatedMove>> = BTreeMap::new();
    for game in games {
        for one in &game.moves {
            let name = game.tag(one.mover.fold_wb("White", "Black"));
            by_name.entry(name).or_default().push(one);
        }
    }
    let errors = by_name.into_iter();
    errors
        .map(|(name, moves)| errors_of(name, &moves))
        .collect()
}

fn errors_of(player: &str, moves: &[&AnnotatedMove]) -> PlayerErrors {
    let count = moves.len().max(1) as f64;
    let mean =
        |value: fn(&AnnotatedMove) -> f64| moves.iter().map(|one| value(one)).sum::<f64>() / count;
    let of_hundred = |judgement| {
        let judged = moves.iter().filter(|one| one.judgement == judgement);
        100.0 * judged.count() as f64 / count
    };
    let mut losses: Vec<i32> = moves.iter().map(|one| one.centipawn_loss).collect();
    losses.sort_unstable();
    // The smallest loss that so many percent of the moves do not exceed.
    let percentile = |percent: usize| {
        let rank = (losses.len() * percent).div_ceil(100).max(1);
        losses.get(rank - 1).copied().unwrap_or(0)
    };
    PlayerErrors {
        player: player.to_owned(),
        moves: moves.len(),
        accuracy: mean(|one| one.accuracy),
        mean_centipawn_loss: mean(|one| f64::from(one.centipawn_loss)),
        median_loss: percentile(50),
        loss_90: percentile(90),
        loss_99: percentile(99),
        inaccuracies: of_hundred(Judgement::Inaccuracy),
        mistakes: of_hundred(Judgement::Mistake),
        blunders: of_hundred(Judgement::Blunder),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Color;

    use super::*;
    use crate::eval::Centipawns;
    use crate::search::score::ReportedScore;

    fn one(centipawn_loss: i32) -> AnnotatedMove {
        AnnotatedMove {
            san: "Nf3".to_owned(),
            mover: Color::White,
            number: 1,
            score: ReportedScore::Centipawns(Centipawns(0)),
            white_chance: 0.5,
            centipawn_loss,
            accuracy: 100.0,
            judgement: match centipawn_loss {
                0..100 => Judgement::Good,
                _ => Judgement::Blunder,
            },
            variation: Vec::new(),
            clocks: String::new(),
        }
    }

    #[test]
    fn losses_of_a_player_are_counted_by_percentiles() {
        let moves: Vec<AnnotatedMove> = (1..=100).map(|loss| one(2 * loss)).collect();
        let moves: Vec<&AnnotatedMove> = moves.iter().collect();
        let errors = errors_of("Finch", &moves);
        assert_eq!((errors.moves, errors.median_loss), (100, 100));
        assert_eq!((errors.loss_90, errors.loss_99), (180, 198));
        assert_eq!((errors.mean_centipawn_loss, errors.blunders), (101.0, 51.0));
        assert_eq!(errors_of("nobody", &[]).loss_99, 0);
    }
}
