use crate::base::finding::Label;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};
use crate::yaml::{Entry, Node};

declare! {
    /// A FluxInstance has no `cluster.size`.
    ///
    /// ## Why
    ///
    /// The size determines the concurrency and the memory limits of the controllers. The default is intended for a
    /// small cluster. On a cluster with hundreds of Kustomizations or HelmReleases, reconciliations are slow, and
    /// Kubernetes restarts a controller that exceeds its memory limit. The rule ignores an instance whose patches set the
    /// concurrency and the memory limits.
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
    /// ## Versions
    ///
    /// Since Flux 2.2, until now. Flux Operator installs no older version.
    ///
    /// ## Source
    ///
    /// [Flux Operator: cluster configuration](https://fluxoperator.dev/docs/crd/fluxinstance/#cluster-configuration)
    "unsized-instance", Pedantic, "a FluxInstance does not set `cluster.size`", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let instance = applied.object;
    let is_instance = instance.is(groups::FLUX_OPERATOR, "FluxInstance");
    let has_size = instance.text_at(&["spec", "cluster", "size"]).is_some_and(|size| !size.is_empty());
    if !is_instance || has_size || applied.completion.mentions("size") || is_sized_by_patches(&instance.node) {
        return;
    }
    let message = format!("{} has no `spec.cluster.size`", instance.reference());
    let place = instance.node.at_keys(&["spec"]).and_then(|spec| spec.entry("cluster")).map(Entry::key_span);
    let place =
        place.map_or_else(|| missing_in_spec(instance, "cluster.size"), |place| Label::new(place, "no `size` here"));
    let help = "set `spec.cluster.size` to `small`, `medium` or `large`: the size determines the concurrency and the \
                memory limits of the controllers";
    found.push(pedantic(RULE.id, place, message).help(help).about(instance.reference()));
}

/// Returns whether `spec.kustomize.patches` sets the concurrency and the memory limits.
fn is_sized_by_patches(instance: &Node) -> bool {
    let patches = instance.at_keys(&["spec", "kustomize", "patches"]).map(Node::items).unwrap_or_default();
    let texts = || patches.iter().filter_map(|patch| patch.get("patch")?.text());
    texts().any(|text| text.contains("--concurrent="))
        && texts().any(|text| text.contains("limits") && text.contains("memory"))
}
