//! The included files: clusters and tenants, with the restrictions of the entry that includes them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use globset::GlobBuilder;

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::fleet::formats::PATH_OUTSIDE_REPOSITORY;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::schema::Checker;
use crate::text::{File, Span, Tree, folder_of, join};
use crate::yaml::{Node, parse};

/// The restriction of an included file: the `allow` of an entry of `include`.
#[derive(Debug, Clone)]
pub(crate) struct Restriction {
    /// The mapping `allow`.
    pub allow: Node,
    /// The place of its key.
    pub at: Span,
    /// The glob that matched the file, from the root of the repository.
    pub glob: String,
}

/// The clusters or tenants of included files.
#[derive(Debug, Clone, Default)]
pub(super) struct Included {
    /// Each item with its restrictions. Without a restriction, the file can contain every setting.
    pub items: Vec<(Node, Vec<Restriction>)>,
}

/// A file that `include` lists, with all entries that match it.
struct Matched {
    at: Span,
    restrictions: Vec<Restriction>,
}

/// The place and the content of fleet.yaml.
#[derive(Clone, Copy)]
pub(super) struct Including<'a> {
    pub tree: &'a Tree,
    /// The path of fleet.yaml.
    pub path: &'a str,
    pub root: &'a Node,
}

impl Including<'_> {
    /// Reads the included files of one kind, `clusters` or `tenants`. Adds their paths to `included`.
    pub(super) fn read(
        self,
        what: &str,
        checker: &LazyLock<Checker>,
        included: &mut BTreeMap<String, Span>,
        findings: &mut Vec<Finding>,
    ) -> Included {
        let mut read = Included::default();
        for (path, matched) in self.matched(what, findings) {
            let Matched { at, restrictions } = matched;
            if let Some(first) = included.insert(path.clone(), at.clone()) {
                let message = format!("`{path}` is included both as clusters and as tenants");
                findings.push(Finding::error(INVALID_FLEET, at.clone(), message).related(first, "also included here"));
            }
            match self.tree.file(&path) {
                Ok(file) => {
                    let nodes = documents(&file, checker, findings).into_iter();
                    read.items.extend(nodes.map(|node| (node, restrictions.clone())));
                }
                Err(error) => {
                    findings.push(Finding::error(INVALID_FLEET, at, format!("`{path}` cannot be read: {error}")));
                }
            }
        }
        read
    }

    /// The entries of `include`: the items of a list, or the mapping itself.
    fn entries(&self) -> Vec<&Node> {
        let include = self.root.get("include").into_iter();
        include
            .flat_map(|include| if include.is_map() { std::slice::from_ref(include) } else { include.items() })
            .collect()
    }

    fn matched(&self, what: &str, findings: &mut Vec<Finding>) -> BTreeMap<String, Matched> {
        let folder = folder_of(self.path);
        let mut files: BTreeMap<String, Matched> = BTreeMap::new();
        for entry in self.entries() {
            let allow = entry.entry("allow").filter(|allow| allow.node.is_map());
            if let (Some(allow), "clusters", Some(_)) = (allow, what, entry.get("clusters")) {
                let help = "move `clusters` to another entry of `include`";
                let message = "`allow` restricts tenants, but the entry also includes clusters";
                findings.push(Finding::error(INVALID_FLEET, allow.key_span(), message).help(help));
            }
            let globs =
                entry.get(what).map(|globs| if globs.is_seq() { globs.items() } else { std::slice::from_ref(globs) });
            for glob in globs.unwrap_or_default() {
                let Some(text) = glob.text() else { continue };
                let at = glob.span().clone();
                let (glob, found) = match matching(self.tree, folder, text) {
                    Ok(found) => found,
                    Err((rule, message)) => {
                        findings.push(Finding::error(rule, at, message));
                        continue;
                    }
                };
                let found: Vec<String> = found.into_iter().filter(|path| path != self.path).collect();
                if found.is_empty() {
                    findings.extend(self.nothing_matches(text, &glob, at.clone()));
                }
                for path in found {
                    let file =
                        files.entry(path).or_insert_with(|| Matched { at: at.clone(), restrictions: Vec::new() });
                    file.restrictions.extend(allow.map(|allow| Restriction {
                        allow: allow.node.clone(),
                        at: allow.key_span(),
                        glob: glob.clone(),
                    }));
                }
            }
        }
        files
    }

    /// The finding of a glob without files: a missing file, or a misspelled directory. A new fleet has no files yet.
    fn nothing_matches(&self, text: &str, glob: &str, at: Span) -> Option<Finding> {
        let message = format!("`{text}` matches no file");
        if !glob.contains(['*', '?', '[', '{']) {
            let help =
                format!("write a path relative to the directory of `{}`; `*` matches a part of a name", self.path);
            return Some(Finding::error(INVALID_FLEET, at, message).help(help));
        }
        let wanted = folder_of(glob);
        if wanted.is_empty() || wanted.contains(['*', '?', '[', '{']) || self.tree.under(wanted).next().is_some() {
            return None;
        }
        let above = folder_of(wanted);
        let inner = |path: &str| {
            let rest = if above.is_empty() { path } else { path.strip_prefix(above)?.strip_prefix('/')? };
            rest.split_once('/').map(|(folder, _)| folder.to_owned())
        };
        let siblings: std::collections::BTreeSet<String> =
            self.tree.entries().filter_map(|(path, _)| inner(path)).collect();
        let typed = wanted.rsplit('/').next().unwrap_or(wanted);
        let meant = did_you_mean(typed, siblings.iter().map(String::as_str))?;
        let help = format!("did you mean the directory `{meant}`?");
        Some(Finding::warning(INVALID_FLEET, at, message).help(help))
    }
}

/// Returns the glob from the root of the repository and its sorted files, or a rule id and a message.
fn matching(tree: &Tree, folder: &str, glob: &str) -> Result<(String, Vec<String>), (&'static str, String)> {
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
    let found = tree.entries().map(|(path, _)| path).filter(|path| matcher.is_match(path)).map(str::to_owned).collect();
    Ok((joined, found))
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
