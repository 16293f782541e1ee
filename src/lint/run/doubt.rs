//! Errors about clusters that may not exist.

use std::collections::BTreeSet;

use arcstr::ArcStr;

use super::options::PLAINTEXT_SECRET;
use crate::base::finding::{FaultKind, Finding, Severity};
use crate::base::set_aside::{is_former, is_set_aside};
use crate::flux::{MISSING_PATH, Receiver, Repo};
use crate::text::folder_of;

/// The rules of the rights of tenants and of the lockdown that confines them.
const OF_RIGHTS: &[&str] = &[
    "lockdown-missing",
    "missing-service-account",
    "rbac-escalation",
    "tenant-baseline",
    "tenant-cluster-admin",
    "tenant-escape",
    "tenant-forbidden-object",
];

/// Lowers errors to warnings, and some warnings to pedantic findings, if it is not certain that a cluster uses the file: the clusters of the finding may not
/// exist or sync another repository, or the repository has no cluster and the directory has the name of former files,
/// examples or templates, or a chart defines clusters that do not apply the directory.
///
/// Files that nothing applies may weaken the evidence for a cluster, so an error about the rights of a tenant remains if
/// the repository has a cluster. A secret in plain text does not need a cluster. A missing path is not certain if the
/// clusters sync a repository that may have more directories. Another program than Flux, such as Argo CD, may run external
/// plugins of kustomize in a repository without a cluster. An error remains if it is certain on another cluster, since
/// one change corrects both. Returns the number of clusters that may not exist and have a lowered error.
pub(super) fn doubt(findings: &mut [Finding], receivers: &[&Receiver<'_>], repo: &Repo) -> usize {
    let assumed = receivers.iter().filter(|receiver| receiver.cluster.evidence.is_assumed);
    let assumed: BTreeSet<String> = assumed.map(ToString::to_string).collect();
    let with_more = receivers.iter().filter(|receiver| receiver.cluster.evidence.may_have_more_files);
    let with_more: BTreeSet<String> = with_more.map(ToString::to_string).collect();
    let is_rootless = receivers.iter().any(|receiver| receiver.cluster.name.is_empty());
    let is_aside = |path: &str| is_set_aside(path, |_| false) || is_former(path);
    let is_unused = |path: &str| is_rootless && (is_aside(path) || repo.chart_clusters.leave_out(folder_of(path)));
    // The owner of former files or examples that no cluster applies does not expect warnings about them.
    let warnings = findings.iter_mut().filter(|finding| finding.severity == Severity::Warning);
    for finding in warnings.filter(|finding| finding.rule != PLAINTEXT_SECRET) {
        if is_unused(finding.at.span.file().path()) {
            finding.severity = Severity::Pedantic;
        }
    }
    let is_doubtful = |finding: &Finding| {
        let are_all_in = |set: &BTreeSet<String>| {
            !finding.clusters.is_empty() && finding.clusters.iter().all(|name| set.contains(&**name))
        };
        let is_of_assumed = || {
            (are_all_in(&assumed) && !OF_RIGHTS.contains(&finding.rule))
                || (finding.rule == MISSING_PATH && are_all_in(&with_more))
        };
        let path = finding.at.span.file().path();
        let is_of_plugin = || is_rootless && finding.kind == Some(FaultKind::ExternalPlugin);
        let is_doubtful = || is_of_assumed() || is_unused(path) || is_of_plugin();
        finding.severity == Severity::Error && finding.rule != PLAINTEXT_SECRET && is_doubtful()
    };
    let (doubtful, certain): (Vec<usize>, Vec<usize>) =
        (0..findings.len()).partition(|at| findings.get(*at).is_some_and(is_doubtful));
    if doubtful.is_empty() {
        return 0;
    }
    let certain = certain.into_iter().map(|at| &findings[at]).filter(|finding| finding.severity == Severity::Error);
    let certain: BTreeSet<FaultKey<'_>> = certain.map(fault_of).collect();
    let is_certain: Vec<bool> = doubtful.iter().map(|at| certain.contains(&fault_of(&findings[*at]))).collect();
    let mut doubted: BTreeSet<ArcStr> = BTreeSet::new();
    for (at, _) in doubtful.into_iter().zip(is_certain).filter(|(_, is_certain)| !is_certain) {
        let finding = &mut findings[at];
        finding.severity = Severity::Warning;
        doubted.extend(finding.clusters.iter().filter(|name| assumed.contains(&***name)).cloned());
    }
    doubted.len()
}

/// The rule, the position and the message of a finding.
type FaultKey<'a> = (&'static str, (&'a str, u32, u32), &'a str);

fn fault_of(finding: &Finding) -> FaultKey<'_> {
    (finding.rule, finding.at.span.order(), &finding.message)
}
