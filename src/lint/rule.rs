//! What a rule is, and what it may ask.

use std::sync::OnceLock;

use super::found::Found;
use super::view::View;
use crate::base::finding::{Finding, Label, Severity};
use crate::config::Lint;
use crate::flux::{Applied, Governance, Repo, Tenancy};
use crate::kube::Object;
use crate::lint::facts::reach::Reached;
use crate::text::Span;
use crate::yaml::Entry;

/// A rule of the linter.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its id: kebab-case, the name of the fault. It never changes its meaning.
    pub id: &'static str,
    /// The fault in a sentence without full stop.
    pub summary: &'static str,
    /// Its page: the doc comment of its file as Rust has it, each line led by a space. [`Rule::page`] is Markdown.
    pub docs: &'static str,
    /// How bad its findings are at worst.
    pub severity: Severity,
    /// How it is found.
    pub check: Check,
}

/// The moment at which a rule looks.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// While documents are read; the repository's problems name the rule.
    Document,
    /// While clusters are built; the repository's problems name the rule.
    Build,
    /// At each object as a cluster receives it, by itself: one that clusters share is judged once.
    Object(fn(&Applied<'_>, Context<'_>, &mut Found)),
    /// At each cluster as a whole.
    Cluster(fn(&View<'_>, &mut Found)),
    /// At all clusters together: the findings name those that they concern.
    Fleet(fn(&Fleet<'_>, &mut Found)),
}

/// What a rule may ask of everything around the object. An object is judged once for all clusters of which that is equal.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The tenants of that cluster.
    pub tenancy: &'a Tenancy,
    /// How the repository wants to be judged.
    pub lint: &'a Lint,
    /// Whether it counts as production.
    pub is_production: bool,
}

/// All clusters.
pub struct Fleet<'a> {
    /// The clusters, in the order of their names.
    pub views: &'a [View<'a>],
    /// What the repository holds.
    pub repo: &'a Repo,
    /// Whether a fleet.yaml governs it.
    pub governance: Governance,
    reached: OnceLock<Reached<'a>>,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(views: &'a [View<'a>], repo: &'a Repo, governance: Governance) -> Self {
        Self { views, repo, governance, reached: OnceLock::new() }
    }

    /// What its clusters reach, of all those that the repository describes.
    pub(super) fn reached(&self) -> &Reached<'a> {
        self.reached.get_or_init(|| Reached::of(self.repo))
    }
}

impl Rule {
    /// The page in Markdown: why it matters, how to fix it, examples, sources.
    pub fn page(&self) -> String {
        let lines = self.docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        let lines: Vec<&str> = lines.collect();
        format!("{}\n", lines.join("\n").trim())
    }
}

/// Makes the `RULE` of a file: the doc comment is its page.
macro_rules! declare {
    (
        $(#[doc = $line:literal])*
        $id:literal, $severity:ident, $summary:literal, $check:expr $(,)?
    ) => {
        pub(crate) const RULE: crate::lint::Rule = crate::lint::Rule {
            id: $id,
            summary: $summary,
            docs: concat!($($line, "\n"),*),
            severity: crate::base::finding::Severity::$severity,
            check: $check,
        };
    };
}
pub(super) use declare;

/// A finding that is shown only when asked for.
pub(super) fn pedantic(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Finding {
    Finding { severity: Severity::Pedantic, ..Finding::error(rule, at, message) }
}

/// The place to show for a field that an object's `spec` does not have: the key `spec` itself.
pub(super) fn missing_in_spec(object: &Object, field: &str) -> Label {
    let place: Span = object.node.entry("spec").map_or_else(|| object.span().clone(), Entry::key_span);
    Label::new(place, format!("no `{field}` here"))
}
