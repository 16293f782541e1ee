mod receiver_events;

use std::collections::BTreeSet;

use crate::base::finding::{Finding, Safety, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;
use crate::yaml::fix;
use receiver_events::{Event, ignores_events, is_test, judge};

declare! {
    /// A Receiver references a resource that does not exist, or an event that the sender never sends.
    ///
    /// ## Why
    ///
    /// A request to the webhook of a Receiver lets Flux fetch a source immediately. If the resource does not exist, or
    /// the sender uses another name for the event, Flux rejects the request. A push then takes effect only after the
    /// interval. The fault is easy to miss, because Flux still fetches the source at its interval.
    ///
    /// A wrong event is an error if the Receiver accepts no other event than a test of the webhook. Otherwise, it is a
    /// warning, or pedantic if the list has the right name too.
    ///
    /// The rule ignores `name: "*"` with labels, because the labels may match objects that are created later. It also
    /// ignores objects that an unknown input may create, and the Secret with the token, which users often create by
    /// hand.
    ///
    /// ## How to fix it
    ///
    /// Reference a source on the cluster, with its namespace. The event of a push is `push` for GitHub, `Push Hook` for
    /// GitLab and `repo:refs_changed` for Bitbucket.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: receivers](https://fluxcd.io/flux/components/notification/receivers/)
    "receiver-target", Error, "a Receiver references a resource or an event that does not exist",
    Check::Cluster(check), fixes: [Unsafe],
}

/// The kinds that do not need an `apiVersion`, with their groups.
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
    let mut suggestions = 0;
    for receiver in view.of_kind(groups::NOTIFICATION, "Receiver") {
        let spec = |field: &str| receiver.object.node.at_keys(&["spec", field]);
        for resource in spec("resources").map_or(&[][..], Node::items) {
            let finding = target(view, &receiver, resource, &mut suggestions, found);
            found.extend(finding);
        }
        let Some(sender) = spec("type").and_then(Node::text) else { continue };
        let events = spec("events").map_or(&[][..], Node::items);
        for event in events {
            found.extend(unknown_event(&receiver, sender, event, events));
        }
    }
}

/// The maximum number of suggestions for a cluster. Each compares a name with those of all objects of a kind.
const MAX_SUGGESTIONS: usize = 50;

fn target(
    view: &View<'_>,
    receiver: &Applied<'_>,
    resource: &Node,
    suggestions: &mut usize,
    found: &mut Findings,
) -> Option<Finding> {
    let text = |field: &str| resource.get(field).and_then(Node::text).filter(|value| !value.is_empty());
    let (kind, name) = (text("kind")?, text("name")?);
    let namespace = text("namespace").or(receiver.namespace())?;
    if [kind, name, namespace].iter().any(|value| value.contains('$')) {
        return None;
    }
    let at = |field: &str| resource.get(field).unwrap_or(resource).span().clone();
    let error =
        |field: &str, message: String| Finding::error(RULE.id, at(field), message).about(receiver.object.reference());
    let of_version = text("apiVersion").map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let by_default = || DEFAULT_GROUPS.iter().find(|(known, _)| *known == kind).map(|(_, group)| *group);
    let Some(group) = of_version.or_else(by_default) else {
        let message = format!("{} references kind `{kind}` without `apiVersion`", receiver.object.reference());
        let help = "add `apiVersion`: Flux has no default for this kind, and rejects the request";
        return Some(error("kind", message).help(help));
    };
    if name == "*" {
        let has_labels = resource.get("matchLabels").is_some_and(|labels| !labels.is_null());
        let message = format!("{} references `name: \"*\"` without `matchLabels`", receiver.object.reference());
        let help = "add `matchLabels`: otherwise Flux rejects the request";
        return (!has_labels).then(|| error("name", message).help(help));
    }
    // Controllers create objects of these kinds.
    if matches!(kind, "HelmChart" | "ExternalArtifact") {
        return None;
    }
    match view.presence(group, kind, namespace, name) {
        Presence::Missing => {}
        Presence::Unknown(source) => {
            found.unchecked(format!("{kind} `{namespace}/{name}`, which {source} may create"));
            return None;
        }
        Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => return None,
    }
    *suggestions += 1;
    let is_suggested = *suggestions <= MAX_SUGGESTIONS;
    let here: Vec<Applied<'_>> = if is_suggested { view.of_kind(group, kind).collect() } else { Vec::new() };
    let names = here.iter().filter(|other| other.namespace() == Some(namespace)).map(|other| other.object.name());
    let elsewhere = here.iter().filter(|other| other.object.name() == name).filter_map(Applied::namespace);
    let elsewhere: BTreeSet<&str> = elsewhere.collect();
    let help = match (elsewhere.first(), did_you_mean(name, names)) {
        (Some(_), _) if elsewhere.len() > 1 => {
            format!("found in {} other namespaces; set `namespace` to the right one", elsewhere.len())
        }
        (Some(other), _) => format!("found in namespace `{other}`; set `namespace: {other}`"),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => "reference an object that the cluster receives: otherwise Flux rejects the request".to_owned(),
    };
    let names = here.iter().filter(|other| other.namespace() == Some(namespace)).map(|other| other.object.name());
    let meant = did_you_mean(name, names).filter(|_| elsewhere.is_empty());
    let fix = meant.and_then(|meant| fix::replace(resource.get("name")?, meant, Safety::Unsafe));
    let fix = fix.map(|fix| fix.moved(|span| receiver.by.place(span)));
    let by = receiver.object.reference();
    let message = format!("{by} references {kind} `{namespace}/{name}`, which the cluster does not receive");
    // The request fails because of any missing object, so that the Receiver is the cause.
    let before = format!("{by} references ");
    Some(error("name", message).help(help).fixed_by(fix).caused_by(
        by.to_string(),
        before,
        " objects that the cluster does not receive",
    ))
}

/// Checks an event of the list `events`.
///
/// Flux accepts a request if one entry fits, so a wrong entry beside a right one rejects no other event.
///
/// Source: `validate` in notification-controller's `receiver_handlers.go`.
fn unknown_event(receiver: &Applied<'_>, sender: &str, event: &Node, events: &[Node]) -> Option<Finding> {
    let name = event.text().filter(|name| !name.contains('$'))?;
    if ignores_events(sender) {
        // The type is the cause, so all events are one finding.
        if events.iter().find_map(Node::text) != Some(name) {
            return None;
        }
        let names: Vec<String> = events.iter().filter_map(Node::text).map(|name| format!("`{name}`")).collect();
        let message = match names.as_slice() {
            [names @ .., last] if !names.is_empty() => {
                format!("a Receiver of type `{sender}` accepts all events, not only {} and {last}", names.join(", "))
            }
            _ => format!("a Receiver of type `{sender}` accepts all events, not only `{name}`"),
        };
        let help = "remove `events`: Flux ignores the field for this type";
        let finding = Finding::warning(RULE.id, event.span().clone(), message).help(help);
        return Some(finding.about(receiver.object.reference()));
    }
    let others = || events.iter().filter_map(Node::text);
    let mut fix = None;
    let mut is_superfluous = false;
    let help = match judge(sender, name) {
        Event::MayCome => return None,
        Event::Meant(meant) if others().any(|other| other.eq_ignore_ascii_case(meant)) => {
            is_superfluous = true;
            format!("remove it: `{meant}` is in the list")
        }
        Event::Meant(meant) => {
            fix = fix::replace(event, meant, Safety::Unsafe);
            format!("did you mean `{meant}`? Flux rejects requests with other events")
        }
        Event::Foreign(example) => {
            format!("use an event of this sender, such as `{example}`. Flux rejects requests with other events")
        }
    };
    let message = format!("`{name}` is not an event of `{sender}`");
    let is_accepted = |other: &str| other.contains('$') || (judge(sender, other) == Event::MayCome && !is_test(other));
    let severity = match others().any(is_accepted) {
        false => Severity::Error,
        true if is_superfluous => Severity::Pedantic,
        true => Severity::Warning,
    };
    let finding = Finding { severity, ..Finding::error(RULE.id, event.span().clone(), message) };
    let finding = finding.help(help).about(receiver.object.reference());
    let finding = finding.caused_by(
        format!("{sender} {name} {is_superfluous}"),
        "",
        format!(" Receivers list `{name}`, which is not an event of `{sender}`"),
    );
    Some(finding.fixed_at(fix, |span| receiver.by.place(span)))
}
