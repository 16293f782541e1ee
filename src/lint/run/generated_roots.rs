//! Positions in roots that no file of the repository contains.

use std::collections::BTreeSet;

use crate::base::finding::{Finding, Label};
use crate::flux::Receiver;

/// Removes the findings and labels at generated roots, since their files do not exist.
pub(super) fn remove_generated(findings: &mut Vec<Finding>, receivers: &[&Receiver<'_>]) {
    let clusters = receivers.iter().map(|receiver| receiver.cluster).filter(|cluster| cluster.evidence.is_generated);
    let roots = clusters.flat_map(|cluster| cluster.appliers.iter().filter(|applier| cluster.is_generated(applier)));
    let files: BTreeSet<&str> = roots.filter_map(|root| Some(root.object.as_ref()?.span().file().path())).collect();
    if files.is_empty() {
        return;
    }
    let exists = |label: &Label| !files.contains(label.span.file().path());
    findings.retain(|finding| exists(&finding.at));
    for finding in findings {
        finding.related.retain(exists);
    }
}
