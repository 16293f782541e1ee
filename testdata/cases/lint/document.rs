//! A case of lint as one Markdown file: what it shows in words, its files, its findings.
//!
//! A block ```` ```yaml PATH ```` is a file; the last block, ```` ```findings ````, is what is expected. Folders below
//! `clusters/` get the `gotk-sync.yaml` that `flux bootstrap` writes, unless the case has one.

use std::collections::BTreeSet;
use std::path::Path;

use fleetwright::text::{File, Tree};

/// A case: what stands before its findings, these, and what stands behind them.
pub(super) struct Document {
    before: String,
    expected: String,
    after: String,
}

impl Document {
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let (before, rest) = text.split_once("```findings\n").unwrap_or((&text, "```\n"));
        let found = rest.strip_prefix("```").map(|after| ("", after)).or_else(|| {
            let (found, after) = rest.split_once("\n```")?;
            Some((found, after))
        });
        let (expected, after) = found.unwrap_or_else(|| panic!("{}: the findings have no end", path.display()));
        let expected = if expected.is_empty() { String::new() } else { format!("{expected}\n") };
        Self { before: before.trim_end().into(), expected, after: after.into() }
    }

    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        for block in self.before.split("```yaml ").skip(1) {
            let (path, body) = block.split_once('\n').unwrap();
            let (text, _) = body.split_once("```").unwrap();
            assert!(!tree.has_file(path.trim()), "{path} stands twice");
            tree.insert(File::new(path.trim(), text));
        }
        bootstrap(&mut tree);
        tree
    }

    pub(super) fn expected(&self) -> &str {
        &self.expected
    }

    /// The document with other findings.
    pub(super) fn with(&self, findings: &str) -> String {
        format!("{}\n\n```findings\n{findings}```{}", self.before, self.after)
    }
}

/// Gives each folder below `clusters/` what `flux bootstrap` writes, unless something there syncs already.
pub(super) fn bootstrap(tree: &mut Tree) {
    let paths: Vec<String> = tree.files().map(|file| file.path().to_string()).collect();
    let names = paths.iter().filter_map(|path| path.strip_prefix("clusters/")?.split_once('/').map(|(name, _)| name));
    let names: BTreeSet<&str> = names.collect();
    for name in names {
        let folder = format!("clusters/{name}");
        let syncs = |file: &File| {
            let is_root = file.text().contains("kind: FluxInstance") || file.path().ends_with("/gotk-sync.yaml");
            is_root && file.path().starts_with(&format!("{folder}/"))
        };
        let has_root = tree.files().any(syncs);
        if !has_root {
            tree.insert(File::new(format!("{folder}/flux-system/gotk-sync.yaml"), sync(&folder)));
        }
    }
}

fn sync(folder: &str) -> String {
    format!(
        "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: main
  url: https://git.example.com/acme/fleet.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./{folder}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
"
    )
}
