//! Everything that roots reach, built for every cluster at once.
//!
//! A built Kustomization may bring further ones, so clusters are gone through in waves: what their appliers need and
//! nobody built yet is collected, built in parallel, each distinct input once, and the next wave sees the results. It
//! ends when a wave changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::build::{Output, build};
use super::cluster::{Applied, Applier, ApplierKind, Cluster, State, Variables};
use super::digest::{Digest, Hasher};
use super::root::Root;
use super::sync::{OPERATOR, objects_of};
use super::{Completion, is_kustomization, is_source};
use crate::finding::{Finding, ObjectRef};
use crate::kube::Object;
use crate::kustomize::Builder;
use crate::text::Index;
use crate::yaml::Name;

/// How often a cluster is gone through at most. Each level of Kustomizations takes one wave.
const MAX_WAVES: usize = 64;

/// How many appliers a cluster may have: one that makes further ones without end would never settle.
const MAX_APPLIERS: usize = 20_000;

/// What tells two objects apart, whatever their version.
type Id = (Name, Name, Name, Name);

/// A build that an applier needs.
#[derive(Debug, Clone)]
struct Wanted {
    key: Digest,
    job: Job,
}

#[derive(Debug, Clone)]
enum Job {
    /// The objects as they are.
    Given(Vec<Object>),
    /// A FluxInstance's sync.
    Sync(Object),
    /// A Kustomization from a folder of the repository.
    Folder(Object, Arc<str>),
    /// What is not built, and why.
    Nothing(Arc<str>),
}

/// One applier of a cluster on its way.
struct Slot {
    kind: ApplierKind,
    reference: ObjectRef,
    object: Option<Object>,
    parent: Option<usize>,
    source: Option<ObjectRef>,
    target: Option<Name>,
    wanted: Wanted,
}

/// A cluster on its way.
struct Growing {
    root: Root,
    slots: Vec<Slot>,
    keys: Vec<Digest>,
    settled: bool,
}

/// What was built: for every cluster, with what is wrong.
pub(super) struct Built {
    pub(super) clusters: Vec<Cluster>,
    pub(super) findings: Vec<Finding>,
    pub(super) not_done: BTreeMap<String, usize>,
}

/// Builds what the roots reach.
pub(super) fn run(roots: Vec<Root>, builder: &Builder) -> Built {
    let own = OwnUrls::of(&roots);
    let mut clusters: Vec<Growing> =
        roots.into_iter().map(|root| Growing { root, slots: Vec::new(), keys: Vec::new(), settled: false }).collect();
    let mut memo: Index<Digest, Arc<Output>> = Index::default();
    for _ in 0..MAX_WAVES {
        let mut wanted: BTreeMap<Digest, Job> = BTreeMap::new();
        for cluster in clusters.iter_mut().filter(|cluster| !cluster.settled) {
            cluster.grow(&memo, &own);
            let keys: Vec<Digest> = cluster.slots.iter().map(|slot| slot.wanted.key).collect();
            let missing: Vec<&Wanted> =
                cluster.slots.iter().map(|slot| &slot.wanted).filter(|wanted| !memo.contains(&wanted.key)).collect();
            cluster.settled = missing.is_empty() && keys == cluster.keys;
            wanted.extend(missing.into_iter().map(|wanted| (wanted.key, wanted.job.clone())));
            cluster.keys = keys;
        }
        if clusters.iter().all(|cluster| cluster.settled) {
            break;
        }
        let jobs: Vec<(Digest, Job)> = wanted.into_iter().collect();
        let built: Vec<(Digest, Arc<Output>)> =
            jobs.par_iter().map(|(key, job)| (*key, Arc::new(job.run(builder)))).collect();
        for (key, output) in built {
            memo.insert(key, output);
        }
    }
    finish(clusters, &memo)
}

impl Job {
    fn run(&self, builder: &Builder) -> Output {
        match self {
            Self::Given(objects) => Output::of(objects.clone(), Vec::new()),
            Self::Sync(instance) => {
                let (objects, findings) = objects_of(instance, builder);
                Output::of(objects, findings)
            }
            Self::Folder(kustomization, prefix) => build(kustomization, builder, prefix),
            Self::Nothing(reason) => Output::not_built(reason.clone()),
        }
    }
}

/// The URLs that mean the repository itself, since a root syncs it from there, and the folder that is its root there.
struct OwnUrls(BTreeMap<String, Arc<str>>);

impl OwnUrls {
    fn of(roots: &[Root]) -> Self {
        let mut urls = BTreeMap::new();
        for root in roots {
            let Some(prefix) = &root.prefix else { continue };
            let said = root.objects.iter().filter_map(|object| {
                object.text_at(&["spec", "sync", "url"]).or_else(|| object.text_at(&["spec", "url"]))
            });
            for url in said.filter(|url| !url.is_empty()) {
                urls.entry(url.trim_end_matches(".git").to_string()).or_insert_with(|| Arc::from(prefix.as_str()));
            }
        }
        Self(urls)
    }

    fn prefix(&self, url: &str) -> Option<Arc<str>> {
        self.0.get(url.trim_end_matches(".git")).cloned()
    }
}

fn id(object: &Object) -> Id {
    let name = |text: &str| Name::from(text);
    (name(object.group()), name(object.kind()), name(object.namespace().unwrap_or_default()), name(object.name()))
}

impl Growing {
    /// Goes through what is known: appliers, what they bring, and the appliers among that.
    fn grow(&mut self, memo: &Index<Digest, Arc<Output>>, own: &OwnUrls) {
        let known = self.received(memo);
        self.slots.clear();
        let mut seen: Index<Id, ()> = Index::default();
        self.slots.push(Slot {
            kind: ApplierKind::Bootstrap,
            reference: self.root.objects.last().map_or_else(|| unreachable!("a root has objects"), Object::reference),
            object: None,
            parent: None,
            source: None,
            target: None,
            wanted: Wanted {
                key: digest_of("given", &self.root.objects, ""),
                job: Job::Given(self.root.objects.clone()),
            },
        });
        let mut at = 0;
        while at < self.slots.len() && self.slots.len() < MAX_APPLIERS {
            // What goes to another cluster is not run by this one's Flux.
            let output = memo.get(&self.slots[at].wanted.key).filter(|_| self.slots[at].target.is_none()).cloned();
            let by_hand = self.slots[at].kind == ApplierKind::Bootstrap;
            for object in output.iter().flat_map(|output| &output.objects) {
                let instance = object.is(OPERATOR, "FluxInstance");
                if !instance && !is_kustomization(object) {
                    continue;
                }
                let id = id(object);
                if seen.insert(id.clone(), ()).is_some() {
                    continue;
                }
                // What was applied by hand is replaced once Flux applies it.
                let object = known.objects.get(&id).filter(|_| by_hand).unwrap_or(object);
                let slot = if instance {
                    let key = digest_of("sync", std::slice::from_ref(object), "");
                    let wanted = Wanted { key, job: Job::Sync(object.clone()) };
                    let kind = ApplierKind::FluxInstance;
                    Slot {
                        kind,
                        reference: object.reference(),
                        object: Some(object.clone()),
                        parent: Some(at),
                        source: None,
                        target: None,
                        wanted,
                    }
                } else {
                    self.kustomization(object, at, &known, own)
                };
                self.slots.push(slot);
            }
            at += 1;
        }
    }

    fn kustomization(&self, object: &Object, parent: usize, known: &Received, own: &OwnUrls) -> Slot {
        let source = source_of(object);
        let job = match known.prefix(source.as_ref(), &self.root, own) {
            Ok(_) if object.text_at(&["spec", "path"]).is_some_and(|path| path.contains('$')) => {
                Job::Nothing("its path holds a variable".into())
            }
            Ok(prefix) => Job::Folder(object.clone(), prefix),
            Err(reason) => Job::Nothing(reason),
        };
        let key = match &job {
            Job::Folder(_, prefix) => digest_of("folder", std::slice::from_ref(object), prefix),
            Job::Nothing(reason) => digest_of("nothing", &[], reason),
            Job::Given(_) | Job::Sync(_) => unreachable!("a Kustomization is built or not"),
        };
        Slot {
            kind: ApplierKind::Kustomization,
            reference: object.reference(),
            object: Some(object.clone()),
            parent: Some(parent),
            source,
            target: target_of(object),
            wanted: Wanted { key, job },
        }
    }

    /// What the cluster receives as far as it is known, without what was applied by hand alone.
    fn received(&self, memo: &Index<Digest, Arc<Output>>) -> Received {
        let mut received = Received::default();
        for slot in self.slots.iter().filter(|slot| slot.target.is_none()) {
            let Some(output) = memo.get(&slot.wanted.key) else { continue };
            for object in &output.objects {
                let follows = object.is(OPERATOR, "FluxInstance") || is_kustomization(object) || is_source(object);
                if !follows {
                    continue;
                }
                if slot.kind == ApplierKind::Bootstrap {
                    received.by_hand.insert(id(object), object.clone());
                } else {
                    received.objects.insert(id(object), object.clone());
                }
            }
        }
        received
    }
}

#[derive(Default)]
struct Received {
    objects: Index<Id, Object>,
    by_hand: Index<Id, Object>,
}

impl Received {
    /// The folder of the repository that is the root of a source, or why there is none.
    fn prefix(&self, source: Option<&ObjectRef>, root: &Root, own: &OwnUrls) -> Result<Arc<str>, Arc<str>> {
        let Some(reference) = source else { return Err("it names no source".into()) };
        let (group, _) = reference.api_version.split_once('/').unwrap_or_default();
        let namespace = reference.namespace.clone().unwrap_or_else(|| Name::from(""));
        let id = (Name::from(group), reference.kind.clone(), namespace, reference.name.clone());
        let Some(found) = self.objects.get(&id).or_else(|| self.by_hand.get(&id)) else {
            return Err(format!("{reference} is not known").into());
        };
        let url = found.text_at(&["spec", "url"]).or_else(|| found.text_at(&["spec", "endpoint"])).unwrap_or_default();
        if url.is_empty() {
            return root.prefix.as_deref().map(Arc::from).ok_or_else(|| format!("no copy of {reference}").into());
        }
        own.prefix(url).ok_or_else(|| format!("no copy of `{url}`").into())
    }
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
    Some(name.and_then(crate::yaml::Node::shared_text).unwrap_or_else(|| Name::from("")))
}

fn digest_of(what: &str, objects: &[Object], more: &str) -> Digest {
    let mut hasher = Hasher::new(what);
    objects.iter().for_each(|object| hasher.node(&object.node));
    hasher.text(more);
    hasher.finish()
}

fn finish(clusters: Vec<Growing>, memo: &Index<Digest, Arc<Output>>) -> Built {
    let mut findings: BTreeMap<Digest, (Vec<Finding>, Vec<Name>)> = BTreeMap::new();
    let mut not_done: BTreeMap<Digest, &BTreeMap<String, usize>> = BTreeMap::new();
    let variables = Arc::new(Variables::default());
    let mut done = Vec::new();
    for cluster in &clusters {
        let mut appliers = Vec::new();
        let mut objects = Vec::new();
        for (at, slot) in cluster.slots.iter().enumerate() {
            let output = memo.get(&slot.wanted.key);
            let folder = slot.object.as_ref().and_then(|object| object.text_at(&["spec", "path"]));
            let applier = Arc::new(Applier {
                kind: slot.kind,
                reference: slot.reference.clone(),
                object: slot.object.clone(),
                at,
                parent: slot.parent,
                source: slot.source.clone(),
                folder: super::place::clamp(folder.unwrap_or_default()),
                target: slot.target.clone(),
                variables: variables.clone(),
                state: output.map_or(State::NotBuilt("it was not reached".into()), |output| output.state.clone()),
            });
            if let Some(output) = output {
                let found = findings.entry(slot.wanted.key).or_insert_with(|| (output.findings.clone(), Vec::new()));
                found.1.push(cluster.root.name.clone());
                not_done.insert(slot.wanted.key, &output.not_done);
                objects.extend(output.objects.iter().map(|object| Applied {
                    object: object.clone(),
                    by: applier.clone(),
                    completion: Completion::default(),
                }));
            }
            appliers.push(applier);
        }
        drop_overtaken(&mut objects);
        done.push(Cluster { name: cluster.root.name.clone(), appliers, objects });
    }
    let mut all = Vec::new();
    for (found, mut names) in findings.into_values() {
        names.dedup();
        all.extend(found.into_iter().map(|finding| Finding { clusters: names.clone(), ..finding }));
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for (what, count) in not_done.into_values().flatten() {
        *counted.entry(what.clone()).or_default() += count;
    }
    Built { clusters: done, findings: all, not_done: counted }
}

/// Leaves out what was applied by hand and is applied by Flux since.
fn drop_overtaken(objects: &mut Vec<Applied>) {
    let by_flux = objects.iter().filter(|applied| applied.by.kind != ApplierKind::Bootstrap);
    let by_flux: Index<Id, ()> = by_flux.map(|applied| (id(&applied.object), ())).collect();
    objects.retain(|applied| applied.by.kind != ApplierKind::Bootstrap || !by_flux.contains(&id(&applied.object)));
}
