//! The accumulation of `resources`, `bases` and `components`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::walk::{LoadedDefinition, Walk};
use crate::base::finding::Finding;
use crate::kustomize::file::definition::{Definition, FILE_NAMES};
use crate::kustomize::file::files::Reading;
use crate::kustomize::file::kustomization_fields::check_kind;
use crate::kustomize::file::locate::Located;
use crate::kustomize::file::manifests::objects_of;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::omission::Omission;
use crate::kustomize::rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
use crate::kustomize::state::accumulator::Accumulator;
use crate::text::{is_inside, join};
use crate::yaml::Node;

/// The maximum depth of nested kustomizations.
const MAX_DEPTH: usize = 64;
/// The maximum number of components in a build. Nested components that are listed twice multiply.
const MAX_COMPONENTS: usize = 10_000;

impl Walk<'_> {
    /// Accumulates the items of `resources` and `bases`.
    pub(super) fn include_all(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        let mut listed: BTreeMap<String, &Node> = BTreeMap::new();
        for item in ["resources", "bases"].into_iter().flat_map(|field| definition.items(field)) {
            if accumulator.is_too_large {
                break;
            }
            let before = accumulator.findings.len();
            self.include(definition, item, accumulator);
            let Some(path) = item.text().and_then(|text| join(&definition.folder, text)) else { continue };
            match listed.entry(path) {
                Entry::Vacant(entry) => {
                    entry.insert(item);
                }
                // A second listing reports each object as a duplicate, so report one finding instead. An item without
                // objects may repeat.
                Entry::Occupied(entry) if accumulator.findings.len() > before => {
                    accumulator.findings.truncate(before);
                    accumulator.fail(listed_twice(entry.get(), item));
                }
                Entry::Occupied(_) => {}
            }
        }
    }

    /// Accumulates an item of `resources` or `bases`.
    pub(super) fn include(&mut self, definition: &Definition, item: &Node, accumulator: &mut Accumulator) {
        let Some(text) = item.text().filter(|text| !text.is_empty()) else {
            let message = "an item of `resources` must be the path of a file or directory";
            accumulator.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        match definition.find(self.files, item) {
            Ok(Located::File(path)) => self.include_file(item, &path, accumulator),
            Ok(Located::Folder(path)) => self.include_folder(item, text, &path, accumulator),
            Ok(Located::NotFetched(finding)) => accumulator.leave_out_base(Omission::RemoteResource, text, *finding),
            Err(_) if self.is_to_come(definition, text) => accumulator.is_incomplete = true,
            Err(finding) => accumulator.fail(finding),
        }
    }

    /// Returns whether `flux bootstrap` may still write a missing file. It writes `gotk-components.yaml` and `gotk-sync.yaml` to
    /// a directory of their own, with the name of the namespace of Flux.
    fn is_to_come(&self, definition: &Definition, text: &str) -> bool {
        let Some(path) = join(&definition.folder, text).filter(|_| self.files.reading() == Reading::Flux) else {
            return false;
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_of_flux =
            || folder.rsplit('/').next().is_some_and(|name| name.contains("flux") || name.contains("gotk"));
        let exists = |name: &&str| join(folder, name).is_some_and(|path| self.files.tree().has_file(&path));
        let both = ["gotk-components.yaml", "gotk-sync.yaml"];
        both.contains(&name) && (is_of_flux() || both.iter().any(exists))
    }

    fn include_file(&mut self, item: &Node, path: &str, accumulator: &mut Accumulator) {
        let Some(parsed) = self.files.get(path) else {
            let message = format!("`{}` is not a readable text file", item.text().unwrap_or_default());
            accumulator.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        accumulator.is_incomplete |= !parsed.findings.is_empty();
        accumulator.findings.extend(parsed.findings.iter().cloned());
        let contents = objects_of(&parsed);
        for finding in contents.findings {
            accumulator.fail(finding.related(item.span().clone(), "referenced here"));
        }
        self.has_objects |= !contents.objects.is_empty();
        accumulator.awaits_bootstrap |= contents.objects.is_empty() && path.ends_with("gotk-components.yaml");
        for node in contents.objects {
            let mut resource = Resource::new(node);
            if self.is_traced {
                resource.set_source_file(path);
            }
            accumulator.add(resource, item);
        }
    }

    fn include_folder(&mut self, item: &Node, text: &str, path: &str, accumulator: &mut Accumulator) {
        if let Some(finding) = self.check_stack(item, path) {
            accumulator.fail(finding);
            return;
        }
        let Some(base) = self.folder(path) else {
            accumulator.fail(self.no_kustomization(item, text, path));
            return;
        };
        self.has_objects |= !base.resources.list.is_empty();
        self.share_schema(accumulator);
        accumulator.merge_base(&base, item);
        if base.is_component {
            let message = format!("`{text}` is a Component, which cannot be an item of `resources`");
            accumulator
                .fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help("list it in `components`"));
        }
        for resource in &base.resources.list {
            accumulator.add(resource.clone(), item);
        }
    }

    /// Accumulates an item of `components`.
    pub(super) fn component(&mut self, definition: &Definition, item: &Node, accumulator: &mut Accumulator) {
        let text = item.text().unwrap_or_default();
        let path = match definition.find(self.files, item) {
            Ok(Located::Folder(path)) => path,
            Ok(Located::File(_)) => {
                let message = format!("`{text}` is a file, but a component is a directory");
                accumulator.fail_to_change(Finding::error(FAILED_BUILD, item.span().clone(), message));
                return;
            }
            Ok(Located::NotFetched(finding)) => {
                return accumulator.leave_out_base(Omission::RemoteComponent, text, *finding);
            }
            Err(finding) => return accumulator.fail_to_change(finding),
        };
        if let Some(finding) = self.check_stack(item, &path) {
            accumulator.fail_to_change(finding);
            return;
        }
        match self.definition(&path, accumulator) {
            None => accumulator.fail_to_change(self.no_kustomization(item, text, &path)),
            Some(LoadedDefinition::Invalid) => accumulator.resources.miss_changes(),
            Some(LoadedDefinition::Valid(component)) if component.is_component() => {
                self.components += 1;
                if self.components < MAX_COMPONENTS {
                    self.accumulate(&component, accumulator);
                } else if self.components == MAX_COMPONENTS {
                    let message = format!("this build has more than {MAX_COMPONENTS} components");
                    accumulator.fail_to_change(Finding::error(FAILED_BUILD, item.span().clone(), message));
                }
            }
            Some(LoadedDefinition::Valid(_)) => {
                let message = format!("`{text}` is not a Component");
                let help = "list it in `resources`, or set `kind: Component` in its kustomization.yaml";
                accumulator.fail_to_change(Finding::error(FAILED_BUILD, item.span().clone(), message).help(help));
            }
        }
    }

    /// The finding for an item that is a directory without a kustomization.
    ///
    /// A manifest may have the name of a kustomization file. kustomize reads it as a kustomization, and rejects it.
    fn no_kustomization(&self, item: &Node, text: &str, folder: &str) -> Finding {
        let paths = FILE_NAMES.iter().filter_map(|name| join(folder, name));
        let named = paths.filter(|path| self.files.has(folder, path)).find_map(|path| self.files.get(&path));
        let rejected = named.and_then(|parsed| check_kind(&parsed.documents.first()?.node));
        if let Some(rejected) = rejected {
            return rejected.related(item.span().clone(), "referenced here");
        }
        let message = format!("directory `{text}` has no {}", FILE_NAMES[0]);
        let help = "add this file, or list the files of the directory; kustomize does not read a directory without it";
        Finding::error(MISSING_RESOURCE, item.span().clone(), message).help(help)
    }

    /// Rejects a directory that forms a cycle with the directories on the stack, or exceeds the maximum depth.
    fn check_stack(&mut self, item: &Node, path: &str) -> Option<Finding> {
        if let Some(index) = self.stack.iter().position(|folder| is_inside(folder, path)) {
            self.cycle_start = Some(self.cycle_start.map_or(index, |before| before.min(index)));
            let called = |path: &str| format!("`{}`", self.files.tree().display_path(path));
            let text = item.text().unwrap_or_default();
            let cycle: Vec<String> =
                self.stack.iter().skip(index).map(|folder| called(folder)).chain([called(path)]).collect();
            let message = match cycle.as_slice() {
                _ if self.stack.get(index).is_none_or(|folder| folder != path) => {
                    format!("`{text}` contains a directory that includes it; kustomize rejects this as a cycle")
                }
                [_, _] => "this directory includes itself".to_string(),
                cycle => format!("these directories form a cycle: {}", cycle.join(" → ")),
            };
            return Some(
                Finding::error(FAILED_BUILD, item.span().clone(), message).help("remove a reference of the cycle"),
            );
        }
        if self.stack.len() < MAX_DEPTH {
            return None;
        }
        self.cycle_start = Some(0);
        let message = format!("kustomizations are nested more than {MAX_DEPTH} levels deep");
        Some(Finding::error(FAILED_BUILD, item.span().clone(), message))
    }
}

fn listed_twice(first: &Node, second: &Node) -> Finding {
    let message = format!("`{}` is listed twice", second.text().unwrap_or_default());
    let finding = Finding::error(MISSING_RESOURCE, second.span().clone(), message);
    finding
        .related(first.span().clone(), "first listed here")
        .help("remove one of the lines; otherwise kustomize does not build the directory")
}
