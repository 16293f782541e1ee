//! What is applied, what is left as it is on the cluster, and what of it is followed.

use std::fmt::Write as _;

use fleetwright::flux::{Cluster, Handling};

use super::clusters::{config_map, kustomization, load, sync};
use super::support::lines;

fn marked(name: &str, field: &str, mark: &str) -> String {
    config_map(&format!("apps/{name}.yaml"), name, "{}")
        .replace("namespace: flux-system}", &format!("namespace: flux-system, {field}: {{{mark}}}}}"))
}

/// How objects called alike are handled, in the order of their names.
fn handled(cluster: &Cluster) -> String {
    let mut text = String::new();
    for applied in cluster.objects().filter(|applied| applied.object.kind() == "ConfigMap") {
        writeln!(text, "{}: {:?}", applied.object.name(), applied.handling()).unwrap();
    }
    text
}

#[test]
fn labels_and_annotations_say_how_an_object_is_applied() {
    let group = "kustomize.toolkit.fluxcd.io";
    let repo = load(
        &[
            sync("a"),
            kustomization("clusters/a/apps.yaml", "apps", "  path: apps"),
            marked("a", "annotations", &format!("{group}/reconcile: Disabled")),
            marked("b", "labels", &format!("{group}/ssa: ignore")),
            marked("c", "annotations", &format!("{group}/ssa: IfNotPresent")),
            marked("d", "annotations", &format!("{group}/ssa: merge")),
            marked("e", "annotations", &format!("{group}/prune: disabled, {group}/reconcile: enabled")),
        ]
        .concat(),
    );
    assert_eq!(lines(&repo.problems), "");
    let expected = "a: Ignored\nb: Ignored\nc: Created\nd: Merged\ne: Applied\n";
    assert_eq!(handled(&repo.clusters[0]), expected);
}

#[test]
fn what_common_metadata_marks_is_handled_so() {
    let spec = "  path: apps\n  commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}}";
    let apps = kustomization("clusters/a/apps.yaml", "apps", spec);
    let repo = load(&[sync("a"), apps, config_map("apps/x.yaml", "x", "{}")].concat());
    assert_eq!(handled(&repo.clusters[0]), "x: Ignored\n");
}

#[test]
fn what_is_suspended_or_left_alone_is_followed_and_known_for_it() {
    let apps = kustomization("clusters/a/apps.yaml", "apps", "  path: apps\n  suspend: true");
    let more = kustomization("clusters/a/more.yaml", "more", "  path: more").replace(
        "namespace: flux-system}",
        "namespace: flux-system, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}",
    );
    let objects = [config_map("apps/x.yaml", "x", "{}"), config_map("more/y.yaml", "y", "{}")].concat();
    let repo = load(&[sync("a"), apps, more, objects].concat());
    assert_eq!(lines(&repo.problems), "");
    let cluster = &repo.clusters[0];
    let named = |name: &str| cluster.appliers.iter().find(|applier| &*applier.reference.name == name).unwrap();
    assert!(named("apps").is_suspended() && !named("more").is_suspended());
    assert_eq!((named("apps").handling(), named("more").handling()), (Handling::Applied, Handling::Ignored));
    assert_eq!(handled(cluster), "x: Applied\ny: Applied\n");
}
