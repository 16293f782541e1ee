//! Whether a chart may contain Flux objects.

use crate::kube::{Object, groups};
use crate::lint::facts::publisher::{public_owner, repository_owner};
use crate::lint::fields::{mentions, text_of};
use crate::lint::refs::source_reference::source_of;
use crate::lint::view::View;

/// The prefix of the names of Flux's own charts, which contain Flux objects.
const FLUX_CHART_PREFIX: &str = "flux";

/// Returns whether the chart of a release may contain a Flux object with a name.
///
/// A public chart of another owner does not know the names of a fleet's Flux objects, unless the values contain them.
/// A chart of the fleet's own owner, or from a private source, may contain any object.
pub(crate) fn may_contain_flux(view: &View<'_>, release: &Object, name: &str) -> bool {
    if release.node.at_keys(&["spec", "values"]).is_some_and(|values| mentions(values, name)) {
        return true;
    }
    let Some(reference) = source_of(release) else { return true };
    let target = reference.target;
    let chart = release.text_at(&["spec", "chart", "spec", "chart"]).unwrap_or(target.name);
    let is_hosted = matches!(target.kind, "OCIRepository" | "HelmRepository");
    if !is_hosted || chart.starts_with(FLUX_CHART_PREFIX) {
        return true;
    }
    // Helm-controller cannot install a chart without its source.
    let Some(source) = view.find(groups::SOURCE, target.kind, target.namespace, target.name) else { return false };
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

/// The owner of the repository that the cluster's Flux reconciles.
fn own_owner(view: &View<'_>) -> Option<String> {
    let source = view.appliers().find_map(|applier| applier.source.as_ref())?;
    let found = view.find(source.group(), &source.kind, source.namespace.as_deref()?, &source.name)?;
    repository_owner(text_of(found.object.node.get("spec")?, "url")?)
}
