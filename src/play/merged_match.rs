//! The games of two players from several PGN files, such as those that several machines played.
//!
//! Two games of a file are a pair, and count in the pentanomial, if they have the same round, the
//! same start and reversed colours. That holds for files of `finch match` and of fastchess; games
//! of others count one by one. A game of a match of Finch's own is known by its tags: one that is
//! in the files twice counts once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use shakmaty::Color;
use thiserror::Error;

use super::game::{GameResult, PlayerResult};
use super::games_file::{GAME_TAG, MATCH_TAG};
use super::match_score::MatchScore;
use super::pgn::{GameTags, PgnError, read_tags};
use super::sprt::Sprt;
use super::summary;

#[derive(Debug, Error)]
pub enum MergeError {
    #[error(transparent)]
    Pgn(#[from] PgnError),
    #[error("no finished game in {}", .0.display())]
    NoGames(PathBuf),
    #[error("{}: a game of {white} and {black}, but the games before are of {} and {}; `finch rate` takes any players", .file.display(), .players[0], .players[1])]
    OtherPlayers {
        file: PathBuf,
        white: String,
        black: String,
        players: Box<[String; 2]>,
    },
}

#[derive(Debug)]
pub struct MergedMatch {
    /// White of the first game comes first.
    pub players: [String; 2],
    /// The first player's.
    pub score: MatchScore,
    time_controls: BTreeSet<String>,
    files: usize,
    /// Games that were found once more.
    repeated: usize,
    /// Games without players or result.
    unfinished: usize,
}

/// Where the two games of a pair agree: round and start position.
type PairKey = (Option<String>, Option<String>);

impl MergedMatch {
    pub fn read(files: &[PathBuf]) -> Result<MergedMatch, MergeError> {
        let mut merged = MergedMatch {
            players: Default::default(),
            score: MatchScore::default(),
            time_controls: BTreeSet::new(),
            files: files.len(),
            repeated: 0,
            unfinished: 0,
        };
        let mut seen = HashSet::new();
        for file in files {
            let games = File::open(file).and_then(read_tags);
            let games = games.map_err(|error| PgnError {
                file: file.clone(),
                error,
            })?;
            merged.add_file(file, &games, &mut seen)?;
        }
        match (merged.score.games(), files) {
            (0, [first, ..]) => Err(MergeError::NoGames(first.clone())),
            _ => Ok(merged),
        }
    }

    fn add_file(
        &mut self,
        file: &Path,
        games: &[GameTags],
        seen: &mut HashSet<(String, String)>,
    ) -> Result<(), MergeError> {
        // Games that wait for the other one of their pair: colour of the first player, and result.
        let mut single: HashMap<PairKey, Vec<(Color, PlayerResult)>> = HashMap::new();
        for game in games {
            let tag = |name: &str| game.get(name).map(str::to_owned);
            let (Some(white), Some(black), Some(result)) =
                (tag("White"), tag("Black"), game.result())
            else {
                self.unfinished += 1;
                continue;
            };
            if let (Some(id), Some(number)) = (tag(MATCH_TAG), tag(GAME_TAG))
                && !seen.insert((id, number))
            {
                self.repeated += 1;
                continue;
            }
            let color = self.color_of_first(file, white, black)?;
            self.time_controls.extend(tag("TimeControl"));
            let own = self.add_game(result, color);
            let partners = single.entry((tag("Round"), tag("FEN"))).or_default();
            match partners.iter().position(|(other, _)| *other != color) {
                Some(at) => {
                    let (_, other) = partners.swap_remove(at);
                    self.score.add_pair(other, own);
                }
                None => partners.push((color, own)),
            }
        }
        Ok(())
    }

    fn add_game(&mut self, result: GameResult, color: Color) -> PlayerResult {
        let own = result.result_for(color);
        self.score.add_game(own);
        own
    }

    /// Which colour the first player has; the first game says who that is.
    fn color_of_first(
        &mut self,
        file: &Path,
        white: String,
        black: String,
    ) -> Result<Color, MergeError> {
        if self.score.games() == 0 {
            self.players = [white, black];
            return Ok(Color::White);
        }
        let [first, second] = &self.players;
        match (
            white == *first && black == *second,
            white == *second && black == *first,
        ) {
            (true, _) => Ok(Color::White),
            (_, true) => Ok(Color::Black),
            _ => Err(MergeError::OtherPlayers {
                file: file.to_owned(),
                white,
                black,
                players: Box::new(self.players.clone()),
            }),
        }
    }

    /// The block of a match, and what did not count.
    pub fn report(&self, sprt: Option<&Sprt>) -> String {
        let time_control = match self.time_controls.len() {
            0 => String::new(),
            1 => self
                .time_controls
                .iter()
                .map(|tag| format!("{tag}, "))
                .collect(),
            _ => "several time controls, ".to_owned(),
        };
        let conditions = format!("{time_control}{} files", self.files);
        let [first, second] = &self.players;
        let mut text = summary::report([first, second], &conditions, &self.score, sprt);
        if self.repeated > 0 {
            text += &format!(
                "\n{} games were in the files already and count once: give each machine a --seed of \
                 its own",
                self.repeated
            );
        }
        if self.unfinished > 0 {
            text += &format!("\n{} games without a result were skipped", self.unfinished);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn game(white: &str, black: &str, round: usize, result: &str, more: &str) -> String {
        format!(
            "[Event \"x\"]\n[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"{result}\"]\n[TimeControl \"3+0.03\"]\n{more}\n1. e4 {result}\n\n"
        )
    }

    fn merge(files: &[String]) -> Result<MergedMatch, MergeError> {
        let folder = tempfile::tempdir().unwrap();
        let written = files.iter().enumerate().map(|(number, text)| {
            let path = folder.path().join(format!("{number}.pgn"));
            fs::write(&path, text).unwrap();
            path
        });
        MergedMatch::read(&written.collect::<Vec<_>>())
    }

    #[test]
    fn pairs_are_found_in_each_file_and_added_up() {
        let one = game("a", "b", 1, "1-0", "")
            + &game("b", "a", 1, "1/2-1/2", "")
            + &game("a", "b", 2, "0-1", "");
        let two = game("b", "a", 1, "0-1", "") + &game("a", "b", 1, "1-0", "");
        let merged = merge(&[one.clone(), two]).unwrap();
        assert_eq!(merged.players, ["a", "b"]);
        let score = merged.score;
        assert_eq!((score.wins, score.draws, score.losses), (3, 1, 1));
        // Two wins; a win and a draw. The last game of the first file has no partner.
        assert_eq!(score.pairs, [0, 0, 0, 1, 1]);
        let report = merged.report(Some(&Sprt::default()));
        assert!(
            report.starts_with("Results of a vs b (3+0.03, 2 files):"),
            "{report}"
        );
        assert!(report.contains("LLR: "), "{report}");

        let other = game("a", "c", 1, "1-0", "");
        let error = merge(&[one, other]).unwrap_err().to_string();
        assert!(
            error.contains("1.pgn") && error.contains("of a and c"),
            "{error}"
        );
    }

    #[test]
    fn a_game_that_is_there_twice_counts_once() {
        let tags = |number: usize| format!("[Match \"2-00\"]\n[Game \"{number}\"]\n");
        let file = game("a", "b", 1, "1-0", &tags(0)) + &game("b", "a", 1, "0-1", &tags(1));
        let merged = merge(&[file.clone(), file + &game("a", "b", 2, "*", "")]).unwrap();
        assert_eq!(
            (merged.score.games(), merged.repeated, merged.unfinished),
            (2, 2, 1)
        );
        assert!(merged.report(None).contains("--seed"));
        assert!(merge(&[String::new()]).is_err());
    }
}
