//! A baseline: the recorded findings of an earlier run, which later runs do not report.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arcstr::ArcStr;
use serde::{Deserialize, Serialize};

use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::base::fingerprint::{Renames, fingerprints_before, fingerprints_of_parts};
use crate::base::group_findings::group;
use crate::text::Span;

/// The version of the format.
const VERSION: u32 = 1;

/// The recorded findings of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    findings: Vec<Entry>,
}

/// A recorded finding. The fingerprint identifies it. The other fields are for readers, and must be those of the finding:
/// otherwise, an entry could hide another finding than the one that it shows. An entry does not hide a finding with a
/// higher severity: for example, a warning may become an error since the protection that lowered it was removed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The path of the file.
    pub path: String,
    /// The id of the rule.
    pub rule: String,
    /// The severity.
    pub severity: Severity,
    /// The object with the fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The fingerprint, which stays the same if lines move.
    pub fingerprint: String,
    /// The clusters with the finding, if the entry is not from a file. A file does not record them: otherwise, each new
    /// cluster would need a new baseline.
    #[serde(skip)]
    clusters: Option<Vec<ArcStr>>,
}

/// The use of a baseline in a run.
#[derive(Debug, Clone, Default)]
pub enum BaselineUse {
    /// The run has no baseline.
    #[default]
    None,
    /// The run reports only findings that the baseline does not record. Files may have other paths there.
    Compare(Baseline, Renames),
    /// The run records its findings. The new baseline keeps the entries of rules that do not run from the earlier one.
    Record(Baseline),
}

/// The result of the use of a baseline.
#[derive(Debug, Clone, Default)]
pub struct BaselineOutcome {
    /// The number of findings that the baseline records.
    pub known: usize,
    /// The entries without a finding.
    pub fixed: Vec<Entry>,
    /// The new baseline, if the run records one.
    pub recorded: Option<Baseline>,
}

impl Baseline {
    /// Reads a baseline. The error is a message.
    pub fn read(text: &str) -> Result<Self, String> {
        let baseline: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if baseline.version == VERSION {
            return Ok(baseline);
        }
        Err(format!("its version is {}, and this program reads version {VERSION}", baseline.version))
    }

    /// Writes the baseline as JSON, in an order that does not depend on positions.
    pub fn write(&self) -> String {
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{json}\n")
    }

    /// Masks secret values in the names of objects. `mask` replaces their characters by `*`.
    #[must_use]
    pub fn masked<'a>(mut self, mask: impl Fn(&str) -> Cow<'_, str> + 'a) -> Self {
        for object in self.findings.iter_mut().filter_map(|entry| entry.object.as_mut()) {
            *object = mask(object).into_owned();
        }
        self
    }

    /// The number of recorded findings.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Renames the recorded clusters. A cluster without a new name is no longer recorded.
    pub(super) fn rename_clusters(&mut self, names: &BTreeMap<ArcStr, ArcStr>) {
        for clusters in self.findings.iter_mut().filter_map(|entry| entry.clusters.as_mut()) {
            *clusters = clusters.iter().filter_map(|name| names.get(name).cloned()).collect();
        }
    }

    /// Returns whether no finding is recorded.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Entry {
    /// Returns whether the entry has the file, rule and object of a finding.
    fn is_of(&self, finding: &Self, renames: &Renames) -> bool {
        let path = renames.get(&finding.path).unwrap_or(&finding.path);
        (&self.path, &self.rule) == (path, &finding.rule) && self.is_about(finding.object.as_deref())
    }

    /// Returns whether the entry has an object. Some characters of its name may be masked, but not its kind.
    fn is_about(&self, object: Option<&str>) -> bool {
        let (Some(own), Some(object)) = (self.object.as_deref(), object) else {
            return self.object.as_deref() == object;
        };
        let kind = object.find(' ').unwrap_or(object.len());
        let is_same = |(at, (own, other)): (usize, (char, char))| own == other || own == '*' && at > kind;
        own.chars().count() == object.chars().count() && own.chars().zip(object.chars()).enumerate().all(is_same)
    }

    /// Returns whether a finding is known. A finding with a higher severity is new, and so is an error on another cluster.
    fn hides(&self, finding: &Self) -> bool {
        let had = |cluster| self.clusters.as_ref().is_none_or(|clusters| clusters.contains(cluster));
        let is_spread = finding.severity == Severity::Error && !finding.clusters.iter().flatten().all(had);
        finding.severity <= self.severity && !is_spread
    }
}

impl BaselineUse {
    /// Removes the recorded findings from a sorted list of single findings. `ran` returns whether a run could find an entry.
    pub(super) fn apply(&self, findings: &mut Vec<Finding>, ran: impl Fn(&Entry) -> bool) -> BaselineOutcome {
        match self {
            Self::None => BaselineOutcome::default(),
            Self::Compare(baseline, renames) => {
                let mut open: BTreeMap<&str, &Entry> =
                    baseline.findings.iter().map(|entry| (entry.fingerprint.as_str(), entry)).collect();
                let prints = fingerprints_before(findings, renames);
                let mut prints = prints.iter();
                let known = findings.extract_if(.., |finding| {
                    let mut of_parts = prints.next().into_iter().flatten();
                    let kind = Kind::of(finding);
                    let mut is_known = |span: &Span, object: Option<&ObjectRef>| {
                        let Some(print) = of_parts.next() else { return false };
                        let shown = entry(&kind, span, object, print.clone());
                        let is_it = |entry: &&Entry| entry.is_of(&shown, renames);
                        let recorded = open.get(print.as_str()).copied().filter(is_it);
                        recorded.is_some_and(|entry| open.remove(print.as_str()).is_some() && entry.hides(&shown))
                    };
                    finding.accept_parts("known:", &mut is_known)
                });
                let known = group(known.collect()).len();
                let fixed = open.into_values().filter(|entry| ran(entry)).cloned();
                let mut fixed: Vec<Entry> = fixed.collect();
                fixed.sort();
                BaselineOutcome { known, fixed, recorded: None }
            }
            Self::Record(earlier) => {
                let kept = earlier.findings.iter().filter(|entry| !ran(entry)).cloned();
                let mut entries: Vec<Entry> =
                    findings.iter().zip(fingerprints_of_parts(findings)).flat_map(entries).chain(kept).collect();
                entries.sort();
                let known = group(std::mem::take(findings)).len();
                let recorded = Some(Baseline { version: VERSION, findings: entries });
                BaselineOutcome { known, fixed: Vec::new(), recorded }
            }
        }
    }
}

/// What the parts of a finding have in common.
struct Kind {
    rule: &'static str,
    severity: Severity,
    clusters: Vec<ArcStr>,
}

impl Kind {
    fn of(finding: &Finding) -> Self {
        Self { rule: finding.rule, severity: finding.severity, clusters: finding.clusters.clone() }
    }
}

/// The entries of a finding: one for each part.
fn entries((finding, fingerprints): (&Finding, Vec<String>)) -> Vec<Entry> {
    let whole = (&finding.at.span, finding.object.as_ref());
    let parts = finding.parts().iter().map(|part| (&part.span, part.object.as_ref()));
    let parts = parts.chain(finding.parts().is_empty().then_some(whole));
    let kind = Kind::of(finding);
    parts.zip(fingerprints).map(|((span, object), fingerprint)| entry(&kind, span, object, fingerprint)).collect()
}

fn entry(kind: &Kind, span: &Span, object: Option<&ObjectRef>, fingerprint: String) -> Entry {
    let file = span.file();
    let path = match file.root() {
        Some(root) => format!("{}/{}", root.trim_end_matches('/'), file.path()),
        None => file.path().to_owned(),
    };
    let object = object.map(|object| object.to_string().replace('`', ""));
    let clusters = Some(kind.clusters.clone());
    Entry { path, rule: kind.rule.to_owned(), severity: kind.severity, object, fingerprint, clusters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_entry_is_about_the_same_object() {
        let is_about = |own: &str, object: &str| {
            let file = crate::text::File::new("a.yaml", "a: 1\n");
            let kind = Kind { rule: "a", severity: Severity::Error, clusters: Vec::new() };
            let entry = Entry { object: Some(own.to_owned()), ..entry(&kind, &file.span(0..1), None, String::new()) };
            entry.is_about(Some(object))
        };
        assert!(is_about("ConfigMap default/*******", "ConfigMap default/Hunter2"));
        assert!(is_about("ConfigMap default/Hunter2", "ConfigMap default/Hunter2"));
        for other in ["ConfigMap default/Hunter22", "ConfigMap default/Hunter", "ConfigMap another/Hunter2"] {
            assert!(!is_about("ConfigMap default/*******", other), "{other}");
        }
        assert!(!is_about("********* default/Hunter2", "ConfigMap default/Hunter2"), "the kind is never masked");
    }
}
