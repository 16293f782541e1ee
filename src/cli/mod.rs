//! The command line. Each command is a file with its arguments and its `run` function.

mod exit;
mod bug;
mod streams;
mod error;
mod supervisor;
mod install;
mod layout;
mod source;
mod init;
mod linter;
mod output;
mod policy;
mod kustomize;
mod repository;
mod schema;
mod build;
mod lint;
mod access;
mod render;
mod rule;
mod selection;
mod graph;
mod trace;
mod diff;
mod upgrade;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use error::Error;
use exit::Exit;
use install::{completions, man};
use streams::Streams;

/// A compiler and a linter for Flux fleet repositories.
#[derive(Debug, Parser)]
#[command(name = "fleetwright", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright init fleet && cd fleet   write a commented example fleet.yaml\n",
    "  fleetwright render                   render fleet.yaml into a Flux repository\n",
    "  fleetwright lint                     lint any Flux repository\n",
    "  fleetwright build --cluster staging  print the objects that a cluster receives\n",
    "  fleetwright trace Namespace/apps     print the files and lines that define an object\n\n",
    "Exit codes:\n",
    "  0  clean: nothing to report, the tree is current\n",
    "  1  findings at or above --fail-on, a stale tree, or files that need a decision\n",
    "  2  fleetwright failed: bad arguments, no such directory, an invalid fleet.yaml",
))]
struct Cli {
    /// When to use colors; `NO_COLOR` disables them too.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 100)]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    Render(render::Args),
    Lint(lint::Args),
    Upgrade(upgrade::Args),
    Kustomize(kustomize::Args),
    Build(build::Args),
    Trace(trace::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Access(access::Args),
    #[command(visible_aliases = ["rules", "explain"])]
    Rule(rule::Args),
    Schema(schema::Args),
    Layout(layout::Args),
    Policy(policy::Args),
    Init(init::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Parses the arguments of the process and runs the command.
pub fn run() -> ExitCode {
    supervisor::supervise(|| bug::guard(run_here))
}

fn run_here() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error).into(),
    };
    let mut streams = Streams::standard(cli.color.into());
    streams.start_progress("working");
    let result = dispatch(&cli.command, &mut streams).and_then(|exit| {
        streams.write(|_| Ok(()))?;
        Ok(exit)
    });
    streams.end_progress();
    match result {
        Ok(exit) => exit.into(),
        Err(error) => error.report(&mut streams).into(),
    }
}

fn dispatch(command: &Command, streams: &mut Streams) -> Result<Exit, Error> {
    if supervisor::searched_render().is_some() && !matches!(command, Command::Render(_)) {
        return Ok(Exit::Clean);
    }
    match command {
        Command::Render(args) => render::run(args, streams),
        Command::Lint(args) => lint::run(args, streams),
        Command::Upgrade(args) => upgrade::run(args, streams),
        Command::Kustomize(args) => kustomize::run(args, streams),
        Command::Build(args) => build::run(args, streams),
        Command::Trace(args) => trace::run(args, streams),
        Command::Diff(args) => diff::run(args, streams),
        Command::Graph(args) => graph::run(args, streams),
        Command::Access(args) => access::run(args, streams),
        Command::Rule(args) => rule::run(args, streams),
        Command::Schema(args) => schema::run(args, streams),
        Command::Layout(args) => layout::run(args, streams),
        Command::Policy(args) => policy::run(args, streams),
        Command::Init(args) => init::run(args, streams),
        Command::Completions(args) => completions::run(args, &mut Cli::command(), streams),
        Command::Man(args) => man::run(args, Cli::command(), streams),
    }
}

/// Prints the output of clap: help and version to standard output, errors in arguments to standard error.
fn refuse(error: &clap::Error) -> Exit {
    let mut streams = Streams::standard(anstream::ColorChoice::Auto);
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        streams.message(text.trim_end());
        return Exit::Failed;
    }
    let written = streams.out().write_all(text.as_bytes()).and_then(|()| streams.out().flush());
    written.map_or_else(|error| Error::from(error).report(&mut streams), |()| Exit::Clean)
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_and_exit_codes() {
        let mut cli = Cli::command();
        cli.build();
        cli.clone().debug_assert();
        for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:") && after.contains("Exit codes:"), "{}", command.get_name());
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
