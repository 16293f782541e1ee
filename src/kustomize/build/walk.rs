//! Building a folder: resources, components, then the transformers in kustomize's order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::finding::Finding;
use crate::kustomize::file::definition::{Definition, file_in, read};
use crate::kustomize::file::files::Files;
use crate::kustomize::file::remote_base;
use crate::kustomize::generate::config_maps;
use crate::kustomize::references::vars;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::state::accumulator::{Partial, count_fields};
use crate::kustomize::state::{load_config, load_schema, origin_annotations};
use crate::kustomize::transform::sequence;
use crate::text::File;
use crate::yaml::DUPLICATE_KEY;

/// The directories that were built.
///
/// No thread waits for a build while it holds the lock: two threads that need one directory at the same time both build
/// it, to the same result.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<BTreeMap<String, Arc<Partial>>>);

impl Cache {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Partial>>> {
        // A panic in another thread leaves complete entries: each is inserted in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One build on its way down: what it is called for, so that circles are seen.
pub(super) struct Walk<'a> {
    cache: &'a Cache,
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

impl<'a> Walk<'a> {
    /// Starts a build of the directory whose kustomization is `top`.
    pub(super) fn new(files: &'a Files, cache: &'a Cache, top: Option<&Definition>) -> Self {
        Self {
            cache,
            files,
            open: Vec::new(),
            traced: top.is_some_and(origin_annotations::is_asked),
            schema: None,
            is_begun: false,
            refused_for: None,
            components: 0,
            own: BTreeMap::new(),
        }
    }

    /// The folder's build; `None` when it has no kustomization file.
    pub(super) fn folder(&mut self, folder: &str) -> Option<Arc<Partial>> {
        let is_usual = !self.traced && self.schema.is_none();
        let shared = if is_usual { self.cache.lock().get(folder).cloned() } else { None };
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
            self.cache.lock().insert(folder.to_string(), partial.clone());
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
                let message = format!("`{}` is no text that can be read", self.files.tree().display_path(path));
                partial.fail(Finding::error(FAILED_BUILD, File::new(path.as_str(), "").first_line(), message));
            }
            return Some(Read::Unusable);
        };
        if let Some(second) = paths.get(1).and_then(|path| self.files.get(path)) {
            let message = format!(
                "this folder has two kustomization files; the other is `{}`",
                self.files.tree().display_path(path)
            );
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
        load_schema::run(self.files, definition, &mut self.schema, self.is_begun, partial);
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
