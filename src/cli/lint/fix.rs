//! The application of fixes to the files of a repository, for `lint --fix`.

use std::path::Path;

use crate::base::finding::{Finding, Safety};
use crate::cli::error::Error;
use crate::cli::source::FLEET;
use crate::cli::streams::Streams;
use crate::disk;
use crate::lint::{self, Fixed, Options, Unfixed};
use crate::render::{LOCK, Lock};
use crate::report::{counted, diff, display_path, one_line};
use crate::text::Tree;

/// The maximum number of findings in generated files that are printed.
const MAX_SHOWN: usize = 10;

/// Options of fixes.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FixOptions {
    /// Applies the fixes of findings, and reports the other findings. Every other byte of the files stays.
    ///
    /// By default, only safe fixes are applied: they state what the author certainly intended. `--fix=all` also applies
    /// fixes that change the behavior of a cluster or follow from a guess; review them.
    #[arg(long, value_name = "SAFETY", num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    fix: Option<FixLevel>,
    /// Prints the changes that `--fix` makes, and changes no file. The exit code is 1 if there are any.
    #[arg(long)]
    diff: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FixLevel {
    Safe,
    All,
}

/// The result of the application of fixes.
pub(super) enum Applied {
    /// No fix was requested.
    Unrequested,
    /// The changes were printed. The value states whether there are any.
    Printed(bool),
    /// The files were changed. The value is the repository with the new files.
    Written(Box<Tree>),
}

impl FixOptions {
    /// Returns whether the user requested fixes.
    pub(super) fn is_requested(&self) -> bool {
        self.fix.is_some() || self.diff
    }

    /// Applies the fixes that the user requested, and prints what was done.
    pub(super) fn apply(
        &self,
        tree: &Tree,
        options: &Options,
        (folder, prefix): (&Path, &str),
        streams: &mut Streams,
    ) -> Result<Applied, Error> {
        let safety = match self.fix {
            Some(FixLevel::All) => Safety::Unsafe,
            Some(FixLevel::Safe) => Safety::Safe,
            None if self.diff => Safety::Safe,
            None => return Ok(Applied::Unrequested),
        };
        let generated = Generated::of(tree);
        let fixed = lint::fix(tree, options, safety, |path| generated.lists(path));
        if self.diff {
            print_diff(tree, &fixed, streams)?;
        } else {
            disk::rewrite(folder, &fixed.texts)?;
        }
        let verb = if self.diff { "would fix" } else { "fixed" };
        let count: usize = fixed.fixed.values().sum();
        streams.message(format_args!("{verb} {} in {}", counted(count, "finding"), counted(fixed.texts.len(), "file")));
        print_unfixed(&fixed, prefix, streams);
        Ok(if self.diff { Applied::Printed(!fixed.texts.is_empty()) } else { Applied::Written(Box::new(fixed.tree)) })
    }
}

/// The files that fleet.yaml generates, by the lock file of the render.
pub(in crate::cli) struct Generated(Lock);

impl Generated {
    /// Reads the lock file of a repository.
    pub(in crate::cli) fn of(tree: &Tree) -> Self {
        Self(tree.file(LOCK).map(|file| Lock::parse(&file).0).unwrap_or_default())
    }

    /// Returns whether a render generates a file.
    pub(in crate::cli) fn lists(&self, path: &str) -> bool {
        self.0.lists(path)
    }
}

fn print_diff(tree: &Tree, fixed: &Fixed, streams: &mut Streams) -> Result<(), Error> {
    streams.write(|out| {
        for path in fixed.texts.keys() {
            let (old, new) = (tree.file(path).ok(), fixed.tree.file(path).ok());
            diff::write(out, old.as_ref(), new.as_ref())?;
        }
        Ok(())
    })?;
    Ok(())
}

fn print_unfixed(fixed: &Fixed, prefix: &str, streams: &mut Streams) {
    let of = |reason: Unfixed| fixed.unfixed.iter().filter(move |(_, why)| *why == reason).map(|(finding, _)| finding);
    let place = |finding: &Finding| {
        format!("{}:{}", display_path(prefix, finding.at.span.file()), finding.at.span.position().line)
    };
    let unreviewed = of(Unfixed::Unsafe).count();
    if unreviewed > 0 {
        let need = if unreviewed == 1 { "fix needs" } else { "fixes need" };
        streams.message(format_args!("not fixed: {unreviewed} {need} a review; apply with `--fix=all`"));
    }
    let ineffective = of(Unfixed::Ineffective).count();
    if ineffective > 0 {
        let findings = counted(ineffective, "finding");
        streams.message(format_args!("not fixed: {findings}, since the fix would not remove the finding"));
    }
    let harmful = || fixed.unfixed.iter().filter(|(_, why)| matches!(why, Unfixed::Harmful(_)));
    for (finding, why) in harmful().take(MAX_SHOWN) {
        let Unfixed::Harmful(new) = why else { continue };
        streams.message(format_args!(
            "not fixed: {}: {}, since the fix would cause {} at {}: {}",
            place(finding),
            finding.rule,
            new.rule,
            place(new),
            one_line(&new.message)
        ));
    }
    let more = harmful().count().saturating_sub(MAX_SHOWN);
    if more > 0 {
        let findings = counted(more, "more finding");
        streams.message(format_args!("not fixed: {findings}, since the fix would cause another finding"));
    }
    for finding in of(Unfixed::Generated).take(MAX_SHOWN) {
        let setting = setting(finding).map_or_else(|| "the setting".to_owned(), |setting| format!("`{setting}`"));
        streams.message(format_args!(
            "not fixed: {}: `{FLEET}` generates this file; change {setting} in `{FLEET}` or in the layout, and run \
            `fleetwright render`",
            place(finding)
        ));
    }
    let more = of(Unfixed::Generated).count().saturating_sub(MAX_SHOWN);
    if more > 0 {
        streams.message(format_args!("not fixed: {more} more in files that `{FLEET}` generates"));
    }
}

/// The field that a fix changes: the key that it adds, or the key of the line.
fn setting(finding: &Finding) -> Option<String> {
    let edit = finding.fix.as_ref()?.edits.first()?;
    let key = |line: &str| {
        let (key, value) = line.trim_start_matches([' ', '-', '\r', '\n']).split_once(':')?;
        let is_key = (value.is_empty() || value.starts_with([' ', '\r', '\n']))
            && !key.is_empty()
            && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        is_key.then(|| key.to_owned())
    };
    let file = edit.span.file();
    let line = || file.text().get(file.line(edit.span.position().line)?).map(str::to_owned);
    key(&edit.text).or_else(|| key(&line()?))
}
