//! Repositories that are built like public ones, and how many objects and faults each has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::address::Location;
use fleetwright::base::finding::{Finding, Severity};
use fleetwright::config;
use fleetwright::disk;
use fleetwright::flux::source::Copy;
use fleetwright::flux::{ApplierKind, Cluster, Repo, Settings};
use fleetwright::kube::Object;
use fleetwright::lint::{Options, judge};

use super::support::{lines, tree_of};

/// The repositories, each with the sources of which it has copies: their addresses, and their folders.
const SEEDS: [(&str, &[(&str, &str)]); 6] = [
    ("hub-and-spokes/platform", &HUB_AND_SPOKES),
    ("hub-and-spokes/platform", &[]),
    ("folders-nobody-lists", &[]),
    ("a-namespace-for-each-spoke", &[]),
    ("confined-tenants/fleet", &CONFINED_TENANTS),
    ("confined-tenants/fleet", &[]),
];

const HUB_AND_SPOKES: [(&str, &str); 3] = [
    ("ssh://git@git.example.org/teams", "hub-and-spokes/teams"),
    ("ssh://git@git.example.org/shop", "hub-and-spokes/shop"),
    ("ssh://git@git.example.org/search", "hub-and-spokes/search"),
];

const CONFINED_TENANTS: [(&str, &str); 2] = [
    ("https://git.example.org/platform.git", "confined-tenants/platform"),
    ("https://git.example.org/product.git", "confined-tenants/product"),
];

const HEADING: &str = "\
| repository | sources | cluster | Kustomizations | objects | written | findings |
|---|---|---|---|---|---|---|
";

#[test]
fn the_figures_of_repositories_built_like_public_ones_are_met() {
    let path = folder().join("figures.md");
    let recorded = std::fs::read_to_string(&path).unwrap();
    let (words, table) = recorded.split_once("| repository").unwrap_or((&recorded, ""));
    let rows: String = SEEDS.iter().map(|(name, sources)| rows(name, sources)).collect();
    let found = format!("{HEADING}{rows}");
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, format!("{words}{found}")).unwrap();
        return;
    }
    let expected = format!("| repository{table}");
    let diff = similar::TextDiff::from_lines(&expected, &found);
    assert!(expected == found, "{}", diff.unified_diff().header("expected", "found"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/seeds")
}

/// The rows of a repository: of each cluster that has a root, and of what none of them has.
fn rows(name: &str, sources: &[(&str, &str)]) -> String {
    let tree = tree_of(&folder().join(name));
    let (config, mistakes) = config::load(&tree);
    assert!(mistakes.is_empty(), "{}", lines(&mistakes));
    let copies = sources.iter().map(|(url, copy)| {
        let location = Location::parse(&format!("{url}={copy}")).unwrap();
        Copy::new(&location, disk::read_copy(&folder().join(copy)).unwrap())
    });
    let lint = config.lint.clone();
    let settings = Settings { copies: copies.collect(), config, ..Settings::default() };
    let options = Options { pedantic: true, lint, settings, ..Options::default() };
    let repo = Repo::load(&tree, &options.settings);
    let found = judge(&repo, &options).findings;
    let mut rows = String::new();
    let with = if sources.is_empty() { "none" } else { "all" };
    let mut row = |cluster: &str, held: &Held, findings: &str| {
        let Held { kustomizations, objects, written } = held;
        writeln!(rows, "| {name} | {with} | {cluster} | {kustomizations} | {objects} | {written} | {findings} |")
            .unwrap();
    };
    for cluster in &repo.clusters {
        let findings = counted(found.iter().filter(|finding| concerns(finding, &cluster.name)));
        row(&cluster.name, &received(cluster), &findings);
    }
    let missed = missed(&repo);
    let findings = counted(found.iter().filter(|finding| finding.clusters.is_empty()));
    if missed.objects > 0 || !findings.is_empty() {
        row("none", &missed, &findings);
    }
    rows
}

/// How many Kustomizations and objects there are, and as how many these are written.
struct Held {
    kustomizations: usize,
    objects: usize,
    written: usize,
}

/// What a cluster's Flux applies, here and elsewhere.
fn received(cluster: &Cluster) -> Held {
    let appliers = cluster.appliers.iter();
    let kustomizations = appliers.filter(|applier| applier.kind == ApplierKind::Kustomization).count();
    let applied = cluster.objects().filter(|applied| applied.by.kind != ApplierKind::Bootstrap);
    let mut objects = BTreeSet::new();
    let mut written = BTreeSet::new();
    for applied in applied {
        let object = applied.object;
        let namespace = applied.namespace().map(ToString::to_string);
        let kind = (object.group().to_owned(), object.kind().to_owned());
        objects.insert((applied.by.target.clone(), kind, namespace, object.name().to_owned()));
        written.insert(place(object));
    }
    Held { kustomizations, objects: objects.len(), written: written.len() }
}

/// What no cluster has of the objects that the repository would apply.
fn missed(repo: &Repo) -> Held {
    let received: BTreeSet<_> =
        repo.clusters.iter().flat_map(Cluster::objects).map(|applied| place(applied.object)).collect();
    let roots =
        repo.clusters.iter().flat_map(|cluster| &cluster.appliers).filter_map(|applier| applier.object.as_ref());
    let roots: BTreeSet<_> = roots.map(place).collect();
    let objects = repo.objects.iter().map(|built| &built.object);
    let missed = objects.filter(|object| !received.contains(&place(object)) && !roots.contains(&place(object)));
    let missed: Vec<&Object> = missed.collect();
    let is_kustomization = |object: &&&Object| object.is("kustomize.toolkit.fluxcd.io", "Kustomization");
    let kustomizations = missed.iter().filter(is_kustomization).count();
    let written = missed.iter().map(|object| place(object)).collect::<BTreeSet<_>>().len();
    Held { kustomizations, objects: missed.len(), written }
}

/// Where an object was written, whatever moved it since: the copy of a source, the file, and how far into it.
fn place(object: &Object) -> (Option<String>, String, usize) {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().root().map(ToString::to_string), span.file().path().to_string(), span.range().start)
}

/// Whether a finding concerns a cluster, or another one that its Flux applies to.
fn concerns(finding: &Finding, cluster: &str) -> bool {
    let applies_to =
        |name: &str| name.strip_prefix(cluster).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    finding.clusters.iter().any(|name| applies_to(name))
}

/// How many findings each rule has.
fn counted<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        if finding.severity > Severity::Pedantic || finding.rule == "cross-namespace-reference" {
            *counts.entry(finding.rule).or_default() += 1;
        }
    }
    let counts: Vec<String> = counts.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
    counts.join(", ")
}
