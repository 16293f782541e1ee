//! Building a folder: resources, components, then the transformers in kustomize's order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::definition::{Definition, FILE_NAMES, file_in, read};
use super::partial::{Partial, count_fields, is_local};
use super::resources::Resource;
use super::{Files, labels, namespace, order, patches, references};
use crate::finding::{Finding, did_you_mean};
use crate::kube::Object;
use crate::text::{Tree, is_inside, join};
use crate::yaml::{Node, Parsed};

/// The rule of findings about folders that do not build.
pub const FAILED_BUILD: &str = "failed-build";
/// The rule of findings about files and folders that a kustomization names and that are not there.
pub const MISSING_RESOURCE: &str = "missing-resource";

/// Kustomizations may include each other this deep.
const MAX_DEPTH: usize = 64;

/// What a folder builds to.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The objects in kustomize's order.
    pub objects: Vec<Object>,
    /// What is wrong; the objects are then those that could be built nevertheless.
    pub findings: Vec<Finding>,
    /// What was asked for and not done, counted: fields of kustomization files, and `resources: <url>`.
    pub not_done: BTreeMap<String, usize>,
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
struct Walk<'a> {
    builder: &'a Builder,
    files: &'a Files,
    open: Vec<String>,
}

/// A kustomization file that is there.
enum Read {
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
        let Some(partial) = self.walk().folder(folder) else { return Build::default() };
        let definition = file_in(&self.files, folder).first().and_then(|path| read(&self.files, path));
        finish(&partial, definition.as_ref())
    }

    /// Builds a folder as if its kustomization file, which need not exist, said `node`: Flux writes one before it builds.
    pub fn build_as(&self, folder: &str, node: Node) -> Build {
        let file = node.span().file().clone();
        let parsed = Arc::new(Parsed { file, documents: Vec::new(), findings: Vec::new() });
        let definition = Definition { node, parsed, folder: folder.to_string() };
        let mut partial = Partial::default();
        partial.folders.insert(folder.to_string());
        self.walk().accumulate(&definition, &mut partial);
        finish(&partial, Some(&definition))
    }

    /// Lays what a kustomization `node` says over objects that are no files. What its patches do not find may be an
    /// object that nobody gave, so that is no fault.
    pub fn build_over(&self, objects: Vec<Object>, node: Node) -> Build {
        let parsed = Parsed { file: node.span().file().clone(), documents: Vec::new(), findings: Vec::new() };
        let definition = Definition { node, parsed: Arc::new(parsed), folder: String::new() };
        let mut partial = Partial { uncertain: true, ..Partial::default() };
        for object in objects {
            let place = object.node.clone();
            partial.add(Resource::new(object.node), &place);
        }
        self.walk().accumulate(&definition, &mut partial);
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

    fn walk(&self) -> Walk<'_> {
        Walk { builder: self, files: &self.files, open: Vec::new() }
    }
}

/// The steps that kustomize takes once, at the top.
fn finish(partial: &Partial, definition: Option<&Definition>) -> Build {
    let mut resources = partial.resources.clone();
    let mut findings = partial.findings.clone();
    references::follow_accounts(&mut resources, &mut findings);
    resources.list.retain(|resource| !is_local(&resource.node));
    order::sort(&mut resources, definition);
    crate::finding::sort(&mut findings);
    Build {
        objects: resources.list.into_iter().map(|resource| Object { node: resource.node }).collect(),
        findings,
        not_done: partial.not_done.clone(),
        folders: partial.folders.clone(),
        empty: partial.empty.clone(),
    }
}

impl Walk<'_> {
    /// The folder's build; `None` when it has no kustomization file.
    fn folder(&mut self, folder: &str) -> Option<Arc<Partial>> {
        if let Some(built) = self.builder.built().get(folder) {
            return Some(built.clone());
        }
        let mut partial = Partial::default();
        let definition = self.definition(folder, &mut partial)?;
        if let Read::Usable(definition) = definition {
            partial.component = definition.is_component();
            self.accumulate(&definition, &mut partial);
        }
        let partial = Arc::new(partial);
        self.builder.built().insert(folder.to_string(), partial.clone());
        Some(partial)
    }

    /// Reads the folder's kustomization file; `None` when there is none.
    fn definition(&self, folder: &str, partial: &mut Partial) -> Option<Read> {
        let paths = file_in(self.files, folder);
        let path = paths.first()?;
        partial.folders.insert(folder.to_string());
        let definition = read(self.files, path);
        let Some(definition) = definition.filter(|definition| definition.node.is_map()) else {
            partial.uncertain = true;
            if let Some(parsed) = self.files.get(path) {
                if parsed.findings.is_empty() {
                    let message = "this kustomization says nothing; kustomize refuses it";
                    let help = "list `resources`, or remove the file";
                    partial.empty = Some(Finding::error(FAILED_BUILD, parsed.file.first_line(), message).help(help));
                }
                partial.findings.extend(parsed.findings.iter().cloned());
            }
            return Some(Read::Unusable);
        };
        if let Some(second) = paths.get(1).and_then(|path| self.files.get(path)) {
            let message = format!("this folder has two kustomization files; the other is `{path}`");
            partial.fail(Finding::error(FAILED_BUILD, second.file.first_line(), message).help("keep one of them"));
        }
        partial.uncertain |= !definition.parsed.findings.is_empty();
        partial.findings.extend(definition.parsed.findings.iter().cloned());
        if definition.is_empty() {
            let message = "this kustomization says nothing; kustomize refuses it";
            let help = "list `resources` (`resources: []` is allowed), or remove the file";
            partial.empty = Some(Finding::error(FAILED_BUILD, definition.node.span().clone(), message).help(help));
        }
        Some(Read::Usable(definition))
    }

    fn accumulate(&mut self, definition: &Definition, partial: &mut Partial) {
        count_fields(definition, partial);
        self.open.push(definition.folder.clone());
        for field in ["resources", "bases"] {
            for item in definition.items(field) {
                self.include(definition, item, partial);
            }
        }
        for item in definition.items("components") {
            self.component(definition, item, partial);
        }
        self.open.pop();
        self.transform(definition, partial);
    }

    /// Runs the transformers. The order is kustomize's own, whatever the order in the file.
    fn transform(&self, definition: &Definition, partial: &mut Partial) {
        self.patch(definition, &["patchesStrategicMerge", "patches"], partial);
        if let Some(entry) =
            definition.entry("namespace").filter(|entry| entry.node.text().is_some_and(|text| !text.is_empty()))
        {
            for resource in &mut partial.resources.list {
                namespace::apply(resource, &entry.key_span(), &entry.node);
            }
            partial.refuse_conflicts(&entry.node);
        }
        for set in labels::read(definition) {
            for resource in &mut partial.resources.list {
                set.apply(resource);
            }
        }
        self.patch(definition, &["patchesJson6902"], partial);
        partial.resources.reindex();
    }

    fn patch(&self, definition: &Definition, fields: &[&str], partial: &mut Partial) {
        let (complete, findings) = (!partial.uncertain, &mut partial.findings);
        let read = |field: &&str| patches::read(self.files, definition, field, findings);
        let patches: Vec<_> = fields.iter().flat_map(read).collect();
        if patches.is_empty() {
            return;
        }
        // One index for all patches: 4,000 objects and 1,000 patches are looked up, not scanned.
        let mut positions = partial.resources.index();
        for patch in patches {
            patch.apply(&mut partial.resources, &mut positions, complete, &mut partial.findings);
        }
        partial.resources.sweep();
    }

    fn include(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
        let Some(text) = item.text().filter(|text| !text.is_empty()) else {
            let message = "a resource is the path of a file or folder";
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        let Some(path) = join(&definition.folder, text) else {
            partial.fail(outside(item, text));
            return;
        };
        if self.files.tree().has_file(&path) {
            self.include_file(item, &path, partial);
        } else if self.files.tree().has_folder(&path) {
            self.include_folder(item, text, &path, partial);
        } else if is_remote(text) {
            partial.skip("resources: <url>");
        } else if path.ends_with("/gotk-components.yaml") || path == "gotk-components.yaml" {
            // `flux bootstrap` writes it into the repository; before that it is not there.
            partial.uncertain = true;
        } else {
            partial.fail(self.missing(definition, item, text, &path));
        }
    }

    fn missing(&self, definition: &Definition, item: &Node, text: &str, path: &str) -> Finding {
        let message = format!("there is no file or folder `{text}`");
        let prefix = if definition.folder.is_empty() { String::new() } else { format!("{}/", definition.folder) };
        let siblings = self.files.tree().under(&definition.folder);
        let relative = siblings.filter_map(|sibling| sibling.strip_prefix(prefix.as_str()));
        let wanted = path.strip_prefix(prefix.as_str()).unwrap_or(path);
        let names: BTreeSet<&str> = relative
            .filter(|name| name.matches('/').count() == wanted.matches('/').count() || !wanted.contains('/'))
            .map(|name| if wanted.contains('/') { name } else { name.split('/').next().unwrap_or(name) })
            .collect();
        let help = match did_you_mean(wanted, names.iter().copied()) {
            Some(meant) => {
                format!("did you mean `{meant}`? kustomize refuses to build a folder with a path that is not there")
            }
            None => "correct the path or remove the line: kustomize refuses to build the folder".to_string(),
        };
        Finding::error(MISSING_RESOURCE, item.span().clone(), message).help(help)
    }

    fn include_file(&self, item: &Node, path: &str, partial: &mut Partial) {
        let Some(parsed) = self.files.get(path) else {
            let message = format!("`{path}` is no text that can be read");
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        partial.uncertain |= !parsed.findings.is_empty();
        partial.findings.extend(parsed.findings.iter().cloned());
        for document in &parsed.documents {
            for node in expand_list(&document.node) {
                let named = node.get("kind").is_some() && node.at_keys(&["metadata", "name"]).is_some();
                let generated = node.at_keys(&["metadata", "generateName"]).is_some();
                if named || (generated && node.get("kind").is_some()) {
                    partial.add(Resource::new(node), item);
                } else if document.complete {
                    let message = "kustomize takes this for an object, and it has no `kind` and `metadata.name`";
                    let finding = Finding::error(FAILED_BUILD, first_key(&node), message)
                        .related(item.span().clone(), "named here")
                        .help("name only files that hold Kubernetes objects");
                    partial.fail(finding);
                }
            }
        }
    }

    fn include_folder(&mut self, item: &Node, text: &str, path: &str, partial: &mut Partial) {
        if let Some(finding) = self.refuse_depth(item, path) {
            partial.fail(finding);
            return;
        }
        let Some(base) = self.folder(path) else {
            partial.fail(no_kustomization(item, text));
            return;
        };
        partial.absorb(&base, item);
        if base.component {
            let message = format!("`{text}` is a Component, which cannot be a resource");
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help("name it in `components`"));
        }
        for resource in &base.resources.list {
            partial.add(resource.clone(), item);
        }
    }

    fn component(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
        let text = item.text().unwrap_or_default();
        let Some(path) = join(&definition.folder, text) else {
            partial.fail(outside(item, text));
            return;
        };
        if let Some(finding) = self.refuse_depth(item, &path) {
            partial.fail(finding);
            return;
        }
        if !self.files.tree().has_folder(&path) {
            if is_remote(text) {
                partial.skip("components: <url>");
            } else {
                partial.fail(self.missing(definition, item, text, &path));
            }
            return;
        }
        match self.definition(&path, partial) {
            None => partial.fail(no_kustomization(item, text)),
            Some(Read::Unusable) => {}
            Some(Read::Usable(component)) if component.is_component() => self.accumulate(&component, partial),
            Some(Read::Usable(_)) => {
                let message = format!("`{text}` is no Component");
                let help = "name it in `resources`, or give it `kind: Component`";
                partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help(help));
            }
        }
    }

    /// Refuses a folder that is being built already, and one that lies too deep.
    fn refuse_depth(&self, item: &Node, path: &str) -> Option<Finding> {
        if let Some(at) = self.open.iter().position(|open| open == path) {
            let circle: Vec<&str> = self.open.iter().skip(at).map(String::as_str).chain([path]).collect();
            let message = format!("these folders include each other: `{}`", circle.join("` → `"));
            let message = if circle.len() == 2 { "this folder includes itself".to_string() } else { message };
            return Some(Finding::error(FAILED_BUILD, item.span().clone(), message).help("remove one of the lines"));
        }
        (self.open.len() >= MAX_DEPTH).then(|| {
            let message = format!("kustomizations include each other more than {MAX_DEPTH} folders deep");
            Finding::error(FAILED_BUILD, item.span().clone(), message)
        })
    }
}

/// The items of a `List` object, or the node itself. Any kind that ends in `List` and has `items` is one.
pub fn expand_list(node: &Node) -> Vec<Node> {
    let is_list = node.get("kind").and_then(Node::text).is_some_and(|kind| kind.ends_with("List"));
    match node.get("items").filter(|_| is_list) {
        Some(items) => items.items().iter().flat_map(expand_list).collect(),
        None => vec![node.clone()],
    }
}

fn first_key(node: &Node) -> crate::text::Span {
    node.entries().first().map_or_else(|| node.span().clone(), crate::yaml::Entry::key_span)
}

fn outside(item: &Node, text: &str) -> Finding {
    let message = format!("`{text}` leads out of the repository");
    Finding::error(MISSING_RESOURCE, item.span().clone(), message).help("name something inside it")
}

fn no_kustomization(item: &Node, text: &str) -> Finding {
    let message = format!("folder `{text}` has no {}", FILE_NAMES[0]);
    let help = "add one, or name the files: kustomize does not take a folder of files";
    Finding::error(MISSING_RESOURCE, item.span().clone(), message).help(help)
}

/// Tells whether a path means something to download: kustomize takes URLs, and hosts with a repository.
fn is_remote(text: &str) -> bool {
    let host = text.split('/').next().unwrap_or_default();
    text.contains("://")
        || text.contains("?ref=")
        || text.contains("?version=")
        || host.contains('@')
        || (text.contains('/') && matches!(host, "github.com" | "gitlab.com" | "bitbucket.org"))
}
