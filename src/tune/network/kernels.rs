//! The arithmetic of training, compiled once for every processor and once for AVX2, and chosen
//! when the program runs.
//!
//! Every path gives the same bytes: sums are added in one fixed order, there is no fused
//! multiply-add (the compiler never makes one by itself), and `exp` comes from the crate `libm`
//! rather than from the system.

use super::model::{
    BIAS, Example, HIDDEN, KING_BUCKETS, OUTPUT, OUTPUT_BIAS, SHARES, bounded, output_row,
};
use arrayvec::ArrayVec;

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
    /// Adds the gradient of the squared error of some examples to `gradient`. Returns the sum of
    /// the errors.
    fn backpropagate(
        model: &[f32],
        examples: &[Example],
        scratch: &mut Scratch,
        gradient: &mut [f32],
    ) -> f64 = backpropagate_body;
}

kernel! {
    /// The sum of the squared errors of some examples.
    fn squared_error(model: &[f32], examples: &[Example], scratch: &mut Scratch) -> f64
        = squared_error_body;
}

kernel! {
    /// Moves some weights by Adam, and clears their gradients.
    fn update(parts: &mut [Part<'_>], factor: Option<Moments<'_>>, step: &Step) -> ()
        = update_body;
}

type Row = [f32; HIDDEN];

/// Columns that are summed up in registers.
const BLOCK: usize = 64;
/// Sums of a dot product that run side by side, added up in order at the end.
const LANES: usize = 16;
const _: () = assert!(HIDDEN.is_multiple_of(BLOCK) && HIDDEN.is_multiple_of(LANES));

/// Memory of one thread's work, kept from batch to batch.
#[derive(Default)]
pub struct Scratch {
    /// The accumulators of each example, side to move first; then their gradients.
    accumulators: Vec<Row>,
    /// The rows of `accumulators` that each feature is active in, feature after feature.
    active: Vec<u32>,
    /// Where the rows of each feature begin in `active`.
    starts: Vec<u32>,
}

/// Adds rows of a table to `sums`, in their order.
#[inline(always)]
fn add_rows<'t>(sums: &mut Row, rows: impl Iterator<Item = &'t Row> + Clone) {
    for start in (0..HIDDEN).step_by(BLOCK) {
        let mut block = [0.0; BLOCK];
        block.copy_from_slice(&sums[start..start + BLOCK]);
        for row in rows.clone() {
            for (sum, value) in block.iter_mut().zip(&row[start..start + BLOCK]) {
                *sum += value;
            }
        }
        sums[start..start + BLOCK].copy_from_slice(&block);
    }
}

/// The rows of a part of the model.
#[inline(always)]
fn rows(weights: &[f32]) -> &[Row] {
    weights.as_chunks().0
}

#[inline(always)]
fn rows_mut(weights: &mut [f32]) -> &mut [Row] {
    weights.as_chunks_mut().0
}

/// Fills the accumulators of all examples.
#[inline(always)]
fn accumulate(model: &[f32], examples: &[Example], accumulators: &mut Vec<Row>) {
    let features = rows(&model[..BIAS]);
    let bias = rows(&model[BIAS..OUTPUT])[0];
    accumulators.clear();
    for example in examples {
        for active in &example.features {
            let mut sums = bias;
            add_rows(
                &mut sums,
                active.iter().map(|at| &features[usize::from(*at)]),
            );
            accumulators.push(sums);
        }
    }
}

/// The win chance that the output layer gives the side to move.
#[inline(always)]
fn win_chance(model: &[f32], example: &Example, accumulators: &[Row]) -> f32 {
    let mut odds = model[OUTPUT_BIAS + example.bucket];
    for (side, sums) in accumulators.iter().enumerate() {
        let output = &model[output_row(example.bucket, side)..][..HIDDEN];
        let mut lanes = [0.0_f32; LANES];
        for (sums, output) in sums.chunks_exact(LANES).zip(output.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let clipped = sums[lane].clamp(0.0, 1.0);
                lanes[lane] += clipped * clipped * output[lane];
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
fn squared_error_body(model: &[f32], examples: &[Example], scratch: &mut Scratch) -> f64 {
    accumulate(model, examples, &mut scratch.accumulators);
    let mut total = 0.0;
    for (example, accumulators) in examples.iter().zip(scratch.accumulators.chunks_exact(2)) {
        let error = win_chance(model, example, accumulators) - example.target;
        total += f64::from(error * error);
    }
    total
}

#[inline(always)]
fn backpropagate_body(
    model: &[f32],
    examples: &[Example],
    scratch: &mut Scratch,
    gradient: &mut [f32],
) -> f64 {
    accumulate(model, examples, &mut scratch.accumulators);
    let mut total = 0.0;
    let accumulators = scratch.accumulators.chunks_exact_mut(2);
    for (example, accumulators) in examples.iter().zip(accumulators) {
        let chance = win_chance(model, example, accumulators);
        let error = chance - example.target;
        total += f64::from(error * error);
        let by_odds = 2.0 * error * chance * (1.0 - chance);
        gradient[OUTPUT_BIAS + example.bucket] += by_odds;
        for (side, sums) in accumulators.iter_mut().enumerate() {
            let start = output_row(example.bucket, side);
            let output = &model[start..start + HIDDEN];
            let output_gradient = &mut gradient[start..start + HIDDEN];
            for at in 0..HIDDEN {
                let clipped = sums[at].clamp(0.0, 1.0);
                output_gradient[at] += by_odds * clipped * clipped;
                // Beyond the clip the gradient is zero.
                let inside = f32::from(u8::from(sums[at] == clipped));
                sums[at] = inside * 2.0 * by_odds * clipped * output[at];
            }
        }
    }
    scratch.sort_by_feature(examples);
    let Scratch {
        accumulators,
        active,
        starts,
    } = scratch;
    let (features, rest) = gradient.split_at_mut(BIAS);
    add_rows(&mut rows_mut(rest)[0], accumulators.iter());
    // Each row of the gradient is read and written once for all examples.
    for (row, bounds) in rows_mut(features).iter_mut().zip(starts.windows(2)) {
        let active = &active[bounds[0] as usize..bounds[1] as usize];
        if !active.is_empty() {
            add_rows(row, active.iter().map(|at| &accumulators[*at as usize]));
        }
    }
    total
}

impl Scratch {
    /// Lists the accumulators of each feature, in the order of the examples: a counting sort.
    #[inline(always)]
    fn sort_by_feature(&mut self, examples: &[Example]) {
        let (active, starts) = (&mut self.active, &mut self.starts);
        starts.clear();
        starts.resize(BIAS / HIDDEN + 1, 0);
        let sides = || examples.iter().flat_map(|example| &example.features);
        for feature in sides().flatten() {
            starts[usize::from(*feature) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        active.clear();
        active.resize(starts[starts.len() - 1] as usize, 0);
        // From the last to the first, each start moves from the end of its rows to the beginning.
        let mut ends: [u32; BIAS / HIDDEN] = [0; BIAS / HIDDEN];
        ends.copy_from_slice(&starts[..BIAS / HIDDEN]);
        for (row, features) in sides().enumerate() {
            for feature in features {
                let end = &mut ends[usize::from(*feature)];
                active[*end as usize] = row as u32;
                *end += 1;
            }
        }
    }
}

/// How many weights are updated together.
pub const PART: usize = 1024;

/// The two moments that Adam keeps of some weights.
pub struct Moments<'a> {
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
}

/// Some weights, their moments, and their gradients from each share of the batch.
pub struct Part<'a> {
    pub weights: &'a mut [f32],
    pub moments: Moments<'a>,
    pub gradients: ArrayVec<&'a mut [f32], SHARES>,
}

/// The figures of one step of Adam.
pub struct Step {
    pub learning_rate: f32,
    /// One over the number of examples.
    pub share: f32,
    /// What the moments are divided by, as they start at zero.
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
        let scale = (second[at] / second_correction).sqrt() + 1e-8;
        ahead[at] += first[at] / first_correction / scale;
    }
}

#[inline(always)]
fn update_body(parts: &mut [Part<'_>], factor: Option<Moments<'_>>, step: &Step) {
    let mut gradients = [[0.0_f32; PART]; KING_BUCKETS];
    let mut common = [0.0_f32; PART];
    let mut length = 0;
    for (part, gradient) in parts.iter_mut().zip(&mut gradients) {
        length = part.weights.len();
        for share in &mut part.gradients {
            for (sum, value) in gradient[..length].iter_mut().zip(share.iter_mut()) {
                *sum += *value;
                *value = 0.0;
            }
        }
        for (sum, common) in gradient[..length].iter_mut().zip(&mut common) {
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
            *weight = bounded(*weight - step.learning_rate * ahead);
        }
    }
}
