//! The build of one cluster: its appliers, and the jobs that they need.

pub(super) mod state;
mod step;

use std::collections::BTreeSet;
use std::sync::Arc;

use state::{ClusterBuild, Slot};
use step::{PassCache, Progress};

use crate::base::finding::Finding;
use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::context::BuildContext;
use crate::flux::build::job::Job;
use crate::flux::build::output::Output;
use crate::flux::cluster::cluster_index::ClusterIndex;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::install::version::Strictness;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::settings::Settings;
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

impl ClusterBuild {
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
            // A later pass may finish in one round, so it starts with the strictness of the previous pass.
            if std::mem::take(&mut self.new_inputs) > 0 && self.passes == 0 {
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
        let Some(mut output) = slot.output.as_ref().filter(|_| !slot.is_collected).cloned() else { return };
        slot.is_collected = true;
        self.applied = self.applied.saturating_add(output.objects.len());
        if self.applied > self.most_applied && !output.objects.is_empty() {
            self.applied -= output.objects.len();
            let most = self.most_applied;
            let why = format!(
                "the appliers of the cluster apply more than {most} objects; the linter does not build {}",
                slot.spec.reference
            );
            self.first_refusal.get_or_insert_with(|| (slot.spec.clone(), why.clone()));
            output = Arc::new(Output::not_built(NotBuiltReason::Unknown(
                format!("the cluster has more than {most} objects").into(),
            )));
            slot.output = Some(output.clone());
        }
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
            // Flux only works on the cluster to which it applies the root.
            let is_remote_root = at == 0 && spec.target.is_some() && self.root.is_sync(&spec.object);
            let spec = if is_remote_root { Arc::new(spec.on_own_cluster()) } else { spec };
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
        let is_same = strictness.is_strict() == self.strictness.is_strict();
        self.strictness = strictness;
        self.unstable.is_empty() && is_same
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

    /// Starts a new pass from the root. Its lookups use the objects of the pass that has ended, and its builds the
    /// strictness that `is_fixed_point` has found in them.
    fn restart(&mut self, context: &BuildContext<'_>) {
        self.passes += 1;
        let index = ClusterIndex::new(&self.root, context.settings);
        self.previous_index = Some(std::mem::replace(&mut self.index, index));
        self.seen = Index::default();
        self.written_at = Index::default();
        self.first_refusal = None;
        self.applied = 0;
        self.waiting = Index::default();
        self.slots = vec![self.bootstrap_slot()];
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
            None => spec.key().clone(),
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
