use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::{ObjectId, groups};
use crate::lint::facts::suspension::is_suspended;
use crate::lint::findings::Findings;
use crate::lint::presence::dangling::References;
use crate::lint::presence::missing::{MissingSearch, comes_from_manifests};
use crate::lint::presence::own_inputs::secrets_of_sources;
use crate::lint::refs::notification::{event_sources, namespace_patterns, provider_of, secrets_of};
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// An Alert or a Provider references an object that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// notification-controller reads the Provider and its Secret when an event arrives. If one of them is missing,
    /// the controller drops the event and logs an error. An Alert has no status, so only the log shows the loss of all
    /// notifications. The controller compares the name and the namespace of each event source with those of the
    /// event's object. The name of a missing object does not match any event. An event source without `namespace`
    /// references an object in the namespace of the Alert.
    ///
    /// A Provider without an address, neither in `spec.address` nor in the key `address` of its Secret, drops each event
    /// without an error in the log. The rule reports it if an Alert references it, as a warning if it has a Secret.
    ///
    /// The severity is error for a Provider. It is warning for an event source, because the other sources of the Alert
    /// still work, and for a Secret, because users often create them by hand. If no Alert references the Provider of a Secret,
    /// the severity is pedantic. The rule does not report an object that
    /// an unknown input may create: a source without a local copy, a ResourceSet with live inputs, or a chart in that
    /// namespace. It ignores suspended Alerts and Providers, and Secrets that a source also reads.
    ///
    /// ## How to fix it
    ///
    /// Correct the name or the namespace, or add the object. If another tool creates the Secret, declare it below
    /// `external` in `.fleetwright.yaml`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Alert
    /// metadata:
    ///   name: failures
    ///   namespace: flux-system
    /// spec:
    ///   eventSeverity: error
    ///   eventSources:
    ///     - kind: Kustomization
    ///       name: '*'
    ///   providerRef:
    ///     name: pager
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Alert
    /// metadata:
    ///   name: failures
    ///   namespace: flux-system
    /// spec:
    ///   eventSeverity: error
    ///   eventSources:
    ///     - kind: Kustomization
    ///       name: '*'
    ///   providerRef:
    ///     name: pager
    /// ---
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Provider
    /// metadata:
    ///   name: pager
    ///   namespace: flux-system
    /// spec:
    ///   address: https://alerts.example.com
    ///   type: generic
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: alerts](https://fluxcd.io/flux/components/notification/alerts/),
    /// [Flux: providers](https://fluxcd.io/flux/components/notification/providers/#secret-reference)
    "dangling-notification", Error, "an Alert or a Provider references an object that the cluster does not receive",
    Check::Cluster(check), fixes: [Unsafe],
}

/// The first release without a reconciler for Providers: only Alerts read them.
const STATIC_SINCE: (u64, u64) = (2, 2);

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    let (mut providers, mut sources) = (References::default(), References::default());
    let (mut secrets, mut unused_secrets) = (References::default(), References::default());
    for alert in view.of_kind(groups::NOTIFICATION, "Alert").filter(|alert| !is_suspended(alert)) {
        providers.add(alert, provider_of(alert.object));
        found.extend(of_patterns(&alert));
        sources.add(alert, event_sources(alert.object).filter(|source| comes_from_manifests(source.target)));
    }
    let used_by_sources = secrets_of_sources(view);
    let (mut receiving, mut suspended) = (BTreeSet::new(), BTreeSet::new());
    for alert in view.of_kind(groups::NOTIFICATION, "Alert") {
        let providers = if is_suspended(&alert) { &mut suspended } else { &mut receiving };
        providers.extend(provider_of(alert.object).map(|provider| provider.target));
    }
    // Before Flux 2.2, notification-controller reconciles each Provider.
    let reads_all = view.has_flux(STATIC_SINCE) == Some(false) || !view.is_whole();
    let may_receive = |provider: ObjectId<'_>| {
        let alert = ObjectId { kind: "Alert", ..provider };
        reads_all
            || receiving.contains(&provider)
            || suspended.contains(&provider)
            || view.unknown_sources().of(alert).next().is_some()
    };
    for provider in view.of_kind(groups::NOTIFICATION, "Provider").filter(|provider| !is_suspended(provider)) {
        let id = ObjectId::of(provider.object);
        let references = if may_receive(id) { &mut secrets } else { &mut unused_secrets };
        references.add(provider, secrets_of(provider.object).filter(|one| !used_by_sources.contains(&one.target)));
        if receiving.contains(&id) {
            found.extend(without_address(view, &provider));
        }
    }
    for dangling in providers.dangling(&mut search, found) {
        let help =
            "add the Provider to that namespace, or correct the name: without it, Flux drops each event of the Alert";
        found.push(dangling.finding(RULE.id, "sends events to", help));
    }
    for dangling in sources.dangling(&mut search, found) {
        let help =
            "correct the name or the namespace, or remove the entry: an event source matches only events of its object";
        let finding = dangling.finding(RULE.id, "forwards events of", help);
        let finding = Finding { severity: Severity::Warning, ..finding };
        // An Alert of a former layout references several objects of that layout.
        let alert = finding.object.clone().filter(|_| finding.help.as_deref() == Some(help));
        found.push(match alert {
            Some(alert) => finding.caused_by(
                format!("sources of {alert}"),
                "",
                format!(" event sources of {alert} reference objects that the cluster does not receive"),
            ),
            None => finding,
        });
    }
    for dangling in secrets.dangling(&mut search, found) {
        let help = "add the Secret; if another tool creates it, declare it below `external` in `.fleetwright.yaml`: \
                    without the Secret, Flux drops each event for the Provider";
        let finding = dangling.finding(RULE.id, "reads", help);
        found.push(Finding { severity: Severity::Warning, ..finding });
    }
    for dangling in unused_secrets.dangling(&mut search, found) {
        let help = "add the Secret, or remove the Provider: no Alert sends events to it; if another tool creates the Secret, \
                    declare it below `external` in `.fleetwright.yaml`";
        let finding = dangling.finding(RULE.id, "reads", help);
        found.push(Finding { severity: Severity::Pedantic, ..finding });
    }
}

/// The finding for an Alert with event sources in namespaces with `*`.
fn of_patterns(alert: &Applied<'_>) -> Option<Finding> {
    let patterns: Vec<&Node> = namespace_patterns(alert.object).collect();
    let (first, rest) = patterns.split_first()?;
    let namespace = first.text().unwrap_or_default();
    let others = match rest.len() {
        0 => String::new(),
        1 => ", like another one".to_owned(),
        more => format!(", like {more} others"),
    };
    let by = alert.object.reference();
    let message =
        format!("an event source of {by} has the namespace `{namespace}`{others}, which matches no namespace");
    let help = "add an event source for each namespace: only `name: '*'` selects several objects, and Flux forwards no event of \
                this entry";
    let finding = Finding::error(RULE.id, alert.by.place(first.span()), message).help(help).about(by);
    Some(rest.iter().fold(finding, |finding, node| finding.related(alert.by.place(node.span()), "another one")))
}

/// The finding for a Provider without an address. notification-controller drops its events, without an error, before it reads
/// the type. A user may add a key to a Secret by hand.
fn without_address(view: &View<'_>, provider: &Applied<'_>) -> Option<Finding> {
    let object = provider.object;
    let has_address = object.node.at_keys(&["spec", "address"]).is_some_and(|node| node.text() != Some(""));
    if has_address || !view.is_whole() || provider.apply_mode() == ApplyMode::Merged {
        return None;
    }
    let secret = object.text_at(&["spec", "secretRef", "name"]);
    let help = match secret {
        None => "set `spec.address`, or reference a Secret with the key `address`",
        Some(name) => {
            let known = |kind: &str, namespace: &str, name: &str| view.config_object(kind, namespace, name);
            let secret = view.producers().find("Secret", object.namespace()?, name, &known)?;
            let entries = |field: &str| secret.object.node.get(field).map_or(&[][..], Node::entries);
            let mut keys = entries("data").iter().chain(entries("stringData")).map(|entry| &*entry.key).peekable();
            if secret.open || keys.peek().is_none() || keys.any(|key| key == "address") {
                return None;
            }
            "set `spec.address`, or add the key `address` to the Secret of `secretRef`"
        }
    };
    let severity = if secret.is_some() { Severity::Warning } else { Severity::Error };
    let place = missing_in_spec(object, "address");
    let message = format!("{} has no address, so that Flux drops each event for it", object.reference());
    let finding = Finding::error(RULE.id, provider.by.place(&place.span), message).help(help).about(object.reference());
    Some(Finding { severity, ..finding })
}
