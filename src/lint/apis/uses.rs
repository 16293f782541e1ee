//! The places that name API versions which Flux or Kubernetes deprecate or remove.

use std::collections::BTreeSet;

use crate::api::release::{Api, api};
use crate::base::finding::ObjectRef;
use crate::kube::{Object, groups};
use crate::lint::fleet::Fleet;
use crate::text::{Index, Span};
use crate::yaml::{Embedded, Node, Value};

/// The maximum depth of a reference in an object.
const MAX_DEPTH: usize = 64;

/// A place that names an API version.
#[derive(Debug, Clone)]
pub(crate) struct ApiUse {
    pub(crate) api: &'static Api,
    /// The position of the version.
    pub(crate) at: Span,
    pub(crate) role: Role,
    /// The object that contains the place.
    pub(crate) object: Option<ObjectRef>,
}

/// The effect of an API version that the cluster does not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The API server rejects the object.
    Object,
    /// The controller cannot read the referenced object.
    Reference,
    /// The version is without effect, or only matches objects with the same version.
    Mention,
}

/// The API versions in an object: its own, and those in its references and patches.
pub(crate) fn uses_of(object: &Object) -> Vec<ApiUse> {
    let mut found = Vec::new();
    if let (Some(version), Some(kind)) = (object.node.get("apiVersion"), object.node.get("kind")) {
        found.extend(use_of(version, kind, Role::Object));
    }
    let exact: &[&str] = match (object.group(), object.kind()) {
        (groups::NOTIFICATION, "Receiver") => &["resources"],
        (groups::FLUX_OPERATOR, "ResourceSet") => &["dependsOn"],
        _ => &[],
    };
    for entry in object.node.entries() {
        if entry.key.as_ref() != "spec" {
            collect(&entry.node, Role::Mention, 0, &mut found);
            continue;
        }
        for field in entry.node.entries() {
            let role = if exact.contains(&field.key.as_ref()) { Role::Reference } else { Role::Mention };
            collect(&field.node, role, 0, &mut found);
        }
    }
    if !found.is_empty() {
        let reference = object.reference();
        for one in &mut found {
            one.object = Some(reference.clone());
        }
    }
    found
}

/// The API versions in a kustomization or in a file with patches.
pub(crate) fn uses_in(node: &Node) -> Vec<ApiUse> {
    let mut found = Vec::new();
    collect(node, Role::Mention, 0, &mut found);
    found
}

fn collect(node: &Node, role: Role, depth: usize, found: &mut Vec<ApiUse>) {
    if depth > MAX_DEPTH {
        return;
    }
    match &node.value {
        Value::Map(_) => {
            if let (Some(version), Some(kind)) = (node.get("apiVersion"), node.get("kind")) {
                found.extend(use_of(version, kind, role));
            }
            collect_fields(node, role, depth, found);
        }
        Value::Seq(items) => items.iter().for_each(|item| collect(item, role, depth + 1, found)),
        Value::Scalar(..) => {}
    }
}

/// Collects the API versions in the fields of an object or a mapping, without its own version.
fn collect_fields(node: &Node, role: Role, depth: usize, found: &mut Vec<ApiUse>) {
    let target = node.get("target").filter(|target| target.is_map());
    let patch = node.get("patch").filter(|patch| patch.text().is_some());
    if let Some(patch) = patch {
        for document in Embedded::new(patch).parse().documents {
            // With a target, kustomize ignores the version of a patch: `ApplySmPatch` sets the version of the object.
            match target {
                Some(_) if document.node.is_map() && depth < MAX_DEPTH => {
                    collect_fields(&document.node, role, depth + 1, found);
                }
                _ => collect(&document.node, role, depth + 1, found),
            }
        }
    }
    if let Some(target) = target.filter(|_| patch.is_some() || node.get("path").is_some()) {
        found.extend(use_of_target(target));
    }
    node.entries().iter().for_each(|entry| collect(&entry.node, role, depth + 1, found));
}

fn use_of(version: &Node, kind: &Node, role: Role) -> Option<ApiUse> {
    let text = version.text()?;
    let (group, name) = text.split_once('/').unwrap_or(("", text));
    let api = api(group, name, kind.text()?)?;
    Some(ApiUse { api, at: version.span().clone(), role, object: None })
}

/// The version in the target of a patch, which selects only objects of the same version.
fn use_of_target(target: &Node) -> Option<ApiUse> {
    let version = target.get("version")?;
    let group = target.get("group").and_then(Node::text).unwrap_or_default();
    let api = api(group, version.text()?, target.get("kind")?.text()?)?;
    Some(ApiUse { api, at: version.span().clone(), role: Role::Mention, object: None })
}

/// The API versions of a repository, with the clusters that they affect.
pub(crate) struct RepositoryUses {
    /// The distinct places, and the numbers of their views.
    pub(crate) uses: Vec<(ApiUse, Vec<usize>)>,
}

impl RepositoryUses {
    /// Collects the uses of all clusters. The time is linear in the number of distinct objects.
    pub(crate) fn of(fleet: &Fleet<'_>) -> Self {
        let mut positions: Index<(String, usize, bool), usize> = Index::default();
        let mut uses: Vec<(ApiUse, Vec<usize>)> = Vec::new();
        let mut add = |one: &ApiUse, view: usize| {
            let span = &one.at;
            let root = span.file().root().map(ToString::to_string).unwrap_or_default();
            let key = (format!("{root}:{}", span.file().path()), span.range().start, one.role == Role::Mention);
            let at = *positions.entry_or(key, || uses.len());
            if at == uses.len() {
                uses.push((one.clone(), Vec::new()));
            }
            let views = &mut uses[at].1;
            if views.last() != Some(&view) {
                views.push(view);
            }
        };
        let mut shared: Index<usize, Vec<(usize, Vec<ApiUse>)>> = Index::default();
        for (number, view) in fleet.views.iter().enumerate() {
            for set in view.applied_sets() {
                let objects = &set.objects;
                let of_shared = shared.entry_or(objects.shared().as_ptr().addr(), || {
                    let all = objects.shared().iter().enumerate().map(|(at, object)| (at, uses_of(object)));
                    all.filter(|(_, uses)| !uses.is_empty()).collect()
                });
                for (at, found) in of_shared.iter() {
                    if !objects.is_own(*at) {
                        for one in found {
                            add(one, number);
                        }
                    }
                }
                for (_, object) in objects.own().iter() {
                    for one in &uses_of(object) {
                        add(one, number);
                    }
                }
            }
        }
        for node in &fleet.repo.patches {
            let found = uses_in(node);
            for number in 0..fleet.views.len() {
                for one in &found {
                    add(one, number);
                }
            }
        }
        // A ResourceSet contains the objects that it applies.
        let place = |one: &ApiUse| (one.at.file().path().to_string(), one.at.range().start);
        let objects: BTreeSet<_> =
            uses.iter().filter(|(one, _)| one.role != Role::Mention).map(|(one, _)| place(one)).collect();
        uses.retain(|(one, _)| one.role != Role::Mention || !objects.contains(&place(one)));
        Self { uses }
    }
}
