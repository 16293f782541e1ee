//! What a kustomization takes in: files, other folders, components.

use std::collections::BTreeSet;

use super::build::{Read, Walk};
use super::definition::{Definition, FILE_NAMES};
use super::partial::Partial;
use super::resources::Resource;
use super::{FAILED_BUILD, MISSING_RESOURCE};
use crate::finding::{Finding, did_you_mean};
use crate::text::join;
use crate::yaml::Node;

/// Kustomizations may include each other this deep.
const MAX_DEPTH: usize = 64;

impl Walk<'_> {
    pub(super) fn include(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
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

    pub(super) fn component(&mut self, definition: &Definition, item: &Node, partial: &mut Partial) {
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
