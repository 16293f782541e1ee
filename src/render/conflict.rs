//! Conflicts: two files with one path, or two definitions of one object on a cluster.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use super::jobs::Job;
use super::rendered_file::{Identity, Kustomization};
use super::rule_ids::{DUPLICATE_OBJECT, DUPLICATE_PATH};
use crate::base::finding::Finding;
use crate::fleet::Fleet;
use crate::text::{Index, Span, folder_of, join};

/// Reports jobs with the same path, and files at the path of a directory. The jobs must be sorted by path.
pub(super) fn paths(jobs: &[Job], fleet: &Fleet, findings: &mut Vec<Finding>) {
    let written: Vec<&Job> = jobs.iter().filter(|job| job.made.is_written()).collect();
    for pair in written.windows(2) {
        if let [first, second] = pair
            && first.path == second.path
        {
            let message = format!("two files would be rendered to `{}`", first.path);
            findings.push(conflict(DUPLICATE_PATH, message, second.scope.span(fleet), first.scope.span(fleet)));
        }
    }
    let files: Index<&str, &Job> = written.iter().map(|job| (job.path.as_str(), *job)).collect();
    for job in &written {
        let mut folder = folder_of(&job.path);
        while !folder.is_empty() {
            if let Some(file) = files.get(folder) {
                let message =
                    format!("`{folder}` would be rendered both as a file and as a directory of `{}`", job.path);
                findings.push(conflict(DUPLICATE_PATH, message, job.scope.span(fleet), file.scope.span(fleet)));
            }
            folder = folder_of(folder);
        }
    }
}

/// Reports objects that two files define on one cluster.
///
/// Files outside of cluster directories apply to all clusters that run the tenant, in addition to the cluster's files.
pub(super) fn objects(jobs: &[Job], fleet: &Fleet, findings: &mut Vec<Finding>) {
    let kustomizations: BTreeMap<&str, &Kustomization> =
        jobs.iter().filter_map(|job| Some((folder_of(&job.path), job.made.kustomization.as_ref()?))).collect();
    let inputs = Inputs::of(&kustomizations);
    let mut shared: Index<Key, Vec<&Job>> = Index::default();
    let mut own: Index<(usize, Key), &Job> = Index::default();
    let (in_clusters, in_all): (Vec<&Job>, Vec<&Job>) =
        jobs.iter().filter(|job| !inputs.contain(&job.path)).partition(|job| job.scope.cluster.is_some());
    for job in in_all {
        for key in keys(job, &kustomizations) {
            let known = shared.entry(key.clone());
            let meets = |other: &&&Job| {
                (0..fleet.clusters.len()).any(|at| job.scope.reaches(at, fleet) && other.scope.reaches(at, fleet))
            };
            if let Some(other) = known.iter().find(meets) {
                findings.push(duplicate_object(&key, job, other, fleet));
            }
            known.push(job);
        }
    }
    for job in in_clusters {
        let Some(cluster) = job.scope.cluster else { continue };
        for key in keys(job, &kustomizations) {
            let beside =
                shared.get(&key).and_then(|jobs| jobs.iter().find(|other| other.scope.reaches(cluster, fleet)));
            if let Some(other) = beside.copied().or_else(|| own.get(&(cluster, key.clone())).copied()) {
                findings.push(duplicate_object(&key, job, other, fleet));
            }
            own.insert((cluster, key), job);
        }
    }
}

/// The paths that kustomizations read as patches, generators or components, and do not list as resources.
struct Inputs(BTreeSet<String>);

impl Inputs {
    fn of(kustomizations: &BTreeMap<&str, &Kustomization>) -> Self {
        let mut resources: BTreeSet<String> = BTreeSet::new();
        let mut inputs: BTreeSet<String> = BTreeSet::new();
        for (folder, kustomization) in kustomizations {
            resources.extend(kustomization.resources.iter().filter_map(|path| join(folder, path)));
            inputs.extend(kustomization.inputs.iter().filter_map(|path| join(folder, path)));
        }
        Self(inputs.into_iter().filter(|path| !resources.contains(path)).collect())
    }

    /// Returns whether a file is an input, or in a directory that is an input.
    fn contain(&self, path: &str) -> bool {
        let mut path = path;
        while !self.0.is_empty() && !path.is_empty() {
            if self.0.contains(path) {
                return true;
            }
            path = folder_of(path);
        }
        false
    }
}

/// The identity of an object with its final namespace: group, kind, namespace, name.
type Key = (ArcStr, ArcStr, Option<ArcStr>, ArcStr);

fn keys(job: &Job, kustomizations: &BTreeMap<&str, &Kustomization>) -> Vec<Key> {
    let namespace = namespace_of(&job.path, kustomizations);
    let key = |object: &Identity| {
        let effective = namespace.clone().or_else(|| object.namespace.clone());
        let effective = effective.filter(|_| !is_cluster_scoped(&object.kind));
        (object.group.clone(), object.kind.clone(), effective, object.name.clone())
    };
    job.made.objects.iter().map(key).collect()
}

/// Returns the namespace that the outermost kustomization that includes a file sets for the objects of the file.
fn namespace_of(path: &str, kustomizations: &BTreeMap<&str, &Kustomization>) -> Option<ArcStr> {
    let mut folder = folder_of(path);
    let mut namespace = kustomizations.get(folder)?.namespace.clone();
    while !folder.is_empty() {
        let name = folder.rsplit('/').next().unwrap_or_default();
        folder = folder_of(folder);
        let Some(outer) = kustomizations.get(folder) else { break };
        if !outer.resources.iter().any(|resource| resource.trim_matches(['.', '/']) == name) {
            break;
        }
        namespace = outer.namespace.clone().or(namespace);
    }
    namespace
}

/// Returns whether a kind is cluster-scoped: cluster-scoped kinds of Kubernetes, and kinds that start with `Cluster`.
pub(super) fn is_cluster_scoped(kind: &str) -> bool {
    const KINDS: &[&str] = &[
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "CustomResourceDefinition",
        "FlowSchema",
        "IngressClass",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
    ];
    kind.starts_with("Cluster") || KINDS.contains(&kind)
}

fn duplicate_object(key: &Key, job: &Job, other: &Job, fleet: &Fleet) -> Finding {
    let (_, kind, namespace, name) = key;
    let object = match namespace {
        Some(namespace) => format!("{kind} `{namespace}/{name}`"),
        None => format!("{kind} `{name}`"),
    };
    let message = if job.path == other.path {
        format!("{object} would be defined twice, in `{}`", job.path)
    } else {
        format!("{object} would be defined twice, in `{}` and `{}`", other.path, job.path)
    };
    conflict(DUPLICATE_OBJECT, message, job.scope.span(fleet), other.scope.span(fleet))
        .help("define it once; otherwise Flux repeatedly replaces one definition with the other")
}

fn conflict(rule: &'static str, message: String, at: &Span, other: &Span) -> Finding {
    let finding = Finding::error(rule, at.clone(), message);
    if at == other { finding } else { finding.related(other.clone(), "the other definition is rendered for this item") }
}
