//! The fleets of the tutorial and of the recipes, step by step.

use fleetwright::fleet;
use fleetwright::render::render;
use fleetwright::text::{File, Tree};

use super::docs;
use crate::support::lines;

/// The blocks of YAML of a page, or of a section of it, without the indentation of a list.
fn blocks(page: &str, section: &str) -> Vec<String> {
    let text = std::fs::read_to_string(docs().join(page)).unwrap();
    let start = text.find(&format!("## {section}\n")).unwrap_or_else(|| panic!("{page} has no section {section}"));
    let rest = &text[start + 3..];
    let text = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let found = text.split("```").skip(1).step_by(2).filter_map(|block| block.trim_start().strip_prefix("yaml\n"));
    found.map(|block| dedent(block, 2)).collect()
}

/// Removes the indentation of a step of a numbered list: the blocks of lists are indented by two spaces.
fn dedent(block: &str, indentation: usize) -> String {
    let spaces = |line: &str| line.len() - line.trim_start().len();
    let depth = block.lines().filter(|line| !line.trim().is_empty()).map(spaces).min().unwrap_or_default();
    let is_item = depth > indentation && block.trim_start().starts_with("- name:");
    let cut = if is_item { depth - indentation } else { 0 };
    let without = |line: &str| format!("{}\n", line.get(cut..).unwrap_or_default());
    block.lines().map(without).collect()
}

fn replace(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the fleet has no {from:?}");
    text.replacen(from, to, 1)
}

/// Loads and renders a fleet without any finding. `team` is the file of a team.
fn check(step: &str, fleet: &str, team: &str) {
    let mut tree: Tree = [File::new("fleet.yaml", fleet)].into_iter().collect();
    if !team.is_empty() {
        tree.insert(File::new("teams/shop.yaml", team));
    }
    let loaded = fleet::load(&tree, "fleet.yaml");
    assert!(loaded.findings.is_empty(), "{step}: {}", lines(&loaded.findings));
    let (Some(fleet), Some(layout)) = (&loaded.fleet, &loaded.layout) else { panic!("{step}: nothing was loaded") };
    let rendered = render(fleet, layout);
    assert!(rendered.findings.is_empty(), "{step}: {}", lines(&rendered.findings));
}

/// The fleet at the end of the tutorial; each step of it is checked.
fn tutorial() -> String {
    let [first]: [String; 1] = blocks("tutorial.md", "One cluster").try_into().unwrap();
    check("One cluster", &first, "");
    let [tenants, components]: [String; 2] = blocks("tutorial.md", "Three tenants").try_into().unwrap();
    let second = replace(&first, "    components:\n      - name: ingress\n", &components) + "\n" + &tenants;
    check("Three tenants", &second, "");
    let [clusters]: [String; 1] = blocks("tutorial.md", "Four clusters").try_into().unwrap();
    let (start, end) = (second.find("environments:").unwrap(), second.find("tenants:\n").unwrap());
    let third = format!("{}{clusters}\n{}", &second[..start], &second[end..]);
    check("Four clusters", &third, "");
    third
}

#[test]
fn the_steps_of_the_tutorial_and_the_recipes_render() {
    let fleet = tutorial();
    let block = |section: &str, at: usize| blocks("recipes.md", section).swap_remove(at);
    let shop = "    components: [{name: web, namespace: shop}]\n";
    let source = "    source: {url: https://github.com/acme/shop.git, secret: flux-shop}\n";
    let cluster =
        "  - name: prod-eu\n    environment: production\n    runtimeInfo: {CLUSTER_DOMAIN: eu.acme.example}\n";
    for (section, at, from) in [
        ("Add a component", 0, shop),
        ("Promote a version", 0, source),
        ("Promote a version", 1, cluster),
        ("Change a setting on one cluster", 0, cluster),
        ("Add an object that fleet.yaml cannot express", 0, cluster),
    ] {
        check(section, &replace(&fleet, from, &block(section, at)), "");
    }
    let added = replace(&fleet, "\ntenants:\n", &format!("{}\ntenants:\n", block("Add a cluster", 0)));
    check("Add a cluster", &added, "");
    check("Add a tenant", &format!("{fleet}{}", block("Add a tenant", 0)), "");

    let section = "Let teams maintain their own files";
    let (open, team, restricted) = (block(section, 0), block(section, 1), block(section, 2));
    let without = &fleet[..fleet.find("  - name: shop\n").unwrap()];
    for include in [open, restricted] {
        check(section, &format!("{without}\n{include}"), &team);
    }
}
