//! Adam over all weights of a network.
//!
//! A king bucket alone sees too few positions. So the features have, beside their own moments,
//! moments that all king buckets share: what a feature learns in one bucket moves it in all of
//! them (a factoriser).

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::kernels::{MEMORY, Moments, PART, Part, Simd, Step, update};
use super::model::{COMMON, KING_BUCKETS, Model, SHARES, WEIGHTS};

const _: () = assert!(COMMON.is_multiple_of(PART));
/// Parts of one king bucket.
const PARTS: usize = COMMON / PART;

pub struct Optimizer {
    /// First and second moments of every weight.
    own: [Vec<f32>; 2],
    /// The same of the features, for all king buckets together.
    factor: [Vec<f32>; 2],
}

impl Optimizer {
    pub fn new() -> Optimizer {
        Optimizer {
            own: [(); 2].map(|()| vec![0.0; WEIGHTS]),
            factor: [(); 2].map(|()| vec![0.0; COMMON]),
        }
    }

    /// Moves the model by the gradients of the shares, which sum up `count` examples, and clears
    /// them.
    pub fn step(
        &mut self,
        simd: Simd,
        number: u64,
        learning_rate: f64,
        count: usize,
        model: &mut Model,
        gradients: ArrayVec<&mut [f32], SHARES>,
    ) {
        let correction = |memory: f32| 1.0 - libm::pow(memory.into(), (number + 1) as f64) as f32;
        let step = Step {
            learning_rate: learning_rate as f32,
            share: 1.0 / count.max(1) as f32,
            correction: MEMORY.map(correction),
        };
        let [first, second] = &mut self.own;
        let parts = split(&mut model.0, [first, second], gradients);
        let [first, second] = &mut self.factor;
        let moments = first.chunks_mut(PART).zip(second.chunks_mut(PART));
        let factors = moments.map(|(first, second)| Some(Moments { first, second }));
        let groups: Vec<_> = grouped(parts)
            .into_iter()
            .zip(factors.chain(std::iter::repeat_with(|| None)))
            .collect();
        groups.into_par_iter().for_each(|(mut parts, factor)| {
            update(simd, &mut parts, factor, &step);
        });
    }

    pub fn parts(&self) -> [&[f32]; 4] {
        let ([first, second], [factor_first, factor_second]) = (&self.own, &self.factor);
        [first, second, factor_first, factor_second]
    }

    pub fn parts_mut(&mut self) -> [&mut [f32]; 4] {
        let ([first, second], [factor_first, factor_second]) = (&mut self.own, &mut self.factor);
        [first, second, factor_first, factor_second]
    }
}

/// Cuts weights, moments and gradients into parts.
fn split<'a>(
    weights: &'a mut [f32],
    [first, second]: [&'a mut [f32]; 2],
    gradients: ArrayVec<&'a mut [f32], SHARES>,
) -> Vec<Part<'a>> {
    let cut = |gradient: &'a mut [f32]| gradient.chunks_mut(PART);
    let mut gradients: ArrayVec<_, SHARES> = gradients.into_iter().map(cut).collect();
    let moments = first.chunks_mut(PART).zip(second.chunks_mut(PART));
    let part = |(weights, (first, second))| Part {
        weights,
        moments: Moments { first, second },
        gradients: gradients.iter_mut().filter_map(Iterator::next).collect(),
    };
    weights.chunks_mut(PART).zip(moments).map(part).collect()
}

/// Puts the parts of the same features in all king buckets together; the rest follows.
fn grouped(parts: Vec<Part<'_>>) -> Vec<ArrayVec<Part<'_>, KING_BUCKETS>> {
    let mut groups: Vec<ArrayVec<_, KING_BUCKETS>> = (0..PARTS).map(|_| ArrayVec::new()).collect();
    for (at, part) in parts.into_iter().enumerate() {
        match at < KING_BUCKETS * PARTS {
            true => groups[at % PARTS].push(part),
            false => groups.push(ArrayVec::from_iter([part])),
        }
    }
    groups
}
