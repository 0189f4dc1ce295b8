//! Teaching a network: labels by the ten million, one small step after the other.
//!
//! A [`Course`] goes through the labels again and again, each time in another order, and moves
//! all weights along the slope of the squared difference between the network's chance of
//! winning and the mentor's (Adam). Games are split: some are never learned from, and tell what
//! the network is worth. A generation is a fixed number of steps; after each the folder has a
//! line in its journal, the network so far and a checkpoint.
//!
//! A step's labels are divided into a fixed number of shares whose slopes are added in order, so
//! the same seed gives the same network on any number of threads.

mod model;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{LabelSet, PackedLabel};
use crate::eval::{KING_BUCKETS, NetworkHeader, Weights};
use crate::files::write_atomically;
use crate::random::mix;
use crate::tune::run::RunError;
use model::{COMMON, Example, Look, Model, WEIGHTS};

/// What a course is: written to its folder, so that it can be gone on with.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Files of labels, in any format.
    pub labels: Vec<PathBuf>,
    pub seed: u64,
    pub generations: u64,
    /// Steps in a generation.
    pub steps: u64,
    /// Labels a step looks at.
    pub batch: usize,
    /// How far a weight moves in a step, at first and at last.
    pub rate: [f64; 2],
    /// The mentor's centipawns that multiply the odds of winning by e; as the files say if it is
    /// not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mentor_scale: Option<f64>,
    /// The share of games that is not learned from.
    pub validation_share: f64,
}

/// Shares of a step's labels.
const SHARES: usize = 8;
/// Labels that are enough to tell what a network is worth.
const VALIDATION: usize = 400_000;
/// How long a direction and a size of slopes are remembered.
const MOMENTUM: f32 = 0.9;
const MEMORY: f32 = 0.999;
/// Weights that Adam updates at a time on one thread.
const PIECE: usize = 4096;
/// How many first generations it takes to reach the full rate: slopes are wild at first.
const WARM_UP: f64 = 0.5;

const CONFIG: &str = "config.toml";
const JOURNAL: &str = "journal.csv";
const CHECKPOINT: &str = "checkpoint";
const NETWORK: &str = "best.net";
const HEADER: &str = "generation,labels,training,validation,seconds\n";

/// What a generation came to.
#[derive(Clone, Copy, Debug)]
pub struct Generation {
    pub number: u64,
    /// Labels looked at so far.
    pub labels: u64,
    /// Mean squared difference of winning chances.
    pub training: f64,
    pub validation: f64,
    pub seconds: f64,
}

pub struct Course {
    settings: Settings,
    folder: PathBuf,
    labels: LabelSet,
    validation: Vec<PackedLabel>,
    model: Model,
    apart: Adam,
    /// What the zones of a king learn in common: each alone sees too little of the board.
    common: Adam,
    /// Generations that are over.
    done: u64,
    seconds: f64,
}

impl Course {
    /// Begins in a folder, or goes on with what is there if it is the same course.
    pub fn begin(settings: &Settings, folder: &Path) -> Result<Course, RunError> {
        let fail = |name: &str, reason: String| RunError::File {
            path: folder.join(name).display().to_string(),
            reason,
        };
        let mut course = Course::new(settings, folder)?;
        fs::create_dir_all(folder).map_err(|error| fail("", error.to_string()))?;
        let text = toml::to_string(settings).map_err(|error| fail(CONFIG, error.to_string()))?;
        match fs::read_to_string(folder.join(CONFIG)) {
            Ok(earlier) if earlier != text => {
                let told = "another course; choose another folder";
                return Err(fail(CONFIG, told.to_owned()));
            }
            Ok(_) => course.restore().map_err(|error| fail(CHECKPOINT, error))?,
            Err(_) => {
                write_atomically(&folder.join(CONFIG), &text)
                    .map_err(|error| fail(CONFIG, error.to_string()))?;
            }
        }
        Ok(course)
    }

    /// Goes on with the course of a folder.
    pub fn resume(folder: &Path) -> Result<Course, RunError> {
        let path = folder.join(CONFIG);
        let fail = |reason: String| RunError::File {
            path: path.display().to_string(),
            reason,
        };
        let text = fs::read_to_string(&path).map_err(|error| fail(error.to_string()))?;
        let settings = toml::from_str(&text).map_err(|error| fail(error.message().to_owned()))?;
        Course::begin(&settings, folder)
    }

    fn new(settings: &Settings, folder: &Path) -> Result<Course, RunError> {
        let mut course = Course {
            labels: LabelSet::open(&settings.labels, settings.mentor_scale)?,
            settings: settings.clone(),
            folder: folder.to_owned(),
            validation: Vec::new(),
            model: Model::by_chance(settings.seed),
            apart: Adam::new(WEIGHTS),
            common: Adam::new(COMMON),
            done: 0,
            seconds: 0.0,
        };
        if course.count() == 0 {
            return Err(RunError::File {
                path: settings
                    .labels
                    .first()
                    .map_or(String::new(), |path| path.display().to_string()),
                reason: "no labels".to_owned(),
            });
        }
        let order = course.order(0);
        let kept_apart = (0..course.count())
            .map(|place| course.label(order.at(place)))
            .filter(|label| course.is_kept_apart(label));
        course.validation = kept_apart.take(VALIDATION).collect();
        Ok(course)
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many labels there are in all.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// Where the labels come from, a line for each file.
    pub fn origins(&self) -> Vec<String> {
        self.labels.descriptions()
    }

    /// Learns until the last generation, or until `stop`; tells of each generation. Answers
    /// whether it came to the end.
    pub fn run(
        &mut self,
        stop: &AtomicBool,
        mut tell: impl FnMut(&Generation),
    ) -> Result<bool, RunError> {
        while self.done < self.settings.generations {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let generation = self.generation();
            self.save(&generation).map_err(|error| RunError::File {
                path: self.folder.display().to_string(),
                reason: error.to_string(),
            })?;
            tell(&generation);
        }
        Ok(true)
    }

    /// The weights that play with the network: the terms built in stay for the search's margins.
    pub fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        let settings = &self.settings;
        let provenance = [
            ("labels", self.origins().join("; ")),
            ("seed", settings.seed.to_string()),
            ("generation", self.done.to_string()),
            ("course", format!("{settings:?}")),
            ("version", format!("Finch {}", env!("CARGO_PKG_VERSION"))),
        ];
        // The search's margins are tuned for the scale of the network that plays now. The win
        // model stays until it is fitted to games of the new network.
        let playing = weights.network.as_ref();
        let header = NetworkHeader {
            provenance: provenance
                .map(|(key, value)| (key.to_owned(), value))
                .into(),
            ..playing.map_or_else(NetworkHeader::default, |network| network.header.clone())
        };
        weights.network = Some(self.model.quantised(NETWORK, header));
        weights
    }

    fn generation(&mut self) -> Generation {
        let started = Instant::now();
        let mut error = 0.0;
        let mut learned = 0;
        for step in 0..self.settings.steps {
            let number = self.done * self.settings.steps + step;
            let (sum, count) = self.step(number);
            error += sum;
            learned += count;
        }
        self.done += 1;
        let validation = self.validation_error();
        self.seconds += started.elapsed().as_secs_f64();
        Generation {
            number: self.done,
            labels: self.done * self.settings.steps * self.settings.batch as u64,
            training: error / learned.max(1) as f64,
            validation,
            seconds: self.seconds,
        }
    }

    /// One step of all weights; answers the sum of errors and how many labels it is made of.
    fn step(&mut self, number: u64) -> (f64, usize) {
        let share = self.settings.batch / SHARES;
        let first = number as usize * self.settings.batch;
        let slopes: Vec<_> = (0..SHARES)
            .into_par_iter()
            .map(|at| self.slope(first + at * share, share))
            .collect();
        let errors: f64 = slopes.iter().map(|(error, ..)| error).sum();
        let count: usize = slopes.iter().map(|(_, count, _)| count).sum();
        let slopes: Vec<_> = slopes.into_iter().map(|(.., slope)| slope).collect();
        self.climb(number, &slopes, count);
        (errors, count)
    }

    /// The slope of some labels, in the order in which they come.
    fn slope(&self, first: usize, count: usize) -> (f64, usize, Model) {
        let mut slope = Model::zero();
        let mut look = Look::new(&self.model);
        let (mut error, mut learned) = (0.0, 0);
        let order = self.order(first / self.count());
        for place in first..first + count {
            let label = self.label(order.at(place));
            if self.is_kept_apart(&label) {
                continue;
            }
            let example = Example::new(&label, self.labels.scale());
            error += f64::from(look.learn(&example, &mut slope));
            learned += 1;
        }
        (error, learned, slope)
    }

    fn climb(&mut self, number: u64, slopes: &[Model], count: usize) {
        let rate = self.rate_at(number) as f32;
        let slopes: Vec<&[f32]> = slopes.iter().map(|slope| &slope.0[..]).collect();
        let slope = added_up(&slopes, 1.0 / count.max(1) as f32);
        let zones: Vec<&[f32]> = slope[..KING_BUCKETS * COMMON].chunks(COMMON).collect();
        self.common.advance(number, &added_up(&zones, 1.0));
        self.apart.advance(number, &slope);
        let (apart, common) = (&self.apart.ahead, &self.common.ahead);
        let weights = self.model.0.par_iter_mut().enumerate();
        weights.with_min_len(PIECE).for_each(|(at, weight)| {
            let together = match at < KING_BUCKETS * COMMON {
                true => common[at % COMMON],
                false => 0.0,
            };
            *weight = Model::bounded(*weight - rate * (apart[at] + together));
        });
    }

    /// A cosine from first to last, after a short rise.
    fn rate_at(&self, number: u64) -> f64 {
        let [first, last] = self.settings.rate;
        let steps = (self.settings.generations * self.settings.steps).max(1) as f64;
        let time = number as f64 / steps;
        let share = (1.0 + (std::f64::consts::PI * time).cos()) / 2.0;
        let rise = number as f64 / (WARM_UP * self.settings.steps as f64);
        (last + (first - last) * share) * rise.min(1.0)
    }

    fn validation_error(&self) -> f64 {
        let chunks = self.validation.par_chunks(4096).map(|labels| {
            let mut look = Look::new(&self.model);
            let scale = self.labels.scale();
            let errors = labels
                .iter()
                .map(|label| f64::from(look.error(&Example::new(label, scale))));
            errors.sum::<f64>()
        });
        let errors: Vec<f64> = chunks.collect();
        errors.iter().sum::<f64>() / self.validation.len().max(1) as f64
    }

    /// The order in which a pass goes through the labels.
    fn order(&self, pass: usize) -> Order {
        Order::new(self.count() as u64, mix(self.settings.seed, pass as u64))
    }

    /// A label by its number, counted over all files.
    fn label(&self, number: usize) -> PackedLabel {
        let label = self.labels.get(number);
        label.unwrap_or_else(|| unreachable!("an order stays within the files"))
    }

    /// Whether a label's game is kept for validation.
    fn is_kept_apart(&self, label: &PackedLabel) -> bool {
        let drawn = mix(self.settings.seed, label.game.into()) as f64 / u64::MAX as f64;
        drawn < self.settings.validation_share
    }

    /// Journal and network first, the checkpoint last: whatever instant it is killed at, the
    /// checkpoint finds everything before it on disk.
    fn save(&mut self, generation: &Generation) -> std::io::Result<()> {
        let journal = self.folder.join(JOURNAL);
        let before = fs::read_to_string(&journal).unwrap_or_else(|_| HEADER.to_owned());
        let kept = before.lines().take(generation.number as usize);
        let kept: String = kept.map(|line| format!("{line}\n")).collect();
        let Generation {
            number,
            labels,
            training,
            validation,
            seconds,
        } = generation;
        let row = format!("{number},{labels},{training:.6},{validation:.6},{seconds:.1}\n");
        write_atomically(&journal, &(kept + &row))?;
        let weights = self.weights();
        if let Some(network) = &weights.network {
            write_atomically(&self.folder.join(NETWORK), &network.to_bytes())?;
        }
        write_atomically(&self.folder.join("best.toml"), &weights.to_toml())?;
        write_atomically(&self.folder.join(CHECKPOINT), &self.checkpoint())
    }

    /// What a checkpoint consists of, in its order.
    fn parts(&mut self) -> [&mut Vec<f32>; 5] {
        let Course { apart, common, .. } = self;
        [
            &mut self.model.0,
            &mut apart.direction,
            &mut apart.size,
            &mut common.direction,
            &mut common.size,
        ]
    }

    fn checkpoint(&mut self) -> Vec<u8> {
        let mut bytes = self.done.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.seconds.to_le_bytes());
        for part in self.parts() {
            bytes.extend_from_slice(bytemuck::cast_slice(part));
        }
        bytes
    }

    /// Goes back to the checkpoint, if there is one.
    fn restore(&mut self) -> Result<(), String> {
        let Ok(bytes) = fs::read(self.folder.join(CHECKPOINT)) else {
            return Ok(());
        };
        let weights: usize = self.parts().iter().map(|part| part.len()).sum();
        if bytes.len() != 16 + 4 * weights {
            return Err("of another network".to_owned());
        }
        let word = |at: usize| -> [u8; 8] { std::array::from_fn(|byte| bytes[at + byte]) };
        self.done = u64::from_le_bytes(word(0));
        self.seconds = f64::from_le_bytes(word(8));
        let mut rest = &bytes[16..];
        for part in self.parts() {
            let (from, after) = rest.split_at(4 * part.len());
            bytemuck::cast_slice_mut(part).copy_from_slice(from);
            rest = after;
        }
        Ok(())
    }
}

/// The sum of vectors of one length, times `share`.
fn added_up(vectors: &[&[f32]], share: f32) -> Vec<f32> {
    let mut total = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    let pieces = total.par_chunks_mut(PIECE).enumerate();
    pieces.for_each(|(piece, total)| {
        for vector in vectors {
            let from = &vector[piece * PIECE..][..total.len()];
            for (sum, one) in total.iter_mut().zip(from) {
                *sum += one;
            }
        }
        for sum in total {
            *sum *= share;
        }
    });
    total
}

/// Remembers the slopes of some weights, and says how far each should move at a rate of one.
struct Adam {
    direction: Vec<f32>,
    size: Vec<f32>,
    ahead: Vec<f32>,
}

impl Adam {
    fn new(count: usize) -> Adam {
        Adam {
            direction: vec![0.0; count],
            size: vec![0.0; count],
            ahead: vec![0.0; count],
        }
    }

    /// Takes the slopes of step `number`.
    fn advance(&mut self, number: u64, slopes: &[f32]) {
        let unbias = |factor: f32| 1.0 - f64::from(factor).powf((number + 1) as f64) as f32;
        let (unbias_direction, unbias_size) = (unbias(MOMENTUM), unbias(MEMORY));
        let directions = self.direction.par_chunks_mut(PIECE);
        let sizes = self.size.par_chunks_mut(PIECE);
        let aheads = self.ahead.par_chunks_mut(PIECE);
        let pieces = directions.zip(sizes).zip(aheads);
        let pieces = pieces.zip(slopes.par_chunks(PIECE));
        pieces.for_each(|(((directions, sizes), aheads), slopes)| {
            for at in 0..aheads.len() {
                let slope = slopes[at];
                directions[at] = MOMENTUM * directions[at] + (1.0 - MOMENTUM) * slope;
                sizes[at] = MEMORY * sizes[at] + (1.0 - MEMORY) * slope * slope;
                let scale = (sizes[at] / unbias_size).sqrt() + 1e-8;
                aheads[at] = directions[at] / unbias_direction / scale;
            }
        });
    }
}

/// An order that visits every label once; neighbours in it come from far apart.
struct Order {
    all: u64,
    stride: u64,
    offset: u64,
}

impl Order {
    fn new(all: u64, chance: u64) -> Order {
        // Near the golden section, moved by chance.
        let golden = (all as f64 * 0.618_033_988_749_895) as u64;
        let mut stride = golden.max(1) + chance % (all / 16).max(1);
        while greatest_common_divisor(stride, all) != 1 {
            stride += 1;
        }
        Order {
            all,
            stride,
            offset: chance % all,
        }
    }

    fn at(&self, place: usize) -> usize {
        let far = u128::from(self.stride) * place as u128 + u128::from(self.offset);
        (far % u128::from(self.all)) as usize
    }
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => greatest_common_divisor(other, one % other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_visits_every_label_once() {
        for all in [1, 2, 7, 1000, 4096] {
            let order = Order::new(all, 12345);
            let mut seen: Vec<_> = (0..all as usize).map(|place| order.at(place)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..all as usize), "{all}");
        }
    }
}
