//! The transformer configuration of a kustomization: `configurations` and `crds`.

use std::sync::Arc;

use super::accumulator::Accumulator;
use crate::base::finding::Finding;
use crate::kustomize::fieldspec::builtin_fieldspecs::built_in;
use crate::kustomize::fieldspec::transformer_config::TransformerConfig;
use crate::kustomize::fieldspec::{crd_fieldspecs, read_config};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::locate::Located;
use crate::kustomize::omission::Omission;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::{Node, Parsed};

/// Merges the built-in configuration and the kustomization's configuration into the accumulated configuration.
pub(crate) fn run(files: &Files, definition: &Definition, accumulator: &mut Accumulator) {
    let mut base_config = built_in().clone();
    let mut added_config = Arc::<TransformerConfig>::default();
    for item in definition.items("configurations") {
        let Some(parsed) = read_file(files, definition, item, accumulator) else { continue };
        let Some(document) = parsed.documents.first() else { continue };
        let config = read_config::read(&document.node, &mut accumulator.findings);
        match added_config.merge(&config) {
            Ok(merged) => added_config = merged,
            Err(conflict) => accumulator.fail(conflict.finding(item.span())),
        }
    }
    if let Some(entry) = definition.entry("configurations").filter(|_| !added_config.is_empty()) {
        match base_config.merge(&added_config) {
            Ok(merged) => base_config = merged,
            Err(conflict) => accumulator.fail(conflict.finding(entry.node.span())),
        }
    }
    accumulator.merge_config(&base_config, &definition.node);
    for item in definition.items("crds") {
        let Some(parsed) = read_file(files, definition, item, accumulator) else { continue };
        let Some(document) = parsed.documents.first() else { continue };
        match crd_fieldspecs::read(&document.node) {
            Ok(config) => accumulator.merge_config(&Arc::new(config), item),
            Err(conflict) => accumulator.fail(conflict.finding(item.span())),
        }
    }
}

/// The content of a file that the kustomization references; a missing file is a finding.
fn read_file(
    files: &Files,
    definition: &Definition,
    item: &Node,
    accumulator: &mut Accumulator,
) -> Option<Arc<Parsed>> {
    let text = item.text().unwrap_or_default();
    let path = match definition.find(files, item) {
        Ok(Located::File(path)) => path,
        Ok(Located::NotFetched(finding)) => {
            accumulator.leave_out(Omission::RemoteConfiguration, *finding);
            return None;
        }
        Ok(Located::Folder(_)) => {
            let message = format!("`{text}` is a directory, but a file is expected");
            accumulator.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help("reference a file in it"));
            return None;
        }
        Err(finding) => {
            accumulator.fail(finding);
            return None;
        }
    };
    let Some(parsed) = files.get(&path) else {
        let message = format!("`{text}` is not a readable text file");
        accumulator.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
        return None;
    };
    parsed.findings.iter().cloned().for_each(|finding| accumulator.fail(finding));
    if let Some(second) = parsed.documents.get(1) {
        let message = format!("`{text}` has several documents, but kustomize reads only one");
        accumulator.fail(Finding::error(FAILED_BUILD, second.node.span().clone(), message));
    }
    Some(parsed)
}
