//! `finch report DIR…`: draws the page of each run, and one that compares several; with `--watch`
//! serves the page of a run under way.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use crate::tune::report::{self, Watch};
use crate::tune::run::RunFolder;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch report runs/vazquez-2013
  finch report runs/vazquez-2013 runs/vazquez-2013-2 --out runs
  finch report --watch runs/vazquez-2013       # live, while the run goes on
  finch report --papers runs/papers            # all runs of tuning/papers.sh, by paper")]
pub struct Arguments {
    /// Folders of runs.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder for the page that compares several runs.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Show the run's page in the browser while it goes on, until Ctrl-C. Only this machine can open it.
    #[arg(long)]
    watch: bool,
    /// One page of all runs below the folder that repeat a paper, beside the paper's figures.
    #[arg(long, conflicts_with = "watch")]
    papers: bool,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        if self.watch {
            return self.serve();
        }
        if self.papers {
            return self.papers();
        }
        for path in &self.folders {
            report::write(&RunFolder::open(path)?)?;
            println!("{}", path.join(report::FILE).display());
        }
        if self.folders.len() > 1 {
            report::write_comparison(&self.out, &self.folders)?;
            println!("{}", self.out.join(report::FILE).display());
        }
        Ok(())
    }

    fn papers(&self) -> anyhow::Result<()> {
        for folder in &self.folders {
            if report::write_papers(folder)? == 0 {
                bail!("{}: no finished runs that repeat a paper", folder.display());
            }
            println!("{}", folder.join(report::FILE).display());
        }
        Ok(())
    }

    /// Serves the page of the one folder.
    fn serve(&self) -> anyhow::Result<()> {
        let [folder] = &self.folders[..] else {
            bail!("--watch shows one run; name one folder");
        };
        RunFolder::open(folder)?.config()?;
        let watch = listen()?;
        // Before anyone knows the address, so that the first look finds the run.
        watch.show(folder);
        announce(&watch);
        loop {
            std::thread::park();
        }
    }
}

/// Starts to serve a page if that is wanted, and prints its address.
pub(super) fn start_watch(wanted: bool) -> anyhow::Result<Option<Watch>> {
    if !wanted {
        return Ok(None);
    }
    let watch = listen()?;
    announce(&watch);
    Ok(Some(watch))
}

fn listen() -> anyhow::Result<Watch> {
    Watch::start().context("--watch: cannot open a port on 127.0.0.1")
}

fn announce(watch: &Watch) {
    eprintln!("watch: {}", watch.address());
}
