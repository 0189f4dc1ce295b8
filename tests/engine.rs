//! One engine behind every way to play: equal settings and requests give equal moves and nodes.

use std::sync::Arc;

use finch::bench;
use finch::data::selfplay_engine;
use finch::eval::Weights;
use finch::play::GameLimits;
use finch::play::limits::GameClocks;
use finch::play::player::GameView;
use finch::play::player_config::PlayerConfig;
use finch::position::Game;
use finch::search::{Engine, EngineSettings, Limits, SearchRequest};
use shakmaty::{ByColor, Color};

use crate::common::{self, field};

const LINES: [&str; 3] = ["", "e2e4 e7e5 g1f3", "d2d4 g8f6 c2c4 e7e6 b1c3 f8b4"];
const DEPTH: u32 = 9;

fn game_of(line: &str) -> Game {
    let mut game = Game::default();
    for text in line.split_whitespace() {
        game.play_uci(text).unwrap();
    }
    game
}

/// Move and nodes of each line, as a UCI session gives them.
fn uci_answers(options: &[&str]) -> Vec<(String, u64)> {
    let mut engine = common::Engine::start();
    for option in options {
        engine.send(&format!("setoption name {option}"));
    }
    let answer = |line: &&str| {
        engine.send("ucinewgame");
        engine.send(&format!("position startpos moves {line}"));
        let (info, best) = engine.go(&format!("depth {DEPTH}"));
        let nodes = field(info.last().unwrap(), "nodes").unwrap();
        (best, nodes.parse().unwrap())
    };
    LINES.iter().map(answer).collect()
}

fn engine_answers(mut engine: Engine) -> Vec<(String, u64)> {
    let answer = |line: &&str| {
        engine.new_game();
        let game = game_of(line);
        let position = game.position().clone();
        let result = engine.search(SearchRequest::new(game, Limits::depth(DEPTH)));
        (
            position.uci(result.best_move.unwrap()).to_string(),
            result.nodes,
        )
    };
    LINES.iter().map(answer).collect()
}

#[test]
fn a_match_player_searches_as_a_uci_session_does_by_default() {
    let player = PlayerConfig::in_process("finch", Arc::new(Weights::default()));
    let limits = GameLimits::depth(DEPTH);
    let mut player = player.create(&limits);
    let mut answers = Vec::new();
    for line in LINES {
        let game = game_of(line);
        let start = Game::default();
        player.new_game(start.position()).unwrap();
        let view = GameView {
            start: start.position(),
            game: &game,
            moves: &[],
        };
        let clocks = GameClocks::new(ByColor::new_with(|_| limits), std::time::Duration::ZERO);
        let record = player.think(&view, &clocks.move_limits(Color::White));
        let record = record.unwrap();
        answers.push((game.position().uci(record.m).to_string(), record.nodes));
    }
    assert_eq!(answers, uci_answers(&[]));
    assert_eq!(
        answers,
        engine_answers(Engine::new(EngineSettings::default()).unwrap())
    );
}

#[test]
fn self_play_searches_as_a_uci_session_with_its_settings_does() {
    let engine = selfplay_engine(&Arc::new(Weights::default())).unwrap();
    let settings = ["Hash value 1", "Contempt value 0", "Move Overhead value 0"];
    assert_eq!(engine_answers(engine), uci_answers(&settings));
}

#[test]
fn the_benchmark_searches_as_a_uci_session_with_its_settings_does() {
    let mut engine = common::Engine::start();
    engine.send("setoption name Contempt value 0");
    let mut nodes = 0;
    for position in bench::positions() {
        engine.send(&format!("position fen {}", position.fen()));
        let (info, _) = engine.go("depth 6");
        let searched: u64 = field(info.last().unwrap(), "nodes")
            .unwrap()
            .parse()
            .unwrap();
        nodes += searched;
    }
    let weights = Arc::new(Weights::default());
    let benchmark = bench::run_to_depth(6, &weights, &Arc::default()).unwrap();
    assert_eq!(benchmark.nodes, nodes);
}
