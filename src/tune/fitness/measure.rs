//! Measuring weights and engines outside a run, with standard errors that respect that positions
//! of one game belong together.

use std::time::Duration;

use rayon::prelude::*;
use shakmaty::ByColor;

use super::board_search::BoardSearch;
use super::labelled::ScoreLoss;
use super::mentor::{MentorComparison, MentorLoss, MentorSettings};
use super::quiescence::{QuiescenceLimits, Ties, better_move};
use crate::data::{Case, Label};
use crate::eval::{Weights, evaluate_uncached};
use crate::play::GameLimits;
use crate::play::limits::GameClocks;
use crate::play::player::{Fault, GameView, Player};
use crate::play::uci_engine::{EngineCommand, UciEngine};
use crate::position::Game;
use crate::tune::statistics::{Estimate, clustered_mean};

/// In which of the cases these weights play an answer by one ply and quiescence.
pub fn cases_solved(
    cases: &[Case],
    weights: &Weights,
    limits: QuiescenceLimits,
    ties: Ties,
) -> Vec<bool> {
    let solves = |case: &Case| {
        let search = BoardSearch::new(&case.position, weights, limits);
        better_move(&search, &search.move_numbers(&case.answers), 0, ties).is_none()
    };
    cases.par_iter().map(solves).collect()
}

/// The share of cases in which a UCI engine plays an answer at a fixed depth.
pub fn engines_share_of_moves(
    cases: &[Case],
    engine: EngineCommand,
    depth: u32,
) -> Result<Estimate, Fault> {
    let mut engine = UciEngine::new(engine);
    let limits = GameLimits::depth(depth);
    let clocks = GameClocks::new(ByColor::new_with(|_| limits), Duration::ZERO);
    let mut solved = Vec::with_capacity(cases.len());
    for case in cases {
        let view = GameView {
            game: &Game::new(case.position.clone()),
            start: &case.position,
            moves: &[],
        };
        engine.new_game(&case.position)?;
        let limits = clocks.move_limits(case.position.turn());
        solved.push(case.answers.contains(&engine.think(&view, &limits)?.m));
    }
    Ok(share_of_cases(cases, &solved))
}

/// The share of cases solved; cases of one game are a cluster.
pub fn share_of_cases(cases: &[Case], solved: &[bool]) -> Estimate {
    let values = cases.iter().zip(solved);
    clustered_mean(values.map(|(case, solved)| (case.game, f64::from(u8::from(*solved)))))
}

/// The mean loss of a static evaluation against a mentor's scores. `scale` is that of the labels.
pub fn mentor_loss(labels: &[Label], scale: f64, weights: &Weights, loss: MentorLoss) -> Estimate {
    let settings = MentorSettings {
        loss,
        ..MentorSettings::default()
    };
    let comparison = MentorComparison::new(&settings, scale, weights);
    let loss = |label: &Label| {
        let own = evaluate_uncached(&label.position, weights);
        let white = if label.position.turn().is_white() {
            own
        } else {
            -own
        };
        comparison
            .loss(white.into(), comparison.target(label))
            .value
    };
    let losses: Vec<f64> = labels.par_iter().map(loss).collect();
    let games = labels.iter().map(|label| label.source);
    clustered_mean(games.zip(losses))
}
