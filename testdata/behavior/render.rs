//! Renders over an earlier tree: what is added, changed, removed, adopted or refused.

use fleetwright::fleet::{Loaded, load};
use fleetwright::render::{LOCK, Lock, Plan, Rendered, plan, render};
use fleetwright::text::{File, Tree};

use super::support::{lines, testdata, tree_of};

fn rendered(tree: &Tree) -> (Loaded, Rendered) {
    let loaded = load(tree, "fleet.yaml");
    assert!(loaded.fleet.is_some(), "{}", lines(&loaded.findings));
    let rendered = render(loaded.fleet.as_ref().unwrap(), loaded.layout.as_ref().unwrap());
    (loaded, rendered)
}

fn planned(tree: &Tree, rendered: &Rendered) -> Plan {
    let lock = tree.file(LOCK).map_or_else(|_| Lock::default(), |file| Lock::parse(&file).0);
    plan(rendered, tree, &lock)
}

/// A tree with the quickstart rendered into it, its plan written.
fn quickstart() -> Tree {
    let mut tree = Tree::default();
    tree.insert(tree_of(&testdata("fleets/quickstart")).file("fleet.yaml").unwrap());
    let (_, rendered) = rendered(&tree);
    apply(&tree, &planned(&tree, &rendered))
}

/// The tree after a plan.
fn apply(tree: &Tree, plan: &Plan) -> Tree {
    let mut tree = tree.clone();
    for change in plan.changes() {
        match &change.new {
            Some(file) => tree.insert(file.clone()),
            None => tree.remove(&change.path),
        }
    }
    tree.insert(File::new(LOCK, plan.lock_after.to_string()));
    tree
}

fn edit(tree: &mut Tree, path: &str, from: &str, to: &str) {
    let text = tree.file(path).unwrap().text().replace(from, to);
    assert_ne!(text, tree.file(path).unwrap().text(), "{path} has no {from:?}");
    tree.insert(File::new(path, text));
}

fn paths(changes: &[fleetwright::render::Change]) -> Vec<&str> {
    changes.iter().map(|change| change.path.as_str()).collect()
}

fn replan(tree: &Tree) -> Plan {
    let (_, rendered) = rendered(tree);
    planned(tree, &rendered)
}

#[test]
fn a_second_render_writes_nothing() {
    let plan = replan(&quickstart());
    assert!(plan.is_current() && plan.is_lock_current() && !plan.is_blocked());
    assert!(plan.removed_objects.is_empty() && plan.orphans.is_empty() && plan.adopted.is_empty());
}

#[test]
fn a_changed_value_changes_its_files() {
    let mut tree = quickstart();
    edit(&mut tree, "fleet.yaml", "staging.acme.example", "lab.acme.example");
    let plan = replan(&tree);
    assert_eq!(paths(&plan.change), ["clusters/staging/runtime-info.yaml"]);
    assert_eq!(plan.changes().count(), 1);
    assert!(plan.removed_objects.is_empty());
}

#[test]
fn a_cluster_that_left_is_removed_with_what_it_ran() {
    let mut tree = quickstart();
    let from = "  - name: prod-us\n    environment: production\n    runtimeInfo: {CLUSTER_DOMAIN: us.acme.example}\n";
    edit(&mut tree, "fleet.yaml", from, "");
    let plan = replan(&tree);
    assert_eq!(plan.remove.len(), 6);
    assert!(plan.add.is_empty() && plan.change.is_empty() && !plan.is_blocked());
    let folders: Vec<&str> = plan.removed_objects.iter().map(|removed| removed.folder.as_str()).collect();
    assert_eq!(folders, ["clusters/prod-us", "clusters/prod-us/flux-system"]);
    let after = apply(&tree, &plan);
    assert!(!after.has_folder("clusters/prod-us"));
    assert!(replan(&after).is_current());
}

#[test]
fn objects_are_removed_under_the_namespace_that_they_run_in() {
    let mut tree = quickstart();
    edit(&mut tree, "fleet.yaml", "    components: [{name: web, namespace: shop}]\n", "");
    let plan = replan(&tree);
    let removed = plan.removed_objects.iter().flat_map(|removed| &removed.objects);
    let removed: Vec<String> = removed.map(ToString::to_string).collect();
    let expected = [
        "Kustomization `shop/flux-web`",
        "RoleBinding `shop/flux-shop`",
        "GitRepository `shop/flux-shop`",
        "ConfigMap `shop/flux-runtime-info`",
        "Namespace `shop`",
        "ServiceAccount `shop/flux-shop`",
    ];
    assert_eq!(removed, expected);
}

#[test]
fn an_edited_file_blocks_until_somebody_decides() {
    let mut tree = quickstart();
    let path = "clusters/staging/runtime-info.yaml";
    edit(&mut tree, path, "staging.acme.example", "mine.example");
    let plan = replan(&tree);
    assert_eq!(paths(&plan.edited), [path]);
    assert!(plan.is_blocked() && !plan.is_current());
    let after = apply(&tree, &plan.forced());
    assert!(replan(&after).is_current());
}

#[test]
fn an_edited_file_that_nothing_renders_blocks_too() {
    let mut tree = quickstart();
    edit(&mut tree, "clusters/prod-us/runtime-info.yaml", "us.acme.example", "mine.example");
    let from = "  - name: prod-us\n    environment: production\n    runtimeInfo: {CLUSTER_DOMAIN: us.acme.example}\n";
    edit(&mut tree, "fleet.yaml", from, "");
    let plan = replan(&tree);
    assert_eq!(paths(&plan.edited), ["clusters/prod-us/runtime-info.yaml"]);
    let forced = plan.forced();
    assert_eq!(forced.remove.len(), 6);
    assert!(!forced.is_blocked());
}

#[test]
fn a_file_that_is_not_ours_is_never_touched() {
    let mut tree = quickstart();
    tree.insert(File::new("clusters/staging/own.yaml", "kind: Mine\n"));
    tree.insert(File::new("README.md", "# Mine\n"));
    assert!(replan(&tree).forced().is_current());
}

#[test]
fn a_file_in_the_way_blocks() {
    let mut tree = quickstart();
    let path = "clusters/staging/runtime-info.yaml";
    tree.insert(File::new(path, "kind: Mine\n"));
    let lock = tree.file(LOCK).unwrap().text().to_owned();
    let kept: Vec<&str> = lock.lines().filter(|line| !line.ends_with(path)).collect();
    tree.insert(File::new(LOCK, kept.join("\n") + "\n"));
    let plan = replan(&tree);
    assert_eq!(paths(&plan.in_the_way), [path]);
    assert!(plan.is_blocked() && plan.in_the_way[0].note.is_none());
    assert_eq!(paths(&plan.forced().change), [path]);
}

#[test]
fn a_file_where_a_folder_is_needed_and_a_folder_where_a_file_is_needed_block() {
    let mut tree = Tree::default();
    tree.insert(tree_of(&testdata("fleets/quickstart")).file("fleet.yaml").unwrap());
    tree.insert(File::new("clusters/staging", "text"));
    tree.insert(File::new("clusters/prod-eu/runtime-info.yaml/notes.txt", "text"));
    let plan = replan(&tree);
    assert_eq!(paths(&plan.in_the_way), ["clusters/prod-eu/runtime-info.yaml", "clusters/staging"]);
}

#[test]
fn without_its_lock_what_is_as_rendered_is_adopted() {
    let mut tree = quickstart();
    tree.remove(LOCK);
    let plan = replan(&tree);
    assert!(plan.is_current() && !plan.is_blocked() && !plan.is_lock_current());
    assert_eq!(plan.adopted.len(), plan.lock_after.paths().count());
    edit(&mut tree, "clusters/staging/runtime-info.yaml", "staging.acme.example", "mine.example");
    let plan = replan(&tree);
    assert!(plan.in_the_way[0].note.is_some(), "it carries our header");
}

#[test]
fn a_checkout_with_other_line_breaks_is_as_rendered() {
    let mut tree = quickstart();
    let files: Vec<File> = tree.files().cloned().collect();
    for file in files {
        tree.insert(File::new(file.path(), file.text().replace('\n', "\r\n")));
    }
    let plan = replan(&tree);
    assert!(plan.is_current() && plan.is_lock_current() && plan.orphans.is_empty());
    let path = "clusters/staging/runtime-info.yaml";
    edit(&mut tree, path, "staging.acme.example", "mine.example");
    let plan = replan(&tree);
    assert_eq!(paths(&plan.edited), [path]);
    assert!(!plan.edited[0].old.as_ref().unwrap().text().contains('\r'), "the difference is what was edited");
    tree.remove(LOCK);
    assert_eq!(replan(&tree).adopted.len(), 48);
}

#[test]
fn files_with_our_header_that_no_lock_lists_are_named() {
    let mut tree = quickstart();
    tree.remove(LOCK);
    let from = "  - name: prod-us\n    environment: production\n    runtimeInfo: {CLUSTER_DOMAIN: us.acme.example}\n";
    edit(&mut tree, "fleet.yaml", from, "");
    let plan = replan(&tree);
    assert_eq!(plan.orphans.len(), 6);
    assert!(plan.is_current() && plan.forced().is_current());
    tree.insert(File::new(format!("clusters/prod-us/{LOCK}"), ""));
    assert!(replan(&tree).orphans.is_empty(), "a folder with a lock is another fleet's");
}

#[test]
fn a_render_that_was_killed_is_repaired() {
    let mut tree = quickstart();
    edit(&mut tree, "fleet.yaml", "acme.example}", "acme.test}");
    edit(
        &mut tree,
        "fleet.yaml",
        "  - name: prod-us\n    environment: production\n",
        "  - name: prod-ap\n    environment: production\n",
    );
    let plan = replan(&tree);
    let (lock, _) = Lock::parse(&tree.file(LOCK).unwrap());
    let total = plan.changes().count();
    // Killed after any number of files: the lock lists both contents.
    for done in 0..=total {
        let mut halfway = tree.clone();
        halfway.insert(File::new(LOCK, plan.lock_before(&lock).to_string()));
        for change in plan.changes().take(done) {
            match &change.new {
                Some(file) => halfway.insert(file.clone()),
                None => halfway.remove(&change.path),
            }
        }
        let again = replan(&halfway);
        assert!(!again.is_blocked(), "after {done} files: {:?}", paths(&again.edited));
        assert_eq!(again.changes().count(), total - done);
        assert!(replan(&apply(&halfway, &again)).is_lock_current());
    }
}

#[test]
fn a_file_that_another_program_rewrites_stays_ours_while_its_objects_are() {
    let mut tree = tree_of(&testdata("fleets/d1-bootstrap"));
    let path = "clusters/staging/flux-system/gotk-sync.yaml";
    let text =
        tree.file(path).unwrap().text().replace("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n", "");
    let text = text.replacen("metadata:", "kind: GitRepository\napiVersion: source.toolkit.fluxcd.io/v1\nmetadata:", 1);
    tree.insert(File::new(path, format!("# Somebody else's words.\n---\n{text}")));
    assert!(replan(&tree).is_current());
    edit(&mut tree, path, "10m0s", "1h0m0s");
    assert_eq!(paths(&replan(&tree).edited), [path]);
}

#[test]
fn a_file_of_another_program_is_never_written_removed_or_called_missing() {
    let mut tree = tree_of(&testdata("fleets/d1-bootstrap"));
    let path = "clusters/staging/flux-system/gotk-components.yaml";
    assert!(replan(&tree).is_current());
    tree.insert(File::new(path, "# Generated by flux\n"));
    assert!(replan(&tree).forced().is_current());
    let lock = tree.file(LOCK).unwrap().text().to_owned();
    tree.insert(File::new(LOCK, format!("{lock}{}  {path}\n", "0".repeat(64))));
    assert!(replan(&tree).forced().is_current());
}

#[test]
fn a_lock_lists_no_path_that_could_not_be_rendered() {
    let digest = "a".repeat(64);
    let text = format!(
        "{digest}  ../up\n{digest}  /etc/passwd\n{digest}  a/../b\n{digest}  .git/config\n{digest}  fine.yaml\n<<<<<<< HEAD\n"
    );
    let (lock, findings) = Lock::parse(&File::new(LOCK, text));
    assert_eq!(lock.paths().collect::<Vec<_>>(), ["fine.yaml"]);
    assert_eq!(findings.len(), 5);
    assert_eq!(lock.to_string(), format!("{digest}  fine.yaml\n"));
}

/// Words of fleet.yaml that no template prints, and what reads them.
const READ_ELSEWHERE: &[(&str, &str)] = &[
    ("accounts", "of `lint.tenancy`"),
    ("action", "`fleet` reads it: the reaction of a policy"),
    ("allow", "`fleet` checks included files with it"),
    ("apiVersion", "says which language it is"),
    ("cluster", "`fleet` reads it: the defaults of clusters"),
    ("clusters", "its items are what templates repeat over"),
    ("commit", "part of `ref`, which is printed as a whole"),
    ("component", "`fleet` reads it: the defaults of components"),
    ("default", "part of `limitRange`, which is printed as a whole"),
    ("defaultRequest", "part of `limitRange`, which is printed as a whole"),
    ("defaults", "`fleet` merges it"),
    ("description", "says what a layout is"),
    ("digest", "part of `ref`, which is printed as a whole"),
    ("duplicate-cluster-identity", "`lint` reads it"),
    ("environments", "`fleet` merges it"),
    ("exceptions", "`lint` reads it"),
    ("groups", "`lint` reads it"),
    ("include", "`fleet` reads the files"),
    ("keys", "of `lint.rules`"),
    ("kubernetesVersion", "`lint` judges by it"),
    ("layout", "`fleet` loads it"),
    ("lint", "`lint` reads it"),
    ("objects", "of `lint.exceptions`; those of clusters and tenants are printed"),
    ("paths", "`lint` reads it"),
    ("pedantic", "`lint` reads it"),
    ("production", "`lint` reads it"),
    ("reason", "`lint` prints it"),
    ("repositories", "`lint` reads it, and a layout of several repositories"),
    ("rule", "`lint` reads it"),
    ("semver", "part of `ref`, which is printed as a whole"),
    ("max", "part of `limitRange`, which is printed as a whole"),
    ("maxLimitRequestRatio", "part of `limitRange`, which is printed as a whole"),
    ("min", "part of `limitRange`, which is printed as a whole"),
    ("names", "part of `allow`"),
    ("roles", "part of `allow`"),
    ("secrets", "part of `allow`"),
    ("skip", "`lint` reads it"),
    ("tag", "part of `ref`, which is printed as a whole"),
    ("tenancy", "`lint` reads it"),
    ("values", "a layout with values of its own reads them"),
    ("until", "of `lint.exceptions`"),
];

#[test]
fn the_built_in_layout_reads_every_word_of_the_language() {
    fn collect(schema: &serde_json::Value, words: &mut std::collections::BTreeSet<String>) {
        if let Some(properties) = schema.get("properties").and_then(serde_json::Value::as_object) {
            words.extend(properties.keys().cloned());
        }
        match schema {
            serde_json::Value::Object(fields) => fields.values().for_each(|field| collect(field, words)),
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            _ => {}
        }
    }
    let mut words = std::collections::BTreeSet::new();
    collect(schemars::schema_for!(fleetwright::fleet::model::Fleet).as_value(), &mut words);
    assert!(words.len() > 100, "{words:?}");
    let layout = fleetwright::assets::templates();
    let text: String = layout.files().map(|file| file.text().to_owned()).collect();
    // A template reads a word as `tenant.quota`, or by name in a filter.
    let by_dot = |word: &str| {
        text.match_indices(&format!(".{word}")).any(|(at, found)| {
            text.get(at + found.len()..).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    let by_name = |word: &str| text.contains(&format!("\"{word}\""));
    let mut missing = Vec::new();
    for word in &words {
        let elsewhere = READ_ELSEWHERE.iter().any(|(other, _)| other == word);
        if !(by_dot(word) || by_name(word) || elsewhere) {
            missing.push(word);
        }
    }
    assert!(missing.is_empty(), "no template of d1 reads {missing:?}");
}
