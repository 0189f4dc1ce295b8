//! Genes as one bit string: each gene is a number of equal steps from its lower to its upper bound,
//! in a fixed number of bits, most significant first.

use rand::{Rng, RngExt};

use crate::tune::genome::{Gene, Genome};

/// The binary encoding of a genome: how many bits each gene has.
pub struct BinaryEncoding<'a> {
    genome: &'a Genome,
    lengths: Vec<u32>,
}

impl<'a> BinaryEncoding<'a> {
    pub fn new(genome: &'a Genome, length: impl Fn(&Gene) -> u32) -> BinaryEncoding<'a> {
        BinaryEncoding {
            lengths: genome.genes.iter().map(length).collect(),
            genome,
        }
    }

    /// The bit string closest to these genes.
    pub fn bits(&self, genes: &[f64]) -> Vec<bool> {
        let coded = self.genome.genes.iter().zip(&self.lengths).zip(genes);
        coded
            .flat_map(|((gene, &length), value)| {
                let code = ((value - gene.low) / step(gene, length)).round();
                // A gene without range has a step of 0; any code is right.
                let code = if code.is_finite() { code as u64 } else { 0 };
                (0..length).rev().map(move |index| code >> index & 1 == 1)
            })
            .collect()
    }

    pub fn genes(&self, bits: &[bool]) -> Vec<f64> {
        let mut rest = bits;
        let decoded = self.genome.genes.iter().zip(&self.lengths);
        decoded
            .map(|(gene, &length)| {
                let (own, others) = rest.split_at(length as usize);
                rest = others;
                let code = own
                    .iter()
                    .fold(0_u64, |code, bit| 2 * code + u64::from(*bit));
                (gene.low + code as f64 * step(gene, length)).min(gene.high)
            })
            .collect()
    }
}

fn step(gene: &Gene, length: u32) -> f64 {
    gene.range() / ((1_u64 << length) - 1) as f64
}

/// One-point crossover: the two exchange everything behind a random point.
pub fn one_point_crossover<T>(one: &mut [T], other: &mut [T], random: &mut impl Rng) {
    if one.len() > 1 {
        let point = random.random_range(1..one.len());
        one[point..].swap_with_slice(&mut other[point..]);
    }
}

/// Flips each bit with this probability.
pub fn flip_mutation(bits: &mut [bool], chance: f64, random: &mut impl Rng) {
    for bit in bits {
        *bit ^= random.random_bool(chance);
    }
}
