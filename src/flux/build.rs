//! What a Kustomization applies: its folder as kustomize-controller builds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::State;
use super::metadata::set_common_metadata;
use super::overlay::overlay;
use super::place::{below, clamp};
use crate::finding::{Finding, Severity};
use crate::kube::Object;
use crate::kustomize::{Builder, FAILED_BUILD, FILE_NAMES};
use crate::text::folder_of;
use crate::yaml::Node;

/// What an applier brings into a cluster. Appliers of equal input share it.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// The objects in the order in which they are applied.
    pub(super) objects: Vec<Object>,
    /// What is wrong.
    pub(super) findings: Vec<Finding>,
    /// What was asked for and not done, counted.
    pub(super) not_done: BTreeMap<String, usize>,
    /// How it went.
    pub(super) state: State,
    /// The folders of the source that it was built from.
    pub(super) folders: Vec<String>,
}

impl Output {
    /// Objects that need no build.
    pub(super) fn of(objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        let state =
            if findings.iter().any(|found| found.severity == Severity::Error) { State::Failed } else { State::Built };
        Self { objects, findings, not_done: BTreeMap::new(), state, folders: Vec::new() }
    }

    /// Nothing, for a reason that is no fault.
    pub(super) fn not_built(reason: impl Into<Arc<str>>) -> Self {
        Self { state: State::NotBuilt(reason.into()), ..Self::of(Vec::new(), Vec::new()) }
    }

    fn failed(finding: Finding) -> Self {
        Self::of(Vec::new(), vec![finding])
    }
}

/// Builds a Kustomization from the files of its source. `prefix` is the folder of these files that is the source's root.
pub(super) fn build(kustomization: &Object, builder: &Builder, prefix: &str) -> Output {
    let files = builder.files();
    let place = kustomization.node.at_keys(&["spec", "path"]).unwrap_or(&kustomization.node);
    let said = kustomization.text_at(&["spec", "path"]).unwrap_or_default();
    let path = clamp(said);
    let folder = below(prefix, &path);
    if !files.tree().has_folder(&folder) {
        return Output::failed(missing(builder, kustomization, place, said, &folder));
    }
    let overlay = overlay(files, &folder, kustomization, place);
    let mut build = builder.build_as(&folder, overlay.node);
    build.findings.extend(overlay.findings);
    crate::finding::sort(&mut build.findings);
    for finding in &mut build.findings {
        finding.object.get_or_insert_with(|| kustomization.reference());
    }
    let mut output = Output::of(build.objects, build.findings);
    output.not_done = build.not_done;
    output.folders = build.folders.into_iter().collect();
    output.objects.iter_mut().for_each(|object| set_common_metadata(object, kustomization));
    output
}

fn missing(builder: &Builder, kustomization: &Object, place: &Node, said: &str, folder: &str) -> Finding {
    let tree = builder.files().tree();
    let is_file = tree.has_file(folder);
    let message = if is_file {
        format!("`spec.path` is a file: `{said}`")
    } else {
        format!("there is no folder `{said}` in the source")
    };
    let is_kustomization = FILE_NAMES.iter().any(|name| folder.ends_with(&format!("/{name}")));
    let help = if is_file && is_kustomization {
        format!("name its folder: `./{}`", folder_of(folder))
    } else {
        "correct `spec.path`; it starts at the root of the source".to_string()
    };
    Finding::error(FAILED_BUILD, place.span().clone(), message).help(help).about(kustomization.reference())
}
