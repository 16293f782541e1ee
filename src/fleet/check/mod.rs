//! What a schema cannot see: names that stand twice, references that lead nowhere, places that collide.
//!
//! Every check passes over what is broken, since the schema has reported it, so that all mistakes come in one run.

mod names;
mod places;
mod references;
mod roles;
mod sources;
mod substitution;

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::Graph;

/// Checks what was written, as written and as merged.
pub(super) fn check(
    input: &Input,
    merged: &Merged,
    graph: &Graph<'_>,
    layout: Option<&Layout>,
    findings: &mut Vec<Finding>,
) {
    graph.cycles(findings);
    names::check(input, merged, findings);
    references::check(input, merged, graph, findings);
    places::check(input, merged, findings);
    sources::check(input, merged, layout, findings);
    roles::check(input, findings);
    substitution::check(merged, layout, findings);
}
