//! The project's own commands. `cargo xtask help` lists them.

#![allow(clippy::print_stdout, reason = "a command line program speaks on stdout")]

/// A demo started for foreign clients to talk to.
mod demo;
/// The pictures of the README.
mod pictures;
/// Running programs and saying what is run.
mod process;
/// The test rings, and which of them can run here.
mod ring;
/// The large counts, run by hand.
mod soak;
/// What the repository promises about itself.
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask COMMAND

  test [--all | --install] [--ring NAME]...
            Run the test rings. `rust` always runs; `clients`, `browser` and `ros-peers` run where their tools are found.
            --install   fetch what a ring misses into target/rings (and Debian packages, as root)
            --all       like --install, and a ring that cannot run is a failure
            --ring NAME only this ring; may be given again
  tidy      Check what the repository promises about itself: crate graph, picture sizes, files.
  soak      `restarts`, `scenes`, `coverage`, or all of them. Takes long; results go to docs/.
  pictures  Make the pictures of the README again.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went well.
fn run(arguments: &[String]) -> Result<bool> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(true);
    };
    match command.as_str() {
        "test" => Ok(ring::run(&ring::Options::parse(rest)?)),
        "tidy" => Ok(tidy::run()),
        "soak" => soak::run(rest),
        "pictures" => pictures::run(),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(true)
        }
        other => bail!("no command {other:?}; `cargo xtask help` lists them"),
    }
}
