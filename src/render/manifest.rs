//! What `layout.yaml` says to render: where folders land, and which files another program writes too.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::rule_ids::INVALID_TEMPLATE;
use crate::base::finding::{Finding, did_you_mean};
use crate::fleet::Layout;
use crate::text::{Span, folder_of};
use crate::yaml::Node;

/// The keys of `layout.yaml`; the first two belong to the fleet's settings.
const KEYS: &[&str] = &["description", "defaults", "folders", "shared", "external"];

/// The part of `layout.yaml` that rendering reads.
#[derive(Debug)]
pub(super) struct Manifest {
    /// Template folder → template of the folder that it lands in; the longest first.
    folders: Vec<Folder>,
    /// Files that another program writes too; equal objects count as equal files.
    pub shared: GlobSet,
    /// Files that another program writes alone.
    pub external: GlobSet,
}

/// A folder of the layout that does not land at its own name.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its path in the layout.
    pub path: String,
    /// The template of the path in the repository.
    pub lands: String,
    /// Where `layout.yaml` says so.
    pub span: Span,
}

impl Manifest {
    /// Reads the manifest of a layout.
    pub(super) fn read(layout: &Layout, findings: &mut Vec<Finding>) -> Self {
        for entry in layout.manifest.entries() {
            if !KEYS.contains(&&*entry.key) {
                let message = format!("a layout.yaml has no field `{}`", entry.key);
                let help = match did_you_mean(&entry.key, KEYS.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("there are: {}", KEYS.join(", ")),
                };
                findings.push(Finding::error(INVALID_TEMPLATE, entry.key_span(), message).help(help));
            }
        }
        let mut folders: Vec<Folder> = Vec::new();
        for entry in layout.manifest.get("folders").map_or(&[][..], Node::entries) {
            if !layout.files.has_folder(&entry.key) {
                let message = format!("the layout has no folder `{}`", entry.key);
                findings.push(Finding::error(INVALID_TEMPLATE, entry.key_span(), message));
            }
            let lands = entry.node.text().unwrap_or_default().to_owned();
            folders.push(Folder { path: entry.key.to_string(), lands, span: entry.node.span().clone() });
        }
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.path.len()));
        let shared = globs(layout.manifest.get("shared"), findings);
        Self { folders, shared, external: globs(layout.manifest.get("external"), findings) }
    }

    /// The folders that land elsewhere.
    pub(super) fn folders(&self) -> &[Folder] {
        &self.folders
    }

    /// The innermost folder with a place of its own that a template lies in: its index.
    pub(super) fn folder_of(&self, template: &str) -> Option<usize> {
        let folder = folder_of(template);
        self.folders.iter().position(|known| crate::text::is_inside(folder, &known.path))
    }
}

fn globs(node: Option<&Node>, findings: &mut Vec<Finding>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for item in node.map_or(&[][..], Node::items) {
        match GlobBuilder::new(item.text().unwrap_or_default()).literal_separator(true).build() {
            Ok(glob) => {
                set.add(glob);
            }
            Err(error) => {
                let message = format!("this is no glob: {}", error.kind());
                findings.push(Finding::error(INVALID_TEMPLATE, item.span().clone(), message));
            }
        }
    }
    set.build().unwrap_or_default()
}
