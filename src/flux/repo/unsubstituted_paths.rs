//! Missing paths with variables that the parent of the Kustomization does not substitute.

use std::collections::BTreeSet;

use crate::base::finding::Finding;
use crate::flux::build::kustomization::MISSING_PATH;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::object::kinds::is_kustomization;

/// Adds the cause to findings of missing paths with variables: without `spec.postBuild`, Flux substitutes nothing.
///
/// Source: `reconcile` in `kustomization_controller.go` of kustomize-controller.
pub(super) fn explain_variables(findings: &mut [Finding], clusters: &[Cluster]) {
    let variables = |finding: &Finding| {
        let (_, path) = finding.at.span.text().split_once("${")?;
        let (variable, _) = path.split_once('}')?;
        (finding.rule == MISSING_PATH).then(|| format!("${{{variable}}}"))
    };
    if !findings.iter().any(|finding| variables(finding).is_some()) {
        return;
    }
    for finding in findings {
        let Some(variable) = variables(finding) else { continue };
        let is_of = |cluster: &&Cluster| finding.clusters.iter().any(|name| **name == *cluster.name);
        let appliers = clusters.iter().filter(is_of).flat_map(|cluster| &cluster.appliers);
        let own = appliers.filter(|applier| finding.object.as_ref() == Some(&applier.reference));
        let parents: Vec<Option<&Applier>> = own.map(|applier| applier.parent_applier.as_deref()).collect();
        if parents.is_empty() || !parents.iter().all(|parent| parent.is_some_and(does_not_substitute)) {
            continue;
        }
        let names: BTreeSet<String> = parents.iter().flatten().map(|parent| parent.reference.to_string()).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let help = format!(
            "set `spec.postBuild` of {names}, such as `substitute`: without it, Flux does not substitute `{variable}`, \
             and applies nothing until the path exists"
        );
        let for_all = format!(
            "set `spec.postBuild` of {names}, such as `substitute`: without it, Flux does not substitute variables, and \
             applies nothing until the paths exist"
        );
        let summary = format!(" Kustomizations have a `spec.path` with variables that {names} does not substitute");
        *finding =
            finding.clone().help(help).caused_by(format!("variables of {names}"), "", summary).help_for_all(for_all);
    }
}

/// Returns whether a Kustomization applies its objects without a substitution.
fn does_not_substitute(applier: &Applier) -> bool {
    let object = applier.object.as_ref().filter(|object| is_kustomization(object));
    object.is_some_and(|object| object.node.at_keys(&["spec", "postBuild"]).is_none())
}
