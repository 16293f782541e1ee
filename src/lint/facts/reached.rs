//! The files that the roots of a repository reach.

use std::collections::BTreeSet;

use super::distinct::{WrittenPosition, distinct, written_position};
use super::paths::{prefixes, segment_runs};
use crate::address::Address;
use crate::base::finding::ObjectRef;
use crate::base::set_aside::is_set_aside_beside;
use crate::flux::{Objects, Repo, State, public_owner, repository_owner};
use crate::kube::{Object, groups};
use crate::text::{Index, folder_of, is_inside};
use crate::yaml::Node;

/// The files and objects that the clusters of a repository reach.
pub(crate) struct ReachedFiles<'a> {
    positions: Index<WrittenPosition<'a>, ()>,
    /// The files with reached objects and their directories (`true`), and the directories above these (`false`).
    folders: Index<(Option<&'a str>, &'a str), bool>,
    /// The directories of unbuilt appliers, whose contents are unknown.
    ///
    /// Each directory is relative to the root of a source, which may be anywhere in the tree.
    unknown: Index<&'a str, ()>,
    /// Whether an unbuilt applier may apply any file.
    anything: bool,
    /// The directories of Helm charts.
    charts: &'a BTreeSet<String>,
}

impl<'a> ReachedFiles<'a> {
    /// The files that all clusters of a repository reach.
    pub(crate) fn in_repository(repo: &'a Repo) -> Self {
        let applied_sets = repo.clusters.iter().flat_map(|cluster| &cluster.applied_sets);
        let received: Vec<&Object> = distinct(applied_sets.map(|set| -> &Objects { &set.objects }));
        // A root reaches an object that users apply by hand, even if another file later replaces the object.
        let appliers = || repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
        let own = appliers().filter_map(|applier| applier.object.as_ref());
        let anything = may_apply_this_repository(repo, &received);
        let received_sources: Vec<&Object> =
            received.iter().copied().filter(|object| object.is(groups::SOURCE, "GitRepository")).collect();
        let roots: BTreeSet<&str> = repo.clusters.iter().map(|cluster| cluster.folder.as_str()).collect();
        let mut reached = Self {
            positions: Index::default(),
            folders: Index::default(),
            unknown: Index::default(),
            anything,
            charts: &repo.charts,
        };
        for object in received.into_iter().chain(own) {
            let position = written_position(object);
            reached.add_folder(position.0, folder_of(position.1));
            reached.add_folder(position.0, position.1);
            reached.positions.insert(position, ());
        }
        let others = other_repositories(repo, &received_sources);
        for applier in appliers().filter(|applier| applier.state != State::Built) {
            let is_of_other = applier.source.as_ref().is_some_and(|source| others.contains(&id(source)));
            if is_of_other && applier.state != State::Failed && !roots.contains(&*applier.folder) {
                continue;
            }
            if !applier.folder.is_empty() {
                reached.unknown.insert(&applier.folder, ());
            } else if applier.state == State::Failed {
                // If a source has no copy, the directory is the root of another repository, not of this repository.
                reached.anything = true;
            }
        }
        for application in repo.objects.iter().map(|built| &built.object).filter(|object| is_application(object)) {
            for path in paths_of_application(application) {
                reached.unknown.insert(path, ());
            }
        }
        reached
    }

    fn add_folder(&mut self, root: Option<&'a str>, folder: &'a str) {
        if self.folders.insert((root, folder), true).is_some() {
            return;
        }
        let mut above = folder;
        while !above.is_empty() {
            above = folder_of(above);
            if self.folders.contains(&(root, above)) {
                return;
            }
            self.folders.insert((root, above), false);
        }
    }

    /// Returns whether a cluster receives an object at its written position, or may receive it.
    pub(crate) fn may_reach(&self, object: &Object) -> bool {
        let position = written_position(object);
        let is_unknown = || segment_runs(folder_of(position.1)).any(|run| self.unknown.contains(run));
        self.positions.contains(&position) || self.anything || is_unknown()
    }

    /// Returns whether a cluster receives an object from its written position.
    pub(crate) fn receives(&self, object: &Object) -> bool {
        self.positions.contains(&written_position(object))
    }

    /// Returns whether a cluster receives an object from a file in a directory.
    pub(crate) fn reaches_folder(&self, root: Option<&str>, folder: &str) -> bool {
        self.folders.get(&(root, folder)).is_some_and(|itself| *itself)
    }

    /// Returns whether a build of a cluster may read a file: a cluster receives objects from the same part of the tree.
    pub(crate) fn may_read(&self, path: &str) -> bool {
        let folder = folder_of(path);
        self.anything
            || folder.is_empty()
            || self.nearest(folder).is_some()
            || segment_runs(folder).any(|run| self.unknown.contains(run))
    }

    /// The innermost directory, at or above a directory of the tree, with reached files in it or below it.
    pub(crate) fn nearest<'f>(&self, folder: &'f str) -> Option<&'f str> {
        prefixes(folder).filter(|above| !above.is_empty() && self.folders.contains(&(None, *above))).last()
    }

    /// Returns whether a file is set aside, according to its name or the name of a directory above it.
    pub(crate) fn is_set_aside(&self, path: &str) -> bool {
        let is_reached = |folder: &str| self.folders.contains(&(None, folder));
        is_set_aside_beside(path, is_reached, |folder| has_charts(self.charts, folder))
    }

    /// The number of objects of a repository that no cluster receives; zero in a repository without a root.
    pub(crate) fn count_unreached(&self, repo: &Repo) -> usize {
        if !has_root(repo) {
            return 0;
        }
        let positions = repo.objects.iter().map(|built| written_position(&built.object));
        let unreached: Index<WrittenPosition<'_>, ()> =
            positions.filter(|position| !self.positions.contains(position)).map(|position| (position, ())).collect();
        unreached.len()
    }
}

/// Returns whether a directory contains the directory of a Helm chart.
pub(crate) fn has_charts(charts: &BTreeSet<String>, folder: &str) -> bool {
    charts.range(folder.to_owned()..).next().is_some_and(|chart| is_inside(chart, folder))
}

/// The kind, namespace and name of a source, which may have any API version.
type SourceId<'a> = (&'a str, Option<&'a str>, &'a str);

/// Returns whether an object is an Application of Argo CD.
fn is_application(object: &Object) -> bool {
    object.is("argoproj.io", "Application")
}

/// The directories that an Application of Argo CD applies.
fn paths_of_application(application: &Object) -> impl Iterator<Item = &str> {
    let spec = application.node.get("spec");
    let several = spec.and_then(|spec| spec.get("sources")).map_or(&[][..], Node::items).iter();
    let sources = spec.and_then(|spec| spec.get("source")).into_iter().chain(several);
    let paths = sources.filter_map(|source| source.get("path")?.text());
    paths.map(|path| path.trim_start_matches("./").trim_matches('/')).filter(|path| !path.is_empty() && *path != ".")
}

fn id(source: &ObjectRef) -> SourceId<'_> {
    (&source.kind, source.namespace.as_deref(), &source.name)
}

/// Returns whether this repository may be the origin of a complete artifact that an applier applies without a copy.
///
/// A GitRepository without a copy is another repository. A public artifact of another owner is also from another
/// repository.
fn may_apply_this_repository(repo: &Repo, received: &[&Object]) -> bool {
    let (mut whole, mut built) = (Index::<SourceId<'_>, ()>::default(), Index::<SourceId<'_>, ()>::default());
    for applier in repo.clusters.iter().flat_map(|cluster| &cluster.appliers) {
        let Some(source) = &applier.source else { continue };
        if applier.state == State::Built {
            built.insert(id(source), ());
        } else if applier.folder.is_empty() && matches!(&*source.kind, "OCIRepository" | "Bucket") {
            whole.insert(id(source), ());
        }
    }
    let sources =
        received.iter().filter(|object| object.group() == groups::SOURCE).map(|object| (object, object.reference()));
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (object, reference) in sources {
        let url = object.text_at(&["spec", "url"]);
        if built.contains(&id(&reference)) {
            own.extend(url.and_then(repository_owner).map(|owner| owner.to_ascii_lowercase()));
        }
        if whole.contains(&id(&reference)) {
            others.insert(url.and_then(public_owner).map(|owner| owner.to_ascii_lowercase()));
        }
    }
    others.iter().any(|owner| owner.as_ref().is_none_or(|owner| own.is_empty() || own.contains(owner)))
}

/// The sources of unbuilt appliers whose URL differs from the URLs of the sources of built appliers.
fn other_repositories<'a>(repo: &'a Repo, sources: &[&'a Object]) -> BTreeSet<SourceId<'a>> {
    let appliers = || repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
    let of_appliers = |is_built: bool| -> BTreeSet<SourceId<'a>> {
        let some = appliers().filter(|applier| (applier.state == State::Built) == is_built);
        some.filter_map(|applier| applier.source.as_ref()).map(id).collect()
    };
    let name = |object: &Object| {
        let url = object.text_at(&["spec", "url"]).filter(|url| !url.contains('$'))?;
        Address::new(url).key().rsplit('/').next().map(str::to_ascii_lowercase)
    };
    let named = |ids: &BTreeSet<SourceId<'a>>| -> BTreeSet<String> {
        let some = sources.iter().filter(|source| ids.contains(&id(&source.reference())));
        some.filter_map(|source| name(source)).collect()
    };
    let own = named(&of_appliers(true));
    if own.is_empty() {
        return BTreeSet::new();
    }
    let unbuilt: Vec<SourceId<'a>> = of_appliers(false).into_iter().collect();
    // A source may have a different URL on each cluster.
    let mut is_other: Vec<Option<bool>> = vec![None; unbuilt.len()];
    for source in sources {
        let reference = source.reference();
        let wanted = id(&reference);
        if let Ok(at) = unbuilt.binary_search_by(|known| (*known).cmp(&wanted)) {
            let is_another = name(source).is_some_and(|name| !own.contains(&name));
            is_other[at] = Some(is_other[at].unwrap_or(true) && is_another);
        }
    }
    unbuilt.into_iter().zip(is_other).filter(|(_, is_other)| *is_other == Some(true)).map(|(id, _)| id).collect()
}

/// Returns whether a repository has a root, which defines the objects that a cluster receives.
pub(crate) fn has_root(repo: &Repo) -> bool {
    repo.clusters.iter().any(|cluster| !cluster.name.is_empty())
}
