//! The values of a HelmRelease on its cluster.

use super::{ParsedValues, Values, ValuesFault, unreadable_with, values_with};
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::producer::produced::Produced;
use crate::kube::groups;

impl Cluster {
    /// The merged values of a HelmRelease of this cluster; `None` for other objects.
    ///
    /// An unknown value, such as a value of a Secret, has the style `Unknown`, or `Values::open` is set.
    pub fn values(&self, release: &Applied<'_>) -> Option<Values> {
        self.values_with(release, &mut ParsedValues::default())
    }

    /// The merged values of a HelmRelease, as [`Cluster::values`]. `parsed` has the texts that other releases read.
    pub fn values_with(&self, release: &Applied<'_>, parsed: &mut ParsedValues) -> Option<Values> {
        let is_release = release.object.is(groups::HELM, "HelmRelease");
        is_release.then(|| values_with(release.object, parsed, |kind, name| self.input(release, kind, name)))
    }

    /// The texts that a HelmRelease reads as values and that are no YAML mapping.
    pub fn unreadable_values(&self, release: &Applied<'_>, parsed: &mut ParsedValues) -> Vec<ValuesFault> {
        unreadable_with(release.object, parsed, |kind, name| self.input(release, kind, name))
    }

    /// The ConfigMap or Secret from which a HelmRelease reads values.
    fn input(&self, release: &Applied<'_>, kind: &str, name: &str) -> Option<Produced> {
        let object = release.object;
        let namespace = object.namespace().or(release.completion.target_namespace.as_deref()).unwrap_or_default();
        let by = (object.span(), &release.by.reference);
        self.lookups.find((kind, namespace, name), release.by.target.as_ref(), &self.applied_sets, by)
    }
}
