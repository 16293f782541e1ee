mod receiver_events;

use crate::base::finding::{Finding, did_you_mean};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use receiver_events::{Event, ignores_events, judge};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A Receiver names a resource that is not there, or an event that never comes.
    ///
    /// ## Why
    ///
    /// A webhook asks Flux to fetch at once. Where the resource is not there, or the sender calls its event otherwise, the
    /// request is refused, and a push takes effect an interval later: nobody notices but those who wait.
    ///
    /// Silent for `name: "*"` with labels, since these may match what is not there yet; for what may be made by others; and for
    /// the Secret with the token, which is mostly made by hand.
    ///
    /// ## How to fix it
    ///
    /// Name a source that the cluster has, in its namespace. GitHub says `push`, GitLab says `Push Hook`, Bitbucket
    /// `repo:refs_changed`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1
    /// kind: Receiver
    /// metadata:
    ///   name: push
    ///   namespace: flux-system
    /// spec:
    ///   type: gitlab
    ///   events:
    ///     - push
    ///   resources:
    ///     - kind: GitRepository
    ///       name: fleet
    ///   secretRef:
    ///     name: webhook-token
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1
    /// kind: Receiver
    /// metadata:
    ///   name: push
    ///   namespace: flux-system
    /// spec:
    ///   type: gitlab
    ///   events:
    ///     - Push Hook
    ///   resources:
    ///     - kind: GitRepository
    ///       name: flux-system
    ///   secretRef:
    ///     name: webhook-token
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: receivers](https://fluxcd.io/flux/components/notification/receivers/)
    "receiver-target", Error, "a Receiver names a resource that is not there, or an event that never comes",
    Check::Cluster(check),
}

/// The kinds that need no `apiVersion`, and their group.
const DEFAULT_GROUPS: [(&str, &str); 7] = [
    ("ArtifactGenerator", groups::SOURCE_EXTENSIONS),
    ("Bucket", groups::SOURCE),
    ("GitRepository", groups::SOURCE),
    ("HelmChart", groups::SOURCE),
    ("HelmRepository", groups::SOURCE),
    ("ImageRepository", groups::IMAGE),
    ("OCIRepository", groups::SOURCE),
];

fn check(view: &View<'_>, found: &mut Findings) {
    for receiver in view.of_kind(groups::NOTIFICATION, "Receiver") {
        let spec = |field: &str| receiver.object.node.at_keys(&["spec", field]);
        for resource in spec("resources").map_or(&[][..], Node::items) {
            found.extend(target(view, &receiver, resource));
        }
        let Some(sender) = spec("type").and_then(Node::text) else { continue };
        for event in spec("events").map_or(&[][..], Node::items) {
            found.extend(unknown_event(&receiver, sender, event));
        }
    }
}

fn target(view: &View<'_>, receiver: &Applied<'_>, resource: &Node) -> Option<Finding> {
    let said = |field: &str| resource.get(field).and_then(Node::text).filter(|text| !text.is_empty());
    let (kind, name) = (said("kind")?, said("name")?);
    let namespace = said("namespace").or(receiver.namespace())?;
    if [kind, name, namespace].iter().any(|text| text.contains('$')) {
        return None;
    }
    let at = |field: &str| resource.get(field).unwrap_or(resource).span().clone();
    let error =
        |field: &str, message: String| Finding::error(RULE.id, at(field), message).about(receiver.object.reference());
    let of_version = said("apiVersion").map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let by_default = || DEFAULT_GROUPS.iter().find(|(known, _)| *known == kind).map(|(_, group)| *group);
    let Some(group) = of_version.or_else(by_default) else {
        let message = format!("a resource of kind `{kind}` has no `apiVersion`");
        let help = "add it; Flux knows that of sources only, and refuses the request";
        return Some(error("kind", message).help(help));
    };
    if name == "*" {
        let has_labels = resource.get("matchLabels").is_some_and(|labels| !labels.is_null());
        let message = format!("any {kind} is meant, and `matchLabels` does not say which");
        let help = "add `matchLabels`; Flux refuses the request without them";
        return (!has_labels).then(|| error("name", message).help(help));
    }
    // Controllers make these.
    if matches!(kind, "HelmChart" | "ExternalArtifact") || !view.presence(group, kind, namespace, name).is_missing() {
        return None;
    }
    let here: Vec<Applied<'_>> = view.of_kind(group, kind).collect();
    let names = here.iter().filter(|other| other.namespace() == Some(namespace)).map(|other| other.object.name());
    let elsewhere = here.iter().find(|other| other.object.name() == name);
    let help = match (elsewhere.and_then(Applied::namespace), did_you_mean(name, names)) {
        (Some(other), _) => format!("there is one in namespace `{other}`: say `namespace: {other}`"),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => "name one that the cluster has; Flux refuses the request otherwise".to_owned(),
    };
    Some(error("name", format!("there is no {kind} `{namespace}/{name}` to reconcile")).help(help))
}

fn unknown_event(receiver: &Applied<'_>, sender: &str, event: &Node) -> Option<Finding> {
    let name = event.text().filter(|name| !name.contains('$'))?;
    if ignores_events(sender) {
        let message = format!("a Receiver of type `{sender}` takes all events, and not only `{name}`");
        let help = "take `events` out: Flux does not look at them";
        let finding = Finding::warning(RULE.id, event.span().clone(), message).help(help);
        return Some(finding.about(receiver.object.reference()));
    }
    let help = match judge(sender, name) {
        Event::MayCome => return None,
        Event::Meant(meant) => format!("did you mean `{meant}`?"),
        Event::Foreign(example) => format!("its events have names such as `{example}`"),
    };
    let message = format!("`{name}` is no event of `{sender}`");
    let help = format!("{help}; Flux refuses the requests of others");
    Some(Finding::error(RULE.id, event.span().clone(), message).help(help).about(receiver.object.reference()))
}
