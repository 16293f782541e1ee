//! The owners of repositories and of public registries, read from URLs.

use crate::address::Address;

/// Public registries and hosts whose paths start with the owner.
const REGISTRIES: [&str; 9] = [
    "ghcr.io",
    "quay.io",
    "docker.io",
    "registry-1.docker.io",
    "mirror.gcr.io",
    "public.ecr.aws",
    "mcr.microsoft.com",
    "registry.k8s.io",
    "raw.githubusercontent.com",
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
pub(super) const GIT_HOSTS: [&str; 4] = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"];

/// The owner of a repository on a public host; `None` for other hosts.
pub(super) fn public_repository_owner(url: &str) -> Option<String> {
    let host = Address::new(url).key().split('/').next().map(ToOwned::to_owned);
    repository_owner(url).filter(|_| host.is_some_and(|host| GIT_HOSTS.contains(&host.as_str())))
}

fn owner_at(address: &str) -> Option<String> {
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let of_pages = host.strip_suffix(".github.io");
    let of_path = || REGISTRIES.contains(&host).then(|| path.split('/').next().unwrap_or_default());
    of_pages.or_else(of_path).map(ToOwned::to_owned)
}

/// The owner of a repository, read from its URL.
pub fn repository_owner(url: &str) -> Option<String> {
    let address = Address::new(url);
    let (_, path) = address.key().split_once('/')?;
    path.split('/').next().map(ToOwned::to_owned)
}
