//! The constants of the search: a run of the preset `search` in the folder of the generation, from
//! the champion's constants on.

use std::path::Path;

use super::EvolveError;
use super::matches::MAX_MOVES;
use super::settings::{ConstantsTuning, EvolveSettings};
use super::training::run_or_resume;
use crate::eval::Weights;
use crate::random::mix;
use crate::tune::experiment::Experiment;
use crate::tune::preset::{Preset, PresetError};
use crate::tune::run::RunOutcome;

const PRESET: &str = "search";
/// Perturbations that are tried at once, each in two games.
const PAIRS: u64 = 16;

/// Tunes the champion's constants by games between their neighbours.
pub struct ConstantsRun<'a> {
    pub settings: &'a EvolveSettings,
    pub generation: u64,
    /// The champion's weights file.
    pub champion: &'a Path,
    pub threads: usize,
    pub folder: &'a Path,
}

impl ConstantsRun<'_> {
    /// `progress` hears the number of games so far, and says whether to stop; a run that was
    /// stopped resumes by the same call and has no result yet.
    pub fn run(
        &self,
        champion: &Weights,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<RunOutcome>, EvolveError> {
        let each = games_at_once(&self.settings.search);
        let progress = &mut |generation: u64| progress(generation * each);
        run_or_resume(&self.experiment()?, champion, self.folder, progress)
    }

    /// The preset, with the budget of a generation.
    pub fn experiment(&self) -> Result<Experiment, PresetError> {
        let EvolveSettings { start, search, .. } = self.settings;
        let quoted = |text: String| toml::Value::String(text).to_string();
        let each = games_at_once(search);
        let changes = [
            ("genome.base", quoted(self.champion.display().to_string())),
            ("fitness.nodes", search.nodes.to_string()),
            ("fitness.max_moves", MAX_MOVES.to_string()),
            ("method.pairs", (each / 2).to_string()),
            ("method.games", "2".to_owned()),
            ("method.r", toml::Value::from(search.r).to_string()),
            ("run.generations", (games(search) / each).to_string()),
            // TOML's whole numbers have 63 bits.
            (
                "run.seed",
                (mix(start.seed, self.generation) >> 1).to_string(),
            ),
            ("run.closing_games", "0".to_owned()),
            ("run.threads", self.threads.to_string()),
            ("run.started", quoted(start.started.clone())),
        ];
        let changes = changes.map(|(key, value)| (key.to_owned(), value));
        let (file, text) = Preset::text(PRESET)?;
        Experiment::parse_with(&text, &file, &changes)
    }
}

/// The games of a generation: whole rounds of perturbations.
pub fn games(search: &ConstantsTuning) -> u64 {
    let each = games_at_once(search);
    search.games.div_ceil(each) * each
}

fn games_at_once(search: &ConstantsTuning) -> u64 {
    2 * (search.games / 2).clamp(1, PAIRS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_come_in_whole_rounds() {
        let games = |wanted: u64| {
            games(&ConstantsTuning {
                games: wanted,
                ..ConstantsTuning::default()
            })
        };
        assert_eq!([2, 3, 6, 32, 33].map(games), [2, 4, 6, 32, 64]);
    }
}
