//! The kinds of clusters with the same schemas.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::catalog::{Catalog, Definition, Found, Lookup, Origin, Product, Releases};
use crate::api::release::{Status, api};
use crate::base::go_regexp::Regexp;
use crate::kube::version::Version;
use crate::kube::{Object, groups};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::Node;

/// The reason why objects are not checked if no definition of their kind is known.
pub(super) const UNKNOWN: &str = "its schema is unknown";

/// A kind of a cluster.
pub(super) struct Kind {
    pub(super) found: Found,
    /// Whether the cluster has a release that is newer than the built-in schemas.
    pub(super) is_newer: bool,
}

/// The schema of a kind.
pub(super) enum Answer {
    /// The schema is known.
    Known(Arc<Kind>),
    /// The schema is unknown, for a reason.
    Unchecked(&'static str),
    /// The cluster receives a definition that does not serve the version.
    NotServed(Arc<Definition>),
    /// Other rules report the kind.
    Nothing,
}

/// The kinds of clusters with the same schemas, by version and kind.
pub(super) struct Kinds<'a> {
    catalog: Arc<Catalog>,
    /// The names of the definitions of Flux that the cluster patches.
    patched: BTreeSet<String>,
    known: Index<(&'a str, &'a str), Answer>,
}

impl<'a> Kinds<'a> {
    pub(super) fn new(catalog: &Arc<Catalog>, patched: BTreeSet<String>) -> Self {
        Self { catalog: catalog.clone(), patched, known: Index::default() }
    }

    /// The schema of the kind of an object. `id` is its version and kind.
    pub(super) fn of(&mut self, id: (&'a str, &'a str), object: &Object) -> &Answer {
        let Self { catalog, patched, known } = self;
        known.entry_or(id, || {
            let version = object.api_version().rsplit('/').next().unwrap_or_default();
            match catalog.find(object.group(), version, object.kind()) {
                Lookup::Found(found) if is_of_flux(&found) && patched.iter().any(|name| selects(name, object)) => {
                    Answer::Unchecked("a patch of the cluster changes their definition")
                }
                Lookup::Found(found) => {
                    let is_newer = is_newer(&found, catalog.releases());
                    Answer::Known(Arc::new(Kind { found, is_newer }))
                }
                Lookup::NotServed(definition) => {
                    // `removed-api` reports the versions that a known release does not serve.
                    let is_removed = api(object.group(), version, object.kind())
                        .is_some_and(|api| matches!(api.status(catalog.releases()), Status::Removed(_)));
                    if is_removed { Answer::Nothing } else { Answer::NotServed(definition) }
                }
                Lookup::Ambiguous(_) => Answer::Unchecked("several definitions differ"),
                Lookup::Unknown => Answer::Unchecked(match catalog.releases().flux.as_ref() {
                    Some(flux) if is_newer_than_built_in(Product::Flux, flux) && is_group_of_flux(object.group()) => {
                        "its Flux is newer than the known schemas"
                    }
                    _ => UNKNOWN,
                }),
            }
        })
    }

    /// The schema of a kind that an object has.
    pub(super) fn known(&self, id: (&'a str, &'a str)) -> Option<&Answer> {
        self.known.get(&id)
    }
}

/// The names of the definitions that a FluxInstance or a Kustomization patches, which then differ from the built-in schemas;
/// an empty name represents any definition. The Kustomization may apply an artifact with the manifests of Flux.
pub(super) fn patched_definitions(view: &View<'_>) -> BTreeSet<String> {
    let instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    let instances = instances.map(|one| one.object.node.at_keys(&["spec", "kustomize", "patches"]));
    let appliers = view.of_kind(groups::KUSTOMIZE, "Kustomization");
    let appliers = appliers.map(|one| one.object.node.at_keys(&["spec", "patches"]));
    let patches = instances.chain(appliers).flatten().flat_map(Node::items);
    let of_definitions = patches.filter(|patch| {
        let texts = [patch.at_keys(&["target", "kind"]), patch.get("patch")];
        texts.into_iter().flatten().filter_map(Node::text).any(|text| text.contains("CustomResourceDefinition"))
    });
    let name = |patch: &Node| patch.at_keys(&["target", "name"]).and_then(Node::text).unwrap_or_default().to_string();
    of_definitions.map(name).collect()
}

/// Returns whether the pattern of a patch, which kustomize anchors, may select the definition of an object. Flux rejects an
/// invalid pattern.
fn selects(pattern: &str, object: &Object) -> bool {
    let kind = object.kind().to_ascii_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
    let pattern = if pattern.is_empty() { ".*" } else { pattern };
    let anchored = Regexp::compile(&format!("^(?:{pattern})$"));
    anchored.is_ok_and(|pattern| pattern.is_match(&format!("{plural}.{}", object.group())))
}

fn is_of_flux(found: &Found) -> bool {
    matches!(&found.origin, Origin::BuiltIn(own) if own.product == Product::Flux)
}

/// Returns whether a cluster has a release that is newer than the newest built-in one.
fn is_newer(found: &Found, releases: &Releases) -> bool {
    let Origin::BuiltIn(own) = &found.origin else { return false };
    let release = match own.product {
        Product::Kubernetes => releases.kubernetes.as_ref(),
        Product::Flux => releases.flux.as_ref(),
        Product::FluxOperator => None,
    };
    release.is_some_and(|release| is_newer_than(release, own.release))
}

/// Returns whether Flux defines all kinds of a group.
pub(super) fn is_group_of_flux(group: &str) -> bool {
    Product::Flux.pack().kinds.iter().any(|kind| *kind.group == *group)
}

/// Returns whether a release is newer than every built-in release of a product.
fn is_newer_than_built_in(product: Product, release: &Version) -> bool {
    product.pack().releases.last().is_some_and(|newest| is_newer_than(release, newest))
}

fn is_newer_than(release: &Version, known: &str) -> bool {
    Version::parse(known).is_some_and(|known| (release.major, release.minor) > (known.major, known.minor))
}
