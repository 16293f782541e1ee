//! `completions`: prints shell completions.

use clap_complete::Shell;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::streams::{Lines, Streams};

/// Prints completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright completions bash > ~/.local/share/bash-completion/completions/fleetwright\n",
    "  fleetwright completions fish > ~/.config/fish/completions/fleetwright.fish\n\n",
    "Exit codes:\n",
    "  0  printed\n",
    "  2  no such shell",
))]
pub(in crate::cli) struct Args {
    /// The shell.
    shell: Shell,
}

pub(in crate::cli) fn run(args: &Args, command: &mut clap::Command, streams: &mut Streams) -> Result<Exit, Error> {
    // The generator panics on a write error, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "fleetwright", &mut script);
    streams.write_as(Lines::Data, |out| out.write_all(&script))?;
    Ok(Exit::Clean)
}
