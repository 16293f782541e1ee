//! The variable `ConfigMap`s of a fleet, from which Kustomizations substitute variables, with their readers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::flux::{AppliedSet, COPY_FROM, State, Variable, Variables, reads};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::memory_address;
use crate::lint::fields::mentions;
use crate::lint::fleet::Fleet;
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::{Entry, Name, Node};

/// The kinds that may read a ConfigMap by its name, in addition to Kustomizations.
const READERS: [(&str, &str); 12] = [
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("", "Pod"),
    (groups::FLUX_OPERATOR, "ResourceSet"),
    (groups::FLUX_OPERATOR, "ResourceSetInputProvider"),
    (groups::HELM, "HelmRelease"),
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "GeneratingPolicy"),
];

/// The annotation that lets Reflector copy the data of a ConfigMap from another ConfigMap.
const REFLECTS: &str = "reflector.v1.k8s.emberstack.com/reflects";

/// A namespace and a name.
type Id<'a> = (&'a str, &'a str);

/// The readers of each variable ConfigMap of a cluster.
type ReadersById<'a> = Vec<(Id<'a>, Arc<Readers<'a>>)>;

/// The root, path, offset and length of a value.
type Place<'a> = (Option<&'a str>, (&'a str, u32, u32));

/// A variable ConfigMap on one cluster.
pub(super) struct Info<'a> {
    /// The index of the view of the cluster.
    view: usize,
    /// The cluster.
    pub(crate) cluster: ArcStr,
    /// The ConfigMap.
    pub(crate) object: &'a Object,
    /// The keys of the ConfigMap, sorted. ConfigMaps with equal keys share them.
    key_names: Arc<[&'a Name]>,
    /// The readers of the ConfigMap. Alike clusters share them.
    pub(crate) readers: Arc<Readers<'a>>,
}

/// The readers of a variable ConfigMap.
#[derive(Clone, Default)]
pub(super) struct Readers<'a> {
    /// The keys that an object reads.
    pub(crate) read: BTreeSet<&'a Name>,
    /// The variables that the Kustomizations with this source read. Other sources may define some of them.
    pub(crate) asked: BTreeSet<&'a Name>,
    /// The variables in `asked` that no source defines and that have no default.
    pub(crate) missed: BTreeSet<&'a Name>,
    /// Whether an unknown input may read the keys of the ConfigMap.
    pub(super) may_be_read: bool,
    /// The appliers with unknown objects that may substitute variables from the ConfigMap. ConfigMaps with the same name
    /// share them.
    pub(crate) unknown: Arc<BTreeSet<&'a ObjectRef>>,
    /// The appliers whose build fails that may substitute variables from the ConfigMap. The repository contains their
    /// objects.
    pub(crate) failed: Arc<BTreeSet<&'a ObjectRef>>,
}

impl<'a> Info<'a> {
    /// The entries of the ConfigMap.
    pub(super) fn entries(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        entries(self.object)
    }

    /// Returns whether the ConfigMap has a key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.key_names.binary_search_by(|name| (***name).cmp(key)).is_ok()
    }

    /// The position of a key; `None` if the ConfigMap does not have the key.
    pub(super) fn key(&self, key: &str) -> Option<Span> {
        self.entries().find(|entry| *entry.key == *key).map(Entry::key_span)
    }

    /// An object on the cluster that reads an undefined variable with this name.
    pub(super) fn misses(&self, fleet: &Fleet<'_>, key: &str) -> Option<ObjectRef> {
        let view = fleet.views.get(self.view).filter(|_| self.readers.missed.iter().any(|name| ***name == *key))?;
        let mut undefined = view.applied_sets().flat_map(|set| set.undefined.iter());
        let found = undefined.find(|undefined| undefined.uses.iter().any(|(name, _)| **name == *key))?;
        Some(found.object.clone())
    }
}

/// The entries of a ConfigMap whose keys can be variables. `invalid-variable-name` reports the others.
fn entries(object: &Object) -> impl Iterator<Item = &Entry> {
    let entries = object.node.get("data").map_or(&[][..], |data| data.entries());
    entries.iter().filter(|entry| entry.key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// The names of all keys of some ConfigMaps.
pub(super) fn all_keys<'a>(infos: &[Info<'a>]) -> BTreeSet<&'a Name> {
    let mut seen: Index<usize, ()> = Index::default();
    let distinct = infos.iter().filter(|info| seen.insert(info.key_names.as_ptr().addr(), ()).is_none());
    distinct.flat_map(|info| info.key_names.iter().copied()).collect()
}

/// The readers of some ConfigMaps. Alike clusters share them.
pub(super) fn all_readers<'i, 'a: 'i>(infos: impl IntoIterator<Item = &'i Info<'a>>) -> Vec<&'i Readers<'a>> {
    let mut seen: Index<usize, ()> = Index::default();
    let distinct = infos.into_iter().filter(|info| seen.insert(Arc::as_ptr(&info.readers).addr(), ()).is_none());
    distinct.map(|info| &*info.readers).collect()
}

/// The variable `ConfigMap`s of a fleet: a list for each namespace and name, in the order of the clusters.
pub(super) fn infos<'a>(fleet: &Fleet<'a>) -> Vec<Vec<Info<'a>>> {
    let mut all: BTreeMap<(&str, &str), Vec<Info<'_>>> = BTreeMap::new();
    let views = fleet.views.iter().enumerate();
    let mut of_first: Index<usize, Option<ReadersById<'a>>> = Index::default();
    let mut key_names: Index<Arc<[&'a Name]>, Arc<[&'a Name]>> = Index::default();
    for (at, view) in views.filter(|(_, view)| view.is_whole() && view.receiver.target.is_none()) {
        let cluster: ArcStr = view.receiver.to_string().into();
        let known = of_first.entry(view.first);
        if known.is_none() {
            let found = of_cluster(at, view);
            *known = Some(found.iter().map(|(id, info)| (*id, info.readers.clone())).collect());
        }
        for ((namespace, name), readers) in known.iter().flatten() {
            let Some(applied) = view.find("", "ConfigMap", namespace, name) else { continue };
            let mut names: Vec<&Name> = entries(applied.object).map(|entry| &entry.key).collect();
            names.sort_unstable();
            let names: Arc<[&Name]> = names.into();
            let info = Info {
                view: at,
                cluster: cluster.clone(),
                object: applied.object,
                key_names: key_names.entry_or(names.clone(), || names).clone(),
                readers: readers.clone(),
            };
            all.entry((*namespace, *name)).or_default().push(info);
        }
    }
    all.into_values().collect()
}

fn of_cluster<'a>(at: usize, view: &View<'a>) -> BTreeMap<(&'a str, &'a str), Info<'a>> {
    let brought = &view.receiver.cluster.applied_sets;
    let mut found: BTreeMap<(&str, &str), Info<'_>> = BTreeMap::new();
    for (namespace, name) in brought.iter().flat_map(|one| named_by(view, one)) {
        let Some(applied) = view.find("", "ConfigMap", namespace, name) else { continue };
        let object = applied.object;
        if object.annotation(COPY_FROM).is_none() {
            let cluster = ArcStr::default();
            let info = || Info {
                view: at,
                cluster: cluster.clone(),
                object,
                key_names: Arc::default(),
                readers: Arc::default(),
            };
            found.entry((namespace, name)).or_insert_with(info);
        }
    }
    if found.is_empty() {
        return found;
    }
    let mut by_place: BTreeMap<Place<'a>, (&'a str, &'a str)> = BTreeMap::new();
    for (id, info) in &found {
        let entries = info.object.node.get("data").map_or(&[][..], |data| data.entries());
        by_place.extend(entries.iter().map(|entry| (place(entry.node.span()), *id)));
    }
    let ids: Vec<Id<'a>> = found.keys().copied().collect();
    let mut known: Index<(usize, Option<&'a str>), Origins<'a>> = Index::default();
    for one in brought.iter().filter(|one| !one.reads().is_empty()) {
        let namespace = one.by.reference.namespace.as_deref();
        let key = (Arc::as_ptr(&one.by.variables).addr(), namespace);
        let origins = known.entry_or(key, || Origins::of(&one.by.variables, namespace, &ids, &by_place));
        take_reads(one, origins, &mut found);
    }
    // An unbuilt input may contain further readers of any key.
    let mut unbuilt = brought.iter().filter(|one| one.by.state != State::Built && one.reads().is_empty()).peekable();
    if unbuilt.peek().is_some() {
        for info in found.values_mut() {
            Arc::make_mut(&mut info.readers).may_be_read = true;
        }
    }
    // Another tool may copy the ConfigMap under the same name.
    let mut by_name: BTreeMap<&str, [BTreeSet<&ObjectRef>; 2]> = BTreeMap::new();
    for one in unbuilt {
        for (_, name) in named_by(view, one) {
            let [unknown, failed] = by_name.entry(name).or_default();
            let appliers = if one.by.state == State::Failed { failed } else { unknown };
            appliers.insert(&one.by.reference);
        }
    }
    let by_name: BTreeMap<&str, [Arc<BTreeSet<&ObjectRef>>; 2]> =
        by_name.into_iter().map(|(name, appliers)| (name, appliers.map(Arc::new))).collect();
    for ((_, name), info) in &mut found {
        if let Some([unknown, failed]) = by_name.get(name) {
            let readers = Arc::make_mut(&mut info.readers);
            (readers.unknown, readers.failed) = (unknown.clone(), failed.clone());
        }
    }
    found
}

/// The `ConfigMap`s from which an applier substitutes variables, and the originals of copies.
fn named_by<'a>(view: &View<'a>, brought: &'a AppliedSet) -> Vec<(&'a str, &'a str)> {
    let Some(object) = &brought.by.object else { return Vec::new() };
    let Some(namespace) = object.namespace() else { return Vec::new() };
    let sources = object.node.at_keys(&["spec", "postBuild", "substituteFrom"]).map_or(&[][..], Node::items);
    let sources = sources.iter().filter(|source| source.get("kind").and_then(Node::text) == Some("ConfigMap"));
    let names = sources.filter_map(|source| source.get("name").and_then(Node::text));
    let ids = names.flat_map(|name| {
        let copied = view
            .find("", "ConfigMap", namespace, name)
            .and_then(|applied| applied.object.annotation(COPY_FROM)?.split_once('/'));
        copied.into_iter().chain([(namespace, name)])
    });
    ids.collect()
}

/// The variable `ConfigMap`s that define the variables of an applier.
struct Origins<'a> {
    /// All `ConfigMap`s from which the applier substitutes variables, directly or through a copy.
    sources: BTreeSet<Id<'a>>,
    by_name: BTreeMap<&'a Name, Id<'a>>,
}

impl<'a> Origins<'a> {
    fn of(
        variables: &'a Variables,
        namespace: Option<&str>,
        ids: &[Id<'a>],
        by_place: &BTreeMap<Place<'a>, Id<'a>>,
    ) -> Self {
        let named = variables.sources.iter().filter_map(|source| {
            let wanted = (namespace?, &*source.name);
            ids.binary_search_by(|id| (*id).cmp(&wanted)).ok().and_then(|at| ids.get(at)).copied()
        });
        let copied = |(name, variable): (&'a Name, &'a Variable)| Some((name, *by_place.get(&place(&variable.place))?));
        let by_name: BTreeMap<&Name, Id<'a>> = variables.values.iter().filter_map(copied).collect();
        Self { sources: named.chain(by_name.values().copied()).collect(), by_name }
    }
}

/// Records the variables that the objects of an applier read, in the `ConfigMap`s that define them.
fn take_reads<'a>(brought: &'a AppliedSet, origins: &Origins<'a>, found: &mut BTreeMap<Id<'a>, Info<'a>>) {
    for id in &origins.sources {
        let Some(info) = found.get_mut(id) else { continue };
        let readers = Arc::make_mut(&mut info.readers);
        readers.asked.extend(brought.reads());
        readers.missed.extend(brought.misses());
    }
    for name in brought.reads() {
        if let Some(info) = origins.by_name.get(name).and_then(|id| found.get_mut(id)) {
            Arc::make_mut(&mut info.readers).read.insert(name);
        }
    }
}

fn place(span: &Span) -> Place<'_> {
    (span.file().root().map(|root| &**root), span.order())
}

/// The variables that objects of the repository read, including objects that no cluster receives.
pub(super) fn repository_reads(fleet: &Fleet<'_>) -> BTreeSet<Name> {
    fleet.repo.objects.iter().flat_map(|built| reads(&built.object).to_vec()).collect()
}

/// Returns whether an object other than a Kustomization, such as a workload, reads a ConfigMap or a copy of it.
pub(super) fn has_other_readers<'a>(fleet: &Fleet<'a>, infos: &[Info<'a>]) -> bool {
    let views: Vec<&View<'a>> = infos.iter().filter_map(|info| fleet.views.get(info.view)).collect();
    let names = names_of(infos, &views);
    // Clusters share most objects, so the search visits each object once.
    let mut seen: Index<usize, ()> = Index::default();
    let mut readers = views.iter().flat_map(|view| READERS.iter().flat_map(|(group, kind)| view.of_kind(group, kind)));
    readers.any(|applied| {
        let is_new = seen.insert(memory_address(applied.object), ()).is_none();
        is_new && names.iter().any(|name| reads_of(applied.object, name))
    })
}

/// The names of a ConfigMap and of its copies.
fn names_of<'a>(infos: &[Info<'a>], views: &[&View<'a>]) -> BTreeSet<&'a str> {
    let own = infos.iter().map(|info| info.object.name());
    let is_copied = |source: &str| {
        let source = source.split_once('/');
        infos.iter().any(|info| source == Some((info.object.namespace().unwrap_or_default(), info.object.name())))
    };
    let maps = views.iter().flat_map(|view| view.of_kind("", "ConfigMap"));
    let copies = maps.filter_map(|applied| {
        let source_of = |annotation: &str| applied.object.annotation(annotation);
        is_copied(source_of(COPY_FROM).or_else(|| source_of(REFLECTS))?).then(|| applied.object.name())
    });
    own.chain(copies).collect()
}

/// Returns whether an object references a ConfigMap.
///
/// The function ignores references in templates and copies, because the search visits the resulting objects separately.
fn reads_of(object: &Object, name: &str) -> bool {
    let spec = object.node.get("spec");
    let is_template = |entry: &Entry| matches!(&*entry.key, "resources" | "resourcesTemplate");
    match object.group() {
        groups::FLUX_OPERATOR => {
            let entries = spec.map_or(&[][..], Node::entries);
            entries.iter().any(|entry| !is_template(entry) && mentions(&entry.node, name))
        }
        "kyverno.io" => {
            let rules = spec.and_then(|spec| spec.get("rules")).map_or(&[][..], Node::items);
            rules.iter().any(|rule| rule_reads(rule, name))
        }
        _ => mentions(&object.node, name),
    }
}

/// Returns whether a rule of a policy references a ConfigMap.
///
/// The function ignores a rule that only copies the ConfigMap and keeps its name.
fn rule_reads(rule: &Node, name: &str) -> bool {
    rule.entries().iter().any(|entry| {
        let text = |keys: &[&str]| entry.node.at_keys(keys).and_then(Node::text);
        let copies_it = text(&["clone", "name"]) == Some(name) && text(&["name"]) == Some(name);
        !(&*entry.key == "generate" && copies_it) && mentions(&entry.node, name)
    })
}
