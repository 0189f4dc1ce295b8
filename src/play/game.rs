//! One game: two players, an opening, and the rules that end it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use shakmaty::{ByColor, Color, Move};

use super::adjudication::{Adjudication, Adjudicator};
use super::limits::{GameClocks, GameLimits};
use super::openings::Opening;
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::position::{Game, Position, movegen};
use crate::tablebase::{Tablebases, Wdl};

/// A game's result as one of the players sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerResult {
    Loss,
    Draw,
    Win,
}

impl PlayerResult {
    pub fn half_points(self) -> u32 {
        match self {
            PlayerResult::Loss => 0,
            PlayerResult::Draw => 1,
            PlayerResult::Win => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    WhiteWins,
    Draw,
    BlackWins,
}

impl GameResult {
    pub fn win_of(color: Color) -> GameResult {
        color.fold_wb(GameResult::WhiteWins, GameResult::BlackWins)
    }

    pub fn winner(self) -> Option<Color> {
        match self {
            GameResult::WhiteWins => Some(Color::White),
            GameResult::Draw => None,
            GameResult::BlackWins => Some(Color::Black),
        }
    }

    pub fn result_for(self, color: Color) -> PlayerResult {
        match self.winner() {
            None => PlayerResult::Draw,
            Some(winner) if winner == color => PlayerResult::Win,
            Some(_) => PlayerResult::Loss,
        }
    }

    /// Reads the PGN form; `*` is no result.
    pub fn from_pgn(text: &str) -> Option<GameResult> {
        match text {
            "1-0" => Some(GameResult::WhiteWins),
            "0-1" => Some(GameResult::BlackWins),
            "1/2-1/2" => Some(GameResult::Draw),
            _ => None,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameResult::WhiteWins => "1-0",
            GameResult::Draw => "1/2-1/2",
            GameResult::BlackWins => "0-1",
        })
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// By the winner.
    Checkmate(Color),
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
    /// Both sides have long seen nothing.
    DrawAdjudication,
    /// By the winner: the other side has long been lost.
    WinAdjudication(Color),
    MaxMoves,
    /// Known from a table.
    Tablebase(GameResult),
    /// By the one who could not go on.
    Fault(Color, FaultKind),
}

impl GameEnd {
    pub fn result(self) -> GameResult {
        match self {
            GameEnd::Checkmate(winner) | GameEnd::WinAdjudication(winner) => {
                GameResult::win_of(winner)
            }
            GameEnd::Fault(offender, _) => GameResult::win_of(!offender),
            GameEnd::Tablebase(result) => result,
            _ => GameResult::Draw,
        }
    }

    /// The PGN tag, in the words match runners use.
    pub fn termination(self) -> &'static str {
        match self {
            GameEnd::DrawAdjudication
            | GameEnd::WinAdjudication(_)
            | GameEnd::MaxMoves
            | GameEnd::Tablebase(_) => "adjudication",
            GameEnd::Fault(_, kind) => kind.termination(),
            _ => "normal",
        }
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |color: Color| color.fold_wb("White", "Black");
        match *self {
            GameEnd::Checkmate(winner) => write!(f, "{} mates", name(winner)),
            GameEnd::Stalemate => f.write_str("Draw by stalemate"),
            GameEnd::Repetition => f.write_str("Draw by 3-fold repetition"),
            GameEnd::FiftyMoves => f.write_str("Draw by fifty moves rule"),
            GameEnd::InsufficientMaterial => f.write_str("Draw by insufficient mating material"),
            GameEnd::DrawAdjudication | GameEnd::MaxMoves => f.write_str("Draw by adjudication"),
            GameEnd::WinAdjudication(winner) => write!(f, "{} wins by adjudication", name(winner)),
            GameEnd::Tablebase(result) => match result.winner() {
                Some(winner) => write!(f, "{} wins by adjudication: SyzygyTB", name(winner)),
                None => f.write_str("Draw by adjudication: SyzygyTB"),
            },
            GameEnd::Fault(offender, kind) => write!(f, "{}{kind}", name(offender)),
        }
    }
}

/// What holds for a game apart from who plays it.
#[derive(Clone, Debug)]
pub struct Rules {
    pub limits: ByColor<GameLimits>,
    /// Time tolerated beyond a limit.
    pub margin: Duration,
    pub adjudication: Adjudication,
    /// Tables of endings, if there are any.
    pub tablebases: Option<Arc<Tablebases>>,
}

impl Rules {
    /// The same limits for both sides, nothing adjudicated.
    pub fn of(limits: GameLimits) -> Rules {
        Rules {
            limits: ByColor::new_with(|_| limits),
            margin: Duration::ZERO,
            adjudication: Adjudication::default(),
            tablebases: None,
        }
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct GameRecord {
    pub opening: Opening,
    /// The moves after the opening, each with what its player thought.
    pub moves: Vec<MoveRecord>,
    pub ending: GameEnd,
    /// What the one at fault had to say for itself.
    pub fault: Option<Fault>,
    pub duration: Duration,
}

impl GameRecord {
    pub fn result(&self) -> GameResult {
        self.ending.result()
    }

    pub fn plies(&self) -> usize {
        self.opening.moves.len() + self.moves.len()
    }
}

/// Plays a game to its end. Nobody can stop it, so there always is a record.
pub fn play_game(
    white: &mut dyn Player,
    black: &mut dyn Player,
    opening: &Opening,
    rules: &Rules,
) -> GameRecord {
    let never = AtomicBool::new(false);
    play_unless(white, black, opening, rules, &never).unwrap_or_else(|| GameRecord {
        opening: opening.clone(),
        moves: Vec::new(),
        ending: GameEnd::MaxMoves,
        fault: None,
        duration: Duration::ZERO,
    })
}

/// The same, but gives up without a result as soon as `stop` is set.
pub fn play_unless(
    white: &mut dyn Player,
    black: &mut dyn Player,
    opening: &Opening,
    rules: &Rules,
    stop: &AtomicBool,
) -> Option<GameRecord> {
    let started = Instant::now();
    let mut table = Board::new(opening, rules);
    let finished = |table: Board, ending: GameEnd, fault: Option<Fault>| {
        Some(GameRecord {
            opening: opening.clone(),
            moves: table.thoughts,
            ending,
            fault,
            duration: started.elapsed(),
        })
    };
    let white_ready = white
        .new_game(&opening.start)
        .map_err(|fault| (Color::White, fault));
    let ready = white_ready.and_then(|()| {
        let black_ready = black.new_game(&opening.start);
        black_ready.map_err(|fault| (Color::Black, fault))
    });
    if let Err((color, fault)) = ready {
        return finished(table, GameEnd::Fault(color, fault.kind), Some(fault));
    }
    loop {
        if let Some(ending) = table.ending() {
            return finished(table, ending, None);
        }
        if stop.load(Relaxed) {
            return None;
        }
        let mover = table.game.position().turn();
        let turn = match mover {
            Color::White => table.turn(white),
            Color::Black => table.turn(black),
        };
        if let Err(fault) = turn {
            return finished(table, GameEnd::Fault(mover, fault.kind), Some(fault));
        }
    }
}

/// The state of a game under way.
struct Board {
    game: Game,
    start: Position,
    /// All moves, the opening's too.
    moves: Vec<Move>,
    thoughts: Vec<MoveRecord>,
    clocks: GameClocks,
    adjudicator: Adjudicator,
    tablebases: Option<Arc<Tablebases>>,
}

impl Board {
    fn new(opening: &Opening, rules: &Rules) -> Board {
        let mut game = Game::new(opening.start.clone());
        for m in &opening.moves {
            game.play(*m);
        }
        Board {
            game,
            start: opening.start.clone(),
            moves: opening.moves.clone(),
            thoughts: Vec::new(),
            clocks: GameClocks::new(rules.limits, rules.margin),
            adjudicator: Adjudicator::new(rules.adjudication),
            tablebases: rules.tablebases.clone(),
        }
    }

    /// One player's move, or what was wrong with it.
    fn turn(&mut self, player: &mut dyn Player) -> Result<(), Fault> {
        let mover = self.game.position().turn();
        let situation = GameView {
            game: &self.game,
            start: &self.start,
            moves: &self.moves,
        };
        let thought = player.think(&situation, &self.clocks.budget(mover))?;
        if !self.clocks.punch(mover, thought.elapsed) {
            let detail = format!("thought for {:.3} s", thought.elapsed.as_secs_f64());
            return Err(Fault::new(FaultKind::Time, detail));
        }
        if !movegen::legal_moves(self.game.position()).contains(&thought.m) {
            let text = self.game.position().uci(thought.m).to_string();
            return Err(Fault::new(FaultKind::IllegalMove, text));
        }
        self.game.play(thought.m);
        self.moves.push(thought.m);
        self.adjudicator
            .hear(mover, thought.score, self.game.position().halfmoves());
        self.thoughts.push(thought);
        Ok(())
    }

    /// Whether the rules or the adjudicator end the game here. Mate comes first: it is mate even on
    /// the hundredth quiet ply.
    fn ending(&self) -> Option<GameEnd> {
        let position = self.game.position();
        if movegen::legal_moves(position).is_empty() {
            return Some(if position.in_check() {
                GameEnd::Checkmate(!position.turn())
            } else {
                GameEnd::Stalemate
            });
        }
        if position.is_insufficient_material() {
            return Some(GameEnd::InsufficientMaterial);
        }
        if self.game.repetitions() >= 2 {
            return Some(GameEnd::Repetition);
        }
        if position.halfmoves() >= 100 {
            return Some(GameEnd::FiftyMoves);
        }
        self.tablebase_result()
            .map(GameEnd::Tablebase)
            .or_else(|| self.adjudicator.ending(self.moves.len()))
    }

    fn tablebase_result(&self) -> Option<GameResult> {
        let position = self.game.position();
        let wdl = self.tablebases.as_ref()?.probe_wdl(position)?;
        Some(match wdl {
            Wdl::Win => GameResult::win_of(position.turn()),
            Wdl::Loss => GameResult::win_of(!position.turn()),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => GameResult::Draw,
        })
    }
}
