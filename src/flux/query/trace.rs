//! An object on its way to clusters: who applies it where, and which places gave each field its value.

use super::field::find;
use super::provenance::{Cause, Provenance, leaves};
use crate::base::finding::ObjectRef;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::text::Span;
use crate::yaml::{Name, Node, Path, parse};

/// What is said of an object on the clusters that receive it in one and the same way.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The object.
    pub object: ObjectRef,
    /// The first place of the object.
    pub place: Span,
    /// Who applies it.
    pub by: ObjectRef,
    /// How the build of that went.
    pub state: State,
    /// The clusters whose Flux applies it, in the order of the repository; empty in a repository without a root.
    pub clusters: Vec<Name>,
    /// The other cluster that it is applied to.
    pub target: Option<Name>,
    /// Who brings whom, from the root to the one that applies it.
    pub path: Vec<ObjectRef>,
    /// The object as it reaches the API server.
    pub node: Node,
    /// The fields that were asked for, in the order of the object.
    pub fields: Vec<Field>,
}

/// A field and the places that gave it its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where it stands in the object.
    pub path: Path,
    /// Its value: a scalar or an empty collection.
    pub node: Node,
    /// The places, the deciding one last.
    pub causes: Vec<Cause>,
}

/// Traces an object that several clusters may receive; `at` narrows the fields to those of a part of it, and a cluster
/// whose object has no such part is left out.
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

/// The place of a field that an object had where it was first written: what is not there any more was taken out.
pub fn written_field(applied: Applied<'_>, typed: &str) -> Option<Span> {
    let kind = applied.object.node.get("kind")?;
    let place = kind.origin.written();
    let parsed = parse(place.file());
    let holds = |node: &Node| node.get("kind").is_some_and(|said| said.span() == place && said.text() == kind.text());
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

/// Who brings whom, from the root to an applier.
fn path_to(cluster: &Cluster, applier: &Applier) -> Vec<ObjectRef> {
    let mut path = vec![applier.reference.clone()];
    let mut at = applier;
    // What somebody installed by hand is where it begins, and mostly goes by the name of what follows.
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
