//! ResourceSets that wait for CRDs that the FluxInstance does not install.

use super::needs::never;
use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{CONTROLLERS, DEFAULT_CONTROLLERS};
use crate::kube::{ObjectId, groups};
use crate::lint::view::View;
use crate::yaml::{Entry, Node};

/// Returns the findings for ResourceSets that wait for CRDs that the FluxInstance does not install.
pub(super) fn absent_definitions(rule: &'static str, view: &View<'_>) -> Vec<Finding> {
    let mut sets = view.of_kind(groups::FLUX_OPERATOR, "ResourceSet").peekable();
    if sets.peek().is_none() {
        return Vec::new();
    }
    let mut instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    let (Some(instance), None) = (instances.next(), instances.next()) else { return Vec::new() };
    let spec = instance.object.node.get("spec");
    let entry = spec.and_then(|spec| spec.entry("components")).filter(|entry| !entry.node.items().is_empty());
    let listed = entry.map(|entry| &entry.node);
    let installs = |controller: &str| match listed {
        Some(list) => list.items().iter().any(|item| item.text() == Some(controller)),
        None => DEFAULT_CONTROLLERS.contains(&controller),
    };
    let mut findings = Vec::new();
    for set in sets {
        let depends = set.object.node.at_keys(&["spec", "dependsOn"]).map_or(&[][..], Node::items);
        for item in
            depends.iter().filter(|item| item.get("kind").and_then(Node::text) == Some("CustomResourceDefinition"))
        {
            let Some(node) = item.get("name") else { continue };
            let name = node.text().unwrap_or_default();
            let Some(controller) = controller_of(name).filter(|controller| !installs(controller)) else { continue };
            if view.find("apiextensions.k8s.io", "CustomResourceDefinition", "", name).is_some() {
                continue;
            }
            let place = set.by.place(node.span());
            let id = ObjectId { group: "apiextensions.k8s.io", kind: "CustomResourceDefinition", namespace: "", name };
            let group = name.split_once('.').map_or("", |(_, group)| group);
            let may_exist = view.unknown_sources().of(id).next().is_some() || view.before_flux.programs.defines(group);
            let severity = if may_exist { Severity::Warning } else { Severity::Error };
            let message = format!(
                "{} {}: it waits for CRD `{name}`, which is not installed",
                set.object.reference(),
                never(severity)
            );
            let help = format!(
                "add `{controller}` to `spec.components` of {}, so that Flux Operator installs the CRD",
                instance.object.reference()
            );
            let list = entry.map_or_else(|| instance.object.span().clone(), Entry::key_span);
            let finding = Finding::warning(rule, Label::new(place, "not installed"), message)
                .related(instance.by.place(&list), format!("`{controller}` is not a component of this FluxInstance"))
                .help(help)
                .about(set.object.reference());
            findings.push(Finding { severity, ..finding });
        }
    }
    findings
}

/// The Flux controller that is installed together with a CRD.
fn controller_of(name: &str) -> Option<&'static str> {
    let (plural, group) = name.split_once('.')?;
    let controller = match (group, plural) {
        (groups::IMAGE, "imageupdateautomations") => "image-automation-controller",
        (groups::IMAGE, _) => "image-reflector-controller",
        (groups::SOURCE_EXTENSIONS, _) => "source-watcher",
        _ => {
            let stem = group.strip_suffix(groups::TOOLKIT)?;
            return CONTROLLERS.into_iter().find(|controller| controller.strip_suffix("-controller") == Some(stem));
        }
    };
    Some(controller)
}
