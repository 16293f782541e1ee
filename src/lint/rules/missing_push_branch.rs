use crate::base::finding::Finding;
use crate::flux::{Applied, ApplyMode};
use crate::kube::groups;
use crate::lint::facts::suspension::is_suspended;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// An image automation has no branch to push to.
    ///
    /// ## Why
    ///
    /// Without `git.push.branch`, image-automation-controller pushes to the branch that it checks out: `git.checkout.ref.branch`, or
    /// else `ref.branch` of the GitRepository. If this reference has no branch but a tag, a range of versions or a commit, or if the
    /// GitRepository has no `ref`, the automation never becomes ready and updates nothing.
    ///
    /// ## How to fix it
    ///
    /// Set `git.push.branch`, and check out a branch.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageUpdateAutomation
    /// metadata:
    ///   name: images
    ///   namespace: flux-system
    /// spec:
    ///   interval: 30m
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///   git:
    ///     commit:
    ///       author:
    ///         email: flux@example.com
    ///   update:
    ///     path: ./apps
    ///     strategy: Setters
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: https://git.example.com/acme/apps.git
    ///   ref:
    ///     semver: 1.x
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageUpdateAutomation
    /// metadata:
    ///   name: images
    ///   namespace: flux-system
    /// spec:
    ///   interval: 30m
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///   git:
    ///     checkout:
    ///       ref:
    ///         branch: main
    ///     commit:
    ///       author:
    ///         email: flux@example.com
    ///     push:
    ///       branch: image-updates
    ///   update:
    ///     path: ./apps
    ///     strategy: Setters
    /// ---
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: https://git.example.com/acme/apps.git
    ///   ref:
    ///     semver: 1.x
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: push](https://fluxcd.io/flux/components/image/imageupdateautomations/#push),
    /// `configurePush` of image-automation-controller
    "missing-push-branch", Error, "an image automation has no branch to push to", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    for automation in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
        if automation.apply_mode() == ApplyMode::Applied && !is_suspended(&automation) {
            found.extend(finding(view, &automation));
        }
    }
}

fn finding(view: &View<'_>, automation: &Applied<'_>) -> Option<Finding> {
    let object = automation.object;
    let spec = object.node.get("spec").filter(|_| !automation.completion.mentions("branch"))?;
    let field = |keys: &[&str]| spec.at_keys(keys).filter(|node| !node.is_null());
    let is_set = |reference: &Node| reference.get("branch").is_some_and(|branch| branch.text() != Some(""));
    if field(&["git", "push"]).is_some_and(is_set) {
        return None;
    }
    let reference = object.reference();
    let help = "set `git.push.branch`: without it, the automation never becomes ready and updates nothing";
    if let Some(checkout) = field(&["git", "checkout"]) {
        let checked_out = checkout.get("ref").filter(|node| node.is_map())?;
        return (!is_set(checked_out)).then(|| {
            let message = format!("{reference} checks out a reference without a branch, and has no branch to push to");
            Finding::error(RULE.id, automation.by.place(checked_out.span()), message).help(help).about(reference)
        });
    }
    let name = field(&["sourceRef", "name"])?;
    let namespace = field(&["sourceRef", "namespace"]).map_or(automation.namespace(), known_text)?;
    let source = view.find(groups::SOURCE, "GitRepository", namespace, known_text(name)?)?;
    // A patch of another applier may set the reference.
    if source.apply_mode() != ApplyMode::Applied || source.completion.mentions("ref") {
        return None;
    }
    let checked_out = source.object.node.at_keys(&["spec", "ref"]).filter(|node| !node.is_null());
    if checked_out.is_some_and(|node| !node.is_map() || is_set(node)) {
        return None;
    }
    let repository = source.object.reference();
    let what = if checked_out.is_some() { "has no branch in `ref`" } else { "has no `ref`" };
    let message = format!("{reference} has no branch to push to, since {repository} {what}");
    let place = checked_out.map_or_else(|| missing_in_spec(source.object, "ref").span, |node| node.span().clone());
    let finding = Finding::error(RULE.id, automation.by.place(name.span()), message).help(help).about(reference);
    Some(finding.related(source.by.place(&place), "no branch here"))
}
