//! `upgrade`: reports the changes that other versions of Flux and Kubernetes cause.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::exit::Exit;
use super::lint::Generated;
use super::linter;
use super::output::{self, Output};
use super::repository::{Options, refuse_unread};
use super::source::governing_fleet;
use super::source::{FLEET, folder_of};
use super::streams::Streams;
use crate::api::release::flux_releases;
use crate::base::finding::Severity;
use crate::disk;
use crate::flux::{FluxVersion, Receiver, Repo};
use crate::lint::{self, Upgrade};
use crate::report::counted;
use crate::report::mask::SecretValues;
use crate::text::{Edit, Tree, edited};

/// Reports the changes that a move to other versions of Flux and Kubernetes causes, for each cluster.
///
/// An error is a change that breaks a cluster: a removed API version or field, an undefined variable that strict
/// substitution rejects, a removed flag, or an unsupported pair of Flux and Kubernetes. Warnings are deprecated API
/// versions and changed defaults.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright upgrade --flux-version 2.9             the current directory\n",
    "  fleetwright upgrade fleet --flux-version 2.9 --kubernetes-version 1.36\n",
    "                                                     with a version of Kubernetes\n",
    "  fleetwright upgrade --flux-version 2.9 --fix       replace API versions in place\n",
    "  fleetwright upgrade --flux-version 2.9 --format markdown > upgrade.md\n",
    "                                                     for an issue or a pull request\n\n",
    "Exit codes:\n",
    "  0  nothing breaks\n",
    "  1  a change breaks a cluster\n",
    "  2  fleetwright failed: no such directory, an unreadable file, an unknown version,\n",
    "     an invalid fleet.yaml or .fleetwright.yaml",
))]
pub(super) struct Args {
    /// The directory of the repository.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The output format; `FORMAT=FILE` writes it to a file, and may be repeated.
    ///
    /// The formats are those of `lint`, such as text, json and markdown.
    #[arg(long, value_name = "FORMAT[=FILE]", default_value = "text", value_parser = Output::parse)]
    format: Vec<Output>,
    /// Replaces the API versions of objects that need no other change than a renamed field. All other bytes of the files
    /// stay.
    #[arg(long)]
    fix: bool,
    /// Prints the skipped objects and checks, with the reasons.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    output::check(&args.format)?;
    check_versions(&args.options)?;
    let (mut tree, mut prefix, mut upgrade) = compare(args, streams)?;
    if args.fix {
        let folder = if disk::is_file(&args.dir) { folder_of(&args.dir) } else { args.dir.clone() };
        let changed = fix(&tree, &folder, &upgrade.edits, streams)?;
        if changed > 0 {
            (tree, prefix, upgrade) = compare(args, streams)?;
        }
    }
    let not_linted = linter::NotLinted::of(&upgrade.outcome);
    let report = linter::report(upgrade.outcome, &tree, &prefix);
    output::write(&args.format, &report, streams)?;
    not_linted.warn(streams);
    if args.verbose {
        linter::print_skipped(&report.summary.coverage, streams);
    }
    refuse_unread(&tree, "read")?;
    let breaks = report.findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if breaks { Exit::Found } else { Exit::Clean })
}

/// Reads the repository, and compares it under both versions.
fn compare(args: &Args, streams: &mut Streams) -> Result<(Tree, String, Upgrade), Error> {
    let repository = args.options.open(&args.dir, streams)?;
    let folder = if disk::is_file(&args.dir) { folder_of(&args.dir) } else { args.dir.clone() };
    let source = governing_fleet(&args.dir, &repository.tree, &folder)?;
    if let Some(source) = source.as_ref().filter(|source| source.loaded.fleet.is_none()) {
        linter::print_findings(source.loaded.findings.clone(), &source.folder, streams)?;
        return Err(Error::Printed(format!("nothing was compared: the `{FLEET}` of the repository is invalid")));
    }
    let mut then = linter::options(repository.settings, source.as_ref(), &repository.tree, streams)?;
    if args.options.selects_clusters() {
        let repo = Repo::load(&repository.tree, &then.settings);
        let receivers: Vec<Receiver<'_>> = args.options.receivers(&repo.clusters)?;
        then.clusters = receivers.iter().map(ToString::to_string).collect();
    }
    streams.hide(&SecretValues::of(&repository.tree, None))?;
    let mut now = then.clone();
    (now.settings.flux_version, now.settings.kubernetes_version) = (None, None);
    let upgrade = lint::upgrade(&repository.tree, &now, &then);
    Ok((repository.tree, repository.prefix, upgrade))
}

fn check_versions(options: &Options) -> Result<(), Error> {
    let (flux, kubernetes) = options.versions();
    if flux.is_none() && kubernetes.is_none() {
        let help = "pass `--flux-version VERSION`, `--kubernetes-version VERSION` or both";
        return Err(Error::with_help("no version to upgrade to".to_owned(), help));
    }
    let Some((flux, newest)) = flux.zip(flux_releases().last()) else { return Ok(()) };
    let release = FluxVersion::parse(flux);
    let is_known = release.as_ref().and_then(FluxVersion::release).is_some_and(|release| {
        flux_releases().iter().any(|known| (known.version.major, known.version.minor) == (release.major, release.minor))
    });
    if is_known {
        return Ok(());
    }
    let newest = &newest.version;
    let help = format!("the newest known release is {}.{}.{}", newest.major, newest.minor, newest.patch);
    Err(Error::with_help(format!("Flux {flux} is not a known release"), help))
}

/// Applies the edits of files that fleet.yaml does not generate. Returns the number of changed files.
fn fix(tree: &Tree, folder: &Path, edits: &[Edit], streams: &mut Streams) -> Result<usize, Error> {
    let generated = Generated::of(tree);
    let (kept, edits): (Vec<&Edit>, Vec<&Edit>) =
        edits.iter().partition(|edit| generated.lists(edit.span.file().path()));
    let texts = edited(tree, edits.iter().copied());
    let count = edits.iter().filter(|edit| texts.contains_key(edit.span.file().path())).count();
    disk::rewrite(folder, &texts)?;
    let files = counted(texts.len(), "file");
    streams.message(format_args!("replaced {} in {files}", counted(count, "text")));
    if !kept.is_empty() {
        let versions = counted(kept.len(), "text");
        streams.message(format_args!("not replaced: {versions} in files that `{FLEET}` generates; change the layout"));
    }
    Ok(texts.len())
}
