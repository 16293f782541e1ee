//! Layouts that extend a built-in layout: they replace, add and drop files, and merge the settings of `layout.yaml`.

use super::levels::{merge, set};
use crate::base::finding::Finding;
use crate::fleet::input::layout::Layout;
use crate::fleet::model::MANIFEST;
use crate::fleet::rule_ids::INVALID_LAYOUT;
use crate::text::{Entry, File, Span, Tree};
use crate::yaml::{Node, Value};

/// The maximum number of layouts that extend each other.
const MAX_DEPTH: usize = 8;
/// The lists of layout.yaml that add to the lists of the extended layout.
const ADDED: [&str; 5] = ["clusterRoles", "verbatim", "shared", "external", "externalObjects"];

/// Loads a layout as [`Layout::load`] does, over the layout that it extends.
pub(crate) fn load(name: &str, at: &Span, folder: &str, tree: &Tree) -> (Option<Layout>, Vec<Finding>) {
    let (layout, mut findings) = Layout::load(name, at, folder, tree);
    let Some(mut layout) = layout else { return (None, findings) };
    for _ in 0..MAX_DEPTH {
        let Some(extends) = layout.manifest.get("extends").filter(|extends| !extends.is_null()).cloned() else {
            return (Some(layout), findings);
        };
        let Some(base) = extends.text() else { return (Some(layout), findings) };
        let found =
            if base.starts_with('.') { (None, Vec::new()) } else { Layout::load(base, extends.span(), "", tree) };
        findings.extend(found.1);
        let Some(base) = found.0 else {
            if base.starts_with('.') {
                let message = format!("`{base}` is not the name of a built-in layout");
                let help = "only built-in layouts can be extended; `fleetwright layout` lists them";
                findings.push(Finding::error(INVALID_LAYOUT, extends.span().clone(), message).help(help));
            }
            return (Some(layout), findings);
        };
        layout = over(base, layout);
    }
    let message = format!("layout `{name}` extends more than {MAX_DEPTH} layouts");
    findings.push(Finding::error(INVALID_LAYOUT, layout.manifest.span().clone(), message));
    (None, findings)
}

/// Loads a built-in layout, or the layout in the directory `./` + path of a tree, for use without a fleet.yaml.
pub fn layout_in(name: &str, tree: &Tree) -> (Option<Layout>, Vec<Finding>) {
    load(name, &File::new(MANIFEST, "").first_line(), "", tree)
}

/// Returns a layout over the layout that it extends.
fn over(base: Layout, own: Layout) -> Layout {
    let mut files = base.files;
    for (path, entry) in own.files.entries() {
        let is_empty = matches!(entry, Entry::Text(file) if file.text().trim().is_empty());
        // An empty file drops the file of the extended layout.
        if is_empty && path != MANIFEST && files.has_file(path) {
            files.remove(path);
        } else {
            files.insert_entry(path, entry.clone());
        }
    }
    let manifest = settings(&base.manifest, &own.manifest.without("extends"));
    let manifests = own.manifests.into_iter().chain(base.manifests).collect();
    Layout { name: own.name, files, manifest, manifests }
}

/// Merges the settings of two layouts as levels of fleet.yaml, except that some lists are added.
fn settings(base: &Node, own: &Node) -> Node {
    let mut merged = merge(base, own);
    for key in ADDED {
        let (Some(lower), Some(higher)) = (base.get(key), own.get(key)) else { continue };
        if let (Value::Seq(first), Value::Seq(second)) = (&lower.value, &higher.value) {
            let items = first.iter().chain(second.iter()).cloned().collect();
            merged = set(&merged, key, Node { value: Value::Seq(items), origin: higher.origin.clone() });
        }
    }
    merged
}
