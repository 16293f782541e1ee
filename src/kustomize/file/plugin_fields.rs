//! The fields of built-in generators and transformers that objects configure.

use super::kustomization_fields::{
    CONFIG_MAP, FIELD_SPEC, IMAGE, METADATA, PATCH, REPLACEMENT, REPLICA, SECRET, SELECTOR,
};
use super::typed::{self, Decoder, FieldType, LIST_OF_TEXTS};
use crate::base::finding::Finding;
use crate::yaml::Node;

type Fields = &'static [(&'static str, FieldType)];

const FIELD_SPECS: (&str, FieldType) = ("fieldSpecs", FieldType::List(&FieldType::Fields(FIELD_SPEC)));

const VALUE_TARGET: Fields =
    &[("selector", FieldType::Fields(SELECTOR)), ("fieldPath", FieldType::Text), ("filePathPosition", FieldType::Int)];

/// The fields of each kind, without the fields that all objects have.
const KINDS: &[(&str, Fields)] = &[
    ("AnnotationsTransformer", &[("annotations", FieldType::Texts), FIELD_SPECS]),
    ("ConfigMapGenerator", CONFIG_MAP),
    ("ImageTagTransformer", &[("imageTag", FieldType::Fields(IMAGE)), FIELD_SPECS]),
    ("LabelTransformer", &[("labels", FieldType::Texts), FIELD_SPECS]),
    (
        "NamespaceTransformer",
        &[
            ("metadata", FieldType::Fields(METADATA)),
            FIELD_SPECS,
            ("unsetOnly", FieldType::Bool),
            ("setRoleBindingSubjects", FieldType::Text),
        ],
    ),
    (
        "PatchJson6902Transformer",
        &[("target", FieldType::Fields(SELECTOR)), ("path", FieldType::Text), ("jsonOp", FieldType::Text)],
    ),
    ("PatchStrategicMergeTransformer", &[("paths", LIST_OF_TEXTS), ("patches", FieldType::Text)]),
    ("PatchTransformer", PATCH),
    ("PrefixTransformer", &[("prefix", FieldType::Text), FIELD_SPECS]),
    ("PrefixSuffixTransformer", &[("prefix", FieldType::Text), ("suffix", FieldType::Text), FIELD_SPECS]),
    ("SuffixTransformer", &[("suffix", FieldType::Text), FIELD_SPECS]),
    ("ReplacementTransformer", &[("replacements", FieldType::List(&FieldType::Fields(REPLACEMENT)))]),
    ("ReplicaCountTransformer", &[("replica", FieldType::Fields(REPLICA)), FIELD_SPECS]),
    ("SecretGenerator", SECRET),
    (
        "ValueAddTransformer",
        &[
            ("value", FieldType::Text),
            ("targets", FieldType::List(&FieldType::Fields(VALUE_TARGET))),
            ("targetFilePath", FieldType::Text),
        ],
    ),
];

/// The fields of built-in plugins, as in `PatchTransformer.target.kind`.
pub fn plugin_fields() -> Vec<String> {
    let mut paths = Vec::new();
    for (kind, fields) in KINDS {
        typed::paths(fields, kind, &mut paths);
    }
    paths
}

/// Normalizes the field names of a plugin object, and returns its errors.
pub(crate) fn check(node: &Node, kind: &str) -> (Node, Vec<Finding>) {
    let fields = KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, fields)| fields);
    let mut decoder = Decoder::lenient();
    let node = decoder.mapping(node, fields, "");
    (node, decoder.findings)
}
