//! `kustomize`: a folder → the objects that it builds to.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::exit::Exit;
use super::judge;
use super::streams::Streams;
use crate::address::{Location, LocationError};
use crate::disk;
use crate::kustomize::{self, Builder, FILE_NAMES, Files, Reading, file_in};
use crate::yaml::go;

/// Prints what `kustomize build` prints: the objects that a folder builds to.
///
/// Bases may lie anywhere in the Git repository around the folder.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright kustomize overlays/prod\n",
    "  fleetwright kustomize apps/web --load-restrictor LoadRestrictionsNone\n\n",
    "Exit codes:\n",
    "  0  built\n",
    "  1  it does not build; the findings say why\n",
    "  2  the work could not be done: no such folder",
))]
pub(super) struct Args {
    /// The folder with the kustomization.yaml.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Whether a kustomization may name files outside of its own folder.
    #[arg(long, value_name = "WHICH", default_value = "LoadRestrictionsRootOnly")]
    load_restrictor: Restrictor,
    /// Where a copy of a repository lies; `URL#REF=DIR` is one of a branch or tag; may be repeated.
    #[arg(long = "source", value_name = "URL=DIR", value_parser = location)]
    sources: Vec<Location>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Restrictor {
    /// Files are taken from the kustomization's own folder, as kustomize does it.
    #[value(name = "LoadRestrictionsRootOnly")]
    RootOnly,
    /// Files are taken from anywhere, as Flux does it.
    #[value(name = "LoadRestrictionsNone")]
    None,
}

fn location(text: &str) -> Result<Location, LocationError> {
    Location::parse(text)
}

fn copy(location: &Location) -> Result<kustomize::Copy, Error> {
    Ok(kustomize::Copy::new(location, disk::open_alone(Path::new(&location.folder))?))
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let opened = disk::open(&args.dir)?;
    let reading = match args.load_restrictor {
        Restrictor::RootOnly => Reading::Kustomize,
        Restrictor::None => Reading::Unrestricted,
    };
    let copies = args.sources.iter().map(copy).collect::<Result<Vec<_>, Error>>()?;
    let files = Files::read(&opened.tree, |_| false).read_as(reading).with_copies(copies);
    if file_in(&files, &opened.folder).is_empty() {
        let message = format!("there is no {} in `{}`", FILE_NAMES[0], args.dir.display());
        return Err(Error::said(message, "name the folder that one lies in"));
    }
    let build = Builder::new(files).build(&opened.folder);
    let mut findings = build.findings;
    findings.extend(build.empty);
    findings.extend(build.left_out);
    if !findings.is_empty() {
        judge::show(findings, "", streams)?;
        return Ok(Exit::Found);
    }
    streams.write(|out| {
        for (at, object) in build.objects.iter().enumerate() {
            let separator = if at > 0 { "---\n" } else { "" };
            write!(out, "{separator}{}", go::print(&object.node))?;
        }
        Ok(())
    })?;
    Ok(Exit::Clean)
}
