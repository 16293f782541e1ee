use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::suspension::is_suspended;
use crate::lint::fields::{known_text, text_of};
use crate::lint::findings::Findings;
use crate::lint::presence::keys::{Keys, is_needed_for_itself, known_keys};
use crate::lint::refs::notification::provider_of;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A Flux object reads a key that its Secret does not have.
    ///
    /// ## Why
    ///
    /// Each field that references a Secret requires certain keys. Without them, a source never becomes ready, a Kustomization or
    /// HelmRelease for another cluster applies nothing, a Receiver has no address, and a Provider drops each event. SOPS,
    /// SealedSecrets and ExternalSecrets encrypt values only, so the keys are visible in Git.
    ///
    /// | object | field | keys |
    /// |---|---|---|
    /// | GitRepository with an SSH URL | `secretRef` | `identity` and `known_hosts` |
    /// | GitRepository with an HTTPS URL | `secretRef` | `username` beside `password` |
    /// | GitRepository with `provider: github` | `secretRef` | `githubAppID` and `githubAppPrivateKey` |
    /// | HelmRepository | `secretRef` | `username` and `password` together, unless the type is `kubernetes.io/dockerconfigjson` |
    /// | Bucket of `generic` or `aws` | `secretRef` | `accesskey` and `secretkey` |
    /// | Bucket of `gcp` | `secretRef` | `serviceaccount` |
    /// | source, Provider | `proxySecretRef` | `address` |
    /// | Kustomization, HelmRelease | `kubeConfig.secretRef` | the value of `key`, by default `value` or `value.yaml` |
    /// | Receiver, except of type `generic-oidc` | `secretRef` | `token` |
    /// | Provider of most Git servers, Telegram, Opsgenie and others | `secretRef` | `token`, or what replaces it |
    ///
    /// The rule reports a Provider only if an Alert uses it. It ignores Secrets that the cluster does not receive,
    /// Secrets to which another program may add keys, and a Secret that its own source needs, since another program creates it first. The finding for a suspended object is a warning.
    ///
    /// ## How to fix it
    ///
    /// Add the key, or rename the existing one.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: ssh://git@git.example.com/acme/apps.git
    ///   ref:
    ///     branch: main
    ///   secretRef:
    ///     name: apps
    /// ---
    /// apiVersion: external-secrets.io/v1
    /// kind: ExternalSecret
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   secretStoreRef:
    ///     kind: ClusterSecretStore
    ///     name: vault
    ///   data:
    ///     - secretKey: ssh-privatekey
    ///       remoteRef:
    ///         key: apps
    ///         property: key
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: ssh://git@git.example.com/acme/apps.git
    ///   ref:
    ///     branch: main
    ///   secretRef:
    ///     name: apps
    /// ---
    /// apiVersion: external-secrets.io/v1
    /// kind: ExternalSecret
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   secretStoreRef:
    ///     kind: ClusterSecretStore
    ///     name: vault
    ///   data:
    ///     - secretKey: identity
    ///       remoteRef:
    ///         key: apps
    ///         property: key
    ///     - secretKey: known_hosts
    ///       remoteRef:
    ///         key: apps
    ///         property: hosts
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `provider: github` exists from Flux 2.5 on.
    ///
    /// ## Source
    ///
    /// [Flux: Git repositories](https://fluxcd.io/flux/components/source/gitrepositories/#secret-reference),
    /// [Flux: buckets](https://fluxcd.io/flux/components/source/buckets/#secret-reference),
    /// [Flux: kubeconfig](https://fluxcd.io/flux/components/kustomize/kustomizations/#kubeconfig-remote-clusters),
    /// [Flux: receivers](https://fluxcd.io/flux/components/notification/receivers/#secret-reference);
    /// `AuthOptions.Validate` of `github.com/fluxcd/pkg/git`, `BasicAuthFromSecret` of `github.com/fluxcd/pkg/runtime`,
    /// `ValidateSecret` of source-controller, `token` and the package `notifier` of notification-controller
    "missing-secret-key", Error, "a Flux object reads a key that its Secret does not have", Check::Cluster(check),
}

/// The kinds with references to Secrets.
const KINDS: [(&str, &str); 7] = [
    (groups::SOURCE, "Bucket"),
    (groups::SOURCE, "GitRepository"),
    (groups::SOURCE, "HelmRepository"),
    (groups::SOURCE, "OCIRepository"),
    (groups::HELM, "HelmRelease"),
    (groups::KUSTOMIZE, "Kustomization"),
    (groups::NOTIFICATION, "Receiver"),
];

/// The keys that a field requires.
enum Required<'a> {
    All(&'static [&'static str]),
    /// One of several alternatives, each of them a list of keys.
    Any(&'static [&'static [&'static str]]),
    /// The key that another field names.
    Named(&'a str),
    /// No key, or both of them.
    Both(&'static str, &'static str),
    /// A user name beside a password, unless there is a token, which replaces both.
    UserOfPassword,
}

/// A reference to a Secret with the keys that it requires.
struct Reading<'a> {
    node: &'a Node,
    name: &'a str,
    required: Required<'a>,
    consequence: &'static str,
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    for (group, kind) in KINDS {
        for applied in view.of_kind(group, kind) {
            check_object(view, &applied, found);
        }
    }
    let alerts = view.of_kind(groups::NOTIFICATION, "Alert").filter(|alert| !is_suspended(alert));
    let used: BTreeSet<ObjectId<'_>> = alerts.filter_map(|alert| Some(provider_of(alert.object)?.target)).collect();
    for provider in view.of_kind(groups::NOTIFICATION, "Provider") {
        if used.contains(&ObjectId::of(provider.object)) {
            check_object(view, &provider, found);
        }
    }
}

fn check_object(view: &View<'_>, applied: &Applied<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(namespace) = applied.namespace().filter(|_| applied.apply_mode() == ApplyMode::Applied) else { return };
    for Reading { node, name, required, consequence } in readings(object) {
        let secret = ObjectId { group: "", kind: "Secret", namespace, name };
        // A Secret without keys in Git is a shell that a controller or a user fills.
        let Some(keys) = known_keys(view, secret).filter(|keys| !keys.names.is_empty()) else { continue };
        let Some(missing) = required.missing(&keys).filter(|_| !is_needed_for_itself(view, secret)) else { continue };
        if applied.completion.mentions("ecretRef") || applied.completion.mentions("kubeConfig") {
            continue;
        }
        let reference = object.reference();
        let message = format!("{reference} requires {missing} of Secret `{name}`, which has `{}` only", keys.listed());
        let help = format!("add the key, or rename the existing one: without it, {consequence}");
        let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).help(help).about(reference);
        let severity = if is_suspended(applied) { Severity::Warning } else { Severity::Error };
        found.push(Finding { severity, ..finding }.related(keys.place, "the key is missing here"));
    }
}

impl Required<'_> {
    /// The keys that are missing, as text for a message.
    fn missing(&self, keys: &Keys) -> Option<String> {
        let lacks = |key: &&&str| !keys.has(key);
        match self {
            Self::All(all) => all.iter().find(lacks).map(|key| format!("the key `{key}`")),
            Self::Any(all) => {
                let is_missing = all.iter().all(|one| one.iter().any(|key| !keys.has(key)));
                let texts: Vec<String> = all.iter().map(|one| format!("`{}`", one.join("` and `"))).collect();
                is_missing.then(|| format!("the key {}", texts.join(" or ")))
            }
            Self::Named(key) => (!keys.has(key)).then(|| format!("the key `{key}`")),
            // Flux reads a configuration of Docker instead.
            Self::Both(..) if keys.kind.as_deref() == Some("kubernetes.io/dockerconfigjson") => None,
            Self::Both(one, other) => match (keys.has(one), keys.has(other)) {
                (true, false) => Some(format!("the key `{other}` beside `{one}`")),
                (false, true) => Some(format!("the key `{one}` beside `{other}`")),
                _ => None,
            },
            Self::UserOfPassword => {
                let lacks_user = keys.has("password") && !keys.has("username") && !keys.has("bearerToken");
                lacks_user.then(|| "the key `username` beside `password`".to_owned())
            }
        }
    }
}

/// The references of an object to Secrets whose keys it requires.
fn readings(object: &Object) -> impl Iterator<Item = Reading<'_>> {
    let spec = object.node.get("spec");
    let own = spec.and_then(|spec| of_own_secret(object, spec));
    let proxy = spec.filter(|_| object.group() != groups::HELM).and_then(|spec| {
        let consequence = "Flux does not use the proxy, and the object fails";
        reading(spec.get("proxySecretRef")?, Required::All(&["address"]), consequence)
    });
    own.into_iter().chain(proxy)
}

/// The main reference of an object.
fn of_own_secret<'a>(object: &Object, spec: &'a Node) -> Option<Reading<'a>> {
    let secret = spec.get("secretRef");
    let never_ready = "the source never becomes ready";
    match (object.group(), object.kind()) {
        (groups::SOURCE, "GitRepository") => reading(secret?, of_git(spec)?, never_ready),
        (groups::SOURCE, "HelmRepository") => {
            let is_generic = text_of(spec, "provider").is_none_or(|provider| provider == "generic");
            reading(secret.filter(|_| is_generic)?, Required::Both("username", "password"), never_ready)
        }
        (groups::SOURCE, "Bucket") => {
            let required = match text_of(spec, "provider").unwrap_or("generic") {
                "generic" | "aws" => Required::All(&["accesskey", "secretkey"]),
                "gcp" => Required::All(&["serviceaccount"]),
                _ => return None,
            };
            reading(secret?, required, never_ready)
        }
        (groups::HELM, "HelmRelease") | (groups::KUSTOMIZE, "Kustomization") => {
            let secret = spec.at_keys(&["kubeConfig", "secretRef"])?;
            let required = match secret.get("key").filter(|key| !key.is_null() && key.text() != Some("")) {
                Some(key) => Required::Named(known_text(key)?),
                None => Required::Any(&[&["value"], &["value.yaml"]]),
            };
            reading(secret, required, "Flux applies nothing to the other cluster")
        }
        (groups::NOTIFICATION, "Receiver") => {
            let is_signed = text_of(spec, "type").is_some_and(|kind| kind != "generic-oidc" && !kind.contains("${"));
            let consequence = "the Receiver has no address and accepts no requests";
            reading(secret.filter(|_| is_signed)?, Required::All(&["token"]), consequence)
        }
        (groups::NOTIFICATION, "Provider") => {
            reading(secret?, of_provider(text_of(spec, "type")?)?, "Flux drops each event for the Provider")
        }
        _ => None,
    }
}

fn reading<'a>(secret: &'a Node, required: Required<'a>, consequence: &'static str) -> Option<Reading<'a>> {
    let node = secret.get("name")?;
    Some(Reading { node, name: known_text(node)?, required, consequence })
}

fn of_git(spec: &Node) -> Option<Required<'_>> {
    let url = known_text(spec.get("url")?)?;
    if url.starts_with("ssh://") {
        return Some(Required::All(&["identity", "known_hosts"]));
    }
    if text_of(spec, "provider") == Some("github") {
        return Some(Required::All(&["githubAppID", "githubAppPrivateKey"]));
    }
    let (_, rest) = url.split_once("://")?;
    let has_user = rest.split('/').next().is_some_and(|host| host.contains('@'));
    (!has_user).then_some(Required::UserOfPassword)
}

/// The keys that the type of a Provider requires.
///
/// Source: the package `notifier` of notification-controller.
fn of_provider(kind: &str) -> Option<Required<'static>> {
    match kind {
        "github" | "githubdispatch" | "githubpullrequestcomment" => {
            Some(Required::Any(&[&["token"], &["githubAppID"]]))
        }
        "bitbucketserver" | "gitlab" | "gitlabmergerequestcomment" => Some(Required::Any(&[&["token"], &["password"]])),
        "bitbucket"
        | "datadog"
        | "generic-hmac"
        | "gitea"
        | "giteapullrequestcomment"
        | "incidentio"
        | "opsgenie"
        | "telegram"
        | "zoom" => Some(Required::All(&["token"])),
        _ => None,
    }
}
