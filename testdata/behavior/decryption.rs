//! What SOPS encrypted: of what is decrypted before a build nobody knows the values, nor a hash of them.

use fleetwright::flux::{Applied, Repo};
use fleetwright::yaml::{Node, Style, Value};

use super::clusters::{kustomization, load, object, sync};
use super::support::lines;

const CIPHER: &str = "ENC[AES256_GCM,data:aGVsbG8=,iv:abc=,tag:def=,type:str]";

/// A cluster with a folder of applications that has the files.
fn apps(decryption: &str, kustomization_yaml: &str, files: &str) -> Repo {
    let spec = format!("  path: apps\n{decryption}");
    let apps = kustomization("clusters/a/apps.yaml", "apps", &spec);
    let built = format!("\n## apps/kustomization.yaml\n{kustomization_yaml}\n");
    load(&[sync("a"), apps, built, files.replace("CIPHER", CIPHER)].concat())
}

const SOPS: &str = "  decryption: {provider: sops}";

const DEPLOYMENT: &str = "
## apps/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          envFrom: [{secretRef: {name: login}}]
";

const ENCRYPTED: &str = "
## apps/config.yaml
password: CIPHER
sops:
    mac: CIPHER
";

fn is_unknown(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(_, Style::Unknown))
}

fn of_kind<'a>(repo: &'a Repo, kind: &str) -> Applied<'a> {
    repo.clusters[0].objects().find(|applied| applied.object.kind() == kind).unwrap()
}

fn reference(repo: &Repo) -> Node {
    let deployment = of_kind(repo, "Deployment");
    let containers = deployment.object.node.at_keys(&["spec", "template", "spec", "containers"]).unwrap();
    let from = containers.items()[0].get("envFrom").unwrap();
    from.items()[0].at_keys(&["secretRef", "name"]).unwrap().clone()
}

#[test]
fn the_hash_of_what_is_decrypted_is_unknown_and_references_follow_it() {
    let with = "resources: [deployment.yaml]\nsecretGenerator: [{name: login, files: [config.yaml]}]";
    let files = [DEPLOYMENT, ENCRYPTED].concat();
    let repo = apps(SOPS, with, &files);
    assert_eq!(lines(&repo.problems), "");
    let secret = of_kind(&repo, "Secret").object;
    assert_eq!(secret.name(), "login-xxxxxxxxxx");
    assert!(is_unknown(secret.node.at_keys(&["metadata", "name"]).unwrap()));
    assert!(is_unknown(secret.node.at_keys(&["data", "config.yaml"]).unwrap()));
    let name = reference(&repo);
    assert_eq!(name.text(), Some("login-xxxxxxxxxx"));
    assert!(is_unknown(&name));
    // Without decryption Flux applies the bytes that are there.
    let repo = apps("", with, &files);
    let secret = of_kind(&repo, "Secret").object;
    assert!(!secret.name().ends_with("xxxxxxxxxx"), "{}", secret.name());
    assert!(!is_unknown(secret.node.at_keys(&["data", "config.yaml"]).unwrap()));
    assert_eq!(reference(&repo).text(), Some(secret.name()));
}

#[test]
fn encrypted_lines_keep_their_names_and_lose_what_sops_added() {
    let with = "secretGenerator: [{name: login, envs: [login.env]}]";
    let files = "\n## apps/login.env\nUSER=admin\nPASSWORD=CIPHER\nsops_version=3.9.0\nsops_mac=CIPHER\n";
    let repo = apps(SOPS, with, files);
    let secret = of_kind(&repo, "Secret").object;
    let data = secret.node.get("data").unwrap();
    let keys: Vec<&str> = data.entries().iter().map(|entry| &*entry.key).collect();
    assert_eq!(keys, ["PASSWORD", "USER"]);
    assert!(is_unknown(data.get("PASSWORD").unwrap()));
    assert_eq!(data.get("USER").unwrap().text(), Some("YWRtaW4="));
    assert_eq!(secret.name(), "login-xxxxxxxxxx");
    // The older field of one file is not looked into.
    let repo = apps(SOPS, "secretGenerator: [{name: login, env: login.env}]", files);
    assert_eq!(of_kind(&repo, "Secret").object.node.get("data").unwrap().entries().len(), 4);
}

#[test]
fn what_merges_into_an_encrypted_secret_has_no_known_hash_either() {
    let with = "resources: [base]\nsecretGenerator: [{name: login, behavior: merge, literals: [a=b]}]";
    let base = "\n## apps/base/kustomization.yaml\nsecretGenerator: [{name: login, files: [config.yaml]}]\n";
    let repo = apps(SOPS, with, &[base, &ENCRYPTED.replace("apps/", "apps/base/")].concat());
    let secret = of_kind(&repo, "Secret").object;
    assert_eq!(secret.name(), "login-xxxxxxxxxx");
    assert_eq!(secret.text_at(&["data", "a"]), Some("Yg=="));
}

#[test]
fn a_config_map_of_encrypted_files_has_what_is_in_them() {
    let with = "configMapGenerator: [{name: login, files: [config.yaml]}]";
    let repo = apps(SOPS, with, ENCRYPTED);
    let made = of_kind(&repo, "ConfigMap").object;
    assert!(!made.name().ends_with("xxxxxxxxxx"));
    assert!(made.text_at(&["data", "config.yaml"]).unwrap().contains("ENC["));
}

/// What was not decrypted by its name is once the Secret is built: then the hash is known, and the value is not.
#[test]
fn what_is_decrypted_after_the_build_has_the_hash_of_what_is_there() {
    let files = |key: &str| format!("secretGenerator: [{{name: login, files: [{key}=config.yaml]}}]");
    let with = apps(SOPS, &files("config"), ENCRYPTED);
    let without = apps("", &files("config"), ENCRYPTED);
    let (secret, plain) = (of_kind(&with, "Secret").object, of_kind(&without, "Secret").object);
    assert_eq!(secret.name(), plain.name());
    assert!(is_unknown(secret.node.at_keys(&["data", "config"]).unwrap()));
    let switched = format!(
        "{}\ngeneratorOptions: {{annotations: {{kustomize.toolkit.fluxcd.io/decrypt: disabled}}}}",
        files("config")
    );
    let repo = apps(SOPS, &switched, ENCRYPTED);
    assert!(!is_unknown(of_kind(&repo, "Secret").object.node.at_keys(&["data", "config"]).unwrap()));
}

#[test]
fn an_encrypted_patch_sets_what_nobody_knows() {
    let patch = |name: &str| {
        format!(
            "\n## apps/patch.yaml\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData:\n  a: CIPHER\n\
             sops:\n    mac: CIPHER\n\n## apps/secret.yaml\napiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\n\
             stringData: {{a: x, b: y}}\n"
        )
    };
    let with = "resources: [secret.yaml]\npatches: [{path: patch.yaml}]";
    let repo = apps(SOPS, with, &patch("login"));
    assert_eq!(lines(&repo.problems), "");
    let secret = object(&repo.clusters[0], "Secret", "login").object;
    assert!(is_unknown(secret.node.at_keys(&["stringData", "a"]).unwrap()));
    assert_eq!((secret.text_at(&["stringData", "b"]), secret.node.get("sops")), (Some("y"), None));
    // For which object it is cannot be read where that is encrypted too.
    let repo = apps(SOPS, with, &patch("'CIPHER'"));
    assert_eq!(lines(&repo.problems), "");
    assert_eq!(repo.not_done.get("patches: <encrypted>"), Some(&1));
}
