//! A part of the work for one of several machines: `--part 2/8` is the second of eight.

use std::ops::Range;
use std::str::FromStr;

/// One of some parts of equal size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// Counted from 1.
    number: usize,
    of: usize,
}

impl Portion {
    /// What this part has of so many things. The parts have all of them, each once.
    pub fn range(&self, all: usize) -> Range<usize> {
        let end = |number: usize| (all as u128 * number as u128 / self.of as u128) as usize;
        end(self.number - 1)..end(self.number)
    }
}

impl FromStr for Portion {
    type Err = String;

    fn from_str(text: &str) -> Result<Portion, String> {
        let read = || {
            let (number, of) = text.split_once('/')?;
            let (number, of) = (number.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&number).then_some(Portion { number, of })
        };
        read().ok_or_else(|| format!("'{text}' is not of the form K/N, from 1/N to N/N"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_everything_once_and_in_order() {
        for (all, of) in [(10, 3), (2, 5), (0, 2), (7, 1)] {
            let part = |number| format!("{number}/{of}").parse::<Portion>().unwrap();
            let joined: Vec<usize> = (1..=of)
                .flat_map(|number| part(number).range(all))
                .collect();
            assert_eq!(joined, (0..all).collect::<Vec<_>>());
        }
        for wrong in ["", "1", "0/2", "3/2", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Portion>().is_err(), "{wrong}");
        }
    }
}
