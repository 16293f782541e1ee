//! The command line beside the sessions of `testdata/cli`: pipes, colors, rights, processes at once.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_fleetwright");

fn fleetwright(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BINARY).current_dir(folder).args(arguments).env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Creates a directory with a fleet of two clusters and a custom layout.
fn fleet() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cli/render.in");
    for path in ["fleet.yaml", "layout/layout.yaml", "layout/clusters/[cluster]/info.yaml"] {
        let target = folder.path().join(path);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(source.join(path), target).unwrap();
    }
    folder
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for arguments in
        [["rule", "missing-service-account"], ["schema", "fleet"], ["lint", "--help"], ["completions", "zsh"]]
    {
        let mut child =
            Command::new(BINARY).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_comparison_with_a_revision_reports_only_new_findings() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let output = Command::new("git").current_dir(folder.path()).args(author).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    };
    let source = |name: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: a}}\n\
             spec: {{interval: 1d, url: \"https://example.com/{name}\"}}\n"
        )
    };
    let path = folder.path().join("sources.yaml");
    std::fs::write(&path, source("old")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    std::fs::write(&path, format!("# A comment.\n{}---\n{}", source("old"), source("new"))).unwrap();
    let since = |revision| fleetwright(folder.path(), &["lint", "--since", revision, "--format", "concise"]);
    let output = since("HEAD");
    let shown = text(&output.stdout);
    assert!(shown.contains("a/new") && !shown.contains("a/old"), "{shown}");
    assert!(shown.contains("also in revision `HEAD`") && !shown.contains("baseline"), "{shown}");
    assert_eq!(output.status.code(), Some(1));
    git(&["commit", "-q", "-a", "-m", "second"]);
    assert_eq!(since("HEAD").status.code(), Some(0));
    std::fs::create_dir(folder.path().join("moved")).unwrap();
    let moved = folder.path().join("moved/sources.yaml");
    std::fs::rename(&path, &moved).unwrap();
    assert_eq!(since("HEAD").status.code(), Some(0), "a renamed file has no new finding");
    std::fs::rename(&moved, &path).unwrap();
    assert_eq!(since("HEAD~1").status.code(), Some(1));
    assert_eq!(since("missing").status.code(), Some(2));
}

#[test]
fn the_remote_of_a_checkout_shows_that_a_root_has_a_wrong_path() {
    let folder = tempfile::tempdir().unwrap();
    let sync = folder.path().join("flux/clusters/prod/flux-system/gotk-sync.yaml");
    std::fs::create_dir_all(sync.parent().unwrap()).unwrap();
    let manifest = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
                    metadata: {name: flux-system, namespace: flux-system}\n\
                    spec: {interval: 1m, url: \"ssh://git@example.com/acme/fleet\", ref: {branch: main}}\n---\n\
                    apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                    metadata: {name: flux-system, namespace: flux-system}\n\
                    spec: {interval: 1h, path: ./clusters/prod, prune: true, \
                    sourceRef: {kind: GitRepository, name: flux-system}}\n";
    std::fs::write(sync, manifest).unwrap();
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    };
    let lint = || fleetwright(folder.path(), &["lint", "--only", "missing-path"]);
    git(&["init", "-q"]);
    let output = lint();
    assert!(text(&output.stderr).contains("assumed: the repository `example.com/acme/fleet`"), "{output:?}");
    assert_eq!(output.status.code(), Some(0));
    git(&["remote", "add", "upstream", "https://example.com/acme/fleet.git"]);
    let output = lint();
    let shown = text(&output.stdout);
    assert!(shown.contains("set `path: ./flux/clusters/prod`") && !text(&output.stderr).contains("assumed"), "{shown}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_tenant_of_the_earlier_revision_remains_a_tenant() {
    let case = crate::support::testdata("lint/tenant-cluster-admin/plain.md");
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let output = Command::new("git").current_dir(folder.path()).args(author).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    };
    let text_of_case = std::fs::read_to_string(case).unwrap();
    let manifest = text_of_case.split("```yaml ").nth(1).and_then(|block| block.split("```").next()).unwrap();
    let (path, manifest) = manifest.split_once('\n').unwrap();
    let full = folder.path().join(path.trim());
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    let documents: Vec<&str> = manifest.split("---\n").collect();
    let is_wide = |document: &&&str| document.contains("kind: ClusterRoleBinding");
    let confined: Vec<&str> = documents.iter().filter(|document| !is_wide(document)).copied().collect();
    std::fs::write(&full, confined.join("---\n")).unwrap();
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    let since = || fleetwright(folder.path(), &["lint", "--since", "HEAD", "--format", "concise"]);
    assert_eq!(since().status.code(), Some(0), "{}", text(&since().stdout));
    // The change also hides that the namespace belongs to a tenant.
    let change = manifest.replace("prune: true", "prune: true\n  kubeConfig:\n    secretRef:\n      name: x");
    let change = change.replace("  labels:\n    toolkit.fluxcd.io/tenant: backend-team\n", "");
    std::fs::write(&full, change).unwrap();
    let output = since();
    assert!(text(&output.stdout).contains("tenant-cluster-admin"), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    let output = fleetwright(folder.path(), &["lint"]);
    assert!(text(&output.stderr).contains("not linted as tenants"), "{}", text(&output.stderr));
}

/// A repository with one commit, and later changes of its files.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            checkout.write(path, text);
        }
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
            let output =
                Command::new("git").current_dir(checkout.0.path()).args(author).args(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        }
        checkout
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.0.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }

    /// The findings since the commit.
    fn since(&self) -> String {
        let output = fleetwright(self.0.path(), &["lint", "--since", "HEAD", "--format", "concise"]);
        assert!(output.status.code() < Some(2), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// The bootstrap of a cluster.
fn bootstrap(cluster: &str) -> (String, String) {
    let sync = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: flux-system, namespace: \
         flux-system}}\nspec: {{interval: 1m, ref: {{branch: main}}, url: \"ssh://git@example.com/fleet\"}}\n---\n\
         apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: flux-system, namespace: \
         flux-system}}\nspec: {{interval: 10m, path: ./clusters/{cluster}, prune: true, sourceRef: {{kind: GitRepository, \
         name: flux-system}}}}\n"
    );
    (format!("clusters/{cluster}/flux-system/gotk-sync.yaml"), sync)
}

/// A Kustomization of a cluster, with more fields.
fn kustomization(cluster: &str, name: &str, namespace: &str, path: &str, more: &str) -> (String, String) {
    let text = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
         {namespace}}}\nspec: {{interval: 1h, path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: \
         flux-system, namespace: flux-system}}{more}}}\n"
    );
    (format!("clusters/{cluster}/{name}.yaml"), text)
}

fn checkout(files: &[(String, String)]) -> Checkout {
    Checkout::new(&files.iter().map(|(path, text)| (&**path, &**text)).collect::<Vec<(&str, &str)>>())
}

#[test]
fn a_known_error_on_another_cluster_is_new() {
    let twice = "resources: [missing.yaml]\n";
    let apps = |cluster, path| kustomization(cluster, "apps", "flux-system", path, "");
    let checkout = checkout(&[
        bootstrap("prod"),
        bootstrap("staging"),
        apps("prod", "./apps/prod"),
        apps("staging", "./apps/staging"),
        ("apps/prod/config.yaml".into(), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n".into()),
        ("apps/staging/kustomization.yaml".into(), twice.into()),
    ]);
    let (path, text) = apps("staging", "./apps/staging");
    checkout.write(&path, &format!("# The error moves, and stays known.\n{text}"));
    assert_eq!(checkout.since().lines().filter(|line| line.contains("error[")).count(), 0, "{}", checkout.since());
    let (path, text) = apps("prod", "./apps/staging");
    checkout.write(&path, &text);
    let shown = checkout.since();
    assert!(
        shown.contains("apps/staging/kustomization.yaml:1") && shown.contains("error[missing-resource]"),
        "{shown}"
    );
}

#[test]
fn another_cluster_that_changes_a_name_spreads_no_error() {
    let checkout = checkout(&[
        bootstrap("prod"),
        kustomization("prod", "apps", "flux-system", "./apps", ""),
        ("apps/kustomization.yaml".into(), "resources: [missing.yaml]\n".into()),
    ]);
    let (path, text) = bootstrap("prod");
    checkout.write(&format!("other/{path}"), &text.replace("./clusters", "./other/clusters"));
    let shown = checkout.since();
    assert!(!shown.contains("missing-resource"), "{shown}");
}

#[test]
fn a_known_warning_that_becomes_an_error_is_new() {
    let (sync, text) = bootstrap("other");
    // The bootstrap of another directory lowers the errors of a cluster without a bootstrap.
    let (lone, sync_of_lone) = (kustomization("prod", "apps", "flux-system", "./missing", ""), text);
    let checkout = checkout(&[lone, (sync.clone(), sync_of_lone)]);
    assert!(!checkout.since().contains("missing-path"), "{}", checkout.since());
    std::fs::remove_file(checkout.0.path().join(sync)).unwrap();
    let shown = checkout.since();
    assert!(shown.contains("error[missing-path]"), "{shown}");
}

#[test]
fn a_tenant_without_its_label_account_and_binding_remains_a_tenant() {
    let account = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {toolkit.fluxcd.io/tenant: team}}\n---\n\
                   apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: flux, namespace: team}\n---\n\
                   apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: flux, namespace: team}\n\
                   roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\n\
                   subjects: [{kind: ServiceAccount, name: flux, namespace: team}]\n";
    let apps = |more| kustomization("prod", "apps", "team", "./apps", more);
    let checkout = checkout(&[
        bootstrap("prod"),
        apps(", serviceAccountName: flux, targetNamespace: team"),
        ("clusters/prod/account.yaml".into(), account.into()),
        ("apps/config.yaml".into(), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n".into()),
    ]);
    let (path, text) = apps(", targetNamespace: team");
    checkout.write(&path, &text);
    checkout.write("clusters/prod/account.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    let shown = checkout.since();
    assert!(shown.contains("error[missing-service-account]"), "{shown}");
    let output = fleetwright(checkout.0.path(), &["lint", "--format", "concise"]);
    assert!(!self::text(&output.stdout).contains("missing-service-account"), "nothing else shows the tenant");
}

#[test]
fn a_change_that_gives_the_repository_of_a_tenant_to_the_platform_is_an_error() {
    let tenant = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n\
                  apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: flux, namespace: team}\n---\n\
                  apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: flux, namespace: team}\n\
                  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\n\
                  subjects: [{kind: ServiceAccount, name: flux, namespace: team}]\n";
    let of = |namespace: &str, url: &str, more: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: team, namespace: \
             {namespace}}}\nspec: {{interval: 1m, ref: {{branch: main}}, url: \"{url}\"}}\n---\n\
             apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: team, namespace: \
             {namespace}}}\nspec: {{interval: 10m, path: ./apps, prune: true, sourceRef: {{kind: GitRepository, name: \
             team}}{more}}}\n"
        )
    };
    let (account, sync) = ("clusters/prod/account.yaml", "clusters/prod/team.yaml");
    let config = ("apps/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team}\n");
    let (root, bootstrap) = bootstrap("prod");
    for url in ["https://git.example.com/team", "ssh://git@example.com/fleet.git"] {
        let confined = of("team", url, ", serviceAccountName: flux");
        let files = [(&*root, &*bootstrap), (account, tenant), (sync, &*confined), config];
        let moved = of("flux-system", url, "");
        let renamed = of("other", url, "");
        // The tenant stays, and the platform applies its repository too.
        let further = ("clusters/prod/further.yaml", of("flux-system", url, ""));
        for (path, text) in [(sync, moved), (sync, renamed), further] {
            let checkout = Checkout::new(&files);
            checkout.write(path, &text);
            let shown = checkout.since();
            assert!(shown.contains("applies the repository of "), "{url} {path}: {shown}");
            checkout.write(account, "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n");
            let shown = checkout.since();
            assert!(shown.contains("applies the repository of "), "{url} {path}: {shown}");
        }
        let checkout = Checkout::new(&files);
        checkout.write(sync, &of("team", url, ", serviceAccountName: flux, timeout: 1m"));
        assert!(!checkout.since().contains("error["), "{}", checkout.since());
    }
}

#[test]
fn the_summary_counts_clusters_whose_errors_another_bootstrap_lowers() {
    let case = std::fs::read_to_string(crate::support::testdata("lint/tenant-cluster-admin/plain.md")).unwrap();
    let (_, manifest) = case.split_once("```yaml clusters/prod/a.yaml\n").unwrap();
    let manifest = manifest.split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    };
    write("clusters/prod/a.yaml", manifest);
    let lint = || text(&fleetwright(folder.path(), &["lint", "--format", "concise"]).stdout);
    assert!(lint().contains("error[tenant-cluster-admin]"), "{}", lint());
    write(
        "other/flux-system/gotk-sync.yaml",
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: \
         flux-system}\nspec: {interval: 1m, ref: {branch: main}, url: https://git.example.com/acme/fleet.git}\n---\n\
         apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: \
         flux-system}\nspec: {interval: 10m, path: ./other, prune: true, sourceRef: {kind: GitRepository, name: \
         flux-system}}\n",
    );
    assert!(lint().contains("warning[missing-path]"), "{}", lint());
    assert!(lint().contains("error[tenant-cluster-admin]"), "the rights of tenants are never lowered: {}", lint());
    assert!(lint().contains("errors of 1 cluster lowered"), "{}", lint());
}

#[test]
fn a_lock_file_that_lists_an_input_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = std::fs::read_to_string(crate::support::testdata("fleets/quickstart").join("fleet.yaml")).unwrap();
    std::fs::write(folder.path().join("fleet.yaml"), &fleet).unwrap();
    std::fs::write(folder.path().join(".fleetwright.lock"), format!("{}  fleet.yaml\n", "0".repeat(64))).unwrap();
    for arguments in [&["render"][..], &["render", "--force"]] {
        let output = fleetwright(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("lists the input `fleet.yaml`"), "{}", text(&output.stderr));
        assert!(folder.path().join("fleet.yaml").exists());
    }
}

#[test]
fn a_skipped_single_file_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("a.json", "{}", "is not a .yaml or .yml file"),
        ("b.yaml", "kind: [\n", "the linter skips files that are not valid YAML"),
        ("c.yaml", "a: 1\n", "the linter skips files without Kubernetes objects"),
    ];
    for (name, content, why) in cases {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = fleetwright(folder.path(), &["lint", name]);
        let output_text = text(&output.stderr);
        assert!(
            output_text.contains(why) && output_text.contains(name) && output.status.code() == Some(0),
            "{output_text}"
        );
    }
}

#[test]
fn a_closed_pipe_hides_no_finding_from_the_exit_code() {
    let folder = fleet();
    let exits_with = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    };
    assert_eq!(exits_with(&["render", "--check"]), Some(1));
    assert_eq!(exits_with(&["render"]), Some(0));
    std::fs::write(folder.path().join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nkind: Twice\n").unwrap();
    for format in ["text", "json", "github"] {
        assert_eq!(exits_with(&["lint", "--format", format]), Some(1), "{format}");
    }
    std::fs::write(folder.path().join("clusters/east/info.yaml"), "edited: true\n").unwrap();
    assert_eq!(exits_with(&["render"]), Some(1));
}

#[test]
fn colors_are_disabled_without_a_terminal() {
    let folder = fleet();
    let has_colors = |arguments: &[&str]| text(&fleetwright(folder.path(), arguments).stdout).contains('\x1b');
    assert!(has_colors(&["render", "--check", "--color", "always"]));
    assert!(!has_colors(&["render", "--check"]));
    assert!(!has_colors(&["render", "--check", "--color", "never"]));
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_is_an_error_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = fleet();
    let out = folder.path().join("out");
    std::fs::create_dir_all(out.join("clusters")).unwrap();
    for read_only in [out.clone(), out.join("clusters")] {
        std::fs::set_permissions(&read_only, std::fs::Permissions::from_mode(0o555)).unwrap();
        if std::fs::write(read_only.join("probe"), "").is_ok() {
            eprintln!("skipped: this user can write to read-only directories, like root");
            return;
        }
        let output = fleetwright(folder.path(), &["render", "-o", "out"]);
        let output_text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output_text}");
        assert!(output_text.contains("permission denied") && output_text.contains("out"), "{output_text}");
        assert!(!out.join(".fleetwright.lock").exists() && !out.join(".fleetwright.tmp").exists());
        std::fs::set_permissions(&read_only, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The state of an unreadable file or lock is unknown, so that a render neither reports nor overwrites it.
#[test]
fn an_unreadable_file_is_neither_current_nor_stale() {
    let folder = fleet();
    let root = folder.path();
    assert_eq!(fleetwright(root, &["render"]).status.code(), Some(0));
    std::fs::write(root.join(".fleetwright.lock"), [0xff, 0x00]).unwrap();
    for arguments in [&["render"][..], &["render", "--check"]] {
        let output = fleetwright(root, arguments);
        let output_text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output_text}");
        assert!(
            output_text.contains("cannot read `.fleetwright.lock`") && output_text.contains("--force"),
            "{output_text}"
        );
    }
    let forced = fleetwright(root, &["render", "--force"]);
    assert!(
        text(&forced.stderr).contains("wrote the lock file; no other changes: 2 files"),
        "{}",
        text(&forced.stderr)
    );
}

#[cfg(unix)]
#[test]
fn the_target_of_a_linked_fleet_yaml_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("token"), "private: [\n").unwrap();
    std::os::unix::fs::symlink(outside.path().join("token"), folder.path().join("fleet.yaml")).unwrap();
    for arguments in [&["render", "--check"][..], &["render", "--explain-values"], &["lint", "--fleet", "fleet.yaml"]] {
        let output = fleetwright(folder.path(), arguments);
        let output_text = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{output_text}");
        assert!(
            output_text.contains("it is a link to a directory or out of the root directory")
                && !output_text.contains("private"),
            "{output_text}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_not_an_edited_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = fleet();
    let root = folder.path();
    assert_eq!(fleetwright(root, &["render"]).status.code(), Some(0));
    for path in ["clusters/east/info.yaml", "clusters"] {
        let mode = |mode| std::fs::set_permissions(root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0);
        if std::fs::read(root.join("clusters/east/info.yaml")).is_ok() {
            eprintln!("skipped: this user can read every file, like root");
            return;
        }
        let output = fleetwright(root, &["render", "--check"]);
        mode(0o755);
        let output_text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{output_text}");
        assert!(output_text.contains("cannot read `clusters/east/info.yaml`: permission denied"), "{output_text}");
    }
}

#[test]
fn concurrent_renders_wait_for_each_other() {
    let folder = fleet();
    let render = || Command::new(BINARY).current_dir(folder.path()).arg("render").stderr(Stdio::piped()).spawn();
    for round in 0..10 {
        let fleet_yaml = std::fs::read_to_string(folder.path().join("fleet.yaml")).unwrap();
        let (from, to) = if round % 2 == 0 { ("west", "north") } else { ("north", "west") };
        std::fs::write(folder.path().join("fleet.yaml"), fleet_yaml.replace(from, to)).unwrap();
        let children: Vec<_> = (0..4).map(|_| render().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
    }
    assert_eq!(fleetwright(folder.path(), &["render", "--check"]).status.code(), Some(0));
}

#[test]
fn results_go_to_stdout_and_messages_to_stderr() {
    let folder = fleet();
    let check = fleetwright(folder.path(), &["render", "--check"]);
    assert!(text(&check.stdout).starts_with("--- /dev/null\n"), "{}", text(&check.stdout));
    assert!(text(&check.stderr).contains("2 files to add, 0 to change, 0 to remove"), "{}", text(&check.stderr));
    let rendered = fleetwright(folder.path(), &["render"]);
    assert_eq!(text(&rendered.stdout), "");
    let json = fleetwright(folder.path(), &["lint", "--format", "json"]);
    serde_json::from_slice::<serde_json::Value>(&json.stdout).unwrap();
    assert!(text(&json.stderr).contains("no findings"));
}

/// Tests that a render completes the work of an interrupted one.
#[test]
fn a_render_completes_an_interrupted_one() {
    let folder = fleet();
    let root = folder.path();
    assert_eq!(fleetwright(root, &["render"]).status.code(), Some(0));
    let lock = std::fs::read_to_string(root.join(".fleetwright.lock")).unwrap();
    let fleet_yaml = std::fs::read_to_string(root.join("fleet.yaml")).unwrap();
    std::fs::write(root.join("fleet.yaml"), fleet_yaml.replace("west", "north")).unwrap();
    assert_eq!(fleetwright(root, &["render"]).status.code(), Some(0));
    let done = std::fs::read_to_string(root.join(".fleetwright.lock")).unwrap();

    // Interrupted after one file: the lock lists both states, the directory of the removed file is empty, the stage exists.
    std::fs::write(root.join(".fleetwright.lock"), format!("{lock}{done}")).unwrap();
    std::fs::remove_dir_all(root.join("clusters/north")).unwrap();
    std::fs::create_dir_all(root.join("clusters/west")).unwrap();
    std::fs::create_dir_all(root.join(".fleetwright.tmp")).unwrap();
    let repaired = fleetwright(root, &["render"]);
    assert_eq!(repaired.status.code(), Some(0), "{}", text(&repaired.stderr));
    assert_eq!(std::fs::read_to_string(root.join(".fleetwright.lock")).unwrap(), done);
    assert!(root.join("clusters/north/info.yaml").exists());
    assert!(!root.join("clusters/west").exists() && !root.join(".fleetwright.tmp").exists());
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cli/repository.in")
}

#[test]
fn json_output_matches_its_schema() {
    let cases: [(&str, &[&str]); 5] = [
        ("build", &["build", "--format", "json"]),
        ("trace", &["trace", "Deployment/shop/web", "--format", "json"]),
        ("graph", &["graph", "--format", "json"]),
        ("access", &["access", "flux-system", "--format", "json"]),
        ("diff", &["diff", "../diff.in/before", ".", "--format", "json"]),
    ];
    for (name, arguments) in cases {
        let schema = serde_json::from_slice(&fleetwright(&repository(), &["schema", name]).stdout).unwrap();
        let schema = jsonschema::draft202012::new(&schema).unwrap();
        let written = fleetwright(&repository(), arguments);
        let document = serde_json::from_slice(&written.stdout).unwrap();
        let errors: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(!text(&written.stdout).contains("hunter2"), "{name}: the value of a Secret is printed");
    }
}

#[test]
fn values_of_secrets_are_printed_only_with_show_secrets() {
    let masked = text(&fleetwright(&repository(), &["build"]).stdout);
    let shown = text(&fleetwright(&repository(), &["build", "--show-secrets"]).stdout);
    assert!(!masked.contains("hunter2") && shown.contains("token: hunter2"));
}

/// Names of objects may contain characters that end a label, a line or a comment in an output format.
#[test]
fn names_of_objects_are_escaped_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: \"a\\\"]; b\\n\
                    rm -rf\\e[1m#c\"\n  namespace: x\nspec: {path: ./y, sourceRef: {kind: GitRepository, name: \"\\n---\"}}\n";
    std::fs::write(folder.path().join("a.yaml"), manifest).unwrap();
    for format in ["text", "mermaid", "dot"] {
        let drawn = text(&fleetwright(folder.path(), &["graph", "--format", format]).stdout);
        assert!(!drawn.contains("\nrm") && !drawn.contains('\x1b') && !drawn.contains("\n---"), "{drawn}");
        let label = match format {
            "mermaid" => "a#34;]#59; b rm -rf",
            "dot" => "a\\\"]; b rm -rf",
            _ => "a\"]; b rm -rf",
        };
        assert!(drawn.contains(label), "{drawn}");
    }
    let built = text(&fleetwright(folder.path(), &["build"]).stdout);
    assert_eq!(built.matches("\n---").count() + usize::from(built.starts_with("---")), 1, "{built}");
}

/// Mermaid refuses larger charts by default, and shows only an error instead.
#[test]
fn a_chart_beyond_the_limits_of_mermaid_gets_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let write = |count: usize| {
        let one = |number| {
            format!(
                "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: app-{number}\n  \
                 namespace: apps\nspec: {{path: ./app, sourceRef: {{kind: GitRepository, name: apps}}}}\n"
            )
        };
        std::fs::write(folder.path().join("all.yaml"), (0..count).map(one).collect::<String>()).unwrap();
    };
    let warning = |format: &str| text(&fleetwright(folder.path(), &["graph", "--format", format]).stderr);
    write(100);
    assert!(!warning("mermaid").contains("by default"));
    write(600);
    let shown = warning("mermaid");
    assert!(shown.contains("edges") && shown.contains("the limits are 500 edges and 50 KB"), "{shown}");
    assert!(!warning("dot").contains("Mermaid"));
}

/// Text is not truncated for a reader that is not a terminal.
#[test]
fn a_graph_in_a_pipe_has_lines_of_any_length() {
    let folder = tempfile::tempdir().unwrap();
    let long = "a-name-of-forty-characters-that-is-long";
    let manifest = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {long}\n  namespace: apps\nspec: \
         {{path: ./apps/{long}/{long}, dependsOn: [{{name: {long}-1}}, {{name: {long}-2}}], sourceRef: {{kind: GitRepository, \
         name: {long}}}}}\n"
    );
    std::fs::write(folder.path().join("a.yaml"), manifest).unwrap();
    let drawn = text(&fleetwright(folder.path(), &["graph"]).stdout);
    assert!(
        drawn.contains(&format!("apps/{long}/{long} of GitRepository {long}; after {long}-1, {long}-2")),
        "{drawn}"
    );
}

/// Creates a repository with a configuration and an application, and a copy of another repository beside it.
fn configured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [none.yaml]\n";
    let header = "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\n";
    for (path, text) in [
        (".fleetwright.yaml", format!("{header}colour: red\n")),
        ("repo/.git", "gitdir: elsewhere\n".to_owned()),
        ("repo/.fleetwright.yaml", format!("{header}lint: {{rules: {{missing-resource: warning}}, skip: [a/old]}}\n")),
        ("repo/a/new/kustomization.yaml", kustomization.to_owned()),
        ("repo/a/old/kustomization.yaml", kustomization.to_owned()),
        ("repo/b/.fleetwright.yaml", format!("{header}lint: {{rules: {{missing-resource: off}}}}\n")),
        ("repo/b/kustomization.yaml", kustomization.to_owned()),
        ("repo/.sub/.git/HEAD", String::new()),
        ("repo/.sub/kustomization.yaml", kustomization.to_owned()),
    ] {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }
    folder
}

#[test]
fn the_nearest_configuration_in_the_repository_is_used() {
    let folder = configured();
    let lint = |from: &str, dir: &str| {
        let output = fleetwright(&folder.path().join(from), &["lint", dir]);
        let output_text = text(&output.stdout) + &text(&output.stderr);
        let summary = output_text.lines().find_map(|line| line.split_once(" in 0 objects of ")).unwrap_or_default();
        (output.status.code(), summary.0.to_owned())
    };
    let warning = (Some(0), "1 warning".to_owned());
    for (from, dir) in [("repo", "a"), ("repo", "a/new"), ("repo/a", "."), ("repo/a/new", ".."), ("", "repo/a")] {
        assert_eq!(lint(from, dir), warning, "{dir} from `{from}`");
    }
    assert_eq!(lint("repo", "a/old"), (Some(0), "no findings".to_owned()));
    assert_eq!(lint("repo", "b").1, "no findings");
    assert_eq!(lint("repo", ".sub"), (Some(1), "1 error".to_owned()), "a nested repository is separate");
    assert_eq!(lint("", ".").0, Some(2), "an invalid configuration is an error");
}

#[test]
fn policies_and_schemas_of_a_configuration_above_the_linted_directory_apply() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: small}\n\
        spec:\n  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], \
        resources: [widgets]}]}\n  validations: [{expression: object.spec.size != \"big\"}]\n---\n\
        apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: small}\n\
        spec: {policyName: small, validationActions: [Deny]}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n\
        spec:\n  group: example.com\n  names: {kind: Widget, plural: widgets}\n  scope: Namespaced\n  versions:\n  - {name: v1, \
        served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, \
        properties: {size: {type: string, enum: [small]}}}}}}}\n";
    let sync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: \
        flux-system}\nspec: {interval: 1h, url: https://example.com/fleet.git, ref: {branch: main}}\n---\napiVersion: \
        kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n\
        spec: {interval: 1h, path: ./c, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    for (path, text) in [
        (".git", "gitdir: elsewhere\n"),
        (
            ".fleetwright.yaml",
            "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\nschemas: [schemas]\npolicies: [policies]\n",
        ),
        ("schemas/widget.yaml", definition),
        ("policies/small.yaml", policy),
        ("fleet/c/flux-system/gotk-sync.yaml", sync),
        (
            "fleet/c/widget.yaml",
            "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: flux-system}\nspec: {size: big}\n",
        ),
    ] {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }
    for (from, dir, shown) in [("", "fleet", ""), ("fleet", ".", "../"), ("fleet/c", "..", "../../")] {
        let output = fleetwright(&folder.path().join(from), &["lint", dir]);
        let answer = text(&output.stdout) + &text(&output.stderr);
        for rule in ["[schema-mismatch]", "[policy-violation]"] {
            assert!(answer.contains(rule), "{dir} from `{from}`: no {rule} in {answer}");
        }
        assert!(answer.contains(&format!("{shown}policies/small.yaml:")), "{dir} from `{from}`: {answer}");
    }
}

#[test]
fn paths_of_a_configuration_above_are_relative_to_it() {
    let folder = configured();
    let root = folder.path();
    let header = "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\n";
    let config = |text: &str| std::fs::write(root.join("repo/.fleetwright.yaml"), format!("{header}{text}\n")).unwrap();
    let lint = |from: &str, dir: &str| {
        let output = fleetwright(&root.join(from), &["lint", dir]);
        text(&output.stdout) + &text(&output.stderr)
    };
    config("lint: {exceptions: [{rule: missing-resource, reason: old, paths: [a/old]}]}");
    assert!(lint("repo/a", ".").contains("1 error in"), "{}", lint("repo/a", "."));
    assert!(lint("repo/a", "old").contains("1 finding excepted"), "{}", lint("repo/a", "old"));

    // The path of a copy beside the repository is relative to the current directory.
    let sync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: \
                flux-system}\nspec: {interval: 1h, url: https://example.com/repo.git, ref: {branch: main}}\n---\napiVersion: \
                kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: \
                flux-system}\nspec: {interval: 1h, path: ./c, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    let apps = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: apps, namespace: \
                flux-system}\nspec: {interval: 1h, url: https://example.com/apps.git, ref: {branch: main}}\n---\napiVersion: \
                kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                spec: {interval: 1h, path: ./x, prune: true, sourceRef: {kind: GitRepository, name: apps}}\n";
    for (path, text) in [
        ("repo/c/flux-system/gotk-sync.yaml", sync),
        ("repo/c/apps.yaml", apps),
        ("apps/x/kustomization.yaml", "kind: Kustomization\nresources: [none.yaml]\n"),
    ] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    let sources = "sources: [{url: https://example.com/apps.git, path: ../apps}]";
    config(&format!("{sources}\nlint: {{skip: [a, b, .sub]}}"));
    assert!(lint("repo", ".").contains("copy `../apps` outside of the repository"), "{}", lint("repo", "."));
    let lint = |from: &str, dir: &str| {
        let output = fleetwright(&root.join(from), &["lint", "--trust-config", dir]);
        text(&output.stdout) + &text(&output.stderr)
    };
    assert!(lint("repo", ".").contains("../apps/x/kustomization.yaml"), "{}", lint("repo", "."));
    config(&format!("{sources}\nlint: {{skip: [a, b, .sub, ../apps/x]}}"));
    for (from, dir) in [("repo", "."), ("", "repo"), ("repo/a", ".."), ("apps", "../repo")] {
        assert!(lint(from, dir).contains("no findings"), "{dir} from `{from}`: {}", lint(from, dir));
    }
}

/// Tests that an error of a whole cluster is reported although no applier has it.
#[test]
fn an_error_of_a_whole_cluster_fails_its_build() {
    let folder = tempfile::tempdir().unwrap();
    let source = "sourceRef: {kind: GitRepository, name: flux-system}";
    let itself = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: \
         again-${{N}}\n  namespace: flux-system\nspec:\n  path: ./apps\n  {source}\n  postBuild: {{substitute: {{N: \
         '${{N}}x'}}}}\n"
    );
    let sync = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: flux-system, namespace: \
         flux-system}}\nspec: {{url: https://example.org/fleet.git}}\n---\napiVersion: \
         kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: flux-system, namespace: \
         flux-system}}\nspec: {{path: ./apps, {source}, postBuild: {{substitute: {{N: x}}}}}}\n"
    );
    std::fs::create_dir(folder.path().join("apps")).unwrap();
    std::fs::write(folder.path().join("apps/again.yaml"), itself).unwrap();
    std::fs::write(folder.path().join("gotk-sync.yaml"), sync).unwrap();
    let built = fleetwright(folder.path(), &["build"]);
    let output_text = text(&built.stderr);
    assert!(
        output_text.contains("creates itself repeatedly under new names") && output_text.contains("again.yaml:4"),
        "{output_text}"
    );
    assert_eq!(built.status.code(), Some(1), "{output_text}");
    // The build of one valid Kustomization does not report the other errors.
    let built = fleetwright(folder.path(), &["build", "--kustomization", "flux-system/again-x"]);
    assert_eq!(built.status.code(), Some(0), "{}", text(&built.stderr));
}

#[test]
fn the_example_of_every_built_in_layout_renders_and_lints_clean() {
    let folder = tempfile::tempdir().unwrap();
    let layouts = text(&fleetwright(folder.path(), &["layout"]).stdout);
    let names: Vec<&str> = layouts.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"d1"), "{layouts}");
    for name in names {
        let (fleet, lint) = (format!("{name}/fleet.yaml"), ["lint", "--pedantic", name]);
        for arguments in [&["init", "--layout", name, name][..], &["render", "-f", &fleet], &lint] {
            let output = fleetwright(folder.path(), arguments);
            let (code, out) = (output.status.code(), text(&output.stdout) + &text(&output.stderr));
            assert_eq!(code, Some(0), "{arguments:?}: {out}");
            assert!(arguments[0] != "lint" || out.contains("no findings"), "{arguments:?}: {out}");
        }
    }
}
