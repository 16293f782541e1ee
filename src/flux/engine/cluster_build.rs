//! One cluster on its way: its appliers, and what they still need.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::build::applier_spec::Asks;
use crate::flux::build::build_key::{FolderKey, Key};
use crate::flux::build::context::Ground;
use crate::flux::build::digest::Digest;
use crate::flux::build::inventory::Held;
use crate::flux::build::job::{Job, Values};
use crate::flux::build::output::Output;
use crate::flux::cluster::cluster_index::Received;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::install::root::Root;
use crate::flux::install::version::Strictness;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::variables::Variables;
use crate::flux::settings::Settings;
use crate::flux::source::artifact::Resolution;
use crate::flux::source::reference::SourceRef;
use crate::flux::source::resolve::DANGLING_SOURCE;
use crate::flux::variables::load::{Loaded, always, load};
use crate::kube::Object;
use crate::kube::ObjectKey;
use crate::kustomize::FAILED_BUILD;
use crate::text::{Index, Span};

/// How often appliers that are written at one place may bring each other: under other names, such a circle has no end.
const MAX_REPEATS: usize = 10;

/// How many appliers of a cluster that never settles are named.
const MAX_NAMED: usize = 3;

/// How often a cluster is gone through from its root at most, since what it has may change what it has.
const MAX_PASSES: usize = 8;

/// One applier of a cluster on its way.
pub(crate) struct Slot {
    pub(crate) asks: Arc<Asks>,
    pub(crate) parent: Option<usize>,
    pub(crate) variables: Arc<Variables>,
    /// What tells its output from others, once that is known.
    pub(crate) key: Option<Key>,
    /// What it brings; `None` while that is not built.
    pub(crate) output: Option<Arc<Output>>,
    /// Whether what it brings was taken.
    expanded: bool,
}

/// A cluster on its way.
pub(crate) struct Growing {
    pub(crate) root: Root,
    pub(crate) slots: Vec<Slot>,
    pub(crate) strictness: Strictness,
    by_hand: Arc<Output>,
    /// What it has, by what is known of it so far.
    pub(crate) received: Received,
    /// What it had before it was gone through again: what is looked up until then.
    before: Option<Received>,
    seen: Index<ObjectKey, ()>,
    /// How often it was gone through from its root.
    passes: usize,
    /// Whether what refers to something missing waits for what is not built yet.
    patient: bool,
    settled: bool,
    /// The appliers that came out otherwise than before.
    restless: Vec<usize>,
    /// The first applier that is not followed, and why.
    refused: Option<(Arc<Asks>, String)>,
    /// How often appliers were written at a place.
    places: Index<(String, u32), usize>,
}

/// What one step of an applier comes to.
enum Step {
    Done(Key, Arc<Output>),
    Needs(Key, Job),
    Waits,
}

/// What appliers of one cluster share while it is gone through.
#[derive(Default)]
struct Found {
    sources: BTreeMap<SourceRef, Resolution>,
    variables: BTreeMap<Digest, Loaded>,
}

impl Growing {
    pub(crate) fn new(root: Root, ground: &Ground<'_>) -> Self {
        let by_hand = Arc::new(Output::new(root.objects.clone(), root.findings.clone()));
        let mut growing = Self {
            received: Received::new(&root, ground.settings),
            root,
            slots: Vec::new(),
            strictness: Strictness::default(),
            by_hand,
            before: None,
            seen: Index::default(),
            passes: 0,
            patient: true,
            settled: false,
            restless: Vec::new(),
            refused: None,
            places: Index::default(),
        };
        growing.slots.push(growing.bootstrap());
        growing
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Ends it: what is not followed and what never settles is said.
    pub(crate) fn end(&mut self) {
        if let Some((asks, why)) = self.refused.take() {
            let help = "break the circle, or apply fewer: Flux would go on without end";
            let finding = Finding::error(FAILED_BUILD, asks.object.span().clone(), why);
            self.root.findings.push(finding.help(help).about(asks.reference.clone()));
        }
        if !self.settled {
            self.restless = (0..self.slots.len()).filter(|at| self.slots[*at].output.is_none()).collect();
        }
        for (count, at) in std::mem::take(&mut self.restless).into_iter().enumerate() {
            let slot = &mut self.slots[at];
            let mut output = match slot.output.take() {
                Some(output) => (*output).clone(),
                None => Output::not_built("what it depends on never settles"),
            };
            if count < MAX_NAMED {
                let reference = &slot.asks.reference;
                let message = format!("{reference} never settles: what it applies changes what it is built from");
                let help = "break the circle: Flux would apply something else each time";
                let finding = Finding::error(FAILED_BUILD, slot.asks.object.span().clone(), message);
                self.root.findings.push(finding.help(help).about(reference.clone()));
                output.state = State::Failed;
            }
            slot.output = Some(Arc::new(output));
        }
    }

    /// Goes on with what was built meanwhile. Returns what nobody did yet.
    pub(super) fn grow(&mut self, ground: &Ground<'_>) -> Vec<(Key, Job)> {
        loop {
            self.strictness = self.strictness_now(ground.settings);
            let mut found = Found::default();
            let (mut needs, mut waits, mut progress) = (Vec::new(), false, false);
            let mut at = 0;
            while at < self.slots.len() {
                if self.slots[at].output.is_none() {
                    match self.step(at, &mut found, ground) {
                        Step::Done(key, output) => {
                            let slot = &mut self.slots[at];
                            (slot.key, slot.output) = (Some(key), Some(output));
                            progress = true;
                        }
                        Step::Needs(key, job) => needs.push((key, job)),
                        Step::Waits => waits = true,
                    }
                }
                self.expand(at, ground);
                at += 1;
            }
            match (needs.is_empty(), waits) {
                (false, _) => return needs,
                // What one of them waits for may have come with another one behind it.
                (true, true) if progress => {}
                // Nothing else is under way: what is missing now stays missing.
                (true, true) => self.patient = false,
                (true, false) if self.is_stable(ground) || self.passes >= MAX_PASSES => {
                    self.settled = true;
                    return needs;
                }
                (true, false) => self.start_again(ground),
            }
        }
    }

    /// Takes what an applier brings, and the appliers among it.
    fn expand(&mut self, at: usize, ground: &Ground<'_>) {
        let slot = &mut self.slots[at];
        let Some(output) = slot.output.as_ref().filter(|_| !slot.expanded).cloned() else { return };
        slot.expanded = true;
        let kind = slot.asks.kind;
        self.received.doubts.take(&slot.asks, &output);
        // What goes to another cluster is not run by the Flux of this one.
        if slot.asks.target.is_some() {
            return;
        }
        self.received.take(&output, kind);
        let most = ground.settings.bounds.appliers;
        for held in output.inventory.appliers() {
            let Some(asks) = self.asked(held) else { continue };
            if self.seen.insert(held.key.clone(), ()).is_some() {
                continue;
            }
            let (path, start, _) = written(&asks).order();
            let times = self.places.entry((path.to_string(), start));
            *times += 1;
            let repeats = *times > MAX_REPEATS && self.repeats(&asks, at) >= MAX_REPEATS;
            if repeats || self.slots.len() >= most {
                self.refused.get_or_insert_with(|| (asks.clone(), refusal(&asks, repeats, most)));
                continue;
            }
            self.slots.push(Slot::new(asks, Some(at)));
        }
    }

    /// Tells whether all appliers would do the same again, now that everything is known; notes those that would not.
    fn is_stable(&mut self, ground: &Ground<'_>) -> bool {
        self.before = None;
        let strictness = self.strictness_now(ground.settings);
        let mut found = Found::default();
        self.restless = (1..self.slots.len()).filter(|at| !self.would_repeat(*at, &mut found, ground)).collect();
        self.restless.is_empty() && strictness.is_strict() == self.strictness.is_strict()
    }

    fn would_repeat(&mut self, at: usize, found: &mut Found, ground: &Ground<'_>) -> bool {
        let asks = &self.slots[at].asks;
        let now = self.received.asks(&ObjectKey::of(&asks.object));
        let same = now.is_none_or(|now| Arc::ptr_eq(now, asks) || is_shared(&now.object, &asks.object));
        same && match self.step(at, found, ground) {
            Step::Done(key, _) => Some(&key) == self.slots[at].key.as_ref(),
            Step::Needs(..) | Step::Waits => false,
        }
    }

    /// Whether undefined variables fail builds, by what is built so far.
    fn strictness_now(&self, settings: &Settings) -> Strictness {
        let outputs =
            self.slots.iter().filter(|slot| slot.asks.target.is_none()).filter_map(|slot| slot.output.as_ref());
        let made = outputs.clone().filter_map(|output| output.controller.as_ref());
        let inventories = outputs.map(|output| &output.inventory);
        let held = inventories.flat_map(|inventory| inventory.controllers().map(|held| &held.object));
        let controllers: Vec<&Object> = self.root.controller.iter().chain(held).chain(made).collect();
        let instances = self.slots.iter().filter(|slot| slot.asks.kind == ApplierKind::FluxInstance);
        let instances: Vec<&Object> = instances.map(|slot| &slot.asks.object).collect();
        Strictness::of(&self.root.name, &controllers, &instances, settings)
    }

    /// Goes through it from its root again, with what it has by now.
    fn start_again(&mut self, ground: &Ground<'_>) {
        self.passes += 1;
        let received = Received::new(&self.root, ground.settings);
        self.before = Some(std::mem::replace(&mut self.received, received));
        self.seen = Index::default();
        self.places = Index::default();
        self.refused = None;
        self.slots = vec![self.bootstrap()];
    }

    /// What references are looked up in.
    fn known(&self) -> &Received {
        self.before.as_ref().unwrap_or(&self.received)
    }

    /// How many of the appliers that led to one are written where it is.
    fn repeats(&self, asks: &Asks, parent: usize) -> usize {
        let above = std::iter::successors(Some(parent), |at| self.slots[*at].parent);
        above.filter(|at| written(&self.slots[*at].asks) == written(asks)).count()
    }

    /// What an object asks for. What was applied by hand is what Flux makes of it once it applies it itself.
    fn asked(&self, held: &Held) -> Option<Arc<Asks>> {
        let known = self.known().asks(&held.key).cloned();
        held.asks.as_ref().map(|asks| known.unwrap_or_else(|| asks.clone()))
    }

    fn bootstrap(&self) -> Slot {
        let last = self.root.objects.last().unwrap_or_else(|| unreachable!("a root has objects"));
        let asks = Asks::of(ApplierKind::Bootstrap, last);
        Slot { output: Some(self.by_hand.clone()), ..Slot::new(Arc::new(asks), None) }
    }

    fn step(&mut self, at: usize, found: &mut Found, ground: &Ground<'_>) -> Step {
        let asks = self.slots[at].asks.clone();
        let job = match asks.kind {
            ApplierKind::ResourceSet => {
                let providers = self.known().providers(asks.object.namespace().unwrap_or_default()).to_vec();
                Job::Set(asks, providers)
            }
            ApplierKind::FluxInstance => Job::Sync(asks),
            ApplierKind::Kustomization => match self.resolve(&asks, found, ground) {
                Resolution::Artifact(_) if !asks.is_folder_known() => {
                    return without_artifact(&asks, Resolution::Unknown("its path is not known".into()));
                }
                Resolution::Artifact(artifact) => {
                    // What was built under this key is there; only what was not needs to be looked for.
                    let there = FolderKey::new(&artifact, asks.digest(), None);
                    if let Some(built) = ground.memo.get(&Key::Folder(there.clone())) {
                        return self.finish(at, there, built, found, ground);
                    }
                    Job::Folder(asks, artifact)
                }
                Resolution::Missing if self.patient => return Step::Waits,
                resolution => return without_artifact(&asks, resolution),
            },
            ApplierKind::Bootstrap | ApplierKind::Folder => unreachable!("no object applies as that"),
        };
        let key = job.key(None);
        match ground.memo.get(&key) {
            // A path that is not there.
            Some(built) => Step::Done(key, built.clone()),
            None => Step::Needs(key, job),
        }
    }

    fn resolve(&self, asks: &Asks, found: &mut Found, ground: &Ground<'_>) -> Resolution {
        let Some(source) = &asks.source else { return Resolution::Unknown("it names no source".into()) };
        if let Some(known) = found.sources.get(source) {
            return known.clone();
        }
        let resolution = ground.sources.resolve(source, self.known());
        found.sources.insert(source.clone(), resolution.clone());
        resolution
    }

    fn load(&self, variables: Digest, asks: &Asks, found: &mut Found) -> Loaded {
        // What is wrong with variables is said at the place of each that asks for them.
        if let Some(known) = found.variables.get(&variables).filter(|known| known.findings.is_empty()) {
            return known.clone();
        }
        let loaded = load(&asks.object, self.known());
        found.variables.insert(variables, loaded.clone());
        loaded
    }

    /// Takes the build of a folder to the end of the Kustomization's own.
    fn finish(
        &mut self,
        at: usize,
        folder: FolderKey,
        built: &Arc<Output>,
        found: &mut Found,
        ground: &Ground<'_>,
    ) -> Step {
        let asks = self.slots[at].asks.clone();
        if asks.variables().is_none() && asks.metadata().is_none() {
            return Step::Done(Key::Folder(folder), built.clone());
        }
        let mut values = None;
        if let Some(variables) = asks.variables() {
            let loaded = self.load(variables, &asks, found);
            self.slots[at].variables = loaded.variables.clone();
            if loaded.missing && self.patient {
                return Step::Waits;
            }
            let none = loaded.variables.values.is_empty() && !loaded.variables.open;
            if !none || always(&asks.object) || !loaded.findings.is_empty() {
                values = Some(Values {
                    loaded,
                    strict: self.strictness.is_strict(),
                    limit: ground.settings.bounds.grown_by_one,
                });
            }
        }
        let job = Job::Finish(asks, built.clone(), values);
        let key = job.key(Some(&folder));
        match ground.memo.get(&key) {
            Some(output) => Step::Done(key, output.clone()),
            None => Step::Needs(key, job),
        }
    }
}

/// Where an applier is written, whatever was done to it since.
fn written(asks: &Asks) -> &Span {
    let node = &asks.object.node;
    node.get("metadata").unwrap_or(node).origin.written()
}

fn refusal(asks: &Asks, repeats: bool, most: usize) -> String {
    if repeats {
        format!("{} makes itself over and over under new names; this one is not followed", asks.reference)
    } else {
        format!("{} is one of more than {most} appliers; further ones are not followed", asks.reference)
    }
}

impl Slot {
    fn new(asks: Arc<Asks>, parent: Option<usize>) -> Self {
        Self { asks, parent, variables: Arc::default(), key: None, output: None, expanded: false }
    }
}

/// What becomes of a Kustomization whose source hands out nothing that is known.
fn without_artifact(asks: &Asks, resolution: Resolution) -> Step {
    let output = match resolution {
        Resolution::Artifact(_) => unreachable!("the caller builds it"),
        Resolution::Missing => {
            let named = asks.source.as_ref().map_or("its source".to_string(), ToString::to_string);
            let output = Output::not_built(format!("{named} is not among what the cluster receives"));
            Output { without: asks.source.clone(), ..output }
        }
        Resolution::NoCopy(url) => Output::not_built(format!("no copy of `{url}`")),
        Resolution::Unknown(reason) => Output::not_built(reason),
        Resolution::Failed(findings) => {
            // What needs a source that is not there certainly brings nothing.
            let lacks = findings.iter().any(|finding| finding.rule == DANGLING_SOURCE);
            let output = Output::new(Vec::new(), findings);
            Output { whole: lacks, ..output }
        }
    };
    let said = format!("{:?} {:?}", output.state, output.findings);
    Step::Done(Key::Nothing(said.into()), Arc::new(output))
}
