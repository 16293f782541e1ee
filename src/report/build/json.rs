//! JSON output of objects with the provenance of each field, with the schema `schemas/build.schema.json`.

use std::cell::RefCell;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::delivery::{Delivery, Secrets, for_display};
use crate::flux::{Applied, Cluster, Provenance, leaves};
use crate::report::mask::Masks;
use crate::report::provenance::{JsonApplier, JsonField, JsonReference, schema_of};
use crate::yaml::{Path, Reader, to_json};

/// The version of the document format; an incompatible change increments it.
const VERSION: u32 = 1;

/// The output of `fleetwright build --format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Objects of clusters", deny_unknown_fields)]
struct Document<'a> {
    /// The version of the document format.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// The clusters, each followed by the remote clusters that it applies to with `kubeConfig`.
    clusters: Vec<JsonCluster<'a>>,
}

/// A cluster that receives objects.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cluster", deny_unknown_fields)]
struct JsonCluster<'a> {
    /// The name of the cluster; empty in a repository without a root.
    name: String,
    /// The cluster whose Flux applies the objects, if it is another one; null otherwise.
    applied_from: Option<String>,
    /// The appliers, each after the applier that creates it.
    appliers: Vec<JsonGroup<'a>>,
}

/// An applier and its objects.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Group", deny_unknown_fields)]
struct JsonGroup<'a> {
    /// The applier.
    applier: JsonApplier,
    /// The objects, in build order.
    #[schemars(with = "Vec<JsonObject>")]
    objects: Objects<'a>,
}

/// An object with the provenance of its fields.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Object", deny_unknown_fields)]
struct JsonObject {
    /// The identity of the object.
    id: JsonReference,
    /// The object as Flux applies it; the values of Secrets are masked.
    object: serde_json::Value,
    /// The fields, in the order of the object.
    fields: Vec<JsonField>,
}

/// Objects that are serialized one by one: the documents of all objects would need too much memory.
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
            object: to_json(&for_display(node, self.secrets, &mut self.masks.borrow_mut()), Reader::Kustomize),
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

/// Returns the JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document<'_>>()
}
