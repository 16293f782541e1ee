//! The objects of a cluster, each with its applier.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::applier::Applier;
use crate::flux::build::inventory::Inventory;
use crate::flux::build::output::BuildFacts;
use crate::flux::model::applier_kind::State;
use crate::flux::model::completion::Completion;
use crate::flux::model::objects::Objects;
use crate::flux::producer::is_producer;
use crate::flux::variables::substitute::undefined::{UndefinedVariable, VariableOwner};
use crate::kube::Object;
use crate::kustomize::{Omission, RemoteBase, UnreadBase};
use crate::yaml::Name;

/// The objects of one applier. Clusters that receive the same objects share them.
#[derive(Debug, Clone)]
pub struct AppliedSet {
    /// The applier.
    pub by: Arc<Applier>,
    /// The objects as the API server receives them.
    pub objects: Objects,
    /// Changes that appliers of other repositories may make to the objects. Only a repository without a root has such
    /// changes, since its appliers are unknown.
    pub completion: Arc<Completion>,
    /// The inventory of the objects; `None` in a repository without a root.
    pub(crate) inventory: Option<Arc<Inventory>>,
    /// The facts of the kustomize build; `None` in a repository without a root.
    pub(crate) facts: Option<Arc<BuildFacts>>,
    /// The undefined variables that the objects read.
    pub(crate) undefined: Arc<[UndefinedVariable]>,
    /// The positions of the objects that may lack changes: a patch, component or transformer failed, in the build of the
    /// applier or of an applier above it. Flux applies none of these objects.
    pub(crate) lacks_changes: Arc<BTreeSet<usize>>,
}

/// An object with its applier.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    /// The object as the API server receives it.
    pub object: &'a Object,
    /// The applier.
    pub by: &'a Arc<Applier>,
    /// Changes that appliers of other repositories may make to the object. Only a repository without a root has such
    /// changes, since its appliers are unknown.
    pub completion: &'a Completion,
}

impl AppliedSet {
    /// The objects with their applier.
    pub fn applied(&self) -> impl Iterator<Item = Applied<'_>> {
        self.objects.iter().map(|object| self.with(object))
    }

    /// The objects that determine the tenants of the cluster.
    pub fn tenancy_objects(&self) -> impl Iterator<Item = Applied<'_>> {
        let known = self.inventory.as_ref().map(|inventory| inventory.tenancy_objects());
        let all = if known.is_none() { self.objects.len() } else { 0 };
        let positions = known.unwrap_or_default().iter().copied().chain(0..all);
        positions.filter_map(|at| self.objects.get(at)).map(|object| self.with(object))
    }

    /// The sorted names of the variables that the objects read, even if the applier substitutes no variables.
    pub fn reads(&self) -> &[Name] {
        self.facts.as_ref().map_or(&[], |facts| &facts.names)
    }

    /// The bases that kustomizations of the build load from URLs.
    pub fn remote(&self) -> &[RemoteBase] {
        self.facts.as_ref().map_or(&[], |facts| &facts.remote)
    }

    /// The objects of the build whose kind, name or namespace SOPS encrypted. They are not in `objects`.
    pub fn unidentified(&self) -> &[Object] {
        self.facts.as_ref().map_or(&[], |facts| &facts.unidentified)
    }

    /// The bases at URLs without a copy, whose objects are missing.
    pub fn unread(&self) -> impl Iterator<Item = &UnreadBase> {
        self.facts.iter().flat_map(|facts| &facts.unread)
    }

    /// The names of the undefined variables that the objects read without a default.
    pub fn misses(&self) -> impl Iterator<Item = &Name> {
        let missed =
            self.undefined.iter().filter(|undefined| undefined.fails && undefined.owner == VariableOwner::Flux);
        missed.flat_map(|undefined| undefined.uses.iter().map(|(name, _)| name))
    }

    /// Returns whether the set has all objects of its applier: the build succeeded and omitted nothing.
    pub(crate) fn is_complete(&self) -> bool {
        let omits = |facts: &Arc<BuildFacts>| {
            !facts.not_done.is_empty() || !facts.unread.is_empty() || !facts.unidentified.is_empty()
        };
        self.by.state == State::Built && self.by.is_known && !self.facts.as_ref().is_some_and(omits)
    }

    /// Returns whether everything that the set may lack is the contents of an applier without a build, or of bases at URLs.
    pub(crate) fn lacks_only_appliers_and_bases(&self) -> bool {
        let of_bases = Omission::RemoteResource.to_string();
        let omits = |facts: &Arc<BuildFacts>| {
            !facts.unidentified.is_empty() || facts.not_done.keys().any(|omission| *omission != of_bases)
        };
        !self.facts.as_ref().is_some_and(omits)
    }

    /// The objects that may lack changes.
    pub(crate) fn without_changes(&self) -> impl Iterator<Item = Applied<'_>> {
        self.lacks_changes.iter().filter_map(|at| self.at(*at))
    }

    /// The object at a position.
    pub fn at(&self, position: usize) -> Option<Applied<'_>> {
        self.objects.get(position).map(|object| self.with(object))
    }

    /// The ArtifactGenerators, the input providers, and the objects from which controllers create objects without a
    /// manifest.
    pub fn makers(&self) -> impl Iterator<Item = Applied<'_>> {
        let known = self.inventory.iter().flat_map(|inventory| inventory.makers());
        let unknown = self.objects.iter().filter(|object| self.inventory.is_none() && is_producer(object));
        known.map(|indexed| &indexed.object).chain(unknown).map(|object| self.with(object))
    }

    /// An object of the set with its applier.
    pub(crate) fn with<'a>(&'a self, object: &'a Object) -> Applied<'a> {
        Applied { object, by: &self.by, completion: &self.completion }
    }
}

impl<'a> Applied<'a> {
    /// The namespace to which the applier applies the object, if it is known. It is unknown if the `targetNamespace` of
    /// an applier differs from the namespace of the object, since that applier may be of another repository.
    pub fn namespace(&self) -> Option<&'a str> {
        let known = |namespace: &&str| !namespace.contains('$');
        match (self.completion.target_namespace.as_deref(), self.object.namespace()) {
            (Some(applied), Some(own)) if applied != own => None,
            (applied, own) => own.or(applied).filter(known),
        }
    }
}
