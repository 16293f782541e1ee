//! What a Kustomization applies: its folder as kustomize-controller builds it, then what it substitutes, then its
//! `commonMetadata`.

use crate::flux::variables::substitution::Substitution;
use std::sync::Arc;

use super::applier_spec::Asks;
use super::inventory::Inventory;
use super::output::{Facts, Output};
use super::overlay::overlay;
use super::sops;
use crate::base::finding::{Finding, sort};
use crate::flux::model::applier_kind::State;
use crate::flux::model::objects::Objects;
use crate::flux::object::common_metadata::set_common_metadata;
use crate::flux::source::artifact::Artifact;
use crate::flux::variables::shared_substitution::Shared;
use crate::flux::variables::substitute::rule_ids::UNDEFINED_VARIABLE;
use crate::flux::variables::substitute::unset::Unset;
use crate::kube::{Object, ObjectId};
use crate::kustomize::{FAILED_BUILD, FILE_NAMES};
use crate::text::{Index, folder_of};
use crate::yaml::{Node, Value};

/// The rule of paths that a source does not have.
pub const MISSING_PATH: &str = "missing-path";

/// Builds the folder of a Kustomization out of what its source hands out.
pub(crate) fn build(asks: &Asks, artifact: &Artifact) -> Output {
    let (kustomization, files) = (&asks.object, artifact.files());
    let place = kustomization.node.at_keys(&["spec", "path"]).unwrap_or(&kustomization.node);
    if !files.tree().has_folder(&asks.folder) {
        let is_file = files.tree().has_file(&asks.folder);
        let mut finding = missing(kustomization, place, &asks.folder, is_file);
        if artifact.leaves_out(&asks.folder) {
            finding.message.push_str(", which leaves it out");
            finding = finding.help(
                "correct the path, or what `.sourceignore`, `spec.ignore` or `spec.sparseCheckout` of the source leave out: \
                 Flux applies nothing until it is there",
            );
        }
        // It certainly brings nothing.
        return Output { whole: true, ..Output::new(Vec::new(), vec![finding]) };
    }
    let overlay = overlay(files, &asks.folder, kustomization, place);
    let decrypts = sops::is_asked(kustomization);
    let builder = if decrypts { artifact.decrypting() } else { &artifact.builder };
    let mut build = builder.build_as(&asks.folder, &overlay.node);
    let mut findings = std::mem::take(&mut build.findings);
    findings.extend(overlay.findings);
    for finding in &mut findings {
        finding.object.get_or_insert_with(|| asks.reference.clone());
    }
    sort(&mut findings);
    let mut objects = std::mem::take(&mut build.objects);
    if decrypts {
        objects.iter_mut().for_each(sops::decrypt);
    }
    let facts = Facts::of(&objects, build);
    let mut output = Output::with(objects, findings, Arc::new(facts));
    output.built_for.push(kustomization.clone());
    output
}

/// What is said of a path that is not there.
pub(crate) fn missing(kustomization: &Object, place: &Node, folder: &str, is_file: bool) -> Finding {
    let said = kustomization.text_at(&["spec", "path"]).unwrap_or_default();
    let message = if is_file {
        format!("`spec.path` is a file: `{said}`")
    } else {
        format!("there is no folder `{said}` in {}", source_of(kustomization))
    };
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let help = if is_file && FILE_NAMES.contains(&name) {
        format!("name its folder: `./{}`", folder_of(folder))
    } else {
        "correct `spec.path`, which starts at the root of the source: Flux applies nothing until it is there"
            .to_string()
    };
    Finding::error(MISSING_PATH, place.span().clone(), message).help(help).about(kustomization.reference())
}

fn source_of(kustomization: &Object) -> String {
    let said = |key: &str| kustomization.text_at(&["spec", "sourceRef", key]);
    match (said("kind"), said("name")) {
        (Some(kind), Some(name)) => format!("{kind} `{name}`"),
        _ => "the source".to_string(),
    }
}

/// Takes a build to its end.
pub(crate) fn finish(asks: &Asks, built: &Output, substitution: Option<&Substitution<'_>>, shared: &Shared) -> Output {
    let mut output = substitution.map_or_else(|| built.clone(), |with| substituted(asks, built, with, shared));
    if asks.metadata().is_some() {
        let mut objects = output.objects.iter().cloned().collect::<Vec<Object>>();
        for object in &mut objects {
            set_common_metadata(object, &asks.object);
        }
        output.inventory = Arc::new(Inventory::of(&objects));
        output.objects = objects.into();
        output.built_for.push(asks.object.clone());
    }
    output
}

fn substituted(asks: &Asks, built: &Output, substitution: &Substitution<'_>, shared: &Shared) -> Output {
    let Values { changed, findings: mut found, unset, fails, grown } = substitute(asks, built, substitution, shared);
    let mut output = Output { grown, unset: unset.into(), ..built.replaced(changed) };
    if fails {
        output.state = State::Failed;
    }
    if !output.inventory.is_like(&built.inventory) {
        found.extend(twice(&output.objects));
    }
    for finding in &mut found {
        finding.object.get_or_insert_with(|| asks.reference.clone());
    }
    output.found(found)
}

/// What variables make of a build.
#[derive(Default)]
struct Values {
    /// The objects that they change, by position.
    changed: Vec<(usize, Object)>,
    findings: Vec<Finding>,
    /// The variables that are read and that nothing defines, and whether Flux fails for one of them.
    unset: Vec<Unset>,
    fails: bool,
    /// How much memory the objects take more.
    grown: usize,
}

fn substitute(asks: &Asks, built: &Output, substitution: &Substitution<'_>, shared: &Shared) -> Values {
    let mut values = Values::default();
    // Flux reads the variables for the first object that it substitutes: without any, nothing can be wrong.
    if !built.facts.is_substituted {
        return values;
    }
    values.findings.extend_from_slice(substitution.findings);
    if !values.findings.is_empty() {
        return values;
    }
    for (at, names) in &built.facts.reads {
        let object = &built.objects[*at];
        let (result, unset) = shared.substitute(object, names, substitution);
        match result {
            Ok(substituted) => {
                values.grown += weight(&substituted.node).saturating_sub(weight(&object.node));
                values.changed.push((*at, substituted));
            }
            Err(mut found) => {
                // Where it is known whose they are and what else defines them, that is said for each cluster.
                if unset.iter().any(|unset| unset.fails) {
                    found.retain(|finding| finding.rule != UNDEFINED_VARIABLE);
                    values.fails = true;
                }
                values.findings.extend(found);
            }
        }
        values.unset.extend(unset.iter().cloned());
        if values.grown > substitution.limit {
            values.findings.push(too_much(asks));
            break;
        }
    }
    values
}

/// What is said where variables make too much.
pub(super) fn too_much(asks: &Asks) -> Finding {
    let message = format!("the variables of {} make too much text to go on", asks.reference);
    let help = "shorten the values: the API server takes no object of more than 3 MiB";
    let place = asks.object.node.at_keys(&["spec", "postBuild"]).map_or(asks.object.span(), Node::span);
    Finding::error(FAILED_BUILD, place.clone(), message).help(help).about(asks.reference.clone())
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
fn twice(objects: &Objects) -> Vec<Finding> {
    let mut seen: Index<ObjectId<'_>, usize> = Index::default();
    let mut findings = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(first) = seen.insert(ObjectId::of(object).settled(), at) {
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
