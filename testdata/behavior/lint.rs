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

/// Flux impersonates an account in the namespace of the object. The accounts of Flux exist in its own namespace only.
#[test]
fn the_help_for_a_missing_lockdown_proposes_accounts_of_the_same_namespace() {
    let mut tree = Tree::default();
    tree.insert(File::new(
        "clusters/prod/flux.yaml",
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: \
         {distribution: {registry: ghcr.io/fluxcd, version: 2.x}, sync: {kind: GitRepository, path: clusters/prod, ref: \
         refs/heads/main, url: https://git.example.com/acme/fleet.git}}\n",
    ));
    let kustomization = |name: &str, namespace: &str, source: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
             {namespace}}}\nspec: {{interval: 1h, path: ./{name}, prune: true, sourceRef: {{kind: GitRepository, name: \
             {source}}}}}\n"
        )
    };
    let of_shop = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: shop, namespace: \
                   shop}\nspec: {interval: 1h, url: \"https://git.example.com/acme/shop.git\", ref: {branch: main}}\n";
    let namespace = |name: &str, labels: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n")
    };
    let of_flux = "flux-system, namespace: flux-system";
    tree.insert(File::new("clusters/prod/monitoring.yaml", kustomization("monitoring", "monitoring", of_flux)));
    tree.insert(File::new("clusters/prod/infra.yaml", kustomization("infra", "flux-system", "flux-system")));
    tree.insert(File::new("clusters/prod/shop.yaml", kustomization("shop", "shop", "shop")));
    tree.insert(File::new("clusters/prod/source.yaml", of_shop));
    tree.insert(File::new("clusters/prod/namespace-monitoring.yaml", namespace("monitoring", "")));
    tree.insert(File::new("clusters/prod/namespace-shop.yaml", namespace("shop", "toolkit.fluxcd.io/tenant: shop")));
    let findings = run(&tree, &Options::default()).findings;
    let missing = findings.iter().find(|finding| finding.rule == "lockdown-missing");
    let help = missing.unwrap_or_else(|| panic!("{}", lines(&findings))).help.as_deref().unwrap();
    let beside_flux = "set `serviceAccountName` in Kustomization `flux-system/infra`, to an account with the rights of Flux, such as \
                   `kustomize-controller`";
    let elsewhere =
        "set `serviceAccountName` in Kustomization `monitoring/monitoring`, to an account of the same namespace";
    assert!(help.contains(beside_flux) && help.contains(elsewhere), "{help}");
}

/// A name is often used in several namespaces. The help names a namespace as the right one only if there is no other.
#[test]
fn the_help_for_a_missing_object_proposes_a_namespace_only_if_it_is_the_only_candidate() {
    let help_with = |namespaces: &[&str]| {
        let kustomization = |namespace: &str, name: &str, more: &str| {
            format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: \
                 {namespace}}}\nspec: {{interval: 1h, path: ./{name}, prune: true, sourceRef: {{kind: GitRepository, \
                 name: flux-system, namespace: flux-system}}{more}}}\n"
            )
        };
        let mut tree = Tree::default();
        let user = kustomization("flux-system", "web", ", dependsOn: [{name: db}]");
        tree.insert(File::new("clusters/prod/web.yaml", user));
        for namespace in namespaces {
            tree.insert(File::new(format!("clusters/prod/{namespace}.yaml"), kustomization(namespace, "db", "")));
        }
        for name in ["db", "web"] {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\n");
            tree.insert(File::new(format!("{name}/settings.yaml"), text));
        }
        let findings = run(&tree, &Options::default()).findings;
        let dangling = findings.iter().find(|finding| finding.rule == "dangling-dependency");
        dangling.unwrap_or_else(|| panic!("{}", lines(&findings))).help.clone().unwrap()
    };
    assert!(help_with(&["shop"]).contains("set `namespace: shop`"), "{}", help_with(&["shop"]));
    let several = help_with(&["shop", "bank"]);
    assert!(several.contains("several other namespaces") && !several.contains("set `namespace: "), "{several}");
}
