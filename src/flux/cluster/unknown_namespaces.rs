//! Objects that a cluster may have although their manifests are unknown.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::output::Output;
use crate::flux::source::reference::SourceRef;
use crate::flux::unknown::fleet_identity::FleetIdentity;
use crate::flux::unknown::unknown_producer::UnknownProducer;
use crate::yaml::{Name, Node};

/// The namespaces that may contain unknown objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnknownNamespaces {
    /// Whether an unknown object may exist in any namespace.
    anything: bool,
    /// The target namespaces of appliers with unknown objects.
    namespaces: BTreeSet<Name>,
    /// The namespaces in which charts create objects.
    charts: BTreeSet<Name>,
    /// Whether a webhook adds variables to Kustomizations.
    injects_variables: bool,
    /// The missing sources, with the `targetNamespace` of the Kustomizations that use them.
    sourceless: BTreeSet<(SourceRef, Option<Name>)>,
}

impl UnknownNamespaces {
    /// Records the output of an applier.
    pub(crate) fn take(&mut self, spec: &Arc<ApplierSpec>, output: &Output) {
        if spec.target.is_some() {
            return;
        }
        self.charts.extend(output.inventory.charts().iter().cloned());
        self.injects_variables |= output.inventory.injects_variables();
        self.anything |= !output.facts.unidentified.is_empty();
        for base in &output.facts.unread {
            if !UnknownProducer::of_base(base, &FleetIdentity::default()).may_create_anything() {
                continue;
            }
            match &base.namespace {
                Some(namespace) => drop(self.namespaces.insert(namespace.clone())),
                None => self.anything = true,
            }
        }
        if output.is_known() {
            return;
        }
        let target = spec.object.node.at_keys(&["spec", "targetNamespace"]).and_then(Node::shared_text);
        let target = target.filter(|name| !name.is_empty());
        match (&output.without, target) {
            (Some(source), target) => drop(self.sourceless.insert(((**source).clone(), target))),
            (None, Some(target)) => drop(self.namespaces.insert(target)),
            (None, None) => self.anything = true,
        }
    }

    /// Returns whether a webhook may add variables to Kustomizations.
    pub(crate) fn injects_variables(&self) -> bool {
        self.injects_variables
    }

    /// Returns whether a namespace may contain an unknown object.
    pub(crate) fn may_bring(&self, namespace: &str) -> bool {
        // Only a chart can create a missing source. If no chart does, Kustomizations that use the source apply nothing.
        let may_exist = |(source, target): &(SourceRef, Option<Name>)| {
            let goes_there = target.as_deref().is_none_or(|target| target == namespace);
            goes_there && self.charts.contains(&source.namespace)
        };
        self.anything
            || self.namespaces.contains(namespace)
            || self.charts.contains(namespace)
            || self.sourceless.iter().any(may_exist)
    }
}
