//! One JSON document with the provenance of each field; its schema is `schemas/build.schema.json`.

use std::cell::RefCell;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::delivery::{Delivery, Secrets, shown};
use crate::flux::{Applied, Cluster, Provenance, leaves};
use crate::report::mask::Masks;
use crate::report::provenance::{JsonApplier, JsonField, JsonReference, schema_of};
use crate::yaml::{Path, Reader, to_json};

/// The version of the document's shape; a change that a reader could trip over raises it.
const VERSION: u32 = 1;

/// What `fleetwright build --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "What clusters receive", deny_unknown_fields)]
struct Document<'a> {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// Who receives objects: the clusters, each followed by those that it applies to by `kubeConfig`.
    clusters: Vec<JsonCluster<'a>>,
}

/// A cluster that receives objects.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cluster", deny_unknown_fields)]
struct JsonCluster<'a> {
    /// Its name; empty in a repository without a root.
    name: String,
    /// The cluster whose Flux applies, when that is another one; null otherwise.
    applied_from: Option<String>,
    /// Who applies objects to it, each after the one that brings it.
    appliers: Vec<JsonGroup<'a>>,
}

/// What one applier brings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Group", deny_unknown_fields)]
struct JsonGroup<'a> {
    /// Who applies.
    applier: JsonApplier,
    /// What, in the order of the build.
    #[schemars(with = "Vec<JsonObject>")]
    objects: Objects<'a>,
}

/// An object and where each of its fields comes from.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Object", deny_unknown_fields)]
struct JsonObject {
    /// Its identity.
    id: JsonReference,
    /// The object as it reaches the API server; the values of Secrets are masked.
    object: serde_json::Value,
    /// Its fields, in their order.
    fields: Vec<JsonField>,
}

/// Objects that are described one by one while they are written: all of them at once would fill the memory.
struct Objects<'a> {
    cluster: &'a Cluster,
    list: &'a [Applied<'a>],
    secrets: Secrets,
    masks: &'a RefCell<Masks>,
}

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.list.iter().map(|applied| self.describe(*applied)))
    }
}

impl Objects<'_> {
    fn describe(&self, applied: Applied<'_>) -> JsonObject {
        let provenance = Provenance::of(self.cluster, applied);
        let node = &applied.object.node;
        let fields = leaves(node, &Path::default());
        JsonObject {
            id: (&applied.object.reference()).into(),
            object: to_json(&shown(node, self.secrets, &mut self.masks.borrow_mut()), Reader::Kustomize),
            fields: fields.iter().map(|(path, node)| JsonField::new(path, node, &provenance.causes(node))).collect(),
        }
    }
}

pub(super) fn write(deliveries: &[Delivery<'_>], secrets: Secrets, out: &mut dyn Write) -> io::Result<()> {
    let masks = RefCell::default();
    let clusters = deliveries.iter().map(|Delivery { receiver, groups }| JsonCluster {
        name: receiver.to_string(),
        applied_from: receiver.target.as_ref().map(|_| receiver.cluster.name.to_string()),
        appliers: groups
            .iter()
            .map(|group| JsonGroup {
                applier: (&**group.applier).into(),
                objects: Objects { cluster: receiver.cluster, list: &group.objects, secrets, masks: &masks },
            })
            .collect(),
    });
    let document = Document { version: VERSION, clusters: clusters.collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document<'_>>()
}
