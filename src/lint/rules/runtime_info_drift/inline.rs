//! The variables of `spec.postBuild.substitute` that no object of the Kustomization reads.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::flux::ApplierKind;
use crate::kube::Object;
use crate::lint::fleet::Fleet;
use crate::lint::rule::pedantic;
use crate::text::Span;
use crate::yaml::{Entry, Node};

/// The file and the offset of a variable.
type Position = (String, usize);

/// The findings of the variables that no object reads.
pub(super) fn unread_variables(rule: &'static str, fleet: &Fleet<'_>) -> Vec<Finding> {
    // Several Kustomizations may have one definition, and one reader is sufficient for all of them.
    let mut all: BTreeMap<Position, Option<Finding>> = BTreeMap::new();
    for view in fleet.views.iter().filter(|view| view.is_whole()) {
        let cluster: ArcStr = view.receiver.to_string().into();
        for set in view.applied_sets().filter(|set| set.by.kind == ApplierKind::Kustomization) {
            let Some(object) = &set.by.object else { continue };
            for entry in variables(object) {
                let place = set.by.place(&entry.key_span());
                let position = (place.file().path().to_owned(), place.range().start);
                if !set.is_complete() || set.reads().binary_search(&entry.key).is_ok() {
                    all.insert(position, None);
                } else if let Some(found) =
                    all.entry(position).or_insert_with(|| Some(unread(rule, object, &entry.key, place)))
                    && found.clusters.last() != Some(&cluster)
                {
                    found.clusters.push(cluster.clone());
                }
            }
        }
    }
    all.into_values().flatten().collect()
}

fn variables(object: &Object) -> &[Entry] {
    object.node.at_keys(&["spec", "postBuild", "substitute"]).map_or(&[], Node::entries)
}

fn unread(rule: &'static str, object: &Object, key: &str, place: Span) -> Finding {
    let reference = object.reference();
    let message = format!("no object of {reference} reads variable `{key}`");
    pedantic(rule, place, message)
        .help("remove the variable, or correct its name in the object that should read it")
        .about(reference)
        .caused_by("inline", "no object reads ", " variables of `postBuild.substitute`")
}
