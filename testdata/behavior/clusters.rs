//! What clusters receive: roots, what they reach, what clusters share.

use std::fmt::Write as _;

use arcstr::ArcStr;
use fleetwright::base::finding::Severity;
use fleetwright::flux::{Applied, ApplierKind, Cluster, Provenance, Repo, Settings, State};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::Value;

use super::support::lines;

/// A tree of files; a line `# path` starts each.
pub(super) fn tree(text: &str) -> Tree {
    let mut tree = Tree::default();
    for part in text.split("\n## ").filter(|part| !part.trim().is_empty()) {
        let (path, text) = part.split_once('\n').unwrap();
        tree.insert(File::new(path.trim(), text));
    }
    tree
}

pub(super) fn load(text: &str) -> Repo {
    Repo::load(&tree(text), &Settings::default())
}

pub(super) fn sync(name: &str) -> String {
    format!(
        "
## clusters/{name}/flux-system/gotk-sync.yaml
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{url: https://example.org/fleet.git, ref: {{branch: main}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: flux-system, namespace: flux-system}}
spec: {{path: ./clusters/{name}, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"
    )
}

pub(super) fn kustomization(file: &str, name: &str, spec: &str) -> String {
    format!(
        "
## {file}
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec:
  sourceRef: {{kind: GitRepository, name: flux-system}}
{spec}
"
    )
}

pub(super) fn config_map(file: &str, name: &str, data: &str) -> String {
    format!(
        "
## {file}
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: flux-system}}
data: {data}
"
    )
}

/// The appliers of a cluster and how they went, a line each.
pub(super) fn appliers(cluster: &Cluster) -> String {
    let mut text = String::new();
    for applier in &cluster.appliers {
        let objects = cluster.objects().filter(|applied| applied.by.at == applier.at).count();
        let state = match &applier.state {
            State::Built => format!("{objects} objects"),
            State::Failed => "failed".to_string(),
            State::NotBuilt(reason) => format!("not built: {reason}"),
        };
        writeln!(text, "{:?} {}: {state}", applier.kind, applier.reference.name).unwrap();
    }
    text
}

pub(super) fn object<'a>(cluster: &'a Cluster, kind: &str, name: &str) -> Applied<'a> {
    cluster.objects().find(|applied| applied.object.kind() == kind && applied.object.name() == name).unwrap()
}

fn names(repo: &Repo) -> Vec<&str> {
    repo.clusters.iter().map(|cluster| &*cluster.name).collect()
}

#[test]
fn clusters_are_named_after_the_end_of_their_path_that_tells_them_apart() {
    let root = |path: &str| {
        format!(
            "
## {path}/instance.yaml
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {{name: flux, namespace: flux-system}}
spec:
  sync: {{kind: GitRepository, url: https://example.org/fleet.git, ref: refs/heads/main, path: ./{path}}}
"
        )
    };
    let repo = load(&[root("eu/prod"), root("us/prod"), root("staging")].concat());
    assert_eq!(names(&repo), ["eu/prod", "staging", "us/prod"]);
}

#[test]
fn a_flux_instance_makes_its_sync_as_its_patches_say() {
    let repo = load(
        "
## fleet/flux/instance.yaml
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: gitops}
spec:
  cluster: {multitenant: true}
  sync: {name: root, kind: OCIRepository, url: oci://example.org/fleet, ref: latest, path: flux}
  kustomize:
    patches:
      - target: {kind: OCIRepository}
        patch: |
          - op: add
            path: /spec/verify
            value: {provider: cosign}
## fleet/flux/apps.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: gitops}
spec: {path: apps, sourceRef: {kind: OCIRepository, name: root}}
## fleet/apps/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
",
    );
    assert_eq!(lines(&repo.problems), "");
    let cluster = &repo.clusters[0];
    assert_eq!(
        appliers(cluster),
        "Bootstrap flux: 0 objects\nFluxInstance flux: 2 objects\nKustomization root: 2 objects\nKustomization apps: 1 objects\n"
    );
    let source = object(cluster, "OCIRepository", "root");
    assert_eq!(source.object.text_at(&["spec", "verify", "provider"]), Some("cosign"));
    assert_eq!(source.object.text_at(&["spec", "ref", "tag"]), Some("latest"));
    assert_eq!(source.object.namespace(), Some("gitops"));
    let sync = object(cluster, "Kustomization", "root");
    assert_eq!(sync.object.text_at(&["spec", "serviceAccountName"]), Some("kustomize-controller"));
    assert_eq!(sync.object.node.at_keys(&["spec", "path"]).unwrap().span().position().line, 6);
}

#[test]
fn a_root_that_bootstrap_has_yet_to_write_is_followed() {
    let written = "\n## clusters/a/flux-system/gotk-sync.yaml\n# to come\n";
    let named = "
## clusters/b/flux-system/kustomization.yaml
resources: [gotk-components.yaml, gotk-sync.yaml]
";
    let apps = |cluster: &str| kustomization(&format!("clusters/{cluster}/apps.yaml"), "apps", "  path: apps");
    let repo = load(&[written, named, &apps("a"), &apps("b"), &config_map("apps/a.yaml", "x", "{}")].concat());
    assert_eq!(names(&repo), ["a", "b"]);
    for cluster in &repo.clusters {
        assert!(appliers(cluster).ends_with("Kustomization apps: 1 objects\n"), "{}", appliers(cluster));
    }
}

#[test]
fn what_others_bring_later_is_waited_for() {
    let repo = load(
        &[
            sync("a"),
            kustomization(
                "clusters/a/apps.yaml",
                "apps",
                "  path: apps/${STAGE}\n  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: late}]",
            )
            .replace("${STAGE}", "prod"),
            kustomization("clusters/a/vars.yaml", "vars", "  path: vars"),
            kustomization("vars/more.yaml", "more", "  path: vars/more"),
            config_map("vars/more/late.yaml", "late", "{VALUE: \"1\"}"),
            config_map("apps/prod/x.yaml", "x", "{value: \"${VALUE}\"}"),
        ]
        .concat()
        .replace(
            "## vars/more/late.yaml",
            "## vars/more/kustomization.yaml\nresources: [late.yaml]\n## vars/more/late.yaml",
        ),
    );
    assert_eq!(lines(&repo.problems), "");
    assert_eq!(object(&repo.clusters[0], "ConfigMap", "x").object.text_at(&["data", "value"]), Some("1"));
}

#[test]
fn variables_of_a_missing_config_map_are_unknown_unless_it_is_optional_and_others_exist() {
    let value = |optional: &str, others: &str| {
        let source = format!("{{kind: ConfigMap, name: none{optional}}}");
        let from = format!("  path: apps\n  postBuild:\n    substituteFrom: [{source}]\n    substitute: {{{others}}}");
        let apps = kustomization("clusters/a/apps.yaml", "apps", &from);
        let repo = load(&[sync("a"), apps, config_map("apps/x.yaml", "x", "{value: \"${V:=z}\"}")].concat());
        assert_eq!(lines(&repo.problems), "");
        let applied = repo.clusters[0].objects().find(|applied| applied.object.name() == "x").unwrap();
        applied.object.text_at(&["data", "value"]).unwrap().to_owned()
    };
    assert_eq!(value("", "W: w"), "${V}");
    assert_eq!(value(", optional: true", "W: w"), "z");
    // Without any variable, Flux does not substitute, and another program may create the ConfigMap.
    assert_eq!(value(", optional: true", ""), "${V}");
}

#[test]
fn what_goes_to_another_cluster_is_kept_apart_and_not_run_here() {
    let repo = load(
        &[
            sync("hub"),
            kustomization("clusters/hub/edge.yaml", "edge", "  path: edge\n  kubeConfig: {secretRef: {name: edge}}"),
            kustomization("edge/apps.yaml", "apps", "  path: apps"),
            config_map("apps/x.yaml", "x", "{}"),
        ]
        .concat(),
    );
    let cluster = &repo.clusters[0];
    let edge = cluster.appliers.iter().find(|applier| &*applier.reference.name == "edge").unwrap();
    assert_eq!(edge.target.as_deref(), Some("edge"));
    assert!(cluster.appliers.iter().all(|applier| &*applier.reference.name != "apps"));
}

#[test]
fn an_undefined_variable_fails_by_the_version_or_the_gate() {
    let repo = |instance: &str| {
        let instance = format!(
            "
## clusters/a/instance.yaml
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {{name: flux, namespace: flux-system}}
spec:
  sync: {{kind: GitRepository, url: https://example.org/fleet.git, ref: refs/heads/main, path: ./clusters/a}}
{instance}
"
        );
        let apps = kustomization("clusters/a/apps.yaml", "apps", "  path: apps\n  postBuild: {substitute: {A: b}}");
        fate(&load(&[instance, apps, config_map("apps/x.yaml", "x", "{value: \"${NONE}\"}")].concat()))
    };
    assert_eq!(repo("  distribution: {version: 2.8.x}"), (State::Built, Severity::Warning));
    let newest =
        "  distribution: {version: 2.x, artifact: \"oci://ghcr.io/controlplaneio-fluxcd/flux-operator-manifests\"}";
    assert_eq!(repo(newest), (State::Failed, Severity::Error));
    // The newest Flux is assumed, and that is no more than likely: the operator installs what its own image contains.
    assert_eq!(repo("  distribution: {version: 2.x}"), (State::Failed, Severity::Warning));
    assert_eq!(repo(""), (State::Failed, Severity::Warning));
    let gate = |on: bool| {
        format!(
            "  kustomize:
    patches:
      - target: {{kind: Deployment, name: (kustomize-controller|helm-controller)}}
        patch: |
          - op: add
            path: /spec/template/spec/containers/0/args/-
            value: --feature-gates=StrictPostBuildSubstitutions={on}"
        )
    };
    assert_eq!(repo(&gate(false)), (State::Built, Severity::Warning));
    let strict = repo(&format!("  distribution: {{version: 2.8.x}}\n{}", gate(true)));
    assert_eq!(strict, (State::Failed, Severity::Error));
}

/// How the last applier of a repository with one problem went, and how bad that is.
fn fate(repo: &Repo) -> (State, Severity) {
    let [problem] = &*repo.problems else { panic!("{}", lines(&repo.problems)) };
    assert_eq!(problem.rule, "undefined-variable");
    (repo.clusters[0].appliers.last().unwrap().state.clone(), problem.severity)
}

#[test]
fn the_gate_is_read_where_the_manifests_of_flux_are_yet_to_be_written() {
    let repo = |patch: &str| {
        let flux = format!(
            "
## clusters/a/flux-system/kustomization.yaml
resources: [gotk-components.yaml, gotk-sync.yaml]
patches:
  - path: patch.yaml
    target: {{kind: Deployment, name: {patch}}}
## clusters/a/flux-system/patch.yaml
- op: add
  path: /spec/template/spec/containers/0/args/-
  value: --feature-gates=Other=true,StrictPostBuildSubstitutions=false
"
        );
        let apps = kustomization("clusters/a/apps.yaml", "apps", "  path: apps\n  postBuild: {substitute: {A: b}}");
        fate(&load(&[flux, apps, config_map("apps/x.yaml", "x", "{value: \"${NONE}\"}")].concat()))
    };
    assert_eq!(repo("kustomize-controller"), (State::Built, Severity::Warning));
    assert_eq!(repo("helm-controller"), (State::Failed, Severity::Warning));
}

#[test]
fn removed_versions_are_followed_with_the_patches_that_they_had() {
    let apps = kustomization(
        "clusters/a/apps.yaml",
        "apps",
        "  path: apps
  patchesStrategicMerge:
    - apiVersion: v1
      kind: ConfigMap
      metadata: {name: x, namespace: flux-system}
      data: {one: merged}
  patchesJson6902:
    - target: {kind: ConfigMap, name: x}
      patch:
        - {op: add, path: /data/two, value: added}",
    );
    let apps = apps.replace("io/v1\n", "io/v1beta1\n");
    let repo = load(&[sync("a"), apps, config_map("apps/x.yaml", "x", "{one: written}")].concat());
    assert_eq!(lines(&repo.problems), "");
    let applied = object(&repo.clusters[0], "ConfigMap", "x");
    assert_eq!(applied.object.text_at(&["data", "one"]), Some("merged"));
    assert_eq!(applied.object.text_at(&["data", "two"]), Some("added"));
    let provenance = Provenance::of(&repo.clusters[0], applied);
    let last = provenance.causes(applied.object.node.at_keys(&["data", "one"]).unwrap()).pop().unwrap();
    assert_eq!((last.by, last.place.position().line), (fleetwright::flux::Agent::FluxPatch, 8));
}

/// Two clusters whose Kustomizations say the same in files of their own.
fn two_alike(spec: &str) -> Repo {
    let apps = |cluster: &str| kustomization(&format!("clusters/{cluster}/apps.yaml"), "apps", spec);
    load(&[sync("a"), sync("b"), apps("a"), apps("b"), config_map("apps/x.yaml", "x", "{value: one}")].concat())
}

#[test]
fn clusters_share_what_they_build_alike_and_each_knows_its_own_places() {
    let repo = two_alike(
        "  path: apps\n  targetNamespace: apps\n  patches:\n  - target: {kind: ConfigMap}\n    patch: |\n      - \
         op: replace\n        path: /data/value\n        value: two",
    );
    assert_eq!(lines(&repo.problems), "");
    let objects: Vec<Applied<'_>> = repo.clusters.iter().map(|cluster| object(cluster, "ConfigMap", "x")).collect();
    let (Value::Map(one), Value::Map(other)) = (&objects[0].object.node.value, &objects[1].object.node.value) else {
        panic!("objects are mappings")
    };
    assert!(one.is_same(other));
    for ((cluster, applied), name) in repo.clusters.iter().zip(&objects).zip(["a", "b"]) {
        for (keys, line) in [(["metadata", "namespace"], 7), (["data", "value"], 13)] {
            let node = applied.object.node.at_keys(&keys).unwrap();
            let last = Provenance::of(cluster, *applied).causes(node).pop().unwrap();
            assert_eq!(last.place.file().path(), format!("clusters/{name}/apps.yaml"));
            assert_eq!(last.place.position().line, line, "{keys:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_builds_alike_is_said_at_the_place_of_each() {
    let patch = "  patches:\n  - target: {kind: ConfigMap}\n    patch: |\n      - op: remove\n        path: /data/none";
    let repo = two_alike(&format!("  path: apps\n{patch}"));
    let places: Vec<(&str, &[ArcStr])> =
        repo.problems.iter().map(|found| (found.at.span.file().path(), &*found.clusters)).collect();
    let (a, b) = ([ArcStr::from("a")], [ArcStr::from("b")]);
    assert_eq!(places, [("clusters/a/apps.yaml", &a[..]), ("clusters/b/apps.yaml", &b[..])]);
    let shared = two_alike("  path: apps\n  components: [../none]");
    assert_eq!(shared.problems.len(), 2, "{}", lines(&shared.problems));
}

#[test]
fn a_fault_in_what_clusters_share_is_said_once_with_their_names() {
    let apps = |cluster: &str| kustomization(&format!("clusters/{cluster}/apps.yaml"), "apps", "  path: apps");
    let broken = "\n## apps/kustomization.yaml\nresources: [none.yaml]\n";
    let repo = load(&[&sync("a"), &sync("b"), &apps("a"), &apps("b"), broken].concat());
    assert_eq!(
        lines(&repo.problems),
        "apps/kustomization.yaml:1:13 error[missing-resource] file or directory `none.yaml` does not exist\n"
    );
    assert_eq!(repo.problems[0].clusters, [ArcStr::from("a"), ArcStr::from("b")]);
}

#[test]
fn a_source_without_a_copy_is_counted_once() {
    let other = "
## clusters/a/other.yaml
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: other, namespace: flux-system}
spec: {url: https://example.org/other.git, ref: {branch: main}}
";
    let from_other = |name: &str| {
        kustomization(&format!("clusters/a/{name}.yaml"), name, "  path: apps")
            .replace("name: flux-system}\n  path", "name: other}\n  path")
    };
    let repo = load(&[&sync("a"), other, &from_other("one"), &from_other("two")].concat());
    assert_eq!(lines(&repo.problems), "");
    assert_eq!(repo.gaps.len(), 1);
    assert_eq!(
        (repo.gaps[0].reason.to_string().as_str(), repo.gaps[0].appliers),
        ("no copy of `https://example.org/other.git#main`", 2)
    );
}

#[test]
fn a_repository_without_a_root_is_one_cluster_without_a_name() {
    let repo = load(&config_map("apps/x.yaml", "x", "{}"));
    assert_eq!(names(&repo), [""]);
    assert_eq!(repo.clusters[0].appliers[0].kind, ApplierKind::Folder);
}
