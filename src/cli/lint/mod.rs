//! `lint`: checks a Flux repository.

mod baseline;
mod cache;
mod fix;
mod since;

use std::path::{Path, PathBuf};

use baseline::BaselineOptions;
use cache::CacheOptions;
use fix::{Applied, FixOptions};
use since::SinceOptions;

pub(super) use fix::Generated;

use super::error::Error;
use super::exit::Exit;
use super::linter;
use super::output::{self, Output};
use super::repository::{DECLARE, NO_CLUSTER, Options};
use super::source::{self, FLEET, Source, folder_of, or_current};
use super::streams::Streams;
use crate::address::Address;
use crate::base::finding::Severity;
use crate::base::similar_names::did_you_mean;
use crate::disk::{self, Revision};
use crate::flux::{MISSING_PATH, NestedRoot, Receiver, Repo};
use crate::kube::groups::SYNC_FILE;
use crate::kustomize::{FAILED_BUILD, is_yaml};
use crate::lint::{self, Outcome, RULES};
use crate::report::mask::SecretValues;
use crate::report::{Report, counted, one_line};
use crate::text::{Tree, folder_of as folder_of_path};

/// Lints a Flux repository and the objects that its clusters receive.
///
/// Reads the nearest .fleetwright.yaml, from the directory up to the root of its Git repository, and the `lint` section
/// of the directory's fleet.yaml.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright lint                                   the current directory\n",
    "  fleetwright lint ../fleet --only invalid-yaml      only one rule; may be repeated\n",
    "  fleetwright lint --format json > report.json       for programs; see `schema report`\n",
    "  fleetwright lint --fix                             apply safe fixes; `--diff` prints them instead\n",
    "  fleetwright lint --baseline known.json --write-baseline\n",
    "                                                     record today's findings; report only new ones later\n",
    "  fleetwright lint --since main                      only findings that `main` does not have\n",
    "  fleetwright lint out --fleet fleet.yaml            with a fleet.yaml from another directory\n",
    "  fleetwright lint --source https://github.com/acme/apps.git=../apps\n",
    "                                                     with a local copy of another repository\n\n",
    "Exit codes:\n",
    "  0  no finding at or above --fail-on\n",
    "  1  findings at or above --fail-on\n",
    "  2  fleetwright failed: no such directory, an unreadable file,\n",
    "     an invalid fleet.yaml or .fleetwright.yaml",
))]
pub(super) struct Args {
    /// The directory, or a single file.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The output format; `FORMAT=FILE` writes it to a file, and may be repeated.
    ///
    /// The formats: text (source lines for terminals), concise (one line per finding), json, sarif, github, gitlab,
    /// junit and markdown.
    #[arg(long, value_name = "FORMAT[=FILE]", default_value = "text", value_parser = Output::parse)]
    format: Vec<Output>,
    /// Runs only this rule; may be repeated.
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// The lowest severity of a finding that causes exit code 1.
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    fail_on: FailOn,
    /// The fleet.yaml of the repository, if it is in another directory.
    #[arg(long, value_name = "FILE")]
    fleet: Option<PathBuf>,
    /// Shows pedantic findings too.
    #[arg(long, overrides_with = "no_pedantic")]
    pedantic: bool,
    /// Hides pedantic findings; overrides the configuration.
    #[arg(long, overrides_with = "pedantic")]
    no_pedantic: bool,
    #[command(flatten)]
    baseline: BaselineOptions,
    #[command(flatten)]
    since: SinceOptions,
    #[command(flatten)]
    cache: CacheOptions,
    #[command(flatten)]
    fixes: FixOptions,
    /// Prints the skipped objects, findings and checks, with the reasons.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

impl Args {
    /// Returns whether a run does more than to print its findings.
    fn has_other_effects(&self) -> bool {
        self.fixes.is_requested() || self.baseline.writes() || output::adds_job_summary(&self.format)
    }
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    match args.cache.open(&args.dir, args.has_other_effects(), streams)? {
        Some(cache) => cache.run(&output::files(&args.format), streams, |streams| run_afresh(args, streams)),
        None => run_afresh(args, streams),
    }
}

fn run_afresh(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    check_rules(&args.only)?;
    streams.set_activity("reading files");
    let revision = args.since.open(&args.dir);
    let (mut tree, source) = source::read_governed(args.fleet.as_deref(), &args.dir)?;
    let revision = revision?;
    let folder = if disk::is_file(&args.dir) { folder_of(&args.dir) } else { args.dir.clone() };
    output::check(&args.format)?;
    let prefix = display_prefix(&folder, &args.format);
    if let Some(source) = &source {
        if source.loaded.fleet.is_none() {
            linter::print_findings(source.loaded.findings.clone(), &source.folder, streams)?;
            let message = format!("nothing was linted: the `{FLEET}` of the repository is invalid");
            return Err(Error::Printed(message));
        }
        source::remove_templates(&mut tree, source);
    }
    let settings = args.options.settings(&tree, &folder, &prefix, streams)?;
    let mut options = linter::options(settings, source.as_ref(), &tree, streams)?;
    options.is_single_file = disk::is_file(&args.dir);
    options.only.clone_from(&args.only);
    options.pedantic = args.pedantic || (options.pedantic && !args.no_pedantic);
    options.baseline = args.baseline.read(!args.options.selects_clusters() && !options.is_single_file)?;
    if args.fixes.is_requested() && args.options.selects_clusters() {
        let repo = Repo::load(&tree, &options.settings);
        options.clusters = args.options.receivers(&repo.clusters)?.iter().map(ToString::to_string).collect();
    }
    if args.fixes.is_requested() {
        streams.hide(&SecretValues::of(&tree, None))?;
    }
    match args.fixes.apply(&tree, &options, (or_current(&folder), &prefix), streams)? {
        Applied::Unrequested => {}
        Applied::Printed(has_changes) => return Ok(if has_changes { Exit::Found } else { Exit::Clean }),
        Applied::Written(fixed) => tree = *fixed,
    }
    options.read_comments(&tree);
    streams.set_activity("building the objects of clusters");
    let load = if revision.is_some() { Repo::load_shareable } else { Repo::load };
    let mut repo = load(&tree, &options.settings);
    // A fleet.yaml defines the directories of repositories.
    let assumed = if source.is_none() { check_nested_roots(&mut repo, &folder)? } else { Vec::new() };
    let revision = revision.map(Revision::list).transpose()?;
    if args.options.selects_clusters() {
        options.clusters = args.options.receivers(&repo.clusters)?.iter().map(ToString::to_string).collect();
    }
    streams.set_activity("checking the objects of clusters");
    let outcome = match revision {
        Some(revision) => {
            let read_earlier = || since::read(revision, source.as_ref(), &tree);
            lint::judge_since(&repo, &options, &tree, read_earlier)?
        }
        None => lint::judge(&repo, &options),
    };
    let shows_texts = !outcome.findings.is_empty()
        || !outcome.not_built.is_empty()
        || outcome.baseline.recorded.is_some()
        || !outcome.baseline.fixed.is_empty()
        || args.verbose;
    let clusters = repo.clusters.iter().flat_map(Receiver::all).map(|one| one.to_string()).collect();
    let (source, folder) = (source.as_ref(), &*folder);
    let linted = Linted { args, tree: &tree, source, options: &options, folder, prefix: &prefix, clusters, assumed };
    let exit = if !shows_texts {
        linted.print(outcome, streams)
    } else if args.has_other_effects() {
        streams.hide(&SecretValues::of(&tree, Some(&repo)))?;
        linted.print(outcome, streams)
    } else {
        streams.hold()?;
        let exit = linted.print(outcome, streams);
        streams.release::<Error>(|printed| match exit {
            Ok(_) => SecretValues::printed(&tree, Some(&repo), printed),
            // The caller prints the error.
            Err(_) => SecretValues::of(&tree, Some(&repo)),
        })?;
        exit
    };
    // The process ends soon, so freeing a million nodes would only cost time.
    std::mem::forget(repo);
    exit
}

/// A linted directory.
struct Linted<'a> {
    args: &'a Args,
    tree: &'a Tree,
    source: Option<&'a Source>,
    options: &'a lint::Options,
    folder: &'a Path,
    /// The prefix of displayed paths.
    prefix: &'a str,
    /// The names of the clusters, with those that they manage.
    clusters: Vec<String>,
    /// The roots whose source is assumed.
    assumed: Vec<NestedRoot>,
}

impl Linted<'_> {
    /// Prints the outcome with notes on it.
    fn print(&self, outcome: Outcome, streams: &mut Streams) -> Result<Exit, Error> {
        let Self { args, tree, folder, .. } = self;
        warn_unused_skips(self.options, self.source, tree, self.prefix, streams)?;
        if !disk::is_file(&args.dir) {
            warn_unknown_clusters(self.options, self.source, &self.clusters, self.prefix, streams)?;
        }
        let not_linted = linter::NotLinted::of(&outcome);
        let baseline = outcome.baseline.clone();
        let mut report = linter::report(outcome, tree, self.prefix);
        report.summary.coverage.since = args.since.revision();
        output::write(&args.format, &report, streams)?;
        args.baseline.finish(&baseline, streams)?;
        not_linted.warn(streams);
        warn_assumed(&self.assumed, streams);
        if args.verbose {
            linter::print_skipped(&report.summary.coverage, streams);
        }
        if !warn_nothing_to_lint(&report, tree, &args.dir, streams)
            && !disk::is_file(&args.dir)
            && self.clusters.iter().all(String::is_empty)
        {
            let looked_for = match unusable_sync(tree, &report) {
                Some(why) => {
                    format!("{}; {why}", NO_CLUSTER.replace("no `gotk-sync.yaml`", "no usable `gotk-sync.yaml`"))
                }
                None => NO_CLUSTER.to_owned(),
            };
            streams.message(format_args!("{looked_for}; most rules do not apply; {DECLARE}"));
        }
        warn_partial_repository(&report, &args.dir, folder, streams);
        refuse_unreadable(tree, &report)?;
        Ok(exit(&report, args.fail_on))
    }
}

/// Compares the sources of roots in directories with the remotes of the checkout. Returns the roots whose source is assumed.
fn check_nested_roots(repo: &mut Repo, folder: &Path) -> Result<Vec<NestedRoot>, Error> {
    if !repo.has_nested_roots() {
        return Ok(Vec::new());
    }
    let remotes = disk::remotes(or_current(folder))?;
    Ok(repo.check_nested_roots(&remotes.iter().map(|url| Address::new(url)).collect::<Vec<Address>>()))
}

/// States the assumptions about the sources of roots.
fn warn_assumed(assumed: &[NestedRoot], streams: &mut Streams) {
    let Some(first) = assumed.first() else { return };
    let more = assumed.len() - 1;
    let more = if more > 0 { format!(" and {}", counted(more, "other cluster")) } else { String::new() };
    streams.message(format_args!(
        "assumed: the repository `{}` of cluster `{}`{more} contains the files of `{}`, since the synced path exists there",
        one_line(first.address.key()),
        one_line(&first.cluster),
        one_line(&first.folder)
    ));
}

fn check_rules(only: &[String]) -> Result<(), Error> {
    for id in only {
        if lint::rule(id).is_none() {
            return Err(unknown_rule(id));
        }
    }
    Ok(())
}

/// Creates an error about an unknown rule, with the most similar id.
pub(super) fn unknown_rule(id: &str) -> Error {
    let help = match did_you_mean(id, RULES.iter().map(|rule| rule.id)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "run `fleetwright rules` for a list".to_owned(),
    };
    Error::with_help(format!("there is no rule `{id}`"), help)
}

/// Returns the prefix of displayed paths: the directory as it was typed, or relative to the checkout for GitHub.
fn display_prefix(folder: &Path, formats: &[Output]) -> String {
    if formats.iter().any(|output| output.format.name == "github")
        && let Some(checkout) = std::env::var_os("GITHUB_WORKSPACE")
        && let Some(relative) = disk::relative(folder, Path::new(&checkout))
    {
        return relative;
    }
    source::display_prefix(folder)
}

/// Reports each glob of skipped paths that matches no file.
fn warn_unused_skips(
    options: &lint::Options,
    source: Option<&Source>,
    tree: &Tree,
    prefix: &str,
    streams: &mut Streams,
) -> Result<(), Error> {
    linter::print_findings(lint::unused_skips(&options.settings.config.lint, tree), prefix, streams)?;
    let Some(source) = source else { return Ok(()) };
    linter::print_findings(lint::unused_skips(&source.loaded.lint, tree), &source.folder, streams)
}

/// Reports each reference to an unknown cluster.
fn warn_unknown_clusters(
    options: &lint::Options,
    source: Option<&Source>,
    clusters: &[String],
    prefix: &str,
    streams: &mut Streams,
) -> Result<(), Error> {
    let config = &options.settings.config;
    let fleet = source.and_then(|source| source.loaded.fleet.as_ref());
    let own = fleet.into_iter().flat_map(|fleet| &fleet.clusters).map(|cluster| cluster.name.clone());
    let clusters: Vec<String> = clusters.iter().cloned().chain(own).collect();
    let named = config.named_clusters.iter().chain(&config.lint.named_clusters);
    linter::print_findings(lint::unknown_clusters(named, &clusters), prefix, streams)?;
    let Some(source) = source else { return Ok(()) };
    linter::print_findings(
        lint::unknown_clusters(&source.loaded.lint.named_clusters, &clusters),
        &source.folder,
        streams,
    )
}

/// The reason why a `gotk-sync.yaml` of the repository is not the root of a cluster, if there is one.
fn unusable_sync(tree: &Tree, report: &Report) -> Option<String> {
    let is_sync = |path: &&str| path.rsplit('/').next() == Some(SYNC_FILE);
    let path = tree.entries().map(|(path, _)| path).find(is_sync)?;
    let file = tree.file(path).ok()?;
    let value = |key: &str| {
        let mut lines = file.text().lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'));
        lines.next().map(|value| value.trim().trim_matches(['"', '\'']))
    };
    let is_failed = |folder: &str| {
        let mut errors = report.findings.iter().filter(|finding| finding.rule == FAILED_BUILD);
        errors.any(|finding| folder_of_path(finding.at.span.file().path()) == folder)
    };
    let failed = std::iter::successors(Some(path), |path| (!path.is_empty()).then(|| folder_of_path(path)));
    let failed = failed.skip(1).find(|folder| is_failed(folder));
    let is_placeholder = |value: &&str| value.contains(['<', '{', '$']);
    let why = if let Some(folder) = failed {
        format!("`{}` does not build", if folder.is_empty() { "." } else { folder })
    } else if let Some(value) = ["path", "url"].into_iter().filter_map(value).find(is_placeholder) {
        format!("`{value}` is a placeholder")
    } else {
        let path = value("path")?;
        format!("the repository has no directory `{path}`, or the directory of the file is set aside by its name")
    };
    Some(format!("`{}` is not usable: {}", report.display_tree_path(path), one_line(&why)))
}

/// Warns if the result is clean only because there was nothing to lint, and returns whether it printed a warning.
fn warn_nothing_to_lint(report: &Report, tree: &Tree, dir: &Path, streams: &mut Streams) -> bool {
    let is_file = disk::is_file(dir);
    let dir = dir.display();
    let names_flux = |text: &str| text.contains("fluxcd.io/") || text.contains("fluxcd.controlplane.io/");
    if tree.is_empty() {
        streams.message(format_args!("nothing to lint: `{dir}` is empty"));
    } else if is_file && tree.entries().all(|(path, _)| !is_yaml(path)) {
        streams.message(format_args!(
            "nothing to lint: `{dir}` is not a .yaml or .yml file, and Flux reads only such files"
        ));
    } else if let Some((why, _)) = report.summary.coverage.skipped.first_key_value().filter(|_| is_file) {
        streams.message(format_args!("nothing to lint: `{dir}` was skipped, since the linter skips {why}"));
    } else if report.summary.coverage.objects == 0 {
        streams.message(format_args!("nothing to lint: there is no Kubernetes object in `{dir}`"));
    } else if !tree.files().any(|file| names_flux(file.text())) {
        streams.message(format_args!("there is no Flux object in `{dir}`: most rules do not apply"));
    } else {
        return false;
    }
    true
}

/// Explains missing paths if only a part of a repository is linted.
fn warn_partial_repository(report: &Report, dir: &Path, folder: &Path, streams: &mut Streams) {
    if !report.findings.iter().any(|finding| finding.rule == MISSING_PATH) {
        return;
    }
    if let Some(root) = disk::nearest(folder, ".git").filter(|root| !root.within.is_empty()) {
        let (dir, root) = (dir.display(), or_current(&root.folder).display());
        streams.message(format_args!(
            "`{dir}` is a part of the repository `{root}`, and paths are relative to `{root}`: lint `{root}`"
        ));
    }
}

/// Returns an error if a file cannot be read, since the result is then incomplete.
fn refuse_unreadable(tree: &Tree, report: &Report) -> Result<(), Error> {
    let mut unreadable = tree.unreadable();
    let Some((path, why)) = unreadable.next() else { return Ok(()) };
    let first = format!("`{}`: {why}", report.display_tree_path(path));
    let more = unreadable.count();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Err(Error::with_help(
        format!("cannot read {first}{more}"),
        "make each unreadable file readable, or ignore it in .gitignore; all other files were linted",
    ))
}

fn exit(report: &Report, fail_on: FailOn) -> Exit {
    let from = match fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Never => return Exit::Clean,
    };
    if report.findings.iter().any(|finding| finding.severity >= from) { Exit::Found } else { Exit::Clean }
}
