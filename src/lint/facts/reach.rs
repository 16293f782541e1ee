//! What the roots of a repository reach.

use std::collections::BTreeSet;

use super::charts::{public_owner, repository_owner};
use super::installation::runs;
use crate::base::finding::ObjectRef;
use crate::flux::{Objects, Repo, State};
use crate::kube::Object;
use crate::lint::refs::wanted::SOURCES;
use crate::lint::rule::Fleet;
use crate::text::{Index, folder_of};
use crate::yaml::Value;

/// The place that an object was first written at: building and patching do not move it.
pub(crate) type Place<'a> = (Option<&'a str>, &'a str, usize);

/// The place of an object.
pub(crate) fn place_of(object: &Object) -> Place<'_> {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().root().map(|root| &**root), span.file().path(), span.range().start)
}

/// What tells shared objects apart while all of them are kept: their place in memory.
pub(crate) fn address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => entries.as_ptr().addr(),
        Value::Seq(_) | Value::Scalar(..) => 0,
    }
}

/// The objects of lists, each list and each object once however many clusters share it.
pub(crate) fn distinct<'a>(lists: impl Iterator<Item = &'a Objects>) -> Vec<&'a Object> {
    let mut unseen = Unseen::default();
    lists.flat_map(|list| unseen.of(list, 0)).collect()
}

/// Goes through lists that share objects so that each object comes once for each group of lists.
#[derive(Default)]
pub(crate) struct Unseen {
    /// The positions of shared lists of which every list so far had an object of its own, by list and group.
    missing: Index<(usize, usize), Option<Vec<usize>>>,
    seen: Index<(usize, usize), ()>,
}

impl Unseen {
    /// The objects of a list that did not come before in its group.
    pub(crate) fn of<'a>(&mut self, list: &'a Objects, group: usize) -> Vec<&'a Object> {
        let (shared, own) = (list.shared(), list.own());
        let mut found: Vec<&'a Object> = Vec::new();
        match self.missing.entry((shared.as_ptr().addr(), group)) {
            Some(missing) => {
                found.extend(own.iter().map(|(_, object)| object));
                missing.retain(|at| {
                    let is_own = list.is_own(*at);
                    found.extend(shared.get(*at).filter(|_| !is_own));
                    is_own
                });
            }
            missing => {
                *missing = Some(own.iter().map(|(at, _)| *at).collect());
                found.extend(list.iter());
            }
        }
        found.retain(|object| self.seen.insert((address(object), group), ()).is_none());
        found
    }
}

/// Words in the names of folders whose content is not meant to be applied, unless a cluster has something from there: a
/// cluster may be called `test`.
const ASIDE: &[&str] = &[
    "archive",
    "archived",
    "archives",
    "attic",
    "deprecated",
    "disabled",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "sample",
    "samples",
    "test",
    "testdata",
    "tests",
    "unused",
];

/// Words in the names of folders of which others take what they need.
const SHELVES: &[&str] = &["chart", "charts", "template", "templates"];

/// What the clusters of a repository reach.
pub(crate) struct Reached<'a> {
    places: Index<Place<'a>, ()>,
    /// The files that objects were written in, their folders, and those above: these without being one of the others.
    folders: Index<(Option<&'a str>, &'a str), bool>,
    /// The folders of appliers that were not built: what they bring is not known. They start at the root of a source,
    /// which may lie anywhere in the tree.
    unknown: Index<&'a str, ()>,
    /// Whether an applier that was not built may bring anything: its folder is not known, nor its source another's.
    anything: bool,
}

impl<'a> Reached<'a> {
    /// Looks at all clusters.
    pub(crate) fn of(repo: &'a Repo) -> Self {
        let brought = repo.clusters.iter().flat_map(|cluster| &cluster.applied_sets);
        let received = distinct(brought.map(|brought| &brought.objects));
        // What is there by hand is reached, though something else may have taken its place since.
        let appliers = || repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
        let own = appliers().filter_map(|applier| applier.object.as_ref());
        let mut reached =
            Self { places: Index::default(), folders: Index::default(), unknown: Index::default(), anything: false };
        reached.anything = may_be_of_here(repo, &received);
        for object in received.into_iter().chain(own) {
            let place = place_of(object);
            reached.note_folder(place.0, folder_of(place.1));
            reached.note_folder(place.0, place.1);
            reached.places.insert(place, ());
        }
        for applier in appliers() {
            if applier.state == State::Built {
                continue;
            }
            if !applier.folder.is_empty() {
                reached.unknown.insert(&applier.folder, ());
            } else if applier.state == State::Failed {
                // What is not built since its source has no copy is another repository's root, not this one's.
                reached.anything = true;
            }
        }
        reached
    }

    fn note_folder(&mut self, root: Option<&'a str>, folder: &'a str) {
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

    /// Whether an object was received by a cluster as it stands there, or may be.
    pub(crate) fn may_reach(&self, object: &Object) -> bool {
        let place = place_of(object);
        self.places.contains(&place) || self.anything || runs(folder_of(place.1)).any(|run| self.unknown.contains(run))
    }

    /// Whether a cluster received something that is written in a folder.
    pub(crate) fn reaches_folder(&self, root: Option<&str>, folder: &str) -> bool {
        self.folders.get(&(root, folder)).is_some_and(|itself| *itself)
    }

    /// Whether the name of a folder or of the file says that it is not meant to be applied.
    pub(crate) fn is_set_aside(&self, path: &str) -> bool {
        above(path).any(|above| {
            let segment = above.rsplit('/').next().unwrap_or(above);
            let words = segment.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
            let words: Vec<String> = words.collect();
            let says = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
            let is_reached = || self.folders.contains(&(None, above));
            segment.starts_with('.') || says(SHELVES) || (says(ASIDE) && !is_reached())
        })
    }
}

/// Whether an artifact without a copy, of which all is applied, may be made of a folder of this repository. What a Git
/// repository holds at its root is another one's, and so is what others publish for everybody.
fn may_be_of_here(repo: &Repo, received: &[&Object]) -> bool {
    let (mut whole, mut built) = (Index::<&ObjectRef, ()>::default(), Index::<&ObjectRef, ()>::default());
    for applier in repo.clusters.iter().flat_map(|cluster| &cluster.appliers) {
        let Some(source) = &applier.source else { continue };
        if applier.state == State::Built {
            built.insert(source, ());
        } else if applier.folder.is_empty() && matches!(&*source.kind, "OCIRepository" | "Bucket") {
            whole.insert(source, ());
        }
    }
    let sources = received.iter().filter(|object| object.group() == SOURCES).map(|object| (object, object.reference()));
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (object, reference) in sources {
        let url = object.text_at(&["spec", "url"]);
        if built.contains(&reference) {
            own.extend(url.and_then(repository_owner).map(|owner| owner.to_ascii_lowercase()));
        }
        if whole.contains(&reference) {
            others.insert(url.and_then(public_owner).map(|owner| owner.to_ascii_lowercase()));
        }
    }
    others.iter().any(|owner| owner.as_ref().is_none_or(|owner| own.is_empty() || own.contains(owner)))
}

/// The folders that a path lies in, the outermost first, and the path itself.
pub(crate) fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

/// Counts the objects that no cluster receives, in a repository that says what its clusters receive.
pub(crate) fn unreached(fleet: &Fleet<'_>) -> usize {
    if !has_root(fleet.repo) {
        return 0;
    }
    let reached = fleet.reached();
    let places = fleet.repo.objects.iter().map(|built| place_of(&built.object));
    let missed: Index<Place<'_>, ()> =
        places.filter(|place| !reached.places.contains(place)).map(|place| (place, ())).collect();
    missed.len()
}

/// Whether a repository says what its clusters receive.
pub(crate) fn has_root(repo: &Repo) -> bool {
    repo.clusters.iter().any(|cluster| !cluster.name.is_empty())
}
