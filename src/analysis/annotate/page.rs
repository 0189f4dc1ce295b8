//! A page with the graph of each annotated game.

use std::fmt::Write as _;

use super::{AnnotatedGame, AnnotatedMove, Judgement, PlayerFigures};
use crate::terminal::{escaped, printable};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;\
padding:0 1rem;background:#fff;color:#222}svg{width:100%;height:auto;background:#888}\
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;text-align:right}\
th:first-child,td:first-child{text-align:left}.inaccuracy{color:#9a6700}.mistake{color:#bc4c00}\
.blunder{color:#cf222e}@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}\
.inaccuracy{color:#d4a72c}.mistake{color:#f0883e}.blunder{color:#ff7b72}}";

/// A page that needs nothing from outside.
pub fn page(games: &[AnnotatedGame]) -> String {
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Annotated games</title><style>{STYLE}</style></head><body>\n"
    );
    for game in games {
        add_game(&mut text, game);
    }
    text.push_str("</body></html>\n");
    text
}

fn add_game(text: &mut String, game: &AnnotatedGame) {
    let tag = |name| escaped(&printable(game.tag(name)));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "<h1>{} – {} {}</h1><p>{}, {}. Analysed by {}.</p>",
        tag("White"),
        tag("Black"),
        tag("Result"),
        tag("Event"),
        tag("Date"),
        escaped(&printable(&game.engine))
    );
    add_graph(text, &game.moves);
    text.push_str(
        "<table><tr><th>player</th><th>accuracy</th><th>mean centipawn loss</th>\
         <th>inaccuracies</th><th>mistakes</th><th>blunders</th></tr>",
    );
    let figures = game.figures();
    add_figures(text, &tag("White"), &figures.white);
    add_figures(text, &tag("Black"), &figures.black);
    text.push_str("</table>\n<p>");
    for one in &game.moves {
        add_move(text, one);
    }
    text.push_str("</p>\n");
}

/// White's win chance, move by move: the light area is White's.
fn add_graph(text: &mut String, moves: &[AnnotatedMove]) {
    let step = WIDTH / moves.len().max(1) as f64;
    let height = |one: &AnnotatedMove| HEIGHT * (1.0 - one.white_chance);
    let _ = write!(
        text,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"White's win chance by move\"><path fill=\"#f4f4f4\" d=\"M0 {HEIGHT}V{}",
        HEIGHT / 2.0
    );
    for (index, one) in moves.iter().enumerate() {
        let _ = write!(text, "L{:.1} {:.1}", step * (index + 1) as f64, height(one));
    }
    let middle = HEIGHT / 2.0;
    let _ = write!(
        text,
        "V{HEIGHT}Z\"/><path stroke=\"#d33\" d=\"M0 {middle}H{WIDTH}\"/>"
    );
    for (index, one) in moves.iter().enumerate() {
        let _ = write!(
            text,
            "<rect x=\"{:.1}\" width=\"{step:.1}\" height=\"{HEIGHT}\" fill=\"transparent\">\
             <title>{}{} {}: {:.0}% for White</title></rect>",
            step * index as f64,
            one.number,
            if one.mover.is_white() { "." } else { "…" },
            one.san,
            100.0 * one.white_chance
        );
    }
    text.push_str("</svg>\n");
}

fn add_figures(text: &mut String, name: &str, figures: &PlayerFigures) {
    let _ = write!(
        text,
        "<tr><td>{name}</td><td>{:.1}%</td><td>{:.0}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        figures.accuracy,
        figures.mean_centipawn_loss,
        figures.inaccuracies,
        figures.mistakes,
        figures.blunders
    );
}

fn add_move(text: &mut String, one: &AnnotatedMove) {
    if one.mover.is_white() {
        let _ = write!(text, "{}.&nbsp;", one.number);
    }
    let class = match one.judgement {
        Judgement::Good => {
            let _ = write!(text, "{} ", one.san);
            return;
        }
        Judgement::Inaccuracy => "inaccuracy",
        Judgement::Mistake => "mistake",
        Judgement::Blunder => "blunder",
    };
    let _ = write!(
        text,
        "<b class=\"{class}\" title=\"{class}\">{}</b> <i>({})</i> ",
        one.san,
        one.variation.join(" ")
    );
}
