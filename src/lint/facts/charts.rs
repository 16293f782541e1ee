//! What charts may bring.

use super::duration_fields::mentions;
use crate::address::Address;
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::refs::source_reference::source_of;
use crate::lint::refs::wanted::said;
use crate::lint::view::View;

/// Registries that hold charts for everybody, whose paths begin with their owner.
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

/// Projects that publish their charts on a host of their own.
const PROJECTS: [&str; 8] = [
    "charts.bitnami.com",
    "charts.crossplane.io",
    "charts.external-secrets.io",
    "charts.jetstack.io",
    "charts.rook.io",
    "helm.cilium.io",
    "helm.releases.hashicorp.com",
    "helm.traefik.io",
];

/// The start of the names of Flux's own charts, which do bring its objects.
const OF_FLUX: &str = "flux";

/// Whether the chart of a release may bring a Flux object of a name.
///
/// Charts that somebody else publishes for everybody do not know the names that a fleet gives to its Flux objects, unless
/// the values say them. Those of a fleet's own owner, or from a place that not everybody may read, may bring anything.
pub(crate) fn may_bring_flux(view: &View<'_>, release: &Object, name: &str) -> bool {
    if release.node.at_keys(&["spec", "values"]).is_some_and(|values| mentions(values, name)) {
        return true;
    }
    let Some(reference) = source_of(release) else { return true };
    let chart = release.text_at(&["spec", "chart", "spec", "chart"]).unwrap_or(reference.wanted.name);
    let wanted = reference.wanted;
    let is_hosted = matches!(wanted.kind, "OCIRepository" | "HelmRepository");
    if !is_hosted || chart.starts_with(OF_FLUX) {
        return true;
    }
    // Without its source it is not even installed.
    let Some(source) = view.find(groups::SOURCE, wanted.kind, wanted.namespace, wanted.name) else { return false };
    let spec = source.object.node.get("spec");
    let is_private = ["secretRef", "certSecretRef", "serviceAccountName"];
    let is_private = spec.is_none_or(|spec| is_private.iter().any(|field| spec.get(field).is_some()));
    let provider = source.object.text_at(&["spec", "provider"]);
    if is_private || provider.is_some_and(|provider| provider != "generic") {
        return true;
    }
    let Some(owner) = source.object.text_at(&["spec", "url"]).and_then(public_owner) else { return true };
    own_owner(view).is_none_or(|own| own.eq_ignore_ascii_case(&owner))
}

/// Who publishes at an address where everybody may fetch; `None` elsewhere.
pub(super) fn public_owner(url: &str) -> Option<String> {
    let address = Address::new(url);
    owner_at(address.key()).or_else(|| {
        // What mirrors other hosts has their names in its paths.
        let (_, path) = address.key().split_once('/')?;
        owner_at(path)
    })
}

fn owner_at(address: &str) -> Option<String> {
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let of_pages = host.strip_suffix(".github.io");
    let of_path = || REGISTRIES.contains(&host).then(|| path.split('/').next().unwrap_or_default());
    let of_host = || PROJECTS.contains(&host).then_some(host);
    of_pages.or_else(of_path).or_else(of_host).map(ToOwned::to_owned)
}

/// Whose the repository is that the cluster's Flux syncs.
fn own_owner(view: &View<'_>) -> Option<String> {
    let source = view.appliers().find_map(|applier| applier.source.as_ref())?;
    let found = view.find(source.group(), &source.kind, source.namespace.as_deref()?, &source.name)?;
    repository_owner(said(found.object.node.get("spec")?, "url")?)
}

/// Whose a repository is, by its address.
pub(super) fn repository_owner(url: &str) -> Option<String> {
    let address = Address::new(url);
    let (_, path) = address.key().split_once('/')?;
    path.split('/').next().map(ToOwned::to_owned)
}
