//! The trace of an object: its appliers on each cluster, and the provenance of its fields.

use super::field::find;
use super::provenance::{Cause, Provenance, leaves};
use crate::base::finding::ObjectRef;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::text::Span;
use crate::yaml::{Name, Node, Path, parse};

/// The trace of an object on the clusters that receive it in the same way.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The object.
    pub object: ObjectRef,
    /// The place of the object.
    pub place: Span,
    /// The applier.
    pub by: ObjectRef,
    /// The state of the applier's build.
    pub state: State,
    /// The clusters whose Flux applies the object, in the order of the repository; empty in a repository without a
    /// root.
    pub clusters: Vec<Name>,
    /// The cluster that receives the object, if another cluster applies it.
    pub target: Option<Name>,
    /// The appliers from the root to the applier of the object.
    pub path: Vec<ObjectRef>,
    /// The object as the API server receives it.
    pub node: Node,
    /// The requested fields, in the order of the object.
    pub fields: Vec<Field>,
}

/// A field with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The path in the object.
    pub path: Path,
    /// The value: a scalar or an empty collection.
    pub node: Node,
    /// The places that determine the value, the decisive place last.
    pub causes: Vec<Cause>,
}

/// Traces an object that several clusters may receive. `at` selects a part of the object; clusters whose object does
/// not have this part are omitted.
pub fn trace(found: &[(&Cluster, Applied<'_>)], at: &Path) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    for (cluster, applied) in found {
        let Some(part) = at.find(&applied.object.node) else { continue };
        let provenance = Provenance::of(cluster, *applied);
        let fields = leaves(part, at);
        let fields = fields.into_iter().map(|(path, node)| {
            let causes = provenance.causes(node);
            Field { path, node: node.clone(), causes }
        });
        let trace = Trace {
            object: applied.object.reference(),
            place: applied.object.node.get("kind").unwrap_or(&applied.object.node).origin.written().clone(),
            by: applied.by.reference.clone(),
            state: applied.by.state.clone(),
            clusters: (!cluster.name.is_empty()).then(|| cluster.name.clone()).into_iter().collect(),
            target: applied.by.target.clone(),
            path: path_to(cluster, applied.by),
            node: applied.object.node.clone(),
            fields: fields.collect(),
        };
        match traces.iter_mut().find(|other| other.says_the_same(&trace)) {
            Some(other) => other.clusters.extend(trace.clusters),
            None => traces.push(trace),
        }
    }
    traces
}

/// The place of a field in the manifest, for a field that the build has removed.
pub fn written_field(applied: Applied<'_>, typed: &str) -> Option<Span> {
    let kind = applied.object.node.get("kind")?;
    let place = kind.origin.written();
    let parsed = parse(place.file());
    let holds = |node: &Node| node.get("kind").is_some_and(|node| node.span() == place && node.text() == kind.text());
    let written = parsed.documents.iter().find(|document| holds(&document.node))?;
    let (path, node) = find(&written.node, typed).ok()?;
    (!path.0.is_empty()).then(|| node.span().clone())
}

impl Trace {
    fn says_the_same(&self, other: &Self) -> bool {
        self.by == other.by
            && self.target == other.target
            && self.path == other.path
            && self.place == other.place
            && self.fields == other.fields
    }
}

/// The appliers from the root to an applier.
fn path_to(cluster: &Cluster, applier: &Applier) -> Vec<ObjectRef> {
    let mut path = vec![applier.reference.clone()];
    let mut at = applier;
    // The path omits the bootstrap: the bootstrap is always the start, and often has the same name as its child.
    let parent_of = |at: &Applier| {
        let parent = at.parent.filter(|parent| *parent < at.at).and_then(|parent| cluster.appliers.get(parent));
        parent.filter(|parent| parent.kind != ApplierKind::Bootstrap)
    };
    while let Some(parent) = parent_of(at) {
        path.push(parent.reference.clone());
        at = parent;
    }
    path.reverse();
    path
}
