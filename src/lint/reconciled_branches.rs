//! The branches that production clusters reconcile, and the directories that they apply from them.

use std::collections::BTreeMap;
use std::ops::Bound;

use arcstr::ArcStr;

use super::view::View;
use crate::address::{Address, short_reference};
use crate::config::is_of_other_environment;
use crate::flux::AppliedSet;
use crate::kube::{Object, groups};
use crate::text::Index;
use crate::yaml::{Name, Node, Style, Value};

/// The branch of a GitRepository that does not set a branch.
const DEFAULT_BRANCH: &str = "master";

/// The branches that production clusters reconcile, by the address of the repository and the name of the branch.
#[derive(Default)]
pub(super) struct ReconciledBranches<'a>(Index<(String, String), Vec<ReconciledBranch<'a>>>);

/// A source of a branch, from which a production cluster receives objects.
struct ReconciledBranch<'a> {
    cluster: Name,
    source: &'a Object,
    paths: Paths,
}

/// The directories that a cluster applies from a source, and the files of the objects. A value is false if only appliers of the
/// directories of other environments than production apply the path.
#[derive(Default)]
struct Paths(BTreeMap<ArcStr, bool>);

/// The applied sets of a cluster and of the other clusters to which it applies objects.
type SetsByTarget<'a> = Index<Option<Name>, Vec<&'a AppliedSet>>;

impl<'a> ReconciledBranches<'a> {
    /// Collects the branches of all clusters.
    pub(super) fn of(views: &[View<'a>]) -> Self {
        let mut all = Self::default();
        let mut home: Option<(&View<'a>, SetsByTarget<'a>)> = None;
        // The views list a hub before the remote clusters to which the hub applies objects. A hub has their sources.
        for view in views {
            if view.receiver.target.is_none() {
                let mut sets = SetsByTarget::default();
                view.receiver.cluster.applied_sets.iter().for_each(|set| sets.entry(set.by.target.clone()).push(set));
                home = Some((view, sets));
            }
            let Some((home, sets)) = home.as_ref().filter(|_| view.context.is_production) else { continue };
            let sets = sets.get(&view.receiver.target).map_or(&[][..], Vec::as_slice);
            for ((namespace, name), paths) in paths_by_source(sets) {
                let Some(source) = home.find(groups::SOURCE, "GitRepository", namespace, name) else { continue };
                let Some(key) = fetched_branch(source.object) else { continue };
                let cluster = view.receiver.to_string().into();
                all.0.entry(key).push(ReconciledBranch { cluster, source: source.object, paths });
            }
        }
        all
    }

    /// The sources of a branch from which clusters apply a directory or files in it, one source for each cluster.
    ///
    /// A cluster of production may also run other environments. If the directory has the name of one of them, appliers of such
    /// directories do not count.
    pub(super) fn sources(&self, address: &str, branch: &str, folder: &str) -> Vec<(Name, &'a Object)> {
        let all = self.0.get(&(address.to_owned(), branch.to_owned())).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<(Name, &'a Object)> = Vec::new();
        for one in all.iter().filter(|one| one.paths.overlap(folder)) {
            if found.last().is_none_or(|(cluster, _)| *cluster != one.cluster) {
                found.push((one.cluster.clone(), one.source));
            }
        }
        found
    }
}

/// The paths that appliers apply from each source, by namespace and name.
fn paths_by_source<'a>(sets: &[&'a AppliedSet]) -> BTreeMap<(&'a str, &'a str), Paths> {
    let mut by_source: BTreeMap<(&str, &str), Paths> = BTreeMap::new();
    for set in sets {
        let Some(reference) = set.by.source.as_ref().filter(|source| &*source.kind == "GitRepository") else {
            continue;
        };
        let Some(namespace) = reference.namespace.as_deref() else { continue };
        let Paths(paths) = by_source.entry((namespace, &reference.name)).or_default();
        let is_production = !is_of_other_environment(&set.by.folder);
        let written = set.objects.iter().map(|object| object.node.get("kind").unwrap_or(&object.node).origin.written());
        let written = written.map(|span| span.file().shared_path().clone());
        for path in written.chain([set.by.folder.as_str().into()]) {
            *paths.entry(path).or_default() |= is_production;
        }
    }
    by_source
}

/// The address and the branch that a source fetches; `None` if they are unknown, or if it fetches no branch.
pub(super) fn fetched_branch(source: &Object) -> Option<(String, String)> {
    let url = source.node.at_keys(&["spec", "url"]).and_then(known)?;
    let reference = |field: &str| source.node.at_keys(&["spec", "ref", field]);
    if ["commit", "tag", "semver"].iter().any(|field| reference(field).is_some()) {
        return None;
    }
    let branch = match reference("name").or_else(|| reference("branch")) {
        Some(node) => short_reference(known(node)?),
        None => DEFAULT_BRANCH,
    };
    Some((Address::new(url).key().to_owned(), branch.to_owned()))
}

impl Paths {
    /// Returns whether one of the paths is the directory, is in it, or contains it.
    fn overlap(&self, folder: &str) -> bool {
        let is_of_other = is_of_other_environment(folder);
        let counts = |is_production: &bool| *is_production || !is_of_other;
        if folder.is_empty() {
            return !self.0.is_empty();
        }
        let above = std::iter::successors(Some(folder), |path| path.rsplit_once('/').map(|(above, _)| above));
        let start = format!("{folder}/");
        let after = self.0.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        above.chain([""]).any(|path| self.0.get(path).is_some_and(counts))
            || after.take_while(|(path, _)| path.starts_with(&start)).any(|(_, is_production)| counts(is_production))
    }
}

/// The text of a scalar whose value is known and not empty.
pub(super) fn known(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(text, style) if *style != Style::Unknown && !text.is_empty() && !text.contains("${") => {
            Some(text)
        }
        _ => None,
    }
}
