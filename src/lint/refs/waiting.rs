//! The Flux objects that wait for another object before Flux applies their contents.

use std::collections::BTreeMap;

use crate::kube::{Object, ObjectId, groups};
use crate::lint::refs::dependency::{Condition, dependencies};
use crate::lint::refs::source_reference::source_of;
use crate::lint::refs::values_reference::values_of;
use crate::text::Index;

/// The objects of a cluster that wait for others, by the object that they wait for.
#[derive(Debug, Default)]
pub(crate) struct Waiting<'a> {
    /// The objects that fail without an object. Thousands of objects may use one source.
    users: BTreeMap<ObjectId<'a>, Index<ObjectId<'a>, ()>>,
    /// The objects that wait until an object is ready.
    dependents: BTreeMap<ObjectId<'a>, Vec<ObjectId<'a>>>,
}

/// The objects that come after another object.
pub(crate) struct Behind<'w> {
    /// The objects that fail without the object.
    users: Option<&'w Index<ObjectId<'w>, ()>>,
    /// The object that needs the object, and the objects that wait for the former.
    followed: Index<ObjectId<'w>, ()>,
}

impl Behind<'_> {
    pub(crate) fn contains(&self, id: ObjectId<'_>) -> bool {
        self.users.is_some_and(|users| users.contains(&id)) || self.followed.contains(&id)
    }
}

impl<'a> Waiting<'a> {
    pub(crate) fn of(objects: impl Iterator<Item = &'a Object>) -> Self {
        let mut all = Self::default();
        for object in objects {
            let id = ObjectId::of(object).settled();
            for input in inputs_of(object) {
                all.users.entry(input).or_default().insert(id, ());
            }
            for dependency in dependencies(object).filter(|dependency| dependency.condition == Condition::Ready) {
                all.dependents.entry(dependency.target.settled()).or_default().push(id);
            }
        }
        all
    }

    /// The objects that fail without `wanted`, the object `needed_by`, and the objects that wait until the latter is
    /// ready, directly or not.
    pub(crate) fn behind<'w>(&'w self, wanted: ObjectId<'w>, needed_by: Option<ObjectId<'w>>) -> Behind<'w> {
        let mut followed: Index<ObjectId<'w>, ()> = Index::default();
        let mut open: Vec<ObjectId<'w>> = needed_by.map(ObjectId::settled).into_iter().collect();
        while let Some(id) = open.pop() {
            if followed.insert(id, ()).is_none() {
                open.extend(self.dependents.get(&id).into_iter().flatten());
            }
        }
        Behind { users: self.users.get(&wanted), followed }
    }
}

/// The objects that Flux needs before it applies the contents of an object.
pub(crate) fn inputs_of(object: &Object) -> impl Iterator<Item = ObjectId<'_>> {
    let is_impersonated = matches!(object.group(), groups::KUSTOMIZE | groups::HELM | groups::FLUX_OPERATOR);
    let name = object.text_at(&["spec", "serviceAccountName"]).filter(|_| is_impersonated);
    let account = name.zip(object.namespace());
    let account = account.map(|(name, namespace)| ObjectId { group: "", kind: "ServiceAccount", namespace, name });
    let source = source_of(object).map(|source| source.target);
    let values = values_of(object).filter(|values| !values.optional).map(|values| values.target);
    let dependencies = dependencies(object).map(|dependency| dependency.target);
    account.into_iter().chain(source).chain(dependencies).chain(values)
}
