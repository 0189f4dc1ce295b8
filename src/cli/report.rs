//! `finch report DIR…`: draws the page of each run, and one that compares several.

use std::path::PathBuf;

use clap::Args;

use crate::tune::report;
use crate::tune::run::RunFolder;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch report runs/vazquez-2013
  finch report runs/vazquez-2013 runs/vazquez-2013-2 --out runs")]
pub struct Arguments {
    /// Folders of runs.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder for the page that compares several runs.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
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
}
