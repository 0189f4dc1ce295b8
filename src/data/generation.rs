//! Files of labels from quick games: rounds of games on all cores, a draft that survives a kill,
//! and the finished file in any format.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use thiserror::Error;

use super::followed::FollowedGame;
use super::label::{Label, LabelFormat, LabelHeader};
use super::labels::{LabelReader, LabelWriter};
use super::mentor::{MentorConfig, MentorError, MentorPool};
use super::packed::{PackedDraft, PackedLabel};
use super::portion::Portion;
use super::scale::fit_scale_to_chances;
use super::selfplay::{SelfPlay, engine, mentor_game, own_game, probed_game};
use super::{DataError, Source};
use crate::eval::{Centipawns, Weights};
use crate::files;
use crate::search::{Engine, EngineError};
use crate::work::{self, Tasks};

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
        games: Option<Vec<FollowedGame>>,
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
    Threads(#[from] io::Error),
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
        if self.out.exists() && !self.force && self.format == LabelFormat::Text {
            return Err(GenerationError::Exists(self.out.clone()));
        }
        let players = self.players()?;
        let header = self.header(players.mentors.as_ref());
        if let Some(count) = self.already_there(&header)? {
            return Ok(Some(count));
        }
        let games = self.games();
        let draft = PackedDraft::open(&self.out, &header, &games, self.round_size());
        let mut draft = draft.map_err(self.failed())?;
        let last = match draft.count() < self.positions {
            true => games.end,
            false => draft.next_game(),
        };
        let (mut round, mut interrupted, mut failure) = (Vec::new(), false, None);
        let todo = draft.next_game() as usize..last as usize;
        work::each_in_order(&players, todo, self.threads(), |number, labels| {
            let games = number as u64 + 1;
            let added = labels.and_then(|labels| {
                round.extend(labels);
                self.add_round(&mut draft, &mut round, games)
            });
            match added {
                Ok(false) => return ControlFlow::Continue(()),
                Ok(true) => {}
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            let step = progress(GenerationProgress {
                positions: draft.count().min(self.positions),
                games,
            });
            let is_enough = draft.count() >= self.positions;
            interrupted = step.is_break() && !is_enough;
            match is_enough {
                true => ControlFlow::Break(()),
                false => step,
            }
        })?;
        match (failure, interrupted) {
            (Some(error), _) => return Err(error),
            (None, true) => return Ok(None),
            (None, false) => {}
        }
        if draft.count() == 0 && self.positions > 0 && self.part.is_none() {
            return Err(GenerationError::NothingKept(last));
        }
        self.finish(draft, &header).map(Some)
    }

    /// Plays or follows games for rank 0 of an MPI job, which makes the same labels, until it needs
    /// no more.
    pub fn serve(&self) -> Result<(), GenerationError> {
        let players = self.players()?;
        let prepare = || players.prepare();
        work::serve(self.threads(), prepare, |engine, task, _| {
            let number = u64::from_le_bytes(task.try_into().ok()?);
            let labels = players.work(engine, number as usize).ok()?;
            // A game without labels is an answer too.
            Some([&[1], bytemuck::cast_slice(&labels)].concat())
        });
        Ok(())
    }

    fn threads(&self) -> usize {
        let threads = match self.threads {
            0 => rayon::current_num_threads(),
            threads => threads,
        };
        // While one thread plays, another waits for answers: two per core keep it busy.
        match self.maker {
            LabelMaker::Probes { .. } => 2 * threads,
            _ => threads,
        }
    }

    fn players(&self) -> Result<Players<'_>, MentorError> {
        Ok(Players {
            generation: self,
            mentors: match &self.maker {
                LabelMaker::Own(_) => None,
                LabelMaker::Mentor(mentor) => Some(MentorPool::start(mentor, self.threads())?),
                LabelMaker::Probes { mentor, .. } => {
                    Some(MentorPool::start_for_probes(mentor, self.threads())?)
                }
            },
        })
    }

    /// Games in a round: few where few positions are wanted. The labels do not depend on it.
    fn round_size(&self) -> u64 {
        let [least, most] = ROUND;
        (self.positions as u64 / 16).clamp(least, most)
    }

    /// Writes the labels of a round, once so many games complete it; returns whether they do.
    fn add_round(
        &self,
        draft: &mut PackedDraft,
        labels: &mut Vec<PackedLabel>,
        games: u64,
    ) -> Result<bool, GenerationError> {
        let round = self.round_size();
        if games < self.games().end.min(draft.next_game() + round) {
            return Ok(false);
        }
        // Some games of others give nothing.
        if labels.is_empty() && self.followed().is_none() {
            return Err(GenerationError::NothingKept(round));
        }
        draft.add(labels).map_err(self.failed())?;
        labels.clear();
        Ok(true)
    }

    /// The weights Finch plays with, if it plays.
    fn weights(&self) -> Option<&Arc<Weights>> {
        match &self.maker {
            LabelMaker::Own(weights) | LabelMaker::Probes { weights, .. } => Some(weights),
            LabelMaker::Mentor(_) => None,
        }
    }

    /// The games of others that are followed, if any are.
    fn followed(&self) -> Option<&Vec<FollowedGame>> {
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
        let draft = files::draft_path(&self.out);
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

/// Those who play, follow and score games, by number.
struct Players<'a> {
    generation: &'a LabelGeneration,
    mentors: Option<MentorPool>,
}

impl Tasks for Players<'_> {
    type Kept = Result<Option<Engine>, EngineError>;
    type Outcome = Result<Vec<PackedLabel>, GenerationError>;

    fn prepare(&self) -> Self::Kept {
        self.generation.weights().map(engine).transpose()
    }

    fn work(&self, engine: &mut Self::Kept, number: usize) -> Self::Outcome {
        let labels = match engine {
            Ok(engine) => self.game(number as u64, engine.as_mut())?,
            // Tried again: the error belongs to the thread's first try.
            Err(_) => self.game(number as u64, self.prepare()?.as_mut())?,
        };
        Ok(labels.iter().map(PackedLabel::new).collect())
    }

    fn message(&self, number: usize) -> Vec<u8> {
        (number as u64).to_le_bytes().to_vec()
    }

    fn read(&self, answer: &[u8]) -> Option<Self::Outcome> {
        let labels = answer.strip_prefix(&[1])?;
        let labels = labels.chunks_exact(size_of::<PackedLabel>());
        Some(Ok(labels.map(bytemuck::pod_read_unaligned).collect()))
    }
}

impl Players<'_> {
    fn game(&self, number: u64, engine: Option<&mut Engine>) -> Result<Vec<Label>, MentorError> {
        let LabelGeneration { play, maker, .. } = self.generation;
        let labels = match (maker, engine, &self.mentors) {
            (LabelMaker::Own(_), Some(engine), _) => Some(Ok(own_game(play, number, engine))),
            (LabelMaker::Mentor(_), _, Some(pool)) => {
                pool.with(|mentor| mentor_game(play, number, mentor))
            }
            (LabelMaker::Probes { .. }, Some(engine), Some(pool)) => {
                let followed = self.generation.followed();
                let followed = followed.and_then(|games| games.get(number as usize));
                pool.with(|mentor| probed_game(play, number, followed, engine, mentor))
            }
            _ => None,
        };
        labels.transpose().map(Option::unwrap_or_default)
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
