//! One cluster on its way: its appliers, and what they still need.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::Output;
use super::cluster::{ApplierKind, State, Variables};
use super::digest::{Digest, Hasher};
use super::engine::Ground;
use super::job::{Job, Values, finish_key, is_whole};
use super::place::clamp;
use super::producer::Producers;
use super::received::{Id, Received, id};
use super::root::Root;
use super::source::{Resolution, SourceRef};
use super::sync::OPERATOR;
use super::variables::{Loaded, always, load, substitutes};
use super::version::Strictness;
use super::{is_kustomization, is_resource_set};
use crate::finding::{Finding, ObjectRef};
use crate::kube::Object;
use crate::kustomize::FAILED_BUILD;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// How many appliers a cluster may have: one that makes further ones without end would never settle.
const MAX_APPLIERS: usize = 20_000;

/// How often appliers that are written at one place may bring each other: under other names, such a circle has no end.
const MAX_REPEATS: usize = 20;

/// How many appliers of a cluster that never settles are named.
const MAX_NAMED: usize = 3;

/// One applier of a cluster on its way.
pub(super) struct Slot {
    pub(super) kind: ApplierKind,
    pub(super) reference: ObjectRef,
    pub(super) object: Option<Object>,
    pub(super) parent: Option<usize>,
    pub(super) source: Option<ObjectRef>,
    pub(super) folder: String,
    pub(super) target: Option<Name>,
    pub(super) variables: Arc<Variables>,
    /// What tells its output from others, once that is known.
    pub(super) key: Option<Digest>,
    /// What it brings; `None` while that is not built.
    pub(super) output: Option<Arc<Output>>,
}

/// A cluster on its way.
pub(super) struct Growing {
    pub(super) root: Root,
    pub(super) slots: Vec<Slot>,
    pub(super) strictness: Strictness,
    received: Received,
    /// Variables are loaded once for all Kustomizations of a namespace that ask for the same.
    loaded: BTreeMap<Digest, Loaded>,
    /// Whether what refers to something missing waits for what is not built yet.
    patient: bool,
    settled: bool,
    /// The appliers that came out otherwise than before.
    restless: Vec<usize>,
    /// The first applier that is not followed, and why.
    refused: Option<(Object, String)>,
}

/// What one step of an applier comes to.
enum Step {
    Done(Digest, Arc<Output>),
    Needs(Digest, Job),
    Waits,
}

impl Growing {
    pub(super) fn new(root: Root) -> Self {
        Self {
            root,
            slots: Vec::new(),
            strictness: Strictness::default(),
            received: Received::default(),
            loaded: BTreeMap::new(),
            patient: true,
            settled: false,
            restless: Vec::new(),
            refused: None,
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Ends it: what is not built by now, and what would not be followed or never settle, is said.
    pub(super) fn end(&mut self) {
        if let Some((object, why)) = self.refused.take() {
            let help = "break the circle, or apply fewer: Flux would go on without end";
            let finding = Finding::error(FAILED_BUILD, object.span().clone(), why);
            self.root.findings.push(finding.help(help).about(object.reference()));
        }
        if self.settled {
            return;
        }
        let restless = std::mem::take(&mut self.restless);
        for (count, at) in restless.into_iter().enumerate() {
            let slot = &mut self.slots[at];
            let mut output = match slot.output.take() {
                Some(output) => (*output).clone(),
                None => Output::not_built("what it depends on never settles"),
            };
            if let Some(object) = slot.object.as_ref().filter(|_| count < MAX_NAMED) {
                let message = format!("{} never settles: what it applies changes what it is built from", slot.reference);
                let help = "break the circle: Flux would apply something else each time";
                let finding = Finding::error(FAILED_BUILD, object.span().clone(), message);
                self.root.findings.push(finding.help(help).about(slot.reference.clone()));
                output.state = State::Failed;
            }
            slot.output = Some(Arc::new(output));
        }
    }

    /// Goes through what is known: appliers, what they bring, and the appliers among that. Returns what nobody did yet.
    pub(super) fn grow(&mut self, ground: &Ground<'_>) -> Vec<(Digest, Job)> {
        let before: Vec<Option<Digest>> = self.slots.iter().map(|slot| slot.key).collect();
        self.strictness = Strictness::of(&self.root, &self.slots, ground.settings);
        self.loaded.clear();
        self.refused = None;
        self.slots = vec![self.by_hand()];
        let declared = Producers::declared(&self.root.name, &ground.settings.config.external);
        let mut received = Received::with(declared);
        let mut seen: Index<Id, ()> = Index::default();
        let mut places: Index<(String, u32), usize> = Index::default();
        let (mut needs, mut waits) = (Vec::new(), false);
        let mut at = 0;
        while at < self.slots.len() {
            let (output, kind) = (self.slots[at].output.clone(), self.slots[at].kind);
            // What goes to another cluster is not run by the Flux of this one.
            let stays = self.slots[at].target.is_none();
            for object in output.iter().flat_map(|output| &output.objects).filter(|_| stays) {
                received.take(object, kind);
                let Some(kind) = kind_of(object) else { continue };
                let id = id(object);
                // What was applied by hand is what Flux makes of it once it applies it itself.
                let object = self.received.get(&id).unwrap_or(object).clone();
                if seen.insert(id, ()).is_some() {
                    continue;
                }
                let (path, start, _) = written(&object).order();
                let times = places.entry((path.to_string(), start));
                *times += 1;
                let repeats = *times > MAX_REPEATS && self.repeats(&object, at) >= MAX_REPEATS;
                if repeats || self.slots.len() >= MAX_APPLIERS {
                    self.refused.get_or_insert_with(|| (object.clone(), refusal(&object, repeats)));
                    continue;
                }
                let (slot, step) = match kind {
                    ApplierKind::Kustomization => self.kustomization(object, at, ground),
                    _ => self.operated(kind, object, at, ground),
                };
                self.slots.push(slot);
                match step {
                    Step::Done(key, output) => {
                        let slot = self.slots.last_mut().unwrap_or_else(|| unreachable!("it was just pushed"));
                        (slot.key, slot.output) = (Some(key), Some(output));
                    }
                    Step::Needs(key, job) => needs.push((key, job)),
                    Step::Waits => waits = true,
                }
            }
            at += 1;
        }
        self.received = received;
        if needs.is_empty() && waits {
            self.patient = false;
        }
        let known = |at: usize| before.get(at).copied().flatten();
        let changed = |(at, slot): (usize, &Slot)| (slot.key.is_none() || slot.key != known(at)).then_some(at);
        self.restless = self.slots.iter().enumerate().filter_map(changed).collect();
        self.settled = needs.is_empty() && !waits && self.restless.is_empty() && self.slots.len() == before.len();
        needs
    }

    /// How many of the appliers that led to an object are written where it is.
    fn repeats(&self, object: &Object, parent: usize) -> usize {
        let place = written(object);
        let above = std::iter::successors(Some(parent), |at| self.slots[*at].parent);
        above.filter(|at| self.slots[*at].object.as_ref().is_some_and(|above| written(above) == place)).count()
    }

    fn by_hand(&self) -> Slot {
        let last = self.root.objects.last().unwrap_or_else(|| unreachable!("a root has objects"));
        Slot {
            kind: ApplierKind::Bootstrap,
            output: Some(Arc::new(Output::of(self.root.objects.clone(), self.root.findings.clone()))),
            ..Slot::of(last, None)
        }
    }

    /// What Flux Operator makes objects of.
    fn operated(&self, kind: ApplierKind, object: Object, parent: usize, ground: &Ground<'_>) -> (Slot, Step) {
        let slot = Slot { kind, object: Some(object.clone()), ..Slot::of(&object, Some(parent)) };
        let job = if kind == ApplierKind::ResourceSet {
            let providers = self.received.providers(object.namespace().unwrap_or_default()).to_vec();
            Job::Set(object, providers)
        } else {
            Job::Sync(object)
        };
        let key = job.key();
        let known = ground.memo.get(&key).cloned();
        (slot, known.map_or_else(|| Step::Needs(key, job), |output| Step::Done(key, output)))
    }

    fn kustomization(&mut self, object: Object, parent: usize, ground: &Ground<'_>) -> (Slot, Step) {
        let mut slot = Slot::of(&object, Some(parent));
        slot.source = source_of(&object);
        slot.target = target_of(&object);
        slot.folder = clamp(object.text_at(&["spec", "path"]).unwrap_or_default());
        slot.object = Some(object.clone());
        let step = match self.resolve(&slot, ground) {
            Resolution::Artifact(artifact) => {
                let job = Job::Folder(object.clone(), artifact);
                let key = job.key();
                match ground.memo.get(&key) {
                    Some(built) => self.finish(&mut slot, &object, key, built, ground),
                    None => Step::Needs(key, job),
                }
            }
            Resolution::Missing if self.patient => Step::Waits,
            Resolution::Missing => {
                let named = slot.source.as_ref().map_or("its source".to_string(), ToString::to_string);
                not_built(format!("{named} is not among what the cluster receives"))
            }
            Resolution::NoCopy(url) => not_built(format!("no copy of `{url}`")),
            Resolution::Unknown(reason) => not_built(reason.to_string()),
            Resolution::Failed(findings) => {
                let output = Output::of(Vec::new(), findings);
                let mut hasher = Hasher::new("failed source");
                hasher.text(&format!("{:?}", output.findings));
                Step::Done(hasher.finish(), Arc::new(output))
            }
        };
        (slot, step)
    }

    fn resolve(&self, slot: &Slot, ground: &Ground<'_>) -> Resolution {
        let Some(source) = &slot.source else { return Resolution::Unknown("it names no source".into()) };
        let namespace = source.namespace.clone().unwrap_or_else(|| Name::from(""));
        let reference = SourceRef { kind: source.kind.clone(), namespace, name: source.name.clone() };
        ground.sources.resolve(&reference, &self.received)
    }

    /// Takes the build of a folder to the end of the Kustomization's own.
    fn finish(
        &mut self,
        slot: &mut Slot,
        object: &Object,
        key: Digest,
        built: &Arc<Output>,
        ground: &Ground<'_>,
    ) -> Step {
        if is_whole(object) {
            return Step::Done(key, built.clone());
        }
        let values = if substitutes(object) {
            let loaded = self.load(object);
            slot.variables = loaded.variables.clone();
            if loaded.missing && self.patient {
                return Step::Waits;
            }
            let none = loaded.variables.values.is_empty() && !loaded.variables.open;
            let acts = !none || always(object) || !loaded.findings.is_empty();
            acts.then(|| Values { loaded, strict: self.strictness.is_strict() })
        } else {
            None
        };
        let key = finish_key(&key, object, built, values.as_ref());
        match ground.memo.get(&key) {
            Some(output) => Step::Done(key, output.clone()),
            None => Step::Needs(key, Job::Finish(object.clone(), built.clone(), values)),
        }
    }

    fn load(&mut self, object: &Object) -> Loaded {
        let mut hasher = Hasher::new("variables");
        hasher.text(object.namespace().unwrap_or_default());
        if let Some(post_build) = object.node.at_keys(&["spec", "postBuild"]) {
            hasher.node(post_build);
        }
        let received = &self.received;
        self.loaded.entry(hasher.finish()).or_insert_with(|| load(object, received)).clone()
    }
}

impl Slot {
    fn of(object: &Object, parent: Option<usize>) -> Self {
        Self {
            kind: ApplierKind::Kustomization,
            reference: object.reference(),
            object: None,
            parent,
            source: None,
            folder: String::new(),
            target: None,
            variables: Arc::default(),
            key: None,
            output: None,
        }
    }
}

/// Where an object is written, whatever was done to it since.
fn written(object: &Object) -> &Span {
    object.node.get("metadata").unwrap_or(&object.node).origin.written()
}

fn refusal(object: &Object, repeats: bool) -> String {
    if repeats {
        format!("{} makes itself over and over under new names; this one is not followed", object.reference())
    } else {
        format!("{} is one of more than {MAX_APPLIERS} appliers; further ones are not followed", object.reference())
    }
}

/// What an object applies as, if it does.
fn kind_of(object: &Object) -> Option<ApplierKind> {
    match () {
        () if is_kustomization(object) => Some(ApplierKind::Kustomization),
        () if is_resource_set(object) => Some(ApplierKind::ResourceSet),
        () if object.is(OPERATOR, "FluxInstance") => Some(ApplierKind::FluxInstance),
        () => None,
    }
}

fn not_built(reason: String) -> Step {
    let mut hasher = Hasher::new("not built");
    hasher.text(&reason);
    Step::Done(hasher.finish(), Arc::new(Output::not_built(reason)))
}

/// The source that a Kustomization names.
fn source_of(object: &Object) -> Option<ObjectRef> {
    let said = |key: &str| object.text_at(&["spec", "sourceRef", key]).filter(|text| !text.is_empty());
    Some(ObjectRef {
        api_version: "source.toolkit.fluxcd.io/v1".into(),
        kind: said("kind")?.into(),
        namespace: said("namespace").or(object.namespace()).map(Name::from),
        name: said("name")?.into(),
    })
}

/// The cluster that a Kustomization applies to when that is another one.
fn target_of(object: &Object) -> Option<Name> {
    let config = object.node.at_keys(&["spec", "kubeConfig"]).filter(|config| config.is_map())?;
    let name = config.at_keys(&["secretRef", "name"]).or_else(|| config.at_keys(&["configMapRef", "name"]));
    Some(name.and_then(Node::shared_text).unwrap_or_else(|| Name::from("")))
}
