//! What a kustomization configures its transformers with: `configurations` and `crds`.

use std::sync::Arc;

use super::accumulator::Partial;
use crate::base::finding::Finding;
use crate::kustomize::fieldspec::builtin_fieldspecs::built_in;
use crate::kustomize::fieldspec::transformer_config::Configuration;
use crate::kustomize::fieldspec::{crd_fieldspecs, read_config};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::locate::Located;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::{Node, Parsed};

/// Merges the built-in configuration and what the kustomization adds to it into what its bases brought.
pub(crate) fn run(files: &Files, definition: &Definition, partial: &mut Partial) {
    let mut own = built_in().clone();
    let mut added = Configuration::default();
    for item in definition.items("configurations") {
        let Some(parsed) = parsed(files, definition, item, partial) else { continue };
        let Some(document) = parsed.documents.first() else { continue };
        let said = read_config::read(&document.node, &mut partial.findings);
        match added.merge(&said) {
            Ok(merged) => added = merged,
            Err(conflict) => partial.fail(conflict.finding(item.span())),
        }
    }
    if let Some(entry) = definition.entry("configurations").filter(|_| !added.is_empty()) {
        match own.merge(&added) {
            Ok(merged) => own = Arc::new(merged),
            Err(conflict) => partial.fail(conflict.finding(entry.node.span())),
        }
    }
    partial.merge_config(&own, &definition.node);
    for item in definition.items("crds") {
        let Some(parsed) = parsed(files, definition, item, partial) else { continue };
        let Some(document) = parsed.documents.first() else { continue };
        match crd_fieldspecs::read(&document.node) {
            Ok(said) => partial.merge_config(&Arc::new(said), item),
            Err(conflict) => partial.fail(conflict.finding(item.span())),
        }
    }
}

/// What a file says that the kustomization names; a file that is not there is a finding.
fn parsed(files: &Files, definition: &Definition, item: &Node, partial: &mut Partial) -> Option<Arc<Parsed>> {
    let text = item.text().unwrap_or_default();
    let path = match definition.find(files, item) {
        Ok(Located::File(path)) => path,
        Ok(Located::Elsewhere(finding)) => {
            partial.leave_out("configurations: <url>", finding);
            return None;
        }
        Ok(Located::Folder(_)) => {
            let message = format!("`{text}` is a folder, and a file is wanted");
            partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message).help("name a file in it"));
            return None;
        }
        Err(finding) => {
            partial.fail(finding);
            return None;
        }
    };
    let Some(parsed) = files.get(&path) else {
        let message = format!("`{text}` is no text that can be read");
        partial.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
        return None;
    };
    parsed.findings.iter().cloned().for_each(|finding| partial.fail(finding));
    if let Some(second) = parsed.documents.get(1) {
        let message = format!("`{text}` holds several documents; kustomize reads one");
        partial.fail(Finding::error(FAILED_BUILD, second.node.span().clone(), message));
    }
    Some(parsed)
}
