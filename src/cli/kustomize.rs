//! `kustomize`: prints the objects of a kustomization.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::exit::Exit;
use super::linter;
use super::streams::{Lines, Streams};
use crate::address::{Location, LocationError};
use crate::base::finding::Severity;
use crate::disk;
use crate::kustomize::{self, Builder, CopySet, FILE_NAMES, Files, Reading, file_in};
use crate::report::mask::SecretValues;
use crate::yaml::go;

/// Builds a kustomization and prints its objects, like `kustomize build`.
///
/// Bases may be anywhere in the Git repository that contains the directory.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright kustomize overlays/prod\n",
    "  fleetwright kustomize apps/web --load-restrictor LoadRestrictionsNone\n\n",
    "Exit codes:\n",
    "  0  built\n",
    "  1  the build failed; the findings show the cause\n",
    "  2  fleetwright failed: no such directory",
))]
pub(super) struct Args {
    /// The directory of the kustomization.yaml.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Permits or forbids references to files outside of the kustomization's directory.
    #[arg(long, value_name = "WHICH", default_value = "LoadRestrictionsRootOnly")]
    load_restrictor: Restrictor,
    /// The local copy of a repository, or of one branch or tag with `URL#REF=DIR`; may be repeated.
    #[arg(long = "source", value_name = "URL=DIR", value_parser = location)]
    sources: Vec<Location>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Restrictor {
    /// Reads files only from the kustomization's directory, like kustomize.
    #[value(name = "LoadRestrictionsRootOnly")]
    RootOnly,
    /// Reads files from any directory, like Flux.
    #[value(name = "LoadRestrictionsNone")]
    None,
}

fn location(text: &str) -> Result<Location, LocationError> {
    Location::parse(text)
}

fn copy(location: &Location) -> Result<kustomize::Copy, Error> {
    Ok(kustomize::Copy::new(location, disk::open_copy(Path::new(&location.folder))?))
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let opened = disk::open_lazy(&args.dir)?;
    let reading = match args.load_restrictor {
        Restrictor::RootOnly => Reading::Kustomize,
        Restrictor::None => Reading::Unrestricted,
    };
    let copies = args.sources.iter().map(copy).collect::<Result<CopySet, Error>>()?;
    let files = Files::read(&opened.tree, |_| false).read_as(reading).with_copies(&copies);
    if file_in(&files, &opened.folder).is_empty() {
        let message = format!("there is no {} in `{}`", FILE_NAMES[0], args.dir.display());
        return Err(Error::with_help(message, "pass a directory that contains a kustomization file"));
    }
    let builder = Builder::new(files);
    let build = builder.build(&opened.folder);
    let mut findings = build.findings;
    findings.extend(build.empty);
    findings.extend(build.left_out);
    findings.extend(build.charts);
    let is_built = findings.iter().all(|finding| finding.severity < Severity::Error);
    if is_built {
        streams.write_as(Lines::Data, |out| {
            for (at, object) in build.objects.iter().enumerate() {
                let separator = if at > 0 { "---\n" } else { "" };
                write!(out, "{separator}{}", go::print(&object.node))?;
            }
            Ok(())
        })?;
    }
    if !findings.is_empty() {
        let mut tree = opened.tree.clone();
        builder.files().parsed_on_demand().into_iter().for_each(|file| tree.insert(file));
        let mut secrets = SecretValues::of(&tree, None);
        secrets.extend(SecretValues::of_objects(build.objects.iter().map(|object| &object.node)));
        streams.hide(&secrets)?;
        linter::print_findings(findings, "", streams)?;
    }
    Ok(if is_built { Exit::Clean } else { Exit::Found })
}
