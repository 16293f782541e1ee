//! Repositories in which two large numbers meet: the work and the output grow with their sum, or meet a limit.

use super::bounds::{assert_refused, bounded, resource_set};
use super::{Repository, applier, config_map, many};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A RoleBinding, with its role and its subjects in flow style.
fn binding(name: &str, role: &str, subjects: &str) -> String {
    format!(
        "---\napiVersion: {RBAC}/v1\nkind: RoleBinding\nmetadata: {{name: {name}, namespace: n0}}\n\
         roleRef: {{apiGroup: {RBAC}, kind: Role, name: {role}}}\nsubjects: [{subjects}]\n"
    )
}

fn account(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: n0}}\n")
}

#[test]
fn accounts_that_share_many_roles() {
    let repository = Repository::new();
    let group = format!("{{kind: Group, name: \"system:serviceaccounts:n0\", apiGroup: {RBAC}}}");
    let accounts = many(300, |at| account(&format!("a{at}")));
    let bindings = many(300, |at| binding(&format!("b{at}"), "r", &group));
    repository.write("clusters/a/x.yaml", &format!("{accounts}{bindings}"));
    for format in ["table", "json"] {
        let answer = bounded(&repository, &["access", "n0", "--format", format]);
        assert!(answer.code == 0 && answer.out.contains("further accounts are not listed"), "{}", answer.err);
        assert!(answer.out.len() < 32 << 20, "{}", answer.out.len());
    }
}

#[test]
fn changes_of_an_applier_with_a_long_name() {
    let repository = Repository::new();
    for (folder, value) in [("before", "1"), ("after", "2")] {
        repository.write(&format!("{folder}/clusters/a/root.yaml"), &applier("a", "./clusters/a", ""));
        repository.write(&format!("{folder}/clusters/a/k.yaml"), &applier(&"n".repeat(30_000), "./apps", ""));
        let objects = many(600, |at| format!("---\n{}", config_map(&format!("x{at}"), &format!("{{a: \"{value}\"}}"))));
        repository.write(&format!("{folder}/apps/o.yaml"), &objects);
    }
    for format in ["text", "json", "markdown", "html"] {
        let answer = bounded(&repository, &["diff", "./before", "./after", "--format", format]);
        let is_counted = match format {
            "json" => !answer.out.contains("\"notListed\": 0"),
            "markdown" => answer.out.contains("more; `fleetwright diff` prints all of them"),
            _ => answer.out.contains("are not listed"),
        };
        assert!(answer.code == 0 && is_counted, "{format}: {}", answer.err);
        assert!(answer.out.len() < 32 << 20, "{format}: {}", answer.out.len());
    }
}

#[test]
fn common_metadata_of_many_objects() {
    let repository = Repository::new();
    let labels = many(800, |at| format!("k{at}: v, "));
    let rest = format!("  commonMetadata: {{labels: {{{labels}}}}}\n");
    repository.write("clusters/a/apps.yaml", &applier("apps", "./apps", &rest));
    repository.write("apps/o.yaml", &many(5_000, |at| format!("---\n{}", config_map(&format!("x{at}"), "{}"))));
    let answer = bounded(&repository, &["lint", "--format", "concise", "--only", "failed-build"]);
    assert_eq!((answer.code, answer.out.matches("all builds together").count()), (1, 1), "{}", answer.text());
}

#[test]
fn common_metadata_of_a_resource_set() {
    let template =
        "<< range $i := until 5000 >>\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x<< $i >>}\n<< end >>\n";
    let repository = resource_set(template);
    let set = std::fs::read_to_string(repository.root().join("clusters/a/set.yaml")).unwrap();
    let labels = many(2_000, |at| format!("k{at}: v, "));
    let set = set.replace("spec:\n", &format!("spec:\n  commonMetadata: {{labels: {{{labels}}}}}\n"));
    repository.write("clusters/a/set.yaml", &set);
    assert_refused(&repository, "the output of the templates is too large");
}

#[test]
fn bindings_of_unknown_roles() {
    let repository = Repository::new();
    let role = |at| {
        format!("---\napiVersion: {RBAC}/v1\nkind: Role\nmetadata: {{name: role-{at}, namespace: n0}}\nrules: []\n")
    };
    let bindings = many(8_000, |at| binding(&format!("b{at}"), &format!("rule-{at}"), ""));
    repository.write("clusters/a/x.yaml", &format!("{}{bindings}", many(8_000, role)));
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "dangling-role-reference"]);
    assert!(answer.out.contains("which does not exist"), "{}", answer.err);
}

#[test]
fn accounts_without_rights() {
    let repository = Repository::new();
    let objects = many(1_000, |at| {
        let subject = format!("{{kind: ServiceAccount, name: other{at}, namespace: n{at}}}");
        let rest = format!("  serviceAccountName: a{at}\n");
        let applier =
            applier(&format!("k{at}"), "./no", &rest).replace("namespace: flux-system}\nspec", "namespace: n0}\nspec");
        format!("{}---\n{applier}{}", account(&format!("a{at}")), binding(&format!("b{at}"), "r", &subject))
    });
    repository.write("clusters/a/x.yaml", &objects);
    bounded(&repository, &["lint", "--format", "json", "--only", "account-without-rights"]);
}

#[test]
fn automations_of_many_remote_clusters() {
    let repository = Repository::new();
    let objects = many(800, |at| {
        let target = format!("  kubeConfig: {{secretRef: {{name: prod-{at}}}}}\n");
        let automation = format!(
            "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\nmetadata: {{name: i{at}, namespace: \
             flux-system}}\nspec:\n  interval: 1m\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  \
             git: {{push: {{branch: main}}}}\n  update: {{path: ./apps/{at}}}\n"
        );
        format!("---\n{}---\n{automation}", applier(&format!("k{at}"), "./apps", &target))
    });
    repository.write("clusters/a/x.yaml", &objects);
    repository.write("apps/o.yaml", &config_map("x", "{}"));
    let only = ["lint", "--format", "concise", "--only", "automation-pushes-to-synced-branch"];
    bounded(&repository, &only);
}

#[test]
fn a_pipe_without_a_reader() {
    let repository = Repository::new();
    let pipe = repository.folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let answer = bounded(&repository, &["lint", "--format", &format!("json={}", pipe.display())]);
    assert!(answer.code == 2 && answer.err.contains("cannot write"), "{}", answer.text());
}

#[test]
fn missing_files_beside_many_files() {
    let entries = many(1_500, |at| format!("- deploiment-{at}.yaml\n"));
    let repository = Repository::with_apps(&format!("kind: Kustomization\nresources:\n{entries}"));
    for at in 0..1_500 {
        repository.write(&format!("apps/deployment-{at}.yaml"), "");
    }
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "missing-resource"]);
    let listed = "1500 paths in `apps/kustomization.yaml` do not exist";
    assert!(answer.out.contains(listed), "{}", answer.err);
}

#[test]
fn missing_files_of_many_directories() {
    let repository = Repository::new();
    for at in 0..3_000 {
        repository.write(&format!("apps/{at}/kustomization.yaml"), "kind: Kustomization\nresources: [a.yaml]\n");
    }
    repository.write(
        "clusters/a/x.yaml",
        &many(3_000, |at| format!("---\n{}", applier(&format!("k{at}"), &format!("./apps/{at}"), ""))),
    );
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "missing-resource"]);
    assert!(answer.out.contains("missing-resource"), "{}", answer.err);
}

#[test]
fn definitions_of_one_kind_with_many_users() {
    let repository = Repository::new();
    let appliers = |at| {
        let [provider, user] = ["p", "u"].map(|name| applier(&format!("{name}{at}"), &format!("./{name}/{at}"), ""));
        format!("---\n{provider}---\n{user}")
    };
    repository.write("clusters/a/x.yaml", &many(1_500, appliers));
    for at in 0..1_500 {
        let names = "group: example.com, scope: Namespaced, names: {kind: Queue, plural: queues}";
        let definition = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: queues.example.com-{at}}}\nspec: {{{names}}}\n"
        );
        repository.write(&format!("p/{at}/o.yaml"), &definition);
        let queue = format!("apiVersion: example.com/v1\nkind: Queue\nmetadata: {{name: q{at}, namespace: default}}\n");
        repository.write(&format!("u/{at}/o.yaml"), &queue);
    }
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "missing-dependency"]);
    assert!(answer.out.contains("1500 Kustomizations use"), "{}", answer.err);
}

#[test]
fn references_to_charts_of_many_releases() {
    let repository = Repository::new();
    let release = |name: &str, chart: &str| {
        format!(
            "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n\
             metadata: {{name: {name}, namespace: flux-system}}\nspec:\n  interval: 1h\n  {chart}\n"
        )
    };
    let own = "chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts}}}";
    let releases = many(8_000, |at| {
        let reference = format!("chartRef: {{kind: HelmChart, name: flux-system-x{at}}}");
        format!("{}{}", release(&format!("a{at}"), own), release(&format!("b{at}"), &reference))
    });
    repository.write("clusters/a/x.yaml", &releases);
    bounded(&repository, &["lint", "--format", "json", "--only", "dangling-source"]);
}

#[test]
fn missing_objects_beside_many_objects() {
    let repository = Repository::new();
    let receiver = |at| {
        format!(
            "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
             metadata: {{name: web-{at}, namespace: flux-system}}\n\
             spec: {{interval: 1m, url: https://github.com/acme/web.git}}\n---\n\
             apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Receiver\n\
             metadata: {{name: r{at}, namespace: flux-system}}\nspec:\n  type: github\n  secretRef: {{name: token}}\n  \
             resources: [{{kind: GitRepository, name: wbe-{at}}}]\n"
        )
    };
    repository.write("clusters/a/x.yaml", &many(4_000, receiver));
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "receiver-target"]);
    assert!(answer.out.contains("`flux-system/wbe-0`, which the cluster does not receive"), "{}", answer.err);
}

#[test]
fn missing_namespaces_beside_many_policies() {
    let repository = Repository::new();
    let objects = many(6_000, |at| {
        let generated = format!("{{apiVersion: v1, kind: ConfigMap, name: c, namespace: x{at}}}");
        let policy = format!(
            "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {{name: p{at}}}\n\
             spec: {{rules: [{{name: a, match: {{}}, generate: {generated}}}]}}\n"
        );
        let object = config_map("c", "{}").replace("namespace: default", &format!("namespace: n{at}"));
        format!("---\n{policy}---\n{object}")
    });
    repository.write("clusters/a/x.yaml", &objects);
    let answer = bounded(&repository, &["lint", "--format", "json", "--only", "missing-namespace"]);
    assert!(answer.out.contains("missing-namespace"), "{}", answer.err);
}
