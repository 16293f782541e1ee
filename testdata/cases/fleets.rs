//! The fleets of `testdata/fleets`, each beside the files that it renders.

use std::fs;
use std::path::Path;

use fleetwright::render::{LOCK, Lock, Plan, plan};
use libtest_mimic::Trial;

use crate::render::{rendered, said};
use crate::support::{folders, testdata, tree_of};
use crate::{overwrites, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("fleets");
    trials_of("fleets", &root, folders(&root), |case| {
        check(case);
        Ok(())
    })
}

fn check(case: &Path) {
    let tree = tree_of(case);
    let (loaded, rendered) = rendered(&tree);
    assert_eq!(said(&loaded.findings), "");
    assert_eq!(said(&rendered.findings), "");
    let lock = tree.file(LOCK).map_or_else(|_| Lock::default(), |file| Lock::parse(&file).0);
    let plan = plan(&rendered, &tree, &lock);
    if overwrites() {
        return write(case, plan);
    }
    let changed: Vec<&str> = plan.changes().map(|change| change.path.as_str()).collect();
    assert_eq!(changed, Vec::<&str>::new(), "see what SNAPSHOTS=overwrite changes");
    assert!(plan.is_lock_current());
}

/// Writes the changes of a plan, as a render with `--force` does.
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
