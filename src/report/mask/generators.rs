//! The values that generators of Secrets read.

use std::collections::BTreeSet;

use arcstr::ArcStr;

use super::lines::{MIN_LEN, collect};
use crate::text::{File, Tree, folder_of, join};
use crate::yaml::{Node, parse};

/// The depth of texts in which generators are searched: the list `generators` of a kustomization has texts of YAML.
const MAX_TEXTS: usize = 2;

/// The part of a file that a generator reads, in bytes, in which values are searched.
const MAX_SOURCE: usize = 256 * 1024;

/// The files and values that generators read.
pub(super) struct Generators<'a> {
    /// The files of the repository.
    pub(super) tree: &'a Tree,
    /// The paths of the files that the generators read.
    pub(super) sources: BTreeSet<String>,
    /// The values.
    pub(super) values: BTreeSet<ArcStr>,
}

impl Generators<'_> {
    /// Collects the values that the generators in a kustomization, or a file of a generator, read.
    pub(super) fn search(&mut self, node: &Node, file: &File, depth: usize) {
        for generator in node.get("secretGenerator").into_iter().flat_map(Node::items) {
            self.read(generator, file);
        }
        if node.get("kind").and_then(Node::text) == Some("SecretGenerator") {
            self.read(node, file);
        }
        let texts = node.get("generators").into_iter().flat_map(Node::items).filter_map(Node::text);
        for text in texts.filter(|text| depth < MAX_TEXTS && text.contains("ecretGenerator")) {
            for document in parse(&File::new("", text)).documents {
                self.search(&document.node, file, depth + 1);
            }
        }
    }

    /// Collects the values that a generator reads.
    fn read(&mut self, generator: &Node, file: &File) {
        let literals = generator.get("literals");
        for literal in literals.into_iter().flat_map(Node::items).chain(literals).filter_map(Node::text) {
            self.add(literal.split_once('=').map_or(literal, |(_, value)| value));
        }
        let lists = ["envs", "files"].into_iter().filter_map(|field| generator.get(field)).flat_map(Node::items);
        for source in lists.chain(generator.get("env")).filter_map(Node::text) {
            let name = source.split_once('=').map_or(source, |(_, path)| path);
            let path = join(folder_of(file.path()), name);
            if path.as_ref().is_none_or(|path| !self.tree.has_file(path)) && !name.contains(['.', '/']) {
                // The author may have written a literal.
                self.add(name);
            }
            let path = path.filter(|path| self.sources.insert(path.clone()));
            let Some(source) = path.and_then(|path| self.tree.file(&path).ok()) else { continue };
            self.add_lines(source.text());
        }
    }

    /// Collects the values in the lines of a file.
    fn add_lines(&mut self, text: &str) {
        for line in text.get(..text.floor_char_boundary(MAX_SOURCE)).unwrap_or_default().lines() {
            let (key, value) = line.split_once(['=', ':']).unwrap_or_default();
            if names_user(key) {
                continue;
            }
            self.add(value);
            // A short value is secret together with its key, and a line without a value may be a value, unless it is a key.
            if value.trim().len() < MIN_LEN && !line.trim_end().ends_with(':') {
                self.add(line);
            }
        }
    }

    fn add(&mut self, text: &str) {
        collect(text, &mut self.values);
    }
}

/// Returns whether a key names a user.
pub(super) fn names_user(key: &str) -> bool {
    let key = key.trim_end().to_ascii_lowercase();
    ["user", "username", "login", "email"].iter().any(|end| key.ends_with(end))
}
