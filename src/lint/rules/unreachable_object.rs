use std::collections::BTreeMap;

use crate::base::finding::{Finding, Label};
use crate::flux::{is_flux, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::paths::{prefixes, segment_runs};
use crate::lint::facts::reached::has_root;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::text::{Index, folder_of, normalize};

/// So many further objects of a folder are shown.
const MAX_SHOWN: usize = 10;

/// Groups of what tools read in their own files: it is written as objects, and never applied.
const OF_TOOLS: &[&str] = &[
    "backstage.io",
    "chainsaw.kyverno.io",
    "cli.kyverno.io",
    "config.kubernetes.io",
    "eksctl.io",
    "k3d.io",
    "kind.x-k8s.io",
    "kpt.dev",
    "kubeadm.k8s.io",
    "kubelet.config.k8s.io",
    "kubeproxy.config.k8s.io",
    "kustomize.config.k8s.io",
    "kuttl.dev",
    "skaffold",
];

declare! {
    /// No cluster reaches a Flux object, or a file beside a kustomization.yaml.
    ///
    /// ## Why
    ///
    /// A Kustomization that no root leads to is never reconciled, and what it should bring is not there, though
    /// everybody who reads the repository believes so. The same holds for a file that was added to a folder and not to
    /// the `resources` of its kustomization.yaml. Nothing says it: Flux does not know of either.
    ///
    /// There is one finding for each folder, and none for what only something unreached would apply. Silent about what a
    /// kustomization.yaml names in a line that is commented out, in folders that are called as what is not meant to be
    /// applied (examples, tests, templates, charts, documentation, archives, hidden folders), about Components, about
    /// files that belong to other tools, about what something that could not be built may reach, about everything where
    /// an artifact is applied as a whole that may be made of this repository, and in a repository without a root.
    ///
    /// ## How to fix it
    ///
    /// Name the file in a kustomization.yaml that a cluster reaches, or let a Kustomization apply its folder. Or remove
    /// it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    /// # apps.yaml
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
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - apps.yaml
    /// # apps.yaml
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
    /// ```
    ///
    /// ## Source
    ///
    /// [flux2-multi-tenancy#126](https://github.com/fluxcd/flux2-multi-tenancy/issues/126);
    /// [kustomize: resources](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/)
    "unreachable-object", Warning, "no cluster reaches a Flux object or a file beside a kustomization.yaml",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    if !has_root(fleet.repo) {
        return;
    }
    let reached = fleet.reached();
    let parked: Index<&str, ()> = fleet.repo.parked.iter().map(|path| (path.as_str(), ())).collect();
    let is_parked =
        |path: &str| prefixes(path).any(|above| parked.contains(above) || fleet.repo.charts.contains(above));
    let built = fleet.repo.objects.iter().map(|built| &built.object).filter(|object| is_fluxs(object));
    let aside = fleet.repo.aside.iter().filter(|object| {
        let (root, path, _) = written_position(object);
        is_fluxs(object) || (!OF_TOOLS.contains(&object.group()) && reached.reaches_folder(root, folder_of(path)))
    });
    // By folder, and there by place: an object that several folders build is one.
    let mut folders: BTreeMap<&str, BTreeMap<(&str, usize), &Object>> = BTreeMap::new();
    // What only something unreached would apply is not said again.
    let mut led_to: Index<String, &str> = Index::default();
    for object in built.chain(aside).filter(|object| !reached.may_reach(object)) {
        let (root, path, offset) = written_position(object);
        if is_kustomization(object)
            && let Some(leads) = object.text_at(&["spec", "path"]).and_then(normalize)
        {
            led_to.insert(leads, folder_of(path));
        }
        if root.is_none() && !reached.is_set_aside(path) && !is_parked(path) {
            folders.entry(folder_of(path)).or_default().insert((path, offset), object);
        }
    }
    for (folder, objects) in &mut folders {
        let from_elsewhere = |run: &str| led_to.get(run).is_some_and(|from| from != folder);
        if segment_runs(folder).any(from_elsewhere) {
            objects.retain(|_, object| is_kustomization(object));
        }
    }
    for (folder, objects) in folders {
        let objects: Vec<&Object> = objects.into_values().collect();
        found.extend(finding(folder, &objects));
    }
}

fn is_fluxs(object: &Object) -> bool {
    is_flux(object) || object.is(groups::FLUX_OPERATOR, "ResourceSetInputProvider")
}

fn finding(folder: &str, objects: &[&Object]) -> Option<Finding> {
    let (first, rest) = objects.split_first()?;
    let place = |object: &Object| object.node.get("kind").unwrap_or(&object.node).origin.written().clone();
    let what = if rest.is_empty() { first.reference().to_string() } else { counted(objects) };
    let folder = if folder.is_empty() { "." } else { folder };
    let message = format!("no cluster reaches {what} in `{folder}`");
    let help = "name the file in a kustomization.yaml that a cluster reaches, let a Kustomization apply the folder, or \
                remove it: Flux does not know of it";
    let finding = Finding::warning(RULE.id, Label::new(place(first), "nothing leads here"), message)
        .help(help)
        .about(first.reference());
    let shown = rest.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, object| finding.related(place(object), object.reference().to_string())))
}

/// The objects counted by kind, as in `2 Kustomizations and 1 ImagePolicy`.
fn counted(objects: &[&Object]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects {
        *kinds.entry(object.kind()).or_default() += 1;
    }
    let told: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{count} {}", plural(kind, count))).collect();
    match told.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn plural(kind: &str, count: usize) -> String {
    match kind {
        _ if count == 1 => kind.to_owned(),
        _ if kind.ends_with('s') => format!("{kind}es"),
        _ => kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies")),
    }
}
