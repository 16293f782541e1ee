//! What a kustomization takes in: files, other folders, components.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::walk::{Read, Walk};
use crate::base::finding::Finding;
use crate::kustomize::file::definition::{Definition, FILE_NAMES};
use crate::kustomize::file::files::Reading;
use crate::kustomize::file::locate::Located;
use crate::kustomize::file::manifests::objects_of;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
use crate::kustomize::state::accumulator::Partial;
use crate::text::{is_inside, join};
use crate::yaml::Node;

/// Kustomizations may include each other this deep.
const MAX_DEPTH: usize = 64;
/// A build may take in this many components. Each is applied as often as it is named, by components that are themselves
/// named twice many times over.
const MAX_COMPONENTS: usize = 10_000;

impl Walk<'_> {
    /// Takes in what `resources` and `bases` name.
    pub(super) fn include_all(&mut self, definition: &Definition, partial: &mut Partial) {
        let mut named: BTreeMap<String, &Node> = BTreeMap::new();
        for item in ["resources", "bases"].into_iter().flat_map(|field| definition.items(field)) {
            let before = partial.findings.len();
            self.include(definition, item, partial);
            let Some(path) = item.text().and_then(|text| join(&definition.folder, text)) else { continue };
            match named.entry(path) {
                Entry::Vacant(entry) => {
                    entry.insert(item);
                }
                // Each of its objects is there already: that is said once. What has no objects may be named again.
                Entry::Occupied(entry) if partial.findings.len() > before => {
                    partial.findings.truncate(before);
                    partial.fail(named_twice(entry.get(), item));
                }
                Entry::Occupied(_) => {}
            }
        }
    }

    pub(super) fn include(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
        let Some(text) = item.text().filter(|text| !text.is_empty()) else {
            let message = "a resource is the path of a file or folder";
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        match definition.find(self.files, item) {
            Ok(Located::File(path)) => self.include_file(item, &path, partial),
            Ok(Located::Folder(path)) => self.include_folder(item, text, &path, partial),
            Ok(Located::Elsewhere(finding)) => partial.leave_out("resources: <url>", finding),
            Err(_) if self.is_bootstrap(text) => partial.uncertain = true,
            Err(finding) => partial.fail(finding),
        }
    }

    /// `flux bootstrap` writes these files into the repository; before that they are not there.
    fn is_bootstrap(&self, text: &str) -> bool {
        self.files.reading() == Reading::Flux
            && matches!(text.rsplit('/').next(), Some("gotk-components.yaml" | "gotk-sync.yaml"))
    }

    fn include_file(&mut self, item: &Node, path: &str, partial: &mut Partial) {
        let Some(parsed) = self.files.get(path) else {
            let message = format!("`{}` is no text that can be read", item.text().unwrap_or_default());
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            return;
        };
        partial.uncertain |= !parsed.findings.is_empty();
        partial.findings.extend(parsed.findings.iter().cloned());
        let contents = objects_of(&parsed);
        for fault in contents.faults {
            partial.fail(fault.related(item.span().clone(), "named here"));
        }
        self.is_begun |= !contents.objects.is_empty();
        partial.awaits_flux |= contents.objects.is_empty() && path.ends_with("gotk-components.yaml");
        for node in contents.objects {
            let mut resource = Resource::new(node);
            if self.traced {
                resource.traced_to_file(path);
            }
            partial.add(resource, item);
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
        self.is_begun |= !base.resources.list.is_empty();
        self.share_schema(partial);
        partial.absorb(&base, item);
        if base.component {
            let message = format!("`{text}` is a Component, which cannot be a resource");
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help("name it in `components`"));
        }
        for resource in &base.resources.list {
            partial.add(resource.clone(), item);
        }
    }

    pub(super) fn component(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
        let text = item.text().unwrap_or_default();
        let path = match definition.find(self.files, item) {
            Ok(Located::Folder(path)) => path,
            Ok(Located::File(_)) => {
                let message = format!("`{text}` is a file, and a component is a folder");
                partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
                return;
            }
            Ok(Located::Elsewhere(finding)) => return partial.leave_out("components: <url>", finding),
            Err(finding) => return partial.fail(finding),
        };
        if let Some(finding) = self.refuse_depth(item, &path) {
            partial.fail(finding);
            return;
        }
        match self.definition(&path, partial) {
            None => partial.fail(no_kustomization(item, text)),
            Some(Read::Unusable) => {}
            Some(Read::Usable(component)) if component.is_component() => {
                self.components += 1;
                if self.components < MAX_COMPONENTS {
                    self.accumulate(&component, partial);
                } else if self.components == MAX_COMPONENTS {
                    let message = format!("this build takes in more than {MAX_COMPONENTS} components");
                    partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
                }
            }
            Some(Read::Usable(_)) => {
                let message = format!("`{text}` is no Component");
                let help = "name it in `resources`, or give it `kind: Component`";
                partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help(help));
            }
        }
    }

    /// Refuses a folder that is being built already or has one in it that is, and one that lies too deep.
    fn refuse_depth(&mut self, item: &Node, path: &str) -> Option<Finding> {
        if let Some(at) = self.open.iter().position(|open| is_inside(open, path)) {
            self.refused_for = Some(self.refused_for.map_or(at, |before| before.min(at)));
            let called = |path: &str| format!("`{}`", self.files.tree().display_path(path));
            let text = item.text().unwrap_or_default();
            let circle: Vec<String> =
                self.open.iter().skip(at).map(|open| called(open)).chain([called(path)]).collect();
            let message = match circle.as_slice() {
                _ if self.open.get(at).is_none_or(|open| open != path) => {
                    format!("`{text}` contains a folder that is being built, and kustomize takes that for a circle")
                }
                [_, _] => "this folder includes itself".to_string(),
                circle => format!("these folders include each other: {}", circle.join(" → ")),
            };
            return Some(Finding::error(FAILED_BUILD, item.span().clone(), message).help("remove one of the lines"));
        }
        if self.open.len() < MAX_DEPTH {
            return None;
        }
        self.refused_for = Some(0);
        let message = format!("kustomizations include each other more than {MAX_DEPTH} folders deep");
        Some(Finding::error(FAILED_BUILD, item.span().clone(), message))
    }
}

fn named_twice(first: &Node, again: &Node) -> Finding {
    let message = format!("`{}` is named twice", again.text().unwrap_or_default());
    let finding = Finding::error(MISSING_RESOURCE, again.span().clone(), message);
    finding
        .related(first.span().clone(), "named here already")
        .help("remove one of the lines: kustomize refuses to build the folder")
}

fn no_kustomization(item: &Node, text: &str) -> Finding {
    let message = format!("folder `{text}` has no {}", FILE_NAMES[0]);
    let help = "add one, or name the files: kustomize does not take a folder of files";
    Finding::error(MISSING_RESOURCE, item.span().clone(), message).help(help)
}
