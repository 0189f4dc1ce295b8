//! Games for tests: random but legal, so that nothing outside the repository is needed.

use std::fmt::Write as _;

use finch::random::{Purpose, stream};
use rand::RngExt;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position};

/// Games in PGN, alternately drawn, won and lost, of players rated 2500 and up.
pub fn random_games(count: usize, plies: usize, seed: u64) -> String {
    let mut text = String::new();
    for number in 0..count {
        let mut random = stream(seed, Purpose::Initialisation, 0, number as u64);
        let result = ["1/2-1/2", "1-0", "0-1"][number % 3];
        let _ = write!(
            text,
            "[Event \"Test\"]\n[Date \"{}.05.17\"]\n[White \"White {number}\"]\n[Black \"Black {}\"]\n[Result \"{result}\"]\n[WhiteElo \"{}\"]\n[BlackElo \"2700\"]\n\n",
            1990 + number,
            number % 2,
            2500 + 10 * number
        );
        let mut position = Chess::default();
        for ply in 0..plies {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            if ply % 2 == 0 {
                let _ = write!(text, "{}. ", ply / 2 + 1);
            }
            let chosen = moves[random.random_range(0..moves.len())];
            let san = SanPlus::from_move_and_play_unchecked(&mut position, chosen);
            let _ = write!(text, "{san} ");
        }
        let _ = write!(text, "{result}\n\n");
    }
    text
}
