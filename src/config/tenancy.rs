//! The tenants and their isolation, which override the inferred values.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::decode::decode;
use super::exception::reason_schema;
use super::formats::{ACCOUNT, NAMESPACE};
use crate::base::finding::Finding;
use crate::text::Span;
use crate::yaml::Node;

/// The tenants and their isolation. The linter infers fields that are not set from the objects of the clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenancy {
    /// The tenancy mode: `multi` if tenants share clusters, or `single`. It overrides the inferred mode.
    #[serde(default)]
    #[schemars(example = &"multi")]
    pub mode: Option<TenancyMode>,
    /// The tenants by name, in addition to inferred tenants: a list of namespaces, or a mapping.
    #[serde(default)]
    #[schemars(schema_with = "tenants_schema", example = serde_json::json!({"team-a": ["team-a", "team-a-staging"]}))]
    pub tenants: BTreeMap<String, DeclaredTenant>,
    /// The declared lockdown of Flux.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"mode": "none", "reason": "all tenants build from central sources"}))]
    pub lockdown: Option<Lockdown>,
}

/// The tenancy mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenancyMode {
    /// Tenants share clusters.
    Multi,
    /// All users of a cluster trust each other.
    Single,
}

/// A tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredTenant {
    /// The namespaces of the tenant.
    #[schemars(schema_with = "namespaces_schema", example = serde_json::json!(["team-a", "team-a-staging"]))]
    pub namespaces: Vec<String>,
    /// The service accounts outside these namespaces that Flux impersonates for the tenant, as `namespace/name`.
    #[serde(default)]
    #[schemars(schema_with = "accounts_schema", example = serde_json::json!(["flux-system/team-a"]))]
    pub accounts: Vec<String>,
}

/// The declared lockdown of Flux.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = serde_json::json!({"mode": "none", "reason": "all tenants build from central sources"}))]
pub struct Lockdown {
    /// The lockdown mode: `none` accepts that Flux does not lock down tenants.
    #[schemars(example = &"none")]
    pub mode: LockdownMode,
    /// The reason why the mode is acceptable.
    #[schemars(schema_with = "reason_schema", example = &"all tenants build from central sources")]
    pub reason: String,
}

/// The lockdown mode of Flux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LockdownMode {
    /// No lockdown.
    None,
}

impl Tenancy {
    /// Returns the namespaces of the tenants, each with its tenant.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tenants.iter().flat_map(|(name, tenant)| {
            tenant.namespaces.iter().map(move |namespace| (namespace.as_str(), name.as_str()))
        })
    }

    /// Returns the tenants' accounts outside their namespaces, as `namespace/name`, each with its tenant.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &str)> {
        let tenants = self.tenants.iter();
        tenants.flat_map(|(name, tenant)| tenant.accounts.iter().map(move |account| (account.as_str(), name.as_str())))
    }

    /// Reads the valid part of the section.
    pub(super) fn read(section: &Node) -> Self {
        let tenants = section.get("tenants").map_or(&[][..], Node::entries).iter();
        let tenants = tenants.filter_map(|entry| {
            let namespaces = decode(namespaces_of(&entry.node)?)?;
            let accounts = entry.node.get("accounts").and_then(decode).unwrap_or_default();
            Some((entry.key.to_string(), DeclaredTenant { namespaces, accounts }))
        });
        let lockdown = section.get("lockdown").and_then(decode);
        Self {
            mode: section.get("mode").and_then(decode),
            tenants: tenants.collect(),
            lockdown: lockdown.filter(|lockdown: &Lockdown| !lockdown.reason.trim().is_empty()),
        }
    }

    /// Returns this section, with unset fields from `base`.
    pub(super) fn over(self, base: Self) -> Self {
        let mut tenants = base.tenants;
        tenants.extend(self.tenants);
        Self { mode: self.mode.or(base.mode), tenants, lockdown: self.lockdown.or(base.lockdown) }
    }
}

/// Returns the list of a tenant's namespaces, from the short form or the long form.
fn namespaces_of(tenant: &Node) -> Option<&Node> {
    if tenant.is_seq() { Some(tenant) } else { tenant.get("namespaces") }
}

/// Reports duplicate namespaces, which the schema cannot express. A namespace belongs to one tenant.
pub(super) fn check(section: &Node, rule: &'static str) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, (&str, &Span)> = BTreeMap::new();
    let mut findings = Vec::new();
    for tenant in section.get("tenants").map_or(&[][..], Node::entries) {
        for node in namespaces_of(&tenant.node).map_or(&[][..], Node::items) {
            let Some(namespace) = node.text() else { continue };
            let Some((owner, first)) = seen.get(namespace) else {
                seen.insert(namespace, (&tenant.key, node.span()));
                continue;
            };
            let finding = if *owner == &*tenant.key {
                Finding::error(rule, node.span().clone(), format!("duplicate namespace `{namespace}`"))
                    .help("remove one of them")
            } else {
                let message = format!("tenants `{owner}` and `{}` both have namespace `{namespace}`", tenant.key);
                let help = "keep the namespace in one tenant; an account with write access to a namespace can impersonate \
                            the service accounts of the namespace";
                Finding::error(rule, node.span().clone(), message).help(help)
            };
            findings.push(finding.related((*first).clone(), "first listed here"));
        }
    }
    findings
}

fn namespaces_schema(_: &mut SchemaGenerator) -> Schema {
    let namespace = json_schema!({ "type": "string", "maxLength": 63, "pattern": NAMESPACE });
    json_schema!({ "type": "array", "minItems": 1, "items": namespace })
}

fn accounts_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "pattern": ACCOUNT } })
}

fn tenants_schema(generator: &mut SchemaGenerator) -> Schema {
    let short = namespaces_schema(generator);
    let long = generator.subschema_for::<DeclaredTenant>();
    json_schema!({ "type": "object", "additionalProperties": { "anyOf": [short, long] } })
}
