//! The program `shapetracker`, which is the function [`shapetracker_cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(shapetracker_cli::run(std::env::args_os()))
}
