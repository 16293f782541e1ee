use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, components};
use crate::kube::{Object, groups};
use crate::kustomize::patch_faults;
use crate::lint::context::Context;
use crate::lint::facts::suspension::is_suspended;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

declare! {
    /// A patch of a HelmRelease or of a FluxInstance is not valid.
    ///
    /// ## Why
    ///
    /// helm-controller applies the patches of `postRenderers` to the objects of a chart, and Flux Operator applies
    /// `kustomize.patches` to the objects of Flux. Both use kustomize, which rejects a patch that is no YAML, an unknown operation of
    /// a JSON patch, and a strategic merge patch without `kind` or `metadata.name`, even if `target` selects the objects. The release
    /// is then neither installed nor upgraded, and the FluxInstance never becomes ready.
    ///
    /// kustomize reads the operations of a JSON patch only if the target selects an object. A fault of an operation is therefore a
    /// warning, unless the target selects a controller of Flux: the patch may fail or have no effect.
    ///
    /// [`failed-build`](failed-build.md) reports the patches of Kustomizations, and [`unmatched-patch`](unmatched-patch.md)
    /// the targets of patches.
    ///
    /// ## How to fix it
    ///
    /// Correct the patch.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    ///   postRenderers:
    ///     - kustomize:
    ///         patches:
    ///           - target:
    ///               kind: Deployment
    ///             patch: |
    ///               spec:
    ///                 replicas: 2
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    ///   postRenderers:
    ///     - kustomize:
    ///         patches:
    ///           - target:
    ///               kind: Deployment
    ///             patch: |
    ///               apiVersion: apps/v1
    ///               kind: Deployment
    ///               metadata:
    ///                 name: web
    ///               spec:
    ///                 replicas: 2
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: post renderers](https://fluxcd.io/flux/components/helm/helmreleases/#post-renderers),
    /// [Flux Operator: FluxInstance](https://fluxoperator.dev/docs/crd/fluxinstance/#kustomize-patches);
    /// the package `postrender` of helm-controller, `PatchTransformer` of kustomize
    "invalid-patch", Error, "a patch of a HelmRelease or of a FluxInstance is not valid", Check::Object(check),
}

/// The maximum number of patches of an object that are checked.
const MAX_PATCHES: usize = 1_000;

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let spec = |keys: &[&str]| object.node.at_keys(keys).map_or(&[][..], Node::items);
    let (patches, consequence): (Vec<&Node>, _) = match (object.group(), object.kind()) {
        (groups::HELM, "HelmRelease") => {
            let renderers = spec(&["spec", "postRenderers"]).iter();
            let lists = renderers.filter_map(|renderer| renderer.at_keys(&["kustomize", "patches"]));
            (lists.flat_map(Node::items).collect(), "Flux neither installs nor upgrades the release")
        }
        (groups::FLUX_OPERATOR, "FluxInstance") => {
            (spec(&["spec", "kustomize", "patches"]).iter().collect(), "the FluxInstance never becomes ready")
        }
        _ => return,
    };
    if patches.is_empty() || applied.completion.mentions("patch") {
        return;
    }
    if patches.len() > MAX_PATCHES {
        found.unchecked(format!("the patches of {} after the first {MAX_PATCHES}", object.reference()));
    }
    for patch in patches.into_iter().take(MAX_PATCHES) {
        // A variable may contain any text.
        if patch.get("patch").and_then(known_text).is_none() {
            continue;
        }
        for fault in patch_faults(patch) {
            let message = format!("a patch of {} is not valid: {}", object.reference(), fault.message);
            let label = Label::new(applied.by.place(&fault.at.span), "kustomize rejects this patch");
            let help = match fault.help.as_deref() {
                Some(help) => format!("{help}; otherwise {consequence}"),
                None => format!("correct the patch; otherwise {consequence}"),
            };
            let finding = Finding::error(RULE.id, label, message).help(help).about(object.reference());
            let is_certain = fault.severity == Severity::Error || selects_controller(object, patch);
            let severity = if is_certain && !is_suspended(applied) { Severity::Error } else { Severity::Warning };
            found.push(Finding { severity, ..finding });
        }
    }
}

/// Returns whether the target of a patch of a FluxInstance certainly selects the Deployment of a controller.
fn selects_controller(object: &Object, patch: &Node) -> bool {
    let Some(target) = patch.get("target").filter(|_| object.group() == groups::FLUX_OPERATOR) else { return false };
    let components = components(object);
    target.entries().iter().all(|entry| match &*entry.key {
        "kind" => entry.node.text() == Some("Deployment"),
        "name" => entry.node.text().is_some_and(|name| components.contains(&name)),
        _ => false,
    })
}
