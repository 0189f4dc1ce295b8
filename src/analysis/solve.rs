//! Which positions of a suite an engine solves, and after how much time and how many nodes.
//!
//! A position is solved if the move played at the end is right. It counts as solved from the first
//! line after which the engine did not change its mind.

use std::time::Duration;

use serde::Serialize;
use shakmaty::Move;

use super::analyser::{Analyser, AnalyserError};
use super::suite::{Suite, SuitePosition};
use crate::play::uci_engine::EngineLine;
use crate::search::Limits;

/// When an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FoundAt {
    pub seconds: f64,
    pub nodes: u64,
    pub depth: u32,
}

/// One engine at one position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    pub engine: String,
    pub id: String,
    pub fen: String,
    /// What the suite asks for, and the move played, in SAN.
    pub wanted: String,
    pub played: String,
    pub solved: bool,
    /// From when on the answer was right; none if it is wrong.
    pub found: Option<FoundAt>,
    pub points: u32,
    pub most_points: u32,
}

/// Lets an engine search a position.
pub fn attempt(
    analyser: &mut Analyser,
    asked: &SuitePosition,
    limits: Limits,
) -> Result<Attempt, AnalyserError> {
    let mut lines: Vec<EngineLine> = Vec::new();
    let played = analyser.analyse(&asked.position, limits, &mut |line| lines.push(line))?;
    let solved = asked.is_solved_by(played);
    Ok(Attempt {
        engine: analyser.name.clone(),
        id: asked.id.clone(),
        fen: asked.position.fen(),
        wanted: asked.wanted(),
        played: asked.san(played),
        solved,
        found: solved.then(|| found_at(&lines, |m| asked.is_solved_by(m))),
        points: asked.points_for(played),
        most_points: asked.most_points(),
    })
}

/// The first line from which on every line begins with a right move. An engine that changes its
/// mind after its last line has found the answer at the end.
fn found_at(lines: &[EngineLine], is_right: impl Fn(Move) -> bool) -> FoundAt {
    let right = |line: &&EngineLine| line.pv.first().is_some_and(|m| is_right(*m));
    let steady = lines.iter().rev().take_while(right).last();
    let at = steady.or(lines.last());
    at.map_or(
        FoundAt {
            seconds: 0.0,
            nodes: 0,
            depth: 0,
        },
        |line| FoundAt {
            seconds: line.elapsed.as_secs_f64(),
            nodes: line.nodes,
            depth: line.depth,
        },
    )
}

/// What a solving limit is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Time,
    Nodes,
    Depth,
}

/// All attempts of some engines at a suite.
#[derive(Clone, Debug, Default)]
pub struct SolveReport {
    pub attempts: Vec<Attempt>,
}

/// The score of one engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineScore {
    pub engine: String,
    pub solved: usize,
    pub positions: usize,
    pub points: u32,
    pub most_points: u32,
    /// The mean time to the answer, over the positions solved.
    pub mean_seconds: f64,
}

impl SolveReport {
    /// Each engine at each position in turn. `observe` sees every attempt.
    pub fn run(
        engines: &mut [Analyser],
        suite: &Suite,
        limits: Limits,
        mut observe: impl FnMut(&Attempt),
    ) -> Result<SolveReport, AnalyserError> {
        let mut report = SolveReport::default();
        for asked in &suite.positions {
            for engine in engines.iter_mut() {
                let attempt = attempt(engine, asked, limits)?;
                observe(&attempt);
                report.attempts.push(attempt);
            }
        }
        Ok(report)
    }

    fn of<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = &'a Attempt> {
        self.attempts.iter().filter(move |one| one.engine == engine)
    }

    pub fn score(&self, engine: &str) -> EngineScore {
        let times: Vec<f64> = self
            .of(engine)
            .filter_map(|one| one.found)
            .map(|at| at.seconds)
            .collect();
        EngineScore {
            engine: engine.to_owned(),
            solved: times.len(),
            positions: self.of(engine).count(),
            points: self.of(engine).map(|one| one.points).sum(),
            most_points: self.of(engine).map(|one| one.most_points).sum(),
            mean_seconds: times.iter().sum::<f64>() / times.len().max(1) as f64,
        }
    }

    /// How many positions an engine had solved by a time, a number of nodes or a depth.
    pub fn solved_within(&self, engine: &str, measure: Measure, limit: f64) -> usize {
        let value = |at: FoundAt| match measure {
            Measure::Time => at.seconds,
            Measure::Nodes => at.nodes as f64,
            Measure::Depth => f64::from(at.depth),
        };
        let found = self.of(engine).filter_map(|one| one.found);
        found.filter(|at| value(*at) <= limit).count()
    }
}

/// The steps of the table of positions solved by time: each is twice the one before, up to the
/// limit itself.
pub fn steps(limits: &Limits) -> (Measure, Vec<f64>) {
    let halves = |most: f64| {
        (0..8)
            .rev()
            .map(move |step| most / f64::from(1 << step))
            .collect()
    };
    match (limits.move_time, limits.nodes, limits.depth) {
        (Some(time), _, _) => (Measure::Time, halves(time.as_secs_f64())),
        (_, Some(nodes), _) => (Measure::Nodes, halves(nodes as f64)),
        (_, _, depth) => {
            let depth = depth.unwrap_or(1);
            let first = depth.saturating_sub(7).max(1);
            (Measure::Depth, (first..=depth).map(f64::from).collect())
        }
    }
}

/// A step in words: `0.13 s`, `12,500 nodes`, `depth 9`.
pub fn step_text(measure: Measure, step: f64) -> String {
    match measure {
        Measure::Time => format!("{:.3} s", Duration::from_secs_f64(step).as_secs_f64()),
        Measure::Nodes => format!("{step:.0} nodes"),
        Measure::Depth => format!("depth {step:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Centipawns;
    use crate::position::Position;
    use crate::position::movegen::legal_moves;
    use crate::search::score::ReportedScore;

    fn line(depth: u32, m: Move) -> EngineLine {
        EngineLine {
            depth,
            score: ReportedScore::Centipawns(Centipawns(0)),
            nodes: 100 * u64::from(depth),
            elapsed: Duration::from_millis(10 * u64::from(depth)),
            pv: vec![m],
        }
    }

    #[test]
    fn an_answer_counts_from_when_it_held() {
        let moves = legal_moves(&Position::default());
        let (right, wrong) = (moves[0], moves[1]);
        let depth = |answers: &[Move]| {
            let lines: Vec<_> = answers
                .iter()
                .zip(1..)
                .map(|(m, depth)| line(depth, *m))
                .collect();
            found_at(&lines, |m| m == right).depth
        };
        assert_eq!(depth(&[right, right, right]), 1);
        assert_eq!(depth(&[right, wrong, right, right]), 3);
        assert_eq!(depth(&[right, wrong]), 2);
        assert_eq!(depth(&[]), 0);
    }

    #[test]
    fn steps_end_at_the_limit() {
        let (measure, steps_of) = steps(&Limits::nodes(1000));
        assert_eq!((measure, steps_of.last()), (Measure::Nodes, Some(&1000.0)));
        assert_eq!(steps(&Limits::depth(3)).1, [1.0, 2.0, 3.0]);
    }
}
