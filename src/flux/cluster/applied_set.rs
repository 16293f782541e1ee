//! What a cluster receives: who applies what, with which variables.

use super::applier::Applier;
use std::sync::Arc;

use crate::flux::build::inventory::Inventory;
use crate::flux::build::output::Facts;
use crate::flux::model::completion::Completion;
use crate::flux::model::objects::Objects;
use crate::flux::producer::makes_others;
use crate::flux::variables::substitute::unset::{Unset, Whose};
use crate::kube::Object;
use crate::kustomize::RemoteBase;
use crate::yaml::Name;

/// What one applier brings. Clusters that receive the same share it.
#[derive(Debug, Clone)]
pub struct Brought {
    /// Who applies it.
    pub by: Arc<Applier>,
    /// The objects as they reach the API server.
    pub objects: Objects,
    /// What appliers of other repositories may still do to them: only in repositories without a root, where nobody knows.
    pub completion: Completion,
    /// What is known of the objects, if anybody looked.
    pub(crate) inventory: Option<Arc<Inventory>>,
    /// What the build of its folder says of itself, if it has one.
    pub(crate) facts: Option<Arc<Facts>>,
    /// The variables that they read and nothing defines.
    pub(crate) unset: Arc<[Unset]>,
}

/// An object and who applies it.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    /// The object as it reaches the API server.
    pub object: &'a Object,
    /// Who applies it.
    pub by: &'a Arc<Applier>,
    /// What appliers of other repositories may still do to it: only in repositories without a root, where nobody knows.
    pub completion: &'a Completion,
}

impl Brought {
    /// The objects with who applies them.
    pub fn applied(&self) -> impl Iterator<Item = Applied<'_>> {
        self.objects.iter().map(|object| self.with(object))
    }

    /// The objects that may say something about the tenants of the cluster.
    pub fn telling(&self) -> impl Iterator<Item = Applied<'_>> {
        let known = self.inventory.as_ref().map(|inventory| inventory.telling());
        let all = if known.is_none() { self.objects.len() } else { 0 };
        let positions = known.unwrap_or_default().iter().copied().chain(0..all);
        positions.filter_map(|at| self.objects.get(at)).map(|object| self.with(object))
    }

    /// The names of the variables that its objects read, sorted, whether anything substitutes them or not.
    pub fn reads(&self) -> &[Name] {
        self.facts.as_ref().map_or(&[], |facts| &facts.names)
    }

    /// What the kustomizations of its build load from a URL.
    pub fn remote(&self) -> &[RemoteBase] {
        self.facts.as_ref().map_or(&[], |facts| &facts.remote)
    }

    /// The names of the variables that its objects read without default and that nothing defines.
    pub fn misses(&self) -> impl Iterator<Item = &Name> {
        let missed = self.unset.iter().filter(|unset| unset.fails && unset.whose == Whose::Flux);
        missed.flat_map(|unset| unset.uses.iter().map(|(name, _)| name))
    }

    /// The object at a position.
    pub fn at(&self, position: usize) -> Option<Applied<'_>> {
        self.objects.get(position).map(|object| self.with(object))
    }

    /// The objects by which others come to be that no manifest holds, and inputs that others ask for.
    pub fn makers(&self) -> impl Iterator<Item = Applied<'_>> {
        let known = self.inventory.iter().flat_map(|inventory| inventory.makers());
        let unknown = self.objects.iter().filter(|object| self.inventory.is_none() && makes_others(object));
        known.map(|held| &held.object).chain(unknown).map(|object| self.with(object))
    }

    /// One of the objects with who applies it.
    pub(crate) fn with<'a>(&'a self, object: &'a Object) -> Applied<'a> {
        Applied { object, by: &self.by, completion: &self.completion }
    }
}

impl<'a> Applied<'a> {
    /// The namespace it lands in, as far as that is known: an applier's `targetNamespace` overrides its own, but
    /// where the two differ, the applier may be that of another repository.
    pub fn namespace(&self) -> Option<&'a str> {
        let known = |namespace: &&str| !namespace.contains('$');
        match (self.completion.target_namespace.as_deref(), self.object.namespace()) {
            (Some(applied), Some(own)) if applied != own => None,
            (applied, own) => own.or(applied).filter(known),
        }
    }
}
