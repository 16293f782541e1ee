//! `kustomize`: a folder → the objects that it builds to.

use std::path::PathBuf;

use super::error::Error;
use super::exit::Exit;
use super::judge;
use super::streams::Streams;
use crate::disk;
use crate::kustomize::{Builder, Copy, FILE_NAMES, Files, Reading, file_in};
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
    /// Where a copy lies of a repository that is named by a URL, with `#ref` where a branch matters; may be repeated.
    #[arg(long, value_name = "URL=DIR")]
    source: Vec<Source>,
}

/// A copy of a repository.
#[derive(Debug, Clone)]
struct Source {
    url: String,
    folder: PathBuf,
}

impl std::str::FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A URL may have `=` in its query; a folder rarely does.
        match text.rsplit_once('=') {
            Some((url, folder)) if !url.is_empty() && !folder.is_empty() => {
                Ok(Self { url: url.to_owned(), folder: folder.into() })
            }
            _ => Err("it is no `URL=DIR`"),
        }
    }
}

impl Source {
    fn open(&self) -> Result<Copy, Error> {
        Ok(Copy { url: self.url.clone(), tree: disk::open_alone(&self.folder)? })
    }
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
    let reading = match args.load_restrictor {
        Restrictor::RootOnly => Reading::Kustomize,
        Restrictor::None => Reading::Unrestricted,
    };
    let copies = args.source.iter().map(Source::open).collect::<Result<Vec<Copy>, Error>>()?;
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
