use crate::base::finding::{Finding, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// A kustomization.yaml that a cluster reaches loads something from a URL.
    ///
    /// ## Why
    ///
    /// What lies behind the URL may change without a commit, nobody verifies it, and when its host is down nothing is
    /// reconciled. Locked down, kustomize-controller refuses to clone it, and the whole Kustomization fails; single files
    /// it gets by HTTP all the same, from anywhere that a tenant names.
    ///
    /// Error where kustomize-controller has `--no-remote-bases`, a warning elsewhere. A copy that `--source` gives lets this
    /// program look into it; Flux still loads it from the URL. Silent for folders that no cluster reaches.
    ///
    /// ## How to fix it
    ///
    /// Copy what is needed into the repository, or make it a source of Flux with a Kustomization of its own: that one is
    /// cached, can be verified, and says its revision.
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
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /apps/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - https://github.com/acme/dashboards//deploy?ref=main
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: dashboards
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   ref:
    ///     tag: v1.4.0
    ///   url: https://github.com/acme/dashboards
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: dashboards
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./deploy
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: dashboards
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/),
    /// [Flux: kustomize remote bases](https://fluxcd.io/flux/faq/#should-i-be-using-kustomize-remote-bases)
    "remote-base", Error, "a kustomization that a cluster reaches loads something from a URL",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let lockdown = view.tenancy().lockdown.as_ref();
    let locked = lockdown.and_then(|all| all.locks("kustomize-controller")).is_some_and(|locks| locks.remote_bases);
    // What goes to other clusters is built here, too.
    if view.receiver.target.is_some() {
        return;
    }
    for brought in &view.receiver.cluster.brought {
        for remote in brought.remote() {
            let message = format!("`{}` is loaded from elsewhere each time this is built", remote.url);
            let help = if locked {
                "copy it into the repository, or give it a source and a Kustomization of its own: locked down, Flux \
                 refuses to clone it, and what it gets by HTTP nobody verifies"
            } else {
                "copy it into the repository, or give it a source and a Kustomization of its own, which Flux caches and \
                 can verify"
            };
            let mut finding = Finding::error(RULE.id, brought.by.place(&remote.place), message).help(help);
            if !locked {
                finding.severity = Severity::Warning;
            }
            found.push(finding);
        }
    }
}
