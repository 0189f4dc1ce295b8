//! Mentors good and bad: what `finch label` makes of engines that die, hang, lie or never were,
//! and of several at once. The mentors are small scripts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use finch::data::{MentorConfig, MentorPool};
use finch::play::GameLimits;
use finch::position::Position;
use finch::position::movegen::legal_moves;
use tempfile::TempDir;

use crate::common::write_script;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");
const SCORE: &str = r#"echo "info depth 1 score cp 50"; echo "bestmove e1e2""#;

/// A folder with positions in which e1e2 is a legal move.
fn desk(positions: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let squares = (0..8).flat_map(|file| (0..4).map(move |rank| (file, rank)));
    let fields = squares.take(positions).map(|(file, rank)| {
        let mut ranks = ["8"; 4].map(str::to_owned);
        let gap = |count: usize| {
            if count > 0 {
                count.to_string()
            } else {
                String::new()
            }
        };
        ranks[rank] = format!("{}P{}", gap(file), gap(7 - file));
        format!("4k3/8/{}/8/4K3 w - - id \"{file}\";\n", ranks.join("/"))
    });
    fs::write(folder.path().join("p.epd"), fields.collect::<String>()).unwrap();
    folder
}

/// An engine that shakes hands and then does `go` when it is asked.
fn engine(folder: &Path, name: &str, go: &str) {
    let text = format!(
        "#!/bin/sh\necho started >> \"$0.starts\"\nwhile read -r word rest; do\ncase \"$word\" in\n\
         uci) echo \"id name {name} 1.0\"; echo uciok;;\nisready) echo readyok;;\n\
         go) {go};;\nquit) exit 0;;\nesac\ndone\n"
    );
    write_script(&folder.join(name), &text);
}

fn label(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(FINCH);
    command
        .current_dir(folder)
        .args(["label", "p.epd", "--depth", "1"]);
    command.args(["--out", "l.epd", "--timeout", "1", "--processes", "1"]);
    command.args(more);
    command
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Fails with exit status 1; answers the last line it said.
#[track_caller]
fn fails(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let complaints = stderr.lines().filter(|line| line.starts_with("finch: "));
    assert_eq!(complaints.count(), 1, "{stderr}");
    stderr.lines().last().unwrap().to_owned()
}

fn labels(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("l.epd")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_killed_mentor_loses_no_label_and_its_position_is_asked_again() {
    let desk = desk(20);
    // Every fifth question kills the process before it has answered.
    let go = format!(
        "echo asked >> asked; if [ $(($(wc -l < asked) % 5)) = 0 ]; then kill -9 $$; fi; {SCORE}"
    );
    engine(desk.path(), "mortal", &go);
    let said = succeeds(&mut label(desk.path(), &["--engine", "./mortal"]));
    assert!(
        said.contains("20 labelled") && said.contains(" 0 skipped"),
        "{said}"
    );
    assert_eq!(labels(desk.path()).len(), 20);
    let starts = fs::read_to_string(desk.path().join("mortal.starts")).unwrap();
    assert!(starts.lines().count() > 4, "{starts}");
}

#[test]
fn a_killed_run_goes_on_without_asking_twice() {
    let desk = desk(30);
    engine(
        desk.path(),
        "slow",
        &format!("echo asked >> asked; sleep 0.05; {SCORE}"),
    );
    let arguments = ["--engine", "./slow"];
    let mut child = label(desk.path(), &arguments)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !desk.path().join("asked").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(400));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = labels(desk.path());
    succeeds(&mut label(desk.path(), &arguments));
    let after = labels(desk.path());
    assert!(after.starts_with(&before));
    assert_eq!(after.len(), 30);
    let asked = fs::read_to_string(desk.path().join("asked")).unwrap();
    assert!(asked.lines().count() <= 31, "{}", asked.lines().count());
}

#[test]
fn nonsense_and_silence_are_skipped_and_counted() {
    for (name, go) in [
        (
            "liar",
            "echo \"info depth 1 score cp 5\"; echo \"bestmove z9z9\"",
        ),
        ("babbler", "printf 'bestmove \\377\\000\\n'"),
        ("mute", ":"),
        ("scoreless", "echo \"bestmove e1e2\""),
    ] {
        let desk = desk(2);
        engine(desk.path(), name, go);
        let said = succeeds(&mut label(desk.path(), &["--engine", &format!("./{name}")]));
        assert!(
            said.contains("0 labelled") && said.contains(" 2 skipped"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_mentor_that_never_answers_ends_the_work() {
    let desk = desk(20);
    engine(desk.path(), "quitter", "exit 1");
    let said = fails(&mut label(desk.path(), &["--engine", "./quitter"]));
    assert!(
        said.contains("quitter") && said.contains("in a row"),
        "{said}"
    );
}

#[test]
fn a_mentor_that_cannot_be_asked_is_one_clear_line() {
    let desk = desk(2);
    let babble = "#!/bin/sh\nwhile read -r line; do echo 'no uci here'; done\n";
    write_script(&desk.path().join("babble"), babble);
    // Missing, not UCI, gone at once, talking nonsense.
    for command in ["no-such-engine", "cat", "true", "./babble"] {
        let said = fails(&mut label(desk.path(), &["--engine", command]));
        assert!(said.contains(command), "{said}");
        assert!(!desk.path().join("l.epd").exists());
    }
    let mut limitless = Command::new(FINCH);
    limitless.current_dir(desk.path());
    limitless.args(["label", "p.epd", "--out", "l.epd", "--engine", "cat"]);
    assert!(fails(&mut limitless).contains("depth"));
}

#[test]
fn labels_of_another_mentor_are_not_added_to() {
    let desk = desk(3);
    engine(desk.path(), "one", SCORE);
    engine(desk.path(), "two", SCORE);
    succeeds(&mut label(
        desk.path(),
        &["--engine", "./one", "--option", "Hash=1"],
    ));
    let text = fs::read_to_string(desk.path().join("l.epd")).unwrap();
    assert!(
        text.starts_with("# mentor: one 1.0; depth 1; options: Hash=1\n"),
        "{text}"
    );
    assert!(fails(&mut label(desk.path(), &["--engine", "./two"])).contains("another mentor"));
    assert_eq!(fs::read_to_string(desk.path().join("l.epd")).unwrap(), text);
}

#[test]
fn parts_of_positions_are_together_the_whole() {
    let desk = desk(7);
    engine(desk.path(), "one", SCORE);
    let read = |name: &str| fs::read_to_string(desk.path().join(name)).unwrap();
    let mut parts = Vec::new();
    for number in 1..=3 {
        let (part, out) = (format!("{number}/3"), format!("{number}.epd"));
        succeeds(&mut label(
            desk.path(),
            &["--engine", "./one", "--part", &part],
        ));
        fs::rename(desk.path().join("l.epd"), desk.path().join(&out)).unwrap();
        parts.push(out);
    }
    succeeds(&mut label(desk.path(), &["--engine", "./one"]));
    let mut join = Command::new(FINCH);
    join.current_dir(desk.path());
    join.args(["label", "--join", "--out", "joined.epd"])
        .args(&parts);
    succeeds(&mut join);
    assert_eq!(read("joined.epd"), read("l.epd"));
    assert_eq!(labels(desk.path()).len(), 7);
}

#[test]
fn several_mentors_agree_on_a_chance() {
    let desk = desk(8);
    // Both see the same, in centipawns of different size; the second is asked for more depth.
    let score = |factor: u32| {
        format!(
            "n=$(($(cat {factor}.n 2>/dev/null || echo 0) + 20)); echo $n > {factor}.n; \
             echo \"info depth 1 score cp $((n * {factor}))\"; echo \"bestmove e1e2\""
        )
    };
    engine(desk.path(), "plain", &score(1));
    engine(desk.path(), "proud", &score(3));
    let arguments = ["--engine", "./plain", "--engine", "cmd=./proud depth=2"];
    let said = succeeds(&mut label(desk.path(), &arguments));
    assert!(said.contains("8 labels merged, 0 left out"), "{said}");
    let scale = said
        .lines()
        .find_map(|line| line.strip_prefix("proud 1.0: scale "));
    let scale: f64 = scale.unwrap().split(',').next().unwrap().parse().unwrap();
    assert!((scale - 300.0).abs() < 2.0, "{said}");
    let scores = labels(desk.path());
    assert!(
        scores[0].ends_with("ce 20;") && scores[7].ends_with("ce 160;"),
        "{scores:?}"
    );
    let second = fs::read_to_string(desk.path().join("l.2.epd")).unwrap();
    assert!(
        second.starts_with("# mentor: proud 1.0; depth 2;"),
        "{second}"
    );

    let merge = |more: &[&str]| {
        let mut command = Command::new(FINCH);
        command.current_dir(desk.path());
        command.args(["label", "--merge", "l.1.epd", "l.2.epd", "--out", "m.epd"]);
        command.args(more);
        command
    };
    // In centipawns of its own the second mentor is three times as sure.
    succeeds(&mut merge(&["--scale", "105,105", "--weight", "0,1"]));
    let merged = fs::read_to_string(desk.path().join("m.epd")).unwrap();
    assert!(merged.contains("ce 60;"), "{merged}");
    assert!(fails(&mut merge(&["--weight", "0,0"])).contains("--weight"));
}

#[test]
fn questions_are_queued_only_where_the_engine_answers_them_the_same() {
    let desk = desk(1);
    // One that answers in order, and Finch, which stops a search when the next `go` arrives.
    let all = "set -- $rest; shift 3; for m in \"$@\"; do echo \"info depth 8 score cp 50 pv $m\"; done; \
         echo \"bestmove $1\"";
    engine(desk.path(), "patient", all);
    let patient = desk.path().join("patient");
    for (command, queues) in [(patient.to_str().unwrap(), true), (FINCH, false)] {
        let options = [("MultiPV".to_owned(), "4".to_owned())];
        let timeout = Duration::from_secs(20);
        let config = MentorConfig::parse(command, &options, GameLimits::depth(1), timeout);
        let pool = MentorPool::start_for_probes(&config.unwrap(), 1).unwrap();
        assert_eq!(pool.queues(), queues, "{command}");
    }
}

#[test]
fn labels_of_queued_questions_are_not_truncated() {
    let position = |fen: &str| {
        let position = Position::from_fen(fen).unwrap();
        let moves = legal_moves(&position).into_iter().take(2).collect();
        (position, moves)
    };
    let questions = [
        position("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"),
        position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
    ];
    let options = [("MultiPV".to_owned(), "2".to_owned())];
    let timeout = Duration::from_secs(20);
    let config = MentorConfig::parse(FINCH, &options, GameLimits::depth(7), timeout).unwrap();
    let pool = MentorPool::start_for_probes(&config, 1).unwrap();
    let answers = pool
        .with(|mentor| mentor.probe(&questions))
        .unwrap()
        .unwrap();
    // Two moves at each of seven depths.
    for lines in answers {
        assert_eq!(lines.len(), 14, "{lines:?}");
    }
}

#[test]
fn an_existing_file_of_another_kind_is_left_alone() {
    let desk = desk(2);
    engine(desk.path(), "one", SCORE);
    let mut onto_itself = Command::new(FINCH);
    onto_itself.current_dir(desk.path());
    onto_itself.args(["label", "p.epd", "--depth", "1", "--engine", "./one"]);
    onto_itself.args(["--out", "p.epd"]);
    let before = fs::read(desk.path().join("p.epd")).unwrap();
    assert!(fails(&mut onto_itself).contains("--force"));
    assert_eq!(fs::read(desk.path().join("p.epd")).unwrap(), before);

    fs::write(desk.path().join("l.txt"), "mine").unwrap();
    let text = ["--engine", "./one", "--out", "l.txt"];
    let mut command = Command::new(FINCH);
    command.current_dir(desk.path());
    command.args(["label", "p.epd", "--depth", "1"]).args(text);
    assert!(fails(&mut command).contains("--force"));
    succeeds(command.arg("--force"));
    let labels = fs::read_to_string(desk.path().join("l.txt")).unwrap();
    assert_eq!(labels.lines().count(), 2, "{labels}");
    assert!(
        labels.lines().all(|line| line.ends_with(" | 50 | *")),
        "{labels}"
    );
}

#[test]
fn filters_of_games_choose_the_positions() {
    let desk = TempDir::new().unwrap();
    engine(
        desk.path(),
        "any",
        "echo \"info depth 1 score cp 1\"; echo \"bestmove a7a6\"",
    );
    let game = |white: &str, result: &str| {
        format!(
            "[White \"{white}\"]\n[Black \"Other\"]\n[Result \"{result}\"]\n\n1. e4 e5 2. Nf3 Nc6 {result}\n\n"
        )
    };
    let games = game("Anna", "1-0") + &game("Berta", "0-1");
    fs::write(desk.path().join("g.pgn"), games).unwrap();
    let mut command = Command::new(FINCH);
    command.current_dir(desk.path());
    command.args([
        "label", "g.pgn", "--out", "l.epd", "--engine", "./any", "--depth", "1",
    ]);
    command.args([
        "--skip-moves",
        "0",
        "--player",
        "other",
        "--outcomes",
        "black",
    ]);
    succeeds(&mut command);
    let found = labels(desk.path());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|line| line.contains(" b ") && line.contains("c9 \"0-1\""))
    );
}

#[test]
fn a_mentor_that_floods_is_left_after_its_time_in_bounded_memory() {
    let floods = [
        ("line", "yes | tr -d '\\n'"),
        ("lines", "yes 'info depth 1 score cp 1 pv e1e2'"),
    ];
    for (name, flood) in floods {
        let folder = desk(1);
        engine(folder.path(), name, flood);
        let script = "ulimit -v 2000000; exec \"$0\" \"$@\"";
        let plain = label(folder.path(), &["--engine", &format!("./{name}")]);
        let mut command = Command::new("sh");
        command
            .current_dir(folder.path())
            .args(["-c", script, FINCH]);
        command.args(plain.get_args());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        // Nothing is labelled, and the process ends by itself: it was not aborted.
        assert!(output.status.code().is_some(), "{name}: {text}");
        assert!(
            text.contains("no usable answer") || text.contains("0 "),
            "{name}: {text}"
        );
    }
}
