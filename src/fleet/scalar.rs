//! The scalar types of fleet.yaml, with their JSON Schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{formats, kube_formats};

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
    /// A DNS label, such as the name of a namespace: lower-case letters, digits and `-`, at most 63 characters.
    DnsLabel,
    json_schema!({ "type": "string", "pattern": formats::DNS_LABEL })
);
text!(
    /// A duration in the format of Flux: `10m`, `1h30m`.
    Duration,
    json_schema!({ "type": "string", "pattern": formats::DURATION })
);
text!(
    /// A path in a repository. It is relative, and never above the root of the repository.
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
    /// A component or stage with its tenant: `tenant/component` or `tenant/component/stage`.
    ComponentTarget,
    json_schema!({ "type": "string", "pattern": formats::COMPONENT_TARGET })
);
text!(
    /// A scalar that keeps its spelling, quoted or not: `1.10` stays `1.10`.
    Text,
    json_schema!({ "type": ["string", "number", "boolean"] })
);

text!(
    /// A Kubernetes quantity: `500m`, `8Gi`.
    Quantity,
    json_schema!({ "type": ["string", "number"], "minLength": 1, "format": kube_formats::QUANTITY, "minimum": 0 })
);
text!(
    /// A version, or a range of versions as SemVer.
    VersionRange,
    json_schema!({ "type": ["string", "number"], "minLength": 1, "format": kube_formats::VERSION_RANGE })
);
text!(
    /// The key of a label or an annotation.
    LabelKey,
    json_schema!({ "type": "string", "pattern": kube_formats::LABEL_KEY })
);
text!(
    /// The value of a label.
    LabelValue,
    json_schema!({ "type": ["string", "number", "boolean"], "format": kube_formats::LABEL_VALUE })
);
text!(
    /// A resource of a LimitRange.
    ResourceName,
    json_schema!({ "type": "string", "pattern": kube_formats::RESOURCE })
);
text!(
    /// A resource of a ResourceQuota.
    QuotaResource,
    json_schema!({ "type": "string", "pattern": kube_formats::QUOTA_RESOURCE })
);

/// A part of a Kubernetes object, as the API server reads it.
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

/// A kustomize patch and its target objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// The selector of the target objects, in the format of kustomize. Defaults to the object that the patch identifies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"kind": "Deployment", "name": "backend"}))]
    pub target: Option<Raw>,
    /// The content: a strategic merge patch or a list of JSON 6902 operations, inline or as a string.
    #[schemars(schema_with = "patch", example = serde_json::json!([{"op": "remove", "path": "/spec/replicas"}]))]
    pub patch: Raw,
}

fn patch(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object", "array"] })
}

/// A dependency: `component`, `component/stage`, or a mapping that also sets the tenant.
///
/// This type serves the schema only: a dependency is resolved from its node, which has a position.
#[derive(Debug, Clone, Copy)]
pub struct DependsOn;

/// A dependency on a component or stage that must be ready first.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the schema is generated from it")]
struct Dependency {
    /// The tenant of the component. Defaults to the dependent's tenant.
    #[serde(default)]
    #[schemars(example = &"infra")]
    tenant: Option<DnsLabel>,
    /// The name of the component.
    #[schemars(example = &"monitoring")]
    component: DnsLabel,
    /// The name of the stage. Defaults to the last stage.
    #[serde(default)]
    #[schemars(example = &"controllers")]
    stage: Option<DnsLabel>,
    /// The CEL expression that determines whether the dependency is ready. `dep` is the dependency, `self` the dependent.
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
            "description": "A dependency: `component`, `component/stage`, or a mapping that also sets the tenant.",
            "anyOf": [{ "type": "string", "pattern": formats::DEPENDENCY }, generator.subschema_for::<Dependency>()],
        })
    }
}
