use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

declare! {
    /// An object of Flux refers to something in another namespace.
    ///
    /// ## Why
    ///
    /// Where Flux is locked down, its controllers refuse that: the object never becomes ready, the Receiver triggers
    /// nothing, the Alert drops the event. Where it is not, whoever may create such an object in one namespace uses the
    /// sources, and with them the credentials, of any other.
    ///
    /// Error where the controller of that kind has `--no-cross-namespace-refs`, pedantic elsewhere. `dependsOn` may name other
    /// namespaces in any case.
    ///
    /// ## How to fix it
    ///
    /// Refer to an object of the same namespace: give the namespace a source of its own.
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
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/),
    /// [kustomize-controller: cross-namespace references](https://github.com/fluxcd/kustomize-controller/blob/main/internal/controller/kustomization_controller.go)
    "cross-namespace-reference", Error, "an object of Flux refers to something in another namespace",
    Check::Object(check),
}

/// The kinds that may name another namespace: their controller, and where. A list stands for each of its items.
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
        let Some(referred) = object.node.at_keys(path) else { continue };
        let one = std::slice::from_ref(referred);
        for reference in if referred.is_seq() { referred.items() } else { one } {
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
    let (namespace, own) = (node.text().filter(|namespace| !namespace.is_empty())?, own?);
    if namespace == own || namespace.contains('$') {
        return None;
    }
    let said = |key: &str| reference.get(key).and_then(Node::text).unwrap_or_default();
    let what = format!("{} `{namespace}/{}`", said("kind"), said("name"));
    let message = format!("{} refers to {} in another namespace", object.reference(), what.trim_start());
    let locked = context.tenancy.lockdown.as_ref().and_then(|lockdown| lockdown.locks(controller));
    let locked = locked.is_some_and(|locks| locks.cross_namespace);
    let help = if locked {
        format!("name an object of namespace `{own}`: Flux is locked down here, and {controller} refuses others")
    } else {
        format!("name an object of namespace `{own}`: under Flux's multi-tenancy lockdown {controller} refuses others")
    };
    let mut finding = Finding::error(RULE.id, node.span().clone(), message)
        .related(object.span().clone(), format!("`{field}` of this {}", object.kind()))
        .help(help)
        .about(object.reference());
    if !locked {
        finding.severity = Severity::Pedantic;
    }
    Some(finding)
}
