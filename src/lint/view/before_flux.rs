//! The objects that exist on a cluster before Flux starts.

use super::View;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::facts::identity_hash::kind_hash;
use crate::lint::facts::inputs::Input;

impl View<'_> {
    /// Returns whether another program of the repository may create an object before Flux starts.
    pub(in crate::lint) fn may_exist_before_flux(&self, Applied { object, by, .. }: Applied<'_>) -> bool {
        let programs = self.before_flux.programs;
        match (object.group(), object.kind()) {
            ("", kind @ ("Secret" | "ConfigMap")) => {
                programs.creator("", kind, object.name()).is_some()
                    || programs.names_file(object.node.origin.written().file().path(), object.name())
            }
            ("", "Namespace") => programs.creates_namespace(object.name()),
            (_, "CustomResourceDefinition") => {
                let group = object.text_at(&["spec", "group"]);
                group.is_some_and(|group| programs.defines(group) || self.starts_flux(group, by.at))
            }
            _ => false,
        }
    }

    /// Returns whether the CRDs of a group that an applier applies exist before Flux starts. Flux does not start without
    /// the CRDs of Kustomizations and sources. The manifest that contains them also contains the other CRDs of Flux.
    pub(in crate::lint) fn starts_flux(&self, group: &str, applier: usize) -> bool {
        let installs_flux = || {
            let kustomization = kind_hash(groups::KUSTOMIZE, "Kustomization");
            self.lists
                .iter()
                .filter(|(brought, _)| brought.by.at == applier)
                .any(|(brought, listing)| listing.needs(&brought.objects).defined_kinds.contains(&kustomization))
        };
        self.receiver.target.is_none()
            && (matches!(group, groups::KUSTOMIZE | groups::SOURCE) || groups::is_toolkit(group) && installs_flux())
    }

    /// Returns whether another program of the repository may create an input before Flux starts.
    pub(in crate::lint) fn is_input_before_flux(&self, Input { target, thing, .. }: &Input<'_>) -> bool {
        self.may_exist_before_flux(*thing)
            || target.group.is_empty() && self.before_flux.programs.creator("", target.kind, target.name).is_some()
    }
}
