//! Cases of render: the fleets of `testdata/fleets`, each beside what it renders, and small trees for each behaviour.

use std::fs;
use std::path::{Path, PathBuf};

use fleetwright::finding::Finding;
use fleetwright::fleet::{Loaded, load};
use fleetwright::render::{LOCK, Lock, Plan, Rendered, plan, render};
use fleetwright::text::{File, Tree};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn read(root: &Path) -> Tree {
    fn add(folder: &Path, prefix: &str, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                add(&entry.path(), &format!("{path}/"), tree);
            } else {
                tree.insert(File::decode(path, fs::read(entry.path()).unwrap()).unwrap());
            }
        }
    }
    let mut tree = Tree::default();
    add(root, "", &mut tree);
    tree
}

fn said(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let line = |label: &fleetwright::finding::Label| {
            let position = label.span.position();
            format!("{}:{}:{} {}", label.span.file().path(), position.line, position.column, label.message)
        };
        text += &format!("{}{}[{}] {}\n", line(&finding.at), finding.severity, finding.rule, finding.message);
        finding.help.iter().for_each(|help| text += &format!("    help: {help}\n"));
        finding.related.iter().for_each(|related| text += &format!("    {}\n", line(related)));
    }
    text
}

fn rendered(tree: &Tree) -> (Loaded, Rendered) {
    let loaded = load(tree, "fleet.yaml");
    assert!(loaded.fleet.is_some(), "{}", said(&loaded.findings));
    let rendered = render(loaded.fleet.as_ref().unwrap(), loaded.layout.as_ref().unwrap());
    (loaded, rendered)
}

fn planned(tree: &Tree, rendered: &Rendered) -> Plan {
    let lock = tree.file(LOCK).map_or_else(|_| Lock::default(), |file| Lock::parse(&file).0);
    plan(rendered, tree, &lock)
}

/// Writes what a plan says, as a render with `--force` would.
fn write(root: &Path, plan: Plan) {
    let plan = plan.forced();
    for change in plan.changes() {
        let path = root.join(&change.path);
        match &change.new {
            Some(file) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, file.text()).unwrap();
            }
            None => fs::remove_file(path).unwrap(),
        }
    }
    fs::write(root.join(LOCK), plan.lock_after.to_string()).unwrap();
}

#[test]
fn every_fleet_stands_beside_what_it_renders() {
    for name in ["d1", "d1-bootstrap", "quickstart", "kitchen-sink"] {
        let root = folder("fleets").join(name);
        let tree = read(&root);
        let (loaded, rendered) = rendered(&tree);
        assert_eq!(said(&loaded.findings), "", "{name}");
        assert_eq!(said(&rendered.findings), "", "{name}");
        let plan = planned(&tree, &rendered);
        if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
            write(&root, plan);
            continue;
        }
        let changed: Vec<&str> = plan.changes().map(|change| change.path.as_str()).collect();
        assert_eq!(changed, Vec::<&str>::new(), "{name}: see what SNAPSHOTS=overwrite changes");
        assert!(plan.is_lock_current(), "{name}");
    }
}
