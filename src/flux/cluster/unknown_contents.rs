//! What a cluster may have although no manifest that is known brings it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::flux::build::applier_spec::Asks;
use crate::flux::build::output::Output;
use crate::flux::source::reference::SourceRef;
use crate::yaml::Name;

/// Who brings what is not known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doubts {
    /// Whether something may bring anything anywhere.
    anything: bool,
    /// The namespaces that appliers bring something unknown to.
    namespaces: BTreeSet<Name>,
    /// The namespaces that charts bring something to.
    charts: BTreeSet<Name>,
    /// The sources that are not there, and the only namespace that what is built from them goes to.
    sourceless: BTreeSet<(SourceRef, Option<Name>)>,
}

impl Doubts {
    /// Takes what an applier brings.
    pub(crate) fn take(&mut self, asks: &Arc<Asks>, output: &Output) {
        if asks.target.is_some() {
            return;
        }
        self.charts.extend(output.inventory.charts().iter().cloned());
        if output.is_known() {
            return;
        }
        let target = asks.object.text_at(&["spec", "targetNamespace"]).filter(|name| !name.is_empty()).map(Name::from);
        match (&output.without, target) {
            (Some(source), target) => drop(self.sourceless.insert((source.clone(), target))),
            (None, Some(target)) => drop(self.namespaces.insert(target)),
            (None, None) => self.anything = true,
        }
    }

    /// Tells whether something that is not known may bring an object of a namespace.
    pub(crate) fn may_bring(&self, namespace: &str) -> bool {
        // From a source that is certainly not there nothing is built.
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
