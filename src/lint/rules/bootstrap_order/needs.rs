//! Dependencies that must exist before an object: its CRD, its Namespace and its Secrets.

use crate::base::finding::Severity;
use crate::flux::{Applied, AppliedSet, ApplyMode};
use crate::kube::{Object, ObjectId};
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// The text for the CRD of an object in a message.
pub(super) const ITS_DEFINITION: &str = "its CRD";

/// A dependency of an object: a CRD, a Namespace or a Secret that must exist before the object.
pub(super) struct Need<'a> {
    /// The object that has the dependency.
    pub(super) object: Applied<'a>,
    /// The position of the reference to the dependency.
    pub(super) place: Span,
    /// The dependency, as text for a message.
    pub(super) what: String,
    /// Whether the API server rejects the object without the dependency.
    ///
    /// Otherwise, the object is applied but not ready.
    pub(super) refused: bool,
    /// The appliers that apply the dependency.
    pub(super) providers: Vec<usize>,
}

/// The dependencies that neither the applier of the dependent object nor an ancestor of that applier applies.
pub(super) fn needs<'a>(view: &View<'a>, tree: &ApplierTree) -> Vec<Need<'a>> {
    let mut defined: Index<u64, Vec<usize>> = Index::default();
    let mut namespaces: Index<Name, Vec<usize>> = Index::default();
    for (brought, listing) in &view.lists {
        let needs = listing.needs(&brought.objects);
        needs.defined_kinds.iter().for_each(|print| defined.entry(*print).push(brought.by.at));
        needs.namespaces.iter().for_each(|name| namespaces.entry(name.clone()).push(brought.by.at));
    }
    let mut found = Vec::new();
    for (brought, listing) in view.by_flux().filter(|(brought, _)| !brought.by.is_suspended()) {
        let brought: &'a AppliedSet = brought;
        let is_above = |provider: &usize| tree.applies(*provider, brought);
        let mut add = |at: usize,
                       providers: &[usize],
                       exists: &dyn Fn(&'a Object) -> bool,
                       node: &dyn Fn(&'a Object) -> Option<&'a Node>,
                       what: &dyn Fn() -> String| {
            if providers.is_empty() || providers.iter().any(is_above) {
                return;
            }
            let Some(object) = brought.at(at).filter(|object| object.apply_mode() != ApplyMode::Ignored) else {
                return;
            };
            let span = node(object.object).map_or_else(|| object.object.span(), Node::span);
            let (place, providers) = (object.by.place(span), providers.to_vec());
            if !exists(object.object) {
                found.push(Need { object, place, what: what(), refused: true, providers });
            }
        };
        let programs = view.before_flux.programs;
        let needs = listing.needs(&brought.objects);
        for (print, at) in &needs.custom_kinds {
            let providers = defined.get(print).map_or(&[][..], Vec::as_slice);
            let exists = |object: &Object| {
                let group = object.group();
                programs.defines(group) || providers.iter().any(|provider| view.starts_flux(group, *provider))
            };
            add(*at, providers, &exists, &|object| object.node.get("kind"), &|| ITS_DEFINITION.to_owned());
        }
        for (namespace, at) in &listing.namespaces {
            let providers = namespaces.get(namespace).filter(|_| !view.has_namespace_without_applier(namespace));
            let exists = |_: &Object| programs.creates_namespace(namespace);
            let node = |object: &'a Object| object.node.at_keys(&["metadata", "namespace"]);
            add(*at, providers.map_or(&[][..], Vec::as_slice), &exists, &node, &|| format!("namespace `{namespace}`"));
        }
        for (namespace, name, node, at) in &needs.secrets {
            let id = ObjectId { group: "", kind: "Secret", namespace, name };
            let provider = view.maker(id).map(|maker| maker.by.at);
            let Some(object) = brought.at(*at).filter(|_| provider.is_some_and(|provider| !is_above(&provider))) else {
                continue;
            };
            let (place, what) = (object.by.place(node.span()), format!("Secret `{name}`"));
            found.push(Need { object, place, what, refused: false, providers: provider.into_iter().collect() });
        }
    }
    found
}

/// The verb for an object that never becomes ready, as text for a message.
pub(super) fn never(severity: Severity) -> &'static str {
    if severity == Severity::Error { "never becomes ready" } else { "may never become ready" }
}
