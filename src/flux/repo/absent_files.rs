//! Missing files that may exist when Flux reads the repository: another program writes them, or a submodule contains
//! them. A program may also render the Helm charts of kustomizations.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use crate::base::finding::{FaultKind, Finding, Severity};
use crate::flux::build::kustomization::MISSING_PATH;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::object::kustomization_path::clamp;
use crate::flux::query::other_programs::OtherPrograms;
use crate::flux::source::{Exclusions, submodules};
use crate::kube::{Object, groups};
use crate::kustomize::MISSING_RESOURCE;
use crate::text::{PathKind, Tree, folder_of, is_inside, join};
use crate::yaml::Node;

/// The directory of the mappings of hologit.
const HOLOGIT: &str = ".holo";

/// Lowers the severity of findings of missing files that a `.gitignore` excludes, in a repository without clusters: another
/// program writes these files before the build, and nothing shows that Flux applies the directory.
pub(super) fn excuse_ignored(findings: &mut [Finding], tree: &Tree) {
    let exclusions = LazyCell::new(|| Exclusions::of_git(tree));
    for finding in findings.iter_mut().filter(|finding| finding.rule == MISSING_RESOURCE) {
        if referenced(finding)
            .is_some_and(|path| tree.path_kind(&path) == PathKind::Missing && exclusions.contain(&path))
        {
            finding.severity = Severity::Pedantic;
            finding.help = Some(
                "write the file before the build: a `.gitignore` excludes the file from the repository".to_owned(),
            );
        }
    }
}

/// Removes the findings of missing files in directories that an ArtifactGenerator copies: the artifact may have the files beside
/// the copies.
pub(super) fn remove_copied<'a>(findings: &mut Vec<Finding>, objects: impl Iterator<Item = &'a Object>) {
    let generators = objects.filter(|object| object.is(groups::SOURCE_EXTENSIONS, "ArtifactGenerator"));
    let artifacts = generators.filter_map(|object| object.node.at_keys(&["spec", "artifacts"])).flat_map(Node::items);
    let copies = artifacts.filter_map(|artifact| artifact.get("copy")).flat_map(Node::items);
    let folders: BTreeSet<&str> = copies
        .filter_map(|copy| {
            // `@alias/path/**`
            let (_, path) = copy.get("from")?.text()?.strip_prefix('@')?.split_once('/')?;
            Some(path.trim_end_matches(['*', '/']))
        })
        .collect();
    if folders.is_empty() {
        return;
    }
    findings.retain(|finding| {
        let mut above = std::iter::successors(Some(folder_of(finding.at.span.file().path())), |folder| {
            (!folder.is_empty()).then(|| folder_of(folder))
        });
        finding.rule != MISSING_RESOURCE || !above.any(|folder| folders.contains(folder))
    });
}

/// Returns whether a finding reports a missing directory `flux-system`, which `flux bootstrap` will create.
pub(super) fn is_to_come(finding: &Finding) -> bool {
    let path = finding.at.span.text().trim_matches(['"', '\'']).trim_start_matches("./").trim_end_matches('/');
    finding.rule == MISSING_RESOURCE && path == groups::FLUX_NAMESPACE
}

/// Removes the findings of missing directories `flux-system` on clusters without a bootstrap: Flux reads the directory of
/// such a cluster only after `flux bootstrap` has written the missing one.
pub(super) fn remove_to_come(findings: &mut Vec<Finding>, clusters: &[Cluster]) {
    let generated: BTreeSet<&str> =
        clusters.iter().filter(|cluster| cluster.evidence.is_generated).map(|cluster| &*cluster.name).collect();
    for finding in findings.iter_mut().filter(|finding| is_to_come(finding)) {
        finding.clusters.retain(|name| !generated.contains(&**name));
    }
    findings.retain(|finding| !is_to_come(finding) || !finding.clusters.is_empty());
}

/// Lowers the severity of findings of missing files that other programs mention with their whole path.
///
/// For example, a CI job writes such a file, and pushes it to the branch that Flux reads.
pub(super) fn excuse_written(findings: &mut [Finding], programs: &OtherPrograms) {
    let missing = findings.iter().filter(|finding| finding.rule == MISSING_RESOURCE).filter_map(referenced).collect();
    let mentions = programs.mentions(&missing);
    for finding in findings.iter_mut().filter(|finding| finding.rule == MISSING_RESOURCE) {
        if let Some(program) = referenced(finding).and_then(|path| mentions.get(&path)) {
            // Flux reads the branch that hologit writes, not the branch with its mappings.
            let is_mapping = program.split('/').any(|segment| segment == HOLOGIT);
            finding.severity = if is_mapping { Severity::Pedantic } else { Severity::Warning };
            finding.help = Some(format!("correct the path, unless `{program}` writes the file before Flux reads it"));
        }
    }
}

/// Lowers the severity of findings of Helm charts in kustomizations if another program renders kustomizations with
/// charts to files.
///
/// For example, a CI job renders the repository, and pushes the result to the repository that Flux reads.
pub(super) fn excuse_rendered(findings: &mut [Finding], programs: &OtherPrograms) {
    let renderer = LazyCell::new(|| programs.renderer());
    for finding in findings {
        if finding.kind != Some(FaultKind::HelmCharts) {
            continue;
        }
        let Some(program) = renderer.as_deref() else { return };
        finding.severity = Severity::Warning;
        finding.help = Some(format!(
            "use a HelmRelease, unless `{program}` renders the charts before Flux reads the files: Flux runs kustomize \
             without `--enable-helm`"
        ));
        *finding =
            finding.clone().caused_by(program, "", " kustomizations contain Helm charts, which Flux does not build");
    }
}

/// The path in the repository that a kustomization references at the position of a finding.
fn referenced(finding: &Finding) -> Option<String> {
    let span = &finding.at.span;
    join(folder_of(span.file().path()), span.text().trim_matches(['"', '\'']))
}

/// Returns whether a missing file may exist when Flux reads the repository: a submodule contains the file, or a
/// `.gitignore` excludes it.
pub fn may_exist_later(tree: &Tree, path: &str) -> bool {
    submodules(tree).iter().any(|module| is_inside(path, module)) || Exclusions::of_git(tree).contain(path)
}

/// Lowers the severity of findings of missing files in submodules that are not checked out.
///
/// A checkout has the files of submodules only if the user or the CI job asks for them.
pub(super) fn excuse_submodules(findings: &mut [Finding], tree: &Tree) {
    let modules = LazyCell::new(|| submodules(tree));
    for finding in findings {
        let span = &finding.at.span;
        let text = span.text().trim_matches(['"', '\'']);
        let path = match finding.rule {
            MISSING_RESOURCE => join(folder_of(span.file().path()), text),
            MISSING_PATH => Some(clamp(text)),
            _ => continue,
        };
        let Some(path) = path.filter(|path| tree.path_kind(path) == PathKind::Missing) else { continue };
        let Some(module) = modules.iter().find(|module| is_inside(&path, module)) else { continue };
        finding.severity = Severity::Warning;
        finding.help = Some(format!(
            "check out the submodule `{module}` before the lint, and set `recurseSubmodules: true` in the GitRepository: \
             otherwise Flux does not fetch the submodule"
        ));
    }
}
