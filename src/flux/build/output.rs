//! What an applier brings into a cluster, and what of it others look up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::inventory::Inventory;
use crate::base::finding::{Finding, Severity};
use crate::flux::model::applier_kind::State;
use crate::flux::model::objects::Objects;
use crate::flux::source::reference::SourceRef;
use crate::flux::variables::shared_substitution::is_enabled;
use crate::flux::variables::substitute::reads;
use crate::flux::variables::substitute::unset::Unset;
use crate::kube::Object;
use crate::kustomize::{Build, PatchTarget, RemoteBase, omissions_by_name};
use crate::yaml::Name;

/// What an applier brings into a cluster. Appliers of equal input share it, and those of nearly equal input most of it.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The objects in the order in which they are applied. Of a build that fails, those that were built nevertheless:
    /// Flux applies none of them, but what else is wrong with them can be said.
    pub(crate) objects: Objects,
    /// What is wrong.
    pub(crate) findings: Vec<Finding>,
    /// How it went.
    pub(crate) state: State,
    /// What its kustomize build says of itself.
    pub(crate) facts: Arc<Facts>,
    /// The objects on whose behalf it was built. Others with the same content share it; the places are those of these.
    pub(crate) built_for: Vec<Object>,
    /// What others ask about the objects.
    pub(crate) inventory: Arc<Inventory>,
    /// The Deployment of kustomize-controller that a FluxInstance makes, as far as it is known.
    pub(crate) controller: Option<Object>,
    /// The variables that its objects read and nothing defines.
    pub(crate) unset: Arc<[Unset]>,
    /// How much memory variables made it take, in bytes.
    pub(crate) grown: usize,
    /// Whether nothing is wrong with what it is built from, so that all that it would bring is among its objects.
    pub(crate) whole: bool,
    /// The source that is not there, if that is why nothing is brought.
    pub(crate) without: Option<SourceRef>,
}

/// What a kustomize build says of itself.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The objects that variables are substituted in, by position, and the names of the variables in each.
    pub(crate) reads: Vec<(usize, Arc<[Name]>)>,
    /// The names of the variables in any of them, sorted.
    pub(crate) names: Vec<Name>,
    /// Whether anything does not switch substitution off.
    pub(super) is_substituted: bool,
    /// What was asked for and not done, counted.
    pub(crate) not_done: BTreeMap<String, usize>,
    /// The patches that say by a target which objects they are for, and whether there were any.
    pub(crate) patch_targets: Vec<PatchTarget>,
    /// What its kustomizations load from a URL.
    pub(crate) remote: Vec<RemoteBase>,
}

impl Output {
    /// Objects and what is wrong with them.
    pub(crate) fn new(objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        Self::with(objects, findings, Arc::default())
    }

    /// The same, with what a kustomize build says of itself.
    pub(crate) fn with(objects: Vec<Object>, findings: Vec<Finding>, facts: Arc<Facts>) -> Self {
        let inventory = Arc::new(Inventory::of(&objects));
        let objects = objects.into();
        let output = Self {
            objects,
            findings: Vec::new(),
            state: State::Built,
            facts,
            built_for: Vec::new(),
            inventory,
            controller: None,
            unset: Arc::default(),
            grown: 0,
            whole: !findings.iter().any(|found| found.severity == Severity::Error),
            without: None,
        };
        output.found(findings)
    }

    /// Whether all that it would bring is known: names that are still to be substituted are not.
    pub(crate) fn is_known(&self) -> bool {
        let named =
            |object: &Object| object.name().contains('$') || object.namespace().is_some_and(|n| n.contains('$'));
        match self.state {
            State::Built => true,
            State::NotBuilt(_) => false,
            State::Failed => self.whole && !self.objects.iter().any(named),
        }
    }

    /// The same with further findings.
    pub(crate) fn found(mut self, findings: Vec<Finding>) -> Self {
        if findings.iter().any(|found| found.severity == Severity::Error) {
            self.state = State::Failed;
        }
        self.findings.extend(findings);
        self
    }

    /// Nothing, for a reason that is no fault.
    pub(crate) fn not_built(reason: impl Into<Arc<str>>) -> Self {
        Self { state: State::NotBuilt(reason.into()), ..Self::new(Vec::new(), Vec::new()) }
    }

    /// The same with other objects at some positions, in their order.
    pub(crate) fn replaced(&self, changed: Vec<(usize, Object)>) -> Self {
        if changed.is_empty() {
            return self.clone();
        }
        let alike = self.inventory.changed(&self.objects, &changed);
        let objects = self.objects.with(changed);
        let inventory = alike.unwrap_or_else(|| Arc::new(Inventory::of(objects.iter())));
        Self { objects, inventory, ..self.clone() }
    }
}

impl Facts {
    /// What can be said of the objects of a build.
    pub(crate) fn of(objects: &[Object], build: Build) -> Self {
        let enabled = || objects.iter().enumerate().filter(|(_, object)| is_enabled(object));
        let reads = enabled().map(|(at, object)| (at, reads(object))).filter(|(_, names)| !names.is_empty());
        let reads: Vec<(usize, Arc<[Name]>)> = reads.collect();
        let names: BTreeSet<&Name> = reads.iter().flat_map(|(_, names)| names.iter()).collect();
        let names = names.into_iter().cloned().collect();
        let Build { not_done, patch_targets, remote, .. } = build;
        Self {
            is_substituted: enabled().next().is_some(),
            reads,
            names,
            not_done: omissions_by_name(&not_done),
            patch_targets,
            remote,
        }
    }
}
