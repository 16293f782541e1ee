//! Positions in roots that no file of the repository contains.

use std::collections::BTreeSet;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Receiver, RootEvidence};
use crate::kustomize::FAILED_BUILD;

/// Removes the findings and labels at generated roots, since no file contains them.
///
/// If the directory of such a root does not build, the finding is at the first object that it mentions, and it is a
/// warning, since Flux may sync only a part of the directory. The same holds for a root that `flux bootstrap` will write.
pub(super) fn remove_generated(findings: &mut Vec<Finding>, receivers: &[&Receiver<'_>]) {
    let files = |is_wanted: fn(&RootEvidence) -> bool| -> BTreeSet<&str> {
        let clusters = receivers.iter().map(|receiver| receiver.cluster).filter(|one| is_wanted(&one.evidence));
        let roots = clusters.filter_map(|cluster| cluster.appliers.iter().find(|applier| applier.is_of_bootstrap()));
        roots.filter_map(|root| Some(root.object.as_ref()?.span().file().path())).collect()
    };
    let (generated, to_come) = (files(|evidence| evidence.is_generated), files(|evidence| evidence.is_to_come));
    if generated.is_empty() && to_come.is_empty() {
        return;
    }
    let is_in = |files: &BTreeSet<&str>, label: &Label| files.contains(label.span.file().path());
    // The repository may have a file at the path of a generated one.
    let is_generated = |label: &Label| is_in(&generated, label) && label.span.file().text().is_empty();
    for finding in &mut *findings {
        finding.related.retain(|label| !is_generated(label));
        let is_guess = is_generated(&finding.at) || is_in(&to_come, &finding.at);
        if finding.rule == FAILED_BUILD && is_guess && !finding.related.is_empty() {
            finding.at = finding.related.remove(0);
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    findings.retain(|finding| !is_generated(&finding.at));
}
