//! What a Kustomization applies: its folder as kustomize-controller builds it, then what it substitutes, then its
//! `commonMetadata`.

use std::sync::Arc;

use super::asks::Asks;
use super::cluster::Variables;
use super::metadata::set_common_metadata;
use super::output::{Facts, Output};
use super::overlay::overlay;
use super::sops;
use super::source::Artifact;
use super::substitution::{self, Shared};
use crate::finding::{Finding, sort};
use crate::kube::Object;
use crate::kustomize::{FAILED_BUILD, FILE_NAMES};
use crate::text::{Index, folder_of};
use crate::yaml::Node;

/// Builds the folder of a Kustomization out of what its source hands out.
pub(super) fn build(asks: &Asks, artifact: &Artifact) -> Output {
    let (kustomization, files) = (&asks.object, artifact.files());
    let place = kustomization.node.at_keys(&["spec", "path"]).unwrap_or(&kustomization.node);
    if !files.tree().has_folder(&asks.folder) {
        let is_file = files.tree().has_file(&asks.folder);
        return Output::new(Vec::new(), vec![missing(kustomization, place, &asks.folder, is_file)]);
    }
    let overlay = overlay(files, &asks.folder, kustomization, place);
    let build = artifact.builder.build_as(&asks.folder, overlay.node);
    let mut findings = build.findings;
    findings.extend(overlay.findings);
    for finding in &mut findings {
        finding.object.get_or_insert_with(|| asks.reference.clone());
    }
    sort(&mut findings);
    let mut objects = build.objects;
    if kustomization.node.at_keys(&["spec", "decryption"]).is_some_and(Node::is_map) {
        objects.iter_mut().for_each(sops::decrypt);
    }
    let facts = Facts::of(&objects, build.not_done);
    let mut output = Output::with(objects, findings, Arc::new(facts));
    output.built_for.push(kustomization.clone());
    output
}

fn missing(kustomization: &Object, place: &Node, folder: &str, is_file: bool) -> Finding {
    let said = kustomization.text_at(&["spec", "path"]).unwrap_or_default();
    let message = if is_file {
        format!("`spec.path` is a file: `{said}`")
    } else {
        format!("there is no folder `{said}` in the source")
    };
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let help = if is_file && FILE_NAMES.contains(&name) {
        format!("name its folder: `./{}`", folder_of(folder))
    } else {
        "correct `spec.path`; it starts at the root of the source".to_string()
    };
    Finding::error(FAILED_BUILD, place.span().clone(), message).help(help).about(kustomization.reference())
}

/// How variables are substituted.
pub(super) struct Substitution<'a> {
    /// The variables.
    pub(super) variables: &'a Variables,
    /// What is wrong with them.
    pub(super) findings: &'a [Finding],
    /// Whether an undefined variable fails the build.
    pub(super) strict: bool,
}

/// Takes a build to its end.
pub(super) fn finish(asks: &Asks, built: &Output, substitution: Option<&Substitution<'_>>, shared: &Shared) -> Output {
    let (mut objects, mut findings) = (built.objects.clone(), built.findings.clone());
    if let Some(substitution) = substitution {
        let found = substitute(&mut objects, built, substitution, shared);
        findings.extend(found.into_iter().map(|mut finding| {
            finding.object.get_or_insert_with(|| asks.reference.clone());
            finding
        }));
    }
    let mut built_for = built.built_for.clone();
    if asks.metadata.is_some() {
        for object in &mut objects {
            set_common_metadata(object, &asks.object);
        }
        built_for.push(asks.object.clone());
    }
    Output { built_for, ..built.changed(objects, findings) }
}

fn substitute(
    objects: &mut [Object],
    built: &Output,
    substitution: &Substitution<'_>,
    shared: &Shared,
) -> Vec<Finding> {
    let enabled: Vec<bool> = objects.iter().map(substitution::is_enabled).collect();
    // Flux reads the variables for the first object that it substitutes: without any, nothing can be wrong.
    if !enabled.contains(&true) {
        return Vec::new();
    }
    if !substitution.findings.is_empty() {
        return substitution.findings.to_vec();
    }
    let (mut findings, mut changed) = (Vec::new(), false);
    for ((object, names), enabled) in objects.iter_mut().zip(&built.facts.reads).zip(&enabled) {
        if !*enabled || names.is_empty() {
            continue;
        }
        match shared.substitute(object, names, substitution) {
            Ok(substituted) => *object = substituted,
            Err(found) => findings.extend(found),
        }
        changed = true;
    }
    if changed {
        findings.extend(twice(objects));
    }
    findings
}

/// Two objects that substitution gave one name: Flux cannot tell which one it is to replace.
fn twice(objects: &[Object]) -> Vec<Finding> {
    let mut seen: Index<super::received::Id, usize> = Index::default();
    let mut findings = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(first) = seen.insert(super::received::id(object), at) {
            let message = format!("substitution makes two objects called {}", object.reference());
            let finding = Finding::error(FAILED_BUILD, object.span().clone(), message)
                .related(objects[first].span().clone(), "the other")
                .help("give one of them another name: Flux builds neither")
                .about(object.reference());
            findings.push(finding);
        }
    }
    findings
}
