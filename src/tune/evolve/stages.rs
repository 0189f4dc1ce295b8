//! The stages of a generation. Each returns the stage that follows, or nothing if it was
//! interrupted: then the same call resumes it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::constants::{self, ConstantsRun};
use super::helper;
use super::plan::{CHALLENGER, StagePlan, mentor, sprt};
use super::start::{self, DISCLOSURE};
use super::training::ChallengerTraining;
use super::{
    AnchorResult, ChallengeResult, ConstantsResult, EvolveError, EvolveObserver, EvolveRun,
    EvolveSettings, EvolveStage, GenerationResult, ZERO, failed, save_champion,
};
use crate::data::PackedLabels;
use crate::eval::{Network, Weights};
use crate::play::player_config::PlayerKind;
use crate::play::sprt::SprtDecision;
use crate::search::{ParamInfo, SearchParams};
use crate::tune::report;
use crate::work;

/// The key of the provenance that says where the constants of the search come from.
const CONSTANTS: &str = "search";

/// What comes after a stage; nothing if it was interrupted.
type Next = Result<Option<EvolveStage>, EvolveError>;

impl EvolveRun<'_> {
    /// Works on the stage that comes next.
    pub(super) fn work(&mut self) -> Next {
        helper::announce(&self.plan(), self.state.stage)?;
        let next = self.stage();
        work::dismiss();
        next
    }

    fn stage(&mut self) -> Next {
        match self.state.stage {
            EvolveStage::SelfPlay => self.self_play(),
            EvolveStage::Training => self.train(),
            EvolveStage::Search => self.tune_constants(),
            EvolveStage::Challenge => self.challenge(),
            EvolveStage::Succession => self.succeed(),
            EvolveStage::Anchors => self.play_anchors(),
            EvolveStage::Closing => self.close(),
        }
    }

    fn self_play(&mut self) -> Next {
        let labels = self.labels_folder();
        std::fs::create_dir_all(&labels).map_err(failed(&labels))?;
        let generation = self.plan().self_play()?;
        self.announce(generation.positions as u64);
        let out = generation.out.clone();
        let made = generation.run_while(|step| {
            self.observer.progress(step.positions as u64);
            match self.is_stopped() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        let Some(positions) = made else {
            return Ok(None);
        };
        let packed = PackedLabels::open(&out).map_err(crate::tune::run::RunError::from)?;
        let last = packed.labels().last();
        self.state.result = GenerationResult {
            games: last.map_or(0, |label| u64::from(label.game) + 1),
            positions,
            ..GenerationResult::default()
        };
        Ok(Some(EvolveStage::Training))
    }

    fn train(&mut self) -> Next {
        let generation = self.state.generation;
        let window = self.settings.window(generation).into_iter();
        let labels: Vec<PathBuf> = window.map(|number| self.labels_path(number)).collect();
        let folder = self.generation_folder();
        let champion = self.champion()?;
        self.announce(self.settings.training.validations);
        let settings = self.settings.clone();
        let path = self.champion_path();
        let training = ChallengerTraining {
            settings: &settings,
            generation,
            champion: &path,
            labels: &labels,
            threads: self.threads,
            folder: &folder.join("train"),
        };
        let outcome = training.run(&champion, &mut |done| self.step(done))?;
        let Some(outcome) = outcome else {
            return Ok(None);
        };
        let losses = outcome.journal.curve("validation_loss");
        self.state.result.training_loss = outcome.journal.last("training_loss");
        self.state.result.validation_loss = losses.iter().map(|(_, loss)| *loss).reduce(f64::min);
        let trained = outcome.best.weights();
        let network = trained.and_then(|weights| weights.network.clone());
        let challenger = self.challenger(champion, network);
        let path = folder.join(CHALLENGER);
        challenger.save(&path).map_err(failed(&path))?;
        Ok(Some(EvolveStage::Challenge))
    }

    /// SPSA between neighbours of the champion's constants. If it leaves them as they are, there is
    /// no challenger.
    fn tune_constants(&mut self) -> Next {
        let folder = self.generation_folder();
        let champion = self.champion()?;
        let games = constants::games(&self.settings.search);
        self.announce(games);
        let settings = self.settings.clone();
        let path = self.champion_path();
        let tuning = ConstantsRun {
            settings: &settings,
            generation: self.state.generation,
            champion: &path,
            threads: self.threads,
            folder: &folder.join("search"),
        };
        let outcome = tuning.run(&champion, &mut |done| self.step(done))?;
        let Some(outcome) = outcome else {
            return Ok(None);
        };
        let tuned = outcome.best.weights().unwrap_or(&champion);
        let changed = changed_constants(&champion, tuned);
        self.state.result = GenerationResult {
            constants: Some(ConstantsResult { games, changed }),
            ..GenerationResult::default()
        };
        if changed == 0 {
            return Ok(Some(EvolveStage::Succession));
        }
        let mut challenger = self.descendant(champion.clone());
        challenger.search = tuned.search.clone();
        let origin = format!("{games} games of SPSA in generation {}", tuning.generation);
        challenger.provenance.retain(|(key, _)| key != CONSTANTS);
        challenger.provenance.push((CONSTANTS.to_owned(), origin));
        let path = folder.join(CHALLENGER);
        challenger.save(&path).map_err(failed(&path))?;
        Ok(Some(EvolveStage::Challenge))
    }

    /// The champion under the name of this generation.
    fn descendant(&self, champion: Weights) -> Weights {
        let start = &self.settings.start;
        let (from, seed, generation) = (&start.from, start.seed, self.state.generation);
        let mut weights = champion;
        weights.name = format!("evolve from {from}, seed {seed}, generation {generation}");
        let constants = weights.provenance.iter().find(|(key, _)| key == CONSTANTS);
        let constants = constants.cloned();
        weights.provenance = vec![
            ("method".to_owned(), "finch evolve".to_owned()),
            ("from".to_owned(), from.clone()),
            ("seed".to_owned(), seed.to_string()),
            ("generation".to_owned(), generation.to_string()),
            ("date".to_owned(), start.started.clone()),
        ];
        if from == ZERO {
            weights
                .provenance
                .push(("note".to_owned(), DISCLOSURE.to_owned()));
        }
        weights.provenance.extend(constants);
        weights
    }

    /// The champion with the trained network in place of its own. The units of its scores stay.
    fn challenger(&self, champion: Weights, network: Option<Network>) -> Weights {
        let mut weights = self.descendant(champion);
        if let (Some(old), Some(mut new)) = (weights.network.take(), network) {
            let fitted = new.header.win_model;
            new.header = old.header;
            // Early networks know too little for a model: it would be out of all proportion.
            let scale = f64::from(new.header.scale);
            if (scale / 2.0..=4.0 * scale).contains(&fitted.midpoint) {
                new.header.win_model = fitted;
            }
            new.header.provenance = weights.provenance.iter().cloned().collect();
            weights.network = Some(new);
        }
        weights
    }

    fn challenge(&mut self) -> Next {
        let gauntlet = self.plan().challenge()?;
        self.announce(gauntlet.count() as u64);
        let Some(played) = gauntlet.play(&mut |done| self.step(done))? else {
            return Ok(None);
        };
        let score = played.crosstable.total(0);
        let llr = sprt(&self.settings.sprt).llr(&score);
        let (elo, error) = score.bounded_elo();
        self.state.result.challenge = Some(ChallengeResult {
            wins: score.wins,
            draws: score.draws,
            losses: score.losses,
            llr,
            accepted: match played.decision {
                Some(decision) => decision == SprtDecision::Accepted,
                None => llr > 0.0,
            },
            elo,
            error,
        });
        Ok(Some(EvolveStage::Succession))
    }

    /// Done again after a kill, it comes to the same: the match before it is not.
    fn succeed(&mut self) -> Next {
        let challenge = self.state.result.challenge.unwrap_or_default();
        if challenge.accepted && self.state.champion != self.state.generation {
            let challenger = Weights::load(&self.generation_folder().join(CHALLENGER))?;
            save_champion(&self.folder, &challenger)?;
            self.state.champion = self.state.generation;
            self.state.elo.add(challenge.elo, challenge.error);
        }
        let generation = self.state.generation;
        Ok(Some(match self.settings.is_anchor_generation(generation) {
            true => EvolveStage::Anchors,
            false => EvolveStage::Closing,
        }))
    }

    fn play_anchors(&mut self) -> Next {
        let gauntlet = self.plan().anchors()?;
        self.announce(gauntlet.count() as u64);
        let Some(played) = gauntlet.play(&mut |done| self.step(done))? else {
            return Ok(None);
        };
        let names = anchor_names(&self.settings)?;
        let results = names.into_iter().zip(played.crosstable.scores());
        let results = results.map(|(name, (_, score))| {
            let (elo, error) = score.bounded_elo();
            AnchorResult {
                name,
                score: score.ratio(),
                elo,
                error,
            }
        });
        self.state.result.anchors = results.collect();
        Ok(Some(EvolveStage::Closing))
    }

    /// The generation's row of the journal, the report, and on to the next.
    fn close(&mut self) -> Next {
        let generation = self.state.generation;
        self.state.seconds = self.seconds();
        let figures = self.state.figures(&anchor_names(&self.settings)?);
        self.journal
            .append(&self.folder, generation, self.state.seconds, figures)?;
        report::write(&self.folder)?;
        self.observer.generation(&self.state, &self.journal);
        self.state.generation += 1;
        self.state.result = GenerationResult::default();
        let first = first_stage(&self.settings, self.state.generation);
        Ok(Some(first))
    }

    fn announce(&mut self, steps: u64) {
        let (generation, stage) = (self.state.generation, self.state.stage);
        self.observer.stage(generation, stage, steps);
    }

    /// A step of a stage is done. Returns whether to stop.
    fn step(&mut self, done: u64) -> bool {
        self.observer.progress(done);
        self.is_stopped()
    }

    fn champion(&self) -> Result<Weights, EvolveError> {
        self.plan().champion()
    }

    pub(super) fn plan(&self) -> StagePlan<'_> {
        StagePlan {
            settings: &self.settings,
            generation: self.state.generation,
            folder: self.folder.path(),
            threads: self.threads,
        }
    }
}

/// The stage that a generation begins with.
pub(super) fn first_stage(settings: &EvolveSettings, generation: u64) -> EvolveStage {
    match settings.is_search_generation(generation) {
        true => EvolveStage::Search,
        false => EvolveStage::SelfPlay,
    }
}

/// How many constants of the search differ.
fn changed_constants(before: &Weights, after: &Weights) -> u64 {
    // Constants that are wrong were refused when the weights were read.
    let params = |weights: &Weights| SearchParams::from_table(&weights.search).unwrap_or_default();
    let (before, after) = (params(before), params(after));
    let differs = |info: &&ParamInfo| before.get(info.name) != after.get(info.name);
    SearchParams::LIST.iter().filter(differs).count() as u64
}

/// The names of the anchors, as the journal has them.
pub(super) fn anchor_names(settings: &EvolveSettings) -> Result<Vec<String>, EvolveError> {
    let anchors = start::anchors(settings)?;
    Ok(anchors.into_iter().map(|anchor| anchor.name).collect())
}

/// Fails if an anchor or the mentor cannot be started, or is not allowed to.
pub(super) fn check_players(
    settings: &EvolveSettings,
    observer: &mut dyn EvolveObserver,
) -> Result<(), EvolveError> {
    let mut allow = |command: &str| match observer.allows_engine(command) {
        true => Ok(()),
        false => Err(EvolveError::EngineForbidden(command.to_owned())),
    };
    for anchor in start::anchors(settings)? {
        if let PlayerKind::Uci(engine) = &anchor.kind {
            allow(&engine.command)?;
        }
        anchor.check()?;
    }
    if let Some(mentor) = mentor(settings)? {
        allow(mentor.command())?;
        mentor.start().map_err(EvolveError::Mentor)?;
    }
    Ok(())
}
