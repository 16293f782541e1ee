//! What a rule is, and what it may ask.

use crate::finding::{Finding, Label, Severity};
use crate::flux::{Applied, Tenancy};
use crate::kube::Object;
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
    /// While kustomizations are built; the repository's problems name the rule.
    Build,
    /// At each object as a cluster receives it.
    Object(fn(&Applied<'_>, Context<'_>) -> Option<Finding>),
}

/// What a rule may ask of everything around the object. An object is judged once for all clusters of which that is equal.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The tenants of that cluster.
    pub tenancy: &'a Tenancy,
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
        pub(in crate::lint) const RULE: crate::lint::Rule = crate::lint::Rule {
            id: $id,
            summary: $summary,
            docs: concat!($($line, "\n"),*),
            severity: crate::finding::Severity::$severity,
            check: $check,
        };
    };
}
pub(super) use declare;

/// The place to show for a field that an object's `spec` does not have: the key `spec` itself.
pub(super) fn missing_in_spec(object: &Object, field: &str) -> Label {
    let place: Span = object.node.entry("spec").map_or_else(|| object.span().clone(), Entry::key_span);
    Label::new(place, format!("no `{field}` here"))
}
