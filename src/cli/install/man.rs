//! `man`: writes the manual pages.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::streams::Streams;
use crate::disk;

/// Writes the manual pages: one of fleetwright, and one of each command.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright man ~/.local/share/man/man1   for `man fleetwright` and `man fleetwright-lint`\n\n",
    "Exit codes:\n",
    "  0  written\n",
    "  2  the directory cannot be written",
))]
pub(in crate::cli) struct Args {
    /// The directory; it is created if it does not exist.
    dir: PathBuf,
}

pub(in crate::cli) fn run(args: &Args, command: clap::Command, streams: &mut Streams) -> Result<Exit, Error> {
    let mut pages = BTreeMap::new();
    let mut command = command.disable_help_subcommand(true);
    command.build();
    add(&command, &mut pages)?;
    disk::write_files(&args.dir, &pages)?;
    streams.message(format_args!("wrote {} manual pages to {}", pages.len(), args.dir.display()));
    Ok(Exit::Clean)
}

/// Adds the pages of a command and of its commands.
fn add(command: &clap::Command, pages: &mut BTreeMap<String, String>) -> Result<(), Error> {
    // The examples and the exit codes follow the other sections, with their lines as they are.
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone().after_help(None::<&str>));
    let mut page = Vec::new();
    man.render(&mut page)?;
    sections(&after).to_writer(&mut page)?;
    pages.insert(man.get_filename(), String::from_utf8_lossy(&page).into_owned());
    command.get_subcommands().try_for_each(|command| add(command, pages))
}

/// Formats blocks of text that start with a heading and a colon as sections.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    for block in text.split("\n\n") {
        let (heading, lines) = block.split_once(":\n").unwrap_or(("", block));
        roff.control("SH", [heading.to_uppercase().as_str()]).control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}
