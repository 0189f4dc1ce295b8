//! The page of a run: what it says, and that it needs nothing else.

use std::fs;

use crate::tune::Desk;

fn page(desk: &Desk, out: &str) -> String {
    fs::read_to_string(desk.path(out).join("report.html")).unwrap()
}

#[test]
fn the_page_says_what_came_out_beside_the_paper() {
    let desk = Desk::new("");
    let mut arguments = vec![
        "tune",
        "vazquez-2013",
        "--games",
        "games.pgn",
        "--out",
        "out",
    ];
    for set in [
        "data.positions=40",
        "data.validation=20",
        "data.validation_share=0.3",
        "run.generations=2",
        "run.closing_games=2",
        "run.closing_nodes=100",
    ] {
        arguments.extend(["--set", set]);
    }
    assert!(desk.command(&arguments).output().unwrap().status.success());
    let page = page(&desk, "out");
    let (_, top) = page.split_once("class=\"verdict\">").unwrap();
    let (verdict, _) = top.split_once("</p>").unwrap();
    for said in [
        "Moves found: ",
        "in training, ",
        "on unseen games",
        "values lie within",
    ] {
        assert!(verdict.contains(said), "{said}: {verdict}");
    }
    for opponent in [
        "its start",
        "the paper's weights",
        "the weights that play now",
    ] {
        let card = format!("against {opponent} (");
        assert!(page.contains(&card), "{opponent}: {page}");
    }
    // The paper's value outside its own bounds stands as it is printed.
    assert!(page.contains("<th>paper</th>"), "no column of the paper");
    assert!(page.contains("<td>39.6</td>"), "BISHOP.AHEAD");
    assert!(page.contains("A knight."), "the meaning of a term");
    assert!(page.contains("Content-Security-Policy"));
    let requests = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", " src=", "@import", "url("] {
        assert!(!requests.contains(outside), "{outside}");
    }
}

#[test]
fn a_reference_to_an_unknown_player_is_refused() {
    let preset = fs::read_to_string("tuning/vazquez-2013.toml").unwrap();
    let desk = Desk::new(&preset.replace("player = \"vazquez-2013\"", "player = \"nobody\""));
    let output = desk.tune("out", &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no built-in weights nobody"), "{text}");
}
