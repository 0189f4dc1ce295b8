//! Files of labels from quick games: rounds of games on all cores, a draft that survives a kill,
//! and the finished file in any format.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use rayon::prelude::*;
use thiserror::Error;

use super::label::{Label, LabelFormat, LabelHeader};
use super::labels::{LabelReader, LabelWriter};
use super::mentor::{MentorConfig, MentorError, MentorPool};
use super::packed::{PackedDraft, PackedLabel};
use super::pgn::PgnGame;
use super::portion::Portion;
use super::scale::fit_scale_to_chances;
use super::selfplay::{SelfPlay, engine, mentor_game, own_game, probed_game};
use super::{DataError, Source};
use crate::eval::{Centipawns, Weights};
use crate::search::{EngineError, STACK_BYTES};

/// The least and the largest number of games between two looks at how many positions there are.
const ROUND: [u64; 2] = [16, 128];

/// Who plays, and who scores.
pub enum LabelMaker {
    /// Finch plays itself; the scores are its own.
    Own(Arc<Weights>),
    /// The mentor plays itself.
    Mentor(MentorConfig),
    /// The mentor scores positions around Finch's own games, or around those of others.
    Probes {
        mentor: MentorConfig,
        weights: Arc<Weights>,
        games: Option<Vec<PgnGame>>,
    },
}

/// What is to be made.
pub struct LabelGeneration {
    pub play: SelfPlay,
    pub maker: LabelMaker,
    /// 0 is as many as the machine has. The labels do not depend on it.
    pub threads: usize,
    /// How many labels, exactly; fewer only where the games of others do not give as many.
    pub positions: usize,
    /// Which of the games to follow, if not all.
    pub part: Option<Portion>,
    /// The mentor's scale, if it is known.
    pub scale: Option<f64>,
    pub out: PathBuf,
    pub format: LabelFormat,
    /// Whether a file that is there may be replaced.
    pub force: bool,
}

#[derive(Debug, Error)]
pub enum GenerationError {
    #[error(transparent)]
    Mentor(#[from] MentorError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{}: the file exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    #[error("no position of {0} games was kept: keep a larger share, or decide games later")]
    NothingKept(u64),
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// How far the work is.
#[derive(Clone, Copy, Debug)]
pub struct GenerationProgress {
    pub positions: usize,
    pub games: u64,
}

impl LabelGeneration {
    /// Makes the file; returns how many labels it has. After a kill the same call resumes.
    pub fn run(&self, progress: impl Fn(GenerationProgress)) -> Result<usize, GenerationError> {
        let made = self.run_while(|step| {
            progress(step);
            ControlFlow::Continue(())
        });
        Ok(made?.unwrap_or_default())
    }

    /// The same until `progress` breaks: then there is no file yet, and the same call resumes.
    pub fn run_while(
        &self,
        mut progress: impl FnMut(GenerationProgress) -> ControlFlow<()>,
    ) -> Result<Option<usize>, GenerationError> {
        let threads = match self.threads {
            0 => rayon::current_num_threads(),
            threads => threads,
        };
        // While one thread plays, another waits for answers: two per core keep it busy.
        let threads = match self.maker {
            LabelMaker::Probes { .. } => 2 * threads,
            _ => threads,
        };
        if self.out.exists() && !self.force && self.format == LabelFormat::Text {
            return Err(GenerationError::Exists(self.out.clone()));
        }
        let mentors = match &self.maker {
            LabelMaker::Own(_) => None,
            LabelMaker::Mentor(mentor) => Some(MentorPool::start(mentor, threads)?),
            LabelMaker::Probes { mentor, .. } => {
                Some(MentorPool::start_for_probes(mentor, threads)?)
            }
        };
        let header = self.header(mentors.as_ref());
        if let Some(count) = self.already_there(&header)? {
            return Ok(Some(count));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK_BYTES)
            .build()?;
        let round = self.round_size();
        let games = self.games();
        let mut draft =
            PackedDraft::open(&self.out, &header, &games, round).map_err(self.failed())?;
        let last = games.end;
        while draft.count() < self.positions && draft.next_game() < last {
            let first = draft.next_game();
            let labels = pool.install(|| self.round(first..last.min(first + round), &mentors))?;
            // Some games of others give nothing.
            if labels.is_empty() && self.followed().is_none() {
                return Err(GenerationError::NothingKept(round));
            }
            draft.add(&labels).map_err(self.failed())?;
            let step = progress(GenerationProgress {
                positions: draft.count().min(self.positions),
                games: last.min(first + round),
            });
            if step.is_break() && draft.count() < self.positions {
                return Ok(None);
            }
        }
        if draft.count() == 0 && self.positions > 0 && self.part.is_none() {
            return Err(GenerationError::NothingKept(last));
        }
        self.finish(draft, &header).map(Some)
    }

    /// Games in a round: few where few positions are wanted. The labels do not depend on it.
    fn round_size(&self) -> u64 {
        let [least, most] = ROUND;
        (self.positions as u64 / 16).clamp(least, most)
    }

    /// Plays some games, in order on any number of threads.
    fn round(
        &self,
        games: Range<u64>,
        mentors: &Option<MentorPool>,
    ) -> Result<Vec<PackedLabel>, GenerationError> {
        let labels = games.into_par_iter().map_init(
            || self.weights().map(engine).transpose(),
            |engine, number| {
                let labels = self.game(number, engine, mentors)?;
                Ok(labels.iter().map(PackedLabel::new).collect::<Vec<_>>())
            },
        );
        let labels: Result<Vec<_>, GenerationError> = labels.collect();
        Ok(labels?.concat())
    }

    fn game(
        &self,
        number: u64,
        engine: &mut Result<Option<crate::search::Engine>, EngineError>,
        mentors: &Option<MentorPool>,
    ) -> Result<Vec<Label>, GenerationError> {
        let play = &self.play;
        let engine = match engine {
            Ok(engine) => engine,
            // Tried again: the error belongs to the thread's first try.
            Err(_) => &mut self.weights().map(super::selfplay::engine).transpose()?,
        };
        Ok(match (&self.maker, engine, mentors) {
            (LabelMaker::Own(_), Some(engine), _) => own_game(play, number, engine),
            (LabelMaker::Mentor(_), _, Some(pool)) => pool
                .with(|mentor| mentor_game(play, number, mentor))
                .transpose()?
                .unwrap_or_default(),
            (LabelMaker::Probes { .. }, Some(engine), Some(pool)) => {
                let followed = self.followed().and_then(|games| games.get(number as usize));
                pool.with(|mentor| probed_game(play, number, followed, engine, mentor))
                    .transpose()?
                    .unwrap_or_default()
            }
            _ => Vec::new(),
        })
    }

    /// The weights Finch plays with, if it plays.
    fn weights(&self) -> Option<&Arc<Weights>> {
        match &self.maker {
            LabelMaker::Own(weights) | LabelMaker::Probes { weights, .. } => Some(weights),
            LabelMaker::Mentor(_) => None,
        }
    }

    /// The games of others that are followed, if any are.
    fn followed(&self) -> Option<&Vec<PgnGame>> {
        match &self.maker {
            LabelMaker::Probes { games, .. } => games.as_ref(),
            _ => None,
        }
    }

    /// The numbers of the games to play or to follow.
    fn games(&self) -> Range<u64> {
        let Some(games) = self.followed() else {
            return 0..u32::MAX.into();
        };
        let all = 0..games.len();
        let Range { start, end } = self.part.map_or(all, |part| part.range(games.len()));
        start as u64..end as u64
    }

    fn header(&self, mentors: Option<&MentorPool>) -> LabelHeader {
        let named = |weights: &Weights| format!("{} ({})", weights.name, weights.id());
        let player = match &self.maker {
            LabelMaker::Own(weights) => named(weights),
            LabelMaker::Mentor(_) => "the mentor".to_owned(),
            LabelMaker::Probes {
                games: Some(games), ..
            } => format!("{} games", games.len()),
            LabelMaker::Probes { weights, .. } => named(weights),
        };
        let (mentor, scale) = match (&self.maker, mentors) {
            (LabelMaker::Own(weights), _) => {
                let limit = match self.play.nodes {
                    Some(nodes) => format!("{nodes} nodes"),
                    None => format!("depth {}", self.play.depth),
                };
                let name = format!("Finch, {}; {limit}", named(weights));
                (name, self.scale.or(Some(own_scale(weights))))
            }
            (_, Some(pool)) => (pool.description().to_owned(), self.scale),
            (_, None) => (String::new(), self.scale),
        };
        LabelHeader {
            mentor,
            scale,
            origin: format!("{player}, {:?}", self.play),
        }
    }

    /// Whether the file is complete; an error if something else is there. A packed file with
    /// fewer labels than wanted becomes the draft that is continued.
    fn already_there(&self, header: &LabelHeader) -> Result<Option<usize>, GenerationError> {
        if self.force || !self.out.exists() {
            return Ok(None);
        }
        let exists = || GenerationError::Exists(self.out.clone());
        let reader = LabelReader::open(&Source::file(&self.out)).map_err(|_| exists())?;
        if reader.header() != header {
            return Err(exists());
        }
        let games = self.games();
        let mut count = 0;
        for label in reader.flatten() {
            if self.part.is_some() && !games.contains(&label.source.0) {
                return Err(exists());
            }
            count += 1;
        }
        if count >= self.positions {
            return Ok(Some(count));
        }
        if self.format != LabelFormat::Packed {
            return Err(exists());
        }
        let draft = PackedDraft::path_for(&self.out);
        if !draft.exists() {
            fs::copy(&self.out, draft).map_err(self.failed())?;
        }
        Ok(None)
    }

    fn finish(&self, draft: PackedDraft, header: &LabelHeader) -> Result<usize, GenerationError> {
        let count = draft.count().min(self.positions);
        if self.format == LabelFormat::Packed {
            draft.finish(self.positions).map_err(self.failed())?;
            return Ok(count);
        }
        let labels = draft.labels()?;
        let mut writer =
            LabelWriter::create(&self.out, self.format, header).map_err(self.failed())?;
        for record in &labels.labels()[..count] {
            // Every record was packed from a legal position.
            if let Ok(label) = record.unpack() {
                writer.write(&label).map_err(self.failed())?;
            }
        }
        writer.finish().map_err(self.failed())?;
        drop(labels);
        draft.discard().map_err(self.failed())?;
        Ok(count)
    }

    fn failed(&self) -> impl Fn(io::Error) -> GenerationError {
        failed_at(&self.out)
    }
}

fn failed_at(path: &Path) -> impl Fn(io::Error) -> GenerationError {
    let path = path.to_owned();
    move |error| GenerationError::File {
        path: path.clone(),
        error,
    }
}

/// The scale of Finch's own centipawns with some weights: from their win model.
pub fn own_scale(weights: &Weights) -> f64 {
    let model = weights.win_model();
    let chances: Vec<_> = (-40..=40)
        .map(|step| {
            let centipawns = 10 * step;
            let points = model.expected_points(model.score(Centipawns(centipawns)));
            (f64::from(centipawns), points)
        })
        .collect();
    fit_scale_to_chances(&chances)
}
