//! The last word: do the new weights beat those they started from?

use crate::eval::Weights;
use crate::play::{self, Pace, Score, openings};
use crate::tune::preset::Preset;

use super::RunError;

/// Plays the result against its start, each opening with both colours; none when the preset
/// asks for no games. The seed of the run chooses the openings.
pub fn closing_match(
    preset: &Preset,
    new: &Weights,
    start: &Weights,
) -> Result<Option<Score>, RunError> {
    let run = &preset.run;
    if run.closing_games == 0 {
        return Ok(None);
    }
    let threads = match run.threads {
        0 => rayon::current_num_threads(),
        threads => threads,
    };
    let score = play::duel(
        new,
        start,
        Pace::nodes(run.closing_nodes),
        &openings::embedded(),
        run.closing_games.next_multiple_of(2) as usize,
        run.seed,
        threads,
    );
    let failed = |error: std::io::Error| RunError::File {
        path: "closing match".to_owned(),
        reason: error.to_string(),
    };
    score.map(Some).map_err(failed)
}
