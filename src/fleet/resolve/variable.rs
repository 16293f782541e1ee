//! The variables of clusters. Flux substitutes them as text, before the result is parsed as YAML.

use std::collections::BTreeMap;

use super::fleet::{Cluster, Tenant, Variable};
use crate::text::{File, Index};
use crate::yaml::{Reader, Scalar, parse};

/// Returns whether a value remains the same string when Flux substitutes it in `key: ${KEY}`.
///
/// kustomize removes the quotes around a reference first: `3` is a number, `yes` a boolean, an empty value is null, and
/// text after ` #` is a comment.
pub(crate) fn is_text_unquoted(value: &str) -> bool {
    // Flux removes line breaks from values.
    let value = value.replace('\n', "");
    let parsed = parse(&File::new("", format!("key: {value}")));
    match (parsed.documents.as_slice(), parsed.findings.as_slice()) {
        ([document], []) => {
            let read = document.node.get("key").and_then(|node| node.resolve(Reader::Kubernetes));
            document.node.entries().len() == 1 && read == Some(Scalar::String(&value))
        }
        _ => false,
    }
}

/// Returns the name in `${NAME}` if the text is exactly one reference.
pub(crate) fn whole_reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_name.then_some(name)
}

/// The values of a key on the clusters that run a tenant.
#[derive(Default)]
struct Met {
    /// The number of clusters that define the key.
    defined: usize,
    /// The number of values that would not be strings.
    typed: usize,
}

/// The clusters that run a tenant, and their keys.
#[derive(Default)]
struct Reach<'a> {
    clusters: usize,
    keys: BTreeMap<&'a str, Met>,
}

/// Sets the runtime-info variables of each tenant from the clusters that run it.
pub(crate) fn variables(tenants: &mut [Tenant], clusters: &[Cluster]) {
    let mut known: Index<&str, Option<bool>> = Index::default();
    let mut reached: Index<&str, Reach<'_>> = Index::default();
    for cluster in clusters {
        let mut here = Vec::with_capacity(cluster.settings.runtime_info.len());
        for (key, value) in &cluster.settings.runtime_info {
            let is_text = *known.entry(value.0.as_str()).get_or_insert_with(|| is_text_unquoted(&value.0));
            here.push((key.0.as_str(), is_text));
        }
        for tenant in &cluster.tenants {
            let reach = reached.entry(tenant);
            reach.clusters += 1;
            for (key, is_text) in &here {
                let met = reach.keys.entry(key).or_default();
                met.defined += 1;
                met.typed += usize::from(!is_text);
            }
        }
    }
    for tenant in tenants {
        let Some(reach) = reached.get(tenant.name.as_str()) else { continue };
        // A variable of the tenant's own Kustomization overrides the variable of the cluster.
        let own = tenant.settings.sync.as_ref().and_then(|sync| sync.variables.as_ref());
        let own = |key: &str| own.and_then(|own| own.iter().find(|(name, _)| name.0 == key)).map(|(_, value)| &value.0);
        let variable = |(key, met): (&&str, &Met)| {
            let variable = match own(key) {
                Some(value) => Variable { everywhere: true, is_text: is_text_unquoted(value) },
                None => Variable { everywhere: met.defined == reach.clusters, is_text: met.typed == 0 },
            };
            ((*key).to_owned(), variable)
        };
        tenant.runtime_info = reach.keys.iter().map(variable).collect();
    }
}
