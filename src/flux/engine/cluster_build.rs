//! The build of one cluster: its appliers, and the jobs that they need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::build_key::{BuildKey, FindingKey, FolderKey};
use crate::flux::build::context::BuildContext;
use crate::flux::build::digest::Digest;
use crate::flux::build::job::{Job, SubstitutionInput};
use crate::flux::build::output::Output;
use crate::flux::cluster::cluster_index::ClusterIndex;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::install::roots::root::Root;
use crate::flux::install::version::Strictness;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::model::variables::Variables;
use crate::flux::settings::Settings;
use crate::flux::source::artifact::Resolution;
use crate::flux::source::reference::SourceRef;
use crate::flux::source::resolve_artifact::DANGLING_SOURCE;
use crate::flux::variables::load::{LoadedVariables, always, load};
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::kustomize::FAILED_BUILD;
use crate::text::{Index, Span};

/// The maximum number of times that an applier may create itself under other names. Such a cycle does not end.
const MAX_REPEATS: usize = 10;

/// The maximum number of unstable appliers that are reported for a cluster.
const MAX_NAMED: usize = 3;

/// The maximum number of passes over a cluster from its root. The objects of a pass may change the inputs of the builds
/// of that pass.
const MAX_PASSES: usize = 8;

/// An applier of a cluster during the build.
pub(crate) struct Slot {
    pub(crate) spec: Arc<ApplierSpec>,
    pub(crate) parent: Option<usize>,
    pub(crate) variables: Arc<Variables>,
    /// The memo key of the output, once it is known. After the build, only outputs that are not shared have their keys.
    key: Option<Arc<BuildKey>>,
    /// The output; `None` until it is built.
    pub(crate) output: Option<Arc<Output>>,
    /// Whether the index of the cluster contains the output.
    is_collected: bool,
    /// The number of steps since an object arrived for which the applier waits.
    tries: u8,
    /// Whether `waiting` has the applier.
    is_waiting: bool,
}

/// The build of one cluster, until its fixed point.
pub(crate) struct ClusterBuild {
    pub(crate) root: Root,
    pub(crate) slots: Vec<Slot>,
    pub(crate) strictness: Strictness,
    /// The number of new objects that may change `strictness`.
    new_inputs: usize,
    bootstrap_output: Arc<Output>,
    /// The objects of the current pass.
    pub(crate) index: ClusterIndex,
    /// The objects of the previous pass, if there was one. Lookups then use these objects instead of `index`.
    previous_index: Option<ClusterIndex>,
    seen: Index<Arc<ObjectKey>, ()>,
    /// The number of times that the build has started again from the root.
    passes: usize,
    /// Whether a reference to a missing object waits for appliers that are not built yet.
    waits_for_missing: bool,
    /// The appliers that wait for an object. Without this index, a chain of appliers takes quadratic time.
    waiting: Index<ObjectKey, Vec<usize>>,
    /// Whether controllers create objects from other objects, so that any object may complete another one.
    has_makers: bool,
    complete: bool,
    /// The appliers whose inputs changed after they were built.
    unstable: Vec<usize>,
    /// The first applier that is not built because of a limit, with the message of its finding.
    first_refusal: Option<(Arc<ApplierSpec>, String)>,
    /// The number of appliers that are written at each position.
    written_at: Index<(String, u32), usize>,
}

/// The result of one step of an applier.
enum Progress {
    Done(Arc<BuildKey>, Arc<Output>),
    NeedsJob(Arc<BuildKey>, Job),
    Blocked,
}

/// Resolved sources and variables, which appliers of a cluster share during a pass.
#[derive(Default)]
struct PassCache {
    sources: BTreeMap<SourceRef, Resolution>,
    variables: BTreeMap<Digest, LoadedVariables>,
}

impl ClusterBuild {
    pub(crate) fn new(root: Root, context: &BuildContext<'_>) -> Self {
        let bootstrap_output = Arc::new(Output::new(root.objects.clone(), root.findings.clone()));
        let mut build = Self {
            index: ClusterIndex::new(&root, context.settings),
            root,
            slots: Vec::new(),
            strictness: Strictness::default(),
            new_inputs: 1,
            bootstrap_output,
            previous_index: None,
            seen: Index::default(),
            passes: 0,
            waits_for_missing: true,
            waiting: Index::default(),
            has_makers: false,
            complete: false,
            unstable: Vec::new(),
            first_refusal: None,
            written_at: Index::default(),
        };
        build.slots.push(build.bootstrap_slot());
        build
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Ends the build, and drops what only the build reads.
    pub(super) fn finish(&mut self) {
        let unstable = self.report_unfinished();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let is_shared = |key: &Arc<BuildKey>| !matches!(**key, BuildKey::Failed(_)) && !unstable.contains(&at);
            slot.key = slot.key.take().filter(|key| !is_shared(key));
        }
        (self.seen, self.written_at, self.waiting, self.previous_index) = Default::default();
        self.slots.shrink_to_fit();
        self.index.finish();
    }

    /// Reports the first applier that a limit excludes, and the appliers without a fixed point, which it returns.
    fn report_unfinished(&mut self) -> BTreeSet<usize> {
        if let Some((spec, why)) = self.first_refusal.take() {
            let help = "break the cycle, or apply fewer objects: Flux would create more and more appliers";
            let finding = Finding::error(FAILED_BUILD, spec.object.span().clone(), why);
            self.root.findings.push(finding.help(help).about(spec.reference.clone()));
        }
        if !self.complete {
            self.unstable = (0..self.slots.len()).filter(|at| self.slots[*at].output.is_none()).collect();
        }
        let unstable = std::mem::take(&mut self.unstable);
        for (count, at) in unstable.iter().enumerate() {
            let slot = &mut self.slots[*at];
            let mut output = match slot.output.take() {
                Some(output) => (*output).clone(),
                None => Output::not_built(NotBuiltReason::Unstable),
            };
            if count < MAX_NAMED {
                let reference = &slot.spec.reference;
                let message = format!(
                    "{reference} has no fixed point: the objects that it applies change the inputs of its build"
                );
                let help = "break the cycle: Flux would apply different objects at each reconciliation";
                let finding = Finding::error(FAILED_BUILD, slot.spec.object.span().clone(), message);
                self.root.findings.push(finding.help(help).about(reference.clone()));
                output.state = State::Failed;
            }
            slot.output = Some(Arc::new(output));
        }
        unstable.into_iter().collect()
    }

    /// Advances the build with the outputs of finished jobs, and returns the jobs that the build needs next.
    pub(super) fn advance(&mut self, context: &BuildContext<'_>) -> Vec<(Arc<BuildKey>, Job)> {
        loop {
            if std::mem::take(&mut self.new_inputs) > 0 {
                self.strictness = self.current_strictness(context.settings);
            }
            let mut cache = PassCache::default();
            let (mut needs, mut blocked, mut progress) = (Vec::new(), false, false);
            let mut at = 0;
            while at < self.slots.len() {
                if self.is_asleep(at) {
                    blocked = true;
                } else if self.slots[at].output.is_none() {
                    match self.step(at, &mut cache, context) {
                        Progress::Done(key, output) => {
                            let slot = &mut self.slots[at];
                            (slot.key, slot.output) = (Some(key), Some(output));
                            progress = true;
                        }
                        Progress::NeedsJob(key, job) => needs.push((key, job)),
                        Progress::Blocked => blocked = true,
                    }
                }
                self.collect_output(at, context);
                at += 1;
            }
            match (needs.is_empty(), blocked) {
                (false, _) => return needs,
                // A later applier may have provided the missing object.
                (true, true) if progress || self.wake_all() => {}
                // No applier makes progress: missing objects stay missing.
                (true, true) => self.waits_for_missing = false,
                (true, false) if self.is_fixed_point(context) || self.passes >= MAX_PASSES => {
                    self.complete = true;
                    return needs;
                }
                (true, false) => self.restart(context),
            }
        }
    }

    /// Adds the output of an applier to the index, and the appliers in that output to the slots.
    fn collect_output(&mut self, at: usize, context: &BuildContext<'_>) {
        let slot = &mut self.slots[at];
        let Some(output) = slot.output.as_ref().filter(|_| !slot.is_collected).cloned() else { return };
        slot.is_collected = true;
        let kind = slot.spec.kind;
        self.new_inputs += output.controller.iter().count() + output.inventory.controllers().count();
        self.index.unknown.take(&slot.spec, &output);
        // Flux on this cluster does not reconcile objects that it applies to another cluster.
        if slot.spec.target.is_some() {
            return;
        }
        self.index.take(&output, kind);
        self.wake(&output);
        let most = context.settings.bounds.appliers;
        for indexed in output.inventory.appliers() {
            let Some(spec) = &indexed.spec else { continue };
            let key = self.key_of(spec, Some(at));
            let spec = self.lookup_index().spec(&key).unwrap_or(spec).clone();
            if self.seen.insert(key, ()).is_some() {
                continue;
            }
            let (path, start, _) = written(&spec).order();
            let times = self.written_at.entry((path.to_string(), start));
            *times += 1;
            let repeats = *times > MAX_REPEATS && self.count_repeats(&spec, at) >= MAX_REPEATS;
            if repeats || self.slots.len() >= most {
                self.first_refusal.get_or_insert_with(|| (spec.clone(), refusal(&spec, repeats, most)));
                continue;
            }
            self.new_inputs += usize::from(spec.kind == ApplierKind::FluxInstance);
            self.slots.push(Slot::new(spec, Some(at)));
        }
    }

    /// Returns whether an applier waits for objects, and none of them has arrived since its last steps.
    ///
    /// An applier needs two steps, since appliers share the variables that another applier loads in the same round.
    fn is_asleep(&self, at: usize) -> bool {
        let slot = &self.slots[at];
        slot.output.is_none() && slot.tries >= 2 && self.waits_for_missing && !self.has_makers
    }

    /// Wakes the appliers that wait for an object of an output.
    fn wake(&mut self, output: &Output) {
        self.has_makers |= output.inventory.makers().next().is_some();
        if self.waiting.is_empty() {
            return;
        }
        for at in output.inventory.keys().filter_map(|key| self.waiting.get(key)).flatten() {
            if let Some(slot) = self.slots.get_mut(*at) {
                slot.tries = 0;
            }
        }
    }

    /// Wakes all appliers, and returns whether one of them was asleep.
    fn wake_all(&mut self) -> bool {
        let was_asleep = (0..self.slots.len()).any(|at| self.is_asleep(at));
        if was_asleep {
            self.slots.iter_mut().for_each(|slot| slot.tries = 0);
        }
        was_asleep
    }

    /// Returns whether every applier still has the input with which it was built. Records the other appliers in
    /// `unstable`.
    fn is_fixed_point(&mut self, context: &BuildContext<'_>) -> bool {
        self.previous_index = None;
        let strictness = self.current_strictness(context.settings);
        let mut cache = PassCache::default();
        self.unstable = (1..self.slots.len()).filter(|at| !self.is_unchanged(*at, &mut cache, context)).collect();
        self.unstable.is_empty() && strictness.is_strict() == self.strictness.is_strict()
    }

    fn is_unchanged(&mut self, at: usize, cache: &mut PassCache, context: &BuildContext<'_>) -> bool {
        let Slot { spec, parent, .. } = &self.slots[at];
        let now = self.index.spec(&self.key_of(spec, *parent));
        let same = now.is_none_or(|now| Arc::ptr_eq(now, spec) || is_shared(&now.object, &spec.object));
        same && match self.step(at, cache, context) {
            Progress::Done(key, _) => Some(&key) == self.slots[at].key.as_ref(),
            Progress::NeedsJob(..) | Progress::Blocked => false,
        }
    }

    /// The effect of undefined variables on builds, according to the current outputs.
    fn current_strictness(&self, settings: &Settings) -> Strictness {
        let outputs =
            self.slots.iter().filter(|slot| slot.spec.target.is_none()).filter_map(|slot| slot.output.as_ref());
        let made = outputs.clone().filter_map(|output| output.controller.as_deref());
        let inventories = outputs.map(|output| &output.inventory);
        let indexed = inventories.flat_map(|inventory| inventory.controllers().map(|indexed| &indexed.object));
        let controllers: Vec<&Object> = self.root.controller.iter().chain(indexed).chain(made).collect();
        let instances = self.slots.iter().filter(|slot| slot.spec.kind == ApplierKind::FluxInstance);
        let instances: Vec<&Object> = instances.map(|slot| &slot.spec.object).collect();
        Strictness::detect(&self.root.name, &controllers, &instances, settings)
    }

    /// Starts a new pass from the root. Its lookups use the objects of the pass that has ended.
    fn restart(&mut self, context: &BuildContext<'_>) {
        self.passes += 1;
        let index = ClusterIndex::new(&self.root, context.settings);
        self.previous_index = Some(std::mem::replace(&mut self.index, index));
        self.seen = Index::default();
        self.written_at = Index::default();
        self.first_refusal = None;
        self.waiting = Index::default();
        self.slots = vec![self.bootstrap_slot()];
        self.new_inputs = 1;
    }

    /// The index in which appliers look up references.
    fn lookup_index(&self) -> &ClusterIndex {
        self.previous_index.as_ref().unwrap_or(&self.index)
    }

    /// Counts the ancestors of an applier that are written at the same position.
    fn count_repeats(&self, spec: &ApplierSpec, parent: usize) -> usize {
        let above = std::iter::successors(Some(parent), |at| self.slots[*at].parent);
        above.filter(|at| written(&self.slots[*at].spec) == written(spec)).count()
    }

    /// The key of an applier in the output of its parent.
    ///
    /// A user applies the objects of the bootstrap without a namespace to the namespace of Flux.
    fn key_of(&self, spec: &ApplierSpec, parent: Option<usize>) -> Arc<ObjectKey> {
        let parent = parent.filter(|_| spec.object.namespace().is_none()).and_then(|at| self.slots.get(at));
        let bootstrap = parent.filter(|slot| slot.spec.kind == ApplierKind::Bootstrap);
        match bootstrap.and_then(|slot| slot.spec.object.namespace()) {
            Some(namespace) => Arc::new(ObjectId { namespace, ..ObjectId::of(&spec.object) }.into()),
            None => spec.key.clone(),
        }
    }

    fn bootstrap_slot(&self) -> Slot {
        let last = self.root.objects.last().unwrap_or_else(|| unreachable!("a root has objects"));
        let spec = ApplierSpec::read(ApplierKind::Bootstrap, last, Arc::new(ObjectKey::of(last)));
        Slot { output: Some(self.bootstrap_output.clone()), ..Slot::new(Arc::new(spec), None) }
    }

    fn step(&mut self, at: usize, cache: &mut PassCache, context: &BuildContext<'_>) -> Progress {
        let spec = self.slots[at].spec.clone();
        let job = match spec.kind {
            ApplierKind::ResourceSet => {
                let providers = self.lookup_index().providers(spec.object.namespace().unwrap_or_default()).to_vec();
                Job::Set(spec, providers)
            }
            ApplierKind::FluxInstance => Job::Sync(spec),
            ApplierKind::Kustomization => match self.resolve(&spec, cache, context) {
                Resolution::Artifact(_) if !spec.is_folder_known() => {
                    return without_artifact(&spec, Resolution::Unknown("its path is unknown".into()), context);
                }
                Resolution::Artifact(artifact) => {
                    // The memo has an output for a key without a position only if the path exists. So most lookups do
                    // not search the tree.
                    let folder_key = FolderKey::new(&artifact, spec.digest(), None);
                    if let Some((key, built)) = context.memo.get_with_key(&BuildKey::Folder(folder_key.clone())) {
                        return self.substitute(at, (key, folder_key), built, cache, context);
                    }
                    Job::Folder(spec, artifact)
                }
                Resolution::Missing if self.waits_for_missing => return Progress::Blocked,
                resolution => return without_artifact(&spec, resolution, context),
            },
            ApplierKind::Bootstrap | ApplierKind::Folder => unreachable!("no object is of this kind of applier"),
        };
        let key = job.key(None);
        match context.memo.get_with_key(&key) {
            // For a Kustomization, this is the output of a missing path.
            Some((key, output)) => Progress::Done(key.clone(), output.clone()),
            None => Progress::NeedsJob(Arc::new(key), job),
        }
    }

    fn resolve(&self, spec: &ApplierSpec, cache: &mut PassCache, context: &BuildContext<'_>) -> Resolution {
        let Some(source) = &spec.source else { return Resolution::Unknown("it references no source".into()) };
        if let Some(known) = cache.sources.get(source) {
            return known.clone();
        }
        let resolution = context.sources.resolve(source, self.lookup_index());
        cache.sources.insert(source.clone(), resolution.clone());
        resolution
    }

    fn load(&self, variables: Digest, spec: &ApplierSpec, cache: &mut PassCache) -> LoadedVariables {
        // Findings of variables point at the Kustomization that uses the variables, so variables with findings are not
        // shared.
        if let Some(known) = cache.variables.get(&variables).filter(|known| known.findings.is_empty()) {
            return known.clone();
        }
        let loaded = load(&spec.object, self.lookup_index());
        cache.variables.insert(variables, loaded.clone());
        loaded
    }

    /// Continues the build of a directory with variables and `commonMetadata`.
    fn substitute(
        &mut self,
        at: usize,
        (built_key, folder): (&Arc<BuildKey>, FolderKey),
        built: &Arc<Output>,
        cache: &mut PassCache,
        context: &BuildContext<'_>,
    ) -> Progress {
        let spec = self.slots[at].spec.clone();
        if spec.variables().is_none() && spec.metadata().is_none() {
            return Progress::Done(built_key.clone(), built.clone());
        }
        let mut values = None;
        if let Some(variables) = spec.variables() {
            let loaded = self.load(variables, &spec, cache);
            self.slots[at].variables = loaded.variables.clone();
            if !loaded.missing.is_empty() && self.waits_for_missing {
                let slot = &mut self.slots[at];
                slot.tries += 1;
                if !std::mem::replace(&mut slot.is_waiting, true) {
                    for key in loaded.missing {
                        self.waiting.entry(key).push(at);
                    }
                }
                return Progress::Blocked;
            }
            let none = loaded.variables.values.is_empty() && !loaded.variables.open;
            if !none || always(&spec.object) || !loaded.findings.is_empty() {
                values = Some(SubstitutionInput {
                    loaded,
                    strict: self.strictness.is_strict(),
                    limit: context.settings.bounds.grown_by_one,
                });
            }
        }
        let job = Job::Finish(spec, built.clone(), values);
        let key = job.key(Some(&folder));
        match context.memo.get_with_key(&key) {
            // Clusters share the key of the memo.
            Some((key, output)) => Progress::Done(key.clone(), output.clone()),
            None => Progress::NeedsJob(Arc::new(key), job),
        }
    }
}

/// The position where an applier is written, regardless of later patches.
fn written(spec: &ApplierSpec) -> &Span {
    let node = &spec.object.node;
    node.get("metadata").unwrap_or(node).origin.written()
}

fn refusal(spec: &ApplierSpec, repeats: bool, most: usize) -> String {
    if repeats {
        format!("{} creates itself repeatedly under new names; the linter does not build this copy", spec.reference)
    } else {
        format!("{} is one of more than {most} appliers; the linter does not build it", spec.reference)
    }
}

impl Slot {
    /// A number that is equal for appliers with equal keys; `None` for the bootstrap.
    pub(crate) fn output_number(&self) -> Option<usize> {
        let output = self.output.as_ref().filter(|_| self.spec.kind != ApplierKind::Bootstrap)?;
        Some(self.key.as_ref().map_or(Arc::as_ptr(output).addr(), |key| Arc::as_ptr(key).addr()))
    }

    fn new(spec: Arc<ApplierSpec>, parent: Option<usize>) -> Self {
        Self {
            spec,
            parent,
            variables: Arc::default(),
            key: None,
            output: None,
            is_collected: false,
            tries: 0,
            is_waiting: false,
        }
    }
}

/// The result for a Kustomization whose source has no known artifact.
fn without_artifact(spec: &ApplierSpec, resolution: Resolution, context: &BuildContext<'_>) -> Progress {
    let unbuilt = |reason: NotBuiltReason, source: Option<&SourceRef>| {
        let make = || Output { without: source.cloned().map(Box::new), ..Output::not_built(reason.clone()) };
        context.unbuilt.find_or(BuildKey::NotBuilt(reason.clone()), make)
    };
    let (key, output) = match resolution {
        Resolution::Artifact(_) => unreachable!("the caller builds it"),
        Resolution::Missing => {
            let named = spec.source.as_ref().map_or("its source".to_string(), ToString::to_string);
            unbuilt(NotBuiltReason::MissingSource(named.into()), spec.source.as_ref())
        }
        Resolution::NoCopy(url) => unbuilt(NotBuiltReason::NoCopy(url), None),
        Resolution::Unknown(reason) => unbuilt(NotBuiltReason::Unknown(reason), None),
        Resolution::Failed(findings) => {
            let key = BuildKey::Failed(findings.iter().map(FindingKey::from).collect());
            // A Kustomization with a missing source certainly applies nothing.
            let lacks = findings.iter().any(|finding| finding.rule == DANGLING_SOURCE);
            let output = Output { whole: lacks, ..Output::new(Vec::new(), findings) };
            // The parts of a finding that are not in the key may differ, so only the key is shared.
            let (key, _) = context.unbuilt.find_or(key, || output.clone());
            (key, Arc::new(output))
        }
    };
    Progress::Done(key, output)
}
