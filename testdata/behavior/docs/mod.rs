//! The reference documentation in `docs/`, which is generated from schemas and rules.

mod reference;
mod tutorial;

use std::fmt::Write as _;
use std::path::PathBuf;

use fleetwright::lint::RULES;
use fleetwright::{config, fleet, lint};
use snapbox::{Assert, Data};

/// The line that starts each generated file.
const NOTICE: &str =
    "<!-- Generated from the source code. Update with `SNAPSHOTS=overwrite cargo test docs::`. -->\n\n";

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn assert_current(path: &str, text: &str) {
    let file = docs().join(path);
    if !file.exists() && std::env::var_os("SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
    }
    Assert::new().action_env("SNAPSHOTS").eq(format!("{NOTICE}{text}"), Data::read_from(&file, None).raw());
}

#[test]
fn the_reference_of_the_input_files_is_current() {
    let rules: &[&str] = &["lint.rules"];
    // The settings of fleet.yaml.
    let defaults = [
        "defaults.flux",
        "defaults.cluster",
        "defaults.tenant",
        "defaults.platform",
        "defaults.confined",
        "defaults.source",
        "defaults.gitSource",
        "defaults.ociSource",
    ];
    for (path, title, schema, elsewhere) in [
        ("fleet.md", "fleet.yaml", lint::with_rules(fleet::schema()), rules),
        ("layout.md", "layout.yaml", fleet::layout_schema(), &defaults[..]),
        ("configuration.md", ".fleetwright.yaml", lint::with_rules(config::schema()), rules),
    ] {
        assert_current(path, &reference::page(title, &schema, elsewhere));
    }
}

#[test]
fn the_pages_of_the_rules_are_current() {
    let mut table = String::from(
        "# Rules\n\nAn error is certain: it fails, deletes, lets in or removes a guard. A warning needs a second look. Pedantic\nfindings are shown with `--pedantic`. `lint --fix` applies safe fixes, and `lint --fix=all` also those that need a review.\n\n| rule | severity | fix | fault |\n|---|---|---|---|\n",
    );
    for rule in RULES {
        let _ =
            writeln!(table, "| [{0}]({0}.md) | {1} | {2} | {3} |", rule.id, rule.severity, rule.fix(), rule.summary);
        let fix = match rule.fix() {
            "" => "none",
            fix => fix,
        };
        assert_current(
            &format!("rules/{}.md", rule.id),
            &format!("# {}\n\nSeverity: {}\n\n[Fix](../fixes.md): {fix}\n\n{}", rule.id, rule.severity, rule.page()),
        );
    }
    assert_current("rules/README.md", &table);
}

#[test]
fn no_page_of_a_removed_rule_remains() {
    let known = |name: &str| name == "README.md" || RULES.iter().any(|rule| name == format!("{}.md", rule.id));
    for entry in std::fs::read_dir(docs().join("rules")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known(&name), "docs/rules/{name} belongs to no rule; delete it");
    }
}

/// Relative links of all pages reference existing files.
#[test]
fn links_of_the_documentation_resolve() {
    fn visit(folder: &std::path::Path, faults: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, faults);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                for link in text.split("](").skip(1) {
                    let target = link.split(')').next().unwrap_or_default();
                    let file = target.split('#').next().unwrap_or_default();
                    let is_file = !file.is_empty() && !file.contains("://") && !file.contains(char::is_whitespace);
                    if is_file && !folder.join(file).exists() {
                        faults.push(format!("{}: {target}", path.display()));
                    }
                }
            }
        }
    }
    let mut faults = Vec::new();
    visit(&docs(), &mut faults);
    assert!(faults.is_empty(), "{faults:#?}");
}
