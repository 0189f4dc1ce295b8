//! `finch completions SHELL`: a script that completes commands and options in a shell.

use clap::Args;
use clap_complete::Shell;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch completions bash > ~/.local/share/bash-completion/completions/finch
  finch completions zsh > ~/.zfunc/_finch
  finch completions fish > ~/.config/fish/completions/finch.fish")]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "finch", &mut script);
        print!("{}", String::from_utf8(script)?);
        Ok(())
    }
}
