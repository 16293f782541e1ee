//! Bootstraps of a whole repository that Flux cannot build.

use super::candidate::{CandidateKind, RootCandidate, prefixes};
use super::overlaps::Overlap;
use crate::base::finding::{Finding, Severity};
use crate::flux::classify::chart_folders;
use crate::flux::object::kustomization_path::below;
use crate::kustomize::{Builder, FAILED_BUILD, file_in};

/// Removes the `gotk-sync.yaml` that sync a whole repository in which Flux would add the files of a Helm chart to the
/// objects. Returns the removed roots.
///
/// Flux rejects these files, so nothing works on a cluster with such a root. Since the repository is in use, the file
/// is nearly always left over from a first attempt, and its consequences would hide all other findings.
pub(super) fn remove_of_charts(builder: &Builder, candidates: &mut Vec<RootCandidate>) -> Vec<Overlap> {
    let (files, tree) = (builder.files(), builder.files().tree());
    let is_excluded = |folder: &str| prefixes(folder).any(|above| tree.has_file(&below(above, ".sourceignore")));
    let is_built = |folder: &str| prefixes(folder).any(|above| !file_in(files, above).is_empty());
    let chart = || chart_folders(tree).into_iter().find(|folder| !is_excluded(folder) && !is_built(folder));
    let syncs_all = |one: &RootCandidate| {
        let has_patterns = one.objects.iter().any(|object| object.node.at_keys(&["spec", "ignore"]).is_some());
        one.kind == CandidateKind::Sync && !has_patterns && one.synced(tree).is_some_and(|folder| folder.is_empty())
    };
    if !candidates.iter().any(syncs_all) {
        return Vec::new();
    }
    let Some(chart) = chart() else { return Vec::new() };
    candidates.extract_if(.., |one| syncs_all(one)).map(|one| of_chart(&one, &chart)).collect()
}

fn of_chart(one: &RootCandidate, chart: &str) -> Overlap {
    let what = one.objects.last().map(|object| object.reference().to_string()).unwrap_or_default();
    let message = format!(
        "{what} syncs the whole repository, which contains the Helm chart `{chart}`: Flux cannot build this directory"
    );
    let help = "delete this sync if no cluster uses it; otherwise set the path to the directory of the cluster, since \
                Flux rejects files that are not Kubernetes objects. The linter does not build this sync";
    let mut finding = Finding::error(FAILED_BUILD, one.place(), message).help(help);
    finding.severity = Severity::Warning;
    finding.object = one.objects.last().map(crate::kube::Object::reference);
    Overlap { finding, folder: one.home.clone() }
}
