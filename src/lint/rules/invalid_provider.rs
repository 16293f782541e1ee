use std::collections::BTreeSet;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::suspension::is_suspended;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::presence::keys::known_keys;
use crate::lint::refs::notification::provider_of;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// Flux rejects a setting of a Provider, so that it drops each event for it.
    ///
    /// ## Why
    ///
    /// notification-controller reads the settings of a Provider when an event arrives. If it rejects them, it logs an error and
    /// drops the event. An Alert has no status, so only the log shows the loss of all notifications. It rejects:
    ///
    /// - an address that does not name a repository, for types that set the status of commits or comment on pull requests: GitHub,
    ///   Gitea and Bitbucket need `https://HOST/OWNER/REPOSITORY`, Azure DevOps needs
    ///   `https://HOST/ORGANIZATION/PROJECT/_git/REPOSITORY`;
    /// - an address without a scheme, for webhooks;
    /// - `telegram` without `channel`;
    /// - a type that needs a token, without `secretRef`.
    ///
    /// The rule reports a Provider only if an Alert uses it. The key `address` of a Secret has precedence over `address`, so the
    /// finding about an address is a warning if the keys of the Secret are unknown.
    /// [`dangling-notification`](dangling-notification.md) reports missing addresses, and
    /// [`missing-secret-key`](missing-secret-key.md) missing keys.
    ///
    /// ## How to fix it
    ///
    /// Correct the address, or add the missing field.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Provider
    /// metadata:
    ///   name: status
    ///   namespace: flux-system
    /// spec:
    ///   type: github
    ///   address: https://github.com/acme/fleet
    /// ---
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Alert
    /// metadata:
    ///   name: status
    ///   namespace: flux-system
    /// spec:
    ///   providerRef:
    ///     name: status
    ///   eventSources:
    ///     - kind: Kustomization
    ///       name: '*'
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Provider
    /// metadata:
    ///   name: status
    ///   namespace: flux-system
    /// spec:
    ///   type: github
    ///   address: https://github.com/acme/fleet
    ///   secretRef:
    ///     name: github-token
    /// ---
    /// apiVersion: notification.toolkit.fluxcd.io/v1beta3
    /// kind: Alert
    /// metadata:
    ///   name: status
    ///   namespace: flux-system
    /// spec:
    ///   providerRef:
    ///     name: status
    ///   eventSources:
    ///     - kind: Kustomization
    ///       name: '*'
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. Some types exist only in later versions.
    ///
    /// ## Source
    ///
    /// [Flux: providers](https://fluxcd.io/flux/components/notification/providers/),
    /// `createNotifier` and the package `notifier` of notification-controller
    "invalid-provider", Error, "Flux rejects a setting of a Provider, so that it drops each event for it",
    Check::Cluster(check),
}

/// The types that need a token of a Secret.
const WITH_TOKEN: [&str; 15] = [
    "bitbucket",
    "bitbucketserver",
    "datadog",
    "generic-hmac",
    "gitea",
    "giteapullrequestcomment",
    "github",
    "githubdispatch",
    "githubpullrequestcomment",
    "gitlab",
    "gitlabmergerequestcomment",
    "incidentio",
    "opsgenie",
    "telegram",
    "zoom",
];

/// The types whose address is the URL of a webhook.
const WEBHOOKS: [&str; 14] = [
    "alertmanager",
    "discord",
    "generic",
    "generic-hmac",
    "googlechat",
    "grafana",
    "lark",
    "matrix",
    "msteams",
    "opsgenie",
    "pagerduty",
    "rocket",
    "slack",
    "webex",
];

/// The types whose address names a repository, with the number of segments of its path.
const REPOSITORIES: [(&str, usize); 7] = [
    ("azuredevops", 4),
    ("bitbucket", 2),
    ("gitea", 2),
    ("giteapullrequestcomment", 2),
    ("github", 2),
    ("githubdispatch", 2),
    ("githubpullrequestcomment", 2),
];

/// A setting that Flux rejects.
struct Fault {
    at: Label,
    message: String,
    help: &'static str,
    /// Whether it is a fault of the address, which a Secret may replace.
    is_of_address: bool,
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let alerts = view.of_kind(groups::NOTIFICATION, "Alert").filter(|alert| !is_suspended(alert));
    let used: BTreeSet<ObjectId<'_>> = alerts.filter_map(|alert| Some(provider_of(alert.object)?.target)).collect();
    if used.is_empty() {
        return;
    }
    let providers = view.of_kind(groups::NOTIFICATION, "Provider").filter(|provider| {
        let is_whole = provider.apply_mode() == ApplyMode::Applied;
        is_whole && used.contains(&ObjectId::of(provider.object)) && !is_suspended(provider)
    });
    for provider in providers {
        found.extend(finding(view, &provider));
    }
}

fn finding(view: &View<'_>, provider: &Applied<'_>) -> Option<Finding> {
    let object = provider.object;
    let spec = object.node.get("spec")?;
    let kind = known_text(spec.get("type")?)?;
    let is_changed = |field: &str| provider.completion.mentions(field);
    let fault = without_secret(object, spec, kind).filter(|_| !is_changed("secretRef"));
    let fault = fault.or_else(|| without_channel(object, spec, kind).filter(|_| !is_changed("channel")));
    let fault = fault.or_else(|| of_address(object, spec, kind).filter(|_| !is_changed("address")))?;
    let mut severity = Severity::Error;
    if let Some(name) = spec.at_keys(&["secretRef", "name"]).filter(|_| fault.is_of_address) {
        let keys = known_text(name)
            .zip(object.namespace())
            .and_then(|(name, namespace)| known_keys(view, ObjectId { group: "", kind: "Secret", namespace, name }));
        match keys.filter(|keys| !keys.names.is_empty()) {
            Some(keys) if keys.has("address") => return None,
            Some(_) => {}
            None => severity = Severity::Warning,
        }
    }
    let place = Label { span: provider.by.place(&fault.at.span), ..fault.at };
    let finding = Finding::error(RULE.id, place, fault.message).help(fault.help).about(object.reference());
    Some(Finding { severity, ..finding })
}

fn without_secret(object: &Object, spec: &Node, kind: &str) -> Option<Fault> {
    let has_secret = spec.get("secretRef").is_some_and(|node| !node.is_null());
    (WITH_TOKEN.contains(&kind) && !has_secret).then(|| Fault {
        at: missing_in_spec(object, "secretRef"),
        message: format!("{} of type `{kind}` has no `secretRef`", object.reference()),
        help: "reference a Secret with the key `token`: Flux drops each event for a Provider of this type without a token",
        is_of_address: false,
    })
}

fn without_channel(object: &Object, spec: &Node, kind: &str) -> Option<Fault> {
    let has_channel = spec.get("channel").is_some_and(|node| !node.is_null() && node.text() != Some(""));
    (kind == "telegram" && !has_channel).then(|| Fault {
        at: missing_in_spec(object, "channel"),
        message: format!("{} of type `telegram` has no `channel`", object.reference()),
        help: "set `channel` to the id of the chat: otherwise Flux drops each event for the Provider",
        is_of_address: false,
    })
}

fn of_address(object: &Object, spec: &Node, kind: &str) -> Option<Fault> {
    let node = spec.get("address")?;
    let address = known_text(node)?.trim();
    let fault = |message: String, help| {
        Some(Fault {
            at: Label::new(node.span().clone(), "Flux rejects this address"),
            message,
            help,
            is_of_address: true,
        })
    };
    let has_scheme = address.contains("://");
    if let Some((_, segments)) = REPOSITORIES.iter().find(|(known, _)| *known == kind) {
        let (_, rest) = address.split_once("://")?;
        let path = rest.split_once('/').map_or("", |(_, path)| path).split(['?', '#']).next().unwrap_or_default();
        let path = path.trim_start_matches('/');
        if path.strip_suffix(".git").unwrap_or(path).split('/').count() == *segments {
            return None;
        }
        let message = format!("the address of {} of type `{kind}` names no repository", object.reference());
        return match *segments {
            2 => fault(
                message,
                "write `https://HOST/OWNER/REPOSITORY`: otherwise Flux drops each event for the Provider",
            ),
            _ => fault(
                message,
                "write `https://HOST/ORGANIZATION/PROJECT/_git/REPOSITORY`: otherwise Flux drops each event for the Provider",
            ),
        };
    }
    // A text with a colon may be a URL of another form.
    if WEBHOOKS.contains(&kind) && !has_scheme && !address.starts_with('/') && !address.contains(':') {
        let message = format!("the address of {} has no scheme", object.reference());
        return fault(message, "write `https://` before the host: otherwise Flux drops each event for the Provider");
    }
    None
}
