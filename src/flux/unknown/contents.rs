//! The contents of charts, artifacts and bases that are not in the repository.

use super::base_url::{BaseUrl, names_definitions};
use super::known_contents::{KnownContents, Purpose, is_of_project, known};
use super::publisher::{public_owner, public_repository_owner};
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
pub(super) fn of_applier(applier: Option<&Object>, source: Option<&Object>, owner: Option<&str>) -> Contents {
    match source {
        Some(source) if has_only_definitions(applier, source) => definitions_of_artifact(source),
        Some(source) => of_artifact(source, owner),
        None => Contents::Anything,
    }
}

/// The contents of a release's chart. `owner` is the owner of the fleet's repository.
pub(super) fn of_chart(release: &Object, source: Option<&Object>, owner: Option<&str>) -> Contents {
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
        Some("GitRepository") => return source.map_or(Contents::Anything, |source| of_artifact(source, owner)),
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
    let Some(publisher) = url.as_deref().and_then(public_owner) else { return Contents::Anything };
    match owner {
        Some(owner) if !owner.eq_ignore_ascii_case(&publisher) => {
            let is_definitions = name.ends_with("-crds") || name.ends_with("-crd");
            if is_definitions { Contents::Definitions } else { Contents::Public }
        }
        _ => Contents::Anything,
    }
}

/// Returns whether a source does not need credentials.
fn is_public(source: &Object) -> bool {
    let Some(spec) = source.node.get("spec") else { return false };
    let is_private = ["secretRef", "certSecretRef", "serviceAccountName"].iter().any(|field| spec.get(field).is_some());
    let provider = source.text_at(&["spec", "provider"]);
    !is_private && provider.is_none_or(|provider| provider == "generic")
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

/// The contents of a source's artifact.
fn of_artifact(source: &Object, owner: Option<&str>) -> Contents {
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
    match (owner, publisher) {
        (Some(owner), Some(publisher)) if !owner.eq_ignore_ascii_case(&publisher) && is_public(source) => {
            Contents::Public
        }
        _ => Contents::Anything,
    }
}

/// The contents of a base at a URL. `owner` is the owner of the fleet's repository.
pub(super) fn of_base(url: &BaseUrl, owner: Option<&str>) -> Contents {
    let is_of_other = || url.is_file && owner.is_some_and(|owner| !owner.eq_ignore_ascii_case(url.owner()));
    if url.has_definitions {
        return Contents::Definitions;
    }
    if !is_of_project(&url.repository) && !is_of_other() {
        return Contents::Anything;
    }
    known(&url.repository).map_or(Contents::Public, Contents::Known)
}
