use std::cell::LazyCell;

use crate::base::finding::Finding;
use crate::kube::groups;
use crate::lint::automation::{Automation, Push, production_sources};
use crate::lint::controllers::{follows_from, lacks_controller};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};

declare! {
    /// An image automation pushes to a branch that a production cluster reconciles.
    ///
    /// ## Why
    ///
    /// The automation commits each new tag that an ImagePolicy selects. If a production cluster reconciles the target
    /// branch, an account that can push an image can also deploy the image, without review and without a test in
    /// staging.
    ///
    /// The rule reports nothing if only non-production clusters reconcile the branch, or if the automation changes a
    /// directory that no production cluster applies. If the directory has the name of another environment, such as
    /// `staging`, the Kustomizations of such directories do not count. The name of a cluster, or `.fleetwright.yaml`, determines whether
    /// it is a production cluster.
    ///
    /// ## How to fix it
    ///
    /// Push to a separate branch, and open a pull request from it.
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
    ///     name: flux-system
    ///   git:
    ///     checkout:
    ///       ref:
    ///         branch: main
    ///     commit:
    ///       author:
    ///         email: flux@example.com
    ///     push:
    ///       branch: main
    ///   update:
    ///     path: ./
    ///     strategy: Setters
    /// # /clusters/production/web.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: web
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
    ///     name: flux-system
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
    ///     path: ./
    ///     strategy: Setters
    /// # /clusters/production/web.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: web
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: push updates to a different branch](https://fluxcd.io/flux/guides/image-update/#push-updates-to-a-different-branch)
    "automation-pushes-to-synced-branch", Warning, "an image automation pushes to a branch that a production cluster reconciles",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    for view in fleet.views {
        let lacks_controller = LazyCell::new(|| lacks_controller(view, groups::IMAGE, "ImageUpdateAutomation"));
        for applied in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
            let Some(automation) = Automation::of(view, &applied) else { continue };
            for push in &automation.pushes {
                let Some(finding) = judge(fleet, &automation, push) else { continue };
                found.push(if *lacks_controller { finding.following(follows_from(applied.object)) } else { finding });
            }
        }
    }
}

fn judge(fleet: &Fleet<'_>, automation: &Automation<'_>, push: &Push) -> Option<Finding> {
    let hits = production_sources(fleet, automation, push);
    let (_, source) = hits.first()?;
    let reference = automation.object.reference();
    let message = format!("{reference} pushes to branch `{}`, which a production cluster reconciles", push.branch);
    let help = "push to another branch and review its changes: otherwise an account that can push an image can also \
                deploy the image";
    let mut finding = Finding::warning(RULE.id, push.place.clone(), message).help(help).about(reference);
    finding = finding.related(source.span().clone(), "a production cluster fetches the branch here");
    let after =
        format!(" ImageUpdateAutomations push to branch `{}`, which a production cluster reconciles", push.branch);
    finding = finding.caused_by(format!("{} {}", push.branch, source.reference()), "", after);
    finding.clusters = hits.iter().map(|(name, _)| name.clone()).collect();
    Some(finding)
}
