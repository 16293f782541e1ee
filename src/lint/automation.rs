//! ImageUpdateAutomations: the branches and directories that they change, and the clusters that reconcile the changes.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use super::facts::distinct::written_position;
use super::facts::paths::segment_runs;
use super::fleet::{Fleet, ProductionSources};
use super::reconciled_branches::{fetched_branch, known};
use super::view::View;
use crate::address::{Address, short_reference};
use crate::flux::{Applied, AppliedSet, State};
use crate::kube::{Object, groups};
use crate::text::{Span, folder_of, normalize};
use crate::yaml::{Entry, Node};

/// An ImageUpdateAutomation, with the settings that the manifests determine.
pub(super) struct Automation<'a> {
    /// The ImageUpdateAutomation.
    pub(super) object: &'a Object,
    /// The branches that the automation pushes to.
    pub(super) pushes: Vec<Push>,
    address: Address,
    /// The directory that the automation changes, relative to the root of the repository.
    folder: String,
}

/// A branch that an automation pushes to.
pub(super) struct Push {
    /// The name of the branch.
    pub(super) branch: String,
    /// The position of the field that sets the branch.
    pub(super) place: Span,
}

impl<'a> Automation<'a> {
    /// Reads an automation that a cluster receives.
    ///
    /// Returns `None` if the automation is suspended or its repository is unknown.
    ///
    /// Source: `internal/source/git.go` of image-automation-controller.
    pub(super) fn of(view: &View<'a>, applied: &Applied<'a>) -> Option<Self> {
        let object = applied.object;
        let at = |keys: &[&str]| object.node.at_keys(keys);
        if at(&["spec", "suspend"]).and_then(Node::text) == Some("true") {
            return None;
        }
        let name = at(&["spec", "sourceRef", "name"])?;
        let namespace = at(&["spec", "sourceRef", "namespace"]).and_then(known).or(applied.namespace())?;
        let source = view.find(groups::SOURCE, "GitRepository", namespace, known(name)?)?.object;
        let mut pushes = Vec::new();
        let push = at(&["spec", "git", "push", "branch"]).filter(|node| node.text() != Some(""));
        let checkout = at(&["spec", "git", "checkout", "ref"]);
        let checked_out = match checkout {
            Some(reference) => reference.get("branch"),
            None => source.node.at_keys(&["spec", "ref", "branch"]),
        };
        if let Some(branch) = push.or(checked_out) {
            let place = if push.is_some() || checkout.is_some() { branch.span() } else { name.span() };
            pushes.extend(known(branch).map(|branch| Push { branch: branch.to_string(), place: place.clone() }));
        }
        if let Some(refspec) = at(&["spec", "git", "push", "refspec"]) {
            let target = known(refspec).and_then(|text| text.rsplit(':').next());
            let branch = target.map(|target| short_reference(target.trim_start_matches('+')).to_string());
            pushes.extend(branch.map(|branch| Push { branch, place: refspec.span().clone() }));
        }
        let address = Address::new(known(source.node.at_keys(&["spec", "url"])?)?);
        let folder = UpdatePath::of(applied).map(|updates| updates.path).unwrap_or_default();
        Some(Self { object, pushes, address, folder })
    }
}

/// The sources from which production clusters reconcile the pushed changes of an automation, each with its cluster.
pub(super) fn production_sources<'a>(
    fleet: &Fleet<'a>,
    automation: &Automation<'_>,
    push: &Push,
) -> ProductionSources<'a> {
    let key = (automation.address.key().to_owned(), push.branch.clone(), automation.folder.clone());
    // Each entry is inserted in one step, so a panic leaves no partial entry.
    let known = || fleet.production_sources.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sources) = known().get(&key) {
        return sources.clone();
    }
    let hits = Arc::new(fleet.reconciled_branches().sources(&key.0, &key.1, &automation.folder));
    known().insert(key, hits.clone());
    hits
}

/// The directory or file that an automation changes.
///
/// Source: `internal/update/filereader.go` of image-automation-controller, which reads a single file too.
pub(super) struct UpdatePath {
    /// The position of the field that sets the path.
    pub(super) place: Span,
    /// The path relative to the root of the repository.
    pub(super) path: String,
}

impl UpdatePath {
    /// Reads the path of an automation. Returns `None` if the path has a variable or leaves the repository.
    pub(super) fn of(automation: &Applied<'_>) -> Option<Self> {
        let update = automation.object.node.get("spec")?.entry("update");
        let path = update.and_then(|update| update.node.get("path"));
        let text = path.and_then(Node::text).unwrap_or_default();
        if text.contains('$') {
            return None;
        }
        let span = match (path, update) {
            (Some(path), _) => path.span().clone(),
            (None, Some(update)) => update.key_span(),
            (None, None) => automation.object.node.entry("spec").map(Entry::key_span)?,
        };
        Some(Self { place: automation.by.place(&span), path: normalize(text)? })
    }

    /// Returns whether the automation may change a file. The repository of the automation may be a directory of the
    /// linted one.
    pub(super) fn contains(&self, file: &str) -> bool {
        self.path.is_empty() || self.path == file || segment_runs(folder_of(file)).any(|run| run == self.path)
    }
}

/// The sources from which a cluster applies the linted repository.
pub(super) struct OwnSources<'a> {
    /// Their kinds, namespaces and names.
    sources: BTreeSet<(&'a str, Option<&'a str>, &'a str)>,
    /// The addresses and branches of those that fetch a branch.
    branches: BTreeSet<(String, String)>,
}

impl<'a> OwnSources<'a> {
    pub(super) fn of(view: &View<'a>) -> Self {
        let sets = view.receiver.cluster.applied_sets.iter().filter(|set| set.by.state == State::Built);
        let is_own = |set: &&AppliedSet| set.objects.get(0).is_some_and(|object| written_position(object).0.is_none());
        let sources = sets.filter(is_own).filter_map(|set| set.by.source.as_ref());
        let sources: BTreeSet<_> =
            sources.map(|source| (&*source.kind, source.namespace.as_deref(), &*source.name)).collect();
        let branches = sources.iter().filter_map(|(kind, namespace, name)| branch_of(view, kind, *namespace, name));
        Self { branches: branches.collect(), sources }
    }

    /// Returns whether an automation changes the linted repository. It may have a source of its own, since the source of Flux
    /// usually cannot push.
    pub(super) fn are_changed_by(&self, view: &View<'_>, automation: &Applied<'_>) -> bool {
        let text = |key: &str| automation.object.text_at(&["spec", "sourceRef", key]);
        let (Some(kind), Some(name)) = (text("kind"), text("name")) else { return false };
        let namespace = text("namespace").or(automation.object.namespace());
        self.sources.contains(&(kind, namespace, name))
            || branch_of(view, kind, namespace, name).is_some_and(|branch| self.branches.contains(&branch))
    }
}

/// The address and the branch that a GitRepository fetches.
fn branch_of(view: &View<'_>, kind: &str, namespace: Option<&str>, name: &str) -> Option<(String, String)> {
    let source = view.find(groups::SOURCE, kind, namespace?, name).filter(|_| kind == "GitRepository")?;
    fetched_branch(source.object)
}
