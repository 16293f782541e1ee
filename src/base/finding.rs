//! Findings: messages with positions.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::text::{Index, Span};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A possible improvement; hidden by default.
    Pedantic,
    /// A probable mistake that breaks nothing yet.
    Warning,
    /// A failure, a deletion, or a security fault.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pedantic => "pedantic",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A span with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// The message; may be empty at the primary span of a finding, which has its own message.
    pub message: String,
}

impl Label {
    /// Creates a label.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl From<Span> for Label {
    fn from(span: Span) -> Self {
        Self::new(span, "")
    }
}

/// The identity of a Kubernetes object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// `apiVersion` as written, for example `kustomize.toolkit.fluxcd.io/v1`.
    pub api_version: Arc<str>,
    /// `kind`, for example `Kustomization`.
    pub kind: Arc<str>,
    /// `metadata.namespace`; absent for objects without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Arc<str>>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

impl ObjectRef {
    /// The group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for ObjectRef {
    /// Writes ``Kind `namespace/name` ``, as messages name objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} `{namespace}/{}`", self.kind, self.name),
            None => write!(f, "{} `{}`", self.kind, self.name),
        }
    }
}

/// A fault in a user's file. Every finding has a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule, for example `missing-service-account`.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The description of the fault: one sentence without a full stop.
    pub message: String,
    /// The primary label.
    pub at: Label,
    /// Related labels.
    pub related: Vec<Label>,
    /// The reason and the fix.
    pub help: Option<String>,
    /// The affected object.
    pub object: Option<ObjectRef>,
    /// The affected clusters, sorted; empty if unknown or not applicable.
    pub clusters: Vec<Arc<str>>,
}

impl Finding {
    /// Creates an error without related labels and help.
    pub fn error(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: Severity::Error,
            message: message.into(),
            at: at.into(),
            related: Vec::new(),
            help: None,
            object: None,
            clusters: Vec::new(),
        }
    }

    /// Creates a warning.
    pub fn warning(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, at, message) }
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a related label.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label::new(span, message));
        self
    }

    /// Sets the affected object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }
}

/// Sorts findings by path, position and rule, and merges equal findings of several clusters.
///
/// Findings with the same position, rule and message but another severity or help remain separate.
pub fn sort(findings: &mut Vec<Finding>) {
    type Key<'a> = (Option<&'a Arc<str>>, (&'a str, u32, u32), &'a str, &'a str);
    fn key(finding: &Finding) -> Key<'_> {
        let span = &finding.at.span;
        (span.file().root(), span.order(), finding.rule, &finding.message)
    }
    fn presentation(finding: &Finding) -> (Reverse<Severity>, &Option<String>, bool) {
        (Reverse(finding.severity), &finding.help, finding.clusters.is_empty())
    }
    // Merges exact duplicates before the sort, since they are frequent and sorting is slower.
    let mut known: Index<_, usize> = Index::default();
    let mut same: Vec<(usize, usize)> = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        let first = *known.entry_or((key(finding), presentation(finding)), || at);
        if first != at {
            same.push((first, at));
        }
    }
    drop(known);
    for (first, at) in &same {
        let clusters = std::mem::take(&mut findings[*at].clusters);
        findings[*first].clusters.extend(clusters);
    }
    let mut later = same.iter().map(|(_, at)| *at).peekable();
    let mut at = 0;
    findings.retain(|_| {
        let is_kept = later.next_if_eq(&at).is_none();
        at += 1;
        is_kept
    });
    findings.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| presentation(a).cmp(&presentation(b))));
    findings.dedup_by(|later, kept| {
        let is_presentation_equal = later.severity == kept.severity && later.help == kept.help;
        // A finding without clusters adds nothing to one with clusters.
        let is_same = key(later) == key(kept) && (is_presentation_equal || later.clusters.is_empty());
        if is_same {
            kept.clusters.append(&mut later.clusters);
        }
        is_same
    });
    for finding in findings {
        finding.clusters.sort();
        finding.clusters.dedup();
    }
}

/// Returns the most similar candidate, if one is similar enough.
pub fn did_you_mean<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let score = |candidate: &str| {
        let folded = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        strsim::damerau_levenshtein(&folded(typed), &folded(candidate))
    };
    let allowed = (typed.chars().count() / 3).clamp(1, 4);
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = candidates.iter().map(|candidate| (score(candidate), *candidate));
    let near = near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate);
    // `prod` matches `production`.
    let is_short_for = |candidate: &&str| typed.len() >= 3 && candidate.starts_with(typed);
    near.or_else(|| candidates.into_iter().filter(is_short_for).min_by_key(|candidate| candidate.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_findings_of_clusters_are_merged() {
        let file = crate::text::File::new("a.yaml", "a: 1\n");
        let found = |help: &str, clusters: &[&str]| {
            let mut finding = Finding::error("rule", file.span(0..1), "wrong").help(help);
            finding.clusters = clusters.iter().map(|name| Arc::from(*name)).collect();
            finding
        };
        let mut findings = vec![found("x", &["c"]), found("y", &["b"]), found("x", &["a", "c"]), found("x", &[])];
        sort(&mut findings);
        let merged: Vec<(&str, String)> = findings
            .iter()
            .map(|finding| (finding.help.as_deref().unwrap_or_default(), finding.clusters.join(" ")))
            .collect();
        assert_eq!(merged, [("x", "a c".to_owned()), ("y", "b".to_owned())]);
    }

    #[test]
    fn the_most_similar_name_is_suggested() {
        assert_eq!(did_you_mean("dependson", ["path", "dependsOn"]), Some("dependsOn"));
        assert_eq!(did_you_mean("stagging", ["production", "staging"]), Some("staging"));
        assert_eq!(did_you_mean("prod", ["production", "staging"]), Some("production"));
        assert_eq!(did_you_mean("colour", ["path", "prune"]), None);
    }
}
