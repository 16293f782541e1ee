//! Lints the output directory as it will be: the rendered files in place, beside hand-written files.

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::finding::{Finding, Severity};
use crate::cli::error::Error;
use crate::cli::linter;
use crate::cli::source::{Source, or_current};
use crate::cli::streams::Streams;
use crate::disk;
use crate::flux::Repo;
use crate::kustomize::is_yaml;
use crate::lint::{self, ABOUT_EXCEPTIONS, Options};
use crate::render::{LOCK, Plan, Rendered};
use crate::report::mask::SecretValues;
use crate::report::{Coverage, Report, counted};
use crate::text::Tree;

/// The output directory after the render.
pub(super) struct Outlook {
    /// The files after the render; only the rendered files if there are no others.
    pub(super) tree: Tree,
    /// The files before the render; `None` if there are only rendered files, or if this is the first render.
    before: Option<Tree>,
    /// Whether the tree contains the hand-written files.
    is_whole: bool,
}

impl Outlook {
    /// Reads the output directory only if it contains hand-written files.
    pub(super) fn read(folder: &Path, source: &Source, rendered: &Rendered, plan: &Plan) -> Result<Self, Error> {
        let here = or_current(folder);
        let alone = Self { tree: rendered.tree.clone(), before: None, is_whole: false };
        if !disk::exists(here) {
            return Ok(alone);
        }
        let own = disk::relative(or_current(Path::new(&source.folder)), here);
        let inputs: BTreeSet<String> = own.iter().flat_map(|folder| source.loaded.input_paths(folder)).collect();
        let templates: BTreeSet<String> = own.iter().flat_map(|folder| source.loaded.template_paths(folder)).collect();
        let removed: BTreeSet<&str> = plan.remove.iter().map(|change| change.path.as_str()).collect();
        let is_made = |path: &str| rendered.tree.has_file(path) || removed.contains(path) || path == LOCK;
        let listed = disk::list(here)?;
        let is_beside = |path: &str| !is_made(path) && !inputs.contains(path) && is_relevant(path);
        if !listed.entries().any(|(path, _)| is_beside(path)) {
            return Ok(alone);
        }
        let mut before = disk::read(here)?;
        for path in &templates {
            before.remove(path);
        }
        let mut tree = before.clone();
        for path in &removed {
            tree.remove(path);
        }
        for (path, entry) in rendered.tree.entries() {
            tree.insert_entry(path, entry.clone());
        }
        Ok(Self { tree, before: (!plan.is_first()).then_some(before), is_whole: true })
    }

    /// Returns the files in which the configuration is read: all files, or the `existing` rendered files.
    pub(super) fn files<'a>(&'a self, existing: &'a Tree) -> &'a Tree {
        if self.is_whole { &self.tree } else { existing }
    }

    /// Returns the files before the render: all files, or the `existing` rendered files.
    pub(super) fn before<'a>(&'a self, existing: &'a Tree) -> &'a Tree {
        self.before.as_ref().unwrap_or(existing)
    }

    /// Lints the directory, prints the errors and the number of warnings, and returns whether an error blocks the render.
    ///
    /// An error in a hand-written file blocks the render only if the directory before the render does not have it.
    pub(super) fn lint(
        &self,
        rendered: &Rendered,
        options: &Options,
        folder: &str,
        show_warnings: bool,
        streams: &mut Streams,
    ) -> Result<bool, Error> {
        let repo = Repo::load(&self.tree, &options.settings);
        let mut outcome = lint::judge(&repo, options);
        if !outcome.findings.is_empty() {
            streams.hide(&SecretValues::of(&self.tree, Some(&repo)))?;
        }
        let is_about_exception = |finding: &mut Finding| ABOUT_EXCEPTIONS.contains(&finding.rule);
        linter::print_findings(outcome.findings.extract_if(.., is_about_exception).collect(), folder, streams)?;
        let is_rendered = |finding: &Finding| rendered.tree.has_file(finding.at.span.file().path());
        let findings = std::mem::take(&mut outcome.findings);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.severity == Severity::Error);
        let (of_render, beside): (Vec<_>, Vec<_>) = errors.into_iter().partition(is_rendered);
        let (known, caused): (Vec<_>, Vec<_>) = match &self.before {
            _ if beside.is_empty() => (Vec::new(), Vec::new()),
            // Before the first render, no cluster receives the hand-written files.
            None => (beside, Vec::new()),
            Some(before) => {
                let before = lint::run(before, options);
                let before = Places::of(&before.findings);
                beside.into_iter().partition(|finding| before.have(finding))
            }
        };
        let warnings: Vec<Finding> = warnings.into_iter().filter(is_rendered).collect();
        let count = warnings.len();
        if show_warnings {
            linter::print_findings(warnings, folder, streams)?;
        }
        outcome.findings = of_render.into_iter().chain(caused).collect();
        crate::base::group_findings::sort(&mut outcome.findings);
        let blocks = !outcome.findings.is_empty();
        let report = linter::report(outcome, &self.tree, folder);
        if blocks {
            streams.message(linter::format_findings(&report)?);
            streams.message(&report.summary);
        }
        if !known.is_empty() {
            let errors = counted(known.len(), "error");
            if show_warnings {
                let report = Report::new(known, Coverage::default(), folder);
                streams.message(linter::format_findings(&report)?);
            }
            let how = if show_warnings { "" } else { "; show them with `--warnings`" };
            streams.message(format_args!("{errors} in hand-written files, not caused by the render{how}"));
        }
        if count > 0 && !show_warnings {
            let warnings = counted(count, "warning");
            streams.message(format_args!("the rendered files have {warnings}; show them with `--warnings`"));
        }
        Ok(blocks)
    }
}

/// Returns whether the linter may read a file that is not rendered: not a hidden file, and not a text beside the
/// directories.
fn is_relevant(path: &str) -> bool {
    let is_hidden = path.split('/').any(|name| name.starts_with('.'));
    !is_hidden && (is_yaml(path) || path.contains('/'))
}

/// The rules and positions of findings. A finding may group others, which are its related positions.
struct Places<'a>(BTreeSet<(&'static str, (&'a str, u32, u32))>);

impl<'a> Places<'a> {
    fn of(findings: &'a [Finding]) -> Self {
        let places = findings.iter().flat_map(|finding| {
            let labels = std::iter::once(&finding.at).chain(&finding.related);
            labels.map(|label| (finding.rule, label.span.order()))
        });
        Self(places.collect())
    }

    fn have(&self, finding: &Finding) -> bool {
        self.0.contains(&(finding.rule, finding.at.span.order()))
    }
}
