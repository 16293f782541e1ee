//! Updates of name references after renames: prefixes, suffixes, hashes, namespaces.
//!
//! The transformer configuration determines the fields and their target kinds. A reference is resolved by the former
//! names of objects. An object without a former name was never renamed, so no reference to it changes.

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
use crate::yaml::{ChangedBy, Entry, Name, Node, Origin, Reader, Scalar, Style, Value, ValueChange};

/// Updates the references to renamed objects.
pub(crate) fn update(resources: &mut Resources, config: &TransformerConfig, findings: &mut Vec<Finding>) {
    let candidates = Candidates::new(&resources.list);
    let mut fields = Fields { config, cache: Index::default() };
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

/// A field and the target of its reference.
type Field<'a> = (&'a NameReference, &'a FieldSpec);

/// The referring fields by kind, each kind computed once.
struct Fields<'a> {
    config: &'a TransformerConfig,
    cache: Index<Gvk, Arc<[Field<'a>]>>,
}

impl<'a> Fields<'a> {
    fn for_id(&mut self, id: &ResourceId) -> Arc<[Field<'a>]> {
        let gvk = Gvk { group: id.group.clone(), version: id.version.clone(), kind: id.kind.clone() };
        if let Some(cache) = self.cache.get(&gvk) {
            return cache.clone();
        }
        let references = self.config.references.iter();
        let all = references.flat_map(|reference| reference.referrers.iter().map(move |spec| (reference, spec)));
        let fields: Arc<[Field<'a>]> = all.filter(|(_, spec)| spec.gvk.covers(&gvk)).collect();
        self.cache.insert(gvk, fields.clone());
        fields
    }
}

/// The possible targets, by former name.
#[derive(Default)]
struct Candidates {
    by_name: Index<Name, Vec<usize>>,
    /// The objects by current namespace and former name.
    by_namespace: Index<(Name, Name), Vec<usize>>,
    /// The objects by original namespace and former name.
    by_original_namespace: Index<(Name, Name), Vec<usize>>,
    /// The original namespaces of the objects in each current namespace.
    original_namespaces: Index<Name, BTreeSet<Name>>,
    /// The original namespaces of all objects.
    all_original_namespaces: BTreeSet<Name>,
}

impl Candidates {
    fn new(list: &[Resource]) -> Self {
        let mut all = Self::default();
        for (index, resource) in list.iter().enumerate() {
            let (current, first) = (&resource.id.namespace, resource.original().namespace);
            all.original_namespaces.entry(current.clone()).insert(first.clone());
            all.all_original_namespaces.insert(first.clone());
            let names: BTreeSet<&Name> = resource.history.previous.iter().map(|previous| &previous.name).collect();
            for name in names {
                all.by_name.entry(name.clone()).push(index);
                all.by_namespace.entry((current.clone(), name.clone())).push(index);
                all.by_original_namespace.entry((first.clone(), name.clone())).push(index);
            }
        }
        all
    }
}

/// The objects that an object can refer to.
struct ReferrerScope<'a> {
    referrer: &'a Resource,
    candidates: &'a Candidates,
    list: &'a [Resource],
    /// Further namespaces in scope: the namespaces of the service accounts in a role binding.
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
                    _ => return Err(field_error(namespace, "the namespace of a service account must be a string")),
                };
            }
            namespaces.remove(&referrer.id.namespace);
        }
        Ok(Self { referrer, candidates, list, namespaces })
    }

    /// Returns whether the referrer is cluster-scoped, so that it can refer to any object.
    fn is_cluster_scoped(&self) -> bool {
        &*self.referrer.id.namespace == NO_NAMESPACE
    }

    /// The objects in scope with a former name, in order.
    fn candidates(&self, name: &Name) -> Vec<usize> {
        let candidates = self.candidates;
        if self.is_cluster_scoped() {
            return candidates.by_name.get(name).cloned().unwrap_or_default();
        }
        let own_namespaces = [Name::from(NO_NAMESPACE), self.referrer.id.namespace.clone()];
        let mut found: Vec<usize> = Vec::new();
        for namespace in &own_namespaces {
            found.extend(candidates.by_namespace.get(&(namespace.clone(), name.clone())).into_iter().flatten());
        }
        for namespace in &self.namespaces {
            let in_namespace = candidates.by_namespace.get(&(namespace.clone(), name.clone())).into_iter().flatten();
            // An explicit namespace does not match an object without `metadata.namespace`.
            found.extend(in_namespace.filter(|index| self.list.get(**index).is_some_and(has_explicit_namespace)));
        }
        found.sort_unstable();
        found
    }

    /// The objects in scope with a former name and an explicit namespace.
    ///
    /// `namespace` is an original namespace if any object in scope was in that namespace originally. If not,
    /// `namespace` is a current namespace.
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
        let in_scope = [&self.referrer.id.namespace].into_iter().chain(&self.namespaces);
        let contained_origin = |current: &Name| {
            candidates
                .original_namespaces
                .get(current)
                .is_some_and(|original_namespaces| original_namespaces.contains(namespace))
        };
        let by_origin = in_scope.into_iter().any(contained_origin);
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

/// A field that refers to objects of a kind.
struct Reference<'a> {
    scope: &'a ReferrerScope<'a>,
    target: &'a Gvk,
    field: &'a FieldSpec,
}

impl Reference<'_> {
    /// The field with the updated name; `None` if it does not change.
    fn follow(&self, node: &Node) -> Result<Option<Node>, FieldError> {
        match &node.value {
            _ if node.is_null() => Ok(None),
            Value::Scalar(..) => self.follow_text(node),
            Value::Map(_) => self.follow_map(node),
            Value::Seq(items) => each_item(node, items, |item| match &item.value {
                _ if item.is_null() => Ok(None),
                Value::Scalar(..) => self.follow_text(item),
                Value::Map(_) => self.follow_map(item),
                Value::Seq(_) => Err(field_error(item, "a list of lists cannot contain references to objects")),
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
            return Err(field_error(node, &format!("this reference has no `name`, which `{path}` requires")));
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

    /// Selects the target. Several candidates are not ambiguous if they give the same result.
    fn choose(
        &self,
        reference: &Node,
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
        let candidates: Vec<String> = found.iter().map(|one| describe(one)).collect();
        let message = format!("`{name}` is ambiguous, so kustomize fails; it matches {}", candidates.join(", "));
        Err(field_error(reference, &message))
    }

    fn is_candidate(&self, candidate: &Resource) -> bool {
        let was = |gvk: &Gvk| candidate.previous_ids().any(|id| gvk.selects(&id));
        let reachable = self.scope.is_cluster_scoped()
            || &*candidate.id.namespace == NO_NAMESPACE
            // A role binding can refer to service accounts in other namespaces.
            || &*candidate.id.kind == "ServiceAccount"
            || candidate.id.namespace == self.scope.referrer.id.namespace;
        reachable && was(self.target) && self.role().is_none_or(|role| was(&role))
    }

    /// The group and kind of the role that a role binding refers to.
    fn role(&self) -> Option<Gvk> {
        if !self.field.path.ends_with("roleRef/name") {
            return None;
        }
        let role = self.scope.referrer.node.get("roleRef")?;
        let (group, kind) = (role.get("apiGroup")?.text()?, role.get("kind")?.text()?);
        Some(Gvk::new(group, "", kind))
    }

    /// Returns whether the shorter list of affixes is the end of the longer list, for both prefixes and suffixes.
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

/// The last change of a value, which is also the origin of updated references.
fn last_change(node: &Node) -> ChangedBy {
    match &node.origin {
        Origin::Via(step) => step.by.clone(),
        Origin::At(span) => ChangedBy::Field(span.clone()),
    }
}

fn rename(node: &Node, referral: &Resource) -> Node {
    let name = referral.node.at_keys(&["metadata", "name"]);
    let by = name.map_or_else(|| ChangedBy::Field(referral.node.span().clone()), last_change);
    let mut renamed_node = with_text(node, &referral.id.name, by);
    if let Some(Value::Scalar(text, Style::Unknown)) = name.map(|name| &name.value) {
        renamed_node.value = Value::Scalar(text.clone(), Style::Unknown);
    }
    let steps = name.map(|name| steps_of(&name.origin)).unwrap_or_default();
    // References are updated at every level, so an inner level may have recorded these changes.
    let known_places: Vec<&Span> = steps_of(&node.origin).iter().map(|step| step_place(step)).collect();
    let mut origin = node.origin.clone();
    let mut is_changed = false;
    for step in steps.iter().filter(|step| !known_places.contains(&step_place(step))) {
        origin = Origin::Via(Arc::new(ValueChange::new(step.by.clone(), Some(origin), Box::default())));
        is_changed = true;
    }
    if is_changed { Node { value: renamed_node.value, origin } } else { renamed_node }
}

/// The changes of a name, oldest first.
fn steps_of(origin: &Origin) -> Vec<&ValueChange> {
    let mut steps: Vec<&ValueChange> = Vec::new();
    let mut index = Some(origin);
    while let Some(Origin::Via(step)) = index {
        steps.push(step);
        index = step.previous.as_ref();
    }
    steps.reverse();
    steps
}

/// The position of a change of a name. A change by a Flux variable has no position, so the previous origin is used.
fn step_place(step: &ValueChange) -> &Span {
    match &step.by {
        ChangedBy::Patch(span) | ChangedBy::Generator(span) | ChangedBy::Field(span) | ChangedBy::Applier(span) => span,
        ChangedBy::Variable(_) | ChangedBy::Inherited(..) => {
            step.previous.as_ref().map_or_else(|| unreachable!("a variable changes a value of a file"), Origin::span)
        }
    }
}

/// Sets the namespace of a reference to the namespace of its target.
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
