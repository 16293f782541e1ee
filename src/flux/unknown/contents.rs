//! The contents of charts, artifacts and bases that are not in the repository.

use super::base_url::{BaseUrl, names_definitions};
use super::fleet_identity::{FleetIdentity, is_public};
use super::known_contents::{KnownContents, Purpose, is_of_project, known};
use super::publisher::{GIT_HOSTS, public_owner, public_repository_owner};
use crate::address::Address;
use crate::kube::Object;

/// The contents of a producer, as far as its name and its publisher tell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contents {
    Known(&'static KnownContents),
    /// A public project, whose contents do not depend on any fleet.
    Public,
    /// Only CRDs.
    Definitions,
    /// ConfigMaps and Secrets.
    Config,
    /// Any object.
    Anything,
}

impl Contents {
    pub(super) fn is(self, purpose: Purpose) -> bool {
        matches!(self, Self::Known(known) if known.purpose == purpose)
    }
}

/// The contents of the artifact that an applier applies.
pub(super) fn of_applier(applier: Option<&Object>, source: Option<&Object>, fleet: &FleetIdentity) -> Contents {
    match source {
        Some(source) if has_only_definitions(applier, source) => definitions_of_artifact(source),
        Some(source) if installs_flux(applier, source) => known(FLUX).map_or(Contents::Anything, Contents::Known),
        Some(source) => of_artifact(source, fleet),
        None => Contents::Anything,
    }
}

/// The contents of a release's chart.
pub(super) fn of_chart(release: &Object, source: Option<&Object>, fleet: &FleetIdentity) -> Contents {
    let text = |object: &Object, keys: &[&str]| object.text_at(keys).map(ToOwned::to_owned);
    let url = source.and_then(|source| text(source, &["spec", "url"]));
    let (kind, name) = match text(release, &["spec", "chartRef", "kind"]) {
        Some(kind) => (Some(kind), url.clone().or_else(|| text(release, &["spec", "chartRef", "name"]))),
        None => (
            text(release, &["spec", "chart", "spec", "sourceRef", "kind"]),
            text(release, &["spec", "chart", "spec", "chart"]),
        ),
    };
    match kind.as_deref() {
        Some("OCIRepository" | "HelmRepository") => {}
        Some("GitRepository") => return source.map_or(Contents::Anything, |source| of_artifact(source, fleet)),
        _ => return Contents::Anything,
    }
    let name = name.unwrap_or_default();
    if let Some(known) = known(name.trim_end_matches('/')) {
        return Contents::Known(known);
    }
    // helm-controller cannot install a chart without the source of the chart.
    let Some(source) = source else { return Contents::Public };
    if !is_public(source) {
        return Contents::Anything;
    }
    if !url.is_some_and(|url| fleet.is_public_chart_host(&url)) {
        return Contents::Anything;
    }
    let is_definitions = name.ends_with("-crds") || name.ends_with("-crd");
    if is_definitions { Contents::Definitions } else { Contents::Public }
}

/// The contents of an artifact of which an applier applies only CRDs.
fn definitions_of_artifact(source: &Object) -> Contents {
    let known = source.text_at(&["spec", "url"]).and_then(|url| known(Address::new(url).key()));
    known.filter(|known| known.purpose == Purpose::Definitions).map_or(Contents::Definitions, Contents::Known)
}

/// Returns whether the path of an applier or the `ignore` of its source selects only CRDs.
fn has_only_definitions(applier: Option<&Object>, source: &Object) -> bool {
    let path = applier.and_then(|applier| applier.text_at(&["spec", "path"]));
    let ignore = source.text_at(&["spec", "ignore"]).unwrap_or_default();
    let lines = || ignore.lines().map(str::trim);
    let excludes_all = lines().any(|line| matches!(line, "*" | "/*" | "**" | "/**"));
    let mut included = lines().filter_map(|line| line.strip_prefix('!')).peekable();
    path.is_some_and(names_definitions)
        || (excludes_all && included.peek().is_some() && included.all(names_definitions))
}

/// The name of the repository of Flux.
const FLUX: &str = "flux2";

/// Returns whether an applier applies the directory of Flux's repository that contains its installation.
fn installs_flux(applier: Option<&Object>, source: &Object) -> bool {
    let url = source.text_at(&["spec", "url"]).filter(|_| source.kind() == "GitRepository");
    let path = applier.and_then(|applier| applier.text_at(&["spec", "path"])).unwrap_or_default();
    url.is_some_and(|url| Address::new(url).key() == "github.com/fluxcd/flux2")
        && path.trim_start_matches("./").trim_matches('/') == "manifests/install"
}

/// The contents of a source's artifact.
fn of_artifact(source: &Object, fleet: &FleetIdentity) -> Contents {
    let Some(url) = source.text_at(&["spec", "url"]) else { return Contents::Anything };
    let address = Address::new(url);
    let (known, publisher) = match source.kind() {
        "OCIRepository" => (known(address.key()), public_owner(url)),
        "GitRepository" if is_of_project(address.key()) => return Contents::Public,
        "GitRepository" => (None, public_repository_owner(url)),
        _ => return Contents::Anything,
    };
    if let Some(known) = known {
        return Contents::Known(known);
    }
    match publisher {
        Some(publisher) if fleet.is_other(&publisher) && is_public(source) => Contents::Public,
        _ => Contents::Anything,
    }
}

/// The contents of a base at a URL.
pub(super) fn of_base(url: &BaseUrl, fleet: &FleetIdentity) -> Contents {
    // Flux loads a base without credentials, so a directory on a public host belongs to a public repository.
    let is_public = || url.is_file || GIT_HOSTS.contains(&url.host());
    let is_of_other = || is_public() && fleet.is_other(url.owner());
    if url.has_definitions {
        return Contents::Definitions;
    }
    if !is_of_project(&url.repository) && !is_of_other() {
        return Contents::Anything;
    }
    known(&url.repository).map_or(Contents::Public, Contents::Known)
}
