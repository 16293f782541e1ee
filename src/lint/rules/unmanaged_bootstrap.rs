use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, AppliedSet, ApplierKind};
use crate::kube::groups::SYNC_FILE;
use crate::kube::{Object, groups};
use crate::lint::fields::{flag, text_of};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::{Span, folder_of, is_inside, join};
use crate::yaml::{Entry, Node};

declare! {
    /// The root of a cluster does not apply the objects of its own bootstrap.
    ///
    /// ## Why
    ///
    /// `flux bootstrap` writes the directory `flux-system` into the directory of the cluster. The root applies this
    /// directory, so Flux manages itself: it upgrades its controllers from Git, and reverts changes of its own objects.
    /// A kustomization.yaml in the directory of the cluster that does not list `flux-system` ends this.
    ///
    /// If the root applied the directory before, it deletes it: `prune` makes no exception for the namespace, the
    /// controllers, the GitRepository and the Kustomization of Flux itself. With the root, its finalizer deletes all
    /// objects that the root applied. This happens if a commit adds the kustomization.yaml after the bootstrap. If the
    /// file existed before the bootstrap, nothing is deleted. Git alone does not show the order, so the severity is
    /// warning.
    ///
    /// The rule reports a `gotk-sync.yaml` in the directory that its Kustomization applies, if no Kustomization of the
    /// cluster applies that Kustomization.
    ///
    /// ## How to fix it
    ///
    /// List the directory `flux-system` in the kustomization.yaml. If this kustomization.yaml changes its resources, for
    /// example with `namespace`, first move its content to another directory, and list that directory too. Otherwise, the
    /// changes break Flux.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # /clusters/prod/flux-system/gotk-sync.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: flux-system
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1m
    ///   ref:
    ///     branch: main
    ///   url: https://example.com/fleet.git
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: flux-system
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   path: ./clusters/prod
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /clusters/prod/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - settings.yaml
    /// # /clusters/prod/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # /clusters/prod/flux-system/gotk-sync.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: flux-system
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1m
    ///   ref:
    ///     branch: main
    ///   url: https://example.com/fleet.git
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: flux-system
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   path: ./clusters/prod
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /clusters/prod/kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - settings.yaml
    /// # /clusters/prod/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize-controller: prune](https://github.com/fluxcd/kustomize-controller/blob/main/internal/controller/kustomization_controller.go),
    /// [Flux: bootstrap](https://fluxcd.io/flux/installation/bootstrap/generic-git-server/)
    "unmanaged-bootstrap", Warning, "the root of a cluster does not apply the objects of its own bootstrap",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    // The Flux of a hub may manage the Flux of another cluster.
    let remote = fleet.views.iter().filter(|view| view.receiver.target.is_some());
    let applied = remote.flat_map(View::applied_sets).flat_map(AppliedSet::tenancy_objects);
    let managed: BTreeSet<&str> = applied.map(|applied| applied.object.span().file().path()).filter(is_sync).collect();
    for view in fleet.views {
        check_cluster(view, &managed, found);
    }
}

/// Checks a cluster. `managed` are the files with the bootstraps that other clusters apply.
fn check_cluster(view: &View<'_>, managed: &BTreeSet<&str>, found: &mut Findings) {
    let evidence = &view.receiver.cluster.evidence;
    if view.receiver.target.is_some() || !view.is_whole() || evidence.is_generated || evidence.is_to_come {
        return;
    }
    // The set lacks the objects of the bootstrap that another applier applies.
    let bootstraps = view.applied_sets().filter(|set| set.by.kind == ApplierKind::Bootstrap);
    for root in bootstraps.flat_map(AppliedSet::applied).filter(|root| applies_own_directory(view, root)) {
        let object = root.object;
        // An incomplete build may contain the objects.
        if managed.contains(object.span().file().path())
            || !view.applied_by(object).is_some_and(AppliedSet::is_complete)
        {
            continue;
        }
        let path = object.node.at_keys(&["spec", "path"]).unwrap_or(&object.node).span().clone();
        let message = format!("{} does not apply the objects of its own bootstrap", object.reference());
        let listing = Listing::above(view, object);
        let remedy = match &listing {
            Some(Listing { file, home, changes: None, .. }) => format!("list `{home}` in `{file}`"),
            Some(Listing { file, home, changes: Some(field), .. }) => format!(
                "move the content of `{file}` to another directory, and list that directory and `{home}` in `{file}`, \
                 since `{field}` must not change the objects of Flux"
            ),
            None => "include the directory of this file in the source".to_owned(),
        };
        let help = format!(
            "{remedy}: Flux does not manage its own objects, and deletes them together with all others if it applied \
             them before"
        );
        let mut finding = match listing.and_then(|listing| listing.place) {
            Some(place) => Finding::error(RULE.id, place, message).related(path, "the root applies this directory"),
            None => Finding::error(RULE.id, path, message),
        };
        finding.severity = Severity::Warning;
        finding.clusters.push(view.receiver.to_string().into());
        let finding = finding.help(help).about(object.reference());
        let finding = finding.caused_by("", "", " roots do not apply the objects of their own bootstraps");
        found.push(finding.help_for_all(
            "list the directory of each bootstrap in a kustomization.yaml that its root applies, and that does not \
             change the objects of Flux: Flux does not manage its own objects, and deletes them together with all \
             others if it applied them before",
        ));
    }
}

/// Returns whether an object is the Kustomization of a `gotk-sync.yaml` in the directory that it applies and prunes.
fn applies_own_directory(view: &View<'_>, root: &Applied<'_>) -> bool {
    let object = root.object;
    let file = object.span().file().path();
    object.is(groups::KUSTOMIZE, "Kustomization")
        && object.node.at_keys(&["spec", "prune"]).and_then(flag) == Some(true)
        && is_sync(&file)
        && is_inside(file, &view.receiver.cluster.folder)
}

fn is_sync(path: &&str) -> bool {
    path.rsplit('/').next() == Some(SYNC_FILE)
}

/// The nearest kustomization.yaml above a directory, in the directory of the cluster.
struct Listing {
    file: String,
    /// The position of the list of resources, or of the file.
    place: Option<Span>,
    /// The path of the directory, as the kustomization would list it; the path of the `gotk-sync.yaml` if the directory has no
    /// kustomization, or if the list already has a file of the directory.
    home: String,
    /// The field of the kustomization that would break the objects of the bootstrap.
    changes: Option<&'static str>,
}

impl Listing {
    fn above(view: &View<'_>, sync: &Object) -> Option<Self> {
        let (cluster, home) = (&view.receiver.cluster.folder, folder_of(sync.span().file().path()));
        let above = std::iter::successors(Some(folder_of(home)), |folder| {
            (**folder != **cluster && !folder.is_empty()).then(|| folder_of(folder))
        });
        above.filter(|folder| is_inside(folder, cluster)).find_map(|folder| {
            let file = join(folder, view.written.kustomization_in(folder)?)?;
            let own = home.strip_prefix(folder)?.trim_start_matches('/');
            let own_file = view.written.kustomization_in(home);
            let document = view.written.document(&file);
            let listed = document.iter().filter_map(|document| document.get("resources")).flat_map(Node::items);
            let listed = listed.filter_map(|item| Some(item.text()?.trim_start_matches("./").trim_end_matches('/')));
            let (mut lists_home, mut lists_files) = (false, false);
            for path in listed {
                lists_home |= path == own;
                lists_files |= path != own && is_inside(path, own);
            }
            // The kustomization of the directory omits the file.
            if let Some(name) = own_file.filter(|_| lists_home) {
                let file = join(home, name)?;
                let document = view.written.document(&file);
                return Some(Self {
                    place: document.as_ref().map(place),
                    file,
                    home: SYNC_FILE.to_owned(),
                    changes: None,
                });
            }
            let home = if lists_files || own_file.is_none() { format!("{own}/{SYNC_FILE}") } else { own.to_owned() };
            let changes = document.as_ref().and_then(|document| change_of_flux(document, sync));
            Some(Self { file, place: document.as_ref().map(place), home, changes })
        })
    }
}

/// The position of the list of resources of a kustomization, or of the kustomization.
fn place(kustomization: &Node) -> Span {
    let resources = kustomization.entry("resources").or_else(|| kustomization.entry("components"));
    resources.map_or_else(|| kustomization.span().clone(), Entry::key_span)
}

/// The field of a kustomization that would break the objects of Flux: it renames or moves them, or it changes the immutable
/// selectors of the controllers.
fn change_of_flux(kustomization: &Node, sync: &Object) -> Option<&'static str> {
    let is_set = |field: &str| text_of(kustomization, field).is_some();
    if text_of(kustomization, "namespace").is_some_and(|namespace| Some(namespace) != sync.namespace()) {
        return Some("namespace");
    }
    if let Some(field) = ["namePrefix", "nameSuffix"].into_iter().find(|field| is_set(field)) {
        return Some(field);
    }
    if kustomization.get("commonLabels").is_some_and(|labels| !labels.entries().is_empty()) {
        return Some("commonLabels");
    }
    let mut labels = kustomization.get("labels").map_or(&[][..], Node::items).iter();
    labels.any(|labels| labels.get("includeSelectors").and_then(flag) == Some(true)).then_some("labels")
}
