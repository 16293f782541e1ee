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
use crate::kustomize::state::accumulator::{Accumulator, count_fields};
use crate::kustomize::state::{load_config, load_schema, origin_annotations};
use crate::kustomize::transform::sequence;
use crate::text::File;
use crate::yaml::DUPLICATE_KEY;

/// The directories that were built.
///
/// No thread waits for a build while it holds the lock: two threads that need one directory at the same time both build
/// it, to the same result.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<BTreeMap<String, Arc<Accumulator>>>);

impl Cache {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Accumulator>>> {
        // A panic in another thread leaves complete entries: each is inserted in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One build on its way down: what it is called for, so that circles are seen.
pub(super) struct Walk<'a> {
    cache: &'a Cache,
    pub(super) files: &'a Files,
    pub(super) stack: Vec<String>,
    /// Whether it is noted where objects come from and what is done to them.
    pub(super) is_traced: bool,
    /// The schema that the first kustomization with one gives, which holds for everything built after it.
    schema: Option<Arc<UserSchema>>,
    /// Whether an object was met already.
    pub(super) has_objects: bool,
    /// The outermost folder, by its place in `open`, that what is being built was refused for.
    pub(super) cycle_start: Option<usize>,
    /// How many components were taken in.
    pub(super) components: usize,
    /// What was built here and would not be the same elsewhere: it is traced, another schema holds, or folders on the
    /// way down were refused.
    local: BTreeMap<String, Arc<Accumulator>>,
}

/// A kustomization file that is there.
pub(super) enum LoadedDefinition {
    /// What it says.
    Valid(Definition),
    /// It is no mapping; what is wrong with it is noted.
    Invalid,
}

impl<'a> Walk<'a> {
    /// Starts a build of the directory whose kustomization is `top`.
    pub(super) fn new(files: &'a Files, cache: &'a Cache, top: Option<&Definition>) -> Self {
        Self {
            cache,
            files,
            stack: Vec::new(),
            is_traced: top.is_some_and(origin_annotations::has_build_metadata),
            schema: None,
            has_objects: false,
            cycle_start: None,
            components: 0,
            local: BTreeMap::new(),
        }
    }

    /// The folder's build; `None` when it has no kustomization file.
    pub(super) fn folder(&mut self, folder: &str) -> Option<Arc<Accumulator>> {
        let is_cacheable = !self.is_traced && self.schema.is_none();
        let shared = if is_cacheable { self.cache.lock().get(folder).cloned() } else { None };
        // A schema that comes after the first object is not read as one that comes before.
        let has_objects = self.has_objects;
        let is_reusable = |accumulator: &Accumulator| accumulator.schema.is_none() || !has_objects;
        if let Some(built) = shared.filter(|built| is_reusable(built)) {
            self.schema.clone_from(&built.schema);
            return Some(built);
        }
        if let Some(built) = self.local.get(folder).cloned() {
            self.cycle_start = Some(0);
            self.schema = self.schema.take().or_else(|| built.schema.clone());
            return Some(built);
        }
        let outer_cycle_start = self.cycle_start.take();
        let Some(accumulator) = self.build_folder(folder) else {
            self.cycle_start = outer_cycle_start;
            return None;
        };
        let is_part_of_cycle = self.cycle_start.is_some_and(|index| index < self.stack.len());
        if is_part_of_cycle || !is_cacheable || !is_reusable(&accumulator) {
            // Whoever asks for this folder alone gets another answer, which threads may be waiting for.
            self.local.insert(folder.to_string(), accumulator.clone());
        } else {
            self.cache.lock().insert(folder.to_string(), accumulator.clone());
        }
        self.cycle_start = if is_part_of_cycle {
            self.cycle_start.min(outer_cycle_start).or(self.cycle_start)
        } else {
            outer_cycle_start
        };
        Some(accumulator)
    }

    fn build_folder(&mut self, folder: &str) -> Option<Arc<Accumulator>> {
        let mut accumulator = Accumulator::default();
        let definition = self.definition(folder, &mut accumulator)?;
        if let LoadedDefinition::Valid(definition) = definition {
            accumulator.is_component = definition.is_component();
            self.accumulate(&definition, &mut accumulator);
        }
        Some(Arc::new(accumulator))
    }

    /// Reads the folder's kustomization file; `None` when there is none.
    pub(super) fn definition(&self, folder: &str, accumulator: &mut Accumulator) -> Option<LoadedDefinition> {
        let paths = file_in(self.files, folder);
        let path = paths.first()?;
        accumulator.folders.insert(folder.to_string());
        let definition = read(self.files, path);
        let Some(definition) = definition.filter(|definition| definition.node.is_map()) else {
            accumulator.is_incomplete = true;
            if let Some(parsed) = self.files.get(path) {
                let span = parsed.file.first_line();
                if !parsed.findings.is_empty() {
                    accumulator.findings.extend(parsed.findings.iter().cloned());
                } else if parsed.documents.first().is_some_and(|document| !document.node.is_map()) {
                    let message = "a kustomization is a mapping of fields, and this is none";
                    accumulator.fail(Finding::error(FAILED_BUILD, span, message).help("list `resources`"));
                } else {
                    let message = "this kustomization says nothing; kustomize refuses it";
                    let help = "list `resources`, or remove the file";
                    accumulator.empty = Some(Finding::error(FAILED_BUILD, span, message).help(help));
                }
            } else {
                let message = format!("`{}` is no text that can be read", self.files.tree().called(path));
                accumulator.fail(Finding::error(FAILED_BUILD, File::new(path.as_str(), "").first_line(), message));
            }
            return Some(LoadedDefinition::Invalid);
        };
        if let Some(second) = paths.get(1).and_then(|path| self.files.get(path)) {
            let message =
                format!("this folder has two kustomization files; the other is `{}`", self.files.tree().called(path));
            accumulator.fail(Finding::error(FAILED_BUILD, second.file.first_line(), message).help("keep one of them"));
        }
        // Of keys that stand twice the last one counts here, unlike in an object.
        let error = definition.parsed.findings.iter().filter(|finding| finding.rule != DUPLICATE_KEY);
        let error: Vec<Finding> = error.cloned().collect();
        if !error.is_empty() {
            for finding in error {
                accumulator.fail(finding);
            }
            return Some(LoadedDefinition::Invalid);
        }
        if definition.is_empty() {
            let message = "this kustomization says nothing; kustomize refuses it";
            let help = "list `resources` (`resources: []` is allowed), or remove the file";
            accumulator.empty = Some(Finding::error(FAILED_BUILD, definition.node.span().clone(), message).help(help));
        }
        Some(LoadedDefinition::Valid(definition))
    }

    /// Tells a build in hand the user's schema, which may have come with a base.
    pub(super) fn share_schema(&self, accumulator: &mut Accumulator) {
        accumulator.schema.clone_from(&self.schema);
    }

    pub(super) fn accumulate(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        count_fields(definition, accumulator);
        remote_base::collect(definition, &mut accumulator.remote);
        let outer = self.is_traced.then(|| accumulator.traced_file.replace(definition.path().into()));
        load_schema::run(self.files, definition, &mut self.schema, self.has_objects, accumulator);
        self.share_schema(accumulator);
        self.stack.push(definition.folder.clone());
        self.include_all(definition, accumulator);
        if !definition.findings.is_empty() || accumulator.is_too_large {
            // kustomize refuses the file. What it takes in may have faults of its own; the rest says too little.
            accumulator.clear_if_too_large();
            self.stack.pop();
            if let Some(outer) = outer {
                accumulator.traced_file = outer;
            }
            return;
        }
        load_config::run(self.files, definition, accumulator);
        config_maps::run(self.files, definition, accumulator);
        self.generate(definition, accumulator);
        for item in definition.items("components") {
            self.component(definition, item, accumulator);
        }
        sequence::run(self.files, definition, accumulator);
        self.transform(definition, accumulator);
        self.validate(definition, accumulator);
        accumulator.clear_if_too_large();
        self.stack.pop();
        vars::collect(definition, accumulator);
        if let Some(outer) = outer {
            accumulator.traced_file = outer;
        }
    }
}
