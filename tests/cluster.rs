//! Work on the ranks of an MPI job. With the feature `cluster`, mpirun starts the ranks; without it
//! a message says what is missing.

use std::process::Command;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

#[cfg(not(feature = "cluster"))]
#[test]
fn a_build_without_the_feature_says_what_is_missing_under_mpirun() {
    for command in [&["match", "default", "hand-set"][..], &["tune"]] {
        let output = Command::new(FINCH)
            .args(command)
            .env("OMPI_COMM_WORLD_SIZE", "4")
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("--features cluster"), "{error}");
    }
}

#[test]
fn the_training_of_a_network_refuses_mpirun() {
    let output = Command::new(FINCH)
        .args(["train", "never.bin"])
        .env("OMPI_COMM_WORLD_SIZE", "4")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("without mpirun"), "{error}");
}

#[test]
fn a_wrong_command_line_is_told_by_rank_0_alone() {
    for (rank, lines) in [("0", 1), ("1", 0)] {
        let output = Command::new(FINCH)
            .args(["match", "--no-such-option"])
            .env("OMPI_COMM_WORLD_SIZE", "2")
            .env("OMPI_COMM_WORLD_RANK", rank)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert_eq!(error.matches("error: ").count(), lines, "{error}");
    }
}

#[cfg(feature = "cluster")]
mod ranks {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Output, Stdio};
    use std::thread;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::matches::games;
    use crate::support::random_games;

    /// Two of these are compared with one process.
    const RANKS: [usize; 2] = [2, 4];

    fn job(ranks: usize, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = match ranks {
            1 => Command::new(FINCH),
            _ => Command::new("mpirun"),
        };
        if ranks > 1 {
            let options = ["--oversubscribe", "--allow-run-as-root", "-n"];
            command.args(options).arg(ranks.to_string()).arg(FINCH);
        }
        command.current_dir(folder).args(arguments);
        command
    }

    fn finished(ranks: usize, folder: &Path, arguments: &[&str]) -> Output {
        job(ranks, folder, arguments).output().expect("mpirun")
    }

    #[track_caller]
    fn succeed(ranks: usize, folder: &Path, arguments: &[&str]) -> String {
        let output = finished(ranks, folder, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{ranks} ranks: {error}");
        if ranks > 1 {
            let told = format!("{ranks} ranks, ");
            assert_eq!(error.matches(&told).count(), 1, "{error}");
        }
        String::from_utf8(output.stdout).unwrap()
    }

    /// The words of a command, with OUT replaced by a name of its own for each number of ranks.
    /// All numbers of ranks must make the same file.
    #[track_caller]
    fn same_on_any_number_of_ranks(folder: &Path, command: &str, file: &str) {
        let make = |ranks: usize| {
            let out = format!("{ranks}-{}", command.split(' ').next().unwrap_or_default());
            let words: Vec<String> = command
                .split(' ')
                .map(|word| word.replace("OUT", &out))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            succeed(ranks, folder, &words);
            fs::read(folder.join(file.replace("OUT", &out))).unwrap()
        };
        let alone = make(1);
        assert!(!alone.is_empty());
        for ranks in RANKS {
            assert!(alone == make(ranks), "{ranks} ranks: {command}");
        }
    }

    #[test]
    fn a_match_has_the_same_games_on_any_number_of_ranks() {
        let folder = TempDir::new().unwrap();
        let play = |ranks: usize| {
            let pgn = format!("{ranks}.pgn");
            let players = "match default hand-set --nodes 60 --games 8 --concurrency 1";
            let more = ["--maxmoves", "30", "--pgn", &pgn, "--quiet"];
            let words: Vec<&str> = players.split(' ').chain(more).collect();
            let said = succeed(ranks, folder.path(), &words);
            assert_eq!(said.matches("Results of").count(), 1, "{said}");
            games(folder.path().join(pgn).to_str().unwrap())
        };
        let alone = play(1);
        assert_eq!(alone.len(), 8);
        for ranks in RANKS {
            assert!(alone == play(ranks), "{ranks} ranks play other games");
        }
    }

    #[test]
    fn a_test_that_is_decided_ends_all_ranks() {
        let folder = TempDir::new().unwrap();
        let simple = "name = \"simple\"\n\n[material]\npawn = 100\n";
        fs::write(folder.path().join("simple.toml"), simple).unwrap();
        let players = ["match", "default", "simple.toml", "--depth", "1", "--quiet"];
        let test = ["--concurrency", "1", "--sprt", "elo0=0", "elo1=200"];
        let said = succeed(2, folder.path(), &[&players[..], &test].concat());
        assert!(said.contains("H1 was accepted"), "{said}");
    }

    #[test]
    fn self_play_makes_the_same_labels() {
        let folder = TempDir::new().unwrap();
        let command = "selfplay --positions 300 --depth 1 --out OUT.bin";
        same_on_any_number_of_ranks(folder.path(), command, "OUT.bin");
    }

    #[test]
    fn mentors_of_all_ranks_make_the_same_labels() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g.pgn"), random_games(3, 40, 5)).unwrap();
        let command = format!(
            "label g.pgn --per-game 12 --engine {FINCH} --depth 2 --fresh --processes 2 --out OUT.epd"
        );
        same_on_any_number_of_ranks(folder.path(), &command, "OUT.epd");
        let command = format!(
            "selfplay --engine {FINCH} --packed --games g.pgn --share 0.3 --opening 0 4 --out OUT.bin"
        );
        same_on_any_number_of_ranks(folder.path(), &command, "OUT.bin");
    }

    const VAZQUEZ: &str = "tune vazquez-2013 --games g.pgn --threads 1 --set data.positions=60 \
                           --set data.validation=20 --set run.closing_games=0 --set run.generations=";

    #[test]
    fn a_run_ends_at_the_same_weights_on_any_number_of_ranks() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g.pgn"), random_games(12, 60, 3)).unwrap();
        let command = format!("{VAZQUEZ}3 --out OUT");
        same_on_any_number_of_ranks(folder.path(), &command, "OUT/best.toml");
        // How busy the ranks were is in the journal.
        let columns = |out: &str| {
            let journal = fs::read_to_string(folder.path().join(out).join("journal.csv")).unwrap();
            journal.lines().next().unwrap_or_default().to_owned()
        };
        assert!(columns("2-tune").ends_with(",busy"));
        assert!(!columns("1-tune").ends_with(",busy"));
        // Finished: on another number of ranks there is nothing left to do.
        succeed(3, folder.path(), &["tune", "--resume", "2-tune"]);
    }

    #[test]
    fn games_drawn_anew_are_shared_among_ranks_as_well() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g.pgn"), random_games(12, 60, 3)).unwrap();
        let drawn = "--set fitness.games_per_generation=5";
        let command = format!("{VAZQUEZ}3 {drawn} --out OUT");
        same_on_any_number_of_ranks(folder.path(), &command, "OUT/best.toml");
    }

    #[test]
    fn games_between_individuals_are_shared() {
        let folder = TempDir::new().unwrap();
        let search = "tune search --threads 1 --out OUT --set run.generations=2 \
                      --set run.closing_games=0 --set fitness.nodes=30 --set fitness.max_moves=15 \
                      --set method.pairs=3";
        same_on_any_number_of_ranks(folder.path(), search, "OUT/best.toml");
    }

    #[test]
    fn games_that_decide_who_plays_next_are_shared() {
        let folder = TempDir::new().unwrap();
        let kendall = "tune kendall-2001 --threads 1 --out OUT --set run.generations=3 \
                       --set run.closing_games=0 --set fitness.plies=1 --set fitness.max_moves=20 \
                       --set method.population=8";
        same_on_any_number_of_ranks(folder.path(), kendall, "OUT/best.toml");
    }

    #[test]
    fn evolve_comes_to_the_same_champion() {
        let folder = TempDir::new().unwrap();
        let evolve = "evolve --from zero --threads 1 --out OUT --generations 2 --set search.every=2 \
                      --set start.width=64 --set selfplay.positions=[200,300] \
                      --set selfplay.nodes=[10,20] --set training.window=2 \
                      --set training.positions=1024 --set training.batch=64 \
                      --set training.validations=2 --set search.games=8 --set search.nodes=40 \
                      --set search.r=2 --set sprt.games=8 --set sprt.nodes=40 \
                      --set anchors.every=2 --set anchors.games=2 --set anchors.nodes=20";
        same_on_any_number_of_ranks(folder.path(), evolve, "OUT/champion.net");
        let journal = |ranks: usize| {
            let path = folder.path().join(format!("{ranks}-evolve/journal.csv"));
            let text = fs::read_to_string(path).unwrap();
            let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
            let timeless = |(_, name): &(&str, &&str)| !["seconds", "hours"].contains(*name);
            let figures = |line: &str| {
                let cells = line.split(',').zip(&names).filter(timeless);
                cells.map(|(cell, _)| cell.to_owned()).collect::<Vec<_>>()
            };
            text.lines().map(figures).collect::<Vec<_>>()
        };
        for ranks in RANKS {
            assert_eq!(journal(1), journal(ranks), "{ranks} ranks");
        }
    }

    #[test]
    fn a_mistake_is_told_once_and_ends_the_job() {
        let folder = TempDir::new().unwrap();
        for wrong in ["match default no-such.toml", "tune no-such-preset"] {
            let words: Vec<&str> = wrong.split(' ').collect();
            let output = finished(2, folder.path(), &words);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success());
            assert_eq!(error.matches("finch: ").count(), 1, "{error}");
            assert!(error.contains("no-such"), "{error}");
        }
    }

    /// The process of a rank.
    fn process_of(job: &Child, rank: usize) -> Option<PathBuf> {
        let variable = format!("OMPI_COMM_WORLD_RANK={rank}\0");
        let parent = format!("PPid:\t{}\n", job.id());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut paths = processes.map(|entry| entry.path());
        paths.find(|path| {
            let read = |name: &str| fs::read(path.join(name)).unwrap_or_default();
            let read = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
            read("status").contains(&parent) && read("environ").contains(&variable)
        })
    }

    #[test]
    fn a_run_whose_rank_was_killed_resumes_on_another_number_of_ranks() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g.pgn"), random_games(12, 60, 3)).unwrap();
        let run = |out: &str| format!("{VAZQUEZ}12 --out {out}");
        let call = |ranks: usize, text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            job(ranks, folder.path(), &words)
        };
        assert!(call(1, &run("whole")).output().unwrap().status.success());
        let rows = |out: &str| {
            let journal = fs::read_to_string(folder.path().join(out).join("journal.csv"));
            journal.unwrap_or_default().lines().count()
        };
        // If rank 0 dies there is nobody to say so but mpirun.
        for (ranks, killed, next, lines) in [(2, 1, 3, 1), (3, 0, 2, 0)] {
            let out = format!("killed-{killed}");
            let mut command = call(ranks, &run(&out));
            let started = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
            let job = started.unwrap();
            while rows(&out) < 3 {
                thread::sleep(Duration::from_millis(5));
            }
            let process = process_of(&job, killed).expect("a rank");
            let id = process.file_name().unwrap().to_str().unwrap();
            let kill = Command::new("kill").args(["-9", id]).status();
            assert!(kill.unwrap().success());
            let output = job.wait_with_output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success());
            let told = "finch: a rank of the MPI job died";
            assert_eq!(error.matches("finch: ").count(), lines, "{error}");
            assert_eq!(error.matches(told).count(), lines, "{error}");
            assert!(rows(&out) < 13, "killed too late");
            let resumed = call(next, &format!("tune --resume {out}"))
                .output()
                .unwrap();
            assert!(resumed.status.success());
            let best = |out: &str| fs::read(folder.path().join(out).join("best.toml")).unwrap();
            assert!(
                best("whole") == best(&out),
                "{ranks} ranks, {killed} killed"
            );
        }
    }

    #[test]
    fn ranks_on_several_hosts_come_to_the_same() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/hosts.sh");
        let output = Command::new(script).arg(FINCH).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{said}");
        // 77: it was skipped, and says why.
        assert!(
            matches!(output.status.code(), Some(0 | 77)),
            "{said}{error}"
        );
    }
}
