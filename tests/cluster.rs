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
fn commands_that_do_not_share_their_work_refuse_mpirun() {
    let output = Command::new(FINCH)
        .args(["selfplay", "--out", "never.epd"])
        .env("OMPI_COMM_WORLD_SIZE", "4")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("without mpirun"), "{error}");
}

#[cfg(feature = "cluster")]
mod ranks {
    use std::fs;
    use std::path::Path;
    use std::process::Output;

    use tempfile::TempDir;

    use super::*;
    use crate::matches::games;
    use crate::support::random_games;

    fn mpirun(ranks: usize, folder: &Path, arguments: &[&str]) -> Output {
        Command::new("mpirun")
            .current_dir(folder)
            .args(["--oversubscribe", "--allow-run-as-root", "-n"])
            .arg(ranks.to_string())
            .arg(FINCH)
            .args(arguments)
            .output()
            .expect("mpirun")
    }

    #[track_caller]
    fn succeed(ranks: usize, folder: &Path, arguments: &[&str]) -> String {
        let output = mpirun(ranks, folder, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{ranks} ranks: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_match_has_the_same_games_on_any_number_of_ranks() {
        let folder = TempDir::new().unwrap();
        let play = |ranks: usize| {
            let pgn = format!("{ranks}.pgn");
            let players = [
                "match", "default", "hand-set", "--nodes", "60", "--games", "8",
            ];
            let more = [
                "--concurrency",
                "1",
                "--maxmoves",
                "30",
                "--pgn",
                &pgn,
                "--quiet",
            ];
            let said = succeed(ranks, folder.path(), &[&players[..], &more].concat());
            assert_eq!(said.matches("Results of").count(), 1, "{said}");
            games(folder.path().join(pgn).to_str().unwrap())
        };
        let alone = play(1);
        assert_eq!(alone.len(), 8);
        assert!(alone == play(2), "2 ranks play other games");
        assert!(alone == play(3), "3 ranks play other games");
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
    fn a_run_ends_at_the_same_weights_on_any_number_of_ranks() {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("g.pgn"), random_games(12, 60, 3)).unwrap();
        let sizes = [
            "run.generations=3",
            "data.positions=60",
            "data.validation=20",
            "run.closing_games=0",
        ];
        let set: Vec<&str> = sizes.iter().flat_map(|one| ["--set", *one]).collect();
        let tune = |ranks: usize| {
            let out = format!("run-{ranks}");
            let tune = ["tune", "vazquez-2013", "--games", "g.pgn", "--out", &out];
            succeed(
                ranks,
                folder.path(),
                &[&tune[..], &set, &["--threads", "1"]].concat(),
            );
            fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap()
        };
        let alone = tune(1);
        assert_eq!(alone, tune(2));
        // Finished: on another number of ranks there is nothing left to do.
        succeed(3, folder.path(), &["tune", "--resume", "run-2"]);
    }

    #[test]
    fn games_between_individuals_are_shared() {
        let folder = TempDir::new().unwrap();
        let set = [
            "run.generations=2",
            "run.closing_games=0",
            "fitness.nodes=30",
            "fitness.max_moves=15",
            "method.pairs=3",
        ];
        let set: Vec<&str> = set.iter().flat_map(|one| ["--set", *one]).collect();
        let tune = |ranks: usize| {
            let out = format!("run-{ranks}");
            let tune = ["tune", "search", "--threads", "1", "--out", &out];
            succeed(ranks, folder.path(), &[&tune[..], &set].concat());
            fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap()
        };
        assert_eq!(tune(1), tune(2));
    }

    #[test]
    fn a_mistake_ends_the_job() {
        let folder = TempDir::new().unwrap();
        let output = mpirun(2, folder.path(), &["match", "default", "no-such.toml"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(error.contains("no-such.toml"), "{error}");
    }
}
