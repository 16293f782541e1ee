//! The definition of a rule.

use super::api_uses::RepositoryUses;
use super::cluster_policies::ClusterPolicies;
use super::context::Context;
use super::findings::Findings;
use super::fleet::Fleet;
use super::view::View;
use crate::base::finding::{Finding, Label, Safety, Severity};
use crate::flux::Applied;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Entry;

/// A rule of the linter.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The id: the name of the fault in kebab case. The meaning of an id never changes.
    pub id: &'static str,
    /// The fault in one sentence without a full stop.
    pub summary: &'static str,
    /// The doc comment of the rule's file, each line with a leading space. [`Rule::page`] returns it as Markdown.
    pub docs: &'static str,
    /// The severity of the rule's most severe findings.
    pub severity: Severity,
    /// The check that finds the fault.
    pub check: Check,
    /// The safety of the fixes that findings of the rule may have.
    pub fixes: &'static [Safety],
}

/// The check of a rule, by its input.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// The parser finds the faults. They are problems of the repository with the id of the rule.
    Document,
    /// The engine finds the faults during builds. They are problems of the repository with the id of the rule.
    Build,
    /// The run compares the exceptions with the findings of the other rules.
    Exceptions,
    /// Checks each object that a cluster receives. An object that clusters share is checked once for each context.
    Object(fn(&Applied<'_>, Context<'_>, &mut Findings)),
    /// Checks each object that a cluster receives, and each object of the repository that no cluster receives.
    Written(fn(&Applied<'_>, Context<'_>, &mut Findings)),
    /// Checks each cluster as a whole.
    Cluster(fn(&View<'_>, &mut Findings)),
    /// Checks all clusters together. The check sets the clusters of each finding.
    Fleet(fn(&Fleet<'_>, &mut Findings)),
    /// Checks all clusters together, with their admission policies.
    Policies(for<'a> fn(&Fleet<'a>, &ClusterPolicies<'a>, &mut Findings)),
    /// Checks all clusters together, with the API versions that they use.
    Apis(fn(&Fleet<'_>, &RepositoryUses, &mut Findings)),
}

impl Rule {
    /// The documentation page in Markdown: the reason, the fix, examples and sources.
    pub fn page(&self) -> String {
        let lines = self.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        let lines: Vec<&str> = lines.collect();
        format!("{}\n", lines.join("\n").trim())
    }

    /// The fixes of the rule in a few words; empty if no finding has one.
    pub fn fix(&self) -> &'static str {
        match self.fixes {
            [] => "",
            [Safety::Safe] => "safe",
            [Safety::Unsafe] => "needs a review",
            [..] => "safe, or needs a review",
        }
    }
}

/// Defines the `RULE` of a file, with the doc comment as its page.
macro_rules! declare {
    (
        $(#[doc = $line:literal])*
        $id:literal, $severity:ident, $summary:literal, $check:expr $(, fixes: [$($safety:ident),+])? $(,)?
    ) => {
        pub(crate) const RULE: crate::lint::rule::Rule = crate::lint::rule::Rule {
            id: $id,
            summary: $summary,
            docs: concat!($($line, "\n"),*),
            severity: crate::base::finding::Severity::$severity,
            check: $check,
            fixes: &[$($(crate::base::finding::Safety::$safety),+)?],
        };
    };
}
pub(super) use declare;

/// A finding with pedantic severity, which the linter shows only on request.
pub(super) fn pedantic(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Finding {
    Finding { severity: Severity::Pedantic, ..Finding::error(rule, at, message) }
}

/// The label for a missing field of an object's `spec`, at the key `spec`, or at the object if it has no `spec`.
pub(super) fn missing_in_spec(object: &Object, field: &str) -> Label {
    let place: Span = object.node.entry("spec").map_or_else(|| object.span().clone(), Entry::key_span);
    Label::new(place, format!("no `{field}` here"))
}
