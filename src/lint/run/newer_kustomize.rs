//! Builds that fail only with a newer kustomize than that of the cluster.

use crate::base::finding::{Finding, Severity};
use crate::lint::view::View;
use crate::yaml::Name;

/// Lowers the failures of a newer kustomize to warnings on clusters with an older Flux.
pub(super) fn lower_newer_failures(findings: &mut Vec<Finding>, views: &[View<'_>]) {
    let is_older = |cluster: &Name, since: (u64, u64)| {
        let mut views = views.iter().filter(|view| *view.receiver.cluster.name == **cluster);
        views.any(|view| view.has_flux(since) == Some(false))
    };
    let mut lowered = Vec::new();
    for finding in findings.iter_mut() {
        let Some((major, minor)) = finding.since_flux else { continue };
        let older: Vec<Name> = finding.clusters.extract_if(.., |cluster| is_older(cluster, (major, minor))).collect();
        if !older.is_empty() {
            let help = format!(
                "correct this before you upgrade: kustomize fails to build the directory in Flux {major}.{minor} and later"
            );
            lowered.push(Finding { clusters: older, severity: Severity::Warning, ..finding.clone() }.help(help));
        }
    }
    findings.retain(|finding| {
        finding.since_flux.is_none() || !finding.clusters.is_empty() || views.iter().all(|view| !view.is_whole())
    });
    findings.extend(lowered);
}
