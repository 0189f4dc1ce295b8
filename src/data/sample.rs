//! Sampling of cases while files are read.
//!
//! Every case has a priority, and the lowest priorities are kept. A priority is a hash of the seed
//! and, when positions are to be distinct, of the position alone, so that a repeated position is
//! recognised. Whether a game trains or validates depends on a hash of its number, so both sides
//! of the split are known before the first position is read.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use shakmaty::{Move, Outcome};

use super::label::GameId;
use super::pgn::PgnGame;
use super::selection::Selection;
use super::{Case, DataError};
use crate::position::{Position, movegen};
use crate::random::mix;

/// How many reasons for skipping are kept as text.
const REASONS_KEPT: usize = 5;

/// Counts of what was read and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games read, including those of EPD lines.
    pub games: usize,
    /// Those that were illegal or unreadable, with the first reasons.
    pub bad: usize,
    pub reasons: Vec<String>,
    /// Those that a filter rejected, by filter.
    pub unwanted: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts something unreadable; the first reasons are kept.
    pub fn skip_bad(&mut self, reason: impl FnOnce() -> String) {
        self.bad += 1;
        if self.reasons.len() < REASONS_KEPT {
            self.reasons.push(reason());
        }
    }

    /// Adds the counts of other sources.
    pub fn add(&mut self, other: Tally) {
        self.games += other.games;
        self.bad += other.bad;
        self.reasons.extend(other.reasons);
        self.reasons.truncate(REASONS_KEPT);
        for (reason, count) in other.unwanted {
            *self.unwanted.entry(reason).or_default() += count;
        }
    }

    /// One line for people, with the first reasons.
    pub fn summary(&self) -> String {
        let mut text = format!("{} games read", self.games);
        for (reason, count) in &self.unwanted {
            text.push_str(&format!(", {count} left out ({reason})"));
        }
        if self.bad > 0 {
            text.push_str(&format!(", {} bad", self.bad));
            text.push_str(&format!(" ({})", self.reasons.join("; ")));
        }
        text
    }
}

/// The cases a run learns from and those it is validated with.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    pub training: Vec<Case>,
    pub validation: Vec<Case>,
    pub tally: Tally,
}

/// Keeps the items of lowest priority out of a stream. The heap has the highest of them on top.
pub(super) struct Keeper<T> {
    limit: usize,
    heap: BinaryHeap<Kept<T>>,
    priorities: HashSet<u64>,
}

struct Kept<T> {
    priority: u64,
    item: T,
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Kept<T>) -> bool {
        self.priority == other.priority
    }
}
impl<T> Eq for Kept<T> {}
impl<T> PartialOrd for Kept<T> {
    fn partial_cmp(&self, other: &Kept<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Kept<T> {
    fn cmp(&self, other: &Kept<T>) -> Ordering {
        self.priority.cmp(&other.priority)
    }
}

impl<T> Keeper<T> {
    fn new(limit: usize) -> Keeper<T> {
        Keeper {
            limit,
            heap: BinaryHeap::new(),
            priorities: HashSet::new(),
        }
    }

    /// A limit of 0 is none.
    pub fn with_limit(limit: usize) -> Keeper<T> {
        Keeper::new(if limit == 0 { usize::MAX } else { limit })
    }

    /// Whether an item of this priority would be kept, as far as is known.
    pub fn admits(&self, priority: u64) -> bool {
        let has_room = self.heap.len() < self.limit
            || self.heap.peek().is_some_and(|top| priority < top.priority);
        has_room && !self.priorities.contains(&priority)
    }

    pub fn keep(&mut self, priority: u64, item: T) {
        self.priorities.insert(priority);
        self.heap.push(Kept { priority, item });
        if self.heap.len() > self.limit
            && let Some(last) = self.heap.pop()
        {
            self.priorities.remove(&last.priority);
        }
    }

    /// What was kept, lowest priority first.
    fn into_kept(self) -> Vec<Kept<T>> {
        self.heap.into_sorted_vec()
    }

    /// The same without the priorities.
    pub fn into_items(self) -> Vec<T> {
        self.into_kept().into_iter().map(|kept| kept.item).collect()
    }
}

pub struct Sampler<'a> {
    selection: &'a Selection,
    seed: u64,
    training: Keeper<Case>,
    validation: Keeper<Case>,
    /// The games of EPD files: their number, and how many positions they have had.
    epd_games: HashMap<GameId, (u64, usize)>,
    tally: Tally,
}

impl<'a> Sampler<'a> {
    pub fn new(selection: &'a Selection) -> Sampler<'a> {
        // Room for positions that turn out to be in the training too.
        let validation = match selection.validation {
            0 => 0,
            limit => limit + limit / 4 + 64,
        };
        Sampler {
            selection,
            seed: selection.seed,
            training: Keeper::with_limit(selection.positions),
            validation: Keeper::new(validation),
            epd_games: HashMap::new(),
            tally: Tally::default(),
        }
    }

    pub fn selection(&self) -> &'a Selection {
        self.selection
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the limit on games is reached.
    pub fn is_full(&self) -> bool {
        self.selection.max_games > 0 && self.tally.games >= self.selection.max_games
    }

    pub fn skip_bad(&mut self, reason: impl FnOnce() -> String) {
        self.tally.games += 1;
        self.tally.skip_bad(reason);
    }

    pub fn skip_unwanted(&mut self, reason: &'static str) {
        self.tally.games += 1;
        *self.tally.unwanted.entry(reason).or_default() += 1;
    }

    pub fn take_game(&mut self, game: &PgnGame) {
        let number = self.tally.games as u64;
        self.tally.games += 1;
        let chosen = self.chosen_plies(game, number);
        let mut position = Position::from_chess(game.start.clone());
        for (ply, &played) in game.moves.iter().enumerate() {
            if chosen.as_ref().is_none_or(|chosen| chosen.contains(&ply))
                && self.selection.wants_side(game, position.turn())
                && self.selection.wants_ply(ply)
            {
                self.offer(&position, || vec![played], number, ply, game.outcome);
            }
            position.play(played);
        }
    }

    /// A position from an EPD file; positions with the same id share a game.
    pub fn take_position(&mut self, position: Position, answers: Vec<Move>, id: GameId) {
        let next = self.tally.games as u64;
        let (number, count) = self.epd_games.entry(id).or_insert((next, 0));
        let (number, ply) = (*number, *count);
        *count += 1;
        self.tally.games += usize::from(number == next);
        self.offer(&position, || answers, number, ply, Outcome::Unknown);
    }

    /// The plies to take from a game when it may give only a few.
    fn chosen_plies(&self, game: &PgnGame, number: u64) -> Option<Vec<usize>> {
        if self.selection.per_game == 0 {
            return None;
        }
        let mut turn = game.start.clone();
        let mut plies = Vec::new();
        for (ply, &played) in game.moves.iter().enumerate() {
            use shakmaty::Position as _;
            if self.selection.wants_ply(ply)
                && self.selection.wants_side(game, turn.turn())
                && (self.selection.forced || turn.legal_moves().len() > 1)
            {
                plies.push(ply);
            }
            turn.play_unchecked(played);
        }
        let order = mix(self.seed, number);
        plies.sort_by_key(|ply| mix(order, *ply as u64));
        plies.truncate(self.selection.per_game);
        Some(plies)
    }

    fn offer(
        &mut self,
        position: &Position,
        answers: impl FnOnce() -> Vec<Move>,
        game: u64,
        ply: usize,
        outcome: Outcome,
    ) {
        let identity = if self.selection.distinct {
            position.key()
        } else {
            mix(game, ply as u64)
        };
        let priority = mix(self.seed, identity);
        let keeper = if self.validates(game) {
            &mut self.validation
        } else {
            &mut self.training
        };
        if !keeper.admits(priority)
            || !self.selection.forced && movegen::legal_moves(position).len() < 2
        {
            return;
        }
        let case = Case {
            position: position.clone(),
            answers: answers(),
            game: game as u32,
            ply: ply as u16,
            outcome,
        };
        keeper.keep(priority, case);
    }

    fn validates(&self, game: u64) -> bool {
        // The complement keeps this choice apart from the one among plies.
        let chance = mix(!self.seed, game) as f64 / u64::MAX as f64;
        self.selection.validation > 0 && chance < self.selection.validation_share
    }

    /// Both sets in the order of the games; of distinct positions they have none in common.
    pub fn finish(self) -> Result<Collection, DataError> {
        let in_training = self.training.priorities.clone();
        let training: Vec<_> = self.training.into_kept();
        if training.is_empty() {
            return Err(DataError::NoPositions(self.tally.summary()));
        }
        let mut validation = self.validation.into_kept();
        validation.retain(|kept| !in_training.contains(&kept.priority));
        validation.truncate(self.selection.validation);
        let in_order = |kept: Vec<Kept<Case>>| {
            let mut cases: Vec<_> = kept.into_iter().map(|kept| kept.item).collect();
            cases.sort_by_key(|case| (case.game, case.ply));
            cases
        };
        Ok(Collection {
            training: in_order(training),
            validation: in_order(validation),
            tally: self.tally,
        })
    }
}
