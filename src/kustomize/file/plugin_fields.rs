//! What kustomize's own generators and transformers may say when they are written as objects: data.

use super::kustomization_fields::{
    CONFIG_MAP, FIELD_SPEC, IMAGE, METADATA, PATCH, REPLACEMENT, REPLICA, SECRET, SELECTOR,
};
use super::typed::{self, Decoder, LIST_OF_TEXTS, Type};
use crate::base::finding::Finding;
use crate::yaml::Node;

type Fields = &'static [(&'static str, Type)];

const FIELD_SPECS: (&str, Type) = ("fieldSpecs", Type::List(&Type::Fields(FIELD_SPEC)));

const VALUE_TARGET: Fields =
    &[("selector", Type::Fields(SELECTOR)), ("fieldPath", Type::Text), ("filePathPosition", Type::Int)];

/// The fields of each kind, beside those that every object has.
const KINDS: &[(&str, Fields)] = &[
    ("AnnotationsTransformer", &[("annotations", Type::Texts), FIELD_SPECS]),
    ("ConfigMapGenerator", CONFIG_MAP),
    ("ImageTagTransformer", &[("imageTag", Type::Fields(IMAGE)), FIELD_SPECS]),
    ("LabelTransformer", &[("labels", Type::Texts), FIELD_SPECS]),
    (
        "NamespaceTransformer",
        &[
            ("metadata", Type::Fields(METADATA)),
            FIELD_SPECS,
            ("unsetOnly", Type::Bool),
            ("setRoleBindingSubjects", Type::Text),
        ],
    ),
    ("PatchJson6902Transformer", &[("target", Type::Fields(SELECTOR)), ("path", Type::Text), ("jsonOp", Type::Text)]),
    ("PatchStrategicMergeTransformer", &[("paths", LIST_OF_TEXTS), ("patches", Type::Text)]),
    ("PatchTransformer", PATCH),
    ("PrefixTransformer", &[("prefix", Type::Text), FIELD_SPECS]),
    ("PrefixSuffixTransformer", &[("prefix", Type::Text), ("suffix", Type::Text), FIELD_SPECS]),
    ("SuffixTransformer", &[("suffix", Type::Text), FIELD_SPECS]),
    ("ReplacementTransformer", &[("replacements", Type::List(&Type::Fields(REPLACEMENT)))]),
    ("ReplicaCountTransformer", &[("replica", Type::Fields(REPLICA)), FIELD_SPECS]),
    ("SecretGenerator", SECRET),
    (
        "ValueAddTransformer",
        &[("value", Type::Text), ("targets", Type::List(&Type::Fields(VALUE_TARGET))), ("targetFilePath", Type::Text)],
    ),
];

/// The fields that kustomize's own generators and transformers may have, as in `PatchTransformer.target.kind`.
pub fn plugin_fields() -> Vec<String> {
    let mut paths = Vec::new();
    for (kind, fields) in KINDS {
        typed::paths(fields, kind, &mut paths);
    }
    paths
}

/// The object with the fields of its kind in kustomize's own spelling, and what kustomize refuses of it.
pub(crate) fn check(node: &Node, kind: &str) -> (Node, Vec<Finding>) {
    let fields = KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, fields)| fields);
    let mut decoder = Decoder::lenient();
    let node = decoder.mapping(node, fields, "");
    (node, decoder.findings)
}
