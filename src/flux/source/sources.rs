//! The sources of the clusters, and the copies of their content.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arcstr::ArcStr;

use super::artifact::{Artifact, Packed, Resolution};
use super::digest::digest;
use super::generator::{Generated, Names};
use super::origin::Origin;
use crate::address::{Address, Location, short_reference};
use crate::flux::source::generator::stop::Stop;
use crate::kube::Object;
use crate::kustomize;
use crate::kustomize::{CopySet, Files, Totals};
use crate::text::{Index, Tree, is_inside};
use crate::yaml::{Node, Value};

/// A local copy of the content of a source.
#[derive(Debug, Clone)]
pub struct Copy {
    address: Address,
    reference: Option<ArcStr>,
    place: Place,
}

/// The location of a copy.
#[derive(Debug, Clone)]
enum Place {
    /// In a directory of the linted repository.
    Inside(ArcStr),
    /// In another directory, which is parsed on first use.
    Outside(Tree, Arc<OnceLock<Files>>),
}

impl Copy {
    /// Creates the copy of a `--source` option, with the files of the given directory.
    pub fn new(location: &Location, tree: Tree) -> Self {
        Self {
            address: location.address.clone(),
            reference: location.reference.clone(),
            place: Place::Outside(tree, Arc::default()),
        }
    }

    /// Creates the copy of a `--source` option whose directory is in the linted repository.
    pub fn inside(location: &Location, folder: &str) -> Self {
        Self {
            address: location.address.clone(),
            reference: location.reference.clone(),
            place: Place::Inside(folder.into()),
        }
    }

    /// Returns whether the copy is of a source with this address.
    pub fn is_of(&self, address: &Address) -> bool {
        self.address == *address
    }

    /// The files of a copy outside of the linted repository.
    pub fn outside(&self) -> Option<&Tree> {
        match &self.place {
            Place::Inside(_) => None,
            Place::Outside(tree, _) => Some(tree),
        }
    }

    fn is_in(&self, folder: &str) -> bool {
        matches!(&self.place, Place::Inside(inside) if **inside == *folder)
    }
}

/// Copies by the key of their address, in the order of the options.
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

/// Fetched sources by the memory address of the node and the directory of the repository.
type Simple = Index<(usize, Option<String>), (Node, Fetched)>;

/// The artifacts of all clusters, each created once. Threads may share this struct.
#[derive(Debug)]
pub struct Sources {
    repository: Files,
    /// The cost of all builds of the run.
    totals: Arc<Totals>,
    copies: Copies,
    /// The copies for kustomizations that reference a base by URL.
    bases: CopySet,
    /// The repository itself, under the addresses of the clusters' root sources.
    own: Copies,
    /// Artifacts by id. The lock is never held while waiting.
    made: Mutex<BTreeMap<ArcStr, Arc<Artifact>>>,
    /// The artifacts of generators, by the digest of their input. The lock is never held while waiting.
    generated: Mutex<BTreeMap<ArcStr, Arc<Made>>>,
    /// The artifacts of sources that reference no other sources, by the memory address of their nodes and the directory
    /// of the repository. The map keeps the nodes, so that addresses stay unique. The lock is never held while waiting.
    simple: Mutex<Simple>,
    /// The names of generators' artifacts, by the memory address of the generators' nodes. The map keeps the nodes, so
    /// that addresses stay unique.
    names: Mutex<BTreeMap<usize, (Node, Arc<Names>)>>,
}

/// The result of fetching a source.
pub(super) type Fetched = Result<Arc<Artifact>, Resolution>;

/// The artifacts of a generator, and the reason if the generator stopped early.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) artifacts: BTreeMap<String, Arc<Artifact>>,
    pub(super) stopped: Option<Stop>,
}

impl Sources {
    /// Creates the sources of a repository, with the local copies of other sources.
    pub fn new(repository: Files, copies: Vec<Copy>) -> Self {
        let bases = bases(&repository, &copies);
        let mut by_address = Copies::default();
        for copy in copies {
            by_address.add(copy);
        }
        Self {
            repository,
            totals: Arc::default(),
            copies: by_address,
            bases,
            own: Copies::default(),
            made: Mutex::default(),
            generated: Mutex::default(),
            simple: Mutex::default(),
            names: Mutex::default(),
        }
    }

    /// Counts the cost of the builds in `totals`.
    #[must_use]
    pub(crate) fn within(self, totals: &Arc<Totals>) -> Self {
        Self { totals: totals.clone(), ..self }
    }

    /// The cost of all builds of the run.
    pub(crate) fn totals(&self) -> &Arc<Totals> {
        &self.totals
    }

    /// Registers a directory of the repository as the content of a cluster's root source.
    ///
    /// The directory is then the content of every source with the same address and reference. The first registration
    /// has precedence. A source without an address is ignored.
    pub fn add_own(&mut self, root: &Object, folder: &str) {
        let Some(Origin { address, reference }) = Origin::of(root) else { return };
        let own = Copy { address, reference, place: Place::Inside(folder.into()) };
        // A thousand clusters may have the same root.
        let is_last = |last: &Copy| last.reference == own.reference && last.is_in(folder);
        if !self.own.of(&own.address).last().is_some_and(is_last) {
            self.own.add(own);
        }
    }

    /// The files of the repository.
    pub fn repository_files(&self) -> &Files {
        &self.repository
    }

    /// The repository as an artifact, for directories that are built without a known source.
    pub fn repository(&self) -> Arc<Artifact> {
        self.know("repository", || self.repository.clone())
    }

    /// The artifact with an id, if it was made.
    pub(crate) fn made_with(&self, id: &str) -> Option<Arc<Artifact>> {
        self.made().get(id).cloned()
    }

    /// The copy of an origin. A copy of the exact reference precedes a copy of any reference.
    pub(super) fn copy_of(&self, origin: &Origin) -> Option<(String, Files)> {
        let (said, own) = (self.copies.of(&origin.address), self.own.of(&origin.address));
        let exact = |copy: &&Copy| copy.reference.is_some() && copy.reference == origin.reference;
        let any = |copy: &&Copy| copy.reference.is_none();
        let found = said.iter().find(exact).or_else(|| own.iter().find(exact));
        let found = found.or_else(|| said.iter().find(any)).or_else(|| own.iter().find(any))?;
        Some(self.files_of(found))
    }

    /// The copy of a chart of a Helm repository: of the chart's own address, or else of the repository.
    pub fn chart_copy(&self, repository: &str, chart: &str, version: Option<&str>) -> Option<(String, Files)> {
        let own = format!("{}/{chart}", repository.trim_end_matches('/'));
        let copy = |url: &str| {
            let reference = version.map(|version| short_reference(version).into());
            self.copy_of(&Origin { address: Address::new(url), reference })
        };
        copy(&own).or_else(|| copy(repository))
    }

    /// The files of a directory of the repository.
    pub(super) fn own(&self, folder: &str) -> (String, Files) {
        let id = format!("repository/{folder}");
        let artifact = self.know(&id, || below(&self.repository, folder));
        (id, artifact.files().clone())
    }

    fn files_of(&self, copy: &Copy) -> (String, Files) {
        match &copy.place {
            Place::Inside(folder) => self.own(folder),
            Place::Outside(tree, files) => {
                // Different spellings of a directory are different copies. A copy may have many addresses.
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

    /// The artifact with an id, created on first use. Failures are not cached.
    pub(super) fn make<E>(&self, id: &str, pack: impl FnOnce() -> Result<Packed, E>) -> Result<Arc<Artifact>, E> {
        let id = digest(id);
        if let Some(artifact) = self.made().get(&id) {
            return Ok(artifact.clone());
        }
        let packed = pack()?;
        let content = Packed { files: packed.files.with_copies(&self.bases), ..packed };
        let artifact = Arc::new(Artifact::new(id.clone(), content, &self.totals));
        // Another thread may have created the artifact in the meantime. All threads share the first artifact, which
        // caches builds.
        Ok(self.made().entry(id).or_insert(artifact).clone())
    }

    fn know(&self, id: &str, files: impl FnOnce() -> Files) -> Arc<Artifact> {
        let Ok(artifact) = self.make(id, || Ok::<_, Infallible>(files().into()));
        artifact
    }

    /// The names of a generator's artifacts, read on first use.
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

    /// The artifact of a source that references no other sources, fetched on first use. Clusters share sources.
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

    /// The artifacts of a generator, generated on first use.
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

    fn made(&self) -> MutexGuard<'_, BTreeMap<ArcStr, Arc<Artifact>>> {
        // After a panic in another thread, all entries are complete, since each entry is inserted in one step.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The copies of bases that kustomizations may reference by URL.
pub fn bases(repository: &Files, copies: &[Copy]) -> CopySet {
    let base = |copy: &Copy| {
        let tree = match &copy.place {
            Place::Inside(folder) => below(repository, folder).tree().clone(),
            Place::Outside(tree, _) => tree.clone(),
        };
        kustomize::Copy { address: copy.address.clone(), reference: copy.reference.clone(), tree }
    };
    copies.iter().map(base).collect()
}

/// The files below a directory, with paths relative to the directory.
fn below(files: &Files, folder: &str) -> Files {
    if folder.is_empty() {
        return files.clone();
    }
    let paths = files.tree().under(folder).filter(|path| is_inside(path, folder));
    let prefix = folder.len() + 1;
    Files::select(paths.filter_map(|path| Some((path.get(prefix..)?.into(), files, path.into()))))
}
