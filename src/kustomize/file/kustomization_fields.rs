//! What a kustomization may say and of which type: kustomize refuses a file with a field or type that it does not know.

use super::typed::{self, Decoder, LIST_OF_TEXTS, Type};
use crate::base::finding::Finding;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::Node;

/// What a kustomization may say.
const KUSTOMIZATION: &[(&str, Type)] = &[
    ("apiVersion", Type::Text),
    ("kind", Type::Text),
    ("metadata", Type::Fields(METADATA)),
    ("openapi", Type::Texts),
    ("namePrefix", Type::Text),
    ("nameSuffix", Type::Text),
    ("namespace", Type::Text),
    ("commonLabels", Type::Texts),
    ("labels", Type::List(&Type::Fields(LABEL))),
    ("commonAnnotations", Type::Texts),
    ("patchesStrategicMerge", LIST_OF_TEXTS),
    ("patchesJson6902", Type::List(&Type::Fields(PATCH))),
    ("patches", Type::List(&Type::Fields(PATCH))),
    ("images", Type::List(&Type::Fields(IMAGE))),
    ("imageTags", Type::List(&Type::Fields(IMAGE))),
    ("replacements", Type::List(&Type::Fields(REPLACEMENT))),
    ("replicas", Type::List(&Type::Fields(REPLICA))),
    ("vars", Type::List(&Type::Fields(VAR))),
    ("sortOptions", Type::Fields(SORT_OPTIONS)),
    ("resources", LIST_OF_TEXTS),
    ("components", LIST_OF_TEXTS),
    ("crds", LIST_OF_TEXTS),
    ("bases", LIST_OF_TEXTS),
    ("configMapGenerator", Type::List(&Type::Fields(CONFIG_MAP))),
    ("secretGenerator", Type::List(&Type::Fields(SECRET))),
    ("helmGlobals", Type::Fields(&[("chartHome", Type::Text), ("configHome", Type::Text)])),
    ("helmCharts", Type::List(&Type::Fields(HELM_CHART))),
    ("helmChartInflationGenerator", Type::List(&Type::Fields(OLD_HELM_CHART))),
    ("generatorOptions", Type::Fields(GENERATOR_OPTIONS)),
    ("configurations", LIST_OF_TEXTS),
    ("generators", LIST_OF_TEXTS),
    ("transformers", LIST_OF_TEXTS),
    ("validators", LIST_OF_TEXTS),
    ("buildMetadata", LIST_OF_TEXTS),
];

pub(crate) const METADATA: &[(&str, Type)] =
    &[("name", Type::Text), ("namespace", Type::Text), ("labels", Type::Texts), ("annotations", Type::Texts)];

pub(super) const FIELD_SPEC: &[(&str, Type)] = &[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("path", Type::Text),
    ("create", Type::Bool),
];

const LABEL: &[(&str, Type)] = &[
    ("pairs", Type::Texts),
    ("includeSelectors", Type::Bool),
    ("includeTemplates", Type::Bool),
    ("fields", Type::List(&Type::Fields(FIELD_SPEC))),
];

pub(super) const SELECTOR: &[(&str, Type)] = &[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("annotationSelector", Type::Text),
    ("labelSelector", Type::Text),
];

pub(super) const PATCH: &[(&str, Type)] = &[
    ("path", Type::Text),
    ("patch", Type::Text),
    ("target", Type::Fields(SELECTOR)),
    ("options", Type::Fields(&[("allowNameChange", Type::Bool), ("allowKindChange", Type::Bool)])),
];

pub(super) const IMAGE: &[(&str, Type)] = &[
    ("name", Type::Text),
    ("newName", Type::Text),
    ("tagSuffix", Type::Text),
    ("newTag", Type::Text),
    ("digest", Type::Text),
];

pub(super) const REPLICA: &[(&str, Type)] = &[("name", Type::Text), ("count", Type::Int)];

const VALUE_OPTIONS: &[(&str, Type)] =
    &[("delimiter", Type::Text), ("index", Type::Int), ("encoding", Type::Text), ("create", Type::Bool)];

pub(super) const REPLACEMENT: &[(&str, Type)] = &[
    ("path", Type::Text),
    ("source", Type::Fields(REPLACEMENT_SOURCE)),
    ("sourceValue", Type::Text),
    ("targets", Type::List(&Type::Fields(REPLACEMENT_TARGET))),
];

const REPLACEMENT_SOURCE: &[(&str, Type)] = &[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("fieldPath", Type::Text),
    ("options", Type::Fields(VALUE_OPTIONS)),
];

const REPLACEMENT_TARGET: &[(&str, Type)] = &[
    ("select", Type::Fields(SELECTOR)),
    ("reject", Type::List(&Type::Fields(SELECTOR))),
    ("fieldPaths", LIST_OF_TEXTS),
    ("options", Type::Fields(VALUE_OPTIONS)),
];

const VAR: &[(&str, Type)] = &[
    ("name", Type::Text),
    ("objref", Type::Fields(VAR_OBJECT)),
    ("fieldref", Type::Fields(&[("fieldPath", Type::Text)])),
];

const VAR_OBJECT: &[(&str, Type)] = &[
    ("apiVersion", Type::Text),
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("namespace", Type::Text),
];

const SORT_OPTIONS: &[(&str, Type)] = &[
    ("order", Type::Text),
    ("legacySortOptions", Type::Fields(&[("orderFirst", LIST_OF_TEXTS), ("orderLast", LIST_OF_TEXTS)])),
];

const GENERATOR_OPTIONS: &[(&str, Type)] = &[
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("disableNameSuffixHash", Type::Bool),
    ("immutable", Type::Bool),
];

pub(super) const CONFIG_MAP: &[(&str, Type)] = &[
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("behavior", Type::Text),
    ("literals", LIST_OF_TEXTS),
    ("files", LIST_OF_TEXTS),
    ("envs", LIST_OF_TEXTS),
    ("env", Type::Text),
    ("options", Type::Fields(GENERATOR_OPTIONS)),
];

pub(super) const SECRET: &[(&str, Type)] = &[
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("behavior", Type::Text),
    ("literals", LIST_OF_TEXTS),
    ("files", LIST_OF_TEXTS),
    ("envs", LIST_OF_TEXTS),
    ("env", Type::Text),
    ("options", Type::Fields(GENERATOR_OPTIONS)),
    ("type", Type::Text),
];

const HELM_CHART: &[(&str, Type)] = &[
    ("name", Type::Text),
    ("version", Type::Text),
    ("repo", Type::Text),
    ("releaseName", Type::Text),
    ("namespace", Type::Text),
    ("additionalValuesFiles", LIST_OF_TEXTS),
    ("valuesFile", Type::Text),
    ("valuesInline", Type::Mapping),
    ("valuesMerge", Type::Text),
    ("includeCRDs", Type::Bool),
    ("skipHooks", Type::Bool),
    ("apiVersions", LIST_OF_TEXTS),
    ("kubeVersion", Type::Text),
    ("nameTemplate", Type::Text),
    ("skipTests", Type::Bool),
    ("debug", Type::Bool),
    ("devel", Type::Bool),
];

const OLD_HELM_CHART: &[(&str, Type)] = &[
    ("chartName", Type::Text),
    ("chartVersion", Type::Text),
    ("chartRepoUrl", Type::Text),
    ("chartHome", Type::Text),
    ("chartRepoName", Type::Text),
    ("helmBin", Type::Text),
    ("helmHome", Type::Text),
    ("values", Type::Text),
    ("valuesLocal", Type::Mapping),
    ("valuesMerge", Type::Text),
    ("releaseName", Type::Text),
    ("releaseNamespace", Type::Text),
    ("extraArgs", LIST_OF_TEXTS),
];

/// The fields that a kustomization may have, in the order of kustomize's own description, each after the one that it is
/// in: `images`, `images.name`.
pub fn fields() -> Vec<String> {
    let mut paths = Vec::new();
    typed::paths(KUSTOMIZATION, "", &mut paths);
    paths
}

/// A kustomization with its fields in kustomize's own spelling, and what kustomize refuses of it.
///
/// kustomize decodes by way of JSON in Go, which takes `apiversion` for `apiVersion`, and a value of nothing for no
/// value at all.
pub(crate) fn check(node: &Node) -> (Node, Vec<Finding>) {
    let mut decoder = Decoder::strict();
    let node = decoder.mapping(node, KUSTOMIZATION, "");
    enforce(&node, &mut decoder.findings);
    (node, decoder.findings)
}

/// A kustomization as Flux writes it again, and what it refuses of it: what it does not know is left out at every level,
/// and a number where a string should be becomes one.
pub fn rewritten(node: &Node) -> (Node, Vec<Finding>) {
    let mut decoder = Decoder::rewriting();
    let node = decoder.mapping(node, KUSTOMIZATION, "");
    (node, decoder.findings)
}

/// kustomize builds what says that it is a kustomization, or does not say what it is.
fn enforce(node: &Node, findings: &mut Vec<Finding>) {
    let is_said = |node: &&Node| !node.is_null() && node.text().is_some_and(|text| !text.is_empty());
    let said = |field: &str| node.get(field).filter(is_said);
    let kind = said("kind").and_then(Node::text).unwrap_or("Kustomization");
    let version = match kind {
        "Kustomization" => "kustomize.config.k8s.io/v1beta1",
        "Component" => "kustomize.config.k8s.io/v1alpha1",
        _ => {
            let message = format!("kustomize builds no `{kind}`");
            let at = said("kind").unwrap_or(node).span().clone();
            findings.push(Finding::error(FAILED_BUILD, at, message).help("write `Kustomization` or `Component`"));
            return;
        }
    };
    if let Some(written) = said("apiVersion").filter(|written| written.text() != Some(version)) {
        let message = format!("kustomize knows no `{kind}` of this version");
        findings.push(Finding::error(FAILED_BUILD, written.span().clone(), message).help(format!("write `{version}`")));
    }
}
