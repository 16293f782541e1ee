//! The lookup of ConfigMaps and Secrets of a cluster, and of other clusters to which its Flux applies objects.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::applied_set::AppliedSet;
use super::cluster_index::ClusterIndex;
use crate::base::finding::ObjectRef;
use crate::flux::build::output::Output;
use crate::flux::producer::produced::Produced;
use crate::text::Span;
use crate::yaml::Name;

/// The indexes of a cluster and of other clusters to which its Flux applies objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookups {
    /// The index of the cluster; `None` in a repository without a root, whose objects are not all known.
    index: Option<Arc<ClusterIndex>>,
    /// The indexes of other clusters by name. In a repository without a root, the key `None` is the cluster itself.
    sent: Arc<OnceLock<BTreeMap<Option<Name>, ClusterIndex>>>,
}

impl Lookups {
    /// The lookup of a cluster with a known index.
    pub(crate) fn new(index: ClusterIndex) -> Self {
        Self { index: Some(Arc::new(index)), ..Self::default() }
    }

    /// A ConfigMap or Secret; `None` if it certainly does not exist. If it possibly exists, its content is unknown.
    pub(crate) fn find(
        &self,
        (kind, namespace, name): (&str, &str, &str),
        target: Option<&Name>,
        applied_sets: &[AppliedSet],
        (place, by): (&Span, &ObjectRef),
    ) -> Option<Produced> {
        if let Some(index) = self.index.as_ref().filter(|_| target.is_none()) {
            return index.find(kind, namespace, name);
        }
        let sent = self.sent.get_or_init(|| sent(applied_sets)).get(&target.cloned());
        let found = sent.and_then(|index| index.find(kind, namespace, name));
        found.or_else(|| Some(Produced::unknown(kind, namespace, name, place, by)))
    }
    /// The index in which a Flux object of a cluster finds its sources.
    pub(crate) fn sources(&self, target: Option<&Name>, applied_sets: &[AppliedSet]) -> Option<&ClusterIndex> {
        match self.index.as_ref().filter(|_| target.is_none()) {
            Some(index) => Some(index),
            None => self.sent.get_or_init(|| sent(applied_sets)).get(&target.cloned()),
        }
    }
}

fn sent(applied_sets: &[AppliedSet]) -> BTreeMap<Option<Name>, ClusterIndex> {
    let mut all: BTreeMap<Option<Name>, ClusterIndex> = BTreeMap::new();
    for set in applied_sets {
        let output = match &set.inventory {
            Some(inventory) => Output {
                objects: set.objects.clone(),
                inventory: inventory.clone(),
                ..Output::new(Vec::new(), Vec::new())
            },
            None => Output::new(set.objects.iter().cloned().collect(), Vec::new()),
        };
        let kind = set.by.kind;
        all.entry(set.by.target.clone()).or_default().take(&Arc::new(output), kind);
    }
    all
}
