//! `finch man DIR`: manual pages, one for Finch and one for each command.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Example:
  finch man ~/.local/share/man/man1")]
pub struct Arguments {
    /// Folder to write to; it is made if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let folder = self.folder.display();
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(super::command(), &self.folder))
            .with_context(|| folder.to_string())?;
        println!("manual pages in {folder}; read them with: man -l {folder}/finch.1");
        Ok(())
    }
}
