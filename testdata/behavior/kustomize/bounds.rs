//! What grows without end is given up at a line.

use std::fmt::Write as _;

use fleetwright::kustomize::Reading;
use fleetwright::text::{File, Tree};

use crate::support::{kustomize, lines};

/// Folders below the root, each of them with a kustomization.
fn tree(folders: &[(String, String)]) -> Tree {
    let mut tree = Tree::default();
    for (folder, kustomization) in folders {
        tree.insert(File::new(format!("{folder}/kustomization.yaml"), kustomization.as_str()));
    }
    tree
}

fn findings(tree: &Tree, folder: &str) -> String {
    let build = kustomize(tree, folder, Reading::Kustomize);
    assert!(build.objects.is_empty());
    lines(&build.findings)
}

#[test]
fn components_that_double_thirty_times_are_given_up() {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let double = |next: usize| format!("components: [../c{next}, ../c{next}]\n");
    let mut folders: Vec<_> = (1..30).map(|at| (format!("c{at}"), format!("{component}{}", double(at + 1)))).collect();
    folders.push(("c0".to_owned(), double(1)));
    folders.push(("c30".to_owned(), format!("{component}namePrefix: a-\n")));
    let found = findings(&tree(&folders), "c0");
    assert_eq!(found, "c28/kustomization.yaml:3:22 error[failed-build] this build has more than 10000 components\n");
}

#[test]
fn objects_that_double_thirty_times_are_given_up() {
    let mut folders = Vec::new();
    for at in 0..30 {
        for side in ["a", "b"] {
            let next = at + 1;
            let bases = format!("namePrefix: {side}-\nresources: [../k{next}a, ../k{next}b]\n");
            folders.push((format!("k{at}{side}"), bases));
        }
    }
    let mut tree = tree(&folders);
    let mut objects = String::new();
    for at in 0..5_000 {
        write!(objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: o{at}}}\n").unwrap();
    }
    for side in ["a", "b"] {
        tree.insert(File::new(format!("k30{side}/all.yaml"), objects.as_str()));
        let bases = format!("namePrefix: {side}-\nresources: [all.yaml]\n");
        tree.insert(File::new(format!("k30{side}/kustomization.yaml"), bases));
    }
    let found = findings(&tree, "k0a");
    let message = "error[failed-build] this build has more than 100000 objects";
    assert!(found.lines().all(|line| line.ends_with(message)), "{found}");
    assert!(found.lines().count() <= 2, "{found}");
}
