//! Paths of fields as users type them: `spec.values.image.tag`, `/spec/containers/0`, `containers[name=web].image`.

use std::fmt::Write as _;

use arcstr::ArcStr;

use crate::base::similar_names::did_you_mean;
use crate::yaml::{Key, Node, Path, Value};

/// The keys that identify an item of a list.
const NAMES: [&str; 5] = ["name", "key", "mountPath", "containerPort", "id"];

/// A typed path without a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoField {
    /// The path up to the last match.
    pub known: Path,
    /// The rest, which does not match.
    pub missing: String,
    /// The suggested path.
    pub meant: Option<Path>,
    /// Whether the last match can have fields; a scalar cannot.
    pub has_fields: bool,
}

/// Finds the field at a typed path.
///
/// A key may contain dots, as the keys of labels do: the longest existing key has precedence. Quoted keys in brackets,
/// a backslash before a dot, and JSON pointers are unambiguous. An item of a list is selected by its index or name.
pub fn find<'a>(root: &'a Node, typed: &str) -> Result<(Path, &'a Node), NoField> {
    let mut search = Search { furthest: (root, Path::default(), typed.to_owned()) };
    let typed = typed.strip_prefix("$.").unwrap_or(typed);
    let found = match typed.strip_prefix('/') {
        Some(pointer) => search.pointer(root, pointer),
        None => search.dotted(root, typed.strip_prefix('.').unwrap_or(typed), Path::default()),
    };
    found.ok_or_else(|| search.failure())
}

/// A search, with the furthest match.
struct Search<'a> {
    furthest: (&'a Node, Path, String),
}

impl<'a> Search<'a> {
    fn pointer(&mut self, root: &'a Node, pointer: &str) -> Option<(Path, &'a Node)> {
        let mut path = Path::default();
        let mut node = root;
        for segment in pointer.split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            self.furthest = (node, path.clone(), segment.clone());
            let (key, child) = child(node, &segment)?;
            path = path.child(key);
            node = child;
        }
        Some((path, node))
    }

    fn dotted(&mut self, node: &'a Node, rest: &str, path: Path) -> Option<(Path, &'a Node)> {
        if rest.is_empty() {
            return Some((path, node));
        }
        if path.0.len() >= self.furthest.1.0.len() {
            self.furthest = (node, path.clone(), first_segment(rest));
        }
        if let Some(inside) = rest.strip_prefix('[') {
            let (segment, rest) = bracket(inside)?;
            let (key, child) = child(node, &segment)?;
            return self.dotted(child, rest.strip_prefix('.').unwrap_or(rest), path.child(key));
        }
        if let Value::Map(entries) = &node.value {
            let mut candidates: Vec<(ArcStr, &Node, &str)> = Vec::new();
            for entry in entries.iter() {
                let escaped = entry.key.replace('\\', "\\\\").replace('.', "\\.");
                let spelled = [&*entry.key, escaped.as_str()];
                let Some(after) = spelled.iter().find_map(|key| rest.strip_prefix(key)) else { continue };
                if after.is_empty() || after.starts_with(['.', '[']) {
                    candidates.push((entry.key.clone(), &entry.node, after));
                }
            }
            candidates.sort_by_key(|(key, _, _)| std::cmp::Reverse(key.len()));
            return candidates.into_iter().find_map(|(key, child, after)| {
                self.dotted(child, after.strip_prefix('.').unwrap_or(after), path.child(Key::Name(key)))
            });
        }
        let segment = first_segment(rest);
        let (key, child) = child(node, &segment)?;
        let rest = rest.get(segment.len()..).unwrap_or_default();
        self.dotted(child, rest.strip_prefix('.').unwrap_or(rest), path.child(key))
    }

    fn failure(self) -> NoField {
        let (node, known, missing) = self.furthest;
        let names: Vec<&str> = match &node.value {
            Value::Map(entries) => entries.iter().map(|entry| &*entry.key).collect(),
            Value::Seq(items) => items.iter().filter_map(name_of).collect(),
            Value::Scalar(..) => Vec::new(),
        };
        let meant = did_you_mean(&missing, names).and_then(|name| child(node, name));
        let meant = meant.map(|(key, _)| known.child(key));
        NoField { known, missing, meant, has_fields: !matches!(node.value, Value::Scalar(..)) }
    }
}

/// Formats a path as a JSON pointer.
pub fn pointer(path: &Path) -> String {
    let segment = |key: &Key| match key {
        Key::Name(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        Key::Index(index) => format!("/{index}"),
    };
    path.0.iter().map(segment).collect()
}

/// Formats a path as users type it: keys with dots or brackets are quoted.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for key in &path.0 {
        match key {
            Key::Index(index) => drop(write!(text, "[{index}]")),
            Key::Name(name) if name.contains(['.', '[', ']', '\\']) || name.is_empty() => {
                let quote = if name.contains('"') { '\'' } else { '"' };
                let _ = write!(text, "[{quote}{name}{quote}]");
            }
            Key::Name(name) if text.is_empty() => text.push_str(name),
            Key::Name(name) => drop(write!(text, ".{name}")),
        }
    }
    text
}

/// The first segment of a path, up to the next dot or bracket.
fn first_segment(rest: &str) -> String {
    match rest.strip_prefix('[').and_then(bracket) {
        Some((segment, _)) => segment,
        None => rest.split(['.', '[']).next().unwrap_or(rest).to_owned(),
    }
}

/// Parses up to the closing bracket; quoted text may contain brackets.
fn bracket(inside: &str) -> Option<(String, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (text, rest) = quoted.split_once(quote)?;
            return Some((text.to_owned(), rest.strip_prefix(']')?));
        }
    }
    let (text, rest) = inside.split_once(']')?;
    Some((text.to_owned(), rest))
}

/// The child that a segment selects: by key, index, `key=value`, or the name of an item.
fn child<'a>(node: &'a Node, segment: &str) -> Option<(Key, &'a Node)> {
    match &node.value {
        Value::Map(_) => node.entry(segment).map(|entry| (Key::Name(entry.key.clone()), &entry.node)),
        Value::Seq(items) => {
            let index = match (segment.parse::<usize>(), segment.split_once('=')) {
                (Ok(index), _) if index < items.len() => Some(index),
                (_, Some((key, value))) => {
                    let value = value.trim_matches(['"', '\'']);
                    items.iter().position(|item| item.get(key).and_then(Node::text) == Some(value))
                }
                _ => items.iter().position(|item| name_of(item) == Some(segment)),
            }?;
            items.get(index).map(|item| (Key::Index(index), item))
        }
        Value::Scalar(..) => None,
    }
}

fn name_of(item: &Node) -> Option<&str> {
    NAMES.iter().find_map(|key| item.get(key)).unwrap_or(item).text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    fn object() -> Node {
        let text = "metadata:\n  labels: {app: a, app.kubernetes.io/name: b, app.x: {y: c}}\nspec:\n  containers:\n  \
                    - {name: web, image: d}\n  - {name: db, ports: [1, 2]}\n  a/b: e\n";
        crate::yaml::parse(&File::new("a.yaml", text)).documents.remove(0).node
    }

    #[test]
    fn a_field_is_found_in_every_notation() {
        let cases = [
            ("metadata.labels.app", "a"),
            (".metadata.labels.app.kubernetes.io/name", "b"),
            ("metadata.labels[\"app.kubernetes.io/name\"]", "b"),
            ("metadata.labels['app.x'].y", "c"),
            ("metadata.labels.app\\.kubernetes\\.io/name", "b"),
            ("metadata.labels.app.x.y", "c"),
            ("spec.containers[0].image", "d"),
            ("spec.containers[name=web].image", "d"),
            ("spec.containers.web.image", "d"),
            ("spec.containers.1.ports[1]", "2"),
            ("/spec/containers/0/image", "d"),
            ("/spec/a~1b", "e"),
            ("/metadata/labels/app.kubernetes.io~1name", "b"),
        ];
        let built = object();
        let object = object();
        for (path, _) in crate::flux::query::provenance::leaves(&object, &Path::default()) {
            assert_eq!(find(&object, &shown(&path)).map(|(found, _)| found), Ok(path));
        }
        for (typed, value) in cases {
            let found = find(&built, typed).map(|(path, node)| (path.find(&built) == Some(node), node.text()));
            assert_eq!(found, Ok((true, Some(value))), "{typed}");
        }
        assert_eq!(find(&built, "").unwrap().0, Path::default());
    }

    #[test]
    fn a_missing_field_reports_the_last_match_and_a_suggestion() {
        let object = object();
        let miss = |typed: &str| {
            let NoField { known, missing, meant, .. } = find(&object, typed).unwrap_err();
            (known.to_string(), missing, meant.map(|path| path.to_string()).unwrap_or_default())
        };
        let expect = |known: &str, missing: &str, meant: &str| (known.into(), missing.into(), meant.into());
        assert_eq!(miss("spec.contaners[0].image"), expect("spec", "contaners", "spec.containers"));
        assert_eq!(miss("spec.containers[0].imag"), expect("spec.containers[0]", "imag", "spec.containers[0].image"));
        assert_eq!(miss("spec.containers.wep.image"), expect("spec.containers", "wep", "spec.containers[0]"));
        assert_eq!(miss("/spec/containers/7"), expect("spec.containers", "7", ""));
        assert_eq!(miss("metadata.labels.app.b"), expect("metadata.labels.app", "b", ""));
        for broken in ["spec.containers[", "spec.containers[\"a", "[", ".", "..", "/", "spec..containers"] {
            let _ = find(&object, broken);
        }
    }
}
