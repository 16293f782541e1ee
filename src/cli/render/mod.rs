//! `render`: renders fleet.yaml into the repository that Flux reads.

mod consequences;
mod explain;
mod judge;
mod summary;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use judge::Outlook;

use super::error::Error;
use super::exit::Exit;
use super::linter;
use super::repository::{Options, Trust};
use super::source::{self, FLEET, Source, or_current};
use super::streams::Streams;
use super::supervisor;
use crate::disk;
use crate::render::{self, Change, LOCK, Lock, Plan, Probe, Removed, Rendered};
use crate::report::mask::SecretValues;
use crate::report::{diff, display_path, printable};
use crate::text::{Entry, File, LoadError, Span, Tree};

/// Renders fleet.yaml into the repository that Flux reads.
///
/// Changes and removes only files of earlier renders. Lints the directory as it will be, with the hand-written files in
/// it, and writes nothing if a rendered file has an error, or if the render causes an error in a hand-written file.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright render                      fleet.yaml in the current directory\n",
    "  fleetwright render --check              show the changes; exit 1 if there are any\n",
    "  fleetwright render --check --summary    count the changes in each directory\n",
    "  fleetwright render -o out               into another directory\n",
    "  fleetwright render --explain-values     the file and line of each setting\n\n",
    "Exit codes:\n",
    "  0  written, or current\n",
    "  1  with --check: files would change\n",
    "     with or without: the linter found an error in a rendered file, or the render causes an error\n",
    "     without: a generated file was edited, or another file is at its path\n",
    "  2  fleetwright failed: an invalid fleet.yaml, or a directory that is not writable",
))]
#[expect(clippy::struct_excessive_bools, reason = "each flag of the command line is one")]
pub(super) struct Args {
    /// The fleet.yaml to render.
    #[arg(short, long, value_name = "FILE", default_value = FLEET)]
    file: PathBuf,
    /// The directory to write to [default: the directory of FILE].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Writes nothing; shows the changes, and exits 1 if there are any.
    #[arg(long)]
    check: bool,
    /// With --check: counts the changes in each directory, without the diff.
    #[arg(long, requires = "check")]
    summary: bool,
    /// Shows the warnings about rendered files, and the errors in hand-written files that the render does not cause.
    #[arg(long, conflicts_with = "explain_values")]
    warnings: bool,
    /// Overwrites files that were edited, or that another program created.
    #[arg(long, conflicts_with = "check")]
    force: bool,
    /// Writes nothing; prints the file and line of each setting of each cluster and tenant.
    #[arg(long, conflicts_with_all = ["check", "force"])]
    explain_values: bool,
    #[command(flatten)]
    trust: Trust,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let source = source::load(&args.file)?;
    if args.explain_values {
        streams.hide(&SecretValues::of(&source.inputs, None))?;
        explain::write(&source, streams)?;
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(&source.folder));
    streams.set_activity("rendering");
    let Some(rendered) = compile(&source, &folder, streams)? else {
        return Err(Error::Printed(format!("nothing was rendered: `{}` is invalid", args.file.display())));
    };
    if args.explain_values {
        return Ok(Exit::Clean);
    }
    let waiting = || streams.message("waiting for another render of this directory");
    let _lock = if args.check { disk::lock_shared(&folder, waiting) } else { disk::lock_exclusive(&folder, waiting) };
    let target = Target::read(&folder, &rendered, args.force, streams)?;
    refuse_inputs(&source, &folder, &target)?;
    let prefix = source::display_prefix(&folder);
    let plan = render::plan(&rendered, &target.existing, &target.lock);
    streams.set_activity("checking the result");
    let outlook = Outlook::read(&folder, &source, &rendered, &plan)?;
    let settings =
        Options::with_trust(args.trust).settings(outlook.files(&target.existing), &folder, &prefix, streams)?;
    let options = linter::options(settings, Some(&source), &outlook.tree, streams)?;
    if outlook.lint(&rendered, &options, &prefix, args.warnings, streams)? {
        streams.message("nothing was written: change fleet.yaml, or add an exception with a reason there");
        return Ok(Exit::Found);
    }
    if args.check {
        let exit = check(&plan, &target, args.summary, streams)?;
        if !plan.is_current() && !plan.is_first() {
            let before = outlook.before(&target.existing);
            consequences::print(before, &outlook.tree, &options, &prefix, streams)?;
        }
        return Ok(exit);
    }
    let plan = if args.force { plan.forced() } else { plan };
    if plan.is_blocked() {
        return print_conflicts(&plan, streams);
    }
    write(&plan, &target, streams)
}

/// The maximum duration of a render. A thousand clusters need a few seconds.
const RENDER_TIME: Duration = Duration::from_secs(20);

/// Renders a valid fleet, and prints the findings of an invalid fleet.
fn compile(source: &Source, output: &Path, streams: &mut Streams) -> Result<Option<Rendered>, Error> {
    let loaded = &source.loaded;
    let both = loaded.fleet.as_ref().zip(loaded.layout.as_ref());
    if let Some(of) = supervisor::searched_render() {
        let root = source.folder.clone();
        let report =
            move |number: usize, at: &Span| supervisor::report_line(number, &display_path(&root, at.file()), at);
        both.inspect(|(fleet, layout)| render::search(fleet, layout, Probe::new(of, Box::new(report))));
        return Ok(None);
    }
    let deadline = disk::exit_above(RENDER_TIME, supervisor::growth_of_render());
    let rendered = both.map(|(fleet, layout)| render::render(fleet, layout));
    drop(deadline);
    let mut findings = loaded.findings.clone();
    findings.extend(rendered.iter().flat_map(|rendered| rendered.findings.iter().cloned()));
    // Inputs outside of the output directory can be neither synced nor overwritten.
    if let Some(folder) = disk::relative(or_current(Path::new(&source.folder)), or_current(output)) {
        findings.extend(loaded.synced_inputs(&folder));
        findings.extend(rendered.iter().flat_map(|rendered| loaded.overwritten_inputs(&folder, &rendered.tree)));
    }
    if let Some((draft, layout)) = loaded.draft.as_ref().zip(loaded.layout.as_ref()) {
        findings.extend(render::conflicts(draft, layout, &findings));
    }
    let failed = linter::has_errors(&findings);
    if !findings.is_empty() {
        // A finding of a template may contain a value of fleet.yaml.
        let places = findings.iter().flat_map(|finding| std::iter::once(&finding.at).chain(&finding.related));
        let files = source.inputs.files().chain(places.map(|label| label.span.file()));
        streams.hide(&SecretValues::of(&files.cloned().collect(), None))?;
    }
    linter::print_findings(findings, &source.folder, streams)?;
    Ok(rendered.filter(|_| !failed))
}

/// The relevant files of the output directory.
struct Target {
    /// The directory as the user would type it.
    folder: PathBuf,
    /// The files at the paths of this render and of earlier renders.
    existing: Tree,
    /// The generated files that earlier renders recorded.
    lock: Lock,
    /// The lock file, if it exists.
    lock_file: Option<File>,
}

impl Target {
    fn read(folder: &Path, rendered: &Rendered, force: bool, streams: &mut Streams) -> Result<Self, Error> {
        let here = or_current(folder);
        let lock_file = match disk::read_some(here, [LOCK])?.file(LOCK) {
            Ok(file) => Some(file),
            Err(LoadError::Missing) => None,
            Err(_) if force => None,
            Err(error) => {
                let help = "repair the lock file, or overwrite all files with `--force`";
                return Err(Error::with_help(format!("cannot read `{}`: {error}", folder.join(LOCK).display()), help));
            }
        };
        let (lock, findings) = lock_file.as_ref().map(Lock::parse).unwrap_or_default();
        if !findings.is_empty() {
            linter::print_findings(findings, &source::display_prefix(folder), streams)?;
            if !force {
                let help = "repair the lock file, or overwrite all files with `--force`";
                return Err(Error::with_help("nothing was rendered: the lock file is invalid", help));
            }
        }
        let rendered_paths = rendered.tree.entries().map(|(path, _)| path);
        let paths = rendered_paths.chain(lock.paths()).chain([crate::config::PATH]);
        let mut existing = disk::read_beside(here, paths, &rendered.tree)?;
        let is_lost = lock_file.is_none() && rendered.tree.files().any(|file| existing.has_file(file.path()));
        if is_lost {
            // Without a lock, every file may be a file of an earlier render.
            let all = disk::read(here)?;
            let others: Vec<File> = all.files().filter(|file| !existing.has_file(file.path())).cloned().collect();
            for file in others {
                existing.insert(file);
            }
        }
        refuse_unreadable(&existing, force)?;
        Ok(Self { folder: folder.to_owned(), existing, lock, lock_file })
    }

    /// Returns the name of the directory for messages.
    fn display_name(&self) -> String {
        if or_current(&self.folder) == Path::new(".") {
            "this directory".to_owned()
        } else {
            format!("`{}`", self.folder.display())
        }
    }
}

/// Returns an error if the lock file lists an input of the render. The render would remove the file.
fn refuse_inputs(source: &Source, output: &Path, target: &Target) -> Result<(), Error> {
    let folder = disk::relative(or_current(Path::new(&source.folder)), or_current(output));
    let inputs = folder.map(|folder| source.loaded.input_paths(&folder)).unwrap_or_default();
    let Some(input) = inputs.iter().find(|input| target.lock.lists(input)) else { return Ok(()) };
    let message = format!("nothing was rendered: the lock file `{LOCK}` lists the input `{}`", printable(input));
    Err(Error::with_help(message, "remove the line from the lock file, or the render would remove the input"))
}

/// Returns an error if a file cannot be read, since its state is then unknown.
fn refuse_unreadable(existing: &Tree, force: bool) -> Result<(), Error> {
    let mut entries = existing.entries().filter(|_| !force);
    let unreadable = entries.find_map(|(path, entry)| match entry {
        Entry::Opaque(LoadError::Unreadable(why)) => Some(format!("cannot read `{}`: {why}", printable(path))),
        Entry::Opaque(_) | Entry::Text(_) | Entry::Deferred => None,
    });
    let help = "make it readable, or overwrite it with `--force`";
    unreadable.map_or(Ok(()), |message| Err(Error::with_help(message, help)))
}

/// Prints the changes without writing them.
fn check(plan: &Plan, target: &Target, is_summary: bool, streams: &mut Streams) -> Result<Exit, Error> {
    let changes: BTreeMap<&str, &Change> = plan.changes().map(|change| (change.path.as_str(), change)).collect();
    let is_lock_stale = !plan.is_lock_current();
    hide_secrets(changes.values().copied(), streams)?;
    let mut omitted = 0;
    streams.write(|out| {
        if is_summary {
            return summary::write(changes.values().copied(), out);
        }
        omitted = write_diffs(changes.values().copied(), MAX_DIFFS, out)?;
        if changes.is_empty() && is_lock_stale {
            let lock = File::new(LOCK, plan.lock_after.to_string());
            diff::write(out, target.lock_file.as_ref(), Some(&lock))?;
        }
        Ok(())
    })?;
    print_omitted(omitted, streams);
    print_notes(plan, streams);
    if changes.is_empty() && !is_lock_stale {
        streams.message(format_args!("{} is current: {}", target.display_name(), counted(plan.unchanged.len())));
        return Ok(Exit::Clean);
    }
    let count = |wanted: fn(&Change) -> bool| changes.values().filter(|change| wanted(change)).count();
    let new = count(|change| change.old.is_none() && change.new.is_some());
    let other = count(|change| change.old.is_some() && change.new.is_some());
    let gone = count(|change| change.new.is_none());
    streams.message(format_args!("{} to add, {other} to change, {gone} to remove", counted(new)));
    if changes.is_empty() {
        streams.message(format_args!("the lock file `{LOCK}` would be rewritten"));
    }
    print_removals(plan, streams);
    Ok(Exit::Found)
}

/// The maximum size of all printed diffs, in bytes.
const MAX_DIFFS: usize = 32 << 20;

/// Writes the diffs of changes until they exceed a size in bytes, and returns the number of the other changes.
fn write_diffs<'a>(changes: impl Iterator<Item = &'a Change>, limit: usize, out: &mut dyn Write) -> io::Result<usize> {
    let (mut size, mut omitted) = (0, 0);
    for change in changes {
        if size > limit {
            omitted += 1;
            continue;
        }
        let mut bytes = Vec::new();
        diff::write(&mut bytes, change.old.as_ref(), change.new.as_ref())?;
        size += bytes.len();
        out.write_all(&bytes)?;
    }
    Ok(omitted)
}

fn print_omitted(files: usize, streams: &mut Streams) {
    if files > 0 {
        let files = counted(files);
        streams.message(format_args!("the diff is too long and lacks {files}; `--check --summary` counts all changes"));
    }
}

/// Masks the secret values of both versions of changed files.
fn hide_secrets<'a>(changes: impl Iterator<Item = &'a Change>, streams: &mut Streams) -> Result<(), Error> {
    let versions = changes.flat_map(|change| [change.old.clone(), change.new.clone()]).flatten();
    let (mut old, mut new) = (Tree::default(), Tree::default());
    for file in versions {
        if old.has_file(file.path()) { new.insert(file) } else { old.insert(file) }
    }
    let mut values = SecretValues::of(&old, None);
    values.extend(SecretValues::of(&new, None));
    Ok(streams.hide(&values)?)
}

/// Prints the files that need a decision by the user.
fn print_conflicts(plan: &Plan, streams: &mut Streams) -> Result<Exit, Error> {
    let changes = plan.edited.iter().chain(&plan.in_the_way);
    hide_secrets(changes.clone(), streams)?;
    let mut omitted = 0;
    streams.write(|out| {
        omitted = write_diffs(changes, MAX_DIFFS, out)?;
        Ok(())
    })?;
    print_omitted(omitted, streams);
    print_notes(plan, streams);
    streams.message("nothing was written: the diff above shows what a render would change in these files");
    streams.message("move your change into fleet.yaml, or overwrite the files with `--force`");
    Ok(Exit::Found)
}

fn write(plan: &Plan, target: &Target, streams: &mut Streams) -> Result<Exit, Error> {
    let folder = or_current(&target.folder);
    print_notes(plan, streams);
    if plan.is_current() && plan.is_lock_current() {
        disk::clean(folder)?;
        streams.message(format_args!("no changes: {} in {}", counted(plan.unchanged.len()), target.display_name()));
        return Ok(Exit::Clean);
    }
    let written = plan.add.iter().chain(&plan.change).filter_map(|change| {
        let text = change.new.as_ref()?.shared_text().clone();
        Some((change.path.clone(), text))
    });
    // An interrupted run may have removed files of the lock but not their empty directories.
    let after: Vec<&str> = plan.lock_after.paths().collect();
    let gone = target.lock.paths().filter(|path| after.binary_search(path).is_err() && !target.existing.has_file(path));
    let changes = disk::Changes {
        write: written.collect(),
        remove: plan.remove.iter().map(|change| change.path.clone()).chain(gone.map(str::to_owned)).collect(),
        lock: disk::LockFile {
            path: LOCK.to_owned(),
            during: plan.lock_before(&target.lock).to_string(),
            after: plan.lock_after.to_string(),
        },
    };
    streams.set_activity("writing files");
    disk::write(folder, &changes)?;
    print_removals(plan, streams);
    if !plan.adopted.is_empty() {
        streams.message(format_args!("{} added to the lock file, without changes", counted(plan.adopted.len())));
    }
    let (new, other, gone) = (plan.add.len(), plan.change.len(), plan.remove.len());
    if plan.is_current() {
        let current = counted(plan.unchanged.len() + plan.adopted.len());
        streams.message(format_args!("wrote the lock file; no other changes: {current} in {}", target.display_name()));
        return Ok(Exit::Clean);
    }
    streams.message(format_args!(
        "{} added, {other} changed, {gone} removed in {}",
        counted(new),
        target.display_name()
    ));
    Ok(Exit::Clean)
}

fn counted(files: usize) -> String {
    crate::report::counted(files, "file")
}

/// Prints notes on files that a diff does not show.
fn print_notes(plan: &Plan, streams: &mut Streams) {
    for change in &plan.edited {
        let what = match &change.new {
            Some(_) => "was edited after it was rendered",
            None => "is no longer rendered, and was edited",
        };
        streams.message(format_args!("`{}` {what}{}", printable(&change.path), note(change)));
    }
    for change in &plan.in_the_way {
        let path = printable(&change.path);
        streams.message(format_args!(
            "`{path}` is in the place of a rendered file, but is not in the lock file{}",
            note(change)
        ));
    }
    for path in &plan.orphans {
        let path = printable(path);
        streams.message(format_args!(
            "`{path}` was rendered earlier, but is no longer rendered; delete it if it is unused"
        ));
    }
}

fn note(change: &Change) -> String {
    change.note.map_or(String::new(), |note| format!(": {note}"))
}

/// The maximum number of listed objects of one directory; other objects are counted.
const OBJECTS_SHOWN: usize = 10;

/// Prints the objects that clusters no longer receive.
fn print_removals(plan: &Plan, streams: &mut Streams) {
    let (of_clusters, pruned): (Vec<&Removed>, Vec<&Removed>) =
        plan.removed_objects.iter().partition(|removed| removed.is_of_removed_cluster);
    if !pruned.is_empty() {
        streams.message("removed from clusters; Flux deletes these objects where pruning is enabled:");
        print_objects(&pruned, streams);
    }
    if !of_clusters.is_empty() {
        streams.message(
            "removed with their cluster; Flux on that cluster stops, since its path is missing, and deletes nothing:",
        );
        print_objects(&of_clusters, streams);
    }
}

fn print_objects(all: &[&Removed], streams: &mut Streams) {
    for removed in all {
        let shown: Vec<String> = removed.objects.iter().take(OBJECTS_SHOWN).map(ToString::to_string).collect();
        let more = removed.objects.len().saturating_sub(OBJECTS_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let folder = if removed.folder.is_empty() { "." } else { &removed.folder };
        streams.message(format_args!("  {}: {}{more}", printable(folder), printable(&shown.join(", "))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_end_at_a_limit_after_a_whole_file() {
        let change = |path: &str| {
            let new = Some(File::new(path, "a: 1\n".repeat(20)));
            Change { path: path.to_owned(), old: None, new, note: None }
        };
        let changes = ["a", "b", "c", "d"].map(change);
        let mut one = Vec::new();
        assert_eq!(write_diffs(changes.iter().take(1), MAX_DIFFS, &mut one).unwrap(), 0);
        let mut out = Vec::new();
        let omitted = write_diffs(changes.iter(), one.len(), &mut out).unwrap();
        assert_eq!((omitted, out.len()), (2, 2 * one.len()));
    }
}
