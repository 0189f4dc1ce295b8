//! `finch` and `finch uci`: a UCI session.

use clap::Args;

use super::WeightsOption;
use crate::eval::LoadedWeights;
use crate::uci;

#[derive(Args, Default)]
#[command(after_help = "\
Examples:
  finch                                        # UCI on standard input, as a GUI starts it
  finch \"position startpos moves e2e4\" \"go depth 12\"
  finch --weights runs/texel/best.toml")]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// UCI commands to run instead of reading standard input, each in quotes.
    #[arg(value_name = "COMMAND")]
    pub(super) commands: Vec<String>,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        // An unreadable installed file must not keep a GUI from playing.
        let loaded = match self.weights.or_installed() {
            Err(error) if !self.weights.is_given() => {
                eprintln!("finch: {error:#}; the built-in weights play");
                LoadedWeights::built_in()
            }
            loaded => loaded?,
        };
        uci::run(loaded, &self.commands)
    }
}
