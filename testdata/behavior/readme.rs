//! Tests of what README.md shows: the fleet.yaml of the quickstart, and its rendered tree.

use std::collections::BTreeMap;
use std::path::Path;

use fleetwright::text::{File, Tree};
use fleetwright::{config, fleet, lint, render};

const QUICKSTART: &str = "testdata/fleets/quickstart";

#[test]
fn the_readme_shows_the_quickstart_and_its_tree() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fleet_yaml = std::fs::read_to_string(house.join(QUICKSTART).join("fleet.yaml")).unwrap();
    let readme = std::fs::read_to_string(house.join("README.md")).unwrap();
    let shown = with_block(&readme, "quickstart fleet.yaml", &block("yaml", &fleet_yaml));
    let shown = with_block(&shown, "quickstart tree", &block("text", &folders(&fleet_yaml)));
    snapbox::assert_data_eq!(shown, snapbox::Data::read_from(&house.join("README.md"), None).raw());
}

#[test]
fn the_readme_names_the_minimum_rust_version() {
    let version = concat!("toolchain, ", env!("CARGO_PKG_RUST_VERSION"), " or newer");
    assert!(include_str!("../../README.md").contains(version), "README.md does not say `{version}`");
}

/// The hooks of pre-commit install the wheel of the same version.
#[test]
fn the_hooks_install_the_wheel_of_this_version() {
    let dependency = concat!("\"fleetwright-flux==", env!("CARGO_PKG_VERSION"), "\"");
    assert!(include_str!("../../pyproject.toml").contains(dependency), "pyproject.toml does not say {dependency}");
    assert!(include_str!("../../packaging/wheel/pyproject.toml").contains("name = \"fleetwright-flux\""));
}

/// A new rule gets a line in the changelog. Releases keep the rules that they had, so the changelog may name others.
#[test]
fn the_changelog_names_every_rule() {
    let changelog = include_str!("../../CHANGELOG.md");
    let is_missing = |rule: &&lint::Rule| !changelog.contains(&format!("`{}`", rule.id));
    let missing: Vec<&str> = lint::RULES.iter().filter(is_missing).map(|rule| rule.id).collect();
    assert!(missing.is_empty(), "CHANGELOG.md does not name {missing:?}");
}

#[test]
fn the_configuration_of_the_documentation_is_valid_and_shows_every_key() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lint.md")).unwrap();
    let (_, rest) = page.split_once("<!-- configuration -->\n\n```yaml\n").expect("the page has a configuration");
    let (text, _) = rest.split_once("```").expect("the block ends");
    let (settings, findings) = config::read(&File::new(config::PATH, text));
    assert_eq!(findings, []);
    assert_eq!(settings.lint.exceptions.len(), 1);
    let schema = config::schema();
    let definitions = schema["definitions"].as_object().unwrap().values();
    let keys = definitions.chain([&schema]).filter_map(|object| object.get("properties")?.as_object());
    for key in keys.flat_map(|properties| properties.keys()) {
        assert!(text.contains(&format!("{key}:")), "docs/lint.md does not show `{key}`");
    }
}

/// The text with what stands after `<!-- name -->` replaced, up to `<!-- end -->`.
fn with_block(text: &str, name: &str, block: &str) -> String {
    let (before, rest) = text.split_once(&format!("<!-- {name} -->\n")).expect("the README has the block");
    let (_, after) = rest.split_once("<!-- end -->").expect("the block ends");
    format!("{before}<!-- {name} -->\n\n{block}\n<!-- end -->{after}")
}

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{text}```\n")
}

/// The rendered tree, one line per folder.
fn folders(fleet_yaml: &str) -> String {
    let tree: Tree = [File::new("fleet.yaml", fleet_yaml)].into_iter().collect();
    let loaded = fleet::load(&tree, "fleet.yaml");
    let (Some(fleet), Some(layout)) = (loaded.fleet, loaded.layout) else {
        panic!("the quickstart is a fleet: {:?}", loaded.findings)
    };
    let rendered = render::render(&fleet, &layout);
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in rendered.tree.files() {
        let (folder, name) = file.path().rsplit_once('/').unwrap_or((".", file.path()));
        folders.entry(folder).or_default().push(name);
    }
    let width = folders.keys().map(|folder| folder.len()).max().unwrap_or(0) + 3;
    let line = |(folder, names): (&&str, &Vec<&str>)| format!("{:width$}{}\n", format!("{folder}/"), names.join("  "));
    folders.iter().map(line).collect()
}
