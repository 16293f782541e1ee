//! What a kustomization may say and of which type: kustomize refuses a file with a field or type that it does not know.

use std::collections::BTreeMap;

use super::FAILED_BUILD;
use crate::finding::{Finding, did_you_mean};
use crate::text::Span;
use crate::yaml::{Entry, Name, Node, Reader, Scalar, Value};

/// The type of a field.
#[derive(Debug, Clone, Copy)]
enum Type {
    Text,
    Bool,
    Int,
    List(&'static Self),
    /// A mapping whose values are strings.
    Texts,
    /// A mapping with these fields, in the spelling of kustomize.
    Fields(&'static [(&'static str, Self)]),
    /// A mapping of anything.
    Mapping,
}

const LIST_OF_TEXTS: Type = Type::List(&Type::Text);

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

const METADATA: &[(&str, Type)] =
    &[("name", Type::Text), ("namespace", Type::Text), ("labels", Type::Texts), ("annotations", Type::Texts)];

const FIELD_SPEC: &[(&str, Type)] = &[
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

const SELECTOR: &[(&str, Type)] = &[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("annotationSelector", Type::Text),
    ("labelSelector", Type::Text),
];

const PATCH: &[(&str, Type)] = &[
    ("path", Type::Text),
    ("patch", Type::Text),
    ("target", Type::Fields(SELECTOR)),
    ("options", Type::Fields(&[("allowNameChange", Type::Bool), ("allowKindChange", Type::Bool)])),
];

const IMAGE: &[(&str, Type)] = &[
    ("name", Type::Text),
    ("newName", Type::Text),
    ("tagSuffix", Type::Text),
    ("newTag", Type::Text),
    ("digest", Type::Text),
];

const REPLICA: &[(&str, Type)] = &[("name", Type::Text), ("count", Type::Int)];

const VALUE_OPTIONS: &[(&str, Type)] =
    &[("delimiter", Type::Text), ("index", Type::Int), ("encoding", Type::Text), ("create", Type::Bool)];

const REPLACEMENT: &[(&str, Type)] = &[
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

const CONFIG_MAP: &[(&str, Type)] = &[
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("behavior", Type::Text),
    ("literals", LIST_OF_TEXTS),
    ("files", LIST_OF_TEXTS),
    ("envs", LIST_OF_TEXTS),
    ("env", Type::Text),
    ("options", Type::Fields(GENERATOR_OPTIONS)),
];

const SECRET: &[(&str, Type)] = &[
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

/// The fields that a kustomization may have, in the order of kustomize's own description.
pub fn fields() -> impl Iterator<Item = &'static str> {
    KUSTOMIZATION.iter().map(|(name, _)| *name)
}

/// A kustomization with its fields in kustomize's own spelling, and what kustomize refuses of it.
///
/// kustomize decodes by way of JSON in Go, which takes `apiversion` for `apiVersion`, and a value of nothing for no
/// value at all.
pub(super) fn check(node: &Node) -> (Node, Vec<Finding>) {
    let mut findings = Vec::new();
    let node = mapping(node, KUSTOMIZATION, "a kustomization", &mut findings);
    enforce(&node, &mut findings);
    (node, findings)
}

/// kustomize builds what says that it is a kustomization, or does not say what it is.
fn enforce(node: &Node, findings: &mut Vec<Finding>) {
    let said = |field: &str| node.get(field).filter(|node| node.text().is_some_and(|text| !text.is_empty()));
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

/// The value with its fields in kustomize's spelling; `None` when it is of another type.
fn typed(node: &Node, wanted: &Type, name: &str, findings: &mut Vec<Finding>) -> Option<Node> {
    let mut refuse = |what: &str| {
        let message = format!("`{name}` is {}, and kustomize wants {what}", kind_of(node));
        let help = if matches!(wanted, Type::Text) && node.text().is_some() { "quote it" } else { "correct it" };
        let help = format!("{help}: kustomize refuses the file");
        findings.push(Finding::error(FAILED_BUILD, node.span().clone(), message).help(help));
        None
    };
    let scalar = node.resolve(Reader::Kubernetes);
    if scalar == Some(Scalar::Null) {
        return Some(node.clone());
    }
    let is_right = match wanted {
        Type::Text => matches!(scalar, Some(Scalar::String(_))),
        Type::Bool => matches!(scalar, Some(Scalar::Bool(_))),
        Type::Int => is_whole(scalar),
        Type::Texts | Type::Mapping | Type::Fields(_) => node.is_map(),
        Type::List(_) => node.is_seq(),
    };
    if !is_right {
        return refuse(match wanted {
            Type::Text => "a string",
            Type::Bool => "`true` or `false`",
            Type::Int => "a whole number",
            Type::Texts => "a mapping of strings",
            Type::Mapping | Type::Fields(_) => "a mapping",
            Type::List(_) => "a list",
        });
    }
    match (wanted, &node.value) {
        (Type::Fields(known), _) => Some(mapping(node, known, &format!("`{name}`"), findings)),
        (Type::List(item), Value::Seq(items)) => {
            let items: Vec<Node> = items.iter().filter_map(|node| typed(node, item, name, findings)).collect();
            Some(Node { value: Value::Seq(items.into()), origin: node.origin.clone() })
        }
        (Type::Texts, _) => {
            let is_text = |entry: &&Entry| typed(&entry.node, &Type::Text, &entry.key, findings).is_some();
            let kept: Vec<Entry> = node.entries().iter().filter(is_text).cloned().collect();
            Some(Node { value: Value::Map(kept.into()), origin: node.origin.clone() })
        }
        _ => Some(node.clone()),
    }
}

fn mapping(node: &Node, known: &[(&'static str, Type)], place: &str, findings: &mut Vec<Finding>) -> Node {
    // Of fields that differ in case only, Go decodes the one last that sorts last.
    let mut read: BTreeMap<&str, (&Name, usize)> = BTreeMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for entry in node.entries() {
        let Some((name, wanted)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(&entry.key)) else {
            findings.push(unknown(&entry.key, &entry.key_span(), known, place));
            continue;
        };
        let Some(value) = typed(&entry.node, wanted, name, findings) else { continue };
        let renamed =
            if **name == *entry.key { entry.with_node(value) } else { Entry::new(*name, &entry.key_span(), value) };
        match read.get(name) {
            Some((before, at)) if **before < entry.key => {
                if let Some(place) = entries.get_mut(*at) {
                    *place = renamed;
                }
                let at = *at;
                read.insert(name, (&entry.key, at));
            }
            Some(_) => {}
            None => {
                read.insert(name, (&entry.key, entries.len()));
                entries.push(renamed);
            }
        }
    }
    Node { value: Value::Map(entries.into()), origin: node.origin.clone() }
}

fn unknown(key: &str, at: &Span, known: &[(&'static str, Type)], place: &str) -> Finding {
    let message = if place == "a kustomization" {
        format!("kustomize knows no field `{key}`")
    } else {
        format!("kustomize knows no field `{key}` of {place}")
    };
    let help = did_you_mean(key, known.iter().map(|(name, _)| *name)).map_or_else(
        || "remove it: kustomize refuses the file".to_string(),
        |meant| format!("did you mean `{meant}`? kustomize refuses the file"),
    );
    Finding::error(FAILED_BUILD, at.clone(), message).help(help)
}

/// Go prints a float without a fraction as a whole number.
fn is_whole(scalar: Option<Scalar<'_>>) -> bool {
    match scalar {
        Some(Scalar::Int(int)) => i64::try_from(int).is_ok(),
        Some(Scalar::Float(float)) => float.fract() == 0.0 && float.abs() < 1e18,
        _ => false,
    }
}

fn kind_of(node: &Node) -> &'static str {
    match node.resolve(Reader::Kubernetes) {
        Some(Scalar::Null) => "nothing",
        Some(Scalar::Bool(_)) => "a boolean",
        Some(Scalar::Int(_) | Scalar::Float(_)) => "a number",
        Some(Scalar::String(_)) => "a string",
        None if node.is_map() => "a mapping",
        None => "a list",
    }
}
