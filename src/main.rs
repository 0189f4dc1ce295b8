use std::process::ExitCode;

use clap::Parser;
use finch::cli::Arguments;

fn main() -> ExitCode {
    // Standard output belongs to UCI: what is logged goes to standard error.
    env_logger::init();
    match Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("finch: {error:#}");
            ExitCode::FAILURE
        }
    }
}
