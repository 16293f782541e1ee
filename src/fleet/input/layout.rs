//! A layout: a folder of templates and its `layout.yaml`, built in or the user's own.

use crate::base::finding::{Finding, did_you_mean};
use crate::text::{File, Span, Tree, join};
use crate::yaml::{Node, Value};

use crate::fleet::rule_ids::INVALID_FLEET;

/// The file of a layout that says what the layout does.
pub const MANIFEST: &str = "layout.yaml";

/// A folder of templates.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Its name as fleet.yaml says it: `d1`, or `./layouts/mine`.
    pub name: String,
    /// Its files, by paths relative to the layout.
    pub files: Tree,
    /// What `layout.yaml` says; an empty mapping when there is none.
    pub manifest: Node,
}

impl Layout {
    /// Loads the layout that fleet.yaml names at `at`: a built-in one, or a folder of the tree when it starts with `./`,
    /// relative to the folder of fleet.yaml.
    ///
    /// The findings are mistakes of the name or of `layout.yaml`; there is no layout when the name is wrong.
    pub fn load(name: &str, at: &Span, folder: &str, tree: &Tree) -> (Option<Self>, Vec<Finding>) {
        let found = if name.starts_with("./") { Self::own(name, at, folder, tree) } else { Self::built_in(name, at) };
        let files = match found {
            Ok(files) => files,
            Err(finding) => return (None, vec![*finding]),
        };
        let (manifest, findings) = manifest(&files, at);
        (Some(Self { name: name.into(), files, manifest }), findings)
    }

    fn built_in(name: &str, at: &Span) -> Result<Tree, Box<Finding>> {
        let all = crate::assets::templates();
        let files = below(&all, name);
        if !name.is_empty() && !name.contains('/') && !files.is_empty() {
            return Ok(files);
        }
        let mut names: Vec<&str> =
            all.entries().filter_map(|(path, _)| path.split_once('/')).map(|(top, _)| top).collect();
        names.dedup();
        let meant = did_you_mean(name, names.iter().copied());
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("built in: {}; a folder of your own starts with `./`", names.join(", ")),
        };
        Err(Box::new(Finding::error(INVALID_FLEET, at.clone(), format!("there is no layout `{name}`")).help(help)))
    }

    fn own(name: &str, at: &Span, folder: &str, tree: &Tree) -> Result<Tree, Box<Finding>> {
        let Some(folder) = join(folder, name) else {
            let message = format!("layout `{name}` leads out of the repository");
            return Err(Box::new(Finding::error(crate::fleet::formats::PATH_OUTSIDE_REPOSITORY, at.clone(), message)));
        };
        let files = below(tree, &folder);
        if files.is_empty() || folder.is_empty() {
            let finding = Finding::error(INVALID_FLEET, at.clone(), format!("there is no layout in folder `{name}`"));
            return Err(Box::new(finding.help("a layout is a folder of templates with a `layout.yaml`")));
        }
        Ok(files)
    }
}

/// The files below a folder. Their paths become relative to it; the files themselves keep their own paths, so that a
/// finding in a template names the file that the user knows.
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
    let node = parsed.documents.into_iter().next().map(|document| document.node);
    match node {
        Some(node) if node.is_map() => (node, findings),
        Some(node) => {
            findings.push(Finding::error(INVALID_FLEET, node.span().clone(), "a layout.yaml is a mapping"));
            (empty(start), findings)
        }
        None => (empty(start), findings),
    }
}
