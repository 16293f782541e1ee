//! The sources of a repository's clusters: what is known of where they fetch from.

use super::digest::digest;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::artifact::{Artifact, Resolution};
use super::generator::{Generated, Names};
use super::origin::Origin;
use crate::address::{Address, Location};
use crate::flux::source::generator::stop::Stop;
use crate::kube::Object;
use crate::kustomize;
use crate::kustomize::Files;
use crate::text::{Index, Tree, is_inside};
use crate::yaml::{Node, Value};

/// A copy of what sources fetch.
#[derive(Debug, Clone)]
pub struct Copy {
    address: Address,
    reference: Option<Arc<str>>,
    place: Place,
}

/// Where a copy lies.
#[derive(Debug, Clone)]
enum Place {
    /// In a folder of the repository that is judged.
    Inside(Arc<str>),
    /// In a folder of its own; it is parsed when first asked for.
    Outside(Tree, Arc<OnceLock<Files>>),
}

impl Copy {
    /// The copy that `--source` names, whose folder was read.
    pub fn new(location: &Location, tree: Tree) -> Self {
        Self {
            address: location.address.clone(),
            reference: location.reference.clone(),
            place: Place::Outside(tree, Arc::default()),
        }
    }

    /// The copy that `--source` names, when it is a folder of the repository that is judged.
    pub fn inside(location: &Location, folder: &str) -> Self {
        Self {
            address: location.address.clone(),
            reference: location.reference.clone(),
            place: Place::Inside(folder.into()),
        }
    }

    fn is_in(&self, folder: &str) -> bool {
        matches!(&self.place, Place::Inside(inside) if **inside == *folder)
    }
}

/// Copies by the keys of their addresses, each list in the order that they were named.
#[derive(Debug, Default)]
struct Copies(BTreeMap<String, Vec<Copy>>);

impl Copies {
    fn add(&mut self, copy: Copy) {
        self.0.entry(copy.address.key().to_owned()).or_default().push(copy);
    }

    fn of(&self, address: &Address) -> &[Copy] {
        self.0.get(address.key()).map_or(&[], Vec::as_slice)
    }
}

/// What sources of one object fetch, by its place in memory and the folder that is its own.
type Simple = Index<(usize, Option<String>), (Node, Fetched)>;

/// What the sources of all clusters hand out, each made once. Threads may share it.
#[derive(Debug)]
pub struct Sources {
    repository: Files,
    copies: Copies,
    /// The same for kustomizations that name a base by its URL.
    bases: Vec<kustomize::Copy>,
    /// The repository itself, under the addresses that its clusters know it by.
    own: Copies,
    /// By their ids. Nobody waits while holding it.
    made: Mutex<BTreeMap<Arc<str>, Arc<Artifact>>>,
    /// What generators made, by what decides it. Nobody waits while holding it.
    generated: Mutex<BTreeMap<Arc<str>, Arc<Made>>>,
    /// What sources that are made of no others hand out, by the place in memory of their nodes, which are kept so that no
    /// other one gets it, and the folder of the repository that they hand out. Nobody waits while holding it.
    simple: Mutex<Simple>,
    /// What generators say, by the place in memory of their nodes, which are kept so that no other one gets it.
    names: Mutex<BTreeMap<usize, (Node, Arc<Names>)>>,
}

/// What comes of fetching a source.
pub(super) type Fetched = Result<Arc<Artifact>, Resolution>;

/// The artifacts of one generator, and why it made no more.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) artifacts: BTreeMap<String, Arc<Artifact>>,
    pub(super) stopped: Option<Stop>,
}

impl Sources {
    /// The sources of a repository, of which only the copies are known yet.
    pub fn new(repository: Files, copies: Vec<Copy>) -> Self {
        let bases = bases(&repository, &copies);
        let mut by_address = Copies::default();
        for copy in copies {
            by_address.add(copy);
        }
        Self {
            repository,
            copies: by_address,
            bases,
            own: Copies::default(),
            made: Mutex::default(),
            generated: Mutex::default(),
            simple: Mutex::default(),
            names: Mutex::default(),
        }
    }

    /// Takes a folder of the repository for what a cluster's root fetches: a source of the same address and reference
    /// hands that out. What is added first counts; an object without an address adds nothing.
    pub fn add_own(&mut self, root: &Object, folder: &str) {
        let Some(Origin { address, reference }) = Origin::of(root) else { return };
        let own = Copy { address, reference, place: Place::Inside(folder.into()) };
        // A thousand clusters may have one root each, and all of them the same.
        let is_last = |last: &Copy| last.reference == own.reference && last.is_in(folder);
        if !self.own.of(&own.address).last().is_some_and(is_last) {
            self.own.add(own);
        }
    }

    /// The repository as it lies there: for folders that are built although no source is known to hand them out.
    pub fn repository(&self) -> Arc<Artifact> {
        self.know("repository", || self.repository.clone())
    }

    /// The copy of what is fetched: one of exactly this reference before one of any.
    pub(super) fn copy_of(&self, origin: &Origin) -> Option<(String, Files)> {
        let (said, own) = (self.copies.of(&origin.address), self.own.of(&origin.address));
        let exact = |copy: &&Copy| copy.reference.is_some() && copy.reference == origin.reference;
        let any = |copy: &&Copy| copy.reference.is_none();
        let found = said.iter().find(exact).or_else(|| own.iter().find(exact));
        let found = found.or_else(|| said.iter().find(any)).or_else(|| own.iter().find(any))?;
        Some(self.files_of(found))
    }

    /// A folder of the repository.
    pub(super) fn own(&self, folder: &str) -> (String, Files) {
        let id = format!("repository/{folder}");
        let artifact = self.know(&id, || below(&self.repository, folder));
        (id, artifact.files().clone())
    }

    fn files_of(&self, copy: &Copy) -> (String, Files) {
        match &copy.place {
            Place::Inside(folder) => self.own(folder),
            Place::Outside(tree, files) => {
                // Folders that were typed differently are different copies; one may be that of many addresses.
                let root = tree.files().find_map(|file| file.root().cloned());
                let reference = copy.reference.as_deref().unwrap_or_default();
                let id = root.map_or_else(
                    || format!("copy of {}#{reference}", copy.address.key()),
                    |root| format!("copy in {root}"),
                );
                (id, files.get_or_init(|| Files::read(tree, |_| true)).clone())
            }
        }
    }

    /// The artifact of an id, made unless it is known. What is not made is not remembered.
    pub(super) fn make<E>(&self, id: &str, files: impl FnOnce() -> Result<Files, E>) -> Result<Arc<Artifact>, E> {
        let id = digest(id);
        if let Some(artifact) = self.made().get(&id) {
            return Ok(artifact.clone());
        }
        let files = files()?.with_copies(self.bases.iter().cloned());
        let artifact = Arc::new(Artifact::new(id.clone(), files));
        // Another thread may have made it meanwhile: all share the first one, whose builds are memoised.
        Ok(self.made().entry(id).or_insert(artifact).clone())
    }

    fn know(&self, id: &str, files: impl FnOnce() -> Files) -> Arc<Artifact> {
        let Ok(artifact) = self.make(id, || Ok::<_, Infallible>(files()));
        artifact
    }

    /// The names of what a generator makes, read unless they are known.
    pub(super) fn names_of(&self, generator: &Object) -> Arc<Names> {
        let Value::Map(entries) = &generator.node.value else { return Arc::new(Names::of(generator)) };
        let address = entries.as_ptr().addr();
        if let Some((_, names)) = self.names.lock().unwrap_or_else(PoisonError::into_inner).get(&address) {
            return names.clone();
        }
        let names = Arc::new(Names::of(generator));
        let known = (generator.node.clone(), names.clone());
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(address, known);
        names
    }

    /// What a source hands out that is made of no others, found unless it is known: clusters share sources.
    pub(super) fn simple(&self, source: &Object, own: Option<String>, fetch: impl FnOnce() -> Fetched) -> Fetched {
        let Value::Map(entries) = &source.node.value else { return fetch() };
        let key = (entries.as_ptr().addr(), own);
        let known = || self.simple.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, fetched)) = known().get(&key) {
            return fetched.clone();
        }
        let fetched = fetch();
        known().insert(key, (source.node.clone(), fetched.clone()));
        fetched
    }

    /// What a generator makes, made unless it is known.
    pub(super) fn generate(&self, key: &str, generate: impl FnOnce() -> Generated) -> Arc<Made> {
        let id = digest(key);
        if let Some(made) = self.generated.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return made.clone();
        }
        let Generated { artifacts, stopped } = generate();
        let artifacts = artifacts.into_iter().map(|(name, files)| {
            let artifact = self.know(&format!("{key}\n{name}"), || files);
            (name, artifact)
        });
        let made = Arc::new(Made { artifacts: artifacts.collect(), stopped });
        self.generated.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(made).clone()
    }

    fn made(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<Artifact>>> {
        // A panic elsewhere leaves whole entries: each is inserted in one step.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The copies as those that a kustomization may name by a URL.
pub fn bases(repository: &Files, copies: &[Copy]) -> Vec<kustomize::Copy> {
    let base = |copy: &Copy| {
        let tree = match &copy.place {
            Place::Inside(folder) => below(repository, folder).tree().clone(),
            Place::Outside(tree, _) => tree.clone(),
        };
        kustomize::Copy { address: copy.address.clone(), reference: copy.reference.clone(), tree }
    };
    copies.iter().map(base).collect()
}

/// The files below a folder, under their paths from it.
fn below(files: &Files, folder: &str) -> Files {
    if folder.is_empty() {
        return files.clone();
    }
    let paths = files.tree().under(folder).filter(|path| is_inside(path, folder));
    let prefix = folder.len() + 1;
    Files::select(paths.filter_map(|path| Some((path.get(prefix..)?.into(), files, path.into()))))
}
