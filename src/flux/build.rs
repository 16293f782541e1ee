//! What a Kustomization applies: its folder as kustomize-controller builds it, then what it substitutes, then its
//! `commonMetadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cluster::Variables;
use super::metadata::set_common_metadata;
use super::overlay::overlay;
use super::place::clamp;
use super::sops;
use super::source::Artifact;
use super::substitution::{self, Shared};
use super::{State, reads};
use crate::finding::{Finding, Severity, sort};
use crate::kube::Object;
use crate::kustomize::{FAILED_BUILD, FILE_NAMES};
use crate::text::{Index, folder_of};
use crate::yaml::{Name, Node, Value};

/// How much variables may make of one build, in bytes of memory.
const MAX_GROWN: usize = 64 << 20;

/// What an applier brings into a cluster. Appliers of equal input share it.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// The objects in the order in which they are applied. Of a build that fails, those that were built nevertheless:
    /// Flux applies none of them, but what else is wrong with them can be said.
    pub(super) objects: Vec<Object>,
    /// The names of the variables in each of them.
    pub(super) reads: Vec<Arc<[Name]>>,
    /// What is wrong.
    pub(super) findings: Vec<Finding>,
    /// What was asked for and not done, counted.
    pub(super) not_done: BTreeMap<String, usize>,
    /// How it went.
    pub(super) state: State,
    /// The folders of the source that it was built from.
    pub(super) folders: Vec<String>,
    /// How much memory variables made it take, in bytes.
    pub(super) grown: usize,
}

impl Output {
    /// Objects that need no build.
    pub(super) fn of(objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        let (reads, not_done, folders) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut output = Self { objects, reads, findings, not_done, state: State::Built, folders, grown: 0 };
        output.judge();
        output
    }

    /// Nothing, for a reason that is no fault.
    pub(super) fn not_built(reason: impl Into<Arc<str>>) -> Self {
        Self { state: State::NotBuilt(reason.into()), ..Self::of(Vec::new(), Vec::new()) }
    }

    /// The names of the variables in any of the objects, sorted.
    pub(super) fn names(&self) -> BTreeSet<Name> {
        self.reads.iter().flat_map(|names| names.iter().cloned()).collect()
    }

    fn judge(&mut self) {
        let failed = self.findings.iter().any(|found| found.severity == Severity::Error);
        if failed {
            self.state = State::Failed;
        }
    }
}

/// Builds the folder of a Kustomization out of what its source hands out.
pub(super) fn build(kustomization: &Object, artifact: &Artifact) -> Output {
    let files = artifact.files();
    let place = kustomization.node.at_keys(&["spec", "path"]).unwrap_or(&kustomization.node);
    let said = kustomization.text_at(&["spec", "path"]).unwrap_or_default();
    let folder = clamp(said);
    if !files.tree().has_folder(&folder) {
        let is_file = files.tree().has_file(&folder);
        return Output::of(Vec::new(), vec![missing(kustomization, place, &folder, is_file)]);
    }
    let overlay = overlay(files, &folder, kustomization, place);
    let build = artifact.builder.build_as(&folder, overlay.node);
    let mut findings = build.findings;
    findings.extend(overlay.findings);
    for finding in &mut findings {
        finding.object.get_or_insert_with(|| kustomization.reference());
    }
    sort(&mut findings);
    let mut objects = build.objects;
    if kustomization.node.at_keys(&["spec", "decryption"]).is_some_and(Node::is_map) {
        objects.iter_mut().for_each(sops::decrypt);
    }
    let mut output = Output::of(objects, findings);
    output.reads = output.objects.iter().map(reads).collect();
    output.not_done = build.not_done;
    output.folders = build.folders.into_iter().collect();
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

/// What a build goes through after kustomize.
pub(super) struct Finish<'a> {
    /// The Kustomization.
    pub(super) kustomization: &'a Object,
    /// What it substitutes; `None` when it does not.
    pub(super) substitution: Option<Substitution<'a>>,
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

impl Finish<'_> {
    /// Takes a build to its end.
    pub(super) fn run(&self, built: &Output, shared: &Shared) -> Output {
        let mut output = built.clone();
        if let Some(substitution) = &self.substitution {
            self.substitute(substitution, &mut output, shared);
        }
        output.objects.iter_mut().for_each(|object| set_common_metadata(object, self.kustomization));
        output.judge();
        output
    }

    fn substitute(&self, substitution: &Substitution<'_>, output: &mut Output, shared: &Shared) {
        let enabled: Vec<bool> = output.objects.iter().map(substitution::is_enabled).collect();
        // Flux reads the variables for the first object that it substitutes: without any, nothing can be wrong.
        if !enabled.contains(&true) {
            return;
        }
        if !substitution.findings.is_empty() {
            output.findings.extend(substitution.findings.iter().cloned());
            return;
        }
        let mut changed = false;
        for ((object, names), enabled) in output.objects.iter_mut().zip(&output.reads).zip(&enabled) {
            if !*enabled || names.is_empty() {
                continue;
            }
            match shared.substitute(object, names, substitution) {
                Ok(substituted) => {
                    output.grown += weight(&substituted.node).saturating_sub(weight(&object.node));
                    *object = substituted;
                }
                Err(findings) => output.findings.extend(findings.into_iter().map(|mut finding| {
                    finding.object.get_or_insert_with(|| self.kustomization.reference());
                    finding
                })),
            }
            changed = true;
            if output.grown > MAX_GROWN {
                output.findings.push(too_much(self.kustomization));
                return;
            }
        }
        if changed {
            output.findings.extend(twice(&output.objects));
        }
    }
}

/// What is said where variables make too much.
pub(super) fn too_much(kustomization: &Object) -> Finding {
    let message = format!("the variables of {} make too much text to go on", kustomization.reference());
    let help = "shorten the values: the API server takes no object of more than 3 MiB";
    let spec = kustomization.node.at_keys(&["spec", "postBuild"]).map_or(kustomization.span(), Node::span);
    Finding::error(FAILED_BUILD, spec.clone(), message).help(help).about(kustomization.reference())
}

/// About how much memory a node takes, in bytes.
fn weight(node: &Node) -> usize {
    const NODE: usize = 64;
    NODE + match &node.value {
        Value::Scalar(text, _) => text.len(),
        Value::Seq(items) => items.iter().map(weight).sum(),
        Value::Map(entries) => entries.iter().map(|entry| entry.key.len() + weight(&entry.node)).sum(),
    }
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
