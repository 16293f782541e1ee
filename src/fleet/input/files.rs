//! fleet.yaml and its included files, read and validated against their schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use globset::GlobBuilder;

use super::schema;
use crate::base::finding::Finding;
use crate::fleet::formats::PATH_OUTSIDE_REPOSITORY;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::schema::Checker;
use crate::text::{File, Span, Tree, folder_of, join};
use crate::yaml::{Document, Node, parse};

/// The input: fleet.yaml and its included files.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// The directory of fleet.yaml. All paths in fleet.yaml are relative to this directory.
    pub folder: String,
    /// The root node of fleet.yaml.
    pub root: Node,
    /// The clusters of all files.
    pub clusters: Vec<Node>,
    /// The tenants of all files.
    pub tenants: Vec<Node>,
    /// The included files, each with the glob that matched it.
    pub included: BTreeMap<String, Span>,
}

impl Input {
    /// Reads fleet.yaml and its included files; `None` if fleet.yaml is missing or not a complete mapping.
    pub(crate) fn read(tree: &Tree, path: &str) -> (Option<Self>, Vec<Finding>) {
        let file = match tree.file(path) {
            Ok(file) => file,
            Err(error) => {
                let at = File::new(path, "").first_line();
                let help = "create one with `fleetwright init`";
                let finding = Finding::error(INVALID_FLEET, at, format!("`{path}` cannot be read: {error}")).help(help);
                return (None, vec![finding]);
            }
        };
        let parsed = parse(&file);
        let mut findings = parsed.findings;
        let Some(Document { node: root, complete }) = parsed.documents.first().cloned() else {
            if findings.is_empty() {
                let help = "create one with `fleetwright init`";
                findings
                    .push(Finding::error(INVALID_FLEET, file.first_line(), format!("`{path}` is empty")).help(help));
            }
            return (None, findings);
        };
        if let Some(second) = parsed.documents.get(1) {
            let finding = Finding::error(
                INVALID_FLEET,
                second.node.span().clone(),
                format!("`{path}` has more than one YAML document"),
            )
            .related(root.span().clone(), "the first document starts here")
            .help("move additional clusters and tenants to files of their own, and list them in `include`");
            findings.push(finding);
        }
        // Fields after a YAML error are not read, so they must not be reported as missing.
        if !complete {
            return (None, findings);
        }
        findings.extend(schema::FLEET.check(&root));
        if !root.is_map() {
            return (None, findings);
        }
        let mut input = Self {
            folder: folder_of(path).into(),
            clusters: items(&root, "clusters"),
            tenants: items(&root, "tenants"),
            included: BTreeMap::new(),
            root,
        };
        let clusters = input.include(tree, path, "clusters", &schema::CLUSTER, &mut findings);
        let tenants = input.include(tree, path, "tenants", &schema::TENANT, &mut findings);
        input.clusters.extend(clusters);
        input.tenants.extend(tenants);
        (Some(input), findings)
    }

    fn include(
        &mut self,
        tree: &Tree,
        own: &str,
        what: &str,
        checker: &LazyLock<Checker>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Node> {
        let globs = self.root.at_keys(&["include", what]).map(Node::items).unwrap_or_default();
        let mut paths: BTreeMap<String, Span> = BTreeMap::new();
        for glob in globs {
            let Some(text) = glob.text() else { continue };
            let at = glob.span().clone();
            match matching(tree, &self.folder, text) {
                Ok(found) if found.iter().all(|path| path == own) => {
                    let help =
                        format!("write a path relative to the directory of `{own}`; `*` matches a part of a name");
                    findings.push(Finding::error(INVALID_FLEET, at, format!("`{text}` matches no file")).help(help));
                }
                Ok(found) => {
                    for path in found.into_iter().filter(|path| path != own) {
                        paths.entry(path).or_insert_with(|| at.clone());
                    }
                }
                Err((rule, message)) => findings.push(Finding::error(rule, at, message)),
            }
        }
        let mut nodes = Vec::new();
        for (path, at) in paths {
            if let Some(first) = self.included.insert(path.clone(), at.clone()) {
                let message = format!("`{path}` is included both as clusters and as tenants");
                findings.push(Finding::error(INVALID_FLEET, at.clone(), message).related(first, "also included here"));
            }
            match tree.file(&path) {
                Ok(file) => nodes.extend(documents(&file, checker, findings)),
                Err(error) => {
                    findings.push(Finding::error(INVALID_FLEET, at, format!("`{path}` cannot be read: {error}")));
                }
            }
        }
        nodes
    }
}

fn items(root: &Node, key: &str) -> Vec<Node> {
    root.get(key).map(Node::items).unwrap_or_default().to_vec()
}

/// Returns the sorted files that a glob matches, or a rule id and a message.
fn matching(tree: &Tree, folder: &str, glob: &str) -> Result<Vec<String>, (&'static str, String)> {
    if glob.starts_with('/') {
        return Err((PATH_OUTSIDE_REPOSITORY, format!("`{glob}` is an absolute path")));
    }
    let Some(joined) = join(folder, glob) else {
        return Err((PATH_OUTSIDE_REPOSITORY, format!("`{glob}` is a path outside the repository")));
    };
    let pattern = GlobBuilder::new(&joined).literal_separator(true).build();
    let matcher =
        pattern.map_err(|error| (INVALID_FLEET, format!("`{glob}` is not a valid glob: {}", error.kind())))?;
    let matcher = matcher.compile_matcher();
    Ok(tree.entries().map(|(path, _)| path).filter(|path| matcher.is_match(path)).map(str::to_owned).collect())
}

/// Returns the documents of an included file: one cluster or one tenant each.
fn documents(file: &File, checker: &Checker, findings: &mut Vec<Finding>) -> Vec<Node> {
    let parsed = parse(file);
    if parsed.documents.is_empty() && parsed.findings.is_empty() {
        findings.push(Finding::warning(INVALID_FLEET, file.first_line(), format!("`{}` is empty", file.path())));
    }
    findings.extend(parsed.findings);
    let mut nodes = Vec::new();
    for document in parsed.documents.into_iter().filter(|document| document.complete) {
        findings.extend(checker.check(&document.node));
        nodes.push(document.node);
    }
    nodes
}
