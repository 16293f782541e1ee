//! Variables of the clusters, as Flux substitutes them: text for text, before the result is read as YAML.

use std::collections::BTreeMap;

use super::fleet::{Cluster, Tenant, Variable};
use crate::text::{File, Index};
use crate::yaml::{Reader, Scalar, parse};

/// Tells whether a value is this very text where Flux puts it in place of `key: ${KEY}`.
///
/// The quotes around a reference are gone by then: `3` is a number, `yes` a boolean, nothing is null, and what follows
/// ` #` is a comment.
pub(crate) fn is_text_unquoted(value: &str) -> bool {
    // Flux takes line breaks out of values.
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

/// The name in `${NAME}`, where that is all of a text.
pub(crate) fn whole_reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_name.then_some(name)
}

/// What is known of one key on the clusters that run a tenant.
#[derive(Default)]
struct Met {
    /// How many of them have it.
    defined: usize,
    /// How many of its values would be no text.
    typed: usize,
}

/// The clusters that run a tenant, and the keys that they have.
#[derive(Default)]
struct Reach<'a> {
    clusters: usize,
    keys: BTreeMap<&'a str, Met>,
}

/// Tells each tenant what runtime-info holds on the clusters that run it.
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
        // A variable of the tenant's own Kustomization goes before that of the cluster.
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
