use std::collections::BTreeSet;

use crate::base::finding::{Finding, Safety, Severity};
use crate::flux::Applied;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::presence::unused_sources::unreferenced_sources;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;
use crate::yaml::fix;

declare! {
    /// A source uses plain HTTP or disables TLS.
    ///
    /// ## Why
    ///
    /// An attacker between the cluster and the server can change the objects on the cluster. Flux applies the fetched
    /// manifests with the permissions of its controllers or of the tenant. The credentials of the source are also sent
    /// unencrypted.
    ///
    /// For a host inside the cluster or on the loopback interface, the risk is smaller, so the severity is warning. The same
    /// applies to a source that no object of the cluster references, since Flux applies nothing of it.
    ///
    /// ## How to fix it
    ///
    /// Remove `insecure`, and use `https://`, `ssh://` for a GitRepository, or `oci://` for a HelmRepository. For a
    /// private certificate authority, set `certSecretRef`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   interval: 10m
    ///   url: http://git.example.com/acme/shop.git
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   interval: 10m
    ///   url: https://git.example.com/acme/shop.git
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: GitRepository URL](https://fluxcd.io/flux/components/source/gitrepositories/#url),
    /// [insecure OCI registries](https://fluxcd.io/flux/components/source/ocirepositories/#insecure)
    "insecure-source", Error, "a source uses plain HTTP or disables TLS", Check::Cluster(check), fixes: [Unsafe],
}

/// The kinds with an address.
const KINDS: [(&str, &str); 5] = [
    (groups::SOURCE, "GitRepository"),
    (groups::SOURCE, "OCIRepository"),
    (groups::SOURCE, "HelmRepository"),
    (groups::SOURCE, "Bucket"),
    (groups::IMAGE, "ImageRepository"),
];

fn check(view: &View<'_>, found: &mut Findings) {
    let sources = KINDS.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind));
    let mut findings: Vec<(ObjectId<'_>, Finding)> =
        sources.filter_map(|applied| Some((ObjectId::of(applied.object), finding(&applied)?))).collect();
    if findings.iter().any(|(_, finding)| finding.severity == Severity::Error) {
        let unused = unreferenced_sources(view);
        let unused: BTreeSet<ObjectId<'_>> = unused.iter().map(|source| ObjectId::of(source.object)).collect();
        for (_, finding) in findings.iter_mut().filter(|(source, _)| unused.contains(source)) {
            finding.severity = Severity::Warning;
            finding.help = finding.help.take().map(|help| format!("{help}; no object of the cluster references it"));
        }
    }
    found.extend(findings.into_iter().map(|(_, finding)| finding));
}

fn finding(applied: &Applied<'_>) -> Option<Finding> {
    let object = applied.object;
    let (Some(address), insecure) = (address(object), insecure(object)) else { return None };
    let url = address.text().filter(|text| !text.contains('$'))?;
    let shown = without_user(url);
    let (place, message) = match insecure {
        Some(insecure) => (insecure, format!("{} fetches `{shown}` without TLS", object.reference())),
        None if is_plain(url) => (address, format!("{} fetches `{shown}` over plain HTTP", object.reference())),
        None => return None,
    };
    let remedy = match object.kind() {
        _ if insecure.is_some() => "remove `insecure`",
        "GitRepository" => "use `https://` or `ssh://`",
        "HelmRepository" => "use `https://` or `oci://`",
        _ => "use TLS",
    };
    let help = format!("{remedy}: otherwise an attacker on the network can change the fetched content");
    let finding = Finding::error(RULE.id, applied.by.place(place.span()), message).help(help).about(object.reference());
    let fix = match (object.node.get("spec"), insecure) {
        (Some(spec), Some(_)) => fix::remove(spec, "insecure", Safety::Unsafe),
        _ => fix::replace_part(address.span(), url, url.get(..7).unwrap_or_default(), "https://", Safety::Unsafe),
    };
    let finding = finding.fixed_at(fix, |span| applied.by.place(span));
    let server = host(url);
    let summary = match insecure {
        Some(_) => format!(" sources fetch from `{server}` without TLS"),
        None => format!(" sources fetch from `{server}` over plain HTTP"),
    };
    let mut finding = finding.caused_by(format!("{remedy} {server}"), "", summary);
    if is_local(server) {
        finding.severity = Severity::Warning;
    }
    Some(finding)
}

/// The field with the address of a source or an ImageRepository.
fn address(object: &Object) -> Option<&Node> {
    let field = match (object.group(), object.kind()) {
        (groups::SOURCE, "GitRepository" | "OCIRepository" | "HelmRepository") => "url",
        (groups::SOURCE, "Bucket") => "endpoint",
        (groups::IMAGE, "ImageRepository") => "image",
        _ => return None,
    };
    object.node.at_keys(&["spec", field])
}

/// The field that disables TLS for a source. A HelmRepository has this field only if its type is `oci`.
fn insecure(object: &Object) -> Option<&Node> {
    if object.kind() == "HelmRepository" && object.text_at(&["spec", "type"]) != Some("oci") {
        return None;
    }
    object.node.at_keys(&["spec", "insecure"]).filter(|insecure| flag(insecure) == Some(true))
}

fn is_plain(address: &str) -> bool {
    address.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))
}

/// A URL without its credentials.
fn without_user(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_string() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The host of a URL, or of an address without a scheme.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// The names that local clusters give to the machine on which they run.
const OF_MACHINE: [&str; 3] = ["host.docker.internal", "host.k3d.internal", "host.minikube.internal"];

/// Returns whether a host is a Service in the cluster, or is the machine itself.
fn is_local(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    let has_suffix = |suffix: &str| host.ends_with(suffix);
    let is_service = has_suffix(".svc") || has_suffix(".cluster.local") || !host.contains(['.', ':']);
    // `gitea.gitea` is a Service in the namespace with its name.
    let is_named_twice = host.split_once('.').is_some_and(|(service, namespace)| service == namespace);
    let is_loopback = host.starts_with("127.") || host == "::1";
    is_service || is_named_twice || is_loopback || has_suffix(".localhost") || OF_MACHINE.contains(&host)
}
