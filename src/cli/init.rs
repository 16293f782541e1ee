//! `init`: writes an example fleet.yaml.

use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::layout::built_in;
use super::source::FLEET;
use super::streams::Streams;
use crate::disk;
use crate::fleet::{DEFAULT_LAYOUT, EXAMPLE, schema, with_values};
use crate::lint::with_rules;

/// The path of the schema, which the first line of the written fleet.yaml references.
const SCHEMA: &str = ".fleetwright.schema.json";

/// Writes a commented example fleet.yaml, and its schema for editors.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright init           in the current directory\n",
    "  fleetwright init my-fleet  in a new directory\n",
    "  fleetwright init --layout d1 my-fleet\n\n",
    "Exit codes:\n",
    "  0  written\n",
    "  2  a fleet.yaml exists already, no such layout, or the directory is not writable",
))]
pub(super) struct Args {
    /// The directory; it is created if it does not exist.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The built-in layout of the fleet; `fleetwright layout` lists them.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_LAYOUT)]
    layout: String,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let file = args.dir.join(FLEET);
    if !disk::read_some(&args.dir, [FLEET])?.is_empty() {
        let help = "edit it, or pass another directory: `fleetwright init DIR`";
        return Err(Error::with_help(format!("`{}` exists already", file.display()), help));
    }
    let layout = built_in(&args.layout)?;
    let example = layout.files.file(EXAMPLE).map_err(|_| {
        Error::with_help(format!("layout `{}` has no example", layout.name), "start from the example of another layout")
    })?;
    disk::create(&file, example.text())?;
    if disk::read_some(&args.dir, [SCHEMA])?.is_empty() {
        disk::create(&args.dir.join(SCHEMA), &format!("{:#}\n", with_values(with_rules(schema()), &layout)))?;
    }
    streams.message(format_args!("wrote `{}` and its schema for editors", file.display()));
    let folder = args.dir.display().to_string();
    let go = if folder == "." { String::new() } else { format!("cd {folder} && ") };
    streams.message(format_args!("next: edit it, then run `{go}fleetwright render`"));
    Ok(Exit::Clean)
}
