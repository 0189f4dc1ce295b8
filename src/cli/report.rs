//! `finch report DIR…`: the page of a run, or of several side by side.

use std::path::PathBuf;

use clap::Args;

use crate::tune::report;
use crate::tune::run::Folder;

#[derive(Args)]
pub struct Arguments {
    /// Folders that runs wrote.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder for a page about several runs.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        for path in &self.folders {
            report::write(&Folder::open(path)?)?;
            println!("{}", path.join("report.html").display());
        }
        if self.folders.len() > 1 {
            report::write_comparison(&self.out, &self.folders)?;
            println!("{}", self.out.join("report.html").display());
        }
        Ok(())
    }
}
