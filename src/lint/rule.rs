//! The definition of a rule.

use super::context::Context;
use super::findings::Findings;
use super::fleet::Fleet;
use super::view::View;
use crate::base::finding::{Finding, Label, Severity};
use crate::flux::Applied;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Entry;

/// A rule of the linter.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The id: kebab-case, the name of the fault. Its meaning never changes.
    pub id: &'static str,
    /// The fault in one sentence without full stop.
    pub summary: &'static str,
    /// The doc comment of the rule's file, each line with a leading space. [`Rule::page`] returns it as Markdown.
    pub docs: &'static str,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The check that finds the fault.
    pub check: Check,
}

/// The check of a rule, by what it looks at.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// Runs while documents are read; the repository's problems name the rule.
    Document,
    /// Runs while clusters are built; the repository's problems name the rule.
    Build,
    /// Looks at each object that a cluster receives. An object that clusters share is checked once.
    Object(fn(&Applied<'_>, Context<'_>, &mut Findings)),
    /// Looks at each cluster as a whole.
    Cluster(fn(&View<'_>, &mut Findings)),
    /// Compares all clusters; each finding names its clusters.
    Fleet(fn(&Fleet<'_>, &mut Findings)),
}

impl Rule {
    /// The documentation page in Markdown: the reason, the fix, examples and sources.
    pub fn page(&self) -> String {
        let lines = self.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        let lines: Vec<&str> = lines.collect();
        format!("{}\n", lines.join("\n").trim())
    }
}

/// Defines the `RULE` of a file, with the doc comment as its page.
macro_rules! declare {
    (
        $(#[doc = $line:literal])*
        $id:literal, $severity:ident, $summary:literal, $check:expr $(,)?
    ) => {
        pub(crate) const RULE: crate::lint::rule::Rule = crate::lint::rule::Rule {
            id: $id,
            summary: $summary,
            docs: concat!($($line, "\n"),*),
            severity: crate::base::finding::Severity::$severity,
            check: $check,
        };
    };
}
pub(super) use declare;

/// A finding with pedantic severity, which is shown on request only.
pub(super) fn pedantic(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Finding {
    Finding { severity: Severity::Pedantic, ..Finding::error(rule, at, message) }
}

/// The label for a field that the `spec` of an object lacks: it points at the key `spec`.
pub(super) fn missing_in_spec(object: &Object, field: &str) -> Label {
    let place: Span = object.node.entry("spec").map_or_else(|| object.span().clone(), Entry::key_span);
    Label::new(place, format!("no `{field}` here"))
}
