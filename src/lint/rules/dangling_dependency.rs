use crate::api::catalog::Product;
use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::flux::Applied;
use crate::kube::ObjectId;
use crate::lint::facts::own_position::narrowed_path;
use crate::lint::findings::Findings;
use crate::lint::presence::missing::{MissingSearch, comes_from_manifests};
use crate::lint::refs::dependency::{DEPENDENTS, Dependency, dependencies};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// `dependsOn` references an object that does not exist.
    ///
    /// ## Why
    ///
    /// Flux waits for the dependency indefinitely. It does not apply the Kustomization, HelmRelease or ResourceSet, or
    /// a new version of it. Often, a commit renamed the dependency, or the dependency is in another namespace. Without
    /// `namespace`, Flux searches the namespace of the dependent object. A ResourceSet must always set the namespace.
    ///
    /// A Kustomization depends on Kustomizations, and a HelmRelease depends on HelmReleases. An object of the other
    /// kind does not satisfy the dependency. A ResourceSet depends on objects of any kind; the rule ignores objects
    /// that operators create. The rule does not report an object that an unknown input may create: a source without a
    /// local copy, a ResourceSet with live inputs, or a chart in that namespace. The rule assumes that a chart of another
    /// owner or domain creates a Flux object only if the values of its HelmRelease contain the manifest of the object.
    ///
    /// ## How to fix it
    ///
    /// Correct the name or the namespace, or remove the entry.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: databases
    ///       namespace: data
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: databases
    ///   namespace: data
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/databases
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///     namespace: flux-system
    ///   wait: true
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies)
    "dangling-dependency", Error, "`dependsOn` references an object that does not exist", Check::Cluster(check),
    fixes: [Safe, Unsafe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    for (group, kind) in DEPENDENTS {
        for applied in view.of_kind(group, kind) {
            for Dependency { node, target: wanted, .. } in dependencies(applied.object) {
                if let Some(finding) = of_unknown_definition(view, &applied, node, wanted) {
                    found.push(finding);
                    continue;
                }
                let exists = view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name).is_some();
                if exists || !comes_from_manifests(wanted) {
                    continue;
                }
                let Some(missing) = search.missing(wanted, Some(applied.object), found) else { continue };
                let by = applied.object.reference();
                let message = format!("{by} depends on {wanted}, which the cluster does not receive");
                let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).about(by);
                let finding = finding.fixed_at(missing.fix(node), |span| applied.by.place(span));
                let help = "add it, or remove the entry: Flux waits for the missing object indefinitely";
                found.push(match narrowed_path(&applied) {
                    Some(help) => finding.fixed_by(None).help(help),
                    None => missing.explain(finding, help),
                });
            }
        }
    }
}

/// The finding for a dependency on a CustomResourceDefinition in a group of Flux that no release of Flux has.
fn of_unknown_definition(view: &View<'_>, applied: &Applied<'_>, node: &Node, wanted: ObjectId<'_>) -> Option<Finding> {
    let (plural, group) = wanted.name.split_once('.').filter(|_| wanted.kind == "CustomResourceDefinition")?;
    let product = Product::of_group(group).filter(|product| *product != Product::Kubernetes)?;
    let plurals = || product.pack().kinds.iter().filter(|kind| &*kind.group == group).map(|kind| &*kind.plural);
    let is_known = plurals().next().is_none()
        || plurals().any(|known| known == plural)
        || view.get(wanted).is_some()
        || plural.contains("${");
    if is_known {
        return None;
    }
    let by = applied.object.reference();
    let message = format!("{by} depends on {wanted}, which no release of {} has", product.name());
    let why = format!("{} waits for the missing object indefinitely", applied.object.kind());
    let help = match did_you_mean(plural, plurals()) {
        Some(meant) => format!("did you mean `{meant}.{group}`? The {why}"),
        None => format!("correct the name, or remove the entry: the {why}"),
    };
    Some(Finding::error(RULE.id, applied.by.place(node.span()), message).help(help).about(by))
}
