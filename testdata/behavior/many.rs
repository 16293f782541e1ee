//! A large number of objects never silences a rule: each repository has more objects than a search could visit for each
//! missing object, and still all errors.

use fleetwright::lint::{Options, run};

use super::clusters::{sync, tree};

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1";

/// The number of errors of `dangling-source` in a cluster with some objects.
fn dangling_sources(objects: &str) -> usize {
    let sync = sync("a").replace("https://example.org/fleet.git", "https://github.com/acme/fleet.git");
    let tree = tree(&format!("{sync}\n## clusters/a/all.yaml\n{objects}"));
    let options = Options { only: vec!["dangling-source".to_owned()], is_ungrouped: true, ..Options::default() };
    run(&tree, &options).findings.len()
}

/// A Kustomization with a source.
fn applier(name: &str, source: &str, rest: &str) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: apps}}\n\
         spec: {{interval: 1h, path: ./deploy, prune: true, sourceRef: {source}{rest}}}\n"
    )
}

fn missing(name: &str) -> String {
    applier(name, &format!("{{kind: GitRepository, name: {name}}}"), "")
}

fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

#[test]
fn sources_with_variables_in_their_names() {
    let sources = many(2_100, |at| {
        format!(
            "---\n{SOURCE}\nkind: GitRepository\nmetadata: {{name: \"s{at}-${{NAME}}\", namespace: apps}}\nspec: {{interval: \
             1h, url: \"https://github.com/example/a\"}}\n"
        )
    });
    assert_eq!(dangling_sources(&format!("{sources}{}", missing("shop"))), 1);
}

#[test]
fn generators_with_expressions_in_the_names_of_artifacts() {
    let generators = many(300, |at| {
        format!(
            "---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{name: g{at}, \
             namespace: apps}}\nspec:\n  sources: [{{alias: a, kind: GitRepository, name: flux-system, namespace: \
             flux-system}}]\n  artifacts: [{{name: \"a{at}-${{NAME}}\", copy: [{{from: \"@a/**\", to: \"@artifact/\"}}]}}]\n"
        )
    });
    let user = applier("shop", "{kind: ExternalArtifact, name: shop}", "");
    assert_eq!(dangling_sources(&format!("{generators}{user}")), 1);
}

#[test]
fn a_producer_that_waits_for_many_others() {
    let own = "ssh://git@github.com/acme/apps";
    let source = format!(
        "---\n{SOURCE}\nkind: GitRepository\nmetadata: {{name: own, namespace: apps}}\nspec: {{interval: 1h, url: \"{own}\", \
         secretRef: {{name: own}}}}\n"
    );
    let chain = many(600, |at| {
        let next = if at == 599 { "shop".to_owned() } else { format!("k{}", at + 1) };
        applier(&format!("k{at}"), "{kind: GitRepository, name: own}", &format!(", dependsOn: [{{name: {next}}}]"))
    });
    assert_eq!(dangling_sources(&format!("{source}{chain}{}", missing("shop"))), 1);
}
