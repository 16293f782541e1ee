//! What a cluster receives: who applies what, with which variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::completion::Completion;
use super::objects::Objects;
use crate::base::finding::ObjectRef;
use crate::flux::build::inventory::Inventory;
use crate::flux::build::output::Facts;
use crate::flux::engine::lookups::Lookups;
use crate::flux::producer::makes_others;
use crate::flux::variables::substitute::{Unset, Whose};
use crate::kube::Object;
use crate::kustomize::RemoteBase;
use crate::text::Span;
use crate::yaml::Name;

/// A cluster, as the repository describes it.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its name; empty for a repository without any root, which is judged as if one cluster received its folders.
    pub name: Name,
    /// Who applies objects to it or from it, the root first, each after the one that brings it.
    pub appliers: Vec<Arc<Applier>>,
    /// What it receives, and what it sends to others by `kubeConfig`, in the order of the appliers.
    pub brought: Vec<Brought>,
    /// What it has, by name.
    pub(crate) lookups: Lookups,
}

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

impl Cluster {
    /// The objects, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'_>> {
        self.brought.iter().flat_map(Brought::applied)
    }
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

/// Something that brings objects into a cluster.
#[derive(Debug, Clone)]
pub struct Applier {
    /// What it is.
    pub kind: ApplierKind,
    /// The object that it is, or would be: a root's sync may be made by the flux CLI or the operator.
    pub reference: ObjectRef,
    /// The object as the cluster receives it, when it is in the repository.
    pub object: Option<Object>,
    /// The place of this applier among [`Cluster::appliers`], and of the one that brings it; `None` for the root.
    pub at: usize,
    /// See `at`.
    pub parent: Option<usize>,
    /// See `parent`.
    pub brought_by: Option<Arc<Applier>>,
    /// Objects of other clusters that say the same, and whose places its objects show; see [`Applier::place`].
    pub shares_with: Vec<Object>,
    /// The source that it builds from, as the cluster knows it.
    pub source: Option<ObjectRef>,
    /// The folder that it applies, from the root of its source's artifact.
    pub folder: String,
    /// The cluster that it applies to when that is another one: the name of the `kubeConfig`'s Secret or ConfigMap.
    pub target: Option<Name>,
    /// What it substitutes.
    pub variables: Arc<Variables>,
    /// Whether all that it would bring is known: that of a build that fails may be too, as where the path is not there.
    pub is_known: bool,
    /// How its build went.
    pub state: State,
}

impl Applier {
    /// A folder of a repository without a root.
    pub(crate) fn folder(folder: &str, at: usize) -> Self {
        let name = if folder.is_empty() { "." } else { folder };
        Self {
            kind: ApplierKind::Folder,
            reference: ObjectRef { api_version: "".into(), kind: "Folder".into(), namespace: None, name: name.into() },
            object: None,
            at,
            parent: None,
            brought_by: None,
            shares_with: Vec::new(),
            source: None,
            folder: folder.to_string(),
            target: None,
            variables: Arc::default(),
            is_known: true,
            state: State::Built,
        }
    }
}

/// What an applier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApplierKind {
    /// What somebody installed: `kubectl apply` of a FluxInstance, `flux bootstrap`.
    Bootstrap,
    /// A Kustomization.
    Kustomization,
    /// A FluxInstance, which makes the objects of its sync.
    FluxInstance,
    /// A ResourceSet.
    ResourceSet,
    /// A folder of a repository without a root.
    Folder,
}

/// How an applier's build went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It built.
    Built,
    /// It does not build; the findings say why.
    Failed,
    /// It was not built, for a reason that is no fault: a source without a copy, a live input provider.
    NotBuilt(Arc<str>),
}

/// The variables of one applier, merged as Flux merges them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables {
    /// By name.
    pub values: BTreeMap<Name, Variable>,
    /// Whether something that may define any name is not known: then no name is undefined.
    pub open: bool,
    /// What `substituteFrom` names, in its order.
    pub sources: Vec<VariableSource>,
}

/// An object that variables are taken from.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableSource {
    /// `ConfigMap` or `Secret`.
    pub kind: Name,
    /// Its name.
    pub name: Name,
    /// Where it is written; `None` when the cluster does not receive it, as far as that is known.
    pub place: Option<Span>,
}

/// A variable's value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The value as Flux substitutes it; `None` when nobody can know it, as a Secret's.
    pub value: Option<Arc<str>>,
    /// Where it is written: in `postBuild.substitute`, or in the ConfigMap.
    pub place: Span,
    /// The object that it comes from, when that is not the Kustomization itself.
    pub from: Option<ObjectRef>,
}
