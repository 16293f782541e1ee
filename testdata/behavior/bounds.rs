//! What goes on without end, or takes too much: each bound is met, and said at a line.

use std::fmt::Write as _;

use fleetwright::flux::{Bounds, Repo, Settings, State};
use fleetwright::kustomize::Limits;

use super::clusters::{config_map, kustomization, load, sync, tree};
use super::support::lines;

fn bounded(text: &str, bounds: Bounds) -> Repo {
    Repo::load(&tree(text), &Settings { bounds, ..Settings::default() })
}

#[test]
fn more_appliers_than_are_followed_are_a_fault_of_the_first_one_left_out() {
    let many: String =
        (0..6).map(|at| kustomization(&format!("clusters/a/{at}.yaml"), &format!("k{at}"), "  path: apps")).collect();
    let text = [sync("a"), many, config_map("apps/x.yaml", "x", "{}")].concat();
    let repo = bounded(&text, Bounds { appliers: 4, ..Bounds::default() });
    assert_eq!(
        lines(&repo.problems),
        "clusters/a/2.yaml:3:18 error[failed-build] Kustomization `flux-system/k2` is one of more than 4 appliers; \
         the linter does not build it\n"
    );
    assert_eq!(repo.clusters[0].appliers.len(), 4);
    assert_eq!(lines(&load(&text).problems), "");
}

#[test]
fn one_that_makes_itself_under_new_names_is_not_followed_for_ever() {
    let sync = sync("a").replace("name: flux-system}}\n", "name: flux-system}, postBuild: {substitute: {N: x}}}\n");
    let again = kustomization(
        "clusters/a/again.yaml",
        "\"again-${N}\"",
        "  path: clusters/a\n  postBuild: {substitute: {N: \"${N}x\"}}",
    );
    let repo = load(&[sync, again].concat());
    assert!(lines(&repo.problems).contains("creates itself repeatedly under new names"), "{}", lines(&repo.problems));
    assert!(repo.clusters[0].appliers.len() < 20);
}

#[test]
fn a_value_that_is_made_of_itself_never_settles() {
    let spec =
        "  path: apps\n  postBuild: {substitute: {W: w}, substituteFrom: [{kind: ConfigMap, name: x, optional: true}]}";
    let apps = kustomization("clusters/a/apps.yaml", "apps", spec);
    let repo = load(&[sync("a"), apps, config_map("apps/x.yaml", "x", "{V: \"${V:=}x\"}")].concat());
    let said = lines(&repo.problems);
    assert!(
        said.starts_with(
            "clusters/a/apps.yaml:3:18 error[failed-build] Kustomization `flux-system/apps` has no fixed point"
        ),
        "{said}"
    );
}

/// What each one needs comes with the next one, so that the last one is done first.
#[test]
fn a_long_way_that_ends_is_no_circle() {
    const LONG: usize = 60;
    let mut text = sync("a");
    for at in 0..LONG {
        let from = format!("  postBuild: {{substituteFrom: [{{kind: ConfigMap, name: c{}}}]}}", at + 1);
        let from = if at + 1 < LONG { from } else { String::new() };
        let spec = format!("  path: m{at}\n{from}");
        text += &kustomization(&format!("clusters/a/m{at:02}.yaml"), &format!("m{at}"), &spec);
        let value = if at + 1 < LONG { "${V}" } else { "end" };
        text += &config_map(&format!("m{at}/c.yaml"), &format!("c{at}"), &format!("{{V: \"{value}\"}}"));
    }
    let repo = load(&text);
    assert_eq!(lines(&repo.problems), "");
    let ends = repo.clusters[0].objects().filter(|applied| applied.object.text_at(&["data", "V"]) == Some("end"));
    assert_eq!(ends.count(), LONG);
}

/// A cluster with Kustomizations that put a value of a hundred bytes into ten objects each.
fn grown(kustomizations: usize) -> String {
    let mut text = sync("a");
    for at in 0..kustomizations {
        let spec = format!("  path: apps\n  postBuild: {{substitute: {{V: {}{at}}}}}", "v".repeat(100));
        text += &kustomization(&format!("clusters/a/k{at}.yaml"), &format!("k{at}"), &spec);
    }
    for at in 0..10 {
        let mut map = config_map(&format!("apps/{at}.yaml"), &format!("c{at}"), "{v: \"${V}\"}");
        writeln!(map).unwrap();
        text += &map;
    }
    text
}

#[test]
fn what_variables_make_of_one_build_is_bounded() {
    let repo = bounded(&grown(1), Bounds { grown_by_one: 500, ..Bounds::default() });
    let said = lines(&repo.problems);
    assert!(said.starts_with("clusters/a/k0.yaml:7:14 error[failed-build] the variables of"), "{said}");
    let last = repo.clusters[0].appliers.last().unwrap();
    assert_eq!(last.state, State::Failed);
}

#[test]
fn what_variables_make_of_all_builds_is_bounded() {
    // So many are begun before it is looked at again how much there is.
    const AT_ONCE: usize = 32;
    let repo = bounded(&grown(AT_ONCE + 2), Bounds { grown: 1_000, ..Bounds::default() });
    let failed = repo.clusters[0].appliers.iter().filter(|applier| applier.state == State::Failed);
    assert_eq!((failed.count(), repo.problems.len()), (2, 2), "{}", lines(&repo.problems));
}

/// A cluster with three Kustomizations, each of which applies its own ten objects.
fn three() -> String {
    let mut text = sync("a");
    for at in 0..3 {
        text += &kustomization(&format!("clusters/a/k{at}.yaml"), &format!("k{at}"), &format!("  path: v{at}"));
        for object in 0..10 {
            text += &config_map(&format!("v{at}/{object}.yaml"), &format!("c{at}-{object}"), "{}");
        }
    }
    text
}

#[test]
fn the_objects_of_all_appliers_of_a_cluster_are_bounded() {
    let mut text = sync("a") + &config_map("apps/x.yaml", "x", "{}");
    for at in 0..10 {
        text += &kustomization(&format!("clusters/a/{at}.yaml"), &format!("k{at}"), "  path: apps");
    }
    let repo = bounded(&text, Bounds { applied: 18, ..Bounds::default() });
    let found = lines(&repo.problems);
    assert!(found.contains("error[failed-build] the appliers of the cluster apply more than 18 objects"), "{found}");
    assert!(repo.clusters[0].objects().count() <= 18);
    assert_eq!(lines(&load(&text).problems), "");
}

#[test]
fn all_builds_together_are_bounded() {
    let limits = Limits { objects: 18, ..Limits::default() };
    let repo = bounded(&three(), Bounds { builds: limits, ..Bounds::default() });
    assert_eq!(
        lines(&repo.problems),
        "clusters/a/k1.yaml:3:18 error[failed-build] Kustomization `flux-system/k1` is not built completely: all builds \
         together have more than 18 objects\n\
         clusters/a/k2.yaml:3:18 error[failed-build] Kustomization `flux-system/k2` is not built completely: all builds \
         together have more than 18 objects\n"
    );
    let states: Vec<_> = repo.clusters[0].appliers.iter().map(|applier| applier.state.clone()).collect();
    assert_eq!(states.iter().filter(|state| **state == State::Failed).count(), 2, "{states:?}");
    let unbounded = load(&three());
    assert_eq!((lines(&unbounded.problems).as_str(), unbounded.clusters[0].objects().count()), ("", 35));
}

#[test]
fn clusters_that_share_a_build_count_it_once() {
    let clusters: String = (0..50).map(|at| sync(&format!("c{at}"))).collect();
    let applied = (0..50).map(|at| kustomization(&format!("clusters/c{at}/k.yaml"), "k", "  path: apps"));
    let text = [clusters, applied.collect(), config_map("apps/x.yaml", "x", "{}")].concat();
    let limits = Limits { objects: 50 * 3 + 2, ..Limits::default() };
    assert_eq!(lines(&bounded(&text, Bounds { builds: limits, ..Bounds::default() }).problems), "");
}

#[test]
fn all_substitutions_together_are_bounded() {
    let limits = Limits { objects: 60, ..Limits::default() };
    let repo = bounded(&grown(20), Bounds { builds: limits, ..Bounds::default() });
    let said = lines(&repo.problems);
    assert!(said.contains("is not built completely: all builds together have more than 60 objects"), "{said}");
    assert!(said.lines().all(|line| line.starts_with("clusters/a/k")), "{said}");
}

#[test]
fn directories_without_an_applier_count_too() {
    let mut text =
        [sync("a"), config_map("clusters/a/x.yaml", "x", "{}"), config_map("apps/o.yaml", "o", "{}")].concat();
    text += "\n## apps/kustomization.yaml\nresources: [o.yaml]\n";
    let variant = |at: usize| format!("\n## v{at}/kustomization.yaml\nresources: [../apps]\nnamePrefix: p{at}-\n");
    text.extend((0..3).map(variant));
    let limits = Limits { objects: 6, ..Limits::default() };
    let repo = bounded(&text, Bounds { builds: limits, ..Bounds::default() });
    assert_eq!(
        lines(&repo.problems),
        "v2/kustomization.yaml:1:13 error[failed-build] all builds together have more than 6 objects\n"
    );
}
