//! Exceptions, with which the configuration accepts findings for a stated reason.

use globset::GlobSet;

use crate::base::finding::{Finding, ObjectRef};
use crate::config::{Exception, glob};

/// The exceptions of a run, with the number of findings that each accepted.
pub(super) struct Exceptions<'a> {
    list: Vec<Matcher<'a>>,
}

struct Matcher<'a> {
    exception: &'a Exception,
    objects: Option<GlobSet>,
    paths: Option<GlobSet>,
    used: usize,
}

impl<'a> Exceptions<'a> {
    pub(crate) fn new(exceptions: &'a [Exception]) -> Self {
        let matcher = |exception: &'a Exception| Matcher {
            exception,
            objects: globs(&exception.objects, glob::objects),
            paths: globs(&exception.paths, glob::paths),
            used: 0,
        };
        Self { list: exceptions.iter().map(matcher).collect() }
    }

    /// Returns whether an exception accepts a finding. The first such exception counts the finding.
    pub(super) fn accept(&mut self, finding: &Finding) -> bool {
        let found = self.list.iter_mut().find(|matcher| matcher.matches(finding));
        found.map(|matcher| matcher.used += 1).is_some()
    }

    /// The exceptions for rules of the run that did not accept a finding, without those of layouts.
    pub(crate) fn unused(&self, ran: impl Fn(&str) -> bool) -> Vec<Exception> {
        let own = self.list.iter().filter(|matcher| !matcher.exception.of_layout);
        let unused = own.filter(|matcher| matcher.used == 0 && ran(&matcher.exception.rule));
        unused.map(|matcher| matcher.exception.clone()).collect()
    }
}

impl Matcher<'_> {
    fn matches(&self, finding: &Finding) -> bool {
        finding.rule == self.exception.rule
            && self
                .paths
                .as_ref()
                .is_none_or(|globs| globs.is_match(self.exception.bearings.path_of(finding.at.span.file())))
            && self.objects.as_ref().is_none_or(|globs| {
                finding.object.as_ref().is_some_and(|object| names(object).iter().any(|name| globs.is_match(name)))
            })
    }
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
