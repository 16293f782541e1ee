//! The keys of the ConfigMaps and Secrets of a cluster.

use std::collections::BTreeSet;

use crate::flux::ApplyMode;
use crate::kube::{Object, ObjectId};
use crate::lint::fields::text_of;
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// The keys of an object.
pub(crate) struct Keys {
    /// The keys in the order of their names.
    pub(crate) names: BTreeSet<Name>,
    /// The type of a Secret, if it is set.
    pub(crate) kind: Option<String>,
    /// The position of the object, or of the object from which a controller creates it.
    pub(crate) place: Span,
}

impl Keys {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.names.contains(key)
    }

    /// The keys as text for a message.
    pub(crate) fn listed(&self) -> String {
        self.names.iter().map(|name| &**name).collect::<Vec<_>>().join("`, `")
    }
}

/// The keys of a ConfigMap or Secret of a cluster; `None` if the object may have further keys.
pub(crate) fn known_keys(view: &View<'_>, id: ObjectId<'_>) -> Option<Keys> {
    let received = view.get(id);
    // Another program may add keys.
    if received.is_some_and(|received| received.apply_mode() != ApplyMode::Applied || is_filled(received.object)) {
        return None;
    }
    let known = |kind: &str, namespace: &str, name: &str| view.config_object(kind, namespace, name);
    let found = view.producers().find(id.kind, id.namespace, id.name, &known)?;
    if found.open || found.has_computed_name {
        return None;
    }
    let maker = found.by.as_ref().filter(|_| received.is_none());
    let maker = maker.and_then(|by| view.find(by.group(), &by.kind, by.namespace.as_deref()?, &by.name));
    if maker.is_some_and(|maker| adds_keys(maker.object)) {
        return None;
    }
    // Kubernetes merges `stringData` into the `data` of a Secret.
    let fields = ["data", "stringData", "binaryData"];
    let entries = fields.iter().flat_map(|field| found.object.node.get(field).map_or(&[][..], Node::entries));
    let names: BTreeSet<Name> = entries.map(|entry| entry.key.clone()).collect();
    let kind = text_of(&found.object.node, "type").map(str::to_owned);
    let is_open = names.iter().any(|name| name.contains('$'));
    // The token controller adds the keys of this type.
    let is_completed = kind.as_deref() == Some("kubernetes.io/service-account-token");
    let place = match (&received, &maker) {
        (Some(received), _) => received.by.place(received.object.span()),
        (None, Some(maker)) => maker.by.place(maker.object.span()),
        (None, None) => found.object.span().clone(),
    };
    (!is_open && !is_completed).then_some(Keys { names, kind, place })
}

/// Returns whether Flux needs a Secret of the cluster before it can apply the Secret: it reads the source of the Secret's manifest
/// with it. Another program, such as `flux bootstrap`, then creates the Secret with keys of its own.
pub(crate) fn is_needed_for_itself(view: &View<'_>, secret: ObjectId<'_>) -> bool {
    let Some(received) = view.get(secret) else { return false };
    let appliers = std::iter::successors(Some(received.by), |applier| applier.parent_applier.as_ref());
    appliers.filter_map(|applier| applier.source.as_ref()).any(|source| {
        let namespace = source.namespace.as_deref().unwrap_or_default();
        let found = view.find(source.group(), &source.kind, namespace, &source.name);
        let name = found.and_then(|source| source.object.text_at(&["spec", "secretRef", "name"]));
        namespace == secret.namespace && name == Some(secret.name)
    })
}

/// The annotations with which a controller adds keys to an object.
const FILLS: [&str; 2] = ["secret-generator.v1.mittwald.de/autogenerate", "replicator.v1.mittwald.de/replicate-from"];

/// Returns whether a controller adds keys to an object.
pub(crate) fn is_filled(object: &Object) -> bool {
    let annotations = object.node.at_keys(&["metadata", "annotations"]);
    annotations.is_some_and(|annotations| FILLS.iter().any(|name| annotations.get(name).is_some()))
}

/// Returns whether an object of External Secrets only adds its keys to an object that another program creates.
fn adds_keys(maker: &Object) -> bool {
    let policy = |keys: &[&str]| maker.text_at(keys) == Some("Merge");
    policy(&["spec", "target", "creationPolicy"]) || policy(&["spec", "externalSecretSpec", "target", "creationPolicy"])
}
