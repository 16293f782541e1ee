//! The owners of repositories and of public chart hosts, read from URLs.

use crate::address::Address;

/// Public registries whose paths start with the owner.
const REGISTRIES: [&str; 8] = [
    "ghcr.io",
    "quay.io",
    "docker.io",
    "registry-1.docker.io",
    "mirror.gcr.io",
    "public.ecr.aws",
    "mcr.microsoft.com",
    "registry.k8s.io",
];

/// Chart hosts of single projects.
const PROJECTS: [&str; 24] = [
    "charts.bitnami.com",
    "charts.containeroo.ch",
    "charts.crossplane.io",
    "charts.dexidp.io",
    "charts.external-secrets.io",
    "charts.fairwinds.com",
    "charts.gitlab.io",
    "charts.goauthentik.io",
    "charts.jetstack.io",
    "charts.konghq.com",
    "charts.longhorn.io",
    "charts.min.io",
    "charts.rook.io",
    "helm.cilium.io",
    "helm.datadoghq.com",
    "helm.elastic.co",
    "helm.goharbor.io",
    "helm.linkerd.io",
    "helm.ngc.nvidia.com",
    "helm.releases.hashicorp.com",
    "helm.traefik.io",
    "operator.min.io",
    "projectcalico.docs.tigera.io",
    "releases.rancher.com",
];

/// The owner of the content at a public URL; `None` for other URLs.
pub fn public_owner(url: &str) -> Option<String> {
    let address = Address::new(url);
    owner_at(address.key()).or_else(|| {
        // The paths of a mirror contain the names of the mirrored hosts.
        let (_, path) = address.key().split_once('/')?;
        owner_at(path)
    })
}

/// The hosts of public repositories whose paths start with the owner.
const GIT_HOSTS: [&str; 4] = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"];

/// The owner of a repository on a public host; `None` for other hosts.
pub(super) fn public_repository_owner(url: &str) -> Option<String> {
    let host = Address::new(url).key().split('/').next().map(ToOwned::to_owned);
    repository_owner(url).filter(|_| host.is_some_and(|host| GIT_HOSTS.contains(&host.as_str())))
}

fn owner_at(address: &str) -> Option<String> {
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let of_pages = host.strip_suffix(".github.io");
    let of_path = || REGISTRIES.contains(&host).then(|| path.split('/').next().unwrap_or_default());
    let of_host = || PROJECTS.contains(&host).then_some(host);
    of_pages.or_else(of_path).or_else(of_host).map(ToOwned::to_owned)
}

/// The owner of a repository, read from its URL.
pub fn repository_owner(url: &str) -> Option<String> {
    let address = Address::new(url);
    let (_, path) = address.key().split_once('/')?;
    path.split('/').next().map(ToOwned::to_owned)
}
