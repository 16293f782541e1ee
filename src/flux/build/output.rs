//! The output of an applier's build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::inventory::{ChangedObjects, Inventory};
use super::shared_specs::SharedSpecs;
use crate::base::finding::{Finding, Severity};
use crate::flux::model::applier_kind::State;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::model::objects::Objects;
use crate::flux::source::reference::SourceRef;
use crate::flux::variables::shared_substitution::is_enabled;
use crate::flux::variables::substitute::reads;
use crate::flux::variables::substitute::undefined::UndefinedVariable;
use crate::kube::Object;
use crate::kustomize::{Build, PatchTarget, RemoteBase, UnreadBase, omissions_by_name};
use crate::yaml::Name;

/// The output of an applier's build. Appliers with equal inputs share an output, and appliers with similar inputs share
/// most parts of it.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// The objects in the order in which Flux applies them. A failed build contains the objects that could be built:
    /// Flux applies none of them, but rules check them.
    pub(crate) objects: Objects,
    /// The findings of the build.
    pub(crate) findings: Vec<Finding>,
    /// The state of the build.
    pub(crate) state: State,
    /// The facts of the kustomize build.
    pub(crate) facts: Arc<BuildFacts>,
    /// The objects of the appliers for which the output was built. Other appliers with equal content share the output,
    /// with the positions of these objects.
    pub(crate) built_for: Arc<[Object]>,
    /// The inventory of the objects.
    pub(crate) inventory: Arc<Inventory>,
    /// The Deployment of kustomize-controller that a FluxInstance generates, as far as its fields are known.
    pub(crate) controller: Option<Box<Object>>,
    /// The undefined variables that the objects read.
    pub(crate) undefined: Arc<[UndefinedVariable]>,
    /// The memory that substitution added to the objects, in bytes.
    pub(crate) grown: usize,
    /// Whether the inputs have no error, so that the objects are complete.
    pub(crate) whole: bool,
    /// The missing source, if it prevents the build.
    pub(crate) without: Option<Box<SourceRef>>,
}

/// The facts of a kustomize build.
#[derive(Debug, Default)]
pub(crate) struct BuildFacts {
    /// The objects that read variables, by position, with the names of these variables.
    pub(crate) reads: Vec<(usize, Arc<[Name]>)>,
    /// The names of the variables that objects read, sorted.
    pub(crate) names: Vec<Name>,
    /// Whether Flux substitutes variables in at least one object.
    pub(super) is_substituted: bool,
    /// The number of omissions, by name.
    pub(crate) not_done: BTreeMap<String, usize>,
    /// The patches with a target, and whether each target matched an object.
    pub(crate) patch_targets: Vec<PatchTarget>,
    /// The bases that kustomizations of the build load from URLs.
    pub(crate) remote: Vec<RemoteBase>,
    /// The objects whose kind, name or namespace SOPS encrypted. They are not among the objects of the output.
    pub(crate) unidentified: Vec<Object>,
    /// The bases without a copy, whose objects are missing.
    pub(crate) unread: BTreeSet<UnreadBase>,
    /// The positions of the objects that may lack the changes of a patch, component or transformer that failed.
    pub(crate) lacks_changes: BTreeSet<usize>,
}

impl Output {
    /// An output with these objects and findings.
    pub(crate) fn new(objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        Self::with(objects, findings, Arc::default(), &SharedSpecs::default())
    }

    /// An output with these objects and findings, and the facts of a kustomize build.
    pub(crate) fn with(
        objects: Vec<Object>,
        findings: Vec<Finding>,
        facts: Arc<BuildFacts>,
        specs: &SharedSpecs,
    ) -> Self {
        let inventory = Arc::new(Inventory::with_specs(&objects, specs));
        let objects = objects.into();
        let output = Self {
            objects,
            findings: Vec::new(),
            state: State::Built,
            facts,
            built_for: Arc::default(),
            inventory,
            controller: None,
            undefined: Arc::default(),
            grown: 0,
            whole: !findings.iter().any(|found| found.severity == Severity::Error),
            without: None,
        };
        output.found(findings)
    }

    /// Returns whether all objects that the applier would apply are known. In a failed build, a name with an
    /// unsubstituted variable is unknown.
    pub(crate) fn is_known(&self) -> bool {
        let named =
            |object: &Object| object.name().contains('$') || object.namespace().is_some_and(|n| n.contains('$'));
        match self.state {
            State::Built => true,
            State::NotBuilt(_) => false,
            State::Failed => self.whole && !self.objects.iter().any(named),
        }
    }

    /// The output with further findings. An error among them changes the state to `Failed`.
    pub(crate) fn found(mut self, findings: Vec<Finding>) -> Self {
        if findings.iter().any(|found| found.severity == Severity::Error) {
            self.state = State::Failed;
        }
        self.findings.extend(findings);
        self
    }

    /// An empty output, for a reason that is not a fault.
    pub(crate) fn not_built(reason: NotBuiltReason) -> Self {
        Self { state: State::NotBuilt(reason), ..Self::new(Vec::new(), Vec::new()) }
    }

    /// The output with other objects at some positions. `changed` is sorted by position.
    pub(crate) fn replaced(&self, changed: Vec<(usize, Object)>, cache: &ChangedObjects) -> Self {
        if changed.is_empty() {
            return self.clone();
        }
        let alike = self.inventory.changed(&self.objects, &changed, cache);
        let objects = self.objects.with(changed);
        let inventory = alike.unwrap_or_else(|| Arc::new(Inventory::new(objects.iter())));
        Self { objects, inventory, ..self.clone() }
    }
}

impl BuildFacts {
    /// Collects the facts of a build.
    pub(crate) fn new(objects: &[Object], build: Build) -> Self {
        let enabled = || objects.iter().enumerate().filter(|(_, object)| is_enabled(object));
        let reads = enabled().map(|(at, object)| (at, reads(object))).filter(|(_, names)| !names.is_empty());
        let reads: Vec<(usize, Arc<[Name]>)> = reads.collect();
        let names: BTreeSet<&Name> = reads.iter().flat_map(|(_, names)| names.iter()).collect();
        let names = names.into_iter().cloned().collect();
        let Build { not_done, patch_targets, remote, unread, lacks_changes, .. } = build;
        Self {
            is_substituted: enabled().next().is_some(),
            reads,
            names,
            not_done: omissions_by_name(&not_done),
            patch_targets,
            remote,
            unidentified: Vec::new(),
            unread,
            lacks_changes,
        }
    }
}
