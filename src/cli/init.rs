//! `init`: a fleet.yaml to start from.

use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::source::FLEET;
use super::streams::Streams;
use crate::disk;

/// Where the schema lies that the first line of the written fleet.yaml names.
const SCHEMA: &str = ".fleetwright.schema.json";
const TEMPLATE: &str = include_str!("init.yaml");

/// Writes a commented fleet.yaml to start from, and the schema that editors check it with.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright init           in this folder\n",
    "  fleetwright init my-fleet  in a new one\n\n",
    "Exit codes:\n",
    "  0  written\n",
    "  2  there is a fleet.yaml already, or the folder cannot be written to",
))]
pub(super) struct Args {
    /// The folder; it is made when it does not exist.
    #[arg(default_value = ".")]
    dir: PathBuf,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let file = args.dir.join(FLEET);
    if !disk::read_some(&args.dir, [FLEET])?.is_empty() {
        let help = "edit that one, or say another folder: `fleetwright init DIR`";
        return Err(Error::said(format!("`{}` exists already", file.display()), help));
    }
    disk::create(&file, TEMPLATE)?;
    if disk::read_some(&args.dir, [SCHEMA])?.is_empty() {
        disk::create(&args.dir.join(SCHEMA), &format!("{:#}\n", crate::lint::with_rules(crate::fleet::schema())))?;
    }
    streams.say(format_args!("wrote `{}` and the schema that editors check it with", file.display()));
    let folder = args.dir.display().to_string();
    let go = if folder == "." { String::new() } else { format!("cd {folder} && ") };
    streams.say(format_args!("next: edit it, then `{go}fleetwright render`"));
    Ok(Exit::Clean)
}
