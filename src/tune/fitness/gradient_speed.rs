//! How fast the gradient of labelled positions is, beside the speed of memory.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use rand::RngExt;
use rayon::prelude::*;
use shakmaty::{Color, KnownOutcome};

use super::results::{ResultsFitness, ResultsSettings};
use super::{Batch, Fitness};
use crate::data::{GameId, Label, Labels};
use crate::eval::Family;
use crate::position::{Position, movegen};
use crate::random::{Purpose, stream};
use crate::tune::genome::{GenomeConfig, TermsGenome};

/// Passes of each kind; the fastest counts.
const PASSES: usize = 5;
/// Plies of random games; their ends are odd positions.
const PLIES: u64 = 80;

/// One pass over all positions, and one reading of the bytes that it reads.
#[derive(Clone, Copy, Debug)]
pub struct GradientSpeed {
    pub positions: usize,
    pub bytes: usize,
    pub genes: usize,
    pub pass_seconds: f64,
    pub reading_seconds: f64,
}

impl fmt::Display for GradientSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GradientSpeed {
            positions,
            bytes,
            genes,
            pass_seconds,
            reading_seconds,
        } = *self;
        let rate = |seconds: f64| positions as f64 / seconds.max(1e-9);
        let each = bytes as f64 / positions.max(1) as f64;
        writeln!(
            f,
            "{positions} positions, {genes} genes, {each:.0} bytes each"
        )?;
        let (pass, reading) = (rate(pass_seconds), rate(reading_seconds));
        writeln!(f, "gradient pass: {pass:.0} positions/s")?;
        let speed = bytes as f64 / reading_seconds.max(1e-9) / 1e9;
        writeln!(
            f,
            "reading the same bytes: {reading:.0} positions/s ({speed:.1} GB/s)"
        )?;
        let ratio = pass_seconds / reading_seconds.max(1e-9);
        write!(f, "a pass takes {ratio:.2} times as long as reading")
    }
}

/// Measures the gradient of Texel's method by all terms of Finch, on positions of random games.
pub fn gradient_speed(positions: usize) -> Option<GradientSpeed> {
    let families = Family::ALL.iter().map(|family| family.key().to_owned());
    let settings = TermsGenome {
        base: "hand-set".to_owned(),
        free: families.collect(),
        ..TermsGenome::default()
    };
    let genome = Arc::new(settings.build().ok()?);
    let labels = Labels {
        training: random_labels(positions),
        scale: 100.0,
        ..Labels::default()
    };
    let genes = genome.base_genes();
    let fitness = ResultsFitness::new(genome, ResultsSettings::default(), &labels).ok()?;
    drop(labels);
    let cases = &fitness.training;
    Some(GradientSpeed {
        positions: cases.targets.len(),
        bytes: cases.features.bytes(),
        genes: genes.len(),
        pass_seconds: fastest(|| fitness.gradient(&genes, &Batch::All).is_some()),
        reading_seconds: fastest(|| cases.sum_bytes() > 0),
    })
}

fn fastest(work: impl Fn() -> bool) -> f64 {
    let seconds = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed().as_secs_f64()
    };
    (0..PASSES).map(seconds).fold(f64::INFINITY, f64::min)
}

/// Positions of random games with random results.
fn random_labels(count: usize) -> Vec<Label> {
    let games = (count as u64).div_ceil(PLIES);
    let mut labels: Vec<Label> = (0..games)
        .into_par_iter()
        .flat_map_iter(random_game)
        .collect();
    labels.truncate(count);
    labels
}

/// As many positions as a game has plies; a game that ends begins again.
fn random_game(number: u64) -> Vec<Label> {
    let mut random = stream(1, Purpose::Game, number, 0);
    let won_by = |winner| KnownOutcome::Decisive { winner };
    let result = match number % 3 {
        0 => KnownOutcome::Draw,
        1 => won_by(Color::White),
        _ => won_by(Color::Black),
    };
    let mut position = Position::default();
    let mut next = || {
        let moves = movegen::legal_moves(&position);
        position = match moves.len() {
            0 => Position::default(),
            count => position.after(moves[random.random_range(0..count)]),
        };
        Label {
            result: Some(result),
            ..Label::new(position.clone(), 0, GameId(number))
        }
    };
    (0..PLIES).map(|_| next()).collect()
}
