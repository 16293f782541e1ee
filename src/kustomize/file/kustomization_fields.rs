//! The fields of kustomizations and their types. kustomize rejects a file with an unknown field or a wrong type.

use super::typed::{self, Decoder, FieldType, LIST_OF_TEXTS};
use crate::base::finding::{Finding, Severity};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::Node;

/// The fields of a kustomization.
const KUSTOMIZATION: &[(&str, FieldType)] = &[
    ("apiVersion", FieldType::Text),
    ("kind", FieldType::Text),
    ("metadata", FieldType::Fields(METADATA)),
    ("openapi", FieldType::Texts),
    ("namePrefix", FieldType::Text),
    ("nameSuffix", FieldType::Text),
    ("namespace", FieldType::Text),
    ("commonLabels", FieldType::Texts),
    ("labels", FieldType::List(&FieldType::Fields(LABEL))),
    ("commonAnnotations", FieldType::Texts),
    ("patchesStrategicMerge", LIST_OF_TEXTS),
    ("patchesJson6902", FieldType::List(&FieldType::Fields(PATCH))),
    ("patches", FieldType::List(&FieldType::Fields(PATCH))),
    ("images", FieldType::List(&FieldType::Fields(IMAGE))),
    ("imageTags", FieldType::List(&FieldType::Fields(IMAGE))),
    ("replacements", FieldType::List(&FieldType::Fields(REPLACEMENT))),
    ("replicas", FieldType::List(&FieldType::Fields(REPLICA))),
    ("vars", FieldType::List(&FieldType::Fields(VAR))),
    ("sortOptions", FieldType::Fields(SORT_OPTIONS)),
    ("resources", LIST_OF_TEXTS),
    ("components", LIST_OF_TEXTS),
    ("crds", LIST_OF_TEXTS),
    ("bases", LIST_OF_TEXTS),
    ("configMapGenerator", FieldType::List(&FieldType::Fields(CONFIG_MAP))),
    ("secretGenerator", FieldType::List(&FieldType::Fields(SECRET))),
    ("helmGlobals", FieldType::Fields(&[("chartHome", FieldType::Text), ("configHome", FieldType::Text)])),
    ("helmCharts", FieldType::List(&FieldType::Fields(HELM_CHART))),
    ("helmChartInflationGenerator", FieldType::List(&FieldType::Fields(OLD_HELM_CHART))),
    ("generatorOptions", FieldType::Fields(GENERATOR_OPTIONS)),
    ("configurations", LIST_OF_TEXTS),
    ("generators", LIST_OF_TEXTS),
    ("transformers", LIST_OF_TEXTS),
    ("validators", LIST_OF_TEXTS),
    ("buildMetadata", LIST_OF_TEXTS),
];

/// The fields of `metadata`.
pub(crate) const METADATA: &[(&str, FieldType)] = &[
    ("name", FieldType::Text),
    ("namespace", FieldType::Text),
    ("labels", FieldType::Texts),
    ("annotations", FieldType::Texts),
];

/// The fields of a field spec.
pub(super) const FIELD_SPEC: &[(&str, FieldType)] = &[
    ("group", FieldType::Text),
    ("version", FieldType::Text),
    ("kind", FieldType::Text),
    ("path", FieldType::Text),
    ("create", FieldType::Bool),
];

const LABEL: &[(&str, FieldType)] = &[
    ("pairs", FieldType::Texts),
    ("includeSelectors", FieldType::Bool),
    ("includeTemplates", FieldType::Bool),
    ("fields", FieldType::List(&FieldType::Fields(FIELD_SPEC))),
];

/// The fields of a selector.
pub(super) const SELECTOR: &[(&str, FieldType)] = &[
    ("group", FieldType::Text),
    ("version", FieldType::Text),
    ("kind", FieldType::Text),
    ("name", FieldType::Text),
    ("namespace", FieldType::Text),
    ("annotationSelector", FieldType::Text),
    ("labelSelector", FieldType::Text),
];

/// The fields of a patch.
pub(super) const PATCH: &[(&str, FieldType)] = &[
    ("path", FieldType::Text),
    ("patch", FieldType::Text),
    ("target", FieldType::Fields(SELECTOR)),
    ("options", FieldType::Fields(&[("allowNameChange", FieldType::Bool), ("allowKindChange", FieldType::Bool)])),
];

/// The fields of an entry of `images`.
pub(super) const IMAGE: &[(&str, FieldType)] = &[
    ("name", FieldType::Text),
    ("newName", FieldType::Text),
    ("tagSuffix", FieldType::Text),
    ("newTag", FieldType::Text),
    ("digest", FieldType::Text),
];

/// The fields of an entry of `replicas`.
pub(super) const REPLICA: &[(&str, FieldType)] = &[("name", FieldType::Text), ("count", FieldType::Int)];

const VALUE_OPTIONS: &[(&str, FieldType)] = &[
    ("delimiter", FieldType::Text),
    ("index", FieldType::Int),
    ("encoding", FieldType::Text),
    ("create", FieldType::Bool),
];

/// The fields of a replacement.
pub(crate) const REPLACEMENT: &[(&str, FieldType)] = &[
    ("path", FieldType::Text),
    ("source", FieldType::Fields(REPLACEMENT_SOURCE)),
    ("sourceValue", FieldType::Text),
    ("targets", FieldType::List(&FieldType::Fields(REPLACEMENT_TARGET))),
];

const REPLACEMENT_SOURCE: &[(&str, FieldType)] = &[
    ("group", FieldType::Text),
    ("version", FieldType::Text),
    ("kind", FieldType::Text),
    ("name", FieldType::Text),
    ("namespace", FieldType::Text),
    ("fieldPath", FieldType::Text),
    ("options", FieldType::Fields(VALUE_OPTIONS)),
];

const REPLACEMENT_TARGET: &[(&str, FieldType)] = &[
    ("select", FieldType::Fields(SELECTOR)),
    ("reject", FieldType::List(&FieldType::Fields(SELECTOR))),
    ("fieldPaths", LIST_OF_TEXTS),
    ("options", FieldType::Fields(VALUE_OPTIONS)),
];

const VAR: &[(&str, FieldType)] = &[
    ("name", FieldType::Text),
    ("objref", FieldType::Fields(VAR_OBJECT)),
    ("fieldref", FieldType::Fields(&[("fieldPath", FieldType::Text)])),
];

const VAR_OBJECT: &[(&str, FieldType)] = &[
    ("apiVersion", FieldType::Text),
    ("group", FieldType::Text),
    ("version", FieldType::Text),
    ("kind", FieldType::Text),
    ("name", FieldType::Text),
    ("namespace", FieldType::Text),
];

const SORT_OPTIONS: &[(&str, FieldType)] = &[
    ("order", FieldType::Text),
    ("legacySortOptions", FieldType::Fields(&[("orderFirst", LIST_OF_TEXTS), ("orderLast", LIST_OF_TEXTS)])),
];

const GENERATOR_OPTIONS: &[(&str, FieldType)] = &[
    ("labels", FieldType::Texts),
    ("annotations", FieldType::Texts),
    ("disableNameSuffixHash", FieldType::Bool),
    ("immutable", FieldType::Bool),
];

/// The fields of an entry of `configMapGenerator`.
pub(super) const CONFIG_MAP: &[(&str, FieldType)] = &[
    ("namespace", FieldType::Text),
    ("name", FieldType::Text),
    ("behavior", FieldType::Text),
    ("literals", LIST_OF_TEXTS),
    ("files", LIST_OF_TEXTS),
    ("envs", LIST_OF_TEXTS),
    ("env", FieldType::Text),
    ("options", FieldType::Fields(GENERATOR_OPTIONS)),
];

/// The fields of an entry of `secretGenerator`.
pub(super) const SECRET: &[(&str, FieldType)] = &[
    ("namespace", FieldType::Text),
    ("name", FieldType::Text),
    ("behavior", FieldType::Text),
    ("literals", LIST_OF_TEXTS),
    ("files", LIST_OF_TEXTS),
    ("envs", LIST_OF_TEXTS),
    ("env", FieldType::Text),
    ("options", FieldType::Fields(GENERATOR_OPTIONS)),
    ("type", FieldType::Text),
];

const HELM_CHART: &[(&str, FieldType)] = &[
    ("name", FieldType::Text),
    ("version", FieldType::Text),
    ("repo", FieldType::Text),
    ("releaseName", FieldType::Text),
    ("namespace", FieldType::Text),
    ("additionalValuesFiles", LIST_OF_TEXTS),
    ("valuesFile", FieldType::Text),
    ("valuesInline", FieldType::Mapping),
    ("valuesMerge", FieldType::Text),
    ("includeCRDs", FieldType::Bool),
    ("skipHooks", FieldType::Bool),
    ("apiVersions", LIST_OF_TEXTS),
    ("kubeVersion", FieldType::Text),
    ("nameTemplate", FieldType::Text),
    ("skipTests", FieldType::Bool),
    ("debug", FieldType::Bool),
    ("devel", FieldType::Bool),
];

const OLD_HELM_CHART: &[(&str, FieldType)] = &[
    ("chartName", FieldType::Text),
    ("chartVersion", FieldType::Text),
    ("chartRepoUrl", FieldType::Text),
    ("chartHome", FieldType::Text),
    ("chartRepoName", FieldType::Text),
    ("helmBin", FieldType::Text),
    ("helmHome", FieldType::Text),
    ("values", FieldType::Text),
    ("valuesLocal", FieldType::Mapping),
    ("valuesMerge", FieldType::Text),
    ("releaseName", FieldType::Text),
    ("releaseNamespace", FieldType::Text),
    ("extraArgs", LIST_OF_TEXTS),
];

/// The paths of all fields, in the order of kustomize's documentation. A parent precedes its children: `images`,
/// `images.name`.
pub fn fields() -> Vec<String> {
    let mut paths = Vec::new();
    typed::paths(KUSTOMIZATION, "", &mut paths);
    paths
}

/// Normalizes the field names of a kustomization, and returns its errors.
///
/// kustomize decodes with Go's JSON library: the case of field names does not matter, and null counts as absent.
pub(crate) fn check(node: &Node) -> (Node, Vec<Finding>) {
    let mut decoder = Decoder::strict();
    let node = decoder.mapping(node, KUSTOMIZATION, "");
    decoder.findings.extend(check_kind(&node));
    (node, decoder.findings)
}

/// Normalizes a kustomization as Flux does before it writes the file, and returns its errors.
///
/// Unknown fields are removed at every level, with a warning. A number in a string field becomes a string.
pub fn rewrite(node: &Node) -> (Node, Vec<Finding>) {
    let mut decoder = Decoder::rewriting();
    let rewritten = decoder.mapping(node, KUSTOMIZATION, "");
    if check_kind(node).is_some() {
        // The fields of another kind are not the mistake.
        decoder.findings.retain(|finding| finding.severity == Severity::Error);
    }
    (rewritten, decoder.findings)
}

/// Checks `kind` and `apiVersion`, which are optional.
pub(crate) fn check_kind(node: &Node) -> Option<Finding> {
    let is_set = |node: &&Node| !node.is_null() && node.text().is_some_and(|text| !text.is_empty());
    let value_of = |field: &str| node.get(field).filter(is_set);
    let kind = value_of("kind").and_then(Node::text).unwrap_or("Kustomization");
    let version = match kind {
        "Kustomization" => "kustomize.config.k8s.io/v1beta1",
        "Component" => "kustomize.config.k8s.io/v1alpha1",
        _ => {
            let message = format!("kustomize does not build kind `{kind}`");
            let span = value_of("kind").unwrap_or(node).span().clone();
            let help = "set `kind` to `Kustomization` or `Component`";
            return Some(Finding::error(FAILED_BUILD, span, message).help(help));
        }
    };
    let written = value_of("apiVersion").filter(|written| written.text() != Some(version))?;
    let message = format!("kustomize does not support this `apiVersion` of kind `{kind}`");
    let is_flux = written.text().is_some_and(|text| text.starts_with("kustomize.toolkit.fluxcd.io/"));
    let help = if is_flux {
        "rename the file: kustomize reads a file with this name as a kustomization, and this is a Kustomization of Flux"
            .to_owned()
    } else {
        format!("set `apiVersion` to `{version}`")
    };
    let finding = Finding::error(FAILED_BUILD, written.span().clone(), message).help(help);
    // An author who writes this version once often writes it everywhere.
    let key = format!("{kind} {}", written.text().unwrap_or_default());
    Some(finding.caused_by(
        key,
        "",
        format!(" files of kind `{kind}` have an `apiVersion` that kustomize does not support"),
    ))
}
