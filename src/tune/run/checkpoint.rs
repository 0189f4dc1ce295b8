//! What a run knows between two generations, as a file: three lines of text, then the state that
//! the learner saved. The first line is a checksum of the rest: a run must not go on from a damaged
//! state.

use serde::{Deserialize, Serialize};

use super::{BestSoFar, RunError, RunFolder};
use crate::hash::stable_hash;
use crate::tune::experiment::Experiment;
use crate::tune::genome::Genome;
use crate::tune::methods::Individual;

const FILE: &str = "checkpoint";

pub struct Checkpoint {
    /// The generation completed last.
    pub generation: u64,
    /// Time spent so far.
    pub seconds: f64,
    /// What the learner saved.
    pub state: Vec<u8>,
}

impl Checkpoint {
    /// The checkpoint of a folder, if it has one yet.
    pub fn read(folder: &RunFolder) -> Result<Option<Checkpoint>, RunError> {
        let Some(bytes) = folder.read_bytes(FILE)? else {
            return Ok(None);
        };
        let damaged = || {
            let problem = "damaged, or not a checkpoint of this version; start the run again in another folder";
            folder.unusable(FILE, problem)
        };
        Checkpoint::parse(&bytes).ok_or_else(damaged).map(Some)
    }

    fn parse(bytes: &[u8]) -> Option<Checkpoint> {
        // Earlier versions wrote none.
        let rest = match entry(bytes, "checksum = ") {
            Some((checksum, rest)) if checksum == checksum_of(rest) => rest,
            Some(_) => return None,
            None => bytes,
        };
        let (generation, rest) = entry(rest, "generation = ")?;
        let (seconds, state) = entry(rest, "seconds = ")?;
        Some(Checkpoint {
            generation: generation.parse().ok()?,
            seconds: seconds.parse().ok()?,
            state: state.to_owned(),
        })
    }

    pub fn write(&self, folder: &RunFolder) -> Result<(), RunError> {
        let Checkpoint {
            generation,
            seconds,
            state,
        } = self;
        let head = format!("generation = {generation}\nseconds = {seconds:?}\n");
        let rest = [head.as_bytes(), state].concat();
        let checksum = format!("checksum = {}\n", checksum_of(&rest));
        folder.write(FILE, [checksum.as_bytes(), &rest].concat())
    }
}

fn checksum_of(rest: &[u8]) -> String {
    format!("{:016x}", stable_hash(rest))
}

/// The value of the first line, which must set this key, and the rest.
fn entry<'b>(bytes: &'b [u8], key: &str) -> Option<(&'b str, &'b [u8])> {
    let rest = bytes.strip_prefix(key.as_bytes())?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}

/// The state of an evolution run.
#[derive(Deserialize, Serialize)]
pub struct EvolutionState {
    pub best: BestSoFar,
    /// What the method saved.
    pub method: toml::Table,
}

impl EvolutionState {
    pub fn parse(state: &[u8]) -> Result<EvolutionState, String> {
        let text = std::str::from_utf8(state).map_err(|error| error.to_string())?;
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }
}

/// Fails unless everyone has as many genes as the genome.
pub fn check_genes(population: &[Individual], genome: &Genome) -> Result<(), String> {
    let fits = |one: &Individual| one.genes.len() == genome.len();
    match population.iter().all(fits) {
        true => Ok(()),
        false => Err("of another genome".to_owned()),
    }
}

/// The individuals that a finished or interrupted run ends with: its best, then its last
/// population.
pub fn survivors(folder: &RunFolder, genome: &Genome) -> Result<Vec<Individual>, RunError> {
    let unusable = |reason: &str| folder.unusable(FILE, reason);
    let checkpoint = Checkpoint::read(folder)?.ok_or_else(|| unusable("no such file"))?;
    let state = EvolutionState::parse(&checkpoint.state).map_err(|error| unusable(&error))?;
    let population = state.method.get("population").cloned();
    let population = population.ok_or_else(|| unusable("its method keeps no population"))?;
    let population: Vec<Individual> = population
        .try_into()
        .map_err(|error: toml::de::Error| unusable(error.message()))?;
    let Experiment::Evolution(preset) = folder.experiment()? else {
        return Err(unusable("of a network, which has no population"));
    };
    // The genes of some genomes depend on their base; if that is gone, the table has to do.
    let earlier = preset.genome.build().or_else(|_| preset.genome.draft());
    if !earlier.is_ok_and(|earlier| earlier.is_compatible_with(genome)) {
        return Err(unusable("of another genome"));
    }
    let best = state.best.individual;
    let others = population.into_iter().filter(|one| one.genes != best.genes);
    let survivors: Vec<Individual> = [best.clone()].into_iter().chain(others).collect();
    check_genes(&survivors, genome).map_err(|reason| unusable(&reason))?;
    Ok(survivors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_or_is_refused_when_a_byte_has_changed() {
        let desk = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(desk.path()).unwrap();
        let state = vec![0, 255, b'\n', 7];
        let checkpoint = Checkpoint {
            generation: 12,
            seconds: 3.0,
            state: state.clone(),
        };
        checkpoint.write(&folder).unwrap();
        let again = Checkpoint::read(&folder).unwrap().unwrap();
        assert_eq!(
            (again.generation, again.seconds, again.state),
            (12, 3.0, state)
        );
        let whole = folder.read_bytes("checkpoint").unwrap().unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            folder.write("checkpoint", damaged).unwrap();
            assert!(Checkpoint::read(&folder).is_err(), "byte {at}");
        }
        folder.write("checkpoint", [7_u8; 40]).unwrap();
        assert!(Checkpoint::read(&folder).is_err());
    }
}
