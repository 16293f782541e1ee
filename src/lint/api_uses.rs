//! The places that name API versions which Flux or Kubernetes deprecate or remove.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::api::release::{Api, api, may_name_ending_api};
use crate::base::finding::ObjectRef;
use crate::flux::{Objects, PatchDocument, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::{Part, memory_address};
use crate::lint::view::View;
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
    /// Whether the place is the target of a patch, which selects only objects of the same version.
    is_target: bool,
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
        if *entry.key != *"spec" {
            collect(&entry.node, Role::Mention, 0, &mut found);
            continue;
        }
        for field in entry.node.entries().iter().filter(|field| !is_ignored(object, &field.key)) {
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

/// Returns whether Flux does not read a field of `spec`: `wait: true` disables `healthChecks`.
fn is_ignored(object: &Object, field: &str) -> bool {
    field == "healthChecks" && is_kustomization(object) && object.text_at(&["spec", "wait"]) == Some("true")
}

/// The API versions in a kustomization or in a file with patches.
fn uses_in(document: &PatchDocument) -> Vec<ApiUse> {
    let mut found = Vec::new();
    // With a target, kustomize ignores the version of a patch: `ApplySmPatch` sets the version of the object.
    if document.has_target && document.node.is_map() {
        collect_fields(&document.node, Role::Mention, 0, &mut found);
    } else {
        collect(&document.node, Role::Mention, 0, &mut found);
    }
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
    if let Some(patch) = patch.filter(|patch| patch.text().is_some_and(may_name_ending_api)) {
        for document in Embedded::new(patch).parse().documents {
            // kustomize ignores the version of a patch with a target.
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
    Some(ApiUse { api, at: version.span().clone(), role, object: None, is_target: false })
}

/// The version in the target of a patch, which selects only objects of the same version.
fn use_of_target(target: &Node) -> Option<ApiUse> {
    let version = target.get("version")?;
    let group = target.get("group").and_then(Node::text).unwrap_or_default();
    let api = api(group, version.text()?, target.get("kind")?.text()?)?;
    Some(ApiUse { api, at: version.span().clone(), role: Role::Mention, object: None, is_target: true })
}

/// The API versions of a repository, with the clusters that they affect.
#[derive(Default)]
pub struct RepositoryUses {
    /// The distinct places, and the numbers of their views.
    pub(crate) uses: Vec<(ApiUse, Vec<usize>)>,
    /// The numbers of the places, by file, offset and whether the place is a mention.
    numbers: Index<(String, usize, bool), usize>,
}

impl RepositoryUses {
    /// Collects the uses of all clusters. The time is linear in the number of distinct objects.
    pub(crate) fn of(views: &[View<'_>], patches: &[PatchDocument]) -> Self {
        let mut all = Self::default();
        let objects = ObjectUses::of(views);
        let mut numbers: Index<usize, Vec<usize>> = Index::default();
        for (view, set) in views.iter().enumerate().flat_map(|(at, view)| view.applied_sets().map(move |set| (at, set)))
        {
            for (address, uses) in objects.in_list(&set.objects) {
                let own = numbers.entry_or(address, || uses.iter().map(|one| all.number(one)).collect());
                for number in own.iter() {
                    all.add(*number, view);
                }
            }
        }
        let affected = PatchedViews::of(views);
        for one in patches.iter().flat_map(uses_in) {
            let changed = affected.of_use(&one);
            // A target without an object of its version is an unmatched patch.
            if changed.is_empty() && one.is_target {
                continue;
            }
            // No cluster reads the patches and the objects of some directories. An edit of a patch alone would break the build.
            let may_read = |view: &View<'_>| !view.is_whole() || view.written.reached().may_read(one.at.file().path());
            if changed.is_empty() && one.at.file().root().is_none() && !views.first().is_none_or(may_read) {
                continue;
            }
            let number = all.number(&one);
            // No object shows some changes, such as the removal of a field.
            let every = || (0..views.len()).collect();
            let changed: Rc<[usize]> = if changed.is_empty() { every() } else { changed };
            changed.iter().for_each(|view| all.add(number, *view));
        }
        // A ResourceSet contains the objects that it applies.
        let place = |one: &ApiUse| (one.at.file().path().to_string(), one.at.range().start);
        let objects: BTreeSet<_> =
            all.uses.iter().filter(|(one, _)| one.role != Role::Mention).map(|(one, _)| place(one)).collect();
        all.uses.retain(|(one, _)| one.role != Role::Mention || !objects.contains(&place(one)));
        all
    }

    /// The number of the place of a use.
    fn number(&mut self, one: &ApiUse) -> usize {
        let Self { uses, numbers } = self;
        let span = &one.at;
        let root = span.file().root().map(ToString::to_string).unwrap_or_default();
        let key = (format!("{root}:{}", span.file().path()), span.range().start, one.role == Role::Mention);
        *numbers.entry_or(key, || {
            uses.push((one.clone(), Vec::new()));
            uses.len() - 1
        })
    }

    fn add(&mut self, number: usize, view: usize) {
        if let Some((_, views)) = self.uses.get_mut(number).filter(|(_, views)| views.last() != Some(&view)) {
            views.push(view);
        }
    }
}

/// The file of a patch, and the group and kind of the patched objects.
type PatchedKind = (String, String, String);

/// The views whose objects contain nodes of a patch.
struct PatchedViews<'v, 'a> {
    views: &'v [View<'a>],
    known: RefCell<Index<PatchedKind, Rc<[usize]>>>,
}

impl<'v, 'a> PatchedViews<'v, 'a> {
    fn of(views: &'v [View<'a>]) -> Self {
        Self { views, known: RefCell::default() }
    }

    /// The views with an object that the patch of a use changes.
    fn of_use(&self, one: &ApiUse) -> Rc<[usize]> {
        let (file, Api { group, kind, .. }) = (one.at.file(), one.api);
        let root = file.root().map(ToString::to_string).unwrap_or_default();
        let key = (format!("{root}:{}", file.path()), group.clone(), kind.clone());
        let mut known = self.known.borrow_mut();
        let views = known.entry_or(key, || {
            let mut changed: Index<usize, bool> = Index::default();
            let mut is_changed = |object: &Object| {
                let is_of_patch = |span: &Span| span.file().path() == file.path() && span.file().root() == file.root();
                *changed.entry_or(memory_address(object), || has_node(&object.node, &is_of_patch, 0))
            };
            let mut affects = |view: &View<'_>| view.of_kind(group, kind).any(|applied| is_changed(applied.object));
            let affected = self.views.iter().enumerate().filter(|(_, view)| affects(view)).map(|(at, _)| at);
            affected.collect()
        });
        views.clone()
    }
}

/// Returns whether a node or a node in it is at a position that `is_wanted` accepts.
fn has_node(node: &Node, is_wanted: &impl Fn(&Span) -> bool, depth: usize) -> bool {
    let has = |node: &Node| has_node(node, is_wanted, depth + 1);
    depth <= MAX_DEPTH
        && (is_wanted(node.span())
            || match &node.value {
                Value::Map(entries) => entries.iter().any(|entry| has(&entry.node)),
                Value::Seq(items) => items.iter().any(has),
                Value::Scalar(..) => false,
            })
}

/// The uses in the distinct objects of a fleet.
struct ObjectUses {
    /// The uses of the objects that have some, by the address of the object.
    of_object: Index<usize, Vec<ApiUse>>,
    /// The objects with uses of each part of a list: the position and the address.
    of_part: Index<usize, Vec<(usize, usize)>>,
}

impl ObjectUses {
    fn of(views: &[View<'_>]) -> Self {
        let mut known: Index<usize, ()> = Index::default();
        let (mut parts, mut objects): (Vec<Part<'_>>, Vec<&Object>) = (Vec::new(), Vec::new());
        for part in views.iter().flat_map(View::applied_sets).flat_map(|set| Part::of(&set.objects)) {
            if known.insert(part.address(), ()).is_none() {
                parts.push(part);
                let is_new = |object: &&Object| known.insert(memory_address(object), ()).is_none();
                objects.extend(part.objects().map(|(_, object)| object).filter(is_new));
            }
        }
        let used =
            |object: &&Object| Some((memory_address(object), uses_of(object))).filter(|(_, uses)| !uses.is_empty());
        let of_object: Vec<(usize, Vec<ApiUse>)> = objects.par_iter().filter_map(used).collect();
        let of_object: Index<usize, Vec<ApiUse>> = of_object.into_iter().collect();
        let mut of_part: Index<usize, Vec<(usize, usize)>> = Index::default();
        for part in parts.into_iter().filter(|_| !of_object.is_empty()) {
            let addresses = part.objects().map(|(at, object)| (at, memory_address(object)));
            let used: Vec<(usize, usize)> = addresses.filter(|(_, address)| of_object.contains(address)).collect();
            if !used.is_empty() {
                of_part.insert(part.address(), used);
            }
        }
        Self { of_object, of_part }
    }

    /// The uses of each object of a list, with the address of the object.
    fn in_list<'s>(&'s self, objects: &'s Objects) -> impl Iterator<Item = (usize, &'s [ApiUse])> {
        Part::of(objects).into_iter().flat_map(move |part| {
            let used = self.of_part.get(&part.address()).map_or(&[][..], Vec::as_slice);
            let is_replaced = move |at: usize| matches!(part, Part::Shared(_)) && objects.is_own(at);
            let used = used.iter().filter(move |(at, _)| !is_replaced(*at));
            used.filter_map(|(_, address)| Some((*address, self.of_object.get(address)?.as_slice())))
        })
    }
}
