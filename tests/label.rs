//! Learning from a mentor, seen from outside: positions, labels, weights. The mentor is Finch.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use finch::data::{LabelFile, LabelHeader, LabelNeeds, Selection, Source, collect_labels};
use finch::eval::{Weights, evaluate_uncached};
use finch::position::Position;
use finch::random::{Purpose, stream};
use finch::tune::fitness::{Batch, Fitness, MentorFitness, MentorLoss, MentorSettings};
use finch::tune::genome::Genome;
use finch::tune::methods::MethodSettings;
use finch::tune::preset::Preset;
use rand::RngExt;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

fn finch(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(FINCH)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = finch(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Positions from self-play with a label each, in `labels.epd`.
fn make_labels(folder: &Path) {
    succeed(
        folder,
        &[
            "selfplay",
            "--positions",
            "60",
            "--depth",
            "1",
            "--out",
            "p.epd",
        ],
    );
    succeed(
        folder,
        &[
            "label",
            "p.epd",
            "--engine",
            FINCH,
            "--depth",
            "2",
            "--out",
            "labels.epd",
        ],
    );
}

#[test]
fn selfplay_gives_the_same_labels_again() {
    let folder = tempfile::tempdir().unwrap();
    let played = |name: &str, seed: &str| {
        let arguments = [
            "selfplay",
            "--positions",
            "40",
            "--depth",
            "1",
            "--seed",
            seed,
            "--out",
        ];
        succeed(folder.path(), &[&arguments[..], &[name]].concat());
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let first = played("a.epd", "7");
    let labels = first.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(labels.count(), 40);
    assert_eq!(first, played("b.epd", "7"));
    assert_ne!(first, played("c.epd", "8"));
}

#[test]
fn selfplay_that_was_killed_resumes_and_other_work_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "selfplay",
        "--depth",
        "1",
        "--share",
        "1",
        "--decided",
        "100",
    ];
    let with = |more: &[&'static str]| [&arguments[..], more].concat();

    let endless = with(&["--out", "killed.epd", "--positions", "1000000"]);
    let mut command = Command::new(FINCH);
    let command = command.current_dir(&folder).args(&endless);
    let mut killed = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut progress = BufReader::new(killed.stderr.take().unwrap()).lines();
    let second = progress.find(|line| line.as_ref().unwrap().ends_with("from 1024 games"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let second = second.unwrap().unwrap();
    // A few more than the first two rounds gave.
    let positions = second.split(' ').next().unwrap().parse::<usize>().unwrap() + 10;
    let positions = ["--positions", &positions.to_string()].map(str::to_owned);
    let run = |more: &[&'static str]| {
        let mut command = Command::new(FINCH);
        command.current_dir(&folder).args(with(more));
        command.args(&positions).output().unwrap()
    };

    assert!(run(&["--out", "whole.epd"]).status.success());
    let other = run(&["--out", "killed.epd", "--seed", "2"]);
    let message = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(
        !other.status.success() && message.contains("killed.epd.draft"),
        "{message}"
    );
    let resumed = run(&["--out", "killed.epd"]);
    assert!(resumed.status.success());
    let message = String::from_utf8_lossy(&resumed.stderr);
    assert!(!message.contains("from 512 games"), "{message}");
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("killed.epd"), read("whole.epd"));
    assert!(!folder.path().join("killed.epd.draft").exists());
}

#[test]
fn selfplay_keeps_the_number_of_positions_and_overwrites_nothing_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "selfplay",
        "--depth",
        "1",
        "--decided",
        "200",
        "--positions",
    ];
    let run = |more: &[&str]| finch(folder.path(), &[&arguments[..], more].concat());
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for (name, exact) in [("a.epd", "37"), ("a.bin", "37"), ("a.txt", "37")] {
        assert!(run(&[exact, "--out", name]).status.success());
        let source = Source::file(folder.path().join(name));
        let labels = finch::data::LabelReader::open(&source).unwrap();
        assert_eq!(labels.filter(Result::is_ok).count(), 37, "{name}");

        let before = read(name);
        let other = run(&[exact, "--out", name, "--seed", "2"]);
        let message = String::from_utf8_lossy(&other.stderr).into_owned();
        assert_eq!(other.status.code(), Some(1), "{message}");
        assert!(
            message.contains(name) && message.contains("--force"),
            "{message}"
        );
        assert_eq!(read(name), before);
        let forced = run(&[exact, "--out", name, "--seed", "2", "--force"]);
        assert!(forced.status.success());
        assert_ne!(read(name), before);
    }
    // The same call again leaves a finished file as it is; more positions are added to it.
    let before = read("a.bin");
    assert!(
        run(&["37", "--out", "a.bin", "--seed", "2"])
            .status
            .success()
    );
    assert_eq!(read("a.bin"), before);
    assert!(
        run(&["50", "--out", "a.bin", "--seed", "2"])
            .status
            .success()
    );
    assert_eq!(read("a.bin").len(), before.len() + 13 * 32);
    assert!(read("a.bin").starts_with(&before));
}

#[test]
fn terms_and_networks_learn_from_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["selfplay", "--depth", "1", "--positions", "300", "--out"];
    for name in ["a.epd", "a.bin", "a.txt"] {
        succeed(folder.path(), &[&arguments[..], &[name]].concat());
        let measured = succeed(folder.path(), &["fitness", "mentor", "--games", name]);
        assert!(measured.contains("300 positions"), "{name}: {measured}");
        let sizes = "--generations 1 --steps 1 --batch 64 --set run.closing_games=0";
        let sizes: Vec<&str> = sizes.split(' ').collect();
        let run = format!("{name}.run");
        let train = [&["train", name, "--out", &run][..], &sizes].concat();
        succeed(folder.path(), &train);
    }
}

#[test]
fn a_mentor_plays_against_itself_and_its_scores_are_labels() {
    let folder = tempfile::tempdir().unwrap();
    let played = |name: &str| {
        let arguments = ["selfplay", "--positions", "40", "--depth", "1", "--share"];
        let more = ["1", "--engine", FINCH, "--out", name];
        succeed(folder.path(), &[&arguments[..], &more[..]].concat());
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let first = played("a.epd");
    let mut lines = first.lines();
    assert!(lines.next().unwrap().starts_with("# mentor: Finch"));
    assert!(lines.next().unwrap().starts_with("# origin: "));
    assert_eq!(lines.clone().count(), 40);
    assert!(lines.all(|line| line.contains("; ce ")));
    assert_eq!(first, played("b.epd"));
    let fitness = ["fitness", "mentor", "--games", "a.epd"];
    assert!(succeed(folder.path(), &fitness).contains("positions"));
}

#[test]
fn what_labels_cannot_be_selected_by_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, value) in [
        ("--engine", FINCH),
        ("--player", "Anand"),
        ("--skip-moves", "8"),
    ] {
        let output = finch(folder.path(), &["fitness", "mentor", flag, value]);
        assert!(!output.status.success(), "{flag}");
        assert!(output.stdout.is_empty(), "{flag}");
    }
}

#[test]
fn a_mentor_that_cannot_be_started_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["selfplay", "--engine", "no-such-engine", "--out", "a.epd"];
    let output = finch(folder.path(), &arguments);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-engine"));
    assert!(!folder.path().join("a.epd").exists());
}

#[test]
fn labels_are_scores_of_the_positions_and_nothing_is_asked_twice() {
    let folder = tempfile::tempdir().unwrap();
    make_labels(folder.path());
    let path = folder.path().join("labels.epd");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# mentor: Finch"), "{text}");
    let labels = text.lines().skip(1);
    assert!(labels.clone().count() > 40);
    assert!(
        labels
            .clone()
            .all(|line| line.contains(" ce ") && line.contains(" id ")),
        "{text}"
    );

    // A kill in the middle of a line: the half label goes, its position is asked about again.
    let lines: Vec<&str> = text.lines().collect();
    let half = &lines[lines.len() - 1][..20];
    fs::write(
        &path,
        format!("{}\n{half}", lines[..lines.len() - 1].join("\n")),
    )
    .unwrap();
    let arguments = [
        "label",
        "p.epd",
        "--engine",
        FINCH,
        "--depth",
        "2",
        "--out",
        "labels.epd",
    ];
    succeed(folder.path(), &arguments);
    let again = fs::read_to_string(&path).unwrap();
    let positions = |text: &str| {
        let mut lines: Vec<_> = text
            .lines()
            .skip(1)
            .map(|l| l[..l.find(" ce ").unwrap()].to_owned())
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(positions(&again), positions(&text));
}

#[test]
fn games_give_positions_too_and_random_moves_change_them() {
    let folder = tempfile::tempdir().unwrap();
    let game = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 \
        6. Re1 b5 7. Bb3 d6 8. c3 O-O 1-0\n";
    fs::write(folder.path().join("g.pgn"), game).unwrap();
    let label = |more: &[&str], out: &str| {
        let arguments = [
            "label", "g.pgn", "--engine", FINCH, "--depth", "1", "--out", out,
        ];
        succeed(folder.path(), &[&arguments[..], more].concat());
        fs::read_to_string(folder.path().join(out)).unwrap()
    };
    let plain = label(&[], "plain.epd");
    assert!(
        plain.contains("r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R"),
        "{plain}"
    );
    let disturbed = label(&["--random-plies", "2"], "disturbed.epd");
    assert!(!disturbed.contains("r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R w"));
}

#[test]
fn weights_follow_the_mentor_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    make_labels(folder.path());
    let preset = "[genome]\nbase = \"none\"\n[genome.weights]\npawn = { low = 50, high = 150 }\n\
        knight = { low = 200, high = 400 }\nqueen = { low = 500, high = 1200 }\n\
        [data]\ngames = [\"labels.epd\"]\npositions = 0\nvalidation = 0\nvalidation_share = 0.3\n\
        [fitness]\nname = \"mentor\"\n[method]\nname = \"ep\"\npopulation = 6\nsurvivors = 3\n\
        [run]\ngenerations = 5\nclosing_games = 0\n";
    fs::write(folder.path().join("small.toml"), preset).unwrap();
    let best = |threads: &str, out: &str| {
        succeed(
            folder.path(),
            &["tune", "small.toml", "--threads", threads, "--out", out],
        );
        fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap()
    };
    let one = best("1", "one");
    assert!(one.contains("mentor"), "{one}");
    assert_eq!(one, best("2", "two"));
}

#[test]
fn the_distance_of_weights_from_labels_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    make_labels(folder.path());
    let arguments = ["fitness", "mentor", "--games", "labels.epd"];
    let all = succeed(folder.path(), &arguments);
    assert!(all.contains(" cp ± ") && all.contains("Finch"), "{all}");
    let half = succeed(folder.path(), &[&arguments[..], &["--held-out"]].concat());
    let count = |text: &str| -> usize {
        let line = text.lines().last().unwrap();
        let before = line.split(" positions ").next().unwrap();
        before.split_whitespace().last().unwrap().parse().unwrap()
    };
    assert!(count(&half) < count(&all), "{all}{half}");
}

fn genome(preset: &Preset) -> Arc<Genome> {
    Arc::new(preset.genome.build().unwrap())
}

fn random_genes(genome: &Genome) -> Vec<f64> {
    let mut random = stream(5, Purpose::Initialisation, 1, 1);
    let genes = genome.genes.iter();
    genes
        .map(|gene| gene.low + gene.range() * random.random::<f64>())
        .collect()
}

/// The fitness of a preset's genome on labels that some weights give themselves.
fn mentor(genome: &Arc<Genome>, weights: &Weights, loss: MentorLoss) -> MentorFitness {
    let folder = tempfile::tempdir().unwrap();
    succeed(
        folder.path(),
        &[
            "selfplay",
            "--positions",
            "200",
            "--depth",
            "1",
            "--out",
            "p.epd",
        ],
    );
    let text = fs::read_to_string(folder.path().join("p.epd")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let scored = lines.map(|line| {
        let fields: Vec<_> = line.split_whitespace().take(4).collect();
        let fields = fields.join(" ");
        let position = Position::from_fen(&fields).unwrap();
        format!("{fields} ce {};\n", evaluate_uncached(&position, weights))
    });
    let path = folder.path().join("l.epd");
    fs::write(&path, scored.collect::<String>()).unwrap();
    let selection = Selection {
        positions: 0,
        validation_share: 0.0,
        ..Selection::default()
    };
    let labels = collect_labels(&[Source::file(path)], &selection, LabelNeeds::SCORE).unwrap();
    let settings = MentorSettings {
        loss,
        mentor_scale: Some(100.0),
        own_scale: Some(100.0),
        ..MentorSettings::default()
    };
    MentorFitness::new(Arc::clone(genome), settings, &labels)
}

#[test]
fn the_fitness_scores_exactly_as_the_evaluation() {
    for name in ["david-tabibi-2011", "mentor", "moves"] {
        let preset = Preset::load(name).unwrap();
        let genome = genome(&preset);
        let genes = random_genes(&genome);
        let fitness = mentor(&genome, &genome.weights(&genes), MentorLoss::Centipawns);
        assert_eq!(fitness.evaluate(&[&genes], &Batch::All), [0.0], "{name}");
    }
}

#[test]
fn the_gradient_is_the_derivative_also_of_multiples() {
    let genome = genome(&Preset::load("david-tabibi-2011").unwrap());
    let fitness = mentor(
        &genome,
        &Weights::default().without_network(),
        MentorLoss::Chance,
    );
    let genes = random_genes(&genome);
    let gradient = fitness.gradient(&genes, &Batch::All).unwrap();
    let multiple = genome
        .genes
        .iter()
        .position(|gene| gene.name == "knight_ring");
    for index in [0, 3, multiple.unwrap()] {
        let value = |step: f64| {
            let mut genes = genes.clone();
            genes[index] += step;
            fitness.evaluate(&[&genes], &Batch::All)[0]
        };
        let measured = (value(4.0) - value(-4.0)) / 8.0;
        let error = (gradient.gradient[index] - measured).abs();
        assert!(
            error < 2e-5 + 0.05 * measured.abs(),
            "{index}: {} {measured}",
            gradient.gradient[index]
        );
    }
}

#[test]
fn the_paper_has_35_weights_in_230_bits() {
    let preset = Preset::load("david-tabibi-2011").unwrap();
    let genome = genome(&preset);
    assert_eq!(genome.len(), 35);
    let MethodSettings::Ga(settings) = &preset.method else {
        panic!("{:?}", preset.method);
    };
    let bits: u32 = genome
        .genes
        .iter()
        .map(|gene| settings.length_of(gene))
        .sum();
    assert_eq!(bits, 230);
    let published = preset.reference().unwrap().weights.clone();
    assert!(
        genome
            .genes
            .iter()
            .all(|gene| published.contains_key(&gene.name))
    );
}

#[test]
fn the_preset_runs_on_the_labels_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |change| ["--sweep", change];
    let arguments = [
        &["tune", "david-tabibi-2011", "--out", "run"][..],
        &sweep("run.generations=3"),
        &sweep("run.closing_games=0"),
    ];
    let text = succeed(folder.path(), &arguments.concat());
    assert!(
        text.contains("5000 positions to train on, 5000 to validate with"),
        "{text}"
    );
    assert_eq!(text.matches("best ").count(), 4 + 2, "{text}");
    let paper = text
        .lines()
        .find(|line| line.trim().starts_with("paper"))
        .unwrap();
    for figure in ["28.00 cp", "47.00 cp", "30.00 cp", "7:22"] {
        assert!(paper.contains(figure), "{paper}");
    }
}

#[test]
fn a_file_of_labels_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.epd");
    let header = LabelHeader {
        mentor: "somebody".to_owned(),
        ..LabelHeader::default()
    };
    let first = LabelFile::open(&path, &header, false).unwrap();
    let error = LabelFile::open(&path, &header, false).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    drop(first);
    LabelFile::open(&path, &header, false).unwrap();
}
