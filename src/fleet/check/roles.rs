//! Settings without effect, and empty fleets.

use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::fleet::merge::crossing::Parts;
use crate::fleet::merge::levels::{Merged, MergedTenant};
use crate::fleet::resolve::dependencies::name;
use crate::yaml::{Entry, Node};

/// The rule id for settings without effect.
pub(super) const USELESS_SETTING: &str = "useless-setting";
/// The rule id for fleets without clusters or tenants.
const EMPTY_FLEET: &str = "empty-fleet";

pub(super) fn check(input: &Input, merged: &Merged, layout: Option<&Layout>, findings: &mut Vec<Finding>) {
    for (what, nodes) in [("clusters", &input.clusters), ("tenants", &input.tenants)] {
        if nodes.is_empty() {
            let at = input.root.entry(what).map(Entry::key_span);
            let at = at.or_else(|| input.root.get("name").map(|name| name.span().clone()));
            let at = at.unwrap_or_else(|| input.root.span().clone());
            let help = format!("add one below `{what}:`, or include files with `include: {{{what}: […]}}`");
            findings.push(Finding::warning(EMPTY_FLEET, at, format!("the fleet has no {what}")).help(help));
        }
    }
    for component in input.tenants.iter().flat_map(|tenant| items(tenant, "components")) {
        target_of_several(component, findings);
    }
    if let Some(layout) = layout {
        Ignored { layout, findings }.check(input, merged);
    }
}

/// Reports `targetNamespace` of components with several namespaces.
fn target_of_several(component: &Node, findings: &mut Vec<Finding>) {
    let Some(first) = items(component, "namespaces").first() else { return };
    for node in std::iter::once(component).chain(items(component, "stages")) {
        let Some(entry) = node.entry("targetNamespace").filter(|entry| entry.node.text() == Some("true")) else {
            continue;
        };
        let message = "`targetNamespace` has no effect on a component with several namespaces";
        let help = "remove it, and set `metadata.namespace` in the manifests";
        let finding = Finding::warning(USELESS_SETTING, entry.key_span(), message).help(help);
        findings.push(finding.related(first.span().clone(), "a further namespace"));
    }
}

/// The settings that the layout lists as `ignored`.
struct Ignored<'a> {
    layout: &'a Layout,
    findings: &'a mut Vec<Finding>,
}

impl Ignored<'_> {
    fn check(&mut self, input: &Input, merged: &Merged) {
        let environments = input.root.get("environments").map(Node::entries).unwrap_or_default();
        let shared = input.root.at_keys(&["defaults", "cluster"]).into_iter();
        let parts = Parts::of(&merged.tenants);
        for level in shared.chain(environments.iter().map(|entry| &entry.node)).chain(&input.clusters) {
            self.report(level, &["cluster"], "clusters");
            self.crossings(level, &parts, merged);
        }
        for (tenant, merged) in input.tenants.iter().zip(&merged.tenants) {
            let (role, of_components) = levels(merged);
            let subject = format!("`{}`, a {role} tenant,", name(tenant).unwrap_or_default());
            self.report(tenant, &["tenant", role], &subject);
            for source in tenant.get("source").into_iter().chain(items(tenant, "sources")) {
                self.report(source, &["source"], "sources");
            }
            let subject = format!("the components of `{}`, a {role} tenant,", name(tenant).unwrap_or_default());
            for component in items(tenant, "components") {
                for node in std::iter::once(component).chain(items(component, "stages")) {
                    self.report(node, &["component", of_components], &subject);
                }
            }
        }
    }

    /// Checks the settings of components on a cluster or in an environment.
    fn crossings(&mut self, level: &Node, parts: &Parts<'_>, merged: &Merged) {
        for entry in level.get("components").map(Node::entries).unwrap_or_default() {
            let part = parts.find(&entry.key).and_then(|part| part.of(&merged.tenants));
            let Some((tenant, _, _)) = part else { continue };
            let (role, of_components) = levels(tenant);
            let subject = format!("the components of `{}`, a {role} tenant,", name(&tenant.node).unwrap_or_default());
            self.report(&entry.node, &["component", of_components], &subject);
            if let Some(source) = entry.node.get("source") {
                self.report(source, &["source"], "sources");
            }
        }
    }

    fn report(&mut self, node: &Node, levels: &[&str], subject: &str) {
        for level in levels {
            for ignored in self.layout.manifest.at_keys(&["ignored", level]).map(Node::items).unwrap_or_default() {
                let Some(path) = ignored.text() else { continue };
                let keys: Vec<&str> = path.split('.').collect();
                let Some((last, above)) = keys.split_last() else { continue };
                let owner = if above.is_empty() { Some(node) } else { node.at_keys(above) };
                let Some(entry) = owner.and_then(|owner| owner.entry(last)) else { continue };
                if entry.node.is_null() {
                    continue;
                }
                let message = format!("`{path}` has no effect on {subject} in layout `{}`", self.layout.name);
                self.findings.push(Finding::warning(USELESS_SETTING, entry.key_span(), message).help("remove it"));
            }
        }
    }
}

/// Returns the levels of the settings of a tenant and of its components.
fn levels(tenant: &MergedTenant) -> (&'static str, &'static str) {
    let is_platform = tenant.node.get("role").and_then(Node::text) == Some("platform");
    if is_platform { ("platform", "platformComponent") } else { ("confined", "confinedComponent") }
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}
