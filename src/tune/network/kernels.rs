//! The arithmetic of training, compiled once for every processor and once for AVX2, and chosen
//! when the program runs.
//!
//! Every path gives the same bytes: sums are added in one fixed order, there is no fused
//! multiply-add (the compiler never makes one by itself), and `exp` comes from the crate `libm`
//! rather than from the system.

use arrayvec::ArrayVec;

use super::model::{BLOCK, Example, Model, Row, SHARES, bounded};

/// Which instructions the kernels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// What the program was compiled for.
    Compiled,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Simd {
    /// Every path that this processor can take, the fastest last.
    pub fn all() -> Vec<Simd> {
        let mut all = vec![Simd(Level::Compiled)];
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && !cfg!(target_feature = "avx2") {
            all.push(Simd(Level::Avx2));
        }
        // A build for AVX2 or better has nothing to gain, but tests compare the paths.
        #[cfg(all(test, target_arch = "x86_64", target_feature = "avx2"))]
        all.push(Simd(Level::Avx2));
        all
    }

    /// The fastest path.
    pub fn best() -> Simd {
        let all = Simd::all();
        all[all.len() - 1]
    }
}

/// Declares a kernel: `body` inlined into a function for each path.
macro_rules! kernel {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty = $body:ident;) => {
        $(#[$doc])*
        pub fn $name(simd: Simd, $($argument: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            match simd.0 {
                Level::Compiled => $body($($argument),*),
                // SAFETY: `Simd::all` makes this level only where the processor has AVX2.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($argument),*) },
            }
        }
    };
}

kernel! {
    /// The gradient of the squared error of some examples. A `fresh` one is written over what is
    /// there, another is added. Returns the sum of the errors.
    fn backpropagate(
        model: &Model,
        examples: &[Example],
        fresh: bool,
        scratch: &mut Scratch,
        gradient: &mut [f32],
    ) -> f64 = backpropagate_body;
}

kernel! {
    /// The sum of the squared errors of some examples.
    fn squared_error(model: &Model, examples: &[Example], scratch: &mut Scratch) -> f64
        = squared_error_body;
}

kernel! {
    /// Moves some weights by AdamW.
    fn update(parts: &mut [Part<'_>], factor: Option<Moments<'_>>, step: &Step) -> ()
        = update_body;
}

/// Sums of a dot product that run side by side, added up in order at the end.
const LANES: usize = 16;
const _: () = assert!(BLOCK.is_multiple_of(LANES));

/// Memory of one thread's work, kept from batch to batch.
#[derive(Default)]
pub struct Scratch {
    /// The accumulators, block after block: those of each example, side to move first; then their
    /// gradients.
    accumulators: Vec<Row>,
    /// The rows of a block of accumulators that each feature is active in, feature after feature.
    active: Vec<u32>,
    /// Where the rows of each feature begin in `active`.
    starts: Vec<u32>,
}

#[inline(always)]
fn add(sum: &mut Row, row: &Row) {
    for (sum, value) in sum.0.iter_mut().zip(&row.0) {
        *sum += value;
    }
}

/// The rows of a part of the model.
#[inline(always)]
fn rows(weights: &[f32]) -> &[Row] {
    bytemuck::cast_slice(weights)
}

#[inline(always)]
fn rows_mut(weights: &mut [f32]) -> &mut [Row] {
    bytemuck::cast_slice_mut(weights)
}

/// Fills the accumulators of all examples, block by block.
#[inline(always)]
fn accumulate(model: &Model, examples: &[Example], accumulators: &mut Vec<Row>) {
    let Model { layout, weights } = model;
    accumulators.clear();
    accumulators.reserve(layout.blocks() * 2 * examples.len());
    let blocks = rows(&weights[..layout.bias()]).chunks_exact(layout.features());
    let bias = rows(&weights[layout.bias()..layout.output()]);
    for (features, bias) in blocks.zip(bias) {
        for active in examples.iter().flat_map(|example| &example.features) {
            let mut sum = *bias;
            for feature in active {
                add(&mut sum, &features[usize::from(*feature)]);
            }
            accumulators.push(sum);
        }
    }
}

/// The win chance that the output layer gives the side to move of an example.
#[inline(always)]
fn win_chance(model: &Model, example: &Example, accumulators: &[Row], first: usize) -> f32 {
    let Model { layout, weights } = model;
    let stride = accumulators.len() / layout.blocks();
    let mut odds = weights[layout.output_bias() + example.bucket];
    for side in 0..2 {
        let output = &weights[layout.output_row(example.bucket, side)..][..layout.width()];
        let mut lanes = [0.0_f32; LANES];
        for (block, output) in rows(output).iter().enumerate() {
            let sums = &accumulators[block * stride + first + side];
            let (sums, output) = (sums.0.chunks_exact(LANES), output.0.chunks_exact(LANES));
            for (sums, output) in sums.zip(output) {
                for lane in 0..LANES {
                    let clipped = sums[lane].clamp(0.0, 1.0);
                    lanes[lane] += clipped * clipped * output[lane];
                }
            }
        }
        let mut total = 0.0;
        for lane in lanes {
            total += lane;
        }
        odds += total;
    }
    1.0 / (1.0 + libm::expf(-odds))
}

#[inline(always)]
fn squared_error_body(model: &Model, examples: &[Example], scratch: &mut Scratch) -> f64 {
    accumulate(model, examples, &mut scratch.accumulators);
    let mut total = 0.0;
    for (number, example) in examples.iter().enumerate() {
        let chance = win_chance(model, example, &scratch.accumulators, 2 * number);
        let error = chance - example.target;
        total += f64::from(error * error);
    }
    total
}

#[inline(always)]
fn backpropagate_body(
    model: &Model,
    examples: &[Example],
    fresh: bool,
    scratch: &mut Scratch,
    gradient: &mut [f32],
) -> f64 {
    let layout = model.layout;
    if fresh {
        gradient[layout.bias()..].fill(0.0);
    }
    accumulate(model, examples, &mut scratch.accumulators);
    let mut total = 0.0;
    for (number, example) in examples.iter().enumerate() {
        let accumulators = &mut scratch.accumulators[..];
        let chance = win_chance(model, example, accumulators, 2 * number);
        let error = chance - example.target;
        total += f64::from(error * error);
        let by_odds = 2.0 * error * chance * (1.0 - chance);
        gradient[layout.output_bias() + example.bucket] += by_odds;
        backpropagate_output(model, example, by_odds, accumulators, 2 * number, gradient);
    }
    scratch.sort_by_feature(examples, layout.features());
    let Scratch {
        accumulators,
        active,
        starts,
    } = scratch;
    let (features, rest) = gradient.split_at_mut(layout.bias());
    let features = rows_mut(features).chunks_exact_mut(layout.features());
    let blocks = accumulators.chunks_exact((2 * examples.len()).max(1));
    for ((features, bias), block) in features.zip(rows_mut(rest)).zip(blocks) {
        for row in block {
            add(bias, row);
        }
        // Each row of the gradient is written once for all examples.
        for (row, bounds) in features.iter_mut().zip(starts.windows(2)) {
            let mut sum = if fresh { Row([0.0; BLOCK]) } else { *row };
            for at in &active[bounds[0] as usize..bounds[1] as usize] {
                add(&mut sum, &block[*at as usize]);
            }
            *row = sum;
        }
    }
    total
}

/// Adds the gradient of the output weights, and replaces an example's accumulators by their
/// gradients.
#[inline(always)]
fn backpropagate_output(
    model: &Model,
    example: &Example,
    by_odds: f32,
    accumulators: &mut [Row],
    first: usize,
    gradient: &mut [f32],
) {
    let Model { layout, weights } = model;
    let stride = accumulators.len() / layout.blocks();
    for side in 0..2 {
        let start = layout.output_row(example.bucket, side);
        let output = rows(&weights[start..start + layout.width()]);
        let output_gradient = rows_mut(&mut gradient[start..start + layout.width()]);
        for (block, (output, output_gradient)) in output.iter().zip(output_gradient).enumerate() {
            let sums = &mut accumulators[block * stride + first + side].0;
            let (output, output_gradient) = (&output.0, &mut output_gradient.0);
            for at in 0..BLOCK {
                let clipped = sums[at].clamp(0.0, 1.0);
                output_gradient[at] += by_odds * clipped * clipped;
                // Beyond the clip the gradient is zero.
                let inside = f32::from(u8::from(sums[at] == clipped));
                sums[at] = inside * 2.0 * by_odds * clipped * output[at];
            }
        }
    }
}

impl Scratch {
    /// Lists the accumulators of each feature, in the order of the examples: a counting sort.
    #[inline(always)]
    fn sort_by_feature(&mut self, examples: &[Example], features: usize) {
        let (active, starts) = (&mut self.active, &mut self.starts);
        starts.clear();
        // Two places more: after the sort each start has moved one place down.
        starts.resize(features + 2, 0);
        let sides = || examples.iter().flat_map(|example| &example.features);
        for feature in sides().flatten() {
            starts[usize::from(*feature) + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        active.clear();
        active.resize(starts[features + 1] as usize, 0);
        for (row, side) in sides().enumerate() {
            for feature in side {
                let end = &mut starts[usize::from(*feature) + 1];
                active[*end as usize] = row as u32;
                *end += 1;
            }
        }
        starts.pop();
    }
}

/// How many weights are updated together.
pub const PART: usize = 512;
/// No architecture has more king buckets.
pub const MAX_KING_BUCKETS: usize = 8;

/// The two moments that Adam keeps of some weights.
pub struct Moments<'a> {
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
}

/// Some weights, their moments, and their gradients from each share of the batch.
pub struct Part<'a> {
    pub weights: &'a mut [f32],
    pub moments: Moments<'a>,
    pub gradients: ArrayVec<&'a [f32], SHARES>,
}

/// The figures of one step of AdamW.
pub struct Step {
    pub learning_rate: f32,
    /// What each weight loses at a learning rate of one, beside what its gradient says.
    pub weight_decay: f32,
    /// One over the number of examples.
    pub share: f32,
    /// What the moments are multiplied by, as they start at zero.
    pub correction: [f32; 2],
}

/// How long Adam remembers the gradients and their squares.
pub const MEMORY: [f32; 2] = [0.9, 0.999];

/// Updates the moments with a gradient and adds how far to move at a learning rate of one.
#[inline(always)]
fn adam(moments: &mut Moments<'_>, gradient: &[f32], step: &Step, ahead: &mut [f32]) {
    let [first_memory, second_memory] = MEMORY;
    let [first_correction, second_correction] = step.correction;
    let length = gradient.len();
    let (first, second) = (&mut moments.first[..length], &mut moments.second[..length]);
    let ahead = &mut ahead[..length];
    for at in 0..length {
        let slope = gradient[at];
        first[at] = first_memory * first[at] + (1.0 - first_memory) * slope;
        second[at] = second_memory * second[at] + (1.0 - second_memory) * slope * slope;
        let scale = (second[at] * second_correction).sqrt() + 1e-8;
        ahead[at] += first[at] * first_correction / scale;
    }
}

#[inline(always)]
fn update_body(parts: &mut [Part<'_>], factor: Option<Moments<'_>>, step: &Step) {
    let mut gradients = [[0.0_f32; PART]; MAX_KING_BUCKETS];
    let mut common = [0.0_f32; PART];
    let mut length = 0;
    for (part, gradient) in parts.iter_mut().zip(&mut gradients) {
        length = part.weights.len();
        let gradient = &mut gradient[..length];
        for share in &part.gradients {
            for (sum, value) in gradient.iter_mut().zip(*share) {
                *sum += value;
            }
        }
        for (sum, common) in gradient.iter_mut().zip(&mut common) {
            *sum *= step.share;
            *common += *sum;
        }
    }
    let mut together = [0.0_f32; PART];
    if let Some(mut factor) = factor {
        adam(&mut factor, &common[..length], step, &mut together);
    }
    for (part, gradient) in parts.iter_mut().zip(&gradients) {
        let mut ahead = together;
        adam(&mut part.moments, &gradient[..length], step, &mut ahead);
        for (weight, ahead) in part.weights.iter_mut().zip(&ahead) {
            let loss = ahead + step.weight_decay * *weight;
            *weight = bounded(*weight - step.learning_rate * loss);
        }
    }
}
