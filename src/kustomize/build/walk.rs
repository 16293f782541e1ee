//! The recursive build of a directory and its bases.
//!
//! The recursion passes through three files. This file builds directories, `include` accumulates bases and components,
//! and `plugins` accumulates the plugin objects of a kustomization. Their functions are methods of [`Walk`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::finding::Finding;
use crate::kustomize::file::comparison::Comparison;
use crate::kustomize::file::definition::{Definition, file_in, ignored_documents, read};
use crate::kustomize::file::files::Files;
use crate::kustomize::file::remote_base;
use crate::kustomize::generate::config_maps;
use crate::kustomize::references::vars;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::state::accumulator::{Accumulator, count_fields};
use crate::kustomize::state::totals::Totals;
use crate::kustomize::state::{load_config, load_schema, origin_annotations};
use crate::kustomize::transform::sequence;
use crate::text::{File, Reads, Span};
use crate::yaml::DUPLICATE_KEY;

/// The first release of Flux with kustomize 5.1, which runs generators before components, so that a generator no longer
/// changes an object of a component.
///
/// Source: kustomize #5170; `go.mod` of kustomize-controller 1.1 (`kustomize/api` 0.13.4) and 1.2 (0.16.0).
const FLUX_WITH_EARLY_GENERATORS: (u64, u64) = (2, 2);
/// The first release of Flux whose kustomize rejects an empty kustomization.
const FLUX_WITHOUT_EMPTY_KUSTOMIZATIONS: (u64, u64) = (2, 2);

/// The cache of built directories.
///
/// No thread holds the lock during a build. Two threads that need one directory at the same time both build that
/// directory, with the same result.
#[derive(Debug, Default)]
pub(super) struct Cache {
    built: Mutex<BTreeMap<String, Arc<Accumulator>>>,
    /// The comparison with another state of the files, and the cache of that state.
    other: Option<(Comparison, Arc<Self>)>,
}

impl Cache {
    /// Creates a cache that shares the directories of another state of the files.
    pub(super) fn beside(cache: Arc<Self>, comparison: Comparison) -> Self {
        Self { other: Some((comparison, cache)), ..Self::default() }
    }

    /// Locks the cache.
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Accumulator>>> {
        // A panic in another thread leaves complete entries: each is inserted in one step.
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of a directory in the other state, if it is the same in this state.
    fn of_other_state(&self, folder: &str) -> Option<Arc<Accumulator>> {
        let (comparison, cache) = self.other.as_ref()?;
        let built = cache.lock().get(folder).cloned()?;
        let is_same = built.reads.as_ref().is_some_and(|reads| comparison.agrees_on(reads));
        is_same.then(|| self.lock().entry(folder.to_owned()).or_insert(built).clone())
    }
}

/// The state of one recursive build, with the stack of open directories that detects cycles.
pub(super) struct Walk<'a> {
    cache: &'a Cache,
    totals: &'a Arc<Totals>,
    pub(super) files: &'a Files,
    pub(super) stack: Vec<String>,
    /// Whether origins and transformations of objects are recorded.
    pub(super) is_traced: bool,
    /// The first schema of the build. The schema applies to all later steps of the build.
    schema: Option<Arc<UserSchema>>,
    /// Whether the build has accumulated an object.
    pub(super) has_objects: bool,
    /// The index in `stack` of the outermost directory of a cycle.
    pub(super) cycle_start: Option<usize>,
    /// The number of components.
    pub(super) components: usize,
    /// Results that are valid in this build only: with recorded origins, another schema, or as a part of a cycle.
    local: BTreeMap<String, Arc<Accumulator>>,
}

/// A kustomization file that exists.
pub(super) enum LoadedDefinition {
    /// A mapping of fields without YAML errors.
    Valid(Definition),
    /// A file that cannot be built; the finding is reported.
    Invalid,
}

impl<'a> Walk<'a> {
    /// Starts a build of the directory whose kustomization is `top`.
    pub(super) fn new(files: &'a Files, cache: &'a Cache, totals: &'a Arc<Totals>, top: Option<&Definition>) -> Self {
        Self {
            cache,
            totals,
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

    /// The result of a directory; `None` if it has no kustomization file.
    pub(super) fn folder(&mut self, folder: &str) -> Option<Arc<Accumulator>> {
        let is_cacheable = !self.is_traced && self.schema.is_none();
        let shared = if is_cacheable { self.cache.lock().get(folder).cloned() } else { None };
        // kustomize reads a schema differently after the first object.
        let has_objects = self.has_objects;
        let is_reusable = |accumulator: &Accumulator| accumulator.schema.is_none() || !has_objects;
        let shared = shared.or_else(|| self.cache.of_other_state(folder).filter(|_| is_cacheable));
        if let Some(built) = shared.filter(|built| is_reusable(built)) {
            Reads::add(built.reads.as_ref());
            self.schema.clone_from(&built.schema);
            return Some(built);
        }
        if let Some(built) = self.local.get(folder).cloned() {
            Reads::add(built.reads.as_ref());
            self.cycle_start = Some(0);
            self.schema = self.schema.take().or_else(|| built.schema.clone());
            return Some(built);
        }
        let outer_cycle_start = self.cycle_start.take();
        let Some(accumulator) = self.recorded(folder) else {
            self.cycle_start = outer_cycle_start;
            return None;
        };
        let is_part_of_cycle = self.cycle_start.is_some_and(|index| index < self.stack.len());
        if is_part_of_cycle || !is_cacheable || !is_reusable(&accumulator) {
            // A build that starts at this directory has another result, so the shared cache must not contain this
            // result.
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

    /// Builds a directory, and keeps its reads with the result if the caller records reads.
    fn recorded(&mut self, folder: &str) -> Option<Arc<Accumulator>> {
        if !Reads::are_recorded() {
            return self.build_folder(folder).map(Arc::new);
        }
        let (accumulator, reads) = Reads::record(|| self.build_folder(folder));
        accumulator.map(|accumulator| Arc::new(Accumulator { reads: Some(reads), ..accumulator }))
    }

    fn build_folder(&mut self, folder: &str) -> Option<Accumulator> {
        let mut accumulator = Accumulator::within(self.totals);
        let definition = self.definition(folder, &mut accumulator)?;
        if let LoadedDefinition::Valid(definition) = definition {
            accumulator.is_component = definition.is_component();
            self.accumulate(&definition, &mut accumulator);
        }
        Some(accumulator)
    }

    /// Reads the kustomization file of a directory; `None` if the directory has none.
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
                    let message = "a kustomization must be a mapping";
                    accumulator.fail(Finding::error(FAILED_BUILD, span, message).help("list `resources`"));
                } else {
                    accumulator.empty = Some(empty_kustomization(span, "list `resources`, or remove the file"));
                }
            } else {
                let message = format!("`{}` is not a readable text file", self.files.tree().display_path(path));
                accumulator.fail(Finding::error(FAILED_BUILD, File::new(path.as_str(), "").first_line(), message));
            }
            return Some(LoadedDefinition::Invalid);
        };
        if let Some(second) = paths.get(1).and_then(|path| self.files.get(path)) {
            let message = format!(
                "this directory has two kustomization files; the other file is `{}`",
                self.files.tree().display_path(path)
            );
            accumulator.fail(Finding::error(FAILED_BUILD, second.file.first_line(), message).help("keep one of them"));
        }
        // In a kustomization, the last value of a duplicate key counts; in an object, a duplicate key is an error.
        let errors = definition.parsed.findings.iter().filter(|finding| finding.rule != DUPLICATE_KEY);
        let errors: Vec<Finding> = errors.cloned().collect();
        if !errors.is_empty() {
            for finding in errors {
                accumulator.fail(finding);
            }
            return Some(LoadedDefinition::Invalid);
        }
        accumulator.findings.extend(ignored_documents(&definition.parsed));
        if definition.is_empty() {
            let help = "list `resources` (`resources: []` is allowed), or remove the file";
            accumulator.empty = Some(empty_kustomization(definition.node.span().clone(), help));
        }
        Some(LoadedDefinition::Valid(definition))
    }

    /// Copies the schema to an accumulator, because a base may have set the schema.
    pub(super) fn share_schema(&self, accumulator: &mut Accumulator) {
        accumulator.schema.clone_from(&self.schema);
    }

    /// Accumulates a kustomization: resources, configuration, generators, components, transformers, validators.
    pub(super) fn accumulate(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        count_fields(definition, accumulator);
        remote_base::collect(definition, &mut accumulator.remote);
        let outer = self.is_traced.then(|| accumulator.traced_file.replace(definition.path().into()));
        load_schema::run(self.files, definition, &mut self.schema, self.has_objects, accumulator);
        self.share_schema(accumulator);
        self.stack.push(definition.folder.clone());
        self.include_all(definition, accumulator);
        if !definition.findings.is_empty() || accumulator.is_too_large {
            // kustomize rejects the file. Only the findings of its bases are complete.
            accumulator.resources.miss_changes();
            accumulator.clear_if_too_large();
            self.stack.pop();
            if let Some(outer) = outer {
                accumulator.traced_file = outer;
            }
            return;
        }
        load_config::run(self.files, definition, accumulator);
        config_maps::run(self.files, definition, accumulator);
        let unmatched = std::mem::take(&mut accumulator.unmatched_generators);
        self.generate(definition, accumulator);
        for item in definition.items("components") {
            self.component(definition, item, accumulator);
        }
        for (at, id) in unmatched {
            let is_of_component = accumulator.resources.list.iter().any(|resource| resource.id == id);
            if let Some(finding) = accumulator.findings.get_mut(at).filter(|_| is_of_component) {
                finding.since_flux = Some(FLUX_WITH_EARLY_GENERATORS);
            }
        }
        sequence::run(self.files, definition, accumulator);
        accumulator.change(|accumulator| self.transform(definition, accumulator));
        self.validate(definition, accumulator);
        let namespace = definition.entry("namespace").and_then(|entry| entry.node.text());
        if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
            accumulator.move_unread(namespace);
        }
        accumulator.clear_if_too_large();
        self.stack.pop();
        vars::collect(definition, accumulator);
        if let Some(outer) = outer {
            accumulator.traced_file = outer;
        }
    }
}

/// The finding for an empty kustomization.
fn empty_kustomization(span: Span, help: &str) -> Finding {
    let message = "this kustomization is empty; kustomize rejects it";
    Finding::error(FAILED_BUILD, span, message).help(help).since_flux(FLUX_WITHOUT_EMPTY_KUSTOMIZATIONS)
}
