//! Entries of `images` for containers in files that the author switched off in a comment.

use crate::base::finding::Finding;
use crate::flux::engine::unmatched_patches::UNMATCHED_IMAGE;
use crate::flux::install::kustomizations::KustomizationFile;
use crate::kustomize::Files;

/// The maximum number of files of a switched-off directory that are read.
const MAX_READ: usize = 100;

/// Removes the findings of images that a file contains which a comment of the same kustomization names: the entry is for
/// the day on which the line returns.
pub(super) fn remove_switched_off(findings: &mut Vec<Finding>, kustomizations: &[KustomizationFile], files: &Files) {
    let is_switched_off = |finding: &Finding| {
        let span = &finding.at.span;
        let image = span.text().trim_matches(['"', '\'']);
        let mut own = kustomizations.iter().filter(|one| one.file.path() == span.file().path());
        own.any(|one| {
            one.parked().any(|path| {
                let mut inside = files.tree().under(&path).take(MAX_READ);
                uses(files, &path, image) || inside.any(|file| uses(files, file, image))
            })
        })
    };
    findings.retain(|finding| finding.rule != UNMATCHED_IMAGE || !is_switched_off(finding));
}

/// Returns whether a container of a file has an image with any tag or digest.
fn uses(files: &Files, path: &str, image: &str) -> bool {
    let Some(parsed) = files.get(path) else { return false };
    let mut images = parsed.file.text().lines().filter_map(|line| {
        let value = line.trim_start().trim_start_matches("- ").strip_prefix("image:")?;
        Some(value.trim().trim_matches(['"', '\'']))
    });
    images.any(|value| value.strip_prefix(image).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@'])))
}
