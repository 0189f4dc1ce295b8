//! Test suites in EPD. `bm` names the moves that solve a position, `am` the moves to avoid.
//! Suites in the style of STS give points: `c0 "f5=10, Be5+=2"`, or moves in `c9` (or `c7`) with
//! their points in `c8`.

use std::path::Path;

use shakmaty::Move;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;

use crate::data::{DataError, Source, epd};
use crate::position::Position;

/// A position of a suite and the moves it asks for.
#[derive(Clone, Debug)]
pub struct SuitePosition {
    /// From `id`, or the line's number.
    pub id: String,
    pub position: Position,
    pub best: Vec<Move>,
    pub avoid: Vec<Move>,
    /// Points by move, the highest first; empty unless the suite has points.
    pub points: Vec<(Move, u32)>,
}

impl SuitePosition {
    fn parse(line: &str, number: usize) -> Result<SuitePosition, String> {
        let position = Position::from_fen(&epd::fields(line)).map_err(|error| error.to_string())?;
        let moves = |code| {
            epd::operand(line, code).map_or(Ok(Vec::new()), |text| moves_of(&position, text))
        };
        let (best, avoid) = (moves("bm")?, moves("am")?);
        let mut points = match epd::operand(line, "c0").map(unquoted) {
            Some(text) if text.contains('=') => named_points(&position, text)?,
            _ => listed_points(&position, line)?,
        };
        points.sort_by_key(|(_, points)| std::cmp::Reverse(*points));
        if best.is_empty() && avoid.is_empty() && points.is_empty() {
            return Err("no best move (bm), move to avoid (am) or points (c0, c8)".to_owned());
        }
        let id = epd::operand(line, "id").map(unquoted);
        Ok(SuitePosition {
            id: id.map_or_else(|| format!("line {number}"), str::to_owned),
            position,
            best,
            avoid,
            points,
        })
    }

    /// Whether the move solves the position. In a suite of points the move with most points does.
    pub fn is_solved_by(&self, m: Move) -> bool {
        if self.best.is_empty() && self.avoid.is_empty() {
            return self.points_for(m) == self.most_points();
        }
        (self.best.is_empty() || self.best.contains(&m)) && !self.avoid.contains(&m)
    }

    pub fn points_for(&self, m: Move) -> u32 {
        let found = self.points.iter().find(|(named, _)| *named == m);
        found.map_or(0, |(_, points)| *points)
    }

    pub fn most_points(&self) -> u32 {
        self.points.first().map_or(0, |(_, points)| *points)
    }

    /// What the suite asks for, in words: `Qg6`, `not Rxb2`.
    pub fn wanted(&self) -> String {
        let list = |moves: &[Move]| {
            let san = moves.iter().map(|m| self.san(*m));
            san.collect::<Vec<_>>().join(" or ")
        };
        match (&self.best[..], &self.avoid[..]) {
            ([], []) => list(
                &self
                    .points
                    .iter()
                    .take(1)
                    .map(|(m, _)| *m)
                    .collect::<Vec<_>>(),
            ),
            ([], avoid) => format!("not {}", list(avoid)),
            (best, _) => list(best),
        }
    }

    /// A move of this position in SAN.
    pub fn san(&self, m: Move) -> String {
        SanPlus::from_move(self.position.chess().clone(), m).to_string()
    }
}

/// The positions of some files.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub positions: Vec<SuitePosition>,
    /// Lines that could not be used, with the reason.
    pub skipped: Vec<String>,
}

impl Suite {
    /// Reads files of positions, compressed or not.
    pub fn read(files: &[impl AsRef<Path>]) -> Result<Suite, DataError> {
        let mut suite = Suite::default();
        for file in files {
            let source = Source::file(file.as_ref());
            for line in source.lines()? {
                let (number, text) = line?;
                if text.is_empty() || text.starts_with('#') {
                    continue;
                }
                match SuitePosition::parse(&text, number) {
                    Ok(position) => suite.positions.push(position),
                    Err(reason) => {
                        let place = format!("{}:{number}: {reason}", source.name());
                        suite.skipped.push(place);
                    }
                }
            }
        }
        Ok(suite)
    }

    pub fn has_points(&self) -> bool {
        self.positions.iter().any(|one| one.most_points() > 0)
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches('"').trim()
}

/// A move in SAN or in UCI notation.
fn read_move(position: &Position, text: &str) -> Result<Move, String> {
    let plain = text.trim_end_matches(['!', '?']);
    let san = SanPlus::from_ascii(plain.as_bytes()).ok();
    let from_san = san.and_then(|plus| plus.san.to_move(position.chess()).ok());
    let from_uci = || {
        let uci = UciMove::from_ascii(plain.as_bytes()).ok()?;
        uci.to_move(position.chess()).ok()
    };
    from_san
        .or_else(from_uci)
        .ok_or_else(|| format!("'{text}' is no legal move"))
}

fn moves_of(position: &Position, text: &str) -> Result<Vec<Move>, String> {
    let words = unquoted(text)
        .split([' ', ','])
        .filter(|word| !word.is_empty());
    words.map(|word| read_move(position, word)).collect()
}

/// `f5=10, Be5+=2`. A promotion is written with the same sign, `e8=Q=10`: the last one counts.
fn named_points(position: &Position, text: &str) -> Result<Vec<(Move, u32)>, String> {
    let entry = |text: &str| {
        let (name, points) = text
            .trim()
            .rsplit_once('=')
            .ok_or("points without a move")?;
        let points = points
            .trim()
            .parse()
            .map_err(|_| format!("'{text}' is no move=points"))?;
        Ok((read_move(position, name.trim())?, points))
    };
    text.split(',').map(entry).collect()
}

/// Points in `c8` for the moves of `c9`, or of `c7`.
fn listed_points(position: &Position, line: &str) -> Result<Vec<(Move, u32)>, String> {
    let Some(points) = epd::operand(line, "c8").map(unquoted) else {
        return Ok(Vec::new());
    };
    let points: Option<Vec<u32>> = points
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let names = ["c9", "c7"]
        .iter()
        .find_map(|code| epd::operand(line, code));
    // `c8` may be a comment of another kind.
    let (Some(points), Some(names)) = (points, names) else {
        return Ok(Vec::new());
    };
    let moves = moves_of(position, names)?;
    if moves.len() != points.len() {
        return Err(format!(
            "{} moves with {} points (c8)",
            moves.len(),
            points.len()
        ));
    }
    Ok(moves.into_iter().zip(points).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<SuitePosition, String> {
        SuitePosition::parse(line, 7)
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    #[test]
    fn best_moves_and_moves_to_avoid() {
        let both = parse(&format!("{START} bm e4, d4; am f3; id \"open\";")).unwrap();
        assert_eq!((both.best.len(), both.avoid.len()), (2, 1));
        assert_eq!(
            (both.id.as_str(), both.wanted().as_str()),
            ("open", "e4 or d4")
        );
        let m = |name| read_move(&both.position, name).unwrap();
        assert!(both.is_solved_by(m("e4")));
        assert!(!both.is_solved_by(m("c4")));
        let avoid = parse(&format!("{START} am f3 g4;")).unwrap();
        assert_eq!(
            (avoid.id.as_str(), avoid.wanted().as_str()),
            ("line 7", "not f3 or g4")
        );
        assert!(avoid.is_solved_by(m("e4")));
        assert!(!avoid.is_solved_by(m("f2f3")));
    }

    #[test]
    fn points_in_both_styles() {
        let named = parse(&format!("{START} bm e4; c0 \"e4=10, Nf3=6, d4=8\";")).unwrap();
        let listed = parse(&format!(
            "{START} c7 \"e4 Nf3 d4\"; c8 \"10 6 8\"; c9 \"e2e4 g1f3 d2d4\";"
        ));
        let listed = listed.unwrap();
        assert_eq!(named.points, listed.points);
        let d4 = read_move(&named.position, "d4").unwrap();
        assert_eq!((named.points_for(d4), named.most_points()), (8, 10));
        assert!(!listed.is_solved_by(d4));
        let promotion = parse("8/4P2k/8/8/8/8/8/K7 w - - c0 \"e8=Q=10, e8=R=7\";").unwrap();
        assert_eq!(promotion.most_points(), 10);
    }

    #[test]
    fn lines_that_ask_for_nothing_are_named() {
        for (line, reason) in [
            (format!("{START} id \"x\";"), "no best move"),
            (format!("{START} bm Qh9;"), "'Qh9' is no legal move"),
            (
                format!("{START} c8 \"10 5\"; c9 \"e4\";"),
                "1 moves with 2 points",
            ),
            ("8/8/8 w - - bm e4;".to_owned(), ""),
        ] {
            let error = parse(&line).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
