//! The values that a template reads. Scopes with equal values render equal texts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr};

use super::record::Record;

/// A variable of a template, or a field of its cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Read {
    /// `repository`.
    Repository,
    /// `environment`.
    Environment,
    /// The whole `cluster`.
    Cluster,
    /// A field of `cluster`. Clusters differ in some fields only, and most templates read others.
    ClusterField(Arc<str>),
    /// `tenant`.
    Tenant,
    /// `component`.
    Component,
    /// `stage`.
    Stage,
    /// `namespace`.
    Namespace,
    /// `source`.
    Source,
    /// `siblings`.
    Siblings,
}

/// The values that a rendering read.
#[derive(Debug, Default)]
pub(super) struct Reads(Mutex<BTreeSet<Read>>);

impl Reads {
    /// Records a value.
    pub(super) fn add(&self, read: Read) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(read);
    }

    /// Returns the recorded values, sorted.
    pub(super) fn all(&self) -> Vec<Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// A cluster in a template. Records the fields that the template reads.
#[derive(Debug)]
pub(super) struct ReadCluster {
    /// The cluster.
    pub record: Arc<Record>,
    /// The values that the template reads.
    pub reads: Arc<Reads>,
}

impl ReadCluster {
    fn add(&self, field: &str) {
        self.reads.add(Read::ClusterField(field.into()));
    }
}

impl Object for ReadCluster {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        self.record.repr()
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.add(key.as_str()?);
        self.record.get_value(key)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.add(key);
        self.record.get_value_by_str(key)
    }

    /// Implements `for field in cluster`, and conversions and comparisons of the whole cluster.
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.reads.add(Read::Cluster);
        self.record.enumerate()
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.reads.add(Read::Cluster);
        self.record.enumerator_len()
    }

    /// Implements `if cluster`. A cluster always has a name.
    fn is_true(self: &Arc<Self>) -> bool {
        true
    }
}
