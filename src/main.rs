use std::process::ExitCode;

use finch::cli::Arguments;
use finch::terminal::printable;

fn main() -> ExitCode {
    // Standard output belongs to UCI: the log goes to standard error.
    env_logger::init();
    match Arguments::read().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("finch: {}", printable(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
