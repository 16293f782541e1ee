//! The property that a cluster has the same findings in a fleet and alone.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::alike::Classes;
use super::objects::check_objects;
use super::options::Options;
use super::repository::{check_clusters, check_fleet, tenancies, views};
use crate::flux::{Governance, Receiver, Repo};
use crate::lint::fleet::Fleet;
use crate::lint::rule::Rule;
use crate::lint::rules::RULES;
use crate::text::{File, Tree};

/// The rules that compare clusters, and the rule that needs the directories of all clusters. One line has one finding about
/// its API version, also if the clusters have different releases.
const COMPARING: [&str; 5] = [
    "deprecated-api",
    "duplicate-cluster-identity",
    "missing-failure-strategy",
    "runtime-info-drift",
    "unreachable-object",
];

/// The parts of a cluster, each the number of one of some variants.
#[derive(Debug, Clone)]
struct Form {
    instance: usize,
    info: usize,
    apps: usize,
    tenant: usize,
}

const INSTANCES: [&str; 3] = ["2.x", "2.6.x", "2.8.0"];

const INFOS: [&str; 6] = [
    "ENVIRONMENT: prod\n  REPLICAS: '2'",
    "ENVIRONMENT: dev\n  REPLICAS: '2'",
    "ENVIRONMENT: prod\n  REPLICAS: many",
    "ENVIRONMENT: prod\n  REPLICAS: 3",
    "ENVIRONMENT: prod",
    "ENVIRONMENT: prod\n  REPLICAS: '2'\n  1-NO-NAME: x",
];

const APPS: [&str; 6] = [
    "prune: true\n  path: ./apps",
    "prune: 'true'\n  path: ./apps",
    "path: ./apps",
    "prune: true\n  path: ./missing",
    "prune: true\n  path: ./apps\n  dependOn: [{name: x}]",
    "prune: true\n  path: ./clusters/NAME/apps",
];

const TENANTS: [&str; 4] = [
    "kustomize.toolkit.fluxcd.io/v1",
    "kustomize.toolkit.fluxcd.io/v1beta2",
    "source.toolkit.fluxcd.io/v1beta2",
    "example.com/v1",
];

fn files(name: &str, form: &Form) -> Vec<File> {
    let instance = format!(
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{name: flux, namespace: flux-system}}\n\
         spec:\n  distribution: {{version: {}, registry: ghcr.io/fluxcd}}\n  sync: {{kind: GitRepository, \
         ref: refs/heads/main, url: 'https://example.com/fleet.git', path: clusters/{name}}}\n",
        INSTANCES[form.instance]
    );
    let info = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: info, namespace: flux-system}}\ndata:\n  CLUSTER_NAME: \
         {name}\n  {}\n",
        INFOS[form.info]
    );
    let apps = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: apps, namespace: \
         flux-system}}\nspec:\n  interval: 1h\n  {}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  \
         postBuild: {{substituteFrom: [{{kind: ConfigMap, name: info}}]}}\n",
        APPS[form.apps].replace("NAME", name)
    );
    let tenant = format!(
        "apiVersion: {}\nkind: Kustomization\nmetadata: {{name: tenant, namespace: flux-system}}\nspec: {{interval: 1h, \
         prune: true, path: ./apps/tenant, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n",
        TENANTS[form.tenant]
    );
    let all = [("flux.yaml", instance), ("info.yaml", info), ("apps.yaml", apps), ("tenant.yaml", tenant)];
    all.into_iter().map(|(path, text)| File::new(format!("clusters/{name}/{path}"), text)).collect()
}

fn shared(faults: usize) -> Vec<File> {
    let replicas = if faults & 1 == 0 { "${REPLICAS}" } else { "'two'" };
    let version = if faults & 2 == 0 { "v2" } else { "v2beta2" };
    let texts = [
        (
            "apps/app.yaml",
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app, namespace: shop}}\nspec:\n  replicas: \
                 {replicas}\n  selector: {{matchLabels: {{app: app}}}}\n  template: {{metadata: {{labels: {{app: \
                 app}}}}, spec: {{containers: [{{name: app, image: 'app:1'}}]}}}}\n"
            ),
        ),
        (
            "apps/names.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${CLUSTER_NAME}', namespace: shop}\ndata: {name: \
             '${CLUSTER_NAME}', on: '${ENVIRONMENT}'}\n"
                .to_owned(),
        ),
        (
            "apps/release.yaml",
            format!(
                "apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata: {{name: app, namespace: \
                 shop}}\nspec: {{interval: 1h, chart: {{spec: {{chart: app, sourceRef: {{kind: HelmRepository, name: \
                 charts}}}}}}}}\n"
            ),
        ),
        (
            "apps/tenant/tenant.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: tenant, label: {}}\n".to_owned(),
        ),
    ];
    texts.into_iter().map(|(path, text)| File::new(path, text)).collect()
}

/// A finding on a cluster: the rule, the message, the path and the offset.
type Found = (String, String, String, usize);

/// The findings of the selected cluster before they are grouped.
fn findings(tree: &Tree, cluster: &str) -> BTreeSet<Found> {
    let options = Options::default();
    let repo = Repo::load(tree, &options.settings);
    let receivers: Vec<Receiver<'_>> = repo.clusters.iter().flat_map(Receiver::all).collect();
    let receivers: Vec<&Receiver<'_>> = receivers.iter().collect();
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| !COMPARING.contains(&rule.id)).collect();
    let classes = Classes::new(&repo, &receivers, &options);
    let first: Vec<&Receiver<'_>> = classes.first().iter().map(|at| receivers[*at]).collect();
    let tenancies = tenancies(&repo, &first, &options);
    let views = views(&repo, &receivers, &tenancies, &classes, &options);
    let mut found = check_objects(&views, &rules, &options);
    found.merge(check_clusters(&views, &classes, &rules));
    found.merge(check_fleet(&Fleet::new(&views, &repo, Governance::default(), &[]), &rules));
    found.extend(repo.problems.iter().cloned());
    let own = found.findings.into_iter().filter(|finding| finding.clusters.iter().any(|name| **name == *cluster));
    let own = own.map(|finding| {
        let span = finding.at.span;
        (finding.rule.to_owned(), finding.message, span.file().path().to_owned(), span.range().start)
    });
    own.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn a_cluster_has_the_same_findings_in_a_fleet_and_alone(
        forms in prop::collection::vec((0..3_usize, 0..6_usize, 0..6_usize, 0..4_usize), 2..5), faults in 0..4_usize
    ) {
        let form = |(instance, info, apps, tenant)| Form { instance, info, apps, tenant };
        let clusters: Vec<(String, Form)> =
            forms.into_iter().enumerate().map(|(at, parts)| (format!("c{at}"), form(parts))).collect();
        let all = clusters.iter().flat_map(|(name, form)| files(name, form));
        let fleet: Tree = all.chain(shared(faults)).collect();
        for (name, form) in &clusters {
            let alone: Tree = files(name, form).into_iter().chain(shared(faults)).collect();
            let of_one = findings(&alone, name);
            prop_assert!(!of_one.is_empty());
            prop_assert_eq!(findings(&fleet, name), of_one);
        }
    }
}
