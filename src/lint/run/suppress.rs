//! Exceptions, with which the configuration and comments accept findings for a stated reason.

use std::collections::BTreeMap;

use arcstr::ArcStr;
use globset::GlobSet;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::options::Options;
use crate::base::date::Date;
use crate::base::finding::{Finding, Fix, ObjectRef, Safety};
use crate::base::similar_names::did_you_mean;
use crate::config::{EXPIRED_EXCEPTION, Exception, INVALID_EXCEPTION, UNUSED_EXCEPTION, exceptions_of, glob};
use crate::kustomize::is_yaml;
use crate::lint::rules::{RULES, rule};
use crate::text::{Edit, File, Span, Tree};
use crate::yaml::fix;

impl Options {
    /// Adds the exceptions in the comments of a repository, and the findings about comments that are not valid.
    ///
    /// Comments in copies of other repositories have no effect: their authors must not hide findings.
    pub fn read_comments(&mut self, tree: &Tree) {
        let files: Vec<&File> = tree.files().filter(|file| is_yaml(file.path())).collect();
        let of_files: Vec<(Vec<Exception>, Vec<Finding>)> = files.into_par_iter().map(exceptions_of).collect();
        for (exceptions, faults) in of_files {
            self.faults.extend(faults);
            for exception in exceptions {
                match unknown_rule(&exception) {
                    Some(unknown) => self.faults.push(unknown),
                    None => self.lint.exceptions.push(exception),
                }
            }
        }
    }

    /// Removes the exceptions in comments, before the comments of another state of the repository are read.
    pub(super) fn forget_comments(&mut self) {
        self.lint.exceptions.retain(|exception| exception.lines.is_none());
        self.faults.clear();
    }
}

fn unknown_rule(exception: &Exception) -> Option<Finding> {
    let id = &exception.rule;
    if rule(id).is_some() {
        return None;
    }
    let help = match did_you_mean(id, RULES.iter().map(|rule| rule.id)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "use the id in the brackets of the finding; `fleetwright rules` lists all rules".to_owned(),
    };
    let meant = did_you_mean(id, RULES.iter().map(|rule| rule.id));
    let fix = meant.and_then(|meant| fix::retype(&exception.at, id, meant, Safety::Unsafe));
    let message = format!("the exception has no effect, since there is no rule `{id}`");
    Some(Finding::error(INVALID_EXCEPTION, exception.at.clone(), message).help(help).fixed_by(fix))
}

/// The exceptions of a run by rule, with their use.
pub(super) struct Exceptions<'a> {
    of_rule: BTreeMap<&'a str, Vec<Matcher<'a>>>,
    today: Option<Date>,
}

struct Matcher<'a> {
    exception: &'a Exception,
    objects: Option<GlobSet>,
    paths: Option<GlobSet>,
    /// The answers of `paths` for files, which may have many findings.
    known: BTreeMap<(Option<ArcStr>, ArcStr), bool>,
    is_used: bool,
}

impl<'a> Exceptions<'a> {
    pub(super) fn new(exceptions: &'a [Exception], today: Option<Date>) -> Self {
        let mut of_rule: BTreeMap<&str, Vec<Matcher<'a>>> = BTreeMap::new();
        for exception in exceptions {
            of_rule.entry(&exception.rule).or_default().push(Matcher {
                exception,
                objects: globs(&exception.objects, glob::objects),
                paths: globs(&exception.paths, glob::paths),
                known: BTreeMap::new(),
                is_used: false,
            });
        }
        Self { of_rule, today }
    }

    /// Returns whether exceptions accept a finding, and marks them as used.
    ///
    /// An exception accepts only the faults that it matches: a finding with several parts is accepted only if each part is.
    pub(super) fn accept(&mut self, finding: &mut Finding) -> bool {
        let Some(matchers) = self.of_rule.get_mut(finding.rule) else { return false };
        finding.accept_parts("exceptions accept", |span, object| {
            let mut is_accepted = false;
            for matcher in matchers.iter_mut() {
                if !matcher.exception.is_expired(self.today) && matcher.matches(span, object) {
                    matcher.is_used = true;
                    is_accepted = true;
                }
            }
            is_accepted
        })
    }

    /// The findings about expired exceptions, and about exceptions that did not accept a finding.
    ///
    /// The exceptions of layouts may be unused, and so may those of rules that `ran` excludes.
    pub(super) fn faults(&self, options: &Options, ran: impl Fn(&str) -> bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        for matcher in self.of_rule.values().flatten().filter(|matcher| !matcher.exception.of_layout) {
            let Exception { rule, at, until, .. } = matcher.exception;
            if let Some(until) = until.filter(|_| matcher.exception.is_expired(self.today)) {
                let message = format!("the exception of `{rule}` ended on {until}");
                let help = "fix the finding and remove the exception, or set a later date";
                let fix = removal(matcher.exception, Safety::Unsafe);
                findings.push(Finding::warning(EXPIRED_EXCEPTION, at.clone(), message).help(help).fixed_by(fix));
            } else if !matcher.is_used && ran(rule) && options.judges_all(matcher.exception) {
                let message = format!("the exception of `{rule}`{} matches no finding", matcher.extent());
                let help = "remove the exception, since the fault is fixed, or move it to the place of the finding";
                let fix = removal(matcher.exception, Safety::Safe);
                findings.push(Finding::warning(UNUSED_EXCEPTION, at.clone(), message).help(help).fixed_by(fix));
            }
        }
        findings
    }
}

impl Matcher<'_> {
    fn matches(&mut self, span: &Span, object: Option<&ObjectRef>) -> bool {
        let is_in_lines = self.exception.lines.as_ref().is_none_or(|lines| {
            span.file().root().is_none()
                && span.file().path() == lines.file().path()
                && (lines.range().start..=lines.range().end).contains(&span.range().start)
        });
        let Self { exception, paths, known, .. } = self;
        let mut is_in_paths = || {
            let Some(globs) = paths else { return true };
            let key = (span.file().root().cloned(), span.file().path().into());
            *known.entry(key).or_insert_with(|| globs.is_match(exception.bearings.path_of(span.file())))
        };
        is_in_lines
            && is_in_paths()
            && self
                .objects
                .as_ref()
                .is_none_or(|globs| object.is_some_and(|object| names(object).iter().any(|name| globs.is_match(name))))
    }

    /// The objects and paths of the exception, for messages.
    fn extent(&self) -> String {
        let narrowed = self.exception.objects.iter().chain(&self.exception.paths);
        let narrowed: Vec<String> = narrowed.map(|text| format!("`{text}`")).collect();
        if narrowed.is_empty() { String::new() } else { format!(" for {}", narrowed.join(", ")) }
    }
}

/// The fix that removes a comment with a single rule: the rest of its line, or the whole line.
fn removal(exception: &Exception, safety: Safety) -> Option<Fix> {
    exception.lines.as_ref()?;
    let file = exception.at.file();
    let number = exception.at.position().line;
    let line = file.line(number)?;
    let text = file.text().get(line.clone())?;
    let column = text.get(..exception.at.range().start - line.start)?.rfind('#')?;
    let rules = text.get(column..)?.split_once('[')?.1.split_once(']')?.0;
    if rules.contains(',') {
        return None;
    }
    let before = text.get(..column)?.trim_end();
    let span = if before.is_empty() {
        file.span(line.start..file.line(number + 1).map_or(line.end, |next| next.start))
    } else {
        file.span(line.start + before.len()..line.end)
    };
    Some(Fix { edits: vec![Edit { span, text: String::new() }], safety })
}

/// The names by which an exception can refer to an object.
fn names(object: &ObjectRef) -> Vec<String> {
    let mut names = vec![format!("{}/{}", object.kind, object.name)];
    names.extend(object.namespace.as_ref().map(|namespace| format!("{}/{namespace}/{}", object.kind, object.name)));
    names
}

/// The globs of a list; `None` if the list is empty.
fn globs(globs: &[String], build: fn(&[String]) -> GlobSet) -> Option<GlobSet> {
    (!globs.is_empty()).then(|| build(globs))
}
