//! `render`: fleet.yaml → the repository that Flux reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::exit::Exit;
use super::explain;
use super::judge;
use super::repository::{Options, Trust};
use super::source::{self, FLEET, Source, or_here};
use super::streams::Streams;
use crate::disk;
use crate::render::{self, Change, LOCK, Lock, Plan, Rendered};
use crate::report::{diff, printable};
use crate::text::{Entry, File, LoadError, Tree};

/// Compiles fleet.yaml into the repository that Flux reads.
///
/// Files that it wrote before are changed or removed, all others are left alone. What it writes is linted first.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  fleetwright render                      fleet.yaml of this folder, into this folder\n",
    "  fleetwright render --check              what would change? exits 1 when something would\n",
    "  fleetwright render -o out               into another folder\n",
    "  fleetwright render --explain-values     which file and line each setting comes from\n\n",
    "Exit codes:\n",
    "  0  written, or current\n",
    "  1  with --check: something would change\n",
    "     without: a generated file was edited, a file is in the way, or the linter finds an error\n",
    "  2  the work could not be done: mistakes in fleet.yaml, or a folder that cannot be written to",
))]
pub(super) struct Args {
    /// The file that describes the fleet.
    #[arg(short, long, value_name = "FILE", default_value = FLEET)]
    file: PathBuf,
    /// The folder to write into; the one that the file lies in when left out.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write nothing; show what would change, and exit 1 when something would.
    #[arg(long)]
    check: bool,
    /// Take the rendered version of files that were edited or are in the way.
    #[arg(long, conflicts_with = "check")]
    force: bool,
    /// Show where each value of each cluster and tenant comes from, and write nothing.
    #[arg(long, conflicts_with_all = ["check", "force"])]
    explain_values: bool,
    #[command(flatten)]
    trust: Trust,
}

pub(super) fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Error> {
    let source = source::load(&args.file)?;
    if args.explain_values {
        explain::write(&source, streams)?;
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(&source.folder));
    let Some(rendered) = compile(&source, &folder, streams)? else {
        return Err(Error::Shown(format!("nothing was rendered: `{}` has mistakes", args.file.display())));
    };
    if args.explain_values {
        return Ok(Exit::Clean);
    }
    let waiting = || streams.say("waiting for another render of this folder");
    let _turn = if args.check { disk::turn_to_read(&folder, waiting) } else { disk::turn_to_write(&folder, waiting) };
    let target = Target::read(&folder, &rendered, args.force, streams)?;
    let shown = source::shown(&folder);
    let settings = Options::trusting(args.trust).settings(&target.existing, &folder, &shown, streams)?;
    let options = judge::options(settings, Some(&source), streams)?;
    if judge::rendered(&rendered.tree, &options, &shown, streams)? {
        streams.say(
            "nothing was written: change fleet.yaml, or accept the finding there with an exception and its reason",
        );
        return Ok(Exit::Found);
    }
    let plan = render::plan(&rendered, &target.existing, &target.lock);
    if args.check {
        return check(&plan, &target, streams);
    }
    let plan = if args.force { plan.forced() } else { plan };
    if plan.is_blocked() {
        return blocked(&plan, streams);
    }
    write(&plan, &target, streams)
}

/// Renders a fleet that has no mistake; shows those that there are.
fn compile(source: &Source, output: &Path, streams: &mut Streams) -> Result<Option<Rendered>, Error> {
    let loaded = &source.loaded;
    let rendered =
        loaded.fleet.as_ref().zip(loaded.layout.as_ref()).map(|(fleet, layout)| render::render(fleet, layout));
    let mut findings = loaded.findings.clone();
    findings.extend(rendered.iter().flat_map(|rendered| rendered.findings.iter().cloned()));
    // Inputs that lie in another folder than the one that is written into can be neither synced nor overwritten.
    if let Some(folder) = disk::relative(or_here(Path::new(&source.folder)), or_here(output)) {
        findings.extend(loaded.synced_inputs(&folder));
        let is_rendered = |path: &str| rendered.as_ref().is_some_and(|rendered| rendered.tree.has_file(path));
        findings.extend(loaded.overwritten_inputs(&folder, is_rendered));
    }
    if let Some((draft, layout)) = loaded.draft.as_ref().zip(loaded.layout.as_ref()) {
        findings.extend(render::conflicts(draft, layout, &findings));
    }
    let failed = judge::has_errors(&findings);
    judge::show(findings, &source.folder, streams)?;
    Ok(rendered.filter(|_| !failed))
}

/// The folder that is written into, as far as it matters.
struct Target {
    /// As the user would type it.
    folder: PathBuf,
    /// The files that stand where something is rendered, or was.
    existing: Tree,
    /// Which files are ours.
    lock: Lock,
    /// The lock's file, when there is one.
    lock_file: Option<File>,
}

impl Target {
    fn read(folder: &Path, rendered: &Rendered, force: bool, streams: &mut Streams) -> Result<Self, Error> {
        let here = or_here(folder);
        let lock_file = match disk::read_some(here, [LOCK])?.file(LOCK) {
            Ok(file) => Some(file),
            Err(LoadError::Missing) => None,
            Err(_) if force => None,
            Err(error) => {
                let help = "repair the lock file, or let `--force` take the rendered version of every file";
                return Err(Error::said(format!("cannot read `{}`: {error}", folder.join(LOCK).display()), help));
            }
        };
        let (lock, findings) = lock_file.as_ref().map(Lock::parse).unwrap_or_default();
        if !findings.is_empty() {
            judge::show(findings, &source::shown(folder), streams)?;
            if !force {
                let help = "repair the lock file, or let `--force` take the rendered version of every file";
                return Err(Error::said("the lock file cannot be trusted, so nothing was rendered", help));
            }
        }
        let rendered_paths = rendered.tree.entries().map(|(path, _)| path);
        let paths = rendered_paths.chain(lock.paths()).chain([crate::config::PATH]);
        let mut existing = disk::read_some(here, paths)?;
        let is_lost = lock_file.is_none() && rendered.tree.files().any(|file| existing.has_file(file.path()));
        if is_lost {
            // Only a look at every file tells which of them were ours.
            let all = disk::read(here)?;
            let others: Vec<File> = all.files().filter(|file| !existing.has_file(file.path())).cloned().collect();
            for file in others {
                existing.insert(file);
            }
        }
        refuse_unreadable(&existing, force)?;
        Ok(Self { folder: folder.to_owned(), existing, lock, lock_file })
    }

    /// The folder's name in sentences.
    fn shown(&self) -> String {
        if or_here(&self.folder) == Path::new(".") {
            "this folder".to_owned()
        } else {
            format!("`{}`", self.folder.display())
        }
    }
}

/// Nobody knows whether a file that cannot be read is as it shall be.
fn refuse_unreadable(existing: &Tree, force: bool) -> Result<(), Error> {
    let mut entries = existing.entries().filter(|_| !force);
    let unreadable = entries.find_map(|(path, entry)| match entry {
        Entry::Opaque(LoadError::Unreadable(why)) => Some(format!("cannot read `{}`: {why}", printable(path))),
        Entry::Opaque(_) | Entry::Text(_) | Entry::Deferred => None,
    });
    let help = "make it readable, or let `--force` take the rendered version";
    unreadable.map_or(Ok(()), |message| Err(Error::said(message, help)))
}

/// Shows what would change.
fn check(plan: &Plan, target: &Target, streams: &mut Streams) -> Result<Exit, Error> {
    let changes: BTreeMap<&str, &Change> = plan.changes().map(|change| (change.path.as_str(), change)).collect();
    let is_lock_stale = !plan.is_lock_current();
    streams.write(|out| {
        for change in changes.values() {
            diff::write(out, change.old.as_ref(), change.new.as_ref())?;
        }
        if changes.is_empty() && is_lock_stale {
            let lock = File::new(LOCK, plan.lock_after.to_string());
            diff::write(out, target.lock_file.as_ref(), Some(&lock))?;
        }
        Ok(())
    })?;
    notes(plan, streams);
    if changes.is_empty() && !is_lock_stale {
        streams.say(format_args!("{} is current: {}", target.shown(), counted(plan.unchanged.len())));
        return Ok(Exit::Clean);
    }
    let count = |wanted: fn(&Change) -> bool| changes.values().filter(|change| wanted(change)).count();
    let new = count(|change| change.old.is_none() && change.new.is_some());
    let other = count(|change| change.old.is_some() && change.new.is_some());
    let gone = count(|change| change.new.is_none());
    streams.say(format_args!("{} to add, {other} to change, {gone} to remove", counted(new)));
    if changes.is_empty() {
        streams.say(format_args!("the lock file `{LOCK}` is to be written anew"));
    }
    removals(plan, streams);
    Ok(Exit::Found)
}

/// Shows the files that somebody has to decide about.
fn blocked(plan: &Plan, streams: &mut Streams) -> Result<Exit, Error> {
    let mut changes = plan.edited.iter().chain(&plan.in_the_way);
    streams.write(|out| changes.try_for_each(|change| diff::write(out, change.old.as_ref(), change.new.as_ref())))?;
    notes(plan, streams);
    streams.say("nothing was written: the difference above is what the render would do to these files");
    streams.say("move your change into fleet.yaml, or let `--force` take the rendered version");
    Ok(Exit::Found)
}

fn write(plan: &Plan, target: &Target, streams: &mut Streams) -> Result<Exit, Error> {
    let folder = or_here(&target.folder);
    notes(plan, streams);
    if plan.is_current() && plan.is_lock_current() {
        disk::clean(folder)?;
        streams.say(format_args!("nothing to change: {} in {}", counted(plan.unchanged.len()), target.shown()));
        return Ok(Exit::Clean);
    }
    let written = plan.add.iter().chain(&plan.change).filter_map(|change| {
        let text = change.new.as_ref()?.text().to_owned();
        Some((change.path.clone(), text))
    });
    // Files that the lock lists and that are gone may have left empty folders when a run was killed.
    let after: Vec<&str> = plan.lock_after.paths().collect();
    let gone = target.lock.paths().filter(|path| after.binary_search(path).is_err() && !target.existing.has_file(path));
    let changes = disk::Changes {
        write: written.collect(),
        remove: plan.remove.iter().map(|change| change.path.clone()).chain(gone.map(str::to_owned)).collect(),
        lock: disk::Lock {
            path: LOCK.to_owned(),
            during: plan.lock_before.to_string(),
            after: plan.lock_after.to_string(),
        },
    };
    disk::write(folder, &changes)?;
    removals(plan, streams);
    if !plan.adopted.is_empty() {
        streams.say(format_args!(
            "{} as rendered, which the lock file did not list; it lists all of them now",
            counted(plan.adopted.len())
        ));
    }
    let (new, other, gone) = (plan.add.len(), plan.change.len(), plan.remove.len());
    if plan.is_current() {
        let current = counted(plan.unchanged.len() + plan.adopted.len());
        streams.say(format_args!("the lock file was written; nothing else to change: {current} in {}", target.shown()));
        return Ok(Exit::Clean);
    }
    streams.say(format_args!("{} added, {other} changed, {gone} removed in {}", counted(new), target.shown()));
    Ok(Exit::Clean)
}

fn counted(files: usize) -> String {
    crate::report::counted(files, "file")
}

/// Says of single files what a diff does not.
fn notes(plan: &Plan, streams: &mut Streams) {
    for change in &plan.edited {
        let what = match &change.new {
            Some(_) => "was edited by hand since it was rendered",
            None => "is no longer rendered, and was edited by hand",
        };
        streams.say(format_args!("`{}` {what}{}", printable(&change.path), note(change)));
    }
    for change in &plan.in_the_way {
        let path = printable(&change.path);
        streams.say(format_args!("`{path}` is in the way and not known as a rendered file{}", note(change)));
    }
    for path in &plan.orphans {
        let path = printable(path);
        streams
            .say(format_args!("`{path}` was rendered once, and nothing renders it now; delete it if nobody needs it"));
    }
}

fn note(change: &Change) -> String {
    change.note.map_or(String::new(), |note| format!(": {note}"))
}

/// Objects of one folder that are named before the rest is counted.
const OBJECTS_SHOWN: usize = 10;

/// Says what running clusters lose.
fn removals(plan: &Plan, streams: &mut Streams) {
    if plan.removed_objects.is_empty() {
        return;
    }
    streams.say("taken from running clusters; Flux deletes what it prunes:");
    for removed in &plan.removed_objects {
        let shown: Vec<String> = removed.objects.iter().take(OBJECTS_SHOWN).map(ToString::to_string).collect();
        let more = removed.objects.len().saturating_sub(OBJECTS_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let folder = if removed.folder.is_empty() { "." } else { &removed.folder };
        streams.say(format_args!("  {}: {}{more}", printable(folder), printable(&shown.join(", "))));
    }
}
