//! The recorded answers of the controllers, and the cases that they answer.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright::text::{File, Tree};
use serde::Deserialize;

use crate::support::{entries, name, testdata, tree_of};

/// The clusters of a case by the directories that they sync.
pub(super) type Clusters = BTreeMap<String, Answer>;

/// The state in which a cluster ends.
#[derive(Deserialize)]
pub(super) struct Answer {
    /// The reason why it could not be bootstrapped.
    #[serde(default)]
    pub(super) failed: String,
    #[serde(default)]
    pub(super) kustomizations: BTreeMap<String, State>,
    /// Objects of two inventories that disappear with one of the Kustomizations.
    #[serde(default)]
    pub(super) lost: BTreeSet<String>,
    /// Objects that exist after the repository became empty.
    #[serde(default)]
    pub(super) kept: BTreeSet<String>,
    /// Objects that are not deleted completely after the repository became empty.
    #[serde(default)]
    pub(super) stuck: BTreeSet<String>,
}

/// The state in which a Kustomization ends.
#[derive(Deserialize)]
pub(super) struct State {
    #[serde(default)]
    pub(super) path: String,
    ready: String,
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) inventory: BTreeSet<String>,
}

impl State {
    pub(super) fn is_ready(&self) -> bool {
        self.ready == "True"
    }

    /// Whether it failed or waited before it applied an object.
    pub(super) fn applied_nothing(&self) -> bool {
        !self.is_ready() && self.inventory.is_empty()
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.ready == "Suspended"
    }

    /// Whether its source or a base is another repository, of which the case has no copy.
    pub(super) fn lacks_copy(&self) -> bool {
        self.reason == "ArtifactFailed" && self.message.contains("Source artifact not found")
            || self.reason == "BuildFailed" && self.message.contains("Get \"https://")
            || self.message.contains("Source is not ready, artifact not found")
    }
}

/// A case of the record.
pub(super) struct Case {
    /// The name of its group, a rule or `cases`, and its own name.
    pub(super) name: String,
    pub(super) clusters: Clusters,
}

/// The cases of the record, sorted by name.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in entries(&testdata("oracles/flux-live/answers")) {
        let group = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let answers: BTreeMap<String, Clusters> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", name(&path)));
        cases.extend(answers.into_iter().map(|(case, clusters)| Case { name: format!("{group}/{case}"), clusters }));
    }
    cases
}

impl Case {
    /// The repository of the case, without objects of a bootstrap that it does not contain.
    pub(super) fn tree(&self) -> Tree {
        let folder = match self.name.strip_prefix("cases/") {
            Some(case) => testdata("oracles/flux-live/cases").join(case),
            None => testdata("lint").join(&self.name),
        };
        if folder.is_dir() {
            let mut tree = tree_of(&folder);
            tree.remove("expected.txt");
            return tree;
        }
        let text = std::fs::read_to_string(folder.with_added_extension("md")).unwrap();
        let before = text.split("```findings").next().unwrap();
        let mut tree = Tree::default();
        for block in before.split("```yaml ").skip(1) {
            let (path, body) = block.split_once('\n').unwrap();
            tree.insert(File::new(path.trim(), body.split("```").next().unwrap()));
        }
        if !self.name.starts_with("cases/") {
            for (root, answer) in &self.clusters {
                bootstrap(&mut tree, root, answer);
            }
        }
        tree
    }
}

/// Adds the objects that the record invented for a directory that nothing syncs.
fn bootstrap(tree: &mut Tree, root: &str, answer: &Answer) {
    let syncs = |file: &File| {
        (file.text().contains("kind: FluxInstance") || file.path().ends_with("/gotk-sync.yaml"))
            && file.path().starts_with(&format!("{root}/"))
    };
    if !root.starts_with("clusters/") || answer.kustomizations.is_empty() || tree.files().any(syncs) {
        return;
    }
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n";
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";
    let metadata = "metadata:\n  name: flux-system\n  namespace: flux-system\n";
    let reference = "  sourceRef:\n    kind: GitRepository\n    name: flux-system\n";
    let url = "https://git.example.com/acme/fleet.git";
    let text = format!(
        "{source}{metadata}spec:\n  interval: 1m\n  ref:\n    branch: main\n  url: {url}\n---\n\
         {kustomization}{metadata}spec:\n  interval: 10m\n  path: ./{root}\n  prune: true\n{reference}"
    );
    tree.insert(File::new(format!("{root}/flux-system/gotk-sync.yaml"), text));
}
