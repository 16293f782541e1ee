//! What rules look `ConfigMaps` and Secrets of a cluster up in.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::applied_set::Brought;
use super::cluster_index::Received;
use crate::base::finding::ObjectRef;
use crate::flux::build::output::Output;
use crate::flux::producer::produced::Produced;
use crate::text::Span;
use crate::yaml::Name;

/// What a cluster has, by name, and what it sends to others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookups {
    /// What it has itself; `None` where nobody knows all of it, since no root is known.
    received: Option<Arc<Received>>,
    /// What others get from it, by their names, and a cluster without a root from its folders.
    sent: Arc<OnceLock<BTreeMap<Option<Name>, Received>>>,
}

impl Lookups {
    /// Those of a cluster of which everything is known.
    pub(crate) fn new(received: Received) -> Self {
        Self { received: Some(Arc::new(received)), ..Self::default() }
    }

    /// A ConfigMap or Secret; `None` when it is certain that there is none. What may be there is unknown, at a place.
    pub(crate) fn find(
        &self,
        (kind, namespace, name): (&str, &str, &str),
        target: Option<&Name>,
        brought: &[Brought],
        (place, by): (&Span, &ObjectRef),
    ) -> Option<Produced> {
        if let Some(received) = self.received.as_ref().filter(|_| target.is_none()) {
            return received.find(kind, namespace, name);
        }
        let sent = self.sent.get_or_init(|| sent(brought)).get(&target.cloned());
        let found = sent.and_then(|received| received.find(kind, namespace, name));
        found.or_else(|| Some(Produced::unknown(kind, namespace, name, place, by)))
    }
}

fn sent(brought: &[Brought]) -> BTreeMap<Option<Name>, Received> {
    let mut all: BTreeMap<Option<Name>, Received> = BTreeMap::new();
    for brought in brought {
        let output = match &brought.inventory {
            Some(inventory) => Output {
                objects: brought.objects.clone(),
                inventory: inventory.clone(),
                ..Output::new(Vec::new(), Vec::new())
            },
            None => Output::new(brought.objects.iter().cloned().collect(), Vec::new()),
        };
        let kind = brought.by.kind;
        all.entry(brought.by.target.clone()).or_default().take(&Arc::new(output), kind);
    }
    all
}
