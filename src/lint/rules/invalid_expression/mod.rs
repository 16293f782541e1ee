mod extract;
mod patterns;

use crate::base::finding::{Finding, Label};
use crate::cel::Environment;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

declare! {
    /// Flux cannot parse a CEL expression or a regular expression.
    ///
    /// ## Why
    ///
    /// Flux compiles the expressions of an object at each reconciliation. After a syntax error, a Kustomization, HelmRelease
    /// or ResourceSet applies nothing, a Receiver reconciles nothing, and a Provider does not set the status of a commit.
    /// An ImagePolicy selects no image, an ImageRepository reads no tags, and a source or a ResourceSetInputProvider never
    /// becomes ready. An Alert ignores an invalid pattern, which is a warning. The API server does not parse these
    /// expressions.
    ///
    /// The rule checks the CEL syntax of `readyExpr`, `healthCheckExprs`, `resourceFilter` and `commitStatusExpr`. It does
    /// not check whether the fields that an expression reads exist. Regular expressions have the syntax of Go's package
    /// `regexp`, which has no lookahead. The rule checks `filterTags.pattern`, `exclusionList`, `inclusionList`,
    /// `semverFilter`, `matchOIDCIdentity`, and the filters of a ResourceSetInputProvider.
    ///
    /// An ImagePolicy replaces a group that the pattern does not have by nothing. If `filterTags.extract` has no other
    /// group, all tags become the same text, and a numerical or SemVer policy fails.
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
    /// Since Flux 2.0, until now. Flux 2.2 introduced `matchOIDCIdentity`, Flux 2.3 `semverFilter`, and Flux 2.5
    /// `healthCheckExprs`.
    ///
    /// ## Source
    ///
    /// [Flux: health check expressions](https://fluxcd.io/flux/components/kustomize/kustomizations/#health-check-expressions),
    /// [Flux: filter tags](https://fluxcd.io/flux/components/image/imagepolicies/#filter-tags),
    /// [Go: syntax of regular expressions](https://github.com/google/re2/wiki/Syntax),
    /// `runtime/cel` of `github.com/fluxcd/pkg`; `NewRegexFilter` and `filterOutTags` of image-reflector-controller;
    /// `filterTags` of source-controller; `makeFilters` of flux-operator
    "invalid-expression", Error, "Flux cannot parse a CEL expression or a regular expression", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    check_cel(applied, found);
    patterns::check(applied, RULE.id, found);
    extract::check(applied, RULE.id, found);
}

fn check_cel(applied: &Applied<'_>, found: &mut Findings) {
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
        let Some(text) = known_text(node) else { continue };
        let Some(error) = Environment::syntax_error(text) else { continue };
        let message = format!("`{field}` of {} is not a valid CEL expression: {}", object.reference(), error.message);
        let label = Label::new(applied.by.place(node.span()), "Flux cannot parse this expression");
        let help = format!("correct the expression; {consequence}");
        found.push(Finding::error(RULE.id, label, message).help(help).about(object.reference()));
    }
}
