//! Upcoming repetition: can the side to move, by one reversible move, return to a position that
//! was on the board before? The keys of all reversible piece moves stand in a cuckoo hash table,
//! so that the question is one look-up per earlier position (Marcel van Kervinck's method).

use std::sync::LazyLock;

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{Bitboard, Color, Role, Square, attacks};

use crate::position::Position;
use crate::position::movegen::piece_attacks;

const SIZE: usize = 8192;

struct Cuckoo {
    keys: [u64; SIZE],
    moves: [Option<(Square, Square)>; SIZE],
}

static CUCKOO: LazyLock<Box<Cuckoo>> = LazyLock::new(build);

/// Builds the table now rather than on the clock of the first move.
pub fn prepare() {
    LazyLock::force(&CUCKOO);
}

fn first_slot(key: u64) -> usize {
    key as usize % SIZE
}

fn second_slot(key: u64) -> usize {
    (key >> 16) as usize % SIZE
}

fn build() -> Box<Cuckoo> {
    let mut table = Box::new(Cuckoo {
        keys: [0; SIZE],
        moves: [None; SIZE],
    });
    for color in Color::ALL {
        for role in [
            Role::Knight,
            Role::Bishop,
            Role::Rook,
            Role::Queen,
            Role::King,
        ] {
            for from in Square::ALL {
                for to in piece_attacks(role, from, Bitboard::EMPTY) {
                    if from < to {
                        let piece = role.of(color);
                        let key = Zobrist64::zobrist_for_piece(from, piece).0
                            ^ Zobrist64::zobrist_for_piece(to, piece).0
                            ^ Zobrist64::zobrist_for_white_turn().0;
                        insert(&mut table, key, (from, to));
                    }
                }
            }
        }
    }
    table
}

/// Whoever is displaced moves to its other place, until one is free.
fn insert(table: &mut Cuckoo, mut key: u64, squares: (Square, Square)) {
    let mut squares = Some(squares);
    let mut slot = first_slot(key);
    loop {
        std::mem::swap(&mut table.keys[slot], &mut key);
        std::mem::swap(&mut table.moves[slot], &mut squares);
        if squares.is_none() {
            return;
        }
        slot = if slot == first_slot(key) {
            second_slot(key)
        } else {
            first_slot(key)
        };
    }
}

/// Whether one reversible move leads to one of the `earlier` positions (newest last, `position`
/// itself excluded). Only the last `reversible` of them can come back; a position from before
/// the root (`ply` or more plies ago) must have stood twice already, so it does not count here.
pub fn upcoming_repetition(
    position: &Position,
    earlier: &[u64],
    reversible: usize,
    ply: usize,
) -> bool {
    let limit = reversible.min(earlier.len()).min(ply.saturating_sub(1));
    let mut distance = 3;
    while distance <= limit {
        let difference = position.key() ^ earlier[earlier.len() - distance];
        if let Some((from, to)) = CUCKOO.find(difference)
            && (attacks::between(from, to) & position.board().occupied()).is_empty()
        {
            return true;
        }
        distance += 2;
    }
    false
}

impl Cuckoo {
    #[inline]
    fn find(&self, key: u64) -> Option<(Square, Square)> {
        [first_slot(key), second_slot(key)]
            .into_iter()
            .find(|slot| self.keys[*slot] == key)
            .and_then(|slot| self.moves[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Game;

    #[test]
    fn a_knight_that_can_return_announces_the_repetition() {
        let mut game = Game::default();
        for text in ["g1f3", "g8f6", "f3g1"] {
            game.play_uci(text).unwrap();
        }
        let keys = game.key_history();
        assert!(upcoming_repetition(game.position(), keys, keys.len(), 10));
        assert!(!upcoming_repetition(game.position(), keys, keys.len(), 2));
        game.play_uci("b8c6").unwrap();
        let keys = game.key_history();
        assert!(!upcoming_repetition(game.position(), keys, keys.len(), 10));
    }

    #[test]
    fn all_reversible_moves_have_a_place() {
        let placed = CUCKOO.moves.iter().flatten().count();
        assert_eq!(placed, 3668);
    }
}
