//! `diff`: the changes between two states of a repository, as its clusters receive them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf, is_separator};

use super::error::Error;
use super::exit::Exit;
use super::repository::{Options, Repository, refuse_unread};
use super::streams::{Lines, Streams};
use crate::base::finding::ObjectRef;
use crate::changes::{Changes, Side, Unbuilt, compare};
use crate::disk::Revision;
use crate::lint;
use crate::report::changes::{ChangesFormat, Roots, reason, write};
use crate::report::mask::SecretValues;
use crate::report::one_line;
use crate::text::Tree;

/// Shows what changes on which clusters: between two revisions, or between a revision and the working directory.
///
/// Both states are built as Flux builds them. Equal changes of several clusters are one change. Dangerous changes come
/// first: deleted objects, immutable fields, and rights that service accounts gain or lose.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright diff                         the working directory against the last commit\n",
    "  fleetwright diff main                    the working directory against a branch\n",
    "  fleetwright diff main..HEAD fleet        two commits, below directory `fleet`\n",
    "  fleetwright diff old/ new/               two directories\n",
    "  fleetwright diff main --format markdown  for a comment of a pull request\n\n",
    "Exit codes:\n",
    "  0  compared\n",
    "  1  changes with `--exit-code`, or dangerous changes with `--fail-on danger`\n",
    "  2  fleetwright failed: no such revision or directory, or a state that does not build",
))]
pub(super) struct Args {
    /// The revisions `BASE` or `BASE..HEAD` and the directory, or two directories.
    #[arg(value_name = "BASE[..HEAD] [DIR] | OLD NEW", num_args = 0..=2)]
    sides: Vec<String>,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Exits with 1 if there are changes.
    #[arg(long)]
    exit_code: bool,
    /// Exits with 1 if there are changes of this kind.
    #[arg(long, value_name = "KIND")]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Text for terminals.
    Text,
    /// JSON for programs.
    Json,
    /// Markdown for job summaries and comments of pull requests.
    Markdown,
    /// One HTML page.
    Html,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    /// Dangerous changes.
    Danger,
}

/// A state of a repository, as the user selects it.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// A directory.
    Directory(PathBuf),
    /// A directory in a revision.
    Revision(PathBuf, String),
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let (before, after) = states(&args.sides)?;
    let nothing = Tree::default();
    // The working directory is read first, since a revision shares its files.
    let (before, after) = match &after {
        State::Directory(_) => {
            let after = open(&after, &args.options, &nothing, streams)?;
            (open(&before, &args.options, &after.tree, streams)?, after)
        }
        State::Revision(..) => {
            let before = open(&before, &args.options, &nothing, streams)?;
            let after = open(&after, &args.options, &before.tree, streams)?;
            (before, after)
        }
    };
    if before.tree.entries().chain(after.tree.entries()).next().is_none() {
        streams.message("neither state has a file");
    }
    streams.set_activity("building the objects of clusters");
    let mut changes = changes(&before, &after, &args.options, streams)?;
    let unread: BTreeSet<&str> =
        [&before, &after].into_iter().flat_map(|side| side.tree.unreadable()).map(|(path, _)| path).collect();
    changes.unread = unread.into_iter().map(str::to_owned).collect();
    let format = match args.format {
        Format::Text => ChangesFormat::Text,
        Format::Json => ChangesFormat::Json,
        Format::Markdown => ChangesFormat::Markdown,
        Format::Html => ChangesFormat::Html,
    };
    let roots = Roots { before: &before.prefix, after: &after.prefix };
    let lines = if format == ChangesFormat::Json { Lines::Json } else { Lines::Text };
    streams.write_as(lines, |out| write(&changes, format, roots, out))?;
    refuse_unbuilt(&changes, roots)?;
    refuse_uncompared_rights(&changes)?;
    refuse_unread(&before.tree, "compared")?;
    refuse_unread(&after.tree, "compared")?;
    let is_changed = !changes.objects.is_empty()
        || !changes.rights.is_empty()
        || !changes.new_clusters.is_empty()
        || !changes.former_clusters.is_empty();
    let is_dangerous = changes.objects.iter().any(|change| !change.dangers.is_empty())
        || !changes.rights.is_empty()
        || !changes.former_clusters.is_empty()
        // Flux deletes the objects of a former source that the new one does not contain.
        || changes.unbuilt.iter().any(|unbuilt| unbuilt.is_later && !unbuilt.failed);
    let fails = (args.exit_code && is_changed) || (matches!(args.fail_on, Some(FailOn::Danger)) && is_dangerous);
    Ok(if fails { Exit::Found } else { Exit::Clean })
}

/// Returns an error if an applier does not build. A fault that only the later state has comes first.
fn refuse_unbuilt(changes: &Changes, roots: Roots<'_>) -> Result<(), Error> {
    let failed = || changes.unbuilt.iter().filter(|unbuilt| unbuilt.failed);
    let of_state = |is_later: bool| -> BTreeSet<&ObjectRef> {
        failed().filter(|one| one.is_later == is_later).map(|one| &one.applier).collect()
    };
    let (earlier, later) = (of_state(false), of_state(true));
    let is_in_both = |one: &Unbuilt| earlier.contains(&one.applier) && later.contains(&one.applier);
    let Some(first) = failed().min_by_key(|one| (is_in_both(one), !one.is_later)) else { return Ok(()) };
    let state = match (is_in_both(first), first.is_later) {
        (true, _) => "both states",
        (false, true) => "the later state",
        (false, false) => "the earlier state",
    };
    let appliers = earlier.union(&later).count();
    let more = if appliers > 1 { format!(" (and {} more)", appliers - 1) } else { String::new() };
    let (applier, reason) = (&first.applier, reason(first, roots));
    let message = format!("{applier} does not build in {state}, so its objects are not compared: {reason}{more}");
    Err(Error::with_help(message, "run `fleetwright lint` on that state to see all errors"))
}

/// Returns an error if the rights on a cluster are too many to compare.
fn refuse_uncompared_rights(changes: &Changes) -> Result<(), Error> {
    let Some(first) = changes.uncompared_rights.first() else { return Ok(()) };
    let on = if first.is_empty() { String::new() } else { format!(" on cluster {}", one_line(first)) };
    let more = changes.uncompared_rights.len() - 1;
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    let message = format!("the rights of service accounts{on} are not compared, since they are too many{more}");
    Err(Error::with_help(
        message,
        "look for bindings with thousands of subjects, and for roles with thousands of rules",
    ))
}

/// Returns the two states that the arguments select.
fn states(sides: &[String]) -> Result<(State, State), Error> {
    let usage = "pass `BASE..HEAD` and a directory, or two directories";
    let (range, folder) = match sides {
        [] => ("HEAD", "."),
        [folder] if is_path(folder) => ("HEAD", folder.as_str()),
        [range] => (range.as_str(), "."),
        [old, new, ..] if is_path(old) => {
            refuse_missing(old, usage)?;
            refuse_missing(new, usage)?;
            return Ok((State::Directory(old.into()), State::Directory(new.into())));
        }
        [range, folder, ..] => (range.as_str(), folder.as_str()),
    };
    refuse_missing(folder, usage)?;
    if let Some((base, head)) = range.split_once("...") {
        let help = format!("pass the common ancestor: `\"$(git merge-base {base} {head})..{head}\"`");
        return Err(Error::with_help("`...` does not select two revisions".to_owned(), help));
    }
    let folder = PathBuf::from(folder);
    Ok(match range.split_once("..") {
        Some((base, head)) => {
            let [base, head] = [base, head].map(|side| if side.is_empty() { "HEAD" } else { side });
            (State::Revision(folder.clone(), base.to_owned()), State::Revision(folder, head.to_owned()))
        }
        None => (State::Revision(folder.clone(), range.to_owned()), State::Directory(folder)),
    })
}

/// Returns whether the first argument is a directory. Its form decides, and not the files: otherwise, a change could add a
/// directory with the name of a revision, and so hide itself.
fn is_path(argument: &str) -> bool {
    let first = Path::new(argument).components().next();
    !matches!(first, Some(Component::Normal(_)) | None) || argument.ends_with(is_separator)
}

fn refuse_missing(folder: &str, usage: &'static str) -> Result<(), Error> {
    if Path::new(folder).is_dir() {
        return Ok(());
    }
    Err(Error::with_help(format!("there is no directory `{folder}`"), usage))
}

/// Reads a state. `other` is the other state.
fn open(state: &State, options: &Options, other: &Tree, streams: &mut Streams) -> Result<Repository, Error> {
    match state {
        State::Directory(folder) => options.open(folder, streams),
        State::Revision(folder, revision) => {
            let read =
                Revision::open(folder, revision).and_then(Revision::list).and_then(|revision| revision.read(other));
            let tree = read.map_err(|error| {
                let is_folder = !is_path(revision) && Path::new(revision).is_dir();
                let help = format!("to select the directory, write `./{revision}`");
                if is_folder { Error::with_help(error.to_string(), help) } else { error.into() }
            })?;
            options.open_tree(tree, folder, streams)
        }
    }
}

fn changes(
    before: &Repository,
    after: &Repository,
    options: &Options,
    streams: &mut Streams,
) -> Result<Changes, Error> {
    let earlier = before.load_shareable();
    let later = after.load_beside(&earlier);
    let mut secrets = SecretValues::of(&before.tree, Some(&earlier));
    secrets.extend(SecretValues::of(&after.tree, Some(&later)));
    streams.hide(&secrets)?;
    let (former, receivers) = (options.receivers(&earlier.clusters)?, options.receivers(&later.clusters)?);
    let settings =
        |repository: &Repository| lint::Options { settings: repository.settings.clone(), ..Default::default() };
    let changes = compare(
        &Side { repo: &earlier, receivers: &former, options: &settings(before) },
        &Side { repo: &later, receivers: &receivers, options: &settings(after) },
    );
    drop((former, receivers));
    // The process ends soon, so freeing two states would only cost time.
    std::mem::forget((earlier, later));
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_first_argument_selects_a_directory() {
        let revision = |folder: &str, revision: &str| State::Revision(folder.into(), revision.to_owned());
        let directory = |folder: &str| State::Directory(folder.into());
        let cases = [
            (&[][..], (revision(".", "HEAD"), directory("."))),
            // These directories exist, but could also be revisions.
            (&["src"], (revision(".", "src"), directory("."))),
            (&["src/lint"], (revision(".", "src/lint"), directory("."))),
            (&["src", "docs"], (revision("docs", "src"), directory("docs"))),
            (&["src/"], (revision("src/", "HEAD"), directory("src/"))),
            (&["./src"], (revision("./src", "HEAD"), directory("./src"))),
            (&["./src", "docs"], (directory("./src"), directory("docs"))),
            (&["main..", "src"], (revision("src", "main"), revision("src", "HEAD"))),
        ];
        for (arguments, expected) in cases {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert_eq!(states(&arguments).ok(), Some(expected), "{arguments:?}");
        }
    }
}
