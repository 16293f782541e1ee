//! The build of a Kustomization, in the order of kustomize-controller: kustomize, substitution, `commonMetadata`.

use std::sync::Arc;

use super::applier_spec::ApplierSpec;
use super::inventory::{ChangedObjects, Inventory};
use super::output::{BuildFacts, Output};
use super::overlay::overlay;
use super::shared_specs::SharedSpecs;
use super::sops;
use crate::base::finding::{FaultKind, Finding, Follows, Label, Severity};
use crate::base::group_findings::sort;
use crate::base::similar_names::did_you_mean;
use crate::flux::model::applier_kind::State;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::model::objects::Objects;
use crate::flux::model::variables::Variables;
use crate::flux::object::common_metadata::set_common_metadata;
use crate::flux::object::kustomization_path::below;
use crate::flux::source::artifact::Artifact;
use crate::flux::variables::shared_substitution::{Substituted, SubstitutionCache};
use crate::flux::variables::substitute::rule_ids::UNDEFINED_VARIABLE;
use crate::flux::variables::substitute::substitute_known;
use crate::flux::variables::substitute::undefined::UndefinedVariable;
use crate::flux::variables::substitution::Substitution;
use crate::kube::{Object, ObjectId};
use crate::kustomize::{FAILED_BUILD, FILE_NAMES, Files, MISSING_RESOURCE};
use crate::text::{Entry, Index, LoadError, Span, folder_of, join};
use crate::yaml::{INVALID_YAML, Node};

/// The id of the rule for paths that the source does not contain.
pub const MISSING_PATH: &str = "missing-path";

/// The help for a path that the source excludes.
const EXCLUDED: &str = "correct the path, or the exclusions in `.sourceignore`, `spec.ignore` or `spec.sparseCheckout` \
                        of the source: Flux applies nothing until the path exists";

/// Builds the directory of a Kustomization from the artifact of its source.
pub(crate) fn build(spec: &ApplierSpec, artifact: &Artifact, specs: &SharedSpecs) -> Output {
    let (kustomization, files) = (&spec.object, artifact.files());
    let place = kustomization.node.at_keys(&["spec", "path"]).unwrap_or(&kustomization.node);
    if let Some(Entry::Opaque(LoadError::Unreadable(why))) = files.tree().entry(&spec.folder) {
        return Output::not_built(NotBuiltReason::Unknown(format!("cannot read `{}`: {why}", spec.folder).into()));
    }
    if !artifact.has_folder(&spec.folder) {
        let is_file = files.tree().has_file(&spec.folder);
        let mut finding = missing(kustomization, place, &spec.folder, is_file);
        if artifact.leaves_out(&spec.folder) {
            finding.message.push_str(", which excludes it");
            finding = finding.help(EXCLUDED);
        }
        // A Kustomization with a missing path certainly applies nothing.
        return Output { whole: true, ..Output::new(Vec::new(), vec![finding]) };
    }
    let overlay = overlay(files, &spec.folder, kustomization, place);
    let decrypts = sops::is_enabled(kustomization);
    let builder = if decrypts { artifact.decrypting() } else { &artifact.builder };
    let mut build = builder.build_as(&spec.folder, &overlay.node);
    let mut findings = std::mem::take(&mut build.findings);
    findings.extend(overlay.findings);
    findings.extend(chart_findings(std::mem::take(&mut build.charts)));
    let has_charts = follow_charts(&mut findings, files, spec);
    for finding in &mut findings {
        finding.object.get_or_insert_with(|| spec.reference.clone());
        if finding.rule == MISSING_RESOURCE {
            name_exclusion(finding, kustomization, artifact);
        }
        match finding.kind {
            // The limit is reported for the applier. Other appliers of the directory would report it again.
            Some(FaultKind::LimitOfAllBuilds) => {
                *finding = too_many(spec, &builder.totals().exceeded().unwrap_or_default());
            }
            Some(FaultKind::NotAnObject) => {
                let summary = format!(" documents in the directory of {} are not valid objects", spec.reference);
                *finding = finding.clone().caused_by(format!("not objects: {}", spec.reference), "", summary);
                if has_charts {
                    *finding = finding.clone().help(OF_CHART_FILES).help_for_all(OF_CHART_FILES);
                }
            }
            _ => {}
        }
    }
    sort(&mut findings);
    let mut objects = std::mem::take(&mut build.objects);
    findings.extend(objects.iter().filter_map(|object| ignored(object, spec)));
    let mut unidentified = Vec::new();
    if decrypts {
        let mut decrypted = sops::decrypt(objects);
        for finding in &mut decrypted.findings {
            finding.object = Some(spec.reference.clone());
        }
        findings.extend(decrypted.findings);
        (objects, unidentified) = (decrypted.objects, decrypted.unidentified);
        // The decryption removes the unidentified objects, so positions change.
        if !unidentified.is_empty() && !build.lacks_changes.is_empty() {
            build.lacks_changes = (0..objects.len()).collect();
        }
    }
    let facts = BuildFacts { unidentified, ..BuildFacts::new(&objects, build) };
    let is_read = |at: usize| facts.reads.binary_search_by_key(&at, |(read, _)| *read).is_ok();
    for (_, object) in objects.iter_mut().enumerate().filter(|(at, _)| !is_read(*at)) {
        if let Some(unknown) = sops::with_unknown_texts(object, decrypts) {
            *object = unknown;
        }
    }
    let mut output = Output::with(objects, findings, Arc::new(facts), specs);
    output.built_for = [kustomization.clone()].into();
    output
}

/// The finding for an object that kustomize accepts and Flux ignores: it is a kustomization, or it has no `apiVersion`.
///
/// Source: `ReadObjects` in `ssa/utils` of fluxcd/pkg.
fn ignored(object: &Object, spec: &ApplierSpec) -> Option<Finding> {
    let (place, message, help, summary) = if object.is("kustomize.config.k8s.io", "Kustomization") {
        let message = "of kustomize is listed as an object, so Flux ignores it";
        let name = object.span().file().path().rsplit('/').next().unwrap_or_default();
        let help = if FILE_NAMES.contains(&name) {
            "remove the file from `resources`; to build another kustomization, list its directory"
        } else {
            "list its directory instead of the file, with the file name kustomization.yaml"
        };
        let help = help.to_owned();
        (object.span().clone(), message, help, " kustomizations are listed as objects, so Flux ignores them")
    } else if object.api_version().is_empty() {
        let (place, help) = missing_version(object);
        let message = "has no `apiVersion`, so Flux does not apply it";
        (place, message, help, " objects have no `apiVersion`, so Flux does not apply them")
    } else {
        return None;
    };
    let message = format!("{} `{}` {message}", object.kind(), object.name());
    let finding = Finding::warning(FAILED_BUILD, Label::new(place, "ignored"), message).help(help);
    Some(finding.about(spec.reference.clone()).caused_by(summary, "", summary))
}

/// The position and the help for an object without `apiVersion`, which the author may have misspelled.
fn missing_version(object: &Object) -> (Span, String) {
    let keys = object.node.entries().iter().map(|entry| &*entry.key);
    match did_you_mean("apiVersion", keys).and_then(|key| object.node.entry(key)) {
        Some(typed) => {
            let key = &typed.key;
            let help =
                format!("did you mean `apiVersion` instead of `{key}`? Flux ignores the object without a message");
            (typed.key_span(), help)
        }
        None => (object.span().clone(), "add `apiVersion`: Flux ignores the object without a message".to_owned()),
    }
}

/// Lets the finding of a path of a kustomization say that the source excludes the path, if it does.
fn name_exclusion(finding: &mut Finding, kustomization: &Object, artifact: &Artifact) {
    let span = &finding.at.span;
    let text = span.text().trim_matches(['"', '\'']);
    let path = join(folder_of(span.file().path()), text).filter(|path| artifact.leaves_out(path));
    let Some(path) = path else { return };
    let source = source_of(kustomization);
    finding.message = format!("{source} excludes `{text}`");
    finding.kind = None;
    let summary = format!(" kustomizations list `{path}`, which {source} excludes");
    *finding = finding.clone().fixed_by(None).help(EXCLUDED).caused_by(format!("excluded {path}"), "", summary);
}

/// The help for a path without a kustomization.yaml that contains Helm charts.
const OF_CHART_FILES: &str = "the directory has no kustomization.yaml, so Flux reads all of its YAML files as objects, also those of Helm charts: \
     add a kustomization.yaml, or exclude the charts in `.sourceignore`";

/// Lets the template expressions in the files of Helm charts follow from the documents of the charts that are not objects.
/// The result is whether the directory contains such documents.
fn follow_charts(findings: &mut [Finding], files: &Files, spec: &ApplierSpec) -> bool {
    let is_of_chart = |finding: &Finding| {
        let folder = folder_of(finding.at.span.file().path());
        let mut above = std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| folder_of(folder)));
        above.any(|folder| files.tree().has_file(&below(folder, "Chart.yaml")))
    };
    let is_no_object = |finding: &Finding| finding.kind == Some(FaultKind::NotAnObject);
    if !findings.iter().any(|finding| is_no_object(finding) && is_of_chart(finding)) {
        return false;
    }
    for finding in findings.iter_mut().filter(|finding| finding.rule == INVALID_YAML && is_of_chart(finding)) {
        let follows = Follows { rules: &[FAILED_BUILD], object: spec.reference.clone(), stands_alone: true };
        let caused = if finding.cause.is_some() { finding.clone() } else { finding.clone().caused_by("", "", "") };
        *finding = caused.following(follows);
    }
    true
}

/// The findings of kustomizations with Helm charts, one for each file. kustomize-controller runs kustomize without
/// `--enable-helm`, so kustomize refuses to build them.
fn chart_findings(charts: Vec<Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for chart in charts {
        if let Some(last) = findings.last_mut().filter(|last| last.at.span.file() == chart.at.span.file()) {
            last.related.push(Label::new(chart.at.span, "another chart"));
            continue;
        }
        let message = "Flux does not build a kustomization with Helm charts, and applies none of its objects";
        let help = "use a HelmRelease, or render the chart to a file: Flux runs kustomize without `--enable-helm`";
        let finding = Finding::error(FAILED_BUILD, chart.at.span, message).of_kind(FaultKind::HelmCharts);
        findings.push(finding.help(help));
    }
    findings
}

/// The finding of a path that does not exist.
pub(crate) fn missing(kustomization: &Object, place: &Node, folder: &str, is_file: bool) -> Finding {
    let path = kustomization.text_at(&["spec", "path"]).unwrap_or_default();
    let message = if is_file {
        format!("`spec.path` is a file: `{path}`")
    } else {
        format!("no directory `{path}` in {}", source_of(kustomization))
    };
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let help = if is_file && FILE_NAMES.contains(&name) {
        format!("set `spec.path` to the directory of the file: `./{}`", folder_of(folder))
    } else {
        "correct `spec.path`, which starts at the root of the source: Flux applies nothing until the path exists"
            .to_string()
    };
    let summary = format!(" Kustomizations have a wrong `spec.path`: {message}");
    let mut finding = Finding::error(MISSING_PATH, place.span().clone(), message).help(help);
    // Another program packs an artifact or a bucket, and may add files or leave out directories above.
    if kustomization.text_at(&["spec", "sourceRef", "kind"]).is_some_and(|kind| kind != "GitRepository") {
        finding.severity = Severity::Warning;
    }
    finding.about(kustomization.reference()).caused_by(folder, "", summary)
}

fn source_of(kustomization: &Object) -> String {
    let reference_field = |key: &str| kustomization.text_at(&["spec", "sourceRef", key]);
    match (reference_field("kind"), reference_field("name")) {
        (Some(kind), Some(name)) => format!("{kind} `{name}`"),
        _ => "the source".to_string(),
    }
}

/// The approximate memory for the origin of a label or annotation, in bytes.
const BYTES_OF_STEP: usize = 256;

/// Substitutes variables in a build and sets `commonMetadata`.
pub(crate) fn finish(
    spec: &ApplierSpec,
    built: &Output,
    substitution: Option<&Substitution<'_>>,
    shared: &SubstitutionCache,
    changed: &ChangedObjects,
) -> Output {
    let mut output = substitution.map_or_else(|| built.clone(), |with| substituted(spec, built, with, shared, changed));
    let decrypts = sops::is_enabled(&spec.object);
    let read = built.facts.reads.iter().map(|(at, _)| *at);
    let unknown = read.filter_map(|at| Some((at, sops::with_unknown_texts(&output.objects[at], decrypts)?)));
    output = output.replaced(unknown.collect(), changed);
    if spec.metadata().is_some() {
        shared.totals().add_objects(output.objects.len());
        let mut objects = output.objects.iter().cloned().collect::<Vec<Object>>();
        for object in &mut objects {
            let weight = object.node.weight();
            let steps = set_common_metadata(object, &spec.object);
            shared.totals().add_steps(steps);
            shared.totals().add_bytes(object.node.weight().saturating_sub(weight) + BYTES_OF_STEP * steps);
            if let Some(exceeded) = shared.totals().exceeded() {
                output = output.found(vec![too_many(spec, &exceeded)]);
                break;
            }
        }
        output.inventory = Arc::new(Inventory::new(&objects));
        output.objects = objects.into();
        output.built_for = output.built_for.iter().chain([&spec.object]).cloned().collect();
    }
    output
}

fn substituted(
    spec: &ApplierSpec,
    built: &Output,
    substitution: &Substitution<'_>,
    shared: &SubstitutionCache,
    entries: &ChangedObjects,
) -> Output {
    let AllSubstituted { changed, findings: mut found, undefined, fails, grown, .. } =
        substitute(spec, built, substitution, shared);
    let mut output = Output { grown, undefined: undefined.into(), ..built.replaced(changed, entries) };
    if fails {
        output.state = State::Failed;
    }
    if !output.inventory.is_like(&built.inventory) {
        found.extend(twice(&output.objects));
    }
    for finding in &mut found {
        finding.object.get_or_insert_with(|| spec.reference.clone());
    }
    output.found(found)
}

/// The maximum number of steps of the patterns of an applier.
const MAX_STEPS: usize = 50_000_000;

/// The result of the substitution in all objects.
#[derive(Default)]
struct AllSubstituted {
    /// The changed objects, by position.
    changed: Vec<(usize, Object)>,
    findings: Vec<Finding>,
    /// The undefined variables.
    undefined: Vec<UndefinedVariable>,
    /// Whether Flux fails because of an undefined variable.
    fails: bool,
    /// The memory that substitution added to the objects, in bytes.
    grown: usize,
    /// The number of steps of patterns.
    steps: usize,
}

fn substitute(
    spec: &ApplierSpec,
    built: &Output,
    substitution: &Substitution<'_>,
    shared: &SubstitutionCache,
) -> AllSubstituted {
    let mut values = AllSubstituted::default();
    // Flux loads the variables when it substitutes in the first object. Without such an object, Flux does not load the
    // variables and does not report their faults.
    if !built.facts.is_substituted {
        return values;
    }
    values.findings.extend_from_slice(substitution.findings);
    if !values.findings.is_empty() {
        // Flux fails before the substitution. The rules still need the objects, so this code substitutes the variables
        // with a certain value.
        let variables = Variables { open: true, ..substitution.variables.clone() };
        for (at, _) in &built.facts.reads {
            let object = substitute_known(&built.objects[*at], &variables, substitution.strict);
            values.grown += object.node.weight().saturating_sub(built.objects[*at].node.weight());
            shared.count(&object, built.objects[*at].node.weight(), 0);
            values.changed.push((*at, object));
            if values.grown > substitution.limit {
                break;
            }
            if let Some(exceeded) = shared.totals().exceeded() {
                values.findings.push(too_many(spec, &exceeded));
                break;
            }
        }
        return values;
    }
    for (at, names) in &built.facts.reads {
        let object = &built.objects[*at];
        let result = shared.substitute(object, names, substitution);
        let Substituted { object: new, findings, undefined, steps, grown } = &*result;
        values.steps += steps;
        values.grown += grown;
        values.changed.push((*at, new.clone()));
        // The engine reports undefined variables for each cluster, with their owner and with definitions for other
        // appliers.
        let fails = !findings.is_empty() && undefined.iter().any(|undefined| undefined.fails);
        values.fails |= fails;
        values.findings.extend(findings.iter().filter(|one| !(fails && one.rule == UNDEFINED_VARIABLE)).cloned());
        values.undefined.extend(undefined.iter().cloned());
        if values.grown > substitution.limit {
            values.findings.push(too_much(spec));
            break;
        }
        if let Some(exceeded) = shared.totals().exceeded() {
            values.findings.push(too_many(spec, &exceeded));
            break;
        }
        if values.steps > MAX_STEPS {
            let message =
                format!("the patterns of the variables of {} take more than {MAX_STEPS} steps", spec.reference);
            let help = "use fewer `*`, or shorter values; the linter does not substitute the rest";
            values.findings.push(Finding::error(FAILED_BUILD, place_of_variables(spec).clone(), message).help(help));
            break;
        }
    }
    values
}

/// The finding of variables that exceed the memory limit.
pub(super) fn too_much(spec: &ApplierSpec) -> Finding {
    let message = format!("the variables of {} exceed the memory limit", spec.reference);
    let help = "shorten the values: the API server refuses objects of more than 3 MiB";
    Finding::error(FAILED_BUILD, place_of_variables(spec).clone(), message).help(help).about(spec.reference.clone())
}

/// The finding of an applier that is not built, because all builds together exceed a limit.
pub(super) fn too_many(spec: &ApplierSpec, exceeded: &str) -> Finding {
    let message = format!("{} is not built completely: all builds together {exceeded}", spec.reference);
    let summary = format!(" appliers are not built completely: all builds together {exceeded}");
    Finding::error(FAILED_BUILD, spec.object.span().clone(), message)
        .help("split the repository; the linter does not build the rest")
        .about(spec.reference.clone())
        .caused_by("appliers", "", summary)
}

fn place_of_variables(spec: &ApplierSpec) -> &Span {
    spec.object.node.at_keys(&["spec", "postBuild"]).map_or(spec.object.span(), Node::span)
}

/// The findings of objects that have the same identity after substitution. Flux refuses to build them.
fn twice(objects: &Objects) -> Vec<Finding> {
    let mut seen: Index<ObjectId<'_>, usize> = Index::default();
    let mut findings = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(first) = seen.insert(ObjectId::of(object).settled(), at) {
            let message = format!("substitution results in two objects with the identity {}", object.reference());
            let finding = Finding::error(FAILED_BUILD, object.span().clone(), message)
                .related(objects[first].span().clone(), "the other object")
                .help("rename one of them: Flux fails the build and applies none of the objects")
                .about(object.reference());
            findings.push(finding);
        }
    }
    findings
}
