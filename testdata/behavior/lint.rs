//! Rules as a whole: each has a page and cases.

use std::path::Path;

use fleetwright::lint::{Options, RULES, run};
use fleetwright::text::{File, Tree};

use super::support::{entries, folders, lines, name, testdata, tree_of};

#[test]
fn every_rule_has_a_page_and_cases_and_every_folder_a_rule() {
    let cases: Vec<String> = folders(&testdata("lint")).iter().map(|path| name(path)).collect();
    let rules: Vec<String> = RULES.iter().map(|rule| rule.id.to_string()).collect();
    assert_eq!(rules, cases, "a rule is one file, one line and one folder of cases");
    let sources = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lint/rules")).unwrap();
    let mut sources: Vec<String> =
        sources.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().replace('_', "-")).collect();
    sources.retain(|source| source != "mod");
    sources.sort();
    assert_eq!(rules, sources, "every file of `rules/` has a line in `rules!`");
    for rule in RULES {
        let page = rule.page();
        for heading in ["## Why", "## How to fix it", "## Bad", "## Good", "## Versions", "## Source"] {
            assert!(page.contains(heading), "{}: the page has no `{heading}`", rule.id);
        }
        assert!(states_versions(&page), "{}: the section `Versions` starts with `Since Flux X.Y, until …`", rule.id);
        assert!(!rule.summary.ends_with('.'), "{}", rule.id);
        assert!(entries(&testdata("lint").join(rule.id)).len() > 1, "{}: too few cases", rule.id);
    }
}

/// Whether the section `Versions` of a page starts with `Since Flux X.Y, until Flux X.Y.` or `…, until now.`
fn states_versions(page: &str) -> bool {
    let is_minor = |text: &str| {
        let parts = text.split_once('.');
        parts.is_some_and(|parts| parts.0.parse::<u64>().is_ok() && parts.1.parse::<u64>().is_ok())
    };
    let section = page.split("## Versions\n\n").nth(1).and_then(|rest| rest.strip_prefix("Since Flux "));
    section.and_then(|rest| rest.split_once(", until ")).is_some_and(|(since, rest)| {
        let until_minor = || rest.strip_prefix("Flux ").and_then(|rest| rest.get(..3)).is_some_and(is_minor);
        is_minor(since) && (rest.starts_with("now.") || until_minor())
    })
}

#[test]
fn the_path_of_an_unreached_kustomization_follows_from_unreachable_object() {
    let sync = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
             flux-system}}\nspec: {{interval: 1h, path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: \
             flux-system}}}}\n"
        )
    };
    let mut tree = Tree::default();
    tree.insert(File::new("clusters/prod/flux-system/gotk-sync.yaml", sync("flux-system", "./clusters/prod")));
    for name in ["bank", "shop"] {
        tree.insert(File::new(format!("old/{name}.yaml"), sync(name, &format!("./apps/{name}"))));
    }
    let found = lines(&run(&tree, &Options::default()).findings);
    assert!(found.contains("warning[unreachable-object] no cluster reaches 2 Kustomizations in `old`"), "{found}");
    assert!(!found.contains("missing-path"), "{found}");
}

/// Judges a folder outside of the repository: `TREE=path cargo test --test behavior lint::judges_a_tree -- --ignored`.
#[test]
#[ignore = "judges the folder that TREE names"]
fn judges_a_tree() {
    let Ok(root) = std::env::var("TREE") else { return };
    let tree = tree_of(Path::new(&root));
    let start = std::time::Instant::now();
    let options = Options { pedantic: std::env::var("PEDANTIC").is_ok(), ..Options::default() };
    let outcome = run(&tree, &options);
    let elapsed = start.elapsed();
    print!("{}", lines(&outcome.findings));
    for finding in &outcome.findings {
        println!("  {}", finding.help.as_deref().unwrap_or_default());
    }
    println!("{} files, {} objects in {elapsed:?}", tree.len(), outcome.objects);
    println!("skipped {:?}\nnot done {:?}", outcome.skipped, outcome.not_done);
}

/// Flux generates the kustomization of `apps`, so only the file of `apps/db` can list the missing object.
#[test]
fn the_help_for_an_object_that_no_kustomization_lists_names_a_file_that_exists() {
    let kustomization = |name: &str, path: &str, more: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
             flux-system}}\nspec: {{interval: 1h, path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: \
             flux-system}}{more}}}\n"
        )
    };
    let mut tree = Tree::default();
    tree.insert(File::new("clusters/prod/apps.yaml", kustomization("apps", "./apps", "")));
    tree.insert(File::new("apps/db/kustomization.yaml", "resources: [web/flux.yaml]\n"));
    tree.insert(File::new("apps/db/web/flux.yaml", kustomization("web", "./web", ", dependsOn: [{name: store}]")));
    tree.insert(File::new("apps/db/store/flux.yaml", kustomization("store", "./store", "")));
    for name in ["store", "web"] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\n");
        tree.insert(File::new(format!("{name}/settings.yaml"), text));
    }
    let findings = run(&tree, &Options::default()).findings;
    let dangling = findings.iter().find(|finding| finding.rule == "dangling-dependency");
    let dangling = dangling.unwrap_or_else(|| panic!("{}", lines(&findings)));
    let help = dangling.help.as_deref().unwrap();
    assert!(help.starts_with("list `apps/db/store/flux.yaml` in `apps/db/kustomization.yaml`"), "{help}");
}
