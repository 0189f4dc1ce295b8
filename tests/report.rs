//! The page of a run: what it says, and that it needs nothing else.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::common::OwnedProcess;
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

/// What a watched folder answers at `/body`.
fn body(address: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /body HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_watched_folder_is_served_to_this_machine_and_updates() {
    let preset = "name = \"small\"\n[genome]\nbase = \"none\"\n[genome.weights]\npawn = 100\n\
                  knight = { low = 200, high = 400 }\n[data]\npositions = 10\nvalidation = 0\n\
                  [fitness]\nname = \"moves\"\n[method]\nname = \"de\"\npopulation = 4\n\
                  [run]\ngenerations = 1\nclosing_games = 0\n";
    let desk = Desk::new(preset);
    let tuned = desk.tune("out", &[]);
    assert!(
        tuned.status.success(),
        "{}",
        String::from_utf8_lossy(&tuned.stderr)
    );
    let mut command = desk.command(&["report", "--watch", "out"]);
    let mut server = OwnedProcess(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    let stderr = server.0.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("watch: http://").unwrap();
    let address = address.trim_end_matches('/');
    let before = body(address, address);
    assert!(before.contains("1 of 1"), "{before}");
    assert!(body(address, "evil.example").starts_with("HTTP/1.1 421 "));
    // A further generation in the journal is on the page at the next look.
    let journal = desk.path("out/journal.csv");
    let text = fs::read_to_string(&journal).unwrap();
    let (_, figures) = text.lines().last().unwrap().split_once(',').unwrap();
    fs::write(&journal, format!("{text}2,{figures}\n")).unwrap();
    let after = body(address, address);
    assert!(after.contains("2 of 1"), "{after}");
}

#[test]
fn only_the_folder_of_one_run_can_be_watched() {
    let desk = Desk::new("");
    for (folders, problem) in [
        (&["a", "b"][..], "one folder"),
        (&["."][..], "holds no run"),
    ] {
        let arguments = [&["report", "--watch"], folders].concat();
        let output = desk.command(&arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(problem), "{text}");
    }
}

#[test]
fn eval_draws_the_board() {
    let desk = Desk::new("");
    let knights = "4k3/8/8/8/3N4/8/8/N3K3 w - - 0 1";
    let draw = |file: &str| {
        let arguments = ["eval", "--weights", "hand-set", "--svg", file, knights];
        desk.command(&arguments).output().unwrap()
    };
    assert!(draw("board.svg").status.success());
    let svg = fs::read_to_string(desk.path("board.svg")).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.contains("for White by"),
        "{svg}"
    );
    let output = draw("missing/board.svg");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("missing/board.svg"), "{text}");
}

#[test]
fn the_papers_page_groups_runs_by_paper() {
    let desk = Desk::new("");
    for (preset, out) in [
        ("vazquez-2013", "all/as-read"),
        ("vazquez-2013-24", "all/small"),
    ] {
        let mut arguments = vec!["tune", preset, "--games", "games.pgn", "--out", out];
        arguments.extend(["--runs", "2"]);
        for set in [
            "data.positions=40",
            "data.validation=20",
            "data.validation_share=0.3",
            "run.generations=2",
            "run.closing_games=0",
        ] {
            arguments.extend(["--set", set]);
        }
        let output = desk.command(&arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let output = desk.command(&["report", "--papers", "all"]).output();
    assert!(output.unwrap().status.success());
    let page = self::page(&desk, "all");
    assert_eq!(page.matches("<h2>vazquez-2013</h2>").count(), 1);
    for variant in ["<td>as-read</td><td>2</td>", "<td>small</td><td>2</td>"] {
        assert!(page.contains(variant), "{variant}");
    }
    let output = desk.command(&["report", "--papers", "."]).output().unwrap();
    assert!(output.status.success(), "folders below folders");
    // A run without its last generation.
    let runs = fs::read_dir(desk.path("all/small")).unwrap();
    let mut journals = runs.map(|run| run.unwrap().path().join("journal.csv"));
    let journal = journals.find(|journal| journal.exists()).unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.trim_end().rfind('\n').unwrap() + 1]).unwrap();
    let output = desk.command(&["report", "--papers", "all"]).output();
    assert!(output.unwrap().status.success());
    let page = self::page(&desk, "all");
    assert!(page.contains("<p>Not finished, left out: small/"));
    assert!(page.contains("<td>small</td><td>1</td>"));
    fs::remove_dir_all(desk.path("all")).unwrap();
    fs::create_dir(desk.path("all")).unwrap();
    let output = desk.command(&["report", "--papers", "all"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no finished runs that repeat a paper")
    );
}
