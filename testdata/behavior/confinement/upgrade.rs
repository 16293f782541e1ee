//! The files that `upgrade --fix` changes: files of the checkout, never files behind a link or in `.git`.

use std::fs;

use super::checkout::{Checkout, write};

/// A HelmRepository of a removed version, with bytes that an edit must keep.
const REMOVED: &str = "# charts\r\napiVersion: 'source.toolkit.fluxcd.io/v1beta2'  # old\r\nkind: HelmRepository\r\n\
                       metadata: {name: NAME, namespace: flux-system}\r\nspec:   {interval: 1h, url: https://charts.example.com}";

const SYNC: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: \
                    flux-system}\nspec: {interval: 1h, url: https://example.com/fleet.git, ref: {branch: main}}\n---\n\
                    apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: \
                    flux-system}\nspec: {path: ./clusters/one, prune: true, interval: 1h, sourceRef: {kind: GitRepository, \
                    name: flux-system}}\n";

fn object(name: &str) -> String {
    REMOVED.replace("NAME", name)
}

fn checkout(resources: &[&str]) -> Checkout {
    let checkout = Checkout::new();
    checkout.write("clusters/one/flux-system/gotk-sync.yaml", SYNC);
    let listed: String = resources.iter().map(|path| format!("  - {path}\n")).collect();
    let kustomization = format!("resources:\n  - flux-system/gotk-sync.yaml\n  - own.yaml\n{listed}");
    checkout.write("clusters/one/kustomization.yaml", &kustomization);
    checkout.write("clusters/one/own.yaml", &object("own"));
    checkout
}

const FIX: &[&str] = &["upgrade", "--flux-version", "2.9", "--fix"];

#[test]
fn a_fix_keeps_every_other_byte() {
    let checkout = checkout(&[]);
    checkout.run(FIX);
    let text = fs::read_to_string(checkout.root().join("clusters/one/own.yaml")).unwrap();
    assert_eq!(text, object("own").replace("v1beta2", "v1"));
}

#[test]
fn a_fix_changes_no_file_behind_a_link() {
    let checkout = checkout(&["link.yaml", "inside.yaml", "there/deep.yaml"]);
    let outside = checkout.outside().join("outside.yaml");
    write(&outside, &object("outside"));
    checkout.link("clusters/one/link.yaml", &outside);
    checkout.write("other/inside.yaml", &object("inside"));
    checkout.link("clusters/one/inside.yaml", "../../other/inside.yaml");
    write(&checkout.outside().join("there/deep.yaml"), &object("deep"));
    checkout.link("clusters/one/there", checkout.outside().join("there"));
    let answer = checkout.run(FIX);
    assert_eq!(fs::read_to_string(&outside).unwrap(), object("outside"), "{}", answer.text);
    let deep = fs::read_to_string(checkout.outside().join("there/deep.yaml")).unwrap();
    assert_eq!(deep, object("deep"), "{}", answer.text);
    let link = fs::symlink_metadata(checkout.root().join("clusters/one/inside.yaml")).unwrap();
    assert!(link.is_symlink(), "{}", answer.text);
}

#[test]
fn a_fix_changes_no_file_in_git() {
    for path in ["../../.git/hook.yaml", "../../.git/nested/../hook.yaml"] {
        let checkout = checkout(&[path]);
        checkout.write(".git/nested/x", "");
        checkout.write(".git/hook.yaml", &object("hook"));
        let answer = checkout.run(FIX);
        let text = fs::read_to_string(checkout.root().join(".git/hook.yaml")).unwrap();
        assert_eq!(text, object("hook"), "{path}: {}", answer.text);
    }
}
