use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::base::finding::{Finding, Label, ObjectRef};
use crate::flux::{Applied, Applier, ApplierKind, is_flux};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::order::definitions::may_be_installed;
use crate::lint::presence::failed_appliers::FailedAppliers;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::{Name, Node, Value};

declare! {
    /// The cluster does not receive the namespace of an object.
    ///
    /// ## Why
    ///
    /// The API server rejects an object if its namespace does not exist. Flux does not apply a Kustomization with a
    /// rejected object. A namespace that a user created by hand hides the fault until the setup of the next cluster.
    ///
    /// Helm does not create the target namespace of a release either, unless the HelmRelease sets
    /// `install.createNamespace`.
    ///
    /// The severity is warning, since users and installers of platforms often create namespaces.
    ///
    /// The rule ignores:
    ///
    /// - the namespaces of Kubernetes and of common platforms, and those with only objects for an add-on of MicroK8s
    /// - a namespace that a HelmRelease in another namespace creates with `createNamespace`
    /// - a namespace that a policy, a namespace request or another object creates
    /// - the namespace of Argo CD, and a namespace that an Application of the repository targets
    /// - a namespace with the same name as a chart, because the chart may contain it, unless its contents are known
    /// - a namespace that an unbuilt input may contain
    /// - the namespace of an operator that nothing in the repository installs, if it contains only objects of the operator
    /// - a namespace with only objects of Flux, or with the service account `flux-applier` of Azure, if no file bootstraps a
    ///   cluster or installs Flux: the platform may configure Flux there
    /// - remote clusters that Flux accesses with a `kubeConfig`, because other tools may create namespaces there
    ///
    /// ## How to fix it
    ///
    /// Add the Namespace to the objects that the cluster receives: to the same Kustomization, or to a Kustomization
    /// that it depends on. Or correct the name.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: namespaces](https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/)
    "missing-namespace", Warning, "the cluster does not receive the namespace of an object",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let all: Vec<(Vec<Missing<'_>>, Findings)> = fleet.of_views(judge);
    let each = all.iter().flat_map(|(missing, _)| missing).map(|missing| (missing.remedy, missing.namespace));
    let each: BTreeSet<(Remedy, &Name)> = each.collect();
    let are_several = |remedy: &Remedy| each.iter().filter(|(one, _)| one == remedy).count() > 1;
    let several: Vec<Remedy> = Remedy::ALL.into_iter().filter(are_several).collect();
    for (missing, of_view) in all {
        found.merge(of_view);
        let Some(view) = missing.first().map(|missing| missing.view) else { continue };
        // If another cluster receives a namespace, this cluster probably lacks the namespace by mistake.
        let elsewhere = |namespace: &str| {
            fleet.distinct().find_map(|view| Some((view, view.find("", "Namespace", "", namespace)?.by)))
        };
        let providers: Vec<_> = missing.iter().map(|missing| elsewhere(missing.namespace)).collect();
        let mut count: BTreeMap<&ObjectRef, usize> = BTreeMap::new();
        for (_, by) in providers.iter().flatten() {
            *count.entry(&by.reference).or_default() += 1;
        }
        let (mut users, failed) = (users(view), FailedAppliers::of(view));
        for (missing, provider) in missing.into_iter().zip(&providers) {
            let is_absent = |other: &View<'_>, by: &Applier| {
                count.get(&by.reference).is_some_and(|count| *count > 1) && lacks(view, other, by)
            };
            let absent = provider.filter(|(other, by)| is_absent(other, by));
            let users = users.remove(&**missing.namespace).unwrap_or_default();
            for (at, finding) in missing.findings(users, &failed).enumerate() {
                found.push(match absent {
                    // This finding counts namespaces.
                    Some(_) if at > 0 => break,
                    Some((other, by)) => of_absent_applier(finding, view, other, by),
                    None if several.contains(&missing.remedy) => missing.remedy.of_several(finding),
                    None => finding,
                });
            }
        }
    }
}

/// Returns whether a cluster lacks a Kustomization of another cluster, and could have the same Kustomization.
fn lacks(view: &View<'_>, other: &View<'_>, by: &Applier) -> bool {
    let is_of_cluster = by.folder.split('/').any(|segment| *segment == *other.receiver.cluster.name);
    by.kind == ApplierKind::Kustomization
        && !is_of_cluster
        && !view.receiver.cluster.appliers.iter().any(|own| own.reference == by.reference || own.folder == by.folder)
}

/// Gives a finding the cause that a cluster lacks a Kustomization of another cluster.
fn of_absent_applier(finding: Finding, view: &View<'_>, other: &View<'_>, by: &Applier) -> Finding {
    let (cluster, other, applier) = (&view.receiver, &other.receiver, &by.reference);
    let summary = format!(" namespaces that {applier} applies on cluster `{other}`");
    let help = format!(
        "add a Kustomization for `{}`, as on cluster `{other}`: without the namespaces, the appliers of the objects \
         fail",
        by.folder
    );
    finding
        .caused_by(format!("{applier} of {other} on {cluster}"), "the cluster does not receive ", summary)
        .help_for_all(help)
}

/// The part of the names of objects that the add-ons of `MicroK8s` read, such as `nginx-load-balancer-microk8s-conf`.
const MICROK8S: &str = "microk8s";

/// The kinds of objects that Flux reads.
const INPUTS: [&str; 2] = ["ConfigMap", "Secret"];

/// The service account of each Flux configuration of Azure, which creates the namespace of the configuration too.
const ACCOUNT_OF_AZURE: &str = "flux-applier";

/// A namespace that a cluster does not receive.
struct Missing<'a> {
    view: &'a View<'a>,
    namespace: &'a Name,
    /// The first use of the namespace.
    usage: Use<'a>,
    remedy: Remedy,
}

impl<'a> Missing<'a> {
    /// The findings of the objects that use the namespace in the same way.
    fn findings(
        &self,
        users: Vec<(Applied<'a>, Use<'a>)>,
        failed: &FailedAppliers<'_, '_>,
    ) -> impl Iterator<Item = Finding> {
        let Self { view, namespace, usage, .. } = *self;
        let users = users.into_iter().filter(move |(_, other)| mem::discriminant(other) == mem::discriminant(&usage));
        // Many appliers may apply one object.
        let mut seen: Index<(usize, u32, usize), ()> = Index::default();
        let users = users.filter(move |(applied, _)| {
            let place = applied.by.place(applied.object.span());
            let (path, start, _) = place.order();
            seen.insert((memory_address(applied.object), start, path.as_ptr().addr()), ()).is_none()
        });
        let failure = failed.failure(ObjectId { group: "", kind: "Namespace", namespace: "", name: namespace });
        users.map(move |(applied, usage)| {
            let (mut finding, _) = finding(view, namespace, &applied, usage);
            finding.clusters.push(view.receiver.to_string().into());
            match &failure {
                Some(follows) => finding.following(follows.clone()),
                None => finding,
            }
        })
    }
}

/// The remedy for a missing namespace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Remedy {
    /// Add the Namespace of an object.
    Add,
    /// Add the Namespace into which Helm installs a chart, or let Helm create it.
    AddForChart,
    /// List the file of the Namespace.
    List,
}

impl Remedy {
    const ALL: [Self; 3] = [Self::Add, Self::AddForChart, Self::List];

    /// Gives a finding the cause that a cluster lacks several namespaces with the same remedy.
    fn of_several(self, finding: Finding) -> Finding {
        let (key, after, help) = match self {
            Self::Add => (
                "add",
                " objects",
                "add the Namespaces to the objects that the cluster receives, or correct the names: without them, the \
                 appliers of these objects fail",
            ),
            Self::AddForChart => (
                "add for charts",
                " HelmReleases, into which they install their charts",
                "add the Namespaces to the objects that the cluster receives, set `install.createNamespace: true`, or \
                 correct the names: without them, Helm does not install the charts",
            ),
            Self::List => (
                "list",
                " objects, although files of the repository define them",
                "list the files of the Namespaces in a kustomization.yaml that the cluster reads: without them, the \
                 appliers of these objects fail",
            ),
        };
        finding.caused_by(key, "the cluster does not receive the namespaces of ", after).help_for_all(help)
    }
}

/// Returns whether a namespace contains one of several Kustomizations with which a user bootstraps a cluster.
fn is_of_second_root(view: &View<'_>, namespace: &str) -> bool {
    let appliers = view.receiver.cluster.appliers.iter();
    let roots = appliers.filter(|by| by.kind == ApplierKind::Kustomization && by.is_of_bootstrap());
    let namespaces: Vec<Option<&str>> = roots.map(|root| root.reference.namespace.as_deref()).collect();
    namespaces.len() > 1 && namespaces.contains(&Some(namespace))
}

/// The namespaces that a cluster does not receive, each with its findings.
fn judge<'a>(view: &'a View<'a>, found: &mut Findings) -> Vec<Missing<'a>> {
    if !view.is_whole() || view.receiver.target.is_some() {
        return Vec::new();
    }
    let mut missing = Vec::new();
    let mut judged: Index<Name, ()> = Index::default();
    let is_home_unknown = view.receiver.cluster.evidence.lacks_bootstrap && !view.shows_controllers();
    let homes = LazyCell::new(|| possible_homes(view));
    let of_objects = view.namespaces().map(|(namespace, applied)| (namespace, applied, Use::Object));
    for (namespace, applied, usage) in of_objects.chain(targets(view)) {
        if judged.insert(namespace.clone(), ()).is_some() || is_of_platform(namespace) {
            continue;
        }
        match view.namespace(namespace) {
            Presence::Missing if view.argo_of(namespace).is_some() => {
                found.unchecked(format!("Namespace `{namespace}`, which Argo CD may create"));
            }
            Presence::Missing if is_home_unknown && matches!(usage, Use::Object) && homes.contains(&**namespace) => {
                found.unchecked(format!("Namespace `{namespace}`, into which Flux may be bootstrapped"));
            }
            // The user applied the root when the namespace existed.
            Presence::Missing if is_of_second_root(view, namespace) => {}
            Presence::Missing => {
                let (_, remedy) = finding(view, namespace, &applied, usage);
                missing.push(Missing { view, namespace, usage, remedy });
            }
            Presence::Unknown(source) => {
                found.unchecked(format!("Namespace `{namespace}`, which {source} may create"));
            }
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => {}
        }
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let users = users(view);
    missing.retain(|Missing { namespace, usage, .. }| {
        let users = users.get(&***namespace).map_or(&[][..], Vec::as_slice);
        if !users.is_empty() && users.iter().all(|(applied, _)| applied.object.name().contains(MICROK8S)) {
            found.unchecked(format!("Namespace `{namespace}`, which an add-on of MicroK8s may create"));
            return false;
        }
        let group = operator_group(view, namespace, users).filter(|_| matches!(usage, Use::Object));
        if let Some(group) = group {
            found.unchecked(format!("Namespace `{namespace}`, which the installation of `{group}` may create"));
        }
        group.is_none()
    });
    missing
}

/// The namespaces that contain only objects of Flux and their inputs, and those with the service account that Azure creates.
/// A platform that configures Flux may create the Kustomizations of the cluster in such a namespace.
fn possible_homes<'a>(view: &'a View<'a>) -> BTreeSet<&'a str> {
    let (of_flux, others): (Vec<_>, Vec<_>) =
        view.namespaced_objects().partition(|(_, applied)| is_flux(applied.object));
    let is_input = |object: &Object| object.group().is_empty() && INPUTS.contains(&object.kind());
    let others = others.iter().filter(|(_, applied)| !is_input(applied.object));
    let others: BTreeSet<&str> = others.map(|(namespace, _)| *namespace).collect();
    let homes = of_flux.into_iter().map(|(namespace, _)| namespace).filter(|namespace| !others.contains(namespace));
    let accounts = view.of_kind("", "ServiceAccount").filter(|applied| applied.object.name() == ACCOUNT_OF_AZURE);
    homes.chain(accounts.filter_map(|applied| applied.object.namespace())).collect()
}

/// The objects of a cluster that use each namespace.
fn users<'a>(view: &'a View<'a>) -> BTreeMap<&'a str, Vec<(Applied<'a>, Use<'a>)>> {
    let mut users: BTreeMap<&str, Vec<(Applied<'a>, Use<'a>)>> = BTreeMap::new();
    let objects = view.namespaced_objects().map(|(namespace, applied)| (namespace, applied, Use::Object));
    let targets = targets(view).map(|(name, applied, usage)| (&**name, applied, usage));
    for (namespace, applied, usage) in objects.chain(targets) {
        users.entry(namespace).or_default().push((applied, usage));
    }
    users
}

/// The API group of an operator whose namespace has these users: all of them are custom resources of the operator, such as
/// `security.istio.io` in `istio-system`, and nothing in the repository installs their CRDs. The installation of the
/// operator creates its namespace too.
fn operator_group<'a>(view: &View<'_>, namespace: &str, users: &[(Applied<'a>, Use<'_>)]) -> Option<&'a str> {
    const MIN_WORD: usize = 4;
    let is_named_alike = |group: &str| {
        let mut words = namespace.split('-').filter(|word| word.len() >= MIN_WORD);
        words.any(|word| group.split('.').any(|label| label.contains(word)))
    };
    let is_of_operator = |(applied, _): &(Applied<'a>, Use<'_>)| {
        let group = applied.object.group();
        is_named_alike(group) && !may_be_installed(view, group)
    };
    let (first, _) = users.first()?;
    users.iter().all(is_of_operator).then(|| first.object.group())
}

/// The use of a namespace by an object.
#[derive(Clone, Copy)]
enum Use<'a> {
    /// The object is in the namespace.
    Object,
    /// The object is a release, and Helm installs its chart into the namespace that this node names.
    Target(&'a Node),
}

/// The target namespaces of the releases of a cluster.
fn targets<'a>(view: &'a View<'a>) -> impl Iterator<Item = (&'a Name, Applied<'a>, Use<'a>)> {
    view.of_kind(groups::HELM, "HelmRelease").filter_map(|applied| {
        let spec = applied.object.node.get("spec").filter(|spec| spec.get("kubeConfig").is_none())?;
        let node = spec.get("targetNamespace")?;
        let Value::Scalar(name, _) = &node.value else { return None };
        let is_open = name.is_empty() || name.contains('$');
        (!is_open && applied.by.kind != ApplierKind::Bootstrap).then_some((name, applied, Use::Target(node)))
    })
}

/// Returns whether a platform creates a namespace with this name.
fn is_of_platform(namespace: &str) -> bool {
    let names = ["kube-system", "kube-public", "kube-node-lease", "kube-flannel"];
    let prefixes = [
        "openshift",
        "gke-",
        "gmp-",
        "amazon-",
        "aks-",
        "calico-",
        "tigera-",
        "cattle-",
        "tanzu-",
        "tkg-",
        "vmware-system-",
    ];
    names.contains(&namespace) || prefixes.iter().any(|prefix| namespace.starts_with(prefix))
}

fn finding(view: &View<'_>, namespace: &str, applied: &Applied<'_>, usage: Use<'_>) -> (Finding, Remedy) {
    let object = applied.object;
    let node = match usage {
        Use::Object => object.node.at_keys(&["metadata", "namespace"]),
        Use::Target(node) => Some(node),
    };
    let place = applied.by.place(node.map_or(object.span(), Node::span));
    let (before, after) = match usage {
        Use::Object => (" of ", ""),
        Use::Target(_) => (", into which ", " installs its chart"),
    };
    let before = format!("the cluster does not receive namespace `{namespace}`{before}");
    let message = format!("{before}{}{after}", object.reference());
    let defined = ObjectId { group: "", kind: "Namespace", namespace: "", name: namespace };
    let defined = view.written.find_unreached(defined).map(|object| object.span().clone());
    let remedy = match (&defined, usage) {
        (Some(span), _) => {
            format!("list `{}`, which defines it, in a kustomization.yaml that the cluster reads", span.file().path())
        }
        (None, Use::Object) => {
            format!("add a Namespace `{namespace}` to the objects that the cluster receives, or correct the name")
        }
        (None, Use::Target(_)) => format!(
            "add a Namespace `{namespace}` to the objects that the cluster receives, set `install.createNamespace: \
             true`, or correct the name"
        ),
    };
    let (one, all) = match usage {
        Use::Object => ("the applier of the object fails", "the appliers of these objects fail"),
        Use::Target(_) => ("Helm does not install the chart", "Helm does not install the charts"),
    };
    let summary = match usage {
        Use::Object => " objects".to_owned(),
        Use::Target(_) => " HelmReleases install their charts".to_owned(),
    };
    let finding = Finding::warning(RULE.id, Label::new(place, "not received"), message);
    let finding = finding.help(format!("{remedy}: without it, {one}"));
    let finding = finding.about(object.reference()).caused_by(namespace, before, summary);
    let finding = finding.help_for_all(format!("{remedy}: without it, {all}"));
    match (defined, usage) {
        (Some(span), _) => (finding.related(span, "defined here"), Remedy::List),
        (None, Use::Object) => (finding, Remedy::Add),
        (None, Use::Target(_)) => (finding, Remedy::AddForChart),
    }
}
