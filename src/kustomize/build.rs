//! Building a folder: resources, components, then the transformers in kustomize's order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::finish::finish;
use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::file::definition::{Definition, file_in, read};
use crate::kustomize::file::files::Files;
use crate::kustomize::file::remote_base::{self, RemoteBase};
use crate::kustomize::generate::config_maps;
use crate::kustomize::objects::patch_targets::Laid;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::references::vars;
use crate::kustomize::schema::user_schema::{self, UserSchema};
use crate::kustomize::state::accumulator::{Partial, count_fields, is_local};
use crate::kustomize::state::{load_config, origin_annotations};
use crate::kustomize::transform::sequence;
use crate::text::{File, Tree, is_inside};
use crate::yaml::{DUPLICATE_KEY, Node, Parsed};

/// The rule of findings about folders that do not build.
pub const FAILED_BUILD: &str = "failed-build";
/// The rule of findings about files and folders that a kustomization names and that are not there.
pub const MISSING_RESOURCE: &str = "missing-resource";

/// What a folder builds to.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The objects in kustomize's order.
    pub objects: Vec<Object>,
    /// What is wrong; the objects are then those that could be built nevertheless.
    pub findings: Vec<Finding>,
    /// What was asked for and not done, counted: fields of kustomization files, and `resources: <url>`.
    pub not_done: BTreeMap<String, usize>,
    /// What was left out because it lies elsewhere or needs another program, at its lines; `not_done` counts it too.
    pub left_out: Vec<Finding>,
    /// The patches with a target, each once, and whether they found anything; without those of which nobody can say it,
    /// since something was not done.
    pub laid: Vec<Laid>,
    /// What its kustomizations load from a URL, whether there is a copy of it or not.
    pub remote: Vec<RemoteBase>,
    /// The folders it was built from.
    pub folders: BTreeSet<String>,
    /// Set when the folder's own kustomization says nothing. kustomize refuses that; Flux does not, where it is the
    /// folder that a Flux Kustomization applies, so [`Builder::build`] leaves it out of the findings.
    pub empty: Option<Finding>,
}

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
    /// What was built already. Nobody waits for a build while holding it: two threads that need the same folder at the
    /// same time both build it, to the same result.
    built: Mutex<BTreeMap<String, Arc<Partial>>>,
}

/// One build on its way down: what it is called for, so that circles are seen.
pub(super) struct Walk<'a> {
    builder: &'a Builder,
    pub(super) files: &'a Files,
    pub(super) open: Vec<String>,
    /// Whether it is noted where objects come from and what is done to them.
    pub(super) traced: bool,
    /// The schema that the first kustomization with one gives, which holds for everything built after it.
    schema: Option<Arc<UserSchema>>,
    /// Whether an object was met already.
    pub(super) is_begun: bool,
    /// The outermost folder, by its place in `open`, that what is being built was refused for.
    pub(super) refused_for: Option<usize>,
    /// How many components were taken in.
    pub(super) components: usize,
    /// What was built here and would not be the same elsewhere: it is traced, another schema holds, or folders on the
    /// way down were refused.
    own: BTreeMap<String, Arc<Partial>>,
}

/// A kustomization file that is there.
pub(super) enum Read {
    /// What it says.
    Usable(Definition),
    /// It is no mapping; what is wrong with it is noted.
    Unusable,
}

impl Builder {
    /// A builder that has built nothing yet.
    pub fn new(files: Files) -> Self {
        Self { files, built: Mutex::default() }
    }

    /// What it builds from.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Builds a folder that has a kustomization file.
    pub fn build(&self, folder: &str) -> Build {
        let (definition, partial) = self.top(folder);
        partial.map_or_else(Build::default, |partial| finish(&partial, definition.as_ref()))
    }

    /// The objects of a folder before the steps that kustomize takes once, at the top: their names have no hash, nobody
    /// follows them, and nothing is said of what is wrong. That is enough for whoever asks what there is.
    pub fn gather(&self, folder: &str) -> Build {
        let (_, Some(partial)) = self.top(folder) else { return Build::default() };
        let nodes = partial.resources.list.iter().map(|resource| &resource.node).filter(|node| !is_local(node));
        Build {
            objects: nodes.map(|node| Object { node: node.clone() }).collect(),
            not_done: partial.not_done.clone(),
            folders: partial.folders.clone(),
            ..Build::default()
        }
    }

    /// What the kustomization of a folder says, and what it accumulates.
    fn top(&self, folder: &str) -> (Option<Definition>, Option<Arc<Partial>>) {
        let definition = file_in(&self.files, folder).first().and_then(|path| read(&self.files, path));
        let partial = self.walk(definition.as_ref()).folder(folder);
        (definition, partial)
    }

    /// Builds a folder as if its kustomization file, which need not exist, said `node`: Flux writes one before it builds.
    pub fn build_as(&self, folder: &str, node: &Node) -> Build {
        let file = node.span().file().clone();
        let parsed = Arc::new(Parsed { file, documents: Vec::new(), findings: Vec::new() });
        let definition = Definition::new(node, parsed, folder);
        let mut partial = Partial::default();
        partial.folders.insert(folder.to_string());
        self.walk(Some(&definition)).accumulate(&definition, &mut partial);
        finish(&partial, Some(&definition))
    }

    /// Lays what a kustomization `node` of a folder says over objects that are no files. What its patches do not find
    /// may be an object that nobody gave, so that is no fault.
    pub fn build_over(&self, objects: Vec<Object>, folder: &str, node: &Node) -> Build {
        let parsed = Parsed { file: node.span().file().clone(), documents: Vec::new(), findings: Vec::new() };
        let definition = Definition::new(node, Arc::new(parsed), folder);
        let mut partial = Partial { uncertain: true, ..Partial::default() };
        for object in objects {
            let place = object.node.clone();
            partial.add(Resource::new(object.node), &place);
        }
        self.walk(Some(&definition)).accumulate(&definition, &mut partial);
        finish(&partial, Some(&definition))
    }

    /// What the folders built so far ask for and was not done, each folder counted once.
    pub fn not_done(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for (what, count) in self.built().values().flat_map(|partial| &partial.own_not_done) {
            *all.entry(what.clone()).or_default() += count;
        }
        all
    }

    fn built(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Partial>>> {
        // A panic elsewhere leaves whole entries: each is inserted in one step.
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a build; the kustomization at its top says whether it is noted what happens.
    fn walk(&self, top: Option<&Definition>) -> Walk<'_> {
        Walk {
            builder: self,
            files: &self.files,
            open: Vec::new(),
            traced: top.is_some_and(origin_annotations::is_asked),
            schema: None,
            is_begun: false,
            refused_for: None,
            components: 0,
            own: BTreeMap::new(),
        }
    }
}

impl Walk<'_> {
    /// The folder's build; `None` when it has no kustomization file.
    pub(super) fn folder(&mut self, folder: &str) -> Option<Arc<Partial>> {
        let is_usual = !self.traced && self.schema.is_none();
        let shared = if is_usual { self.builder.built().get(folder).cloned() } else { None };
        // A schema that comes after the first object is not read as one that comes before.
        let is_begun = self.is_begun;
        let is_same = |partial: &Partial| partial.schema.is_none() || !is_begun;
        if let Some(built) = shared.filter(|built| is_same(built)) {
            self.schema.clone_from(&built.schema);
            return Some(built);
        }
        if let Some(built) = self.own.get(folder).cloned() {
            self.refused_for = Some(0);
            self.schema = self.schema.take().or_else(|| built.schema.clone());
            return Some(built);
        }
        let around = self.refused_for.take();
        let Some(partial) = self.build_folder(folder) else {
            self.refused_for = around;
            return None;
        };
        let is_refused = self.refused_for.is_some_and(|at| at < self.open.len());
        if is_refused || !is_usual || !is_same(&partial) {
            // Whoever asks for this folder alone gets another answer, which threads may be waiting for.
            self.own.insert(folder.to_string(), partial.clone());
        } else {
            self.builder.built().insert(folder.to_string(), partial.clone());
        }
        self.refused_for = if is_refused { self.refused_for.min(around).or(self.refused_for) } else { around };
        Some(partial)
    }

    fn build_folder(&mut self, folder: &str) -> Option<Arc<Partial>> {
        let mut partial = Partial::default();
        let definition = self.definition(folder, &mut partial)?;
        if let Read::Usable(definition) = definition {
            partial.component = definition.is_component();
            self.accumulate(&definition, &mut partial);
        }
        Some(Arc::new(partial))
    }

    /// Reads the folder's kustomization file; `None` when there is none.
    pub(super) fn definition(&self, folder: &str, partial: &mut Partial) -> Option<Read> {
        let paths = file_in(self.files, folder);
        let path = paths.first()?;
        partial.folders.insert(folder.to_string());
        let definition = read(self.files, path);
        let Some(definition) = definition.filter(|definition| definition.node.is_map()) else {
            partial.uncertain = true;
            if let Some(parsed) = self.files.get(path) {
                let at = parsed.file.first_line();
                if !parsed.findings.is_empty() {
                    partial.findings.extend(parsed.findings.iter().cloned());
                } else if parsed.documents.first().is_some_and(|document| !document.node.is_map()) {
                    let message = "a kustomization is a mapping of fields, and this is none";
                    partial.fail(Finding::error(FAILED_BUILD, at, message).help("list `resources`"));
                } else {
                    let message = "this kustomization says nothing; kustomize refuses it";
                    let help = "list `resources`, or remove the file";
                    partial.empty = Some(Finding::error(FAILED_BUILD, at, message).help(help));
                }
            } else {
                let message = format!("`{}` is no text that can be read", self.files.tree().called(path));
                partial.fail(Finding::error(FAILED_BUILD, File::new(path.as_str(), "").first_line(), message));
            }
            return Some(Read::Unusable);
        };
        if let Some(second) = paths.get(1).and_then(|path| self.files.get(path)) {
            let message =
                format!("this folder has two kustomization files; the other is `{}`", self.files.tree().called(path));
            partial.fail(Finding::error(FAILED_BUILD, second.file.first_line(), message).help("keep one of them"));
        }
        // Of keys that stand twice the last one counts here, unlike in an object.
        let unreadable = definition.parsed.findings.iter().filter(|finding| finding.rule != DUPLICATE_KEY);
        let unreadable: Vec<Finding> = unreadable.cloned().collect();
        if !unreadable.is_empty() {
            for finding in unreadable {
                partial.fail(finding);
            }
            return Some(Read::Unusable);
        }
        if definition.is_empty() {
            let message = "this kustomization says nothing; kustomize refuses it";
            let help = "list `resources` (`resources: []` is allowed), or remove the file";
            partial.empty = Some(Finding::error(FAILED_BUILD, definition.node.span().clone(), message).help(help));
        }
        Some(Read::Usable(definition))
    }

    /// Tells a build in hand the user's schema, which may have come with a base.
    pub(super) fn share_schema(&self, partial: &mut Partial) {
        partial.schema.clone_from(&self.schema);
    }

    pub(super) fn accumulate(&mut self, definition: &Definition, partial: &mut Partial) {
        count_fields(definition, partial);
        remote_base::collect(definition, &mut partial.remote);
        let outer = self.traced.then(|| partial.traced.replace(definition.path().into()));
        user_schema::load(self.files, definition, &mut self.schema, self.is_begun, partial);
        self.share_schema(partial);
        self.open.push(definition.folder.clone());
        self.include_all(definition, partial);
        if !definition.faults.is_empty() || partial.is_overfull {
            // kustomize refuses the file. What it takes in may have faults of its own; the rest says too little.
            partial.empty_when_overfull();
            self.open.pop();
            if let Some(outer) = outer {
                partial.traced = outer;
            }
            return;
        }
        load_config::run(self.files, definition, partial);
        config_maps::run(self.files, definition, partial);
        self.generate(definition, partial);
        for item in definition.items("components") {
            self.component(definition, item, partial);
        }
        sequence::run(self.files, definition, partial);
        self.transform(definition, partial);
        self.validate(definition, partial);
        partial.empty_when_overfull();
        self.open.pop();
        vars::collect(definition, partial);
        if let Some(outer) = outer {
            partial.traced = outer;
        }
    }
}
