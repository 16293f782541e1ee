use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::refs::notification::namespace_pattern;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

declare! {
    /// A Flux object references an object in another namespace.
    ///
    /// ## Why
    ///
    /// If Flux is locked down, its controllers reject such a reference: an object that references a source never
    /// becomes ready, a Receiver does not trigger a reconciliation, and an Alert does not forward events. Without the
    /// lockdown, an account that can create such an object in one namespace can use the sources of every other
    /// namespace. The object also uses the credentials of these sources.
    ///
    /// The severity is error if the controller of the kind has `--no-cross-namespace-refs`, and otherwise pedantic.
    /// `dependsOn` can always reference other namespaces.
    ///
    /// ## How to fix it
    ///
    /// Reference an object of the same namespace. For example, create a source in that namespace.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///     namespace: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   dependsOn:
    ///     - name: databases
    ///       namespace: flux-system
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/),
    /// [kustomize-controller: cross-namespace references](https://github.com/fluxcd/kustomize-controller/blob/main/internal/controller/kustomization_controller.go)
    "cross-namespace-reference", Error, "a Flux object references an object in another namespace",
    Check::Object(check),
}

/// The fields that can reference other namespaces: group, kind, controller, and path of the reference or of the list.
const REFERRING: [(&str, &str, &str, &[&str]); 8] = [
    (groups::KUSTOMIZE, "Kustomization", "kustomize-controller", &["spec", "sourceRef"]),
    (groups::HELM, "HelmRelease", "helm-controller", &["spec", "chartRef"]),
    (groups::HELM, "HelmRelease", "helm-controller", &["spec", "chart", "spec", "sourceRef"]),
    (groups::NOTIFICATION, "Receiver", "notification-controller", &["spec", "resources"]),
    (groups::NOTIFICATION, "Alert", "notification-controller", &["spec", "eventSources"]),
    (groups::IMAGE, "ImagePolicy", "image-reflector-controller", &["spec", "imageRepositoryRef"]),
    (groups::IMAGE, "ImageUpdateAutomation", "image-automation-controller", &["spec", "sourceRef"]),
    (groups::SOURCE_EXTENSIONS, "ArtifactGenerator", "source-watcher", &["spec", "sources"]),
];

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.group().ends_with("fluxcd.io") {
        return;
    }
    for (group, kind, controller, path) in REFERRING {
        if !object.is(group, kind) {
            continue;
        }
        let Some(node) = object.node.at_keys(path) else { continue };
        for reference in if node.is_seq() { node.items() } else { std::slice::from_ref(node) } {
            let field = path.last().copied().unwrap_or_default();
            found.extend(judge(object, applied.namespace(), (controller, field), reference, context));
        }
    }
}

fn judge(
    object: &Object,
    own: Option<&str>,
    (controller, field): (&str, &str),
    reference: &Node,
    context: Context<'_>,
) -> Option<Finding> {
    let node = reference.get("namespace")?;
    let namespace = node.text().filter(|namespace| !namespace.is_empty())?;
    let own = own?;
    // `dangling-notification` reports the namespace of an event source that matches no namespace.
    let is_pattern = field == "eventSources" && namespace_pattern(reference).is_some();
    if namespace == own || namespace.contains('$') || is_pattern {
        return None;
    }
    let text = |key: &str| reference.get(key).and_then(Node::text).unwrap_or_default();
    let what = format!("{} `{namespace}/{}`", text("kind"), text("name"));
    let message = format!("{} references {} in another namespace", object.reference(), what.trim_start());
    let locked = context.tenancy.lockdown.as_ref().and_then(|lockdown| lockdown.locks(controller));
    let locked = locked.is_some_and(|locks| locks.cross_namespace);
    let help = if locked {
        format!(
            "reference an object of namespace `{own}`: Flux is locked down, and {controller} rejects references to \
             other namespaces"
        )
    } else {
        format!(
            "reference an object of namespace `{own}`: with the multi-tenancy lockdown of Flux, {controller} rejects \
             references to other namespaces"
        )
    };
    let mut finding = Finding::error(RULE.id, node.span().clone(), message)
        .related(object.span().clone(), format!("`{field}` of this {}", object.kind()))
        .help(help)
        .about(object.reference())
        .caused_by(
            format!("{own} {what}"),
            "",
            format!(" objects of namespace `{own}` reference {} in another namespace", what.trim_start()),
        );
    if !locked {
        finding.severity = Severity::Pedantic;
    }
    Some(finding)
}
