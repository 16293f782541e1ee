//! `kustomize`: a folder → the objects that it builds to.

use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::judge;
use super::streams::Streams;
use crate::disk;
use crate::kustomize::{Builder, FILE_NAMES, Files, file_in};
use crate::yaml::{Node, print};

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

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let opened = disk::open(&args.dir)?;
    let files = Files::read(&opened.tree, |_| false);
    if file_in(&files, &opened.folder).is_empty() {
        let message = format!("there is no {} in `{}`", FILE_NAMES[0], args.dir.display());
        return Err(Error::said(message, "name the folder that one lies in"));
    }
    let build = Builder::new(files).build(&opened.folder);
    let mut findings = build.findings;
    findings.extend(build.empty);
    if !findings.is_empty() {
        judge::show(findings, "", streams)?;
        return Ok(Exit::Found);
    }
    let nodes: Vec<Node> = build.objects.into_iter().map(|object| object.node).collect();
    streams.write(|out| write!(out, "{}", print(&nodes)))?;
    Ok(Exit::Clean)
}
