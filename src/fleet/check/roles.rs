//! Settings without effect, and empty fleets.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::resolve::dependencies::name;
use crate::yaml::Node;

/// The rule id for settings without effect.
const USELESS_SETTING: &str = "useless-setting";
/// The rule id for fleets without clusters or tenants.
const EMPTY_FLEET: &str = "empty-fleet";
/// The settings that confine a tenant to its namespaces.
const CONFINED_ONLY: [&str; 10] = [
    "namespaces",
    "access",
    "quota",
    "limitRange",
    "networkPolicy",
    "podSecurity",
    "annotations",
    "policies",
    "enforceServiceAccount",
    "copyRuntimeInfo",
];

pub(super) fn check(input: &Input, findings: &mut Vec<Finding>) {
    for (what, nodes) in [("clusters", &input.clusters), ("tenants", &input.tenants)] {
        if nodes.is_empty() {
            let at = input.root.entry(what).map(crate::yaml::Entry::key_span);
            let at = at.or_else(|| input.root.get("name").map(|name| name.span().clone()));
            let at = at.unwrap_or_else(|| input.root.span().clone());
            let help = format!("add one below `{what}:`, or include files with `include: {{{what}: […]}}`");
            findings.push(Finding::warning(EMPTY_FLEET, at, format!("the fleet has no {what}")).help(help));
        }
    }
    for tenant in &input.tenants {
        if tenant.get("role").and_then(Node::text) != Some("platform") {
            continue;
        }
        let tenant_name = name(tenant).unwrap_or_default();
        let confined = |entry: &&crate::yaml::Entry| CONFINED_ONLY.contains(&&*entry.key) && !entry.node.is_null();
        for entry in tenant.entries().iter().filter(confined) {
            let message =
                format!("`{}` has no effect on `{tenant_name}`: a platform tenant is not confined", entry.key);
            findings.push(useless(entry, message));
        }
        for component in tenant.get("components").map(Node::items).unwrap_or_default() {
            if let Some(entry) = component.entry("namespace").filter(|entry| !entry.node.is_null()) {
                let message = "`namespace` has no effect: components of a platform tenant run in the namespace of Flux";
                findings.push(useless(entry, message.into()));
            }
        }
    }
}

fn useless(entry: &crate::yaml::Entry, message: String) -> Finding {
    Finding::warning(USELESS_SETTING, entry.key_span(), message).help("remove it, or set `role: tenant` for the tenant")
}
