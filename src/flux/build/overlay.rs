//! The kustomization that Flux builds: the directory's own or a generated one, with the additions of the Kustomization.

use super::manifest_walk::manifests;
use crate::base::finding::Finding;
use crate::flux::object::synthetic_node::{entry, list, map, quoted, text};
use crate::kube::Object;
use crate::kustomize::{FAILED_BUILD, FILE_NAMES, Files, ignored_documents, rewrite};
use crate::text::join;
use crate::yaml::go::is_field;
use crate::yaml::{DUPLICATE_KEY, Entry, Node, Value, go};

/// The fields of a kustomization that Flux replaces, with the fields of the Kustomization that replace them.
const REPLACED: [(&str, &str); 4] = [
    ("namespace", "targetNamespace"),
    ("namePrefix", "namePrefix"),
    ("nameSuffix", "nameSuffix"),
    ("buildMetadata", "buildMetadata"),
];

/// The kustomization for the build of a directory.
pub(crate) struct Overlay {
    /// The kustomization to build in place of the directory's own.
    pub(crate) node: Node,
    /// The reasons why Flux does not build the kustomization.
    pub(crate) findings: Vec<Finding>,
}

/// Assembles the kustomization that Flux builds for a directory.
///
/// Flux decodes the directory's own kustomization and encodes it again, which drops unknown fields. So Flux accepts a
/// field that kustomize would refuse, and builds no objects from an empty file.
pub(crate) fn overlay(files: &Files, folder: &str, applier: &Object, place: &Node) -> Overlay {
    let mut findings = Vec::new();
    let paths = FILE_NAMES.iter().filter_map(|name| join(folder, name));
    let found: Vec<String> = paths.filter(|path| files.tree().has_file(path)).collect();
    let mut node = match found.first() {
        Some(path) => own(files, path, place, &mut findings),
        None => made_up(files, folder, place),
    };
    if let Some(second) = found.get(1).and_then(|path| files.get(path)) {
        let message = format!("this directory has two kustomization files; the other is `{}`", found[0]);
        findings.push(Finding::error(FAILED_BUILD, second.file.first_line(), message).help("remove one of them"));
    }
    let spec = applier.node.get("spec");
    for (field, key) in REPLACED {
        let entry = spec.and_then(|spec| spec.entry(key)).filter(|entry| is_set(&entry.node));
        if let Some(entry) = entry {
            node = put(&node, Entry::new(field, &entry.key_span(), entry.node.clone()));
        }
    }
    if let Some(patches) = spec.and_then(|spec| spec.entry("patches")) {
        let items = patches.node.items().iter().map(patch).collect();
        node = append(&node, "patches", patches, items);
    }
    if let Some(components) = spec.and_then(|spec| spec.entry("components")) {
        let ignored = spec.and_then(|spec| spec.get("ignoreMissingComponents")).and_then(Node::text) == Some("true");
        let mut wanted = Vec::new();
        for item in components.node.items() {
            let path = item.text().unwrap_or_default();
            if !is_local(path) {
                let message = format!("component `{path}` is not a relative path");
                findings.push(
                    Finding::error(FAILED_BUILD, item.span().clone(), message)
                        .help("set a path relative to `spec.path`: Flux accepts neither URLs nor absolute paths here"),
                );
            } else if !ignored || join(folder, path).is_some_and(|path| exists(files, &path)) {
                wanted.push(item.clone());
            }
        }
        node = append(&node, "components", components, wanted);
    }
    node = older_patches(&node, applier);
    if let Some(images) = spec.and_then(|spec| spec.entry("images")) {
        node = merge_images(&node, images);
    }
    // Without `sortOptions`, `kustomize build` sorts the objects, but Flux keeps their order.
    if !node.entries().iter().any(|entry| is_field(&entry.key, "sortOptions") && is_set(&entry.node)) {
        let order = map(vec![("order", text("fifo", place.span()))], place.span());
        node = put(&node, entry("sortOptions", order));
    }
    Overlay { node, findings }
}

fn exists(files: &Files, path: &str) -> bool {
    files.tree().has_file(path) || files.tree().has_folder(path)
}

/// Returns whether a value is not empty. Flux drops empty fields.
fn is_set(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, _) => !node.is_null() && !text.is_empty(),
        Value::Seq(items) => !items.is_empty(),
        Value::Map(_) => true,
    }
}

/// The kustomization in the directory's own file.
fn own(files: &Files, path: &str, place: &Node, findings: &mut Vec<Finding>) -> Node {
    let Some(parsed) = files.get(path) else { return map(Vec::new(), place.span()) };
    // As in kustomize, the last of duplicate keys has precedence.
    findings.extend(parsed.findings.iter().filter(|finding| finding.rule != DUPLICATE_KEY).cloned());
    findings.extend(ignored_documents(&parsed));
    let start = || parsed.file.first_line();
    let node = match parsed.documents.first() {
        Some(document) if document.node.is_map() => {
            let (node, refused) = rewrite(&document.node);
            findings.extend(refused);
            node
        }
        Some(document) if !document.node.is_null() => {
            let message = "a kustomization must be a mapping";
            findings.push(Finding::error(FAILED_BUILD, document.node.span().clone(), message));
            map(Vec::new(), &start())
        }
        _ => map(Vec::new(), &start()),
    };
    let lists = |name: &str| node.entries().iter().any(|e| is_field(&e.key, name) && is_set(&e.node));
    if lists("resources") {
        return node;
    }
    // Flux sets `buildMetadata` so that kustomize does not refuse an empty kustomization. As a side effect, objects get
    // origin annotations.
    let annotations = list(vec![text("originAnnotations", node.span())], node.span());
    put(&node, entry("buildMetadata", annotations))
}

/// The kustomization that Flux generates for a directory without a kustomization file. It lists every manifest below
/// the directory.
fn made_up(files: &Files, folder: &str, place: &Node) -> Node {
    let paths = manifests(files.tree(), folder);
    let version = ("apiVersion", text("kustomize.config.k8s.io/v1beta1", place.span()));
    let kind = ("kind", text("Kustomization", place.span()));
    if paths.is_empty() {
        // Flux sets this placeholder. Kustomize uses the placeholder as the namespace of the objects of components.
        return map(vec![version, kind, ("namespace", text("_placeholder", place.span()))], place.span());
    }
    let resources = paths.iter().map(|path| text(&format!("./{path}"), place.span())).collect();
    map(vec![version, kind, ("resources", list(resources, place.span()))], place.span())
}

/// The fields of a patch that Flux passes to kustomize.
fn patch(item: &Node) -> Node {
    let Value::Map(entries) = &item.value else { return item.clone() };
    let kept: Vec<Entry> = entries.iter().filter(|entry| matches!(&*entry.key, "patch" | "target")).cloned().collect();
    Node { value: Value::Map(kept.into()), origin: item.origin.clone() }
}

/// Appends the patches of `patchesStrategicMerge` and `patchesJson6902`, which API versions before `v1` have in
/// addition to `patches`. These patches are objects instead of text.
fn older_patches(node: &Node, applier: &Object) -> Node {
    if !applier.api_version().contains("/v1beta") {
        return node.clone();
    }
    let printed = |item: &Node| quoted(&go::print(item), item.span());
    let mut node = node.clone();
    if let Some(entry) = applier.node.at_keys(&["spec"]).and_then(|spec| spec.entry("patchesStrategicMerge")) {
        node = append(&node, "patchesStrategicMerge", entry, entry.node.items().iter().map(printed).collect());
    }
    if let Some(entry) = applier.node.at_keys(&["spec"]).and_then(|spec| spec.entry("patchesJson6902")) {
        let patch = |item: &Node| {
            let operations = item.entry("patch").map(|patch| patch.with_node(printed(&patch.node)));
            operations.map_or_else(|| item.clone(), |patch| item.with(patch))
        };
        node = append(&node, "patchesJson6902", entry, entry.node.items().iter().map(patch).collect());
    }
    node
}

/// Sets a field. Replaces a field whose name differs only in letter case.
fn put(node: &Node, entry: Entry) -> Node {
    let written = node.entries().iter().find(|old| is_field(&old.key, &entry.key)).map(|old| old.key.clone());
    match written {
        Some(key) if key != entry.key => node.without(&key).with(entry),
        _ => node.with(entry),
    }
}

fn field<'a>(node: &'a Node, name: &str) -> &'a [Node] {
    let found = node.entries().iter().find(|entry| is_field(&entry.key, name));
    found.map_or(&[], |entry| entry.node.items())
}

fn append(node: &Node, name: &str, entry: &Entry, items: Vec<Node>) -> Node {
    if items.is_empty() {
        return node.clone();
    }
    let own = field(node, name).iter().cloned();
    let all: Vec<Node> = own.chain(items).collect();
    let list = Node { value: Value::Seq(all.into()), origin: entry.node.origin.clone() };
    put(node, Entry::new(name, &entry.key_span(), list))
}

/// Merges images by name. A tag or a digest replaces both tag and digest.
fn merge_images(node: &Node, entry: &Entry) -> Node {
    let text = |image: &Node, key: &str| image.get(key).and_then(Node::text).unwrap_or_default().to_string();
    let mut images: Vec<Node> = field(node, "images").to_vec();
    for image in entry.node.items() {
        let name = text(image, "name");
        let Some(own) = images.iter_mut().find(|own| text(own, "name") == name) else {
            images.push(image.clone());
            continue;
        };
        let entry_of = |key: &str| image.entry(key).filter(|entry| is_set(&entry.node)).cloned();
        if let Some(entry) = entry_of("newName") {
            *own = own.with(entry);
        }
        let (tag, digest) = (entry_of("newTag"), entry_of("digest"));
        if tag.is_some() || digest.is_some() {
            *own = own.without("newTag").without("digest");
            for entry in [tag, digest].into_iter().flatten() {
                *own = own.with(entry);
            }
        }
    }
    if images.is_empty() {
        return node.clone();
    }
    let list = Node { value: Value::Seq(images.into()), origin: entry.node.origin.clone() };
    put(node, Entry::new("images", &entry.key_span(), list))
}

/// Returns whether Flux accepts the path of a component: it refuses URLs and absolute paths.
fn is_local(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let remote = ["git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"];
    let downloads = remote.iter().any(|start| lower.len() > start.len() && lower.starts_with(start));
    !downloads && !path.starts_with('/') && !lower.starts_with("file:///")
}
