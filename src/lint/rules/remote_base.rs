use crate::base::finding::{Finding, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// A kustomization.yaml that a cluster reaches loads a base or a file from a URL.
    ///
    /// ## Why
    ///
    /// The content of the URL can change without a commit, and Flux does not verify it. If the host is not available,
    /// the Kustomization fails. Under a lockdown, kustomize-controller does not clone repositories, and the whole
    /// Kustomization fails. kustomize-controller still loads single files over HTTP, from any address that a tenant
    /// sets.
    ///
    /// The rule names URLs without a fixed revision: without `?ref=`, or with a branch or a name such as `v2`. Tags with a
    /// version and commits are fixed.
    ///
    /// The severity is error if kustomize-controller has `--no-remote-bases` and must clone a repository, and otherwise
    /// warning. With a copy from `--source`, Fleetwright also checks the content, but Flux still loads the content from
    /// the URL. The rule ignores directories that no cluster reaches.
    ///
    /// ## How to fix it
    ///
    /// Copy the files into the repository, or add a Flux source with its own Kustomization. Flux caches a source, can
    /// verify it, and reports its revision.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/),
    /// [Flux: kustomize remote bases](https://fluxcd.io/flux/faq/#should-i-be-using-kustomize-remote-bases)
    "remote-base", Error, "a kustomization.yaml that a cluster reaches loads a base or a file from a URL",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let lockdown = view.tenancy().lockdown.as_ref();
    let locked = lockdown.and_then(|all| all.locks("kustomize-controller")).is_some_and(|locks| locks.remote_bases);
    // The cluster that runs Flux also builds the inputs of its remote clusters, so only this cluster has the findings.
    if view.receiver.target.is_some() {
        return;
    }
    for brought in &view.receiver.cluster.applied_sets {
        for remote in brought.remote() {
            let message = format!("Flux loads the URL `{}` at every build", remote.url);
            let moving = remote.moving_revision();
            let message = match moving {
                Some("") => format!("{message}, and the URL has no revision, so its content changes without a commit"),
                Some(name) => {
                    format!(
                        "{message}, and `{name}` is not a fixed revision, so its content can change without a commit"
                    )
                }
                None => message,
            };
            let fails = locked && !remote.is_file();
            let help = if fails {
                "copy the content into the repository, or add a source and a Kustomization for it: under a lockdown, \
                 Flux does not clone repositories, and the whole Kustomization fails"
            } else if moving.is_some() {
                "set the revision to a tag or a commit, or better, copy the content into the repository, or add a source \
                 and a Kustomization for it: Flux caches a source and can verify it"
            } else {
                "copy the content into the repository, or add a source and a Kustomization for it: Flux caches a source \
                 and can verify it"
            };
            let mut finding = Finding::error(RULE.id, brought.by.place(&remote.place), message).help(help);
            if !fails {
                finding.severity = Severity::Warning;
            }
            found.push(match moving {
                Some(_) => finding.caused_by(
                    "moving URL",
                    "Flux loads ",
                    " URLs without a fixed revision at every build, so their contents can change without a commit",
                ),
                None => finding.caused_by("URL", "Flux loads ", " URLs at every build"),
            });
        }
    }
}
