//! Checks that a schema cannot express: duplicate names, dangling references and collisions.
//!
//! Every check skips invalid nodes, which the schema reports, so that one run reports all errors.

mod quotas;
mod references;
mod roles;
mod names;
mod access;
mod self_service;
mod sources;
mod crossings;
mod placement;
mod repositories;
mod places;
mod required;
mod substitution;
mod values;

use std::sync::Arc;

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::crossing::Crossings;
use crate::fleet::merge::levels::Merged;
use crate::fleet::resolve::dependencies::Graph;

/// Checks a fleet, as written and as merged.
pub(super) fn check(
    input: &Input,
    merged: &Merged,
    crossings: &[Arc<Crossings>],
    graph: &Graph<'_>,
    layout: Option<&Layout>,
    findings: &mut Vec<Finding>,
) {
    graph.cycles(findings);
    names::check(input, merged, findings);
    placement::check(input, merged, layout, findings);
    crossings::check(input, merged, crossings, findings);
    quotas::check(merged, findings);
    references::check(input, merged, graph, findings);
    places::check(input, merged, findings);
    sources::check(merged, layout, findings);
    repositories::check(input, merged, findings);
    roles::check(input, merged, layout, findings);
    required::check(input, merged, findings);
    values::check(merged, crossings, layout, findings);
    access::check(input, merged, findings);
    self_service::check(input, merged, findings);
    substitution::check(merged, layout, findings);
}
