use std::process::ExitCode;

use finch::cli::Arguments;

fn main() -> ExitCode {
    // Standard output belongs to UCI: the log goes to standard error.
    env_logger::init();
    Arguments::read().run_to_exit_code()
}
