use crate::base::finding::{Finding, Label};
use crate::cel::Environment;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Node, Style, Value};

declare! {
    /// Flux cannot parse a CEL expression.
    ///
    /// ## Why
    ///
    /// Flux compiles the expressions of an object at each reconciliation. After a syntax error, a Kustomization, HelmRelease
    /// or ResourceSet applies nothing, a Receiver reconciles nothing, and a Provider does not set the status of a commit.
    /// The API server does not parse these expressions.
    ///
    /// The rule checks the syntax of `readyExpr`, `healthCheckExprs`, `resourceFilter` and `commitStatusExpr`. It does not
    /// check whether the fields that an expression reads exist.
    ///
    /// ## How to fix it
    ///
    /// Correct the expression.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   wait: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   healthCheckExprs:
    ///     - apiVersion: example.com/v1
    ///       kind: Database
    ///       current: status.phase === 'Running'
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   wait: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   healthCheckExprs:
    ///     - apiVersion: example.com/v1
    ///       kind: Database
    ///       current: status.phase == 'Running'
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.5, until now. Flux 2.5 introduced `healthCheckExprs`.
    ///
    /// ## Source
    ///
    /// [Flux: health check expressions](https://fluxcd.io/flux/components/kustomize/kustomizations/#health-check-expressions),
    /// `runtime/cel` of `github.com/fluxcd/pkg`
    "invalid-expression", Error, "Flux cannot parse a CEL expression", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let (field, consequence) = match (object.group(), object.kind()) {
        (groups::KUSTOMIZE, "Kustomization")
        | (groups::HELM, "HelmRelease")
        | (groups::FLUX_OPERATOR, "ResourceSet") => (None, "Flux applies nothing until then"),
        (groups::NOTIFICATION, "Receiver") => (Some("resourceFilter"), "the Receiver reconciles nothing until then"),
        (groups::NOTIFICATION, "Provider") => {
            (Some("commitStatusExpr"), "Flux does not set the status of commits until then")
        }
        _ => return,
    };
    let Some(spec) = object.node.get("spec") else { return };
    let items = |list: &str| spec.get(list).map_or(&[][..], Node::items).iter();
    let dependencies = items("dependsOn").filter_map(|item| Some(("readyExpr", item.get("readyExpr")?)));
    let checks = items("healthCheckExprs").flat_map(|item| {
        ["current", "failed", "inProgress"].into_iter().filter_map(|field| Some((field, item.get(field)?)))
    });
    let own = field.and_then(|field| Some((field, spec.get(field)?)));
    for (field, node) in dependencies.chain(checks).chain(own) {
        let Value::Scalar(text, style) = &node.value else { continue };
        if *style == Style::Unknown || text.is_empty() || text.contains("${") {
            continue;
        }
        let Some(error) = Environment::syntax_error(text) else { continue };
        let message = format!("`{field}` of {} is not a valid CEL expression: {}", object.reference(), error.message);
        let label = Label::new(applied.by.place(node.span()), "Flux cannot parse this expression");
        let help = format!("correct the expression; {consequence}");
        found.push(Finding::error(RULE.id, label, message).help(help).about(object.reference()));
    }
}
