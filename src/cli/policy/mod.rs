//! `policy`: lists, prints and tests admission policies.

mod list;
mod show;
mod test;

use std::path::PathBuf;

use clap::Subcommand;

use super::error::Error;
use super::exit::Exit;
use super::streams::Streams;

/// Lists, prints and tests admission policies.
///
/// `lint` evaluates the policies that clusters receive, and those that `policies` of .fleetwright.yaml names.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright policy list                       the built-in policies\n",
    "  fleetwright policy show no-latest-image       as it is valid on a cluster\n",
    "  fleetwright policy show allowed-registries --parameter registries=ghcr.io/acme\n",
    "  fleetwright policy test policies              runs the tests in a directory\n\n",
    "Exit codes:\n",
    "  0  printed; all tests pass\n",
    "  1  a test fails\n",
    "  2  no such policy, an invalid test or policy, or no tests",
))]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the built-in policies.
    List,
    /// Prints a built-in policy with its binding and its parameters.
    Show(Show),
    /// Runs the tests of policies.
    Test(Test),
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The name of the policy.
    name: String,
    /// Sets a parameter; may be repeated.
    #[arg(long = "parameter", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Test {
    /// A directory with tests, or a single file.
    #[arg(default_value = ".")]
    path: PathBuf,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    match &args.command {
        Command::List => list::run(streams),
        Command::Show(show) => show::run(&show.name, &show.parameters, streams),
        Command::Test(test) => test::run(&test.path, streams),
    }
}
