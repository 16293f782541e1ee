//! The rendering options in `layout.yaml`: the output paths of directories, and the files of other programs.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::rule_ids::INVALID_TEMPLATE;
use crate::base::finding::Finding;
use crate::fleet::Layout;
use crate::text::{Span, folder_of};
use crate::yaml::Node;

/// The rendering options in `layout.yaml`.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The directories with an output path, the longest paths first.
    folders: Vec<Folder>,
    /// The files of the layout that are copied.
    pub verbatim: GlobSet,
    /// The files that another program also writes. Files with equal objects are equal.
    pub shared: GlobSet,
    /// The files that only another program writes.
    pub external: GlobSet,
}

/// A directory of the layout with a different output path.
#[derive(Debug)]
pub(super) struct Folder {
    /// The path in the layout.
    pub path: String,
    /// The template of the output path.
    pub output: String,
    /// The place in `layout.yaml`.
    pub span: Span,
}

impl Manifest {
    /// Reads the `layout.yaml` of a layout.
    pub(super) fn read(layout: &Layout, findings: &mut Vec<Finding>) -> Self {
        let mut folders: Vec<Folder> = Vec::new();
        for entry in layout.manifest.get("folders").map_or(&[][..], Node::entries) {
            if !layout.files.has_folder(&entry.key) {
                let message = format!("the layout has no directory `{}`", entry.key);
                findings.push(Finding::error(INVALID_TEMPLATE, entry.key_span(), message));
            }
            let output = entry.node.text().unwrap_or_default().to_owned();
            folders.push(Folder { path: entry.key.to_string(), output, span: entry.node.span().clone() });
        }
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.path.len()));
        let globs_of =
            |key: &str, findings: &mut Vec<Finding>| globs(layout.manifest.get(key), str::to_owned, findings);
        // The paths of a layout contain placeholders such as `[tenant]`, which are not sets of characters.
        let literal = |glob: &str| glob.replace('[', "[[]");
        Self {
            folders,
            verbatim: globs(layout.manifest.get("verbatim"), literal, findings),
            shared: globs_of("shared", findings),
            external: globs_of("external", findings),
        }
    }

    /// Returns the directories with an output path.
    pub(super) fn folders(&self) -> &[Folder] {
        &self.folders
    }

    /// Returns the index of the innermost directory with an output path that contains a template.
    pub(super) fn folder_of(&self, template: &str) -> Option<usize> {
        let folder = folder_of(template);
        self.folders.iter().position(|known| crate::text::is_inside(folder, &known.path))
    }
}

fn globs(node: Option<&Node>, pattern: impl Fn(&str) -> String, findings: &mut Vec<Finding>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for item in node.map_or(&[][..], Node::items) {
        match GlobBuilder::new(&pattern(item.text().unwrap_or_default())).literal_separator(true).build() {
            Ok(glob) => {
                set.add(glob);
            }
            Err(error) => {
                let message = format!("the glob is not valid: {}", error.kind());
                findings.push(Finding::error(INVALID_TEMPLATE, item.span().clone(), message));
            }
        }
    }
    set.build().unwrap_or_default()
}
