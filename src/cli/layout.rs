//! `layout`: lists built-in layouts, and exports one as a starting point.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::exit::Exit;
use super::streams::Streams;
use crate::base::finding::{Finding, Severity};
use crate::disk;
use crate::fleet::{EXAMPLE, Layout, layout_in};
use crate::text::Tree;
use crate::yaml::Node;

/// Lists built-in layouts, or exports one as a starting point.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright layout                     list the layouts\n",
    "  fleetwright layout d1                  list the templates of a layout\n",
    "  fleetwright layout d1 ./layouts/mine   copy a layout to a new directory\n\n",
    "Exit codes:\n",
    "  0  printed or written\n",
    "  2  no such layout, or the directory exists already",
))]
pub(super) struct Args {
    /// The layout.
    name: Option<String>,
    /// The directory to which the layout is copied.
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let Some(name) = &args.name else { return list(streams) };
    let layout = built_in(name)?;
    let files = layout.files.files().map(|file| file.path().to_owned());
    let prefix = format!("templates/{name}/");
    let paths: Vec<String> = files.map(|path| path.strip_prefix(&prefix).unwrap_or(&path).to_owned()).collect();
    let paths = paths.iter().filter(|path| *path != EXAMPLE);
    let Some(dir) = &args.dir else {
        let description = description(&layout);
        streams.write(|out| {
            writeln!(out, "{name}: {description}\n")?;
            paths.clone().try_for_each(|path| writeln!(out, "{path}"))
        })?;
        return Ok(Exit::Clean);
    };
    if disk::exists(dir) {
        let message = format!("`{}` exists already", dir.display());
        return Err(Error::with_help(message, "pass a new directory: `fleetwright layout NAME DIR`"));
    }
    let mut count = 0;
    for path in paths {
        let Ok(file) = layout.files.file(path) else { continue };
        disk::create(&dir.join(path), file.text())?;
        count += 1;
    }
    streams.message(format_args!("wrote {count} files to `{}`", dir.display()));
    let written = dir.display().to_string();
    let written = written.strip_prefix("./").unwrap_or(&written);
    streams.message(format_args!("next: set `layout: ./{written}` in fleet.yaml, relative to that file"));
    Ok(Exit::Clean)
}

fn list(streams: &mut Streams) -> Result<Exit, Error> {
    let templates = crate::assets::templates();
    let names = Layout::names(&templates);
    let width = names.iter().map(|name| name.len()).max().unwrap_or_default();
    for name in names {
        let description = description(&built_in(name)?);
        streams.write(|out| writeln!(out, "{name:width$}  {description}"))?;
    }
    Ok(Exit::Clean)
}

fn description(layout: &Layout) -> String {
    layout.manifest.get("description").and_then(Node::text).unwrap_or_default().to_owned()
}

/// Returns a built-in layout.
pub(super) fn built_in(name: &str) -> Result<Layout, Error> {
    if name.starts_with('.') {
        let message = format!("`{name}` is not the name of a built-in layout");
        return Err(Error::with_help(message, "`fleetwright layout` lists them"));
    }
    found(layout_in(name, &Tree::default()))
}

/// Returns the layout with a name or in a directory.
pub(super) fn find(name: &str) -> Result<Layout, Error> {
    if !name.contains(['/', '\\', '.']) {
        return built_in(name);
    }
    let own = disk::list(Path::new(name))?;
    let mut tree = Tree::default();
    let paths: Vec<String> = own.entries().map(|(path, _)| path.to_owned()).collect();
    for path in paths {
        if let Ok(file) = own.file(&path) {
            tree.insert_entry(&format!("layout/{path}"), crate::text::Entry::Text(file));
        }
    }
    found(layout_in("./layout", &tree))
}

fn found((layout, findings): (Option<Layout>, Vec<Finding>)) -> Result<Layout, Error> {
    let mistake = findings.into_iter().find(|finding| finding.severity == Severity::Error);
    match (layout, mistake) {
        (Some(layout), None) => Ok(layout),
        (_, Some(mistake)) => Err(Error::with_help(mistake.message, mistake.help.unwrap_or_default())),
        (None, None) => Err(Error::with_help("the directory is not a layout", "create a layout.yaml in it")),
    }
}
