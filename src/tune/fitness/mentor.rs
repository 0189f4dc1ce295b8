//! Fitness `mentor`: how closely the static score follows a stronger engine's judgement.
//!
//! The loss is the mean absolute difference in centipawns (David-Tabibi et al.), or the mean
//! squared difference of winning chances, which cares little how lost a lost position is. Each
//! position's features are traced once; scores are exactly those of the evaluation.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Batch, Fitness, Sloped};
use crate::data::{Label, Labels};
use crate::eval::{Family, Frame, Trace, Weights, trace_families};
use crate::tune::genome::{Complaint, Genome};

/// The table `[fitness]` of a preset that says `name = "mentor"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MentorSettings {
    pub name: String,
    pub loss: Loss,
    /// Centipawns that multiply the odds of winning by e: the mentor's and ours.
    pub mentor_scale: f64,
    pub own_scale: f64,
    /// Positions drawn anew each generation; 0 takes all of them every time.
    pub positions_per_generation: usize,
}

impl Default for MentorSettings {
    fn default() -> MentorSettings {
        MentorSettings {
            name: "mentor".to_owned(),
            loss: Loss::Centipawns,
            mentor_scale: 105.0,
            own_scale: 182.0,
            positions_per_generation: 0,
        }
    }
}

impl MentorSettings {
    /// A value as people read it: the loss, lower is better.
    pub fn shown(&self, value: f64) -> String {
        match self.loss {
            Loss::Centipawns => format!("{:.2} cp", -value),
            Loss::Chance => format!("{:.5}", -value),
        }
    }

    /// What is impossible, with the key that says so.
    pub fn complaint(&self) -> Option<Complaint> {
        let scales = [
            ("mentor_scale", self.mentor_scale),
            ("own_scale", self.own_scale),
        ];
        let bad = scales
            .into_iter()
            .find(|(_, scale)| !(*scale > 0.0 && scale.is_finite()))?;
        Some((bad.0.to_owned(), "must be above 0".to_owned()))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// Mean absolute difference in centipawns.
    #[default]
    Centipawns,
    /// Mean squared difference of winning chances.
    Chance,
}

/// A traced position; scores are White's.
struct Case {
    trace: Trace,
    mentor: f64,
}

impl Case {
    fn new(label: &Label, families: &[Family]) -> Case {
        let score = f64::from(label.score);
        Case {
            trace: trace_families(&label.position, families),
            mentor: if label.position.turn() == Color::White {
                score
            } else {
                -score
            },
        }
    }

    fn own(&self, weights: &Weights) -> f64 {
        let score = f64::from(self.trace.score(weights));
        if self.trace.frame.turn == Color::White {
            score
        } else {
            -score
        }
    }
}

/// Pieces of work do not depend on the number of threads, nor does the order of their sum.
const PIECE: usize = 1024;

pub struct Mentor {
    genome: Arc<Genome>,
    settings: MentorSettings,
    training: Vec<Case>,
    validation: Vec<Case>,
}

impl Mentor {
    pub fn new(genome: Arc<Genome>, settings: MentorSettings, labels: &Labels) -> Mentor {
        let families = genome.families();
        let traced = |labels: &[Label]| -> Vec<Case> {
            labels
                .par_iter()
                .map(|label| Case::new(label, &families))
                .collect()
        };
        Mentor {
            settings,
            training: traced(&labels.training),
            validation: traced(&labels.validation),
            genome,
        }
    }

    fn cases<'s>(&'s self, batch: &Batch) -> Vec<&'s Case> {
        match batch {
            Batch::All => self.training.iter().collect(),
            Batch::Some(places) => places
                .iter()
                .map(|place| &self.training[*place as usize])
                .collect(),
        }
    }

    fn loss(&self, own: f64, mentor: f64) -> f64 {
        match self.settings.loss {
            Loss::Centipawns => (own - mentor).abs(),
            Loss::Chance => {
                let own = chance(own, self.settings.own_scale);
                (own - chance(mentor, self.settings.mentor_scale)).powi(2)
            }
        }
    }

    /// The derivative of the loss by our score.
    fn loss_slope(&self, own: f64, mentor: f64) -> f64 {
        match self.settings.loss {
            Loss::Centipawns => (own - mentor).signum(),
            Loss::Chance => {
                let expected = chance(own, self.settings.own_scale);
                let error = expected - chance(mentor, self.settings.mentor_scale);
                2.0 * error * expected * (1.0 - expected) / self.settings.own_scale
            }
        }
    }

    /// Fitness is the loss with its sign turned: higher is better.
    fn mean(&self, cases: &[&Case], weights: &Weights) -> f64 {
        let pieces: Vec<f64> = cases
            .par_chunks(PIECE)
            .map(|piece| {
                let losses = piece
                    .iter()
                    .map(|case| self.loss(case.own(weights), case.mentor));
                losses.sum::<f64>()
            })
            .collect();
        -pieces.into_iter().sum::<f64>() / cases.len().max(1) as f64
    }

    /// Adds what one position says about each gene.
    fn add_slope(&self, case: &Case, weights: &Weights, scaled: bool, gradient: &mut [f64]) {
        let by_score = -self.loss_slope(case.own(weights), case.mentor);
        let parts = Parts::of(case, weights, scaled);
        let columns = self.genome.columns();
        let mut add = |term, midgame: f64, endgame: f64| {
            let Some(column) = self.genome.place_of(term).0 else {
                return;
            };
            let column = &columns[usize::from(column)];
            if let Some(gene) = column.midgame {
                gradient[gene] += by_score * midgame;
            }
            if let Some(gene) = column.endgame {
                gradient[gene] += by_score * endgame;
            }
        };
        for &(term, count) in &case.trace.counts {
            let count = f64::from(count);
            add(term, count * parts.midgame, count * parts.endgame);
        }
        for &(term, count) in &case.trace.complexity {
            add(term, 0.0, f64::from(count) * parts.complexity);
        }
    }
}

/// How much of a centipawn in each total arrives in the score.
struct Parts {
    midgame: f64,
    endgame: f64,
    complexity: f64,
}

impl Parts {
    fn of(case: &Case, weights: &Weights, scaled: bool) -> Parts {
        let frame = &case.trace.frame;
        let totals = case.trace.totals(weights);
        let phase = f64::from(frame.phase) / f64::from(Frame::FULL_PHASE);
        let white_is_better = totals.endgame_with_complexity() > 0;
        let scale = match scaled {
            true => f64::from(frame.scale[usize::from(!white_is_better)]),
            false => f64::from(Frame::FULL_SCALE),
        };
        let endgame = (1.0 - phase) * scale / f64::from(Frame::FULL_SCALE);
        // Complexity cannot cross the draw: where it would, nothing moves.
        let held = totals.complexity < -totals.endgame.abs();
        let endgame = if held { 0.0 } else { endgame };
        Parts {
            midgame: phase,
            endgame,
            complexity: endgame * totals.endgame.signum() as f64,
        }
    }
}

fn chance(score: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-score / scale).exp())
}

impl Fitness for Mentor {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let cases = self.cases(batch);
        let value = |genes: &&[f64]| self.mean(&cases, &self.genome.weights(genes));
        individuals.iter().map(value).collect()
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        match self.settings.positions_per_generation {
            0 => Batch::All,
            count => self.draw(count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.settings.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        let cases: Vec<&Case> = self.validation.iter().collect();
        (!cases.is_empty()).then(|| self.mean(&cases, &self.genome.weights(individual)))
    }

    fn slope(&self, individual: &[f64], batch: &Batch) -> Option<Sloped> {
        let weights = self.genome.weights(individual);
        let scaled = weights.uses(Family::Endgame);
        let cases = self.cases(batch);
        let pieces: Vec<Vec<f64>> = cases
            .par_chunks(PIECE)
            .map(|piece| {
                let mut gradient = vec![0.0; self.genome.len()];
                for case in piece {
                    self.add_slope(case, &weights, scaled, &mut gradient);
                }
                gradient
            })
            .collect();
        let mut gradient = vec![0.0; self.genome.len()];
        for (total, share) in pieces.iter().flat_map(|piece| piece.iter().enumerate()) {
            gradient[total] += share / cases.len().max(1) as f64;
        }
        Some(Sloped {
            value: self.mean(&cases, &weights),
            gradient,
        })
    }

    fn draw(&self, count: usize, seed: u64, generation: u64) -> Batch {
        Batch::drawn(self.training.len(), count, seed, generation)
    }

    fn shown(&self, value: f64) -> String {
        self.settings.shown(value)
    }
}
