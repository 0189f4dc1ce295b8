//! `finch label`: scores of mentor engines for positions. Appends to the file, so an interrupted
//! run resumes with the positions that have no label yet, and one run after the other can add to one file.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::filters::Filters;
use super::progress::Counter;
use crate::data::{
    self, LabelCounts, LabelFile, LabelFormat, LabelHeader, LabelTask, LabelWriter, Labelling,
    MENTOR_TIMEOUT, MentorConfig, MentorPool, Portion, Selection, Source, TaskSelection,
    collect_tasks, serve_labelling,
};
use crate::files::check_file;
use crate::play::GameLimits;
use crate::work;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch label games.pgn --per-game 20 --engine stockfish --depth 5 --quiet --out labels.epd
  finch label --merge stockfish.epd ethereal.epd --out both.epd")]
pub struct Arguments {
    /// Positions in EPD, or games in PGN to draw positions from; plain or compressed. With
    /// --merge or --join: files of labels.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// From games: how many positions to draw in all, 0 for every one.
    #[arg(long, default_value_t = 0)]
    positions: usize,
    /// From games: how many positions to draw from each, 0 for every one.
    #[arg(long, default_value_t = 0)]
    per_game: usize,
    /// From games: moves at the start of each that do not count.
    #[arg(long, default_value_t = 4)]
    skip_moves: u32,
    #[command(flatten)]
    filters: Filters,
    /// Random moves to play first: a search meets positions that masters avoid.
    #[arg(long, default_value_t = 0)]
    random_plies: u32,
    /// Leave out positions that are in check, can promote, or gain more than this by a capture.
    #[arg(long, value_name = "CENTIPAWNS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    quiet: Option<i32>,
    /// Leave out positions in which the mentor's best move captures or promotes.
    #[arg(long)]
    quiet_move: bool,
    /// Leave out positions whose score is farther from zero than this.
    #[arg(long, default_value_t = i32::MAX, hide_default_value = true, value_name = "CENTIPAWNS")]
    max_score: i32,
    /// Ask about the positions of part K of N only: each machine makes a part, and --join puts
    /// them together. With --fresh the result is that of one machine.
    #[arg(long, value_name = "K/N")]
    part: Option<Portion>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A mentor: a UCI engine's command, or settings such as "cmd=stockfish option.Hash=1
    /// depth=8". Each of several mentors gets a file of its own, and the files are merged.
    #[arg(long, required_unless_present_any = ["merge", "join"])]
    engine: Vec<String>,
    /// An option for the mentors, as NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// Search depth of the mentors.
    #[arg(long)]
    depth: Option<u32>,
    /// Nodes that the mentors search for a position.
    #[arg(long)]
    nodes: Option<u64>,
    /// Clear the mentors' memory before each position: a label then depends on nothing else,
    /// but takes longer.
    #[arg(long)]
    fresh: bool,
    /// Processes of a mentor that work at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    processes: u16,
    /// Seconds until a mentor that does not answer is restarted.
    #[arg(long, value_name = "SECONDS", default_value_t = MENTOR_TIMEOUT.as_secs())]
    timeout: u64,
    /// Merge files of labels instead of asking engines. A single file is copied, perhaps to
    /// another format.
    #[arg(long, conflicts_with = "engine")]
    merge: bool,
    /// Put files of one mentor together, one after the other, such as those of --part.
    #[arg(long, conflicts_with_all = ["engine", "merge", "part", "scale", "weight", "format"])]
    join: bool,
    /// Centipawns that multiply the odds of winning by e, for each mentor. Where it is 0 or not
    /// given, a merger takes it from the file or estimates it.
    #[arg(long, value_delimiter = ',', value_name = "CENTIPAWNS")]
    scale: Vec<f64>,
    /// When merging: how much each mentor counts; 1 where it is not given.
    #[arg(long, value_delimiter = ',', value_name = "WEIGHT")]
    weight: Vec<f64>,
    /// The file of labels. Labels of the same mentor are appended.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Format of the file: epd, packed or text (FEN | centipawns | result). By default the name
    /// decides: .bin is packed, .txt is text, anything else is EPD.
    #[arg(long)]
    format: Option<LabelFormat>,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        check_file(&self.out).with_context(|| self.out.display().to_string())?;
        if work::is_helper() {
            return self.serve();
        }
        if self.merge {
            return self.merge(&self.files);
        }
        if self.join {
            self.refuse_existing()?;
            return Ok(data::join(&self.files, &self.out)?);
        }
        let mentors = self.mentors()?;
        ensure!(
            self.scale.len() <= mentors.len(),
            "more scales than mentors"
        );
        self.check_scales()?;
        // An engine that cannot be started is better found before the work than after it.
        for mentor in &mentors {
            mentor.start()?;
        }
        let tasks = self.tasks()?;
        if let [mentor] = &mentors[..] {
            return self.label_with(mentor, 0, &tasks, &self.out);
        }
        self.refuse_existing()?;
        let mut parts = Vec::new();
        for (number, mentor) in mentors.iter().enumerate() {
            let part = self.part(number + 1);
            self.label_with(mentor, number, &tasks, &part)?;
            parts.push(part);
        }
        self.merge(&parts)
    }

    /// Asks the mentors for rank 0 of an MPI job, one after the other as it does.
    fn serve(&self) -> Result<()> {
        for mentor in self.mentors()? {
            let pool = MentorPool::start(&mentor, self.processes.into())?;
            serve_labelling(&pool, mentor.command());
        }
        Ok(())
    }

    fn mentors(&self) -> Result<Vec<MentorConfig>> {
        let options = options(&self.option)?;
        let limits = GameLimits {
            depth: self.depth,
            nodes: self.nodes,
            ..GameLimits::default()
        };
        let timeout = Duration::from_secs(self.timeout);
        let mentor = |text: &String| {
            let mut mentor = MentorConfig::parse(text, &options, limits, timeout)?;
            mentor.fresh = self.fresh;
            Ok(mentor)
        };
        self.engine.iter().map(mentor).collect()
    }

    /// The file of one of several mentors: `labels.2.epd` beside `labels.epd`.
    fn part(&self, number: usize) -> PathBuf {
        self.out.with_extension(format!("{number}.epd"))
    }

    fn format(&self) -> LabelFormat {
        let by_name = || LabelFormat::of_name(&self.out);
        self.format.unwrap_or_else(by_name)
    }

    /// Asks one mentor about every position that its file has no label for. Labels are collected
    /// as EPD, line by line, and converted at the end if another format is wanted.
    fn label_with(
        &self,
        mentor: &MentorConfig,
        number: usize,
        tasks: &[LabelTask],
        out: &Path,
    ) -> Result<()> {
        let pool = MentorPool::start(mentor, self.processes.into())?;
        let header = LabelHeader {
            mentor: pool.description().to_owned(),
            scale: self.scale.get(number).copied().filter(|scale| *scale > 0.0),
            origin: String::new(),
        };
        let converts = out == self.out && self.format() != LabelFormat::Epd;
        if converts {
            self.refuse_existing()?;
        }
        let epd = if converts {
            let mut name = out.as_os_str().to_owned();
            name.push(".epd");
            name.into()
        } else {
            out.to_owned()
        };
        let file = LabelFile::open(&epd, &header, self.force && !converts)?;
        let todo: Vec<_> = tasks
            .iter()
            .filter(|task| file.lacks(task))
            .cloned()
            .collect();
        eprintln!(
            "{}: {} labels exist, {} positions to ask about",
            epd.display(),
            file.labelled(),
            todo.len()
        );
        let counter = Counter::new(todo.len() as u64, "positions");
        let labelling = Labelling {
            tasks: &todo,
            out: &file,
            quiet_move: self.quiet_move,
            max_score: self.max_score,
            counts: LabelCounts::default(),
            answered: &|| counter.step(),
        };
        let done = labelling.run(&pool, mentor.command());
        work::dismiss();
        counter.finish();
        println!("{}", summary(&labelling.counts));
        done?;
        if converts {
            data::convert(&Source::file(&epd), out, self.format())?;
            std::fs::remove_file(&epd).with_context(|| format!("removing {}", epd.display()))?;
        }
        Ok(())
    }

    /// Every position of the files, once.
    fn tasks(&self) -> Result<Vec<LabelTask>> {
        let selection = TaskSelection {
            games: Selection {
                positions: self.positions,
                per_game: self.per_game,
                skip_moves: self.skip_moves,
                seed: self.seed,
                ..self.filters.selection()
            },
            random_plies: self.random_plies,
            quiet: self.quiet,
        };
        let (mut tasks, bad) = collect_tasks(&self.files, &selection)?;
        if bad > 0 {
            eprintln!("{bad} lines are no positions");
        }
        ensure!(
            !tasks.is_empty(),
            "no positions in {}",
            self.files[0].display()
        );
        if let Some(part) = self.part {
            tasks = tasks[part.range(tasks.len())].to_vec();
        }
        Ok(tasks)
    }

    fn refuse_existing(&self) -> Result<()> {
        ensure!(
            self.force || !self.out.exists(),
            "{}: the file exists; --force replaces it",
            self.out.display()
        );
        Ok(())
    }

    fn check_scales(&self) -> Result<()> {
        let usable = |value: &f64| *value >= 0.0 && value.is_finite();
        ensure!(
            self.scale.iter().chain(&self.weight).all(usable),
            "scales and weights are numbers from 0"
        );
        Ok(())
    }

    fn merge(&self, files: &[PathBuf]) -> Result<()> {
        ensure!(
            self.scale.len() <= files.len() && self.weight.len() <= files.len(),
            "more scales or weights than mentors"
        );
        self.check_scales()?;
        let given = |place: usize| {
            let scale = self.scale.get(place).copied().unwrap_or(0.0);
            (scale, self.weight.get(place).copied().unwrap_or(1.0))
        };
        let given: Vec<_> = (0..files.len()).map(given).collect();
        ensure!(
            given.iter().any(|(_, weight)| *weight > 0.0),
            "--weight: at least one mentor must have a weight above 0"
        );
        self.refuse_existing()?;
        let sources: Vec<_> = files.iter().map(Source::file).collect();
        let merged = data::merge(&sources, &given)?;
        let writing = || format!("writing {}", self.out.display());
        let format = self.format();
        let mut writer =
            LabelWriter::create(&self.out, format, &merged.header).with_context(writing)?;
        for label in &merged.labels {
            writer.write(label).with_context(writing)?;
        }
        let count = writer.finish().with_context(writing)?;
        for share in &merged.shares {
            println!(
                "{}: scale {:.1}, weight {}",
                share.name(),
                share.scale,
                share.weight
            );
        }
        if merged.unreadable > 0 {
            eprintln!("{} lines are no labels", merged.unreadable);
        }
        println!(
            "{} labels merged, {} left out (not scored by all)",
            count, merged.left_out
        );
        Ok(())
    }
}

fn summary(counts: &LabelCounts) -> String {
    format!(
        "{} labelled, {} left out (mate), {} left out (best move not quiet), {} left out \
         (score), {} skipped",
        counts.labelled.load(Relaxed),
        counts.mates.load(Relaxed),
        counts.loud.load(Relaxed),
        counts.decided.load(Relaxed),
        counts.skipped.load(Relaxed)
    )
}

fn options(texts: &[String]) -> Result<Vec<(String, String)>> {
    let read = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .with_context(|| format!("--option {text}: not NAME=VALUE"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    texts.iter().map(read).collect()
}
