//! The scalars of fleet.yaml: what text may stand where.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::formats;

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(#[serde(deserialize_with = "crate::yaml::text")] pub String);

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

text!(
    /// A DNS label, as Kubernetes names namespaces: lower case letters, digits and `-`, at most 63 characters.
    DnsLabel,
    json_schema!({ "type": "string", "pattern": formats::DNS_LABEL })
);
text!(
    /// A duration as Flux writes it: `10m`, `1h30m`.
    Duration,
    json_schema!({ "type": "string", "pattern": formats::DURATION })
);
text!(
    /// A path in a repository: relative, and never above its root.
    RepoPath,
    json_schema!({ "type": "string", "minLength": 1, "format": formats::REPOSITORY_PATH })
);
text!(
    /// The name of a variable that Flux substitutes.
    VariableName,
    json_schema!({ "type": "string", "pattern": formats::VARIABLE })
);
text!(
    /// A component with its tenant: `tenant/component`.
    ComponentPath,
    json_schema!({ "type": "string", "pattern": formats::COMPONENT })
);
text!(
    /// A scalar that is kept as it is written, quoted or not: `1.10` stays `1.10`.
    Text,
    json_schema!({ "type": ["string", "number", "boolean"] })
);

/// A part of a Kubernetes object, kept as Kubernetes reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(#[serde(deserialize_with = "crate::yaml::raw")] pub serde_json::Value);

impl JsonSchema for Raw {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Raw".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// A kustomize patch with the objects that it targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// Which objects, as kustomize selects them; the patch names its object itself when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"kind": "Deployment", "name": "backend"}))]
    pub target: Option<Raw>,
    /// A strategic merge patch or a list of JSON 6902 operations: YAML, or text that is YAML.
    #[schemars(schema_with = "patch", example = serde_json::json!([{"op": "remove", "path": "/spec/replicas"}]))]
    pub patch: Raw,
}

fn patch(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object", "array"] })
}

/// Something that must be ready first: `component`, `component/stage`, or a mapping that names the tenant too.
///
/// For the schema only: a dependency is resolved from its node, which knows its place.
#[derive(Debug, Clone, Copy)]
pub struct DependsOn;

/// Something that must be ready first, in full.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the schema is generated from it")]
struct Dependency {
    /// The tenant; the same one when left out.
    #[serde(default)]
    #[schemars(example = &"infra")]
    tenant: Option<DnsLabel>,
    /// The component.
    #[schemars(example = &"monitoring")]
    component: DnsLabel,
    /// The stage; the last one when left out.
    #[serde(default)]
    #[schemars(example = &"controllers")]
    stage: Option<DnsLabel>,
    /// A CEL expression that decides when it counts as ready; `dep` is the one that is waited for, `self` the one that waits.
    #[serde(default)]
    #[schemars(example = &"dep.status.observedGeneration >= 0")]
    ready_expr: Option<String>,
}

impl JsonSchema for DependsOn {
    fn schema_name() -> Cow<'static, str> {
        "DependsOn".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Something that must be ready first: `component`, `component/stage`, or a mapping that names the tenant too.",
            "anyOf": [{ "type": "string", "pattern": formats::DEPENDENCY }, generator.subschema_for::<Dependency>()],
        })
    }
}
