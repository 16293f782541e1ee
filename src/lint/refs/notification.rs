//! The references of notifications: the Provider and the event sources of an Alert, and the Secrets of a Provider.

use super::reference::Reference;
use crate::kube::{Object, groups};
use crate::lint::fields::{known_text, text_of};
use crate::yaml::Node;

/// The kinds of event sources, with their groups. Flux compares the kind and ignores `apiVersion`.
const EVENT_SOURCES: [(&str, &str); 15] = [
    ("ArtifactGenerator", groups::SOURCE_EXTENSIONS),
    ("Bucket", groups::SOURCE),
    ("ExternalArtifact", groups::SOURCE),
    ("FluxInstance", groups::FLUX_OPERATOR),
    ("GitRepository", groups::SOURCE),
    ("HelmChart", groups::SOURCE),
    ("HelmRelease", groups::HELM),
    ("HelmRepository", groups::SOURCE),
    ("ImagePolicy", groups::IMAGE),
    ("ImageRepository", groups::IMAGE),
    ("ImageUpdateAutomation", groups::IMAGE),
    ("Kustomization", groups::KUSTOMIZE),
    ("OCIRepository", groups::SOURCE),
    ("ResourceSet", groups::FLUX_OPERATOR),
    ("ResourceSetInputProvider", groups::FLUX_OPERATOR),
];

/// The fields of a Provider that reference a Secret.
const SECRETS: [&str; 3] = ["secretRef", "proxySecretRef", "certSecretRef"];

/// The Provider of an Alert, which is always in the namespace of the Alert.
pub(crate) fn provider_of(alert: &Object) -> Option<Reference<'_>> {
    let node = of_kind(alert, "Alert")?.node.at_keys(&["spec", "providerRef"])?;
    Reference::local(node, groups::NOTIFICATION, "Provider", alert.namespace())
}

/// The objects whose events an Alert forwards, without the objects that it selects with `name: "*"`, and without entries that
/// match no namespace.
pub(crate) fn event_sources(alert: &Object) -> impl Iterator<Item = Reference<'_>> {
    entries(alert).iter().filter(|item| namespace_pattern(item).is_none()).filter_map(|item| {
        let kind = text_of(item, "kind")?;
        let (_, group) = EVENT_SOURCES.iter().find(|(known, _)| *known == kind)?;
        Reference::read(item, group, kind, alert.namespace()).filter(|reference| reference.target.name != "*")
    })
}

/// The namespaces with `*` of the event sources of an Alert. Flux compares them as text, so they match no namespace.
///
/// Source: `eventMatchesAlertSource` of notification-controller.
pub(crate) fn namespace_patterns(alert: &Object) -> impl Iterator<Item = &Node> {
    entries(alert).iter().filter_map(namespace_pattern)
}

/// The namespace of a reference, if it contains `*`.
pub(crate) fn namespace_pattern(reference: &Node) -> Option<&Node> {
    reference.get("namespace").filter(|node| known_text(node).is_some_and(|namespace| namespace.contains('*')))
}

fn entries(alert: &Object) -> &[Node] {
    let list = of_kind(alert, "Alert").and_then(|alert| alert.node.at_keys(&["spec", "eventSources"]));
    list.map_or(&[][..], Node::items)
}

/// The Secrets that a Provider reads. They are in the namespace of the Provider.
pub(crate) fn secrets_of(provider: &Object) -> impl Iterator<Item = Reference<'_>> {
    let spec = of_kind(provider, "Provider").and_then(|provider| provider.node.get("spec"));
    let nodes = SECRETS.iter().filter_map(move |field| spec?.get(field));
    nodes.filter_map(|node| Reference::local(node, "", "Secret", provider.namespace()))
}

fn of_kind<'a>(object: &'a Object, kind: &str) -> Option<&'a Object> {
    Some(object).filter(|object| object.is(groups::NOTIFICATION, kind))
}
