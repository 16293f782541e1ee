//! A layout: a directory of templates with a `layout.yaml`, built in or the user's own.

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::text::{File, Span, Tree, join};
use crate::yaml::{Node, Value};

use super::schema;
use crate::fleet::model::MANIFEST;
use crate::fleet::rule_ids::INVALID_FLEET;

/// A directory of templates.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The name in fleet.yaml: `d1`, or `./layouts/mine`.
    pub name: String,
    /// The files, by paths relative to the layout.
    pub files: Tree,
    /// The root node of `layout.yaml`; an empty mapping if the file is missing.
    pub manifest: Node,
    /// The `layout.yaml` of the layout, then those of the layouts that it extends.
    pub manifests: Vec<File>,
}

impl Layout {
    /// Loads the layout that fleet.yaml references at `at`.
    ///
    /// `name` is that of a built-in layout, or a path that starts with `./`, relative to the directory of fleet.yaml.
    ///
    /// The findings are errors in the name or in `layout.yaml`. The layout is `None` if the name is invalid.
    pub fn load(name: &str, at: &Span, folder: &str, tree: &Tree) -> (Option<Self>, Vec<Finding>) {
        let found = if name.starts_with("./") { Self::own(name, at, folder, tree) } else { Self::built_in(name, at) };
        let files = match found {
            Ok(files) => files,
            Err(finding) => return (None, vec![*finding]),
        };
        let (manifest, findings) = manifest(&files, at);
        let manifests = files.file(MANIFEST).into_iter().collect();
        (Some(Self { name: name.into(), files, manifest, manifests }), findings)
    }

    /// Returns whether a position is in a `layout.yaml` of the layout.
    pub(crate) fn sets(&self, span: &Span) -> bool {
        self.manifests.contains(span.file())
    }

    fn built_in(name: &str, at: &Span) -> Result<Tree, Box<Finding>> {
        let all = crate::assets::templates();
        let files = below(&all, name);
        if !name.is_empty() && !name.contains('/') && !files.is_empty() {
            return Ok(files);
        }
        let names = Self::names(&all);
        let meant = did_you_mean(name, names.iter().copied());
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("use a built-in layout ({}), or a path that starts with `./`", names.join(", ")),
        };
        Err(Box::new(Finding::error(INVALID_FLEET, at.clone(), format!("unknown layout `{name}`")).help(help)))
    }

    /// Returns the names of the built-in layouts.
    pub fn names(templates: &Tree) -> Vec<&str> {
        let mut names: Vec<&str> =
            templates.entries().filter_map(|(path, _)| path.split_once('/')).map(|(top, _)| top).collect();
        names.dedup();
        names
    }

    fn own(name: &str, at: &Span, folder: &str, tree: &Tree) -> Result<Tree, Box<Finding>> {
        let Some(folder) = join(folder, name) else {
            let message = format!("layout `{name}` is outside the repository");
            return Err(Box::new(Finding::error(crate::fleet::formats::PATH_OUTSIDE_REPOSITORY, at.clone(), message)));
        };
        let files = below(tree, &folder);
        if files.is_empty() || folder.is_empty() {
            let finding =
                Finding::error(INVALID_FLEET, at.clone(), format!("directory `{name}` does not contain a layout"));
            return Err(Box::new(finding.help("create the directory with templates and a `layout.yaml`")));
        }
        Ok(files)
    }
}

/// Returns the files below a directory, with relative paths.
///
/// The files themselves keep their full paths, so that a finding in a template shows the path in the user's repository.
fn below(tree: &Tree, folder: &str) -> Tree {
    let mut files = Tree::default();
    for path in tree.under(folder) {
        let relative = path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/'));
        let entry = match tree.file(path) {
            Ok(file) => crate::text::Entry::Text(file),
            Err(error) => crate::text::Entry::Opaque(error),
        };
        files.insert_entry(relative, entry);
    }
    files
}

fn manifest(files: &Tree, at: &Span) -> (Node, Vec<Finding>) {
    let empty = |span: Span| Node::at(Value::Map([].into()), span);
    let Ok(file) = files.file(MANIFEST) else { return (empty(at.clone()), Vec::new()) };
    let parsed = crate::yaml::parse(&file);
    let start = File::first_line(&file);
    let mut findings = parsed.findings;
    match parsed.documents.into_iter().next() {
        Some(document) => {
            if document.complete {
                findings.extend(schema::LAYOUT.check(&document.node));
            }
            let node = if document.node.is_map() { document.node } else { empty(start) };
            (node, findings)
        }
        None => (empty(start), findings),
    }
}
