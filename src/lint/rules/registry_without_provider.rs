use crate::base::finding::{Finding, Safety, Severity};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::fields::mentions;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::fix;
use crate::yaml::{Node, Style, Value};

declare! {
    /// Flux fetches from a registry of a cloud provider without the identity of that cloud.
    ///
    /// ## Why
    ///
    /// The registries of AWS, Azure and Google expect a token that is valid for hours. If `provider` is set, Flux
    /// requests such a token from that cloud. Otherwise, Flux sends an anonymous request, which the registry rejects.
    ///
    /// The rule ignores objects with a `secretRef` or a `serviceAccountName`, which may contain credentials, and public
    /// registries.
    ///
    /// A registry of Azure or Google Cloud may be public, so the severity for these registries is pedantic. A
    /// registry of AWS rejects all anonymous requests.
    ///
    /// ## How to fix it
    ///
    /// Set `provider` to `aws`, `azure` or `gcp`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   ref:
    ///     tag: 1.0.0
    ///   url: oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   provider: aws
    ///   ref:
    ///     tag: 1.0.0
    ///   url: oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: OCI repositories, provider](https://fluxcd.io/flux/components/source/ocirepositories/#provider),
    /// [fluxcd/pkg: auth](https://github.com/fluxcd/pkg/tree/main/auth)
    "registry-without-provider", Warning, "an object fetches from a cloud registry without `provider`",
    Check::Object(check), fixes: [Safe, Unsafe],
}

/// The public projects in the registries of Google.
const PUBLIC: [&str; 16] = [
    "cadvisor",
    "cloudsql-docker",
    "cloud-sql-connectors",
    "distroless",
    "etcd-development",
    "gke-release",
    "google-containers",
    "google-samples",
    "google_containers",
    "istio-release",
    "istio-testing",
    "kaniko-project",
    "knative-releases",
    "kubebuilder",
    "projectsigstore",
    "tekton-releases",
];

/// The public hosts: a mirror of Docker Hub, and the charts of Giant Swarm.
const PUBLIC_HOSTS: [&str; 3] = ["mirror.gcr.io", "gsoci.azurecr.io", "giantswarmpublic.azurecr.io"];

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let field = match (object.group(), object.kind()) {
        (groups::SOURCE, "OCIRepository" | "HelmRepository") => "url",
        (groups::IMAGE, "ImageRepository") => "image",
        _ => return,
    };
    let spec = |field: &str| object.node.at_keys(&["spec", field]);
    if ["provider", "secretRef", "serviceAccountName"].iter().any(|field| applied.completion.mentions(field)) {
        return;
    }
    let has = |field: &str| spec(field).is_some_and(|node| !node.is_null());
    let provider = spec("provider").filter(|node| !node.is_null());
    // An unknown provider may be correct.
    if provider.is_some_and(|node| node.text() != Some("generic") && node.text() != Some(""))
        || has("secretRef")
        || has("serviceAccountName")
    {
        return;
    }
    let Some(node) = spec(field) else { return };
    let Some((cloud, name)) = address(object.kind(), node).and_then(cloud) else { return };
    let reference = object.reference();
    let message = format!("{reference} fetches from a registry of {name} without `provider`");
    // Only AWS rejects all anonymous requests.
    let is_private = cloud == "aws";
    let help = if is_private {
        format!("set `provider: {cloud}`: otherwise Flux sends anonymous requests, which the registry rejects")
    } else {
        format!(
            "if the registry is private, set `provider: {cloud}`: otherwise Flux sends anonymous requests, which the \
             registry rejects; if it is public, add an exception, since the login fails outside of {name}"
        )
    };
    let place = provider.unwrap_or(node).span().clone();
    let safety = if is_private { Safety::Safe } else { Safety::Unsafe };
    let fix = object.node.get("spec").and_then(|spec| fix::set(spec, "provider", cloud, &[field], safety));
    let summary = format!(" objects fetch from a registry of {name} without `provider`");
    let mut finding = Finding::warning(RULE.id, place, message).help(help).about(reference).fixed_by(fix);
    if !is_private {
        finding.severity = Severity::Pedantic;
    }
    found.push(finding.caused_by(cloud, "", summary));
}

/// The registry and path of an OCI address; `None` if the address is unknown.
fn address<'a>(kind: &str, node: &'a Node) -> Option<&'a str> {
    let Value::Scalar(text, style) = &node.value else { return None };
    if *style == Style::Unknown || mentions(node, "${") {
        return None;
    }
    match kind {
        "ImageRepository" => Some(text),
        _ => text.strip_prefix("oci://"),
    }
}

/// The value of `provider` for a registry, and the name of the cloud.
///
/// Source: the patterns of `auth/{aws,azure,gcp}/provider.go` of fluxcd/pkg.
fn cloud(address: &str) -> Option<(&'static str, &'static str)> {
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let host = host.split(':').next().unwrap_or(host);
    let ends = |ends: &[&str]| ends.iter().any(|end| host.ends_with(end));
    let account =
        host.split('.').next().is_some_and(|first| !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit()));
    if account && (host.contains(".dkr.ecr") || host.contains(".dkr-ecr")) {
        return Some(("aws", "AWS"));
    }
    if ends(&[".azurecr.io", ".azurecr.cn", ".azurecr.de", ".azurecr.us"]) {
        return (!PUBLIC_HOSTS.contains(&host)).then_some(("azure", "Azure"));
    }
    let project = path.split('/').next().unwrap_or_default();
    let is_google = (host == "gcr.io" || ends(&[".gcr.io", "-docker.pkg.dev"])) && !PUBLIC_HOSTS.contains(&host);
    let is_public = PUBLIC.contains(&project) || project.starts_with("k8s-") || path.contains("public");
    (is_google && !is_public).then_some(("gcp", "Google Cloud"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_determines_the_cloud_of_a_registry() {
        let of = |address: &str| cloud(address).map(|(cloud, _)| cloud);
        assert_eq!(of("123456789012.dkr.ecr.eu-west-1.amazonaws.com/x"), Some("aws"));
        assert_eq!(of("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com/x"), Some("aws"));
        assert_eq!(of("acme.azurecr.io/x"), Some("azure"));
        assert_eq!(of("europe-docker.pkg.dev/acme/apps/x"), Some("gcp"));
        assert_eq!(of("eu.gcr.io/acme/x"), Some("gcp"));
        for other in [
            "public.ecr.aws/x/y",
            "ghcr.io/acme/x",
            "gcr.io/distroless/static",
            "mirror.gcr.io/envoyproxy/gateway-helm",
            "gsoci.azurecr.io/charts/x",
            "mcr.microsoft.com/x",
            "azurecr.io.example.com/x",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
