//! An engine that analyses positions and tells its line after each iteration: Finch in this
//! process, or another engine behind UCI.

use std::sync::Arc;

use parking_lot::Mutex;
use shakmaty::Move;
use thiserror::Error;

use crate::eval::{Weights, WinModel};
use crate::play::player_config::{PlayerConfig, PlayerConfigError, PlayerKind};
use crate::play::uci_engine::EngineLine;
use crate::play::{Fault, UciEngine};
use crate::position::{Game, Position};
use crate::search::score::ReportedScore;
use crate::search::{
    Bound, Engine, EngineError, EngineSettings, Limits, SearchInfo, SearchObserver, SearchRequest,
};

#[derive(Debug, Error)]
pub enum AnalyserError {
    #[error(transparent)]
    Config(#[from] PlayerConfigError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{engine}: {detail}")]
    Fault { engine: String, detail: String },
    #[error("{engine}: no legal move in {fen}")]
    NoMove { engine: String, fen: String },
}

pub struct Analyser {
    pub name: String,
    kind: AnalyserKind,
}

enum AnalyserKind {
    InProcess(Box<Engine>),
    Uci(Box<UciEngine>),
}

impl Analyser {
    /// Finch with these weights, without contempt.
    pub fn finch(
        name: &str,
        weights: Arc<Weights>,
        threads: usize,
        hash_mib: usize,
    ) -> Result<Analyser, AnalyserError> {
        let settings = EngineSettings {
            threads,
            ..EngineSettings::neutral(weights, hash_mib).map_err(EngineError::from)?
        };
        Ok(Analyser {
            name: name.to_owned(),
            kind: AnalyserKind::InProcess(Box::new(Engine::new(settings)?)),
        })
    }

    /// A player as `finch match` takes it. Threads and hash size are set unless its options say
    /// otherwise. An engine that does not start, or lacks an option, is an error.
    pub fn new(
        config: PlayerConfig,
        threads: usize,
        hash_mib: usize,
    ) -> Result<Analyser, AnalyserError> {
        let mut command = match config.kind {
            PlayerKind::InProcess { weights, .. } => {
                return Analyser::finch(&config.name, weights, threads, hash_mib);
            }
            PlayerKind::Uci(command) | PlayerKind::Pooled(command, _) => command,
        };
        for (name, value) in [("Threads", threads), ("Hash", hash_mib)] {
            let mut given = command.options.iter();
            if !given.any(|(option, _)| option.eq_ignore_ascii_case(name)) {
                command.options.push((name.to_owned(), value.to_string()));
            }
        }
        let mut engine = UciEngine::new(command);
        engine
            .check()
            .map_err(|fault| failed(&config.name, fault))?;
        Ok(Analyser {
            name: config.name,
            kind: AnalyserKind::Uci(Box::new(engine)),
        })
    }

    /// Analyses a position that belongs to no game and returns the best move. `observe` gets each
    /// line as it is found. Nothing is remembered from one position to the next.
    ///
    /// The calling thread needs [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: Limits,
        observe: &mut (dyn FnMut(EngineLine) + Send),
    ) -> Result<Move, AnalyserError> {
        let name = &self.name;
        match &mut self.kind {
            AnalyserKind::Uci(engine) => engine
                .analyse_position(position, limits, observe)
                .map_err(|fault| failed(name, fault)),
            AnalyserKind::InProcess(engine) => {
                engine.new_game();
                let observer = LineObserver {
                    win_model: engine.settings().weights.win_model(),
                    observe: Mutex::new(observe),
                };
                let request = SearchRequest::new(Game::new(position.clone()), limits);
                let result = engine.search_with(request, &observer);
                result.best_move.ok_or_else(|| AnalyserError::NoMove {
                    engine: name.clone(),
                    fen: position.fen(),
                })
            }
        }
    }
}

fn failed(engine: &str, fault: Fault) -> AnalyserError {
    AnalyserError::Fault {
        engine: engine.to_owned(),
        detail: fault.detail,
    }
}

/// Passes exact scores of the first line on.
struct LineObserver<'a> {
    win_model: WinModel,
    observe: Mutex<&'a mut (dyn FnMut(EngineLine) + Send)>,
}

impl SearchObserver for LineObserver<'_> {
    fn info(&self, info: &SearchInfo) {
        if info.multi_pv != 1 || info.bound != Bound::Exact {
            return;
        }
        (self.observe.lock())(EngineLine {
            depth: info.depth.max(0) as u32,
            score: ReportedScore::new(info.score, &self.win_model),
            nodes: info.nodes,
            elapsed: info.elapsed,
            pv: info.pv.clone(),
        });
    }
}
