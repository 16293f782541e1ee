//! Builds of directories, each directory once.

use std::sync::Arc;

use super::finish::{finish, positions_without_changes};
use super::output::Build;
use super::walk::{Cache, Walk};
use crate::base::finding::{FaultKind, Finding};
use crate::kube::Object;
use crate::kustomize::file::comparison::Comparison;
use crate::kustomize::file::definition::{Definition, file_in, read};
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::patch_targets::PatchTarget;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::omission::Omissions;
use crate::kustomize::state::accumulator::{Accumulator, is_local};
use crate::kustomize::state::totals::Totals;
use crate::text::{Reads, Tree, is_inside};
use crate::yaml::{Node, Parsed};

/// Builds one directory of a tree.
pub fn build(tree: &Tree, folder: &str) -> Build {
    let files = Files::read(tree, |file| is_inside(file.path(), folder));
    let mut build = Builder::new(files).build(folder);
    build.findings.extend(build.empty.clone());
    build
}

/// Builds directories of a tree, each directory once. Threads can share a builder.
#[derive(Debug)]
pub struct Builder {
    files: Files,
    cache: Arc<Cache>,
    totals: Arc<Totals>,
    /// Whether the builder records its reads, so that a builder of another state can share its directories.
    is_recording: bool,
}

impl Builder {
    /// Creates a builder with an empty cache.
    pub fn new(files: Files) -> Self {
        Self { files, cache: Arc::default(), totals: Arc::default(), is_recording: false }
    }

    /// Creates a builder that records its reads, so that a builder of another state of the files can share its
    /// directories.
    pub fn recording(files: Files) -> Self {
        Self { is_recording: true, ..Self::new(files) }
    }

    /// Creates a builder that shares the directories that another state of the files builds equally.
    ///
    /// The other builder records its reads.
    pub fn beside(files: Files, other: &Self) -> Self {
        let cache = Arc::new(Cache::beside(other.cache.clone(), Comparison::new(&files, &other.files)));
        Self { files, cache, totals: Arc::default(), is_recording: false }
    }

    /// Counts the cost of the builds together with other builders.
    #[must_use]
    pub fn within(self, totals: &Arc<Totals>) -> Self {
        Self { totals: totals.clone(), ..self }
    }

    /// The cost of all builds of the run.
    pub fn totals(&self) -> &Arc<Totals> {
        &self.totals
    }

    /// The files that the builder reads.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Builds a directory that has a kustomization file.
    pub fn build(&self, folder: &str) -> Build {
        let (definition, accumulator) = self.top(folder);
        accumulator.map_or_else(Build::default, |accumulator| finish(&accumulator, definition.as_ref()))
    }

    /// Accumulates the objects of a directory without the final steps of a build.
    ///
    /// Names have no hash suffix, and references are not updated. The only finding is that all builds together exceed a
    /// limit.
    pub fn accumulate(&self, folder: &str) -> Build {
        let (_, Some(accumulator)) = self.top(folder) else { return Build::default() };
        let resources = || accumulator.resources.list.iter().filter(|resource| !is_local(&resource.node));
        Build {
            objects: resources().map(|resource| Object { node: resource.node.clone() }).collect(),
            lacks_changes: positions_without_changes(resources()),
            findings: accumulator.findings.iter().filter(|finding| is_of_all_builds(finding)).cloned().collect(),
            not_done: accumulator.not_done.clone(),
            folders: accumulator.folders.clone(),
            ..Build::default()
        }
    }

    /// The kustomization of a directory, and the accumulated result.
    fn top(&self, folder: &str) -> (Option<Definition>, Option<Arc<Accumulator>>) {
        let definition = file_in(&self.files, folder).first().and_then(|path| read(&self.files, path));
        let build = || self.walk(definition.as_ref()).folder(folder);
        let accumulator = if self.is_recording { Reads::record(build).0 } else { build() };
        (definition, accumulator)
    }

    /// Builds a directory as if `node` were its kustomization file. Flux writes this file before it builds.
    pub fn build_as(&self, folder: &str, node: &Node) -> Build {
        let file = node.span().file().clone();
        let parsed = Arc::new(Parsed { file, documents: Vec::new(), findings: Vec::new(), is_cut: false });
        let definition = Definition::new(node, parsed, folder);
        let mut accumulator = Accumulator::within(&self.totals);
        accumulator.folders.insert(folder.to_string());
        self.walk(Some(&definition)).accumulate(&definition, &mut accumulator);
        finish(&accumulator, Some(&definition))
    }

    /// Builds a kustomization `node` over objects that do not come from files.
    ///
    /// A patch without a matching object is not an error, because the caller may not know all objects.
    pub fn build_over(&self, objects: Vec<Object>, folder: &str, node: &Node) -> Build {
        self.over(objects, folder, node, Accumulator::within(&self.totals))
    }

    /// The patches of a kustomization `node` with a target, and whether each target selects one of the objects.
    ///
    /// `objects` contains all objects in outline: a patch may change a field that an outlined object lacks.
    pub fn patch_targets_over(&self, objects: Vec<Object>, node: &Node) -> Vec<PatchTarget> {
        self.over(objects, "", node, Accumulator { is_outlined: true, ..Accumulator::within(&self.totals) })
            .patch_targets
    }

    fn over(&self, objects: Vec<Object>, folder: &str, node: &Node, mut accumulator: Accumulator) -> Build {
        let parsed =
            Parsed { file: node.span().file().clone(), documents: Vec::new(), findings: Vec::new(), is_cut: false };
        let definition = Definition::new(node, Arc::new(parsed), folder);
        accumulator.is_incomplete = true;
        for object in objects {
            let location = object.node.clone();
            accumulator.add(Resource::new(object.node), &location);
        }
        self.walk(Some(&definition)).accumulate(&definition, &mut accumulator);
        finish(&accumulator, Some(&definition))
    }

    /// The omitted features of all directories in the cache. Each directory counts once.
    pub fn not_done(&self) -> Omissions {
        let mut all = Omissions::new();
        for (omission, count) in self.cache.lock().values().flat_map(|accumulator| &accumulator.own_not_done) {
            *all.entry(*omission).or_default() += count;
        }
        all
    }

    /// Starts a build.
    fn walk(&self, top: Option<&Definition>) -> Walk<'_> {
        Walk::new(&self.files, &self.cache, &self.totals, top)
    }
}

/// Returns whether a finding is about the limits of all builds.
fn is_of_all_builds(finding: &Finding) -> bool {
    finding.kind == Some(FaultKind::LimitOfAllBuilds)
}
