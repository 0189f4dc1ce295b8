//! A page with the graph of each annotated game.

use std::fmt::Write as _;

use super::{AnnotatedGame, AnnotatedMove, Judgement, PlayerFigures};
use crate::terminal::{escaped, printable};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;

/// A page that needs nothing from outside, and may load nothing.
pub fn page(games: &[AnnotatedGame]) -> String {
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\">\
         <title>Annotated games</title><style>{}</style></head><body>\n",
        include_str!("page.css")
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
        "<section><h1>{} – {} <span>{}</span></h1>",
        tag("White"),
        tag("Black"),
        tag("Result")
    );
    let known = |name: &str| !matches!(game.tag(name).trim(), "" | "?" | "????.??.??");
    let names = ["Event", "Date"].into_iter().filter(|name| known(name));
    let origin: Vec<String> = names.map(tag).collect();
    let origin = match origin.is_empty() {
        true => String::new(),
        false => format!("{}. ", origin.join(", ")),
    };
    let _ = writeln!(
        text,
        "<p>{origin}Analysed by {}.</p>",
        escaped(&printable(&game.engine))
    );
    add_graph(text, &game.moves);
    text.push_str(
        "<div class=\"scroll\"><table><tr><th>player</th><th>accuracy</th><th>centipawns lost</th>\
         <th>inaccuracies</th><th>mistakes</th><th>blunders</th></tr>",
    );
    let figures = game.figures();
    add_figures(text, &format!("White, {}", tag("White")), &figures.white);
    add_figures(text, &format!("Black, {}", tag("Black")), &figures.black);
    text.push_str("</table></div>\n<p class=\"moves\">");
    // A move of Black has its number only where White's does not stand before it.
    let mut follows = false;
    for one in &game.moves {
        add_move(text, one, follows);
        follows = one.mover.is_white() && one.judgement == Judgement::Good;
    }
    text.push_str("</p></section>\n");
}

/// White's win chance, move by move: the light area is White's. Dots are moves that were not good.
fn add_graph(text: &mut String, moves: &[AnnotatedMove]) {
    let step = WIDTH / moves.len().max(1) as f64;
    let height = |one: &AnnotatedMove| HEIGHT * (1.0 - one.white_chance);
    let middle = HEIGHT / 2.0;
    let _ = write!(
        text,
        "<figure><figcaption><span>White wins</span><span>win chance by move</span></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"White's win chance by move\"><path class=\"white\" d=\"M0 {HEIGHT}V{middle}"
    );
    for (index, one) in moves.iter().enumerate() {
        let _ = write!(text, "L{:.1} {:.1}", step * (index + 1) as f64, height(one));
    }
    let _ = write!(
        text,
        "V{HEIGHT}Z\"/><path class=\"even\" d=\"M0 {middle}H{WIDTH}\"/>"
    );
    for (index, one) in moves.iter().enumerate() {
        let right = step * (index + 1) as f64;
        let class = class(one.judgement);
        let judged = class.map_or(String::new(), |class| format!(", {class}"));
        let _ = write!(
            text,
            "<g><title>{} {}: {:.0}% for White{judged}</title><rect class=\"hit\" x=\"{:.1}\" \
             width=\"{step:.1}\" height=\"{HEIGHT}\"/>",
            number(one),
            one.san,
            100.0 * one.white_chance,
            right - step
        );
        if let Some(class) = class {
            let _ = write!(
                text,
                "<circle class=\"{class}\" cx=\"{right:.1}\" cy=\"{:.1}\" r=\"4\"/>",
                height(one)
            );
        }
        text.push_str("</g>");
    }
    text.push_str("</svg><figcaption><span>Black wins</span></figcaption></figure>\n");
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

/// A move; one of Black has its number unless it `follows` White's.
fn add_move(text: &mut String, one: &AnnotatedMove, follows: bool) {
    if one.mover.is_white() || !follows {
        let _ = write!(text, "{}&nbsp;", number(one));
    }
    let Some(class) = class(one.judgement) else {
        let _ = write!(text, "{} ", one.san);
        return;
    };
    let _ = write!(
        text,
        "<b class=\"{class}\" title=\"{class}\">{}</b> <i>({})</i> ",
        one.san,
        one.variation.join(" ")
    );
}

fn number(one: &AnnotatedMove) -> String {
    let dots = if one.mover.is_white() { "." } else { "…" };
    format!("{}{dots}", one.number)
}

/// The class of the style sheet for moves that were not good.
fn class(judgement: Judgement) -> Option<&'static str> {
    match judgement {
        Judgement::Good => None,
        Judgement::Inaccuracy => Some("inaccuracy"),
        Judgement::Mistake => Some("mistake"),
        Judgement::Blunder => Some("blunder"),
    }
}
