//! Matches, from outside: the binary plays, the PGN file is looked at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use finch::eval::Weights;
use finch::play::openings::{embedded, load, shuffle};
use finch::play::player_config::PlayerConfig;
use finch::play::{GameLimits, GameResult, Pairing, play_games};
use tempfile::TempDir;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

fn run(arguments: &[&str]) -> Output {
    Command::new(FINCH)
        .arg("match")
        .args(arguments)
        .output()
        .unwrap()
}

fn succeed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn fail(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    errors
}

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_str().unwrap().to_owned()
}

/// The games without what depends on the day or the speed of the machine.
pub fn games(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let games = text.split("[Event ").skip(1);
    games
        .map(|game| {
            let lines = game
                .lines()
                .filter(|line| !line.starts_with("[Date") && !line.starts_with("[GameD"));
            let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
            let is_time = |word: &&&str| {
                let word = word.trim_end_matches(['}', ',']);
                let seconds = word.ends_with('s') && word.contains('.') && !word.contains('/');
                let command = ["[%clk", "[%emt"].contains(&word);
                seconds || command || word.ends_with(']') && word.contains(':')
            };
            words
                .iter()
                .filter(|word| !is_time(word))
                .copied()
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn numbers(file: &str) -> Vec<usize> {
    let text = fs::read_to_string(file).unwrap();
    let tags = text
        .lines()
        .filter_map(|line| line.strip_prefix("[Game \""));
    tags.map(|rest| rest.trim_end_matches("\"]").parse().unwrap())
        .collect()
}

/// A small family of players: the built-in weights at different depths.
const DEEPER: &str = "weights=default name=deeper depth=3";
const SHALLOWER: &str = "weights=default name=shallower depth=1";

#[test]
fn a_seed_gives_the_same_games_at_any_concurrency() {
    let directory = TempDir::new().unwrap();
    let play = |name: &str, concurrency: &str, seed: &str| {
        let pgn = path(&directory, name);
        succeed(&[
            DEEPER,
            SHALLOWER,
            "--games",
            "10",
            "--pgn",
            &pgn,
            "--concurrency",
            concurrency,
            "--seed",
            seed,
            "--maxmoves",
            "60",
        ]);
        games(&pgn)
    };
    let alone = play("alone.pgn", "1", "5");
    assert_eq!(alone.len(), 10);
    assert!(
        alone == play("together.pgn", "3", "5"),
        "concurrency changed the games"
    );
    assert!(
        alone != play("other.pgn", "3", "6"),
        "another seed, the same games"
    );
}

/// The comments after the moves of a game, one line each.
fn comments(game: &str) -> Vec<String> {
    let text = game.replace('\n', " ");
    let comments = text.split('{').skip(1);
    comments
        .map(|rest| rest.split('}').next().unwrap().to_owned())
        .collect()
}

/// The argument of a command such as `[%clk 0:01:00]`.
fn argument<'a>(comment: &'a str, command: &str) -> Option<&'a str> {
    let (_, rest) = comment.split_once(&format!("[%{command} "))?;
    rest.split(']').next()
}

#[test]
fn comments_speak_to_match_runners_and_to_guis() {
    let directory = TempDir::new().unwrap();
    let (openings, pgn) = (
        path(&directory, "openings.pgn"),
        path(&directory, "games.pgn"),
    );
    let najdorf = "1. Nf3 c5 2. e4 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 *\n";
    fs::write(&openings, najdorf).unwrap();
    let players = ["default", "weights=hand-set name=other"];
    let limits = ["--tc", "60+1", "--depth", "1", "--maxmoves", "9"];
    let rest = ["--games", "2", "--openings", &openings, "--pgn", &pgn];
    succeed(&[&players[..], &limits, &rest, &["--plies", "10"]].concat());
    let text = fs::read_to_string(&pgn).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.contains(&format!("[White \"Finch {version} (default)\"]")));
    assert!(text.contains("[White \"other\"]"));
    assert!(text.contains("[ECO \"B90\"]"), "{text}");
    assert!(text.contains("[Opening \"Sicilian Defence: Najdorf"));
    assert!(text.lines().all(|line| line.len() < 80), "{text}");
    for game in text.split("[Event ").skip(1) {
        let movetext = game.split("\n\n").nth(1).unwrap();
        let comments = comments(movetext);
        assert_eq!(comments.len(), 18);
        assert!(comments[..10].iter().all(|comment| comment == "book"));
        for (index, comment) in comments.iter().enumerate().skip(10) {
            let (score, rest) = comment.split_once("/1 ").unwrap();
            let seconds = rest.split('s').next().unwrap();
            let mine: f64 = score.parse().unwrap();
            let eval = argument(comment, "eval").unwrap();
            let white: f64 = eval.strip_suffix(",1").unwrap().parse().unwrap();
            let side = if index % 2 == 0 { 1.0 } else { -1.0 };
            assert_eq!(mine, side * white, "{comment}");
            let (clock, used) = (argument(comment, "clk"), argument(comment, "emt"));
            assert!(clock.unwrap().starts_with("0:01:0"), "{comment}");
            assert!(used.unwrap().starts_with("0:00:0"), "{comment}");
            assert!(seconds.parse::<f64>().unwrap() < 10.0, "{comment}");
        }
        let last = comments.last().unwrap();
        assert!(last.contains("s, Draw by adjudication [%eval"), "{last}");
    }
}

#[test]
fn a_test_ends_at_the_same_game_at_any_concurrency() {
    let directory = TempDir::new().unwrap();
    let simple = path(&directory, "simple.toml");
    fs::write(&simple, "name = \"simple\"\n\n[material]\npawn = 100\n").unwrap();
    let play = |name: &str, concurrency: &str| {
        let pgn = path(&directory, name);
        let output = succeed(&[
            "default",
            &simple,
            "--depth",
            "1",
            "--pgn",
            &pgn,
            "--concurrency",
            concurrency,
            "--quiet",
            "--sprt",
            "elo0=0",
            "elo1=200",
        ]);
        assert!(output.contains("H1 was accepted"), "{output}");
        games(&pgn)
    };
    let alone = play("alone.pgn", "1");
    assert!(
        alone == play("together.pgn", "3"),
        "concurrency changed the test"
    );
}

#[test]
fn files_of_several_machines_are_one_match() {
    let directory = TempDir::new().unwrap();
    let [whole, one, two] = ["w.pgn", "1.pgn", "2.pgn"].map(|name| path(&directory, name));
    let players = [
        "weights=default name=default",
        "weights=hand-set name=hand-set",
        "--nodes",
        "40",
        "--games",
        "6",
        "--maxmoves",
        "60",
    ];
    let said = succeed(&[&players[..], &["--pgn", &whole, "--quiet", "--sprt"]].concat());
    let text = fs::read_to_string(&whole).unwrap();
    let third = text.match_indices("[Event ").nth(2).unwrap().0;
    fs::write(&one, &text[..third]).unwrap();
    fs::write(&two, &text[third..]).unwrap();
    let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let merged = succeed(&["--merge", &one, &two, "--sprt"]);
    let block = lines(&merged);
    let title = merged.lines().next().unwrap();
    let (first, second) = title.split_once(" vs ").unwrap();
    assert!(
        first.contains("default") && second.contains("hand-set"),
        "{title}"
    );
    assert!(title.ends_with(", 2 files):"), "{title}");
    assert!(
        merged.contains("LLR: ") && merged.contains("Ptnml(0-2): "),
        "{merged}"
    );
    assert_eq!(block, lines(&said)[..block.len()]);
    // A file twice is no more than once.
    let again = succeed(&["--merge", &one, &two, &two, "--sprt"]);
    assert_eq!(lines(&again)[..block.len()], block);
    assert!(
        again.contains("4 games were in the files already"),
        "{again}"
    );

    fs::write(&one, text.replacen("hand-set", "other", 1)).unwrap();
    assert!(fail(&["--merge", &two, &one]).contains("1.pgn: a game of"));
    assert!(fail(&["--merge", &path(&directory, "gone.pgn")]).contains("gone.pgn"));
    assert!(fail(&["--merge", &two, "--sprt", "elo0=x"]).contains("--sprt"));
}

#[test]
fn a_broken_off_match_goes_on_without_losing_or_repeating_a_game() {
    let directory = TempDir::new().unwrap();
    let (whole, broken) = (
        path(&directory, "whole.pgn"),
        path(&directory, "broken.pgn"),
    );
    let arguments = |pgn| {
        [
            DEEPER,
            SHALLOWER,
            "--games",
            "12",
            "--maxmoves",
            "50",
            "--concurrency",
            "2",
            "--pgn",
            pgn,
        ]
    };
    succeed(&arguments(&whole));
    let text = fs::read_to_string(&whole).unwrap();
    // Ends in the middle of the eighth game.
    let eighth = text.match_indices("[Event ").nth(7).unwrap().0;
    fs::write(&broken, &text[..eighth + 600]).unwrap();
    assert!(fail(&arguments(&broken)).contains("--resume"));

    let mut resumed = arguments(&broken).to_vec();
    resumed.push("--resume");
    let output = succeed(&resumed);
    assert!(output.contains("7 games were finished before"), "{output}");
    assert!(output.contains("Games: 12,"), "{output}");
    assert_eq!(output.matches("Finished game").count(), 5);
    assert_eq!(games(&broken), games(&whole));
    // Nothing is left to do, and nothing is done.
    let output = succeed(&resumed);
    assert_eq!(output.matches("Finished game").count(), 0);
    assert_eq!(games(&broken), games(&whole));
}

#[test]
fn a_killed_match_goes_on() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "killed.pgn");
    let arguments = [
        DEEPER,
        DEEPER,
        "--games",
        "40",
        "--maxmoves",
        "60",
        "--concurrency",
        "2",
        "--quiet",
        "--pgn",
        &pgn,
    ];
    let mut child = Command::new(FINCH)
        .arg("match")
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let enough = |file: &Path| file.exists() && numbers(file.to_str().unwrap()).len() >= 3;
    while !enough(Path::new(&pgn)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed = arguments.to_vec();
    resumed.push("--resume");
    succeed(&resumed);
    assert_eq!(numbers(&pgn), (0..40).collect::<Vec<_>>());
}

#[test]
fn games_of_another_match_are_not_continued() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let arguments = |seed| {
        [
            SHALLOWER,
            SHALLOWER,
            "--games",
            "2",
            "--maxmoves",
            "5",
            "--seed",
            seed,
            "--pgn",
            &pgn,
            "--resume",
        ]
    };
    succeed(&arguments("1"));
    assert!(fail(&arguments("2")).contains("another match"));
    // Nor is anything else overwritten.
    for text in [
        "[Event \"?\"]\n[White \"a\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n",
        "[Event \"?\"]\n[White \"a\"]\n[Result \"7-3\"]\n\n1. e4 e5\n",
        "[Event \"?\"]\r\n[Result \"1-0\"]\r\n\r\n1. e4 1-0\r\n",
        "[Event \"?\"]\n[Result \"1-0\"]\n1. e4 1-0\n",
        "notes, and no game at all\n",
    ] {
        fs::write(&pgn, text).unwrap();
        assert!(fail(&arguments("1")).contains("something else"), "{text}");
        assert_eq!(fs::read_to_string(&pgn).unwrap(), text);
    }
}

#[test]
fn two_processes_never_write_one_file_of_games() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let file = fs::File::create(&pgn).unwrap();
    let arguments = [
        SHALLOWER,
        SHALLOWER,
        "--games",
        "2",
        "--maxmoves",
        "5",
        "--pgn",
        &pgn,
        "--resume",
    ];
    file.lock().unwrap();
    assert!(fail(&arguments).contains("another process"));
    drop(file);
    succeed(&arguments);
}

/// `default` and `terms` have the same terms; only the first has a network.
#[test]
fn games_of_another_network_are_not_continued() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let rest = [SHALLOWER, "--games", "2", "--maxmoves", "5", "--resume"];
    let network = ["weights=default name=same depth=1", "--pgn", &pgn];
    let terms = ["weights=terms name=same depth=1", "--pgn", &pgn];
    succeed(&[&network[..1], &rest, &network[1..]].concat());
    let errors = fail(&[&terms[..1], &rest, &terms[1..]].concat());
    assert!(errors.contains("another match"), "{errors}");
}

#[test]
fn a_games_file_of_an_earlier_version_is_refused_by_name() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let arguments = [SHALLOWER, SHALLOWER, "--games", "2", "--maxmoves", "5"];
    let arguments = [&arguments[..], &["--pgn", &pgn, "--resume"]].concat();
    succeed(&arguments);
    let text = fs::read_to_string(&pgn).unwrap();
    fs::write(&pgn, text.replace("[Match \"2-", "[Match \"")).unwrap();
    let errors = fail(&arguments);
    assert!(errors.contains("games.pgn was written by an earlier version"));
}

#[test]
fn a_match_resumed_at_fixed_nodes_has_the_moves_of_the_whole_one() {
    let directory = TempDir::new().unwrap();
    let outside = format!("cmd={FINCH} name=outside option.Hash=1");
    let (whole, part) = (path(&directory, "whole.pgn"), path(&directory, "part.pgn"));
    for opponent in ["weights=terms name=terms", &outside] {
        let arguments = |pgn| {
            let players = ["weights=default name=default", opponent];
            let rest = ["--nodes", "400", "--games", "10", "--maxmoves", "60"];
            [&players[..], &rest, &["--concurrency", "2", "--pgn", pgn]].concat()
        };
        succeed(&arguments(&whole));
        let text = fs::read_to_string(&whole).unwrap();
        let fourth = text.match_indices("[Event ").nth(3).unwrap().0;
        fs::write(&part, &text[..fourth + 300]).unwrap();
        succeed(&[&arguments(&part)[..], &["--resume"]].concat());
        assert!(games(&part) == games(&whole), "against {opponent}");
        fs::remove_file(&whole).unwrap();
    }
}

/// The share of points that the first scores against the second at two plies, each of the openings
/// with both colours.
fn share_of_points(first: Weights, second: Weights, pairs: usize) -> f64 {
    let players = [first, second].map(|weights| PlayerConfig::in_process("", Arc::new(weights)));
    let games: Vec<_> = (0..2 * pairs)
        .map(|number| Pairing {
            white: number % 2,
            black: 1 - number % 2,
            opening: number / 2,
        })
        .collect();
    let rules = GameLimits::depth(2).into();
    let results = play_games(&players, &embedded(), &games, &rules, 2).unwrap();
    let points = games
        .iter()
        .zip(&results)
        .map(|(game, result)| match result {
            GameResult::Draw => 0.5,
            GameResult::WhiteWins => f64::from(game.white == 0),
            GameResult::BlackWins => f64::from(game.black == 0),
        });
    points.sum::<f64>() / games.len() as f64
}

#[test]
fn equal_copies_score_half() {
    let weights = Weights::default();
    assert_eq!(share_of_points(weights.clone(), weights, 10), 0.5);
}

#[test]
fn knowing_the_pieces_beats_knowing_nothing() {
    let nothing = Weights::zero("nothing");
    let share = share_of_points(Weights::default(), nothing, 5);
    assert!(share > 0.8, "{share}");
}

/// An engine in a line of shell: polite, but for what it does when it should move.
fn engine(directory: &TempDir, name: &str, on_go: &str) -> String {
    let script = format!(
        "while read -r line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;; \
         go*) {on_go};; quit) exit 0;; esac; done\n"
    );
    let file = directory.path().join(format!("{name}.sh"));
    fs::write(&file, script).unwrap();
    format!("cmd=sh args={} name={name} timeout=1", file.display())
}

/// Finch wins all games against the player, and the summary says why.
fn beats(player: &str, limit: [&str; 2], why: &str) {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let output = succeed(&[
        "weights=default name=finch depth=1",
        player,
        "--games",
        "4",
        "--concurrency",
        "2",
        "--pgn",
        &pgn,
        limit[0],
        limit[1],
    ]);
    assert!(output.contains("Wins: 4, Losses: 0, Draws: 0"), "{output}");
    let summary = output.lines().last().unwrap();
    assert!(summary.contains(why) && summary.ends_with('4'), "{output}");
    assert_eq!(numbers(&pgn), [0, 1, 2, 3]);
}

#[test]
fn an_engine_that_cannot_play_ends_the_match_before_the_first_game() {
    let directory = TempDir::new().unwrap();
    let pgn = path(&directory, "games.pgn");
    let mute = directory.path().join("mute.sh");
    let script = "while read -r line; do [ \"$line\" = quit ] && exit; done\n";
    fs::write(&mute, script).unwrap();
    let mute = format!("cmd=sh args={} name=bad timeout=0.3", mute.display());
    let other = format!("cmd={FINCH} name=bad option.Colour=red");
    for (player, problem) in [
        (
            "cmd=/nowhere/engine name=bad",
            "cannot start '/nowhere/engine'",
        ),
        ("cmd=true name=bad", "the engine ended"),
        (&mute, "no answer while waiting for 'uciok'"),
        (&other, "has no option 'Colour'"),
    ] {
        let errors = fail(&["default", player, "--depth", "1", "--pgn", &pgn]);
        assert!(errors.contains("player 'bad'"), "{errors}");
        assert!(errors.contains(problem), "{errors}");
        assert!(!Path::new(&pgn).exists(), "a games file without games");
    }
}

#[test]
fn an_engine_that_floods_stalls_and_loses() {
    let directory = TempDir::new().unwrap();
    let endless_line = engine(&directory, "line", "yes | tr -d '\\n'");
    beats(&endless_line, ["--depth", "1"], "stalls");
    let endless_lines = engine(&directory, "lines", "yes 'info string x'");
    beats(&endless_lines, ["--depth", "1"], "stalls");
}

#[test]
fn an_engine_that_crashes_loses_and_is_started_again() {
    let directory = TempDir::new().unwrap();
    beats(
        &engine(&directory, "bad", "exit 3"),
        ["--depth", "1"],
        "crashes",
    );
}

#[test]
fn an_engine_that_crashes_in_the_middle_of_a_game_loses_it() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("some.sh");
    // The engine's input ends after so many lines: some moves are played by then.
    let feeder = "while read -r line; do echo \"$line\"; n=$((n+1)); [ $n -ge 20 ] && exit; done";
    fs::write(&file, format!("{feeder} | \"{FINCH}\"\n")).unwrap();
    let player = format!("cmd=sh args={} name=bad timeout=5", file.display());
    let pgn = path(&directory, "games.pgn");
    // From the start of the game nobody is mated so soon.
    let start = path(&directory, "start.epd");
    let beginning = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    fs::write(&start, beginning).unwrap();
    let output = succeed(&[
        "weights=default name=finch",
        &player,
        "--openings",
        &start,
        "--games",
        "2",
        "--depth",
        "2",
        "--pgn",
        &pgn,
    ]);
    assert!(
        output.contains("Wins: 2,") && output.contains("crashes 2"),
        "{output}"
    );
    let pgn = fs::read_to_string(&pgn).unwrap();
    assert!(
        pgn.split_whitespace().any(|word| word == "3."),
        "too few moves were played: {pgn}"
    );
}

#[test]
fn an_illegal_move_loses() {
    let directory = TempDir::new().unwrap();
    for (number, text) in [
        "bestmove e2e5",
        "bestmove 0000",
        "bestmove (none)",
        "bestmove",
    ]
    .iter()
    .enumerate()
    {
        let player = engine(
            &directory,
            &format!("bad{number}"),
            &format!("echo '{text}'"),
        );
        beats(&player, ["--depth", "1"], "illegal moves");
    }
}

#[test]
fn garbage_is_passed_over_until_a_move_comes() {
    let directory = TempDir::new().unwrap();
    let noise = "printf '\\377\\376\\0 info score cp\\ninfo depth\\n\\n'; echo bestmove e9e9";
    beats(
        &engine(&directory, "bad", noise),
        ["--depth", "1"],
        "illegal moves",
    );
}

#[test]
fn an_engine_that_never_answers_stalls_or_loses_on_time() {
    let directory = TempDir::new().unwrap();
    let silent = engine(&directory, "bad", ":");
    beats(&silent, ["--depth", "1"], "stalls");
    beats(&silent, ["--tc", "0.2+0.01"], "losses on time");
    beats(&silent, ["--movetime", "50"], "losses on time");
}

#[test]
fn finch_plays_finch_over_pipes_and_clocks() {
    let outside = format!("cmd={FINCH} name=outside option.Hash=1");
    let output = succeed(&[
        "default",
        &outside,
        "--games",
        "2",
        "--tc",
        "60+1",
        "--depth",
        "3",
        "--maxmoves",
        "30",
    ]);
    assert!(output.contains("Games: 2,"), "{output}");
    assert!(!output.contains("Player"), "{output}");
}

#[test]
fn round_robins_and_gauntlets_have_a_ranking() {
    let third = "weights=default name=third depth=1";
    let arguments = [DEEPER, SHALLOWER, third, "--games", "2", "--maxmoves", "20"];
    let output = succeed(&arguments);
    assert_eq!(output.matches("Finished game").count(), 6);
    assert!(
        output.lines().any(|line| line.starts_with("Rank Name")),
        "{output}"
    );
    let mut gauntlet = arguments.to_vec();
    gauntlet.push("--gauntlet");
    assert_eq!(succeed(&gauntlet).matches("Finished game").count(), 4);
}

#[test]
fn wrong_input_is_named_in_one_line() {
    for (arguments, word) in [
        (&["default", "nowhere.toml"][..], "nowhere.toml"),
        (
            &["default", "default", "--openings", "nowhere.epd"],
            "nowhere.epd",
        ),
        (&["default", "cmd=x colour=red"], "colour=red"),
        (
            &["default", "default", "--sprt", "elo0=9", "elo1=1"],
            "elo0",
        ),
        (&["default", "default", "default", "--sprt"], "two players"),
        (&["default", "default", "--draw", "score=x"], "score=x"),
        (
            &[
                "default",
                "default",
                "--games",
                "2",
                "--depth",
                "1",
                "--pgn",
                "/nowhere/x.pgn",
            ],
            "/nowhere/x.pgn",
        ),
    ] {
        let errors = fail(arguments);
        assert!(errors.contains(word), "{arguments:?}: {errors}");
    }
}

#[test]
fn openings_come_from_epd_and_pgn() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, text: &str| -> PathBuf {
        let file = directory.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -";
    let epd = load(
        &file("a.epd", &format!("{fen} id \"x\";\n\n{fen} 2 3\n")),
        8,
        1,
    )
    .unwrap();
    assert_eq!(epd.len(), 2);
    assert!(epd[0].start.fen().starts_with(fen));
    let pgn = load(
        &file(
            "a.pgn",
            "[Event \"?\"]\n\n1. e4 e5 (1... c5) 2. Nf3 Nc6 3. Bb5 *\n",
        ),
        4,
        1,
    )
    .unwrap();
    assert_eq!(pgn[0].moves.len(), 4);
    assert!(pgn[0].end().fen().starts_with(fen));
    let wrong = load(&file("b.epd", "this is no position\n"), 8, 1).unwrap_err();
    assert!(wrong.to_string().contains("line 1"), "{wrong}");
    let wrong = load(&file("b.pgn", "1. e5 *\n"), 8, 1).unwrap_err();
    assert!(wrong.to_string().contains("e5"), "{wrong}");
    assert!(load(&file("c.epd", ""), 8, 1).is_err());
}

#[test]
fn a_match_plays_the_lines_of_a_polyglot_book() {
    let directory = TempDir::new().unwrap();
    let (games, book, pgn) = (
        path(&directory, "games.pgn"),
        path(&directory, "book.bin"),
        path(&directory, "out.pgn"),
    );
    fs::write(
        &games,
        "[Result \"1/2-1/2\"]\n\n1. e4 c5 2. Nf3 d6 1/2-1/2\n",
    )
    .unwrap();
    let build = ["book", "build", &games, "--min-games", "1", "--out", &book];
    assert!(
        Command::new(FINCH)
            .args(build)
            .output()
            .unwrap()
            .status
            .success()
    );
    let rest = ["--games", "2", "--maxmoves", "4", "--pgn", &pgn];
    succeed(&[&[SHALLOWER, SHALLOWER, "--openings", &book], &rest[..]].concat());
    let text = fs::read_to_string(&pgn).unwrap();
    let line = "1. e4 {book} c5 {book} 2. Nf3 {book} d6 {book}";
    assert_eq!(text.matches(line).count(), 2, "{text}");
    assert_eq!(text.matches("[Opening \"Sicilian Defence").count(), 2);
}

#[test]
fn a_match_too_short_for_an_interval_says_so() {
    let tell = |player: &str| {
        let rest = ["--games", "2", "--maxmoves", "150", "--quiet"];
        succeed(&[&["weights=default name=one depth=2", player], &rest[..]].concat())
    };
    let even = tell("weights=default name=two depth=2");
    assert!(
        even.contains("Elo: 0.00 (too few games for an error)"),
        "{even}"
    );
    let directory = TempDir::new().unwrap();
    let blind = path(&directory, "blind.toml");
    fs::write(&blind, "name = \"blind\"\n\n[material]\npawn = 100\n").unwrap();
    let lost = tell(&format!("weights={blind} name=blind depth=1"));
    assert!(lost.contains("Elo: unbounded (no points lost)"), "{lost}");
    for table in [even, lost] {
        let table = table.to_lowercase();
        for nonsense in ["nan", " inf", "+/- 0.00"] {
            assert!(!table.contains(nonsense), "{table}");
        }
    }
}

#[test]
fn the_book_is_large_distinct_and_shuffled_by_seed() {
    let openings = embedded();
    assert!(openings.len() >= 5_000, "{}", openings.len());
    let keys: std::collections::HashSet<u64> =
        openings.iter().map(|opening| opening.start.key()).collect();
    assert_eq!(keys.len(), openings.len());
    let order = |seed| {
        let mut openings = openings.clone();
        shuffle(&mut openings, seed);
        openings
            .iter()
            .map(|opening| opening.start.key())
            .collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_plain_search_plays_the_same_games_at_any_concurrency() {
    let directory = TempDir::new().unwrap();
    let written = |concurrency: &str| {
        let pgn = path(&directory, concurrency);
        let arguments = ["default", "default", "--plain", "2+3", "--games", "6"];
        let more = ["--pgn", &pgn, "--concurrency", concurrency];
        succeed(&[&arguments[..], &more].concat());
        games(&pgn)
    };
    assert_eq!(written("1"), written("3"));
    let mixed = [
        "weights=default plain=1 name=one",
        "weights=default plain=2 name=two",
    ];
    let table = succeed(&[&mixed[..], &["--games", "2"]].concat());
    assert!(table.contains("one vs two"), "{table}");
}

#[test]
fn a_folder_without_tables_is_refused() {
    let directory = TempDir::new().unwrap();
    let empty = directory.path().display().to_string();
    let tables = |folder: &str| fail(&["default", "default", "--tablebases", folder]);
    assert!(tables(&empty).contains("no tables"));
    assert!(tables("nowhere").contains("nowhere"));
}

#[test]
fn generated_openings_replace_no_file_unasked() {
    let directory = TempDir::new().unwrap();
    let file = path(&directory, "games.pgn");
    fs::write(&file, "precious").unwrap();
    let generate = |out: &str, more: &[&str]| {
        Command::new(FINCH)
            .args(["openings", "--count", "1", "--nodes", "100", "--out", out])
            .args(more)
            .output()
            .unwrap()
    };
    let refused = generate(&file, &[]);
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors.contains("--force"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert!(generate(&file, &["--force"]).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
    let nowhere = generate("/nowhere/x.epd", &[]);
    assert_eq!(nowhere.status.code(), Some(1));
}
