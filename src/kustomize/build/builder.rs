//! Builds of directories, each directory once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::finish::finish;
use super::output::Build;
use super::walk::{Cache, Walk};
use crate::kube::Object;
use crate::kustomize::file::definition::{Definition, file_in, read};
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::state::accumulator::{Accumulator, is_local};
use crate::text::{Tree, is_inside};
use crate::yaml::{Node, Parsed};

/// Builds one folder of a tree.
pub fn build(tree: &Tree, folder: &str) -> Build {
    let files = Files::read(tree, |file| is_inside(file.path(), folder));
    let mut build = Builder::new(files).build(folder);
    build.findings.extend(build.empty.clone());
    build
}

/// Builds folders of a tree, each once however often it is included. Threads may share it.
#[derive(Debug)]
pub struct Builder {
    files: Files,
    cache: Cache,
}

impl Builder {
    /// A builder that has built nothing yet.
    pub fn new(files: Files) -> Self {
        Self { files, cache: Cache::default() }
    }

    /// What it builds from.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Builds a folder that has a kustomization file.
    pub fn build(&self, folder: &str) -> Build {
        let (definition, accumulator) = self.top(folder);
        accumulator.map_or_else(Build::default, |accumulator| finish(&accumulator, definition.as_ref()))
    }

    /// The objects of a folder before the steps that kustomize takes once, at the top: their names have no hash, nobody
    /// follows them, and nothing is said of what is wrong. That is enough for whoever asks what there is.
    pub fn gather(&self, folder: &str) -> Build {
        let (_, Some(accumulator)) = self.top(folder) else { return Build::default() };
        let nodes = accumulator.resources.list.iter().map(|resource| &resource.node).filter(|node| !is_local(node));
        Build {
            objects: nodes.map(|node| Object { node: node.clone() }).collect(),
            not_done: accumulator.not_done.clone(),
            folders: accumulator.folders.clone(),
            ..Build::default()
        }
    }

    /// What the kustomization of a folder says, and what it accumulates.
    fn top(&self, folder: &str) -> (Option<Definition>, Option<Arc<Accumulator>>) {
        let definition = file_in(&self.files, folder).first().and_then(|path| read(&self.files, path));
        let accumulator = self.walk(definition.as_ref()).folder(folder);
        (definition, accumulator)
    }

    /// Builds a folder as if its kustomization file, which need not exist, said `node`: Flux writes one before it builds.
    pub fn build_as(&self, folder: &str, node: &Node) -> Build {
        let file = node.span().file().clone();
        let parsed = Arc::new(Parsed { file, documents: Vec::new(), findings: Vec::new() });
        let definition = Definition::new(node, parsed, folder);
        let mut accumulator = Accumulator::default();
        accumulator.folders.insert(folder.to_string());
        self.walk(Some(&definition)).accumulate(&definition, &mut accumulator);
        finish(&accumulator, Some(&definition))
    }

    /// Lays what a kustomization `node` of a folder says over objects that are no files. What its patches do not find
    /// may be an object that nobody gave, so that is no fault.
    pub fn build_over(&self, objects: Vec<Object>, folder: &str, node: &Node) -> Build {
        let parsed = Parsed { file: node.span().file().clone(), documents: Vec::new(), findings: Vec::new() };
        let definition = Definition::new(node, Arc::new(parsed), folder);
        let mut accumulator = Accumulator { is_incomplete: true, ..Accumulator::default() };
        for object in objects {
            let place = object.node.clone();
            accumulator.add(Resource::new(object.node), &place);
        }
        self.walk(Some(&definition)).accumulate(&definition, &mut accumulator);
        finish(&accumulator, Some(&definition))
    }

    /// What the folders built so far ask for and was not done, each folder counted once.
    pub fn not_done(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for (what, count) in self.cache.lock().values().flat_map(|accumulator| &accumulator.own_not_done) {
            *all.entry(what.clone()).or_default() += count;
        }
        all
    }

    /// Starts a build.
    fn walk(&self, top: Option<&Definition>) -> Walk<'_> {
        Walk::new(&self.files, &self.cache, top)
    }
}
