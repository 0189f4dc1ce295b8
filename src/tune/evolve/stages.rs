//! The stages of a generation. Each returns the stage that follows, or nothing if it was
//! interrupted: then the same call resumes it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use super::constants::{self, ConstantsRun};
use super::matches::Gauntlet;
use super::start::{self, DISCLOSURE};
use super::state::bounded_elo;
use super::training::ChallengerTraining;
use super::{
    AnchorResult, ChallengeResult, ChallengeSettings, ConstantsResult, EvolveError, EvolveObserver,
    EvolveRun, EvolveSettings, EvolveStage, GenerationResult, ZERO, failed, save_champion,
};
use crate::data::{
    LabelFormat, LabelGeneration, LabelMaker, MENTOR_TIMEOUT, MentorConfig, PROBED_MOVES,
    PackedLabels, SelfPlay,
};
use crate::eval::{Network, Weights};
use crate::play::GameLimits;
use crate::play::player_config::{PlayerConfig, PlayerKind};
use crate::play::sprt::{EloModel, Sprt, SprtDecision};
use crate::random::mix;
use crate::search::{ParamInfo, SearchParams};
use crate::tune::report;

/// A mentor's depth where only the exchanges after a move matter.
const PROBE_DEPTH: u32 = 1;
/// Positions a random move away that a mentor scores with each.
const PROBED_AWAY: u32 = 2;
const CHALLENGER: &str = "challenger.toml";
/// The key of the provenance that says where the constants of the search come from.
const CONSTANTS: &str = "search";

/// What comes after a stage; nothing if it was interrupted.
type Next = Result<Option<EvolveStage>, EvolveError>;

impl EvolveRun<'_> {
    /// Works on the stage that comes next.
    pub(super) fn work(&mut self) -> Next {
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
        let generation = self.label_generation()?;
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

    /// The champion's games against itself: each depends on the settings, the champion and the
    /// numbers of generation and game alone.
    fn label_generation(&self) -> Result<LabelGeneration, EvolveError> {
        let selfplay = &self.settings.selfplay;
        let generation = self.state.generation;
        let weights = Arc::new(self.champion()?);
        let scale = network_scale(&weights);
        let (maker, scale) = match mentor(&self.settings)? {
            Some(mentor) => {
                let maker = LabelMaker::Probes {
                    mentor,
                    weights,
                    games: None,
                };
                (maker, None)
            }
            None => (LabelMaker::Own(weights), scale),
        };
        Ok(LabelGeneration {
            part: None,
            play: SelfPlay {
                seed: mix(self.settings.start.seed, generation),
                depth: 0,
                nodes: Some(self.settings.nodes(generation)),
                opening: selfplay.opening,
                blunders: 0.0,
                share: selfplay.share,
                decided: selfplay.decided,
                away: PROBED_AWAY,
            },
            maker,
            threads: self.threads,
            positions: self.settings.positions(generation),
            scale,
            out: self.labels_path(generation),
            format: LabelFormat::Packed,
            force: false,
        })
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
        let folder = self.generation_folder();
        let challenger = Weights::load(&folder.join(CHALLENGER))?;
        let sprt = sprt(&self.settings.sprt);
        let gauntlet = Gauntlet {
            event: format!("Finch evolve, generation {}", self.state.generation),
            players: vec![
                PlayerConfig::in_process("challenger", Arc::new(challenger)),
                PlayerConfig::in_process("champion", Arc::new(self.champion()?)),
            ],
            games: self.settings.sprt.games,
            nodes: self.settings.sprt.nodes,
            seed: mix(self.settings.start.seed, self.state.generation),
            sprt: Some(sprt),
            threads: self.threads,
            file: folder.join("games.pgn"),
        };
        self.announce(gauntlet.count() as u64);
        let Some(played) = gauntlet.play(&mut |done| self.step(done))? else {
            return Ok(None);
        };
        let score = played.crosstable.total(0);
        let llr = sprt.llr(&score);
        let (elo, error) = bounded_elo(&score);
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
        let champion = PlayerConfig::in_process("champion", Arc::new(self.champion()?));
        let anchors = start::anchors(&self.settings)?;
        let names: Vec<String> = anchors.iter().map(|anchor| anchor.name.clone()).collect();
        let gauntlet = Gauntlet {
            event: format!(
                "Finch evolve, anchors after generation {}",
                self.state.generation
            ),
            players: [champion].into_iter().chain(anchors).collect(),
            games: self.settings.anchors.games,
            nodes: self.settings.anchors.nodes,
            // The same openings each time, so that only the champion differs.
            seed: self.settings.start.seed,
            sprt: None,
            threads: self.threads,
            file: self.generation_folder().join("anchors.pgn"),
        };
        self.announce(gauntlet.count() as u64);
        let Some(played) = gauntlet.play(&mut |done| self.step(done))? else {
            return Ok(None);
        };
        let results = names.into_iter().zip(played.crosstable.scores());
        let results = results.map(|(name, (_, score))| {
            let (elo, error) = bounded_elo(&score);
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
        self.observer.generation(&self.state);
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
        Ok(Weights::load(&self.champion_path())?)
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

/// The mentor that scores positions, if there is one.
fn mentor(settings: &EvolveSettings) -> Result<Option<MentorConfig>, EvolveError> {
    let command = &settings.selfplay.mentor;
    if command.is_empty() {
        return Ok(None);
    }
    let options = [
        ("Hash", "1".to_owned()),
        ("MultiPV", PROBED_MOVES.to_string()),
    ];
    let options = options.map(|(name, value)| (name.to_owned(), value));
    let limits = GameLimits::depth(PROBE_DEPTH);
    let mentor = MentorConfig::parse(command, &options, limits, MENTOR_TIMEOUT);
    mentor.map(Some).map_err(EvolveError::Mentor)
}

/// Centipawns that multiply the odds of winning by e, for scores of this network: what it learns
/// from its own scores is then what it says already.
fn network_scale(weights: &Weights) -> Option<f64> {
    let network = weights.network.as_ref()?;
    Some(f64::from(network.header.scale) * 100.0 / network.header.win_model.midpoint)
}

fn sprt(settings: &ChallengeSettings) -> Sprt {
    Sprt {
        elo0: settings.elo0,
        elo1: settings.elo1,
        alpha: settings.alpha,
        beta: settings.beta,
        model: EloModel::default(),
    }
}
