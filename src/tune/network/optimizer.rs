//! AdamW over all weights of a network: Adam with a decay of the weights that is not part of the
//! gradient (decoupled). Every weight moves at every step, also those of features that no example
//! of the batch has: their momentum carries them on.
//!
//! A king bucket alone sees too few positions. So the features have, beside their own moments,
//! moments that all king buckets share: what a feature learns in one bucket moves it in all of
//! them (a factoriser).

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::kernels::{MAX_KING_BUCKETS, MEMORY, Moments, PART, Part, Simd, Step, update};
use super::model::{AlignedFloats, BLOCK, Model, ModelLayout, SHARES};
use crate::eval::FEATURES;

/// Parts of one king bucket in one block of columns.
const PARTS: usize = FEATURES * BLOCK / PART;
const _: () = assert!((FEATURES * BLOCK).is_multiple_of(PART));

pub struct Optimizer {
    weight_decay: f64,
    /// First and second moments of every weight.
    own: [AlignedFloats; 2],
    /// The same of the features, for all king buckets together; empty if there is one only.
    factor: [AlignedFloats; 2],
}

impl Optimizer {
    pub fn new(layout: ModelLayout, weight_decay: f64) -> Optimizer {
        let common = match layout.0.king_buckets() {
            1 => 0,
            _ => layout.common(),
        };
        Optimizer {
            weight_decay,
            own: [(); 2].map(|()| AlignedFloats::zeroed(layout.len())),
            factor: [(); 2].map(|()| AlignedFloats::zeroed(common)),
        }
    }

    /// Moves the model by the gradients of the shares, which sum up `count` examples.
    pub fn step(
        &mut self,
        simd: Simd,
        number: u64,
        learning_rate: f64,
        count: usize,
        model: &mut Model,
        gradients: ArrayVec<&[f32], SHARES>,
    ) {
        let correction =
            |memory: f32| 1.0 / (1.0 - libm::pow(memory.into(), (number + 1) as f64)) as f32;
        let step = Step {
            learning_rate: learning_rate as f32,
            weight_decay: self.weight_decay as f32,
            share: 1.0 / count.max(1) as f32,
            correction: MEMORY.map(correction),
        };
        let [first, second] = &mut self.own;
        let parts = split(&mut model.weights, [first, second], gradients);
        let [first, second] = &mut self.factor;
        let moments = first.chunks_mut(PART).zip(second.chunks_mut(PART));
        let factors = moments.map(|(first, second)| Some(Moments { first, second }));
        let groups: Vec<_> = grouped(parts, model.layout)
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
    gradients: ArrayVec<&'a [f32], SHARES>,
) -> Vec<Part<'a>> {
    let cut = |gradient: &'a [f32]| gradient.chunks(PART);
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
fn grouped(parts: Vec<Part<'_>>, layout: ModelLayout) -> Vec<ArrayVec<Part<'_>, MAX_KING_BUCKETS>> {
    let in_block = layout.0.king_buckets() * PARTS;
    let of_features = layout.blocks() * in_block;
    let mut groups: Vec<ArrayVec<_, MAX_KING_BUCKETS>> = Vec::new();
    groups.resize_with(layout.blocks() * PARTS, ArrayVec::new);
    for (at, part) in parts.into_iter().enumerate() {
        match at < of_features {
            true => groups[at / in_block * PARTS + at % PARTS].push(part),
            false => groups.push(ArrayVec::from_iter([part])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Architecture;

    /// The weights after a step from some weights by a gradient that is the same everywhere.
    fn stepped(shape: [usize; 3], weight_decay: f64, gradient: f32) -> (Model, Model) {
        let [width, king_buckets, output_buckets] = shape;
        let architecture = Architecture::new(width, king_buckets, output_buckets).unwrap();
        let before = Model::random(architecture, 1);
        let mut after = before.clone();
        let mut optimizer = Optimizer::new(before.layout, weight_decay);
        let gradient = vec![gradient; before.layout.len()];
        let gradients = ArrayVec::from_iter([&gradient[..]]);
        optimizer.step(Simd::best(), 0, 0.01, 1, &mut after, gradients);
        (before, after)
    }

    #[test]
    fn weights_decay_apart_from_the_gradient() {
        for shape in [[64, 1, 1], [64, 4, 8], [128, 8, 8]] {
            let (before, after) = stepped(shape, 0.5, 0.0);
            for (before, after) in before.weights.iter().zip(&*after.weights) {
                assert!((after - before * (1.0 - 0.01 * 0.5)).abs() < 1e-7);
            }
            let (before, after) = stepped(shape, 0.0, 0.0);
            assert_eq!(before.weights[..], after.weights[..]);
        }
    }

    /// The first step of Adam is the learning rate, whatever the size of the gradient. Features of
    /// several king buckets move once more, with all buckets together.
    #[test]
    fn all_weights_move_against_their_gradient() {
        for (shape, moves) in [([64, 1, 1], 1.0), ([64, 4, 8], 2.0), ([64, 8, 1], 2.0)] {
            let (before, after) = stepped(shape, 0.0, 3.0);
            let bias = before.layout.bias();
            for at in 0..before.layout.len() {
                let step = before.weights[at] - after.weights[at];
                let expected = 0.01 * if at < bias { moves } else { 1.0 };
                assert!((step - expected).abs() < 1e-5, "{at}: {step}");
            }
        }
    }
}
