use crate::base::finding::Label;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};
use crate::yaml::Entry;

declare! {
    /// A FluxInstance has no `cluster.size`.
    ///
    /// ## Why
    ///
    /// The size sets how many objects the controllers work on at once and how much memory they may take. The default suits a
    /// small cluster; on one with hundreds of Kustomizations or HelmReleases changes arrive late, and a controller that is killed
    /// for its memory starts over.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.cluster.size` to `small`, `medium` or `large`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   cluster:
    ///     size: medium
    ///   distribution:
    ///     registry: ghcr.io/fluxcd
    ///     version: 2.x
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux Operator: cluster configuration](https://fluxoperator.dev/docs/crd/fluxinstance/#cluster-configuration)
    "unsized-instance", Pedantic, "a FluxInstance does not say how large its cluster is", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let instance = applied.object;
    let is_instance = instance.is(groups::FLUX_OPERATOR, "FluxInstance");
    let said = instance.text_at(&["spec", "cluster", "size"]).is_some_and(|size| !size.is_empty());
    if !is_instance || said || applied.completion.mentions("size") {
        return;
    }
    let message = format!("{} has no `spec.cluster.size`", instance.reference());
    let place = instance.node.at_keys(&["spec"]).and_then(|spec| spec.entry("cluster")).map(Entry::key_span);
    let place =
        place.map_or_else(|| missing_in_spec(instance, "cluster.size"), |place| Label::new(place, "no `size` here"));
    let help = "set it to `small`, `medium` or `large`: it decides the controllers' concurrency and memory";
    found.push(pedantic(RULE.id, place, message).help(help).about(instance.reference()));
}
