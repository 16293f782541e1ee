//! References by name that follow what was renamed: prefixes, suffixes, hashes, namespaces.
//!
//! Which fields refer to which kinds is the configuration's business. Objects are found by the names that they had; what
//! was never touched has no earlier name, and nothing can follow it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, Gvk, each_item};
use crate::kustomize::fieldspec::transformer_config::{NameReference, TransformerConfig};
use crate::kustomize::objects::resources::{NO_NAMESPACE, Resource, ResourceId, Resources};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::text::string_value::{new_value, with_text};
use crate::text::{Index, Span};
use crate::yaml::{By, Entry, Name, Node, Origin, Reader, Scalar, Step, Style, Value};

/// Writes the new names of objects where others refer to them.
pub(crate) fn update(resources: &mut Resources, config: &TransformerConfig, findings: &mut Vec<Finding>) {
    let candidates = Candidates::new(&resources.list);
    let mut fields = Fields { config, known_places: Index::default() };
    for index in 0..resources.list.len() {
        let list = &resources.list;
        let Some(referrer) = list.get(index) else { continue };
        let scope = match ReferrerScope::new(referrer, &candidates, list) {
            Ok(scope) => scope,
            Err(FieldError { span, message }) => {
                findings.push(Finding::error(FAILED_BUILD, span, message));
                continue;
            }
        };
        let mut node = referrer.node.clone();
        for (target, spec) in fields.for_id(&referrer.original()).iter() {
            let reference = Reference { scope: &scope, target: &target.target, field: spec };
            let mut change = |node: Option<&Node>| node.map_or(Ok(None), |node| reference.follow(node));
            match spec.apply(&node, CreateKind::Nothing, &mut change) {
                Ok(changed) => node = changed.unwrap_or(node),
                Err(FieldError { span, message }) => findings.push(Finding::error(FAILED_BUILD, span, message)),
            }
        }
        if let Some(resource) = resources.list.get_mut(index) {
            resource.replace(node);
        }
    }
}

/// A field and what it refers to.
type Field<'a> = (&'a NameReference, &'a FieldSpec);

/// The fields that objects of a kind may refer with, looked up once for each kind.
struct Fields<'a> {
    config: &'a TransformerConfig,
    known_places: Index<Gvk, Arc<[Field<'a>]>>,
}

impl<'a> Fields<'a> {
    fn for_id(&mut self, id: &ResourceId) -> Arc<[Field<'a>]> {
        let gvk = Gvk { group: id.group.clone(), version: id.version.clone(), kind: id.kind.clone() };
        if let Some(known_places) = self.known_places.get(&gvk) {
            return known_places.clone();
        }
        let references = self.config.references.iter();
        let all = references.flat_map(|reference| reference.referrers.iter().map(move |spec| (reference, spec)));
        let fields: Arc<[Field<'a>]> = all.filter(|(_, spec)| spec.gvk.covers(&gvk)).collect();
        self.known_places.insert(gvk, fields.clone());
        fields
    }
}

/// The objects that something can refer to, by the names that they had.
#[derive(Default)]
struct Candidates {
    by_name: Index<Name, Vec<usize>>,
    /// By today's namespace and an earlier name.
    by_namespace: Index<(Name, Name), Vec<usize>>,
    /// By the first namespace and an earlier name.
    by_original_namespace: Index<(Name, Name), Vec<usize>>,
    /// The first namespaces of the objects that are now in a namespace.
    original_namespaces: Index<Name, BTreeSet<Name>>,
    /// The first namespaces of all objects.
    all_original_namespaces: BTreeSet<Name>,
}

impl Candidates {
    fn new(list: &[Resource]) -> Self {
        let mut all = Self::default();
        for (index, resource) in list.iter().enumerate() {
            let (now, first) = (&resource.id.namespace, resource.original().namespace);
            all.original_namespaces.entry(now.clone()).insert(first.clone());
            all.all_original_namespaces.insert(first.clone());
            let names: BTreeSet<&Name> = resource.history.previous.iter().map(|previous| &previous.name).collect();
            for name in names {
                all.by_name.entry(name.clone()).push(index);
                all.by_namespace.entry((now.clone(), name.clone())).push(index);
                all.by_original_namespace.entry((first.clone(), name.clone())).push(index);
            }
        }
        all
    }
}

/// What an object can refer to.
struct ReferrerScope<'a> {
    referrer: &'a Resource,
    candidates: &'a Candidates,
    list: &'a [Resource],
    /// Beside its own: the namespaces of the accounts that a role binding names.
    namespaces: BTreeSet<Name>,
}

impl<'a> ReferrerScope<'a> {
    fn new(referrer: &'a Resource, candidates: &'a Candidates, list: &'a [Resource]) -> Result<Self, FieldError> {
        let mut namespaces = BTreeSet::new();
        if &*referrer.id.kind == "RoleBinding" && &*referrer.id.namespace != NO_NAMESPACE {
            let subjects = referrer.node.get("subjects").map_or(&[][..], Node::items).iter();
            let accounts = subjects.filter(|one| one.get("kind").and_then(Node::text) == Some("ServiceAccount"));
            for namespace in accounts.filter_map(|one| one.get("namespace")) {
                match namespace.resolve(Reader::Kubernetes) {
                    Some(Scalar::String(text)) => namespaces.insert(Name::from(text)),
                    _ => return Err(field_error(namespace, "the namespace of an account must be a string")),
                };
            }
            namespaces.remove(&referrer.id.namespace);
        }
        Ok(Self { referrer, candidates, list, namespaces })
    }

    /// Whether it has no namespace: then it can refer to anything.
    fn is_cluster_scoped(&self) -> bool {
        &*self.referrer.id.namespace == NO_NAMESPACE
    }

    /// The objects that had a name and that it can refer to, in order.
    fn candidates(&self, name: &Name) -> Vec<usize> {
        let candidates = self.candidates;
        if self.is_cluster_scoped() {
            return candidates.by_name.get(name).cloned().unwrap_or_default();
        }
        let own = [Name::from(NO_NAMESPACE), self.referrer.id.namespace.clone()];
        let mut found: Vec<usize> = Vec::new();
        for namespace in &own {
            found.extend(candidates.by_namespace.get(&(namespace.clone(), name.clone())).into_iter().flatten());
        }
        for namespace in &self.namespaces {
            let in_namespace = candidates.by_namespace.get(&(namespace.clone(), name.clone())).into_iter().flatten();
            // An object that says no namespace is not meant by one that is said.
            found.extend(in_namespace.filter(|index| self.list.get(**index).is_some_and(has_explicit_namespace)));
        }
        found.sort_unstable();
        found
    }

    /// The same for a reference that says a namespace: it means the first one where any object was in it.
    fn candidates_in(&self, name: &Name, namespace: &Name) -> Vec<usize> {
        if &**namespace == NO_NAMESPACE {
            return Vec::new();
        }
        let candidates = self.candidates;
        let key = (namespace.clone(), name.clone());
        if self.is_cluster_scoped() {
            let index = if candidates.all_original_namespaces.contains(namespace) {
                &candidates.by_original_namespace
            } else {
                &candidates.by_namespace
            };
            return index.get(&key).cloned().unwrap_or_default();
        }
        let in_view = [&self.referrer.id.namespace].into_iter().chain(&self.namespaces);
        let contained_origin = |now: &Name| {
            candidates
                .original_namespaces
                .get(now)
                .is_some_and(|original_namespaces| original_namespaces.contains(namespace))
        };
        let by_origin = in_view.into_iter().any(contained_origin);
        let mut found = self.candidates(name);
        found.retain(|index| {
            self.list.get(*index).is_some_and(|one| {
                if by_origin { one.original().namespace == *namespace } else { one.id.namespace == *namespace }
            })
        });
        found
    }
}

fn has_explicit_namespace(resource: &Resource) -> bool {
    let namespace = resource.node.at_keys(&["metadata", "namespace"]).and_then(Node::text);
    namespace == Some(&*resource.id.namespace)
}

/// A field of an object that refers to objects of a kind.
struct Reference<'a> {
    scope: &'a ReferrerScope<'a>,
    target: &'a Gvk,
    field: &'a FieldSpec,
}

impl Reference<'_> {
    /// The field with the new name; `None` when it stays.
    fn follow(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        match &node.value {
            _ if node.is_null() => Ok(None),
            Value::Scalar(..) => self.follow_text(node),
            Value::Map(_) => self.follow_map(node),
            Value::Seq(items) => each_item(node, items, |item| match &item.value {
                _ if item.is_null() => Ok(None),
                Value::Scalar(..) => self.follow_text(item),
                Value::Map(_) => self.follow_map(item),
                Value::Seq(_) => Err(field_error(item, "a list of lists cannot refer to objects")),
            }),
        }
    }

    fn follow_text(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        let Some(name) = node.shared_text() else { return Ok(None) };
        let found = self.scope.candidates(&name);
        let same = |one: &Resource, other: &Resource| one.id.name == other.id.name;
        let Some(referral) = self.choose(node, &name, found, same)? else { return Ok(None) };
        Ok((referral.id.name != name).then(|| rename(node, referral)))
    }

    fn follow_map(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        let Some(entry) = node.entry("name") else {
            let path = &self.field.path;
            return Err(field_error(node, &format!("this has no `name`, which a reference at `{path}` needs")));
        };
        let Some(name) = entry.node.shared_text() else { return Ok(None) };
        let found = match node.get("namespace").and_then(Node::shared_text) {
            Some(namespace) => self.scope.candidates_in(&name, &namespace),
            None => self.scope.candidates(&name),
        };
        let same = |one: &Resource, other: &Resource| {
            one.id.name == other.id.name && namespace_of(one).map(Node::text) == namespace_of(other).map(Node::text)
        };
        let Some(referral) = self.choose(&entry.node, &name, found, same)? else { return Ok(None) };
        let mut changed = node.clone();
        if referral.id.name != name {
            changed = changed.with(entry.with_node(rename(&entry.node, referral)));
        }
        if let Some(namespace) = namespace_of(referral) {
            changed = with_namespace(&changed, namespace);
        }
        Ok(Some(changed))
    }

    /// The object that is meant. Several candidates of one result are as good as one.
    fn choose(
        &self,
        place: &Node,
        name: &str,
        mut found: Vec<usize>,
        same: impl Fn(&Resource, &Resource) -> bool,
    ) -> Result<Option<&Resource>, FieldError> {
        let scope = self.scope;
        found.retain(|index| scope.list.get(*index).is_some_and(|one| self.is_candidate(one)));
        if found.len() != 1 {
            let is_close = |index: &usize, strict: bool| {
                scope.list.get(*index).is_some_and(|one| self.has_same_affixes(one, strict))
            };
            found.retain(|index| is_close(index, false));
            if found.len() > 1 {
                found.retain(|index| is_close(index, true));
            }
        }
        let found: Vec<&Resource> = found.iter().filter_map(|index| scope.list.get(*index)).collect();
        let [first, others @ ..] = &*found else { return Ok(None) };
        if others.iter().all(|other| same(first, other)) {
            return Ok(Some(first));
        }
        let places: Vec<String> = found.iter().map(|one| describe(one)).collect();
        let message =
            format!("`{name}` could mean several objects, and kustomize refuses to choose: {}", places.join(", "));
        Err(field_error(place, &message))
    }

    fn is_candidate(&self, candidate: &Resource) -> bool {
        let was = |gvk: &Gvk| candidate.previous_ids().any(|id| gvk.selects(&id));
        let reachable = self.scope.is_cluster_scoped()
            || &*candidate.id.namespace == NO_NAMESPACE
            // A binding can name the accounts of other namespaces.
            || &*candidate.id.kind == "ServiceAccount"
            || candidate.id.namespace == self.scope.referrer.id.namespace;
        reachable && was(self.target) && self.role().is_none_or(|role| was(&role))
    }

    /// What a role binding says beside the name that its role is.
    fn role(&self) -> Option<Gvk> {
        if !self.field.path.ends_with("roleRef/name") {
            return None;
        }
        let role = self.scope.referrer.node.get("roleRef")?;
        let (group, kind) = (role.get("apiGroup")?.text()?, role.get("kind")?.text()?);
        Some(Gvk::new(group, "", kind))
    }

    /// Tells whether both went through the same prefixes and suffixes as far as the shorter list goes.
    fn has_same_affixes(&self, candidate: &Resource, strict: bool) -> bool {
        let same = |one: &[Name], other: &[Name]| {
            let shorter = one.len().min(other.len());
            match shorter {
                0 => !strict || one.len() == other.len(),
                _ => one.iter().rev().zip(other.iter().rev()).all(|(one, other)| one == other),
            }
        };
        let (one, other) = (&candidate.history, &self.scope.referrer.history);
        same(&one.prefixes, &other.prefixes) && same(&one.suffixes, &other.suffixes)
    }
}

fn field_error(node: &Node, message: &str) -> FieldError {
    FieldError { span: node.span().clone(), message: message.to_string() }
}

fn describe(resource: &Resource) -> String {
    let object = Object { node: resource.node.clone() };
    let place = object.span().position();
    format!("{} at {}:{}", object.reference(), object.span().file().path(), place.line)
}

fn namespace_of(resource: &Resource) -> Option<&Node> {
    resource.node.at_keys(&["metadata", "namespace"]).filter(|node| node.text().is_some_and(|text| !text.is_empty()))
}

/// What changed a value last, so that what follows it can name the same place.
fn last_change(node: &Node) -> By {
    match &node.origin {
        Origin::Via(step) => step.by.clone(),
        Origin::At(span) => By::Field(span.clone()),
    }
}

fn rename(node: &Node, referral: &Resource) -> Node {
    let name = referral.node.at_keys(&["metadata", "name"]);
    let by = name.map_or_else(|| By::Field(referral.node.span().clone()), last_change);
    let mut renamed_node = with_text(node, &referral.id.name, by);
    if let Some(Value::Scalar(text, Style::Unknown)) = name.map(|name| &name.value) {
        renamed_node.value = Value::Scalar(text.clone(), Style::Unknown);
    }
    let steps = name.map(|name| steps_of(&name.origin)).unwrap_or_default();
    // Names are followed at every level: what an inner one did is known.
    let known_places: Vec<&Span> = steps_of(&node.origin).iter().map(|step| step_place(step)).collect();
    let mut origin = node.origin.clone();
    let mut is_changed = false;
    for step in steps.iter().filter(|step| !known_places.contains(&step_place(step))) {
        origin = Origin::Via(Arc::new(Step::new(step.by.clone(), Some(origin), Box::default())));
        is_changed = true;
    }
    if is_changed { Node { value: renamed_node.value, origin } } else { renamed_node }
}

/// What changed a name, the first change first.
fn steps_of(origin: &Origin) -> Vec<&Step> {
    let mut steps: Vec<&Step> = Vec::new();
    let mut index = Some(origin);
    while let Some(Origin::Via(step)) = index {
        steps.push(step);
        index = step.was.as_ref();
    }
    steps.reverse();
    steps
}

/// The place that a change of a name stands at: kustomize knows of no variables.
fn step_place(step: &Step) -> &Span {
    match &step.by {
        By::Patch(span) | By::Generator(span) | By::Field(span) | By::Applier(span) => span,
        By::Variable(_) | By::Inherited(..) => {
            step.was.as_ref().map_or_else(|| unreachable!("a variable changes what a file brought"), Origin::span)
        }
    }
}

/// The mapping with the namespace of the object that it refers to.
fn with_namespace(map: &Node, namespace: &Node) -> Node {
    let text = namespace.shared_text().unwrap_or_else(|| Name::from(""));
    match map.entry("namespace") {
        Some(entry) if entry.node.text() == Some(&text) && !entry.node.is_null() => map.clone(),
        Some(entry) => map.with(entry.with_node(with_text(&entry.node, &text, last_change(namespace)))),
        None => {
            let value = new_value(Value::Scalar(text, Style::Double), last_change(namespace));
            let place = value.span().clone();
            map.with(Entry::new("namespace", &place, value))
        }
    }
}
