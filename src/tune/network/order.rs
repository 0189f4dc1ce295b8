//! The order in which an epoch visits the labels.

/// A permutation of all labels: a stride through the files that has no divisor in common with
/// their number. Labels that follow each other come from far apart, and nothing is stored.
pub struct LabelOrder {
    count: u64,
    stride: u64,
    offset: u64,
}

impl LabelOrder {
    pub fn new(count: u64, random: u64) -> LabelOrder {
        // Near the golden section, which spreads neighbours best.
        let golden = (count as f64 * 0.618_033_988_749_895) as u64;
        let mut stride = golden.max(1) + random % (count / 16).max(1);
        while gcd(stride, count) != 1 {
            stride += 1;
        }
        LabelOrder {
            count,
            stride,
            offset: random % count,
        }
    }

    /// The labels from a place of the order on, without end; places beyond the last start again.
    pub fn from(&self, place: usize) -> impl Iterator<Item = usize> + use<> {
        let far = u128::from(self.stride) * place as u128 + u128::from(self.offset);
        let first = (far % u128::from(self.count)) as u64;
        let (count, stride) = (self.count, self.stride % self.count);
        let next = move |at: &u64| {
            let next = at + stride;
            Some(if next < count { next } else { next - count })
        };
        std::iter::successors(Some(first), next).map(|at| at as usize)
    }
}

/// The greatest common divisor.
fn gcd(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => gcd(other, one % other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_visits_every_label_once() {
        for count in [1, 2, 7, 1000, 4096] {
            let order = LabelOrder::new(count, 12345);
            let mut seen: Vec<_> = order.from(0).take(count as usize).collect();
            let middle = order.from(count as usize / 2).next();
            assert_eq!(middle, Some(seen[count as usize / 2]));
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..count as usize), "{count}");
        }
    }
}
