//! The causes of missing paths: moved directories, missing directories above, and clusters without any of their paths.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::base::set_aside::{is_former, is_set_aside};
use crate::base::similar_names::is_almost;
use crate::flux::build::kustomization::MISSING_PATH;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::object::kustomization_path::below;
use crate::kustomize::is_yaml;
use crate::text::{Index, Tree, folder_of, normalize};

/// The minimum number of Kustomizations of a cluster that is probably no longer in use if all their paths are missing.
const MIN_DEAD: usize = 3;

/// The maximum number of missing paths for which similar directories are searched.
const MAX_SEARCHES: usize = 500;

/// The maximum number of directories of other clusters with which a missing path is compared.
const MAX_OTHERS: usize = 1_000;

/// The directories with manifests of a repository, by their names.
struct Folders<'a> {
    all: BTreeSet<&'a str>,
    by_name: Index<&'a str, Vec<&'a str>>,
    by_parent: Index<&'a str, Vec<&'a str>>,
}

impl<'a> Folders<'a> {
    fn of(tree: &'a Tree) -> Self {
        let mut all = BTreeSet::new();
        for (path, _) in tree.entries().filter(|(path, _)| is_yaml(path)) {
            let mut folder = folder_of(path);
            while !folder.is_empty() && all.insert(folder) {
                folder = folder_of(folder);
            }
        }
        let (mut by_name, mut by_parent) = (Index::<&str, Vec<&str>>::default(), Index::<&str, Vec<&str>>::default());
        for folder in &all {
            by_name.entry_or(name(folder), Vec::new).push(folder);
            by_parent.entry_or(folder_of(folder), Vec::new).push(folder);
        }
        Self { all, by_name, by_parent }
    }

    /// The directory that a missing path probably means: a directory with a similar name at the same place, the directory
    /// of the cluster among the directories of other clusters, or the only directory with the same name and the most equal
    /// names above it.
    ///
    /// `others` are the directories that the same Kustomization applies on other clusters.
    fn meant(&self, missing: &str, others: &BTreeSet<&str>, is_candidate: impl Fn(&str) -> bool) -> Option<&'a str> {
        let top = first_missing(missing, self);
        let rest = missing.get(top.len()..).unwrap_or_default();
        let beside = self.by_parent.get(folder_of(top)).into_iter().flatten();
        let similar = beside.filter(|folder| is_almost(name(top), name(folder)));
        let mut similar = similar.filter_map(|folder| self.all.get(&*format!("{folder}{rest}")).copied());
        if let Some(similar) = similar.find(|folder| is_candidate(folder)) {
            return Some(similar);
        }
        if let Some(own) = others.iter().find_map(|other| self.only_unused(missing, other, &is_candidate)) {
            return Some(own);
        }
        // The name of an environment is the name of several directories.
        let named = self.by_name.get(name(missing))?;
        let is_specific = |folder: &str| named.len() == 1 || shared(folder, missing) > 1;
        let candidates: Vec<&str> =
            named.iter().copied().filter(|folder| is_candidate(folder) && is_specific(folder)).collect();
        let most = candidates.iter().map(|folder| shared(folder, missing)).max()?;
        let mut best = candidates.into_iter().filter(|folder| shared(folder, missing) == most);
        best.next().filter(|_| best.next().is_none())
    }

    /// The only candidate that differs from the directory of another cluster in the same name as a missing path, such as
    /// `staging` beside `dev` and `prod`.
    fn only_unused(&self, missing: &str, other: &str, is_candidate: impl Fn(&str) -> bool) -> Option<&'a str> {
        let (own, other): (Vec<&str>, Vec<&str>) = (missing.split('/').collect(), other.split('/').collect());
        let differing = || own.iter().zip(&other).enumerate().filter(|(_, (own, other))| own != other);
        let (at, _) = differing().next().filter(|_| own.len() == other.len() && differing().count() == 1)?;
        let (above, rest) = (own[..at].join("/"), own[at + 1..].join("/"));
        let beside = self.by_parent.get(&*above).into_iter().flatten();
        // Overlays include the directories of parts of clusters.
        let beside =
            beside.filter(|folder| !matches!(name(folder), "base" | "bases" | "common" | "components" | "shared"));
        let mut found = beside.filter_map(|folder| self.all.get(&*below(folder, &rest)).copied());
        let mut found = std::iter::from_fn(|| found.find(|folder| is_candidate(folder)));
        found.next().filter(|_| found.next().is_none())
    }
}

/// Adds the cause to findings of missing paths. Returns the directories that missing paths probably mean, by path.
///
/// `nested` are the directories of the repository that are the roots of sources.
pub(super) fn explain(
    findings: &mut [Finding],
    tree: &Tree,
    clusters: &[Cluster],
    nested: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let mut meant = BTreeMap::new();
    let is_missing = |finding: &Finding| finding.rule == MISSING_PATH && finding.severity == Severity::Error;
    if !findings.iter().any(is_missing) {
        return meant;
    }
    let folders = Folders::of(tree);
    // The directories that appliers apply, and the directories above them. They were not moved.
    let mut applied: BTreeSet<&str> = BTreeSet::new();
    for applier in clusters.iter().flat_map(|cluster| &cluster.appliers) {
        let mut folder = &*applier.folder;
        while !folder.is_empty() && applied.insert(folder) {
            folder = folder_of(folder);
        }
    }
    let is_aside = |folder: &str| is_set_aside(folder, |_| false) || is_former(folder);
    let missing_in = |finding: &Finding| finding.cause.as_ref().map(|cause| cause.key.clone()).unwrap_or_default();
    let mut by_object: Index<&ObjectRef, BTreeSet<&str>> = Index::default();
    for applier in clusters.iter().flat_map(|cluster| &cluster.appliers).filter(|applier| applier.parent.is_some()) {
        by_object.entry_or(&applier.reference, BTreeSet::new).insert(&applier.folder);
    }
    let mut searched: BTreeMap<String, BTreeSet<&ObjectRef>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| is_missing(finding)) {
        searched.entry(missing_in(finding)).or_default().extend(&finding.object);
    }
    for (missing, objects) in searched.into_iter().take(MAX_SEARCHES) {
        let others = objects.into_iter().filter_map(|object| by_object.get(object)).flatten();
        let others: BTreeSet<&str> = others.copied().take(MAX_OTHERS).collect();
        let is_candidate = |folder: &str| !applied.contains(folder) && (!is_aside(folder) || is_aside(&missing));
        let found = folders.meant(&missing, &others, is_candidate).map(str::to_owned);
        let found = found.or_else(|| {
            let mut in_roots = nested.iter().filter_map(|root| {
                let others = others.iter().map(|other| below(root, other)).collect::<Vec<String>>();
                let others = others.iter().map(String::as_str).collect();
                let folder = folders.meant(&below(root, &missing), &others, is_candidate)?;
                Some(folder.strip_prefix(root)?.strip_prefix('/')?.to_owned())
            });
            in_roots.next()
        });
        if let Some(folder) = found {
            meant.insert(missing, folder);
        }
    }
    let mut dead = dead_clusters(findings, clusters);
    dead.retain(|cluster| {
        let of_cluster = findings.iter().filter(|finding| finding.clusters.iter().any(|name| **name == **cluster));
        let causes: BTreeSet<Option<String>> = of_cluster
            .filter(|finding| is_missing(finding))
            .map(|finding| {
                let missing = missing_in(finding);
                Some(moved(&missing, meant.get(&missing)?)?.0)
            })
            .collect();
        causes.len() > 1 || causes.contains(&None)
    });
    for finding in findings.iter_mut().filter(|finding| is_missing(finding)) {
        let missing = missing_in(finding);
        if let Some(key) = template_of(finding, &missing) {
            let summary = " Kustomizations of one template have a `spec.path` that does not exist";
            let help = "correct the template or its values: Flux applies nothing until the paths exist";
            *finding = finding.clone().help(help).caused_by(key, "", summary);
            continue;
        }
        let of_dead = match finding.clusters.as_slice() {
            [cluster] => Some(cluster.clone()).filter(|cluster| dead.contains(&**cluster)),
            _ => None,
        };
        if let Some(folder) = meant.get(&missing) {
            let help = "correct the paths, if these directories are meant: Flux applies nothing until the paths exist";
            let of_one = format!(
                "set `path: ./{folder}`, if this directory is meant: Flux applies nothing until the path exists"
            );
            if let Some((key, summary)) = moved(&missing, folder) {
                *finding = finding.clone().caused_by(key, "", summary);
            }
            *finding = finding.clone().help(of_one).help_for_all(help);
        }
        let top = first_missing(&missing, &folders);
        if let Some(cluster) = of_dead {
            let summary = format!(" Kustomizations of cluster `{cluster}` have a `spec.path` that does not exist");
            let help = "correct the paths, or remove the directory of the cluster if the cluster no longer exists: Flux \
                        applies nothing until the paths exist";
            *finding = finding.clone().caused_by(format!("all of {cluster}"), "all ", summary).help_for_all(help);
        } else if top != missing && !meant.contains_key(&missing) {
            let summary = format!(" Kustomizations have a `spec.path` below `{top}`, which does not exist");
            *finding = finding.clone().caused_by(format!("below {top}"), "", summary);
        }
    }
    meant
}

/// The key for the missing paths of one template, if the written path differs from the missing path.
fn template_of(finding: &Finding, missing: &str) -> Option<String> {
    let span = &finding.at.span;
    let written = span.text().trim_matches(['"', '\'']);
    let is_template = ["<<", "{{", "${"].iter().any(|start| written.contains(start));
    (is_template && normalize(written).as_deref() != Some(missing))
        .then(|| format!("template {}:{}", span.file().path(), span.range().start))
}

/// The key and the summary for the missing paths of one moved directory.
fn moved(missing: &str, folder: &str) -> Option<(String, String)> {
    let same = shared(missing, folder);
    let without = |path: &'_ str| -> String {
        let names: Vec<&str> = path.split('/').collect();
        names[..names.len() - same].join("/")
    };
    let (from, to) = (without(missing), without(folder));
    let summary = match (&*from, &*to) {
        ("", to) => format!(" Kustomizations have a `spec.path` without `{to}`, which contains their directories"),
        (from, "") => format!(" Kustomizations have a `spec.path` in `{from}`, but their directories are not in it"),
        (from, to) => format!(" Kustomizations have a `spec.path` in `{from}`, but their directories are in `{to}`"),
    };
    (same > 0).then(|| (format!("from {from} to {to}"), summary))
}

/// The clusters all of whose Kustomizations have missing paths.
fn dead_clusters<'a>(findings: &[Finding], clusters: &'a [Cluster]) -> BTreeSet<&'a str> {
    let mut missing: Index<&str, BTreeSet<&ObjectRef>> = Index::default();
    for finding in findings.iter().filter(|finding| finding.rule == MISSING_PATH) {
        for cluster in &finding.clusters {
            missing.entry_or(&**cluster, BTreeSet::new).extend(&finding.object);
        }
    }
    let is_dead = |cluster: &&Cluster| {
        let children = cluster.appliers.iter().filter(|applier| {
            applier.kind == ApplierKind::Kustomization && applier.parent.is_some() && applier.folder != cluster.folder
        });
        let mut count = 0;
        let missing = missing.get(&*cluster.name);
        let are_missing = children
            .inspect(|_| count += 1)
            .all(|applier| missing.is_some_and(|missing| missing.contains(&applier.reference)));
        are_missing && count >= MIN_DEAD
    };
    clusters.iter().filter(is_dead).map(|cluster| &*cluster.name).collect()
}

/// The outermost directory of a missing path that does not exist.
fn first_missing<'p>(missing: &'p str, folders: &Folders<'_>) -> &'p str {
    let ends = missing.match_indices('/').map(|(at, _)| at);
    let mut tops = ends.filter_map(|end| missing.get(..end));
    tops.find(|top| !folders.all.contains(top)).unwrap_or(missing)
}

/// The number of equal names at the ends of two paths.
fn shared(one: &str, other: &str) -> usize {
    one.rsplit('/').zip(other.rsplit('/')).take_while(|(one, other)| one == other).count()
}

fn name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}
