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

/// The result of a game from one player's point of view.
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
    /// The winner.
    Checkmate(Color),
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
    /// Both sides scored near zero for long enough.
    DrawAdjudication,
    /// The winner; the other side scored itself lost for long enough.
    WinAdjudication(Color),
    MaxMoves,
    Tablebase(GameResult),
    /// The player at fault, who loses.
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

    /// The PGN tag `Termination`, as other match runners write it.
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

/// The conditions of every game of a match.
#[derive(Clone, Debug, Default)]
pub struct GameRules {
    /// The limits of players that have none of their own.
    pub limits: GameLimits,
    /// Time tolerated beyond a limit.
    pub margin: Duration,
    pub adjudication: Adjudication,
    pub tablebases: Option<Arc<Tablebases>>,
}

impl From<GameLimits> for GameRules {
    /// These limits, nothing adjudicated.
    fn from(limits: GameLimits) -> GameRules {
        GameRules {
            limits,
            ..GameRules::default()
        }
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct GameRecord {
    pub opening: Opening,
    /// The moves after the opening.
    pub moves: Vec<MoveRecord>,
    pub end: GameEnd,
    /// Details of the fault that ended the game, if one did.
    pub fault: Option<Fault>,
    pub duration: Duration,
}

impl GameRecord {
    pub fn result(&self) -> GameResult {
        self.end.result()
    }

    pub fn plies(&self) -> usize {
        self.opening.moves.len() + self.moves.len()
    }

    /// All moves; those of the opening without a record.
    pub fn played_moves(&self) -> impl Iterator<Item = (Move, Option<&MoveRecord>)> {
        let opening = self.opening.moves.iter().map(|m| (*m, None));
        opening.chain(self.moves.iter().map(|played| (played.m, Some(played))))
    }
}

/// Plays a game to its end. `None` if `stop` is set before that.
pub fn play_game(
    players: ByColor<&mut dyn Player>,
    limits: ByColor<GameLimits>,
    opening: &Opening,
    rules: &GameRules,
    stop: &AtomicBool,
) -> Option<GameRecord> {
    let started = Instant::now();
    let mut board = Board::new(opening, limits, rules);
    let (end, fault) = board.play(players, stop)?;
    Some(GameRecord {
        opening: opening.clone(),
        moves: board.records,
        end,
        fault,
        duration: started.elapsed(),
    })
}

/// The state of a game in progress.
struct Board {
    game: Game,
    start: Position,
    /// All moves, including those of the opening.
    moves: Vec<Move>,
    records: Vec<MoveRecord>,
    clocks: GameClocks,
    adjudicator: Adjudicator,
    tablebases: Option<Arc<Tablebases>>,
}

impl Board {
    fn new(opening: &Opening, limits: ByColor<GameLimits>, rules: &GameRules) -> Board {
        let mut game = Game::new(opening.start.clone());
        for m in &opening.moves {
            game.play(*m);
        }
        Board {
            game,
            start: opening.start.clone(),
            moves: opening.moves.clone(),
            records: Vec::new(),
            clocks: GameClocks::new(limits, rules.margin),
            adjudicator: Adjudicator::new(rules.adjudication),
            tablebases: rules.tablebases.clone(),
        }
    }

    fn play(
        &mut self,
        mut players: ByColor<&mut dyn Player>,
        stop: &AtomicBool,
    ) -> Option<(GameEnd, Option<Fault>)> {
        let failed = |color, fault: Fault| Some((GameEnd::Fault(color, fault.kind), Some(fault)));
        for color in Color::ALL {
            if let Err(fault) = players.get_mut(color).new_game(&self.start) {
                return failed(color, fault);
            }
        }
        loop {
            if let Some(end) = self.end() {
                return Some((end, None));
            }
            if stop.load(Relaxed) {
                return None;
            }
            let mover = self.game.position().turn();
            if let Err(fault) = self.next_move(*players.get_mut(mover)) {
                return failed(mover, fault);
            }
        }
    }

    /// Asks the player for a move, checks its time and legality, and plays it.
    fn next_move(&mut self, player: &mut dyn Player) -> Result<(), Fault> {
        let mover = self.game.position().turn();
        let view = GameView {
            game: &self.game,
            start: &self.start,
            moves: &self.moves,
        };
        let record = player.think(&view, &self.clocks.move_limits(mover))?;
        if !self.clocks.press(mover, record.elapsed) {
            let detail = format!("thought for {:.3} s", record.elapsed.as_secs_f64());
            return Err(Fault::new(FaultKind::Time, detail));
        }
        if !movegen::legal_moves(self.game.position()).contains(&record.m) {
            let text = self.game.position().uci(record.m).to_string();
            return Err(Fault::new(FaultKind::IllegalMove, text));
        }
        self.game.play(record.m);
        self.moves.push(record.m);
        self.adjudicator
            .record(mover, record.score, self.game.position().halfmoves());
        self.records.push(record);
        Ok(())
    }

    /// Whether the rules, the tablebases or the adjudicator end the game here. Checkmate comes
    /// first: it takes precedence over the fifty-move rule.
    fn end(&self) -> Option<GameEnd> {
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
            .or_else(|| self.adjudicator.end(self.moves.len()))
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
