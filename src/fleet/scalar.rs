//! The scalars of fleet.yaml: what text may stand where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A DNS label, as Kubernetes names namespaces: lower case letters, digits and `-`, at most 63 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct DnsLabel(
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))] pub String,
);

/// A duration as Flux writes it: `10m`, `1h30m`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Duration(#[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"))] pub String);

/// A path in a repository: relative, and never above its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct RepoPath(pub String);

/// The name of a variable that Flux substitutes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct VariableName(#[schemars(regex(pattern = r"^[_a-zA-Z][_a-zA-Z0-9]*$"))] pub String);

/// A scalar that is kept as it is written, quoted or not: `1.10` stays `1.10`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Text(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// A part of a Kubernetes object, kept as Kubernetes reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Raw(#[serde(deserialize_with = "crate::yaml::raw")] pub serde_json::Value);

/// A kustomize patch with the objects that it targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// Which objects, as kustomize selects them; the patch names its object itself when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Raw>,
    /// A strategic merge patch or a list of JSON 6902 operations: YAML, or text that is YAML.
    pub patch: Raw,
}

/// Something that must be ready first: `component`, `component/stage`, or a mapping that names the tenant too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DependsOn {
    /// The tenant; the same one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<DnsLabel>,
    /// The component.
    pub component: DnsLabel,
    /// The stage; the last one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<DnsLabel>,
    /// A CEL expression that decides when it counts as ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_expr: Option<String>,
}
