//! Builds that fail only with a newer kustomize than that of the cluster.

use crate::base::finding::{Finding, Severity};
use crate::kustomize::{FAILED_BUILD, IMAGES_OF_VOLUMES};
use crate::lint::view::View;
use crate::yaml::Name;

/// The first release of Flux with kustomize 5.7.
///
/// Source: `go.mod` of kustomize-controller 1.6 (`kustomize/api` 0.19.0) and 1.7 (0.20.1).
const FLUX_WITH_5_7: (u64, u64) = (2, 7);

/// Lowers the failures of a newer kustomize to warnings on clusters with an older Flux.
pub(super) fn lower_newer_failures(findings: &mut Vec<Finding>, views: &[View<'_>]) {
    let is_newer = |finding: &Finding| finding.rule == FAILED_BUILD && finding.message == IMAGES_OF_VOLUMES;
    let is_older = |cluster: &Name| {
        let mut views = views.iter().filter(|view| *view.receiver.cluster.name == **cluster);
        views.any(|view| view.has_flux(FLUX_WITH_5_7) == Some(false))
    };
    let mut lowered = Vec::new();
    for finding in findings.iter_mut().filter(|finding| is_newer(finding)) {
        let older: Vec<Name> = finding.clusters.extract_if(.., |cluster| is_older(cluster)).collect();
        if !older.is_empty() {
            let help =
                "correct the field, or `images`, before you upgrade: Flux fails to build the directory from 2.7 on";
            lowered.push(Finding { clusters: older, severity: Severity::Warning, ..finding.clone() }.help(help));
        }
    }
    findings.retain(|finding| {
        !is_newer(finding) || !finding.clusters.is_empty() || views.iter().all(|view| !view.is_whole())
    });
    findings.extend(lowered);
}
