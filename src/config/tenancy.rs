//! Who the tenants are and what guards them, where that is said rather than inferred.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::decode::decode;
use super::exception::reason_schema;
use super::words::{ACCOUNT, NAMESPACE};
use crate::base::finding::Finding;
use crate::text::Span;
use crate::yaml::Node;

/// Who the tenants are and what guards them. What is left out is inferred from what clusters receive.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenancy {
    /// Whether tenants share the clusters: `multi` or `single`, whatever is inferred.
    #[serde(default)]
    #[schemars(example = &"multi")]
    pub mode: Option<TenancyMode>,
    /// The tenants and their namespaces, beside those that are inferred: by name, a list of namespaces or a mapping.
    #[serde(default)]
    #[schemars(schema_with = "tenants_schema", example = serde_json::json!({"team-a": ["team-a", "team-a-staging"]}))]
    pub tenants: BTreeMap<String, DeclaredTenant>,
    /// What is said of Flux's lockdown.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"mode": "none", "reason": "all tenants build from central sources"}))]
    pub lockdown: Option<Lockdown>,
}

/// Whether tenants share clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TenancyMode {
    /// They do.
    Multi,
    /// Everybody is trusted with everything.
    Single,
}

/// A tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredTenant {
    /// The namespaces that are its own.
    #[schemars(schema_with = "namespaces_schema", example = serde_json::json!(["team-a", "team-a-staging"]))]
    pub namespaces: Vec<String>,
    /// The service accounts that Flux acts as for it outside these, as `namespace/name`.
    #[serde(default)]
    #[schemars(schema_with = "accounts_schema", example = serde_json::json!(["flux-system/team-a"]))]
    pub accounts: Vec<String>,
}

/// What is said of Flux's lockdown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = serde_json::json!({"mode": "none", "reason": "all tenants build from central sources"}))]
pub struct Lockdown {
    /// `none`: tenants are not locked down, and that is meant.
    #[schemars(example = &"none")]
    pub mode: LockdownMode,
    /// Why that is right here.
    #[schemars(schema_with = "reason_schema", example = &"all tenants build from central sources")]
    pub reason: String,
}

/// How Flux shall be locked down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LockdownMode {
    /// Not at all.
    None,
}

impl Tenancy {
    /// The tenants' namespaces and whose they are.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tenants.iter().flat_map(|(name, tenant)| {
            tenant.namespaces.iter().map(move |namespace| (namespace.as_str(), name.as_str()))
        })
    }

    /// The tenants' accounts outside their namespaces, as `namespace/name`, and whose they are.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &str)> {
        let tenants = self.tenants.iter();
        tenants.flat_map(|(name, tenant)| tenant.accounts.iter().map(move |account| (account.as_str(), name.as_str())))
    }

    /// Reads it, as far as it is right.
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

    /// It, and what it leaves open as `base` has it.
    pub(super) fn over(self, base: Self) -> Self {
        let mut tenants = base.tenants;
        tenants.extend(self.tenants);
        Self { mode: self.mode.or(base.mode), tenants, lockdown: self.lockdown.or(base.lockdown) }
    }
}

/// The list of a tenant's namespaces, in the short form or the long one.
fn namespaces_of(tenant: &Node) -> Option<&Node> {
    if tenant.is_seq() { Some(tenant) } else { tenant.get("namespaces") }
}

/// What the schema cannot see: namespaces that stand twice. A namespace is one tenant's.
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
                Finding::error(rule, node.span().clone(), format!("`{namespace}` stands twice here"))
                    .help("take one of them out")
            } else {
                let message =
                    format!("`{namespace}` is a namespace of tenant `{owner}` and of tenant `{}`", tenant.key);
                let help = "a namespace is one tenant's: whoever may write there acts as any account of it";
                Finding::error(rule, node.span().clone(), message).help(help)
            };
            findings.push(finding.related((*first).clone(), "first here"));
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
