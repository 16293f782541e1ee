//! The publishers that belong to a fleet.

use std::collections::BTreeSet;

use super::known_contents::{is_chart_domain, publishes_charts};
use super::publisher::{GIT_HOSTS, public_owner, public_repository_owner, repository_owner};
use crate::address::Address;
use crate::kube::Object;

/// The owner and the domains of a fleet, which distinguish its own charts and bases from those of public projects.
#[derive(Debug, Clone, Default)]
pub struct FleetIdentity {
    /// The owner of the fleet's repository, in lower case; `None` if it is unknown.
    owner: Option<String>,
    /// The registered domains of the fleet's own hosts.
    domains: BTreeSet<String>,
}

/// The suffixes of hosts that only a private network resolves.
const PRIVATE_SUFFIXES: [&str; 11] =
    ["arpa", "corp", "home", "internal", "intranet", "lan", "local", "localdomain", "localhost", "private", "svc"];

/// Domains under which a provider rents hosts to its customers, so that a host does not show its owner.
const RENTED: [&str; 9] = [
    "aliyuncs.com",
    "amazonaws.com",
    "azurecr.io",
    "azureedge.net",
    "cloudfront.net",
    "digitaloceanspaces.com",
    "pkg.dev",
    "r2.dev",
    "windows.net",
];

/// Words in the names of many owners and hosts.
const COMMON: [&str; 24] = [
    "chart",
    "charts",
    "cloud",
    "container",
    "containers",
    "github",
    "gitlab",
    "gitops",
    "helm",
    "home",
    "homelab",
    "images",
    "infra",
    "infrastructure",
    "lab",
    "labs",
    "library",
    "operator",
    "platform",
    "public",
    "registry",
    "release",
    "releases",
    "stable",
];

/// The shortest name that identifies an owner as a part of another name.
const MIN_NAME: usize = 4;

impl FleetIdentity {
    /// The identity of a fleet with a repository at a URL. `sources` are the sources of a cluster.
    pub fn new<'a>(repository: Option<&str>, sources: impl Iterator<Item = &'a Object>) -> Self {
        let owner = repository.and_then(repository_owner).map(|owner| owner.to_ascii_lowercase());
        let url = |source: &'a Object| source.text_at(&["spec", "url"]).filter(|_| !is_public(source));
        let domains = sources.filter_map(url).chain(repository).filter_map(own_domain).collect();
        Self { owner, domains }
    }

    /// Returns whether an owner is another one than that of the fleet, with an unrelated name.
    pub(super) fn is_other(&self, owner: &str) -> bool {
        self.owner.as_ref().is_some_and(|own| own != &owner.to_ascii_lowercase() && !are_related(own, owner))
    }

    /// Returns whether a chart repository belongs to a public project, not to the fleet.
    pub(super) fn is_public_chart_host(&self, url: &str) -> bool {
        if url.contains('$') || url.contains("{{") {
            return false;
        }
        if let Some(publisher) = public_owner(url).or_else(|| public_repository_owner(url)) {
            // Without an owner, only the publishers that are certainly not a fleet are known.
            let is_known = || self.owner.is_none() && publishes_charts(&publisher.to_ascii_lowercase());
            return self.is_other(&publisher) || is_known();
        }
        let address = Address::new(url);
        let key = address.key().to_ascii_lowercase();
        let host = key.split('/').next().unwrap_or_default();
        let Some(domain) = registered_domain(host) else { return false };
        !RENTED.contains(&domain.as_str())
            && !self.domains.contains(&domain)
            && match &self.owner {
                Some(own) => !key.split(['/', '.']).any(|part| are_related(own, part)),
                None => is_chart_domain(&domain),
            }
    }
}

/// Returns whether a source does not need credentials.
pub(super) fn is_public(source: &Object) -> bool {
    let Some(spec) = source.node.get("spec") else { return false };
    let is_private = ["secretRef", "certSecretRef", "serviceAccountName"].iter().any(|field| spec.get(field).is_some());
    let provider = source.text_at(&["spec", "provider"]);
    !is_private && provider.is_none_or(|provider| provider == "generic")
}

/// The registered domain of a private host; `None` for a host that many owners share.
fn own_domain(url: &str) -> Option<String> {
    if public_owner(url).is_some() {
        return None;
    }
    let address = Address::new(url);
    let host = address.key().split('/').next()?;
    registered_domain(host).filter(|domain| !GIT_HOSTS.contains(&domain.as_str()) && !RENTED.contains(&domain.as_str()))
}

/// The domain that an organization registers: the last two labels, or three below a domain such as `co.uk`; `None` for
/// an address, and for a host of a private network.
fn registered_domain(host: &str) -> Option<String> {
    let name = host.split(':').next().unwrap_or(host);
    let labels: Vec<&str> = name.split('.').collect();
    let (last, second) = (labels.last()?, labels.iter().rev().nth(1)?);
    let is_address = host.starts_with('[') || last.bytes().all(|byte| byte.is_ascii_digit());
    if is_address || PRIVATE_SUFFIXES.contains(last) {
        return None;
    }
    let is_public_suffix = last.len() == 2 && (second.len() <= 3 || ["gouv", "govt"].contains(second));
    let count = if is_public_suffix { 3 } else { 2 };
    Some(labels[labels.len().saturating_sub(count)..].join("."))
}

/// Returns whether one of two names contains the other one or a significant word of it.
fn are_related(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
        let whole: String = parts.clone().collect();
        let all = parts.map(ToOwned::to_owned).chain([whole]).map(|word| word.to_ascii_lowercase());
        all.filter(|word| word.len() >= MIN_NAME && !COMMON.contains(&word.as_str())).collect()
    };
    let others = words(other);
    words(one).iter().any(|a| others.iter().any(|b| a.contains(b.as_str()) || b.contains(a.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_public_for(repository: &str, url: &str) -> bool {
        FleetIdentity::new(Some(repository), std::iter::empty()).is_public_chart_host(url)
    }

    #[test]
    fn a_chart_of_a_project_on_its_own_domain_is_public() {
        let fleet = "https://github.com/acme-corp/fleet";
        for url in [
            "https://charts.authelia.com",
            "oci://oci.trueforge.org/truecharts",
            "oci://codeberg.org/forgejo",
            "oci://gcr.io/k8s-staging/charts",
            "https://istio-release.storage.googleapis.com/charts",
            "https://raw.githubusercontent.com/other/charts/main",
        ] {
            assert!(is_public_for(fleet, url), "{url}");
        }
    }

    #[test]
    fn a_private_host_and_a_host_of_the_owner_belong_to_the_fleet() {
        let fleet = "https://github.com/acme-corp/fleet";
        for url in [
            "oci://registry/charts",
            "http://charts.flux-system.svc:8080",
            "http://charts.flux-system.svc.cluster.local",
            "https://harbor.lan/charts",
            "https://10.0.0.1/charts",
            "oci://localhost:5000/charts",
            "https://${REGISTRY}/charts",
            "https://charts.acme.com",
            "https://charts.example.com/acmecorp",
            "https://raw.githubusercontent.com/acme-corp/charts/main",
            "oci://ghcr.io/acme/charts",
            "oci://acr.azurecr.io/charts",
            "oci://1234.dkr.ecr.eu-west-1.amazonaws.com/charts",
        ] {
            assert!(!is_public_for(fleet, url), "{url}");
        }
        assert!(!is_public_for("ssh://git@git.example.org/team/fleet", "https://charts.example.org"));
        assert!(is_public_for("ssh://git@git.example.org/team/fleet", "https://charts.example.net"));
        assert!(!FleetIdentity::default().is_public_chart_host("https://charts.authelia.com"));
    }

    #[test]
    fn some_domains_have_three_labels() {
        assert_eq!(registered_domain("charts.acme.co.uk").as_deref(), Some("acme.co.uk"));
        assert_eq!(registered_domain("charts.acme.io").as_deref(), Some("acme.io"));
        assert_eq!(registered_domain("acme.com").as_deref(), Some("acme.com"));
    }
}
