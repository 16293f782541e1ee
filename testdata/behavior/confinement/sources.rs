//! Copies of sources: which directories a configuration may name, and which only the command line.

use std::fs;

use super::checkout::{Answer, CANARY, Checkout, assert_same, part, write};
use super::side_by_side;

const URL: &str = "https://example.com/apps.git";
const HEADER: &str = "apiVersion: fleetwright.dev/v1alpha1\nkind: Config\n";

/// A checkout whose cluster carries `secret` of the source `apps` into an object, and from there into a finding.
fn checkout() -> Checkout {
    let checkout = Checkout::new();
    let source = |name: &str, rest: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: \
             flux-system}}\nspec: {{interval: 1h, url: https://example.com/{name}.git, ref: {{branch: main}}{rest}}}\n---\n"
        )
    };
    let applier = |name: &str, path: &str, from: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
             flux-system}}\nspec: {{path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: {from}}}}}\n---\n"
        )
    };
    let root = source("fleet", "") + &applier("flux-system", "./clusters/one", "fleet");
    checkout.write("clusters/one/flux-system/gotk-sync.yaml", &root);
    let apps = source("apps", "")
        + &source("whole", ", include: [{repository: {name: apps}, toPath: in}]").replace("whole.git", "fleet.git")
        + &applier("carrier", "./carrier", "whole")
        + &applier("raw", "./", "apps");
    checkout.write("clusters/one/apps.yaml", &apps);
    checkout.write(
        "carrier/kustomization.yaml",
        "configMapGenerator:\n- {name: made, files: [\"text=../in/secret\"], options: {disableNameSuffixHash: true}}\n\
         resources: [carried.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: made, fieldPath: data.text}\n  \
         targets: [{select: {kind: Kustomization, name: carried}, fieldPaths: [spec.sourceRef.name]}]\n",
    );
    checkout.write("carrier/carried.yaml", &applier("carried", "./x", "nothing"));
    plant(&checkout.root().join(".git"));
    fs::create_dir(checkout.outside().join("deep")).unwrap();
    checkout
}

/// Makes a directory that may be named as a copy.
fn plant(folder: &std::path::Path) {
    write(&folder.join("secret"), &format!("{CANARY}-secret"));
    write(&folder.join("o.yaml"), &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {CANARY}}}\n"));
    let versions = "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]";
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: x.example.com}}\nspec: \
         {{group: example.com, scope: Cluster, names: {{kind: {CANARY}, plural: x}}, versions: {versions}}}\n"
    );
    write(&folder.join("definition.yaml"), &definition);
}

fn config(path: &str) -> String {
    format!("{HEADER}sources:\n  - url: {URL}\n    path: \"{path}\"\n")
}

/// A path of a copy that is refused, as YAML between quotes, and what is made for it in the checkout.
type Trick = (&'static str, fn(&Checkout));

const TRICKS: &[Trick] = &[
    ("link", |checkout| checkout.link("link", "../outside")),
    ("./link/.", |checkout| checkout.link("link", "../outside")),
    ("link", |checkout| checkout.link("link", checkout.outside())),
    ("link", |checkout| {
        checkout.link("link", "a/second");
        checkout.link("a/second", "../third");
        checkout.link("third", "../outside");
    }),
    ("link/outside", |checkout| checkout.link("link", "..")),
    ("link/..", |checkout| checkout.link("link", "../outside/deep")),
    ("link/../outside", |checkout| checkout.link("link", "../outside")),
    ("a/link", |checkout| checkout.link("a", "../outside/deep/..")),
    ("link", |checkout| checkout.link("link", "nowhere")),
    ("link", |checkout| checkout.link("link", "link")),
    ("link", |checkout| checkout.link("link", ".git")),
    ("link", |checkout| checkout.link("link", "a/../.git/.")),
    ("a/link/objects", |checkout| checkout.link("a/link", "../.git")),
    ("../outside", |_| {}),
    ("a/../../outside", |_| {}),
    ("./a/.././/../outside/./", |_| {}),
    ("../repo/../outside", |_| {}),
    ("../repo", |_| {}),
    ("../../../../../../../../../../proc/self", |_| {}),
    ("..", |_| {}),
    ("/", |_| {}),
    ("/proc/self/cwd/../outside", |_| {}),
    ("//proc/self", |_| {}),
    ("~/x", |_| {}),
    ("C:/outside", |_| {}),
    ("C:outside", |_| {}),
    ("..\\\\outside", |_| {}),
    ("a\\\\..\\\\..\\\\outside", |_| {}),
    ("\\\\\\\\?\\\\C:\\\\outside", |_| {}),
    (".git", |_| {}),
    (".GIT", |checkout| plant(&checkout.root().join(".GIT"))),
    (".Git/objects", |_| {}),
    (".git/objects", |_| {}),
    ("a/../.git", |_| {}),
    ("a/./../.git/.", |_| {}),
    ("git~1", |_| {}),
    (".git ", |_| {}),
    (".git::$INDEX_ALLOCATION", |_| {}),
    (".g\\u200cit", |_| {}),
    ("link\\0", |checkout| checkout.link("link", "../outside")),
    ("../outside\\0", |_| {}),
    ("\\e[2J../outside", |_| {}),
    ("file", |checkout| checkout.link("file", "../outside/secret")),
];

/// Every command that reads the copy, by each way to choose a configuration.
const COMMANDS: &[&[&str]] = &[
    &["lint"],
    &["lint", "--format", "json"],
    &["lint", "--format", "github"],
    &["lint", "clusters"],
    &["lint", "clusters/one/apps.yaml"],
    &["lint", "--config", ".fleetwright.yaml"],
    &["build", "--show-secrets"],
    &["graph"],
    &["trace", "ConfigMap/flux-system/made"],
    &["access", "flux-system"],
];

#[test]
fn no_configuration_of_the_repository_names_a_copy_outside_of_it() {
    let numbered: Vec<_> = TRICKS.iter().enumerate().collect();
    side_by_side(&numbered, |(number, (path, make))| {
        let checkout = checkout();
        make(&checkout);
        checkout.write(".fleetwright.yaml", &config(path));
        let commands = part(COMMANDS, *number, 4);
        let missing = checkout.answers(&commands);
        plant(&checkout.outside());
        let present = checkout.answers(&commands);
        let name = format!("path: {path}");
        assert_same(&missing, &present, &name);
        for answer in present {
            answer.assert_clean(&name);
            let Answer { command, code, text } = &answer;
            assert_eq!(*code, Some(2), "{name}: `{command}` is not refused:\n{text}");
            let is_named = text.contains(".fleetwright.yaml:5:11") || text.contains("line=5");
            assert!(
                is_named && text.contains("--source"),
                "{name}: `{command}` does not say where and what to do:\n{text}"
            );
        }
    });
}

#[test]
fn no_configuration_of_the_repository_names_schemas_outside_of_it() {
    let numbered: Vec<_> = TRICKS.iter().enumerate().collect();
    side_by_side(&numbered, |(number, (path, make))| {
        let checkout = checkout();
        make(&checkout);
        checkout.write(".fleetwright.yaml", &format!("{HEADER}schemas:\n  - \"{path}\"\n"));
        let commands: &[&[&str]] = &[&["schema", "list"], &["schema", CANARY], &["lint"], &["graph"]];
        let commands = part(commands, *number, 2);
        let missing = checkout.answers(&commands);
        plant(&checkout.outside());
        let present = checkout.answers(&commands);
        let name = format!("schemas: {path}");
        assert_same(&missing, &present, &name);
        for answer in present {
            answer.assert_clean(&name);
            let Answer { command, code, text } = &answer;
            assert_eq!(*code, Some(2), "{name}: `{command}` is not refused:\n{text}");
            assert!(text.contains(".fleetwright.yaml:4:5"), "{name}: `{command}` does not say where:\n{text}");
        }
    });
}

/// What a command that may read the copy prints.
#[track_caller]
fn assert_read(checkout: &Checkout, arguments: &[&str]) {
    let Answer { text, .. } = checkout.run(arguments);
    assert!(text.contains(&format!("{CANARY}-secret")), "{arguments:?} does not read the copy:\n{text}");
}

#[test]
fn a_copy_outside_is_named_by_the_command_line_or_by_a_configuration_outside() {
    let checkout = checkout();
    plant(&checkout.outside());
    let source = format!("{URL}=../outside");
    assert_read(&checkout, &["lint", "--format", "github", "--source", &source]);
    // What the command line names is not what the repository names.
    checkout.write(".fleetwright.yaml", &config("../outside"));
    assert_read(&checkout, &["build", "--source", &source]);
    assert_read(&checkout, &["lint", "--trust-config"]);
    fs::remove_file(checkout.root().join(".fleetwright.yaml")).unwrap();
    let outside = checkout.outside().join("ci/fleetwright.yaml");
    write(&outside, &config(".."));
    assert_read(&checkout, &["lint", "--config", "../outside/ci/fleetwright.yaml"]);
    assert_read(&checkout, &["lint", "--config", &outside.display().to_string()]);
}

#[test]
fn a_copy_in_the_repository_is_named_by_its_configuration() {
    for ignored in ["", "vendor\n"] {
        let checkout = checkout();
        checkout.write(".gitignore", ignored);
        plant(&checkout.root().join("vendor/apps"));
        checkout.link("link", "vendor");
        for path in ["vendor/apps", "./clusters/../vendor/./apps/", "clusters/../vendor/apps", "link/apps"] {
            checkout.write(".fleetwright.yaml", &config(path));
            assert_read(&checkout, &["lint"]);
        }
        // The root is that of the repository, wherever the configuration lies in it.
        fs::remove_file(checkout.root().join(".fleetwright.yaml")).unwrap();
        checkout.write("clusters/.fleetwright.yaml", &config("../vendor/apps"));
        assert!(checkout.run(&["lint", "clusters"]).code != Some(2));
        checkout.write("clusters/.fleetwright.yaml", &config("../../outside"));
        assert_eq!(checkout.run(&["lint", "clusters"]).code, Some(2));
    }
}

#[test]
fn trust_in_a_configuration_is_no_trust_in_links() {
    let checkout = checkout();
    plant(&checkout.outside());
    checkout.link("link", "../outside");
    for path in ["link", ".git", "link/deep/.."] {
        checkout.write(".fleetwright.yaml", &config(path));
        for arguments in [&["lint", "--trust-config"][..], &["build", "--trust-config"]] {
            let answer = checkout.run(arguments);
            answer.assert_clean(path);
            assert_eq!(answer.code, Some(2), "{path}: {}", answer.text);
        }
    }
}

#[test]
fn a_configuration_that_is_a_link_is_not_followed_out() {
    let checkout = checkout();
    write(&checkout.outside().join("secret.yaml"), &format!("{HEADER}{CANARY}: true\n"));
    for target in ["../outside/secret.yaml", ".git/config", "../outside"] {
        checkout.link(".fleetwright.yaml", target);
        checkout.link("ci.yaml", target);
        for answer in checkout.answers(COMMANDS).into_iter().chain([checkout.run(&["lint", "--config", "ci.yaml"])]) {
            answer.assert_clean(target);
        }
        fs::remove_file(checkout.root().join(".fleetwright.yaml")).unwrap();
        fs::remove_file(checkout.root().join("ci.yaml")).unwrap();
    }
}

#[test]
fn a_link_of_the_repository_leads_no_option_of_the_command_line_out() {
    let checkout = checkout();
    plant(&checkout.outside());
    write(&checkout.outside().join("kustomization.yaml"), "resources: [o.yaml]\n");
    write(&checkout.outside().join("config.yaml"), &format!("{HEADER}{CANARY}: true\n"));
    write(&checkout.outside().join("fleet.yaml"), &format!("apiVersion: fleetwright.dev/v1alpha1\nkind: {CANARY}\n"));
    checkout.link("vendor", "../outside");
    checkout.link("a/git", "../.git");
    checkout.link("config.yaml", "../outside/config.yaml");
    checkout.link("fleet.yaml", "../outside/fleet.yaml");
    let root = checkout.root().display().to_string();
    for arguments in [
        &["lint", "vendor"][..],
        &["lint", "vendor/deep/.."],
        &["lint", "vendor/o.yaml"],
        &["lint", "a/git"],
        &["lint", &format!("{root}/vendor")],
        &["lint", ".git"],
        &["lint", "--source", &format!("{URL}=vendor")],
        &["lint", "--source", &format!("{URL}={root}/vendor/deep/..")],
        &["lint", "--source", &format!("{URL}=a/git")],
        &["lint", "--source", &format!("{URL}=.git")],
        &["lint", "--config", "vendor/config.yaml"],
        &["lint", "--config", "config.yaml"],
        &["lint", "--fleet", "vendor/fleet.yaml"],
        &["lint", "--fleet", "fleet.yaml"],
        &["build", "vendor"],
        &["graph", "vendor"],
        &["access", "flux-system", "-C", "vendor"],
        &["trace", "ConfigMap/canary", "-C", "vendor"],
        &["kustomize", "vendor"],
        &["kustomize", "carrier", "--source", &format!("{URL}=vendor")],
        &["render", "-f", "vendor/fleet.yaml"],
        &["render", "-f", "fleet.yaml"],
    ] {
        let answer = checkout.run(arguments);
        // What was typed is repeated.
        let shown = answer.text.replace("ConfigMap/canary", "");
        assert!(!shown.contains(CANARY), "{arguments:?} prints a file that it must not read:\n{shown}");
    }
}
