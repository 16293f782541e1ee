//! ImageUpdateAutomations: the branches and directories that they change, and the clusters that reconcile the changes.

use std::sync::{Arc, PoisonError};

use super::fleet::{Fleet, ProductionSources};
use super::view::View;
use crate::address::{Address, short_reference};
use crate::flux::{Applied, Applier};
use crate::kube::{Object, groups};
use crate::text::Span;
use crate::yaml::{Node, Style, Value};

/// The branch of a GitRepository that does not set a branch.
const DEFAULT_BRANCH: &str = "master";

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
        let folder = at(&["spec", "update", "path"]).and_then(known).map(tidy).unwrap_or_default();
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
    // The views list a hub before the remote clusters to which the hub applies objects.
    let mut home = None;
    let mut hits = Vec::new();
    for view in fleet.views {
        if view.receiver.target.is_none() {
            home = Some(view);
        }
        let Some(home) = home.filter(|_| view.context.is_production) else { continue };
        hits.extend(reconciles(view, home, automation, push).map(|source| (view.receiver.to_string().into(), source)));
    }
    let hits = Arc::new(hits);
    known().insert(key, hits.clone());
    hits
}

/// Returns the source from which a cluster reconciles the pushed changes of an automation.
///
/// `home` contains the sources of the cluster. `home` is the cluster itself, or the hub that applies objects to the
/// cluster.
fn reconciles<'a>(view: &View<'a>, home: &View<'a>, automation: &Automation<'_>, push: &Push) -> Option<&'a Object> {
    home.of_kind(groups::SOURCE, "GitRepository").find_map(|applied| {
        let source = applied.object;
        let is_reconciled = fetches(source, automation, push) && is_applied(view, source, automation);
        is_reconciled.then_some(source)
    })
}

fn fetches(source: &Object, automation: &Automation<'_>, push: &Push) -> bool {
    let Some(url) = source.node.at_keys(&["spec", "url"]).and_then(known) else { return false };
    let reference = |field: &str| source.node.at_keys(&["spec", "ref", field]);
    if Address::new(url) != automation.address
        || ["commit", "tag", "semver"].iter().any(|field| reference(field).is_some())
    {
        return false;
    }
    let branch = match reference("name").or_else(|| reference("branch")) {
        Some(node) => known(node).map(short_reference),
        None => Some(DEFAULT_BRANCH),
    };
    branch == Some(&*push.branch)
}

/// Returns whether the cluster receives objects from the directory that the automation changes.
fn is_applied(view: &View<'_>, source: &Object, automation: &Automation<'_>) -> bool {
    let is_source = |applier: &Applier| {
        applier.source.as_ref().is_some_and(|reference| {
            &*reference.kind == "GitRepository"
                && *reference.name == *source.name()
                && reference.namespace.as_deref() == source.namespace()
        })
    };
    let of_view = |by: &Applier| by.target == view.receiver.target && is_source(by);
    view.receiver.cluster.applied_sets.iter().filter(|brought| of_view(&brought.by)).any(|brought| {
        let written = |object: &Object| object.node.get("kind").unwrap_or(&object.node).origin.written().clone();
        overlaps(&brought.by.folder, &automation.folder)
            || brought.objects.iter().any(|object| overlaps(written(object).file().path(), &automation.folder))
    })
}

/// Returns whether two paths are equal, or one of them contains the other.
fn overlaps(one: &str, other: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_in(one, other) || is_in(other, one)
}

/// Removes empty and `.` segments from a path.
fn tidy(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !matches!(*segment, "" | "."));
    segments.collect::<Vec<_>>().join("/")
}

/// The text of a scalar whose value is known and not empty.
fn known(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(text, style) if *style != Style::Unknown && !text.is_empty() && !text.contains("${") => {
            Some(text)
        }
        _ => None,
    }
}
