//! What is read stays apart from what is written: no cluster syncs an input, and no rendered file replaces one.

use crate::base::finding::Finding;
use crate::fleet::load::Loaded;
use crate::fleet::resolve::dependencies::name;
use crate::text::{Span, is_inside, join};
use crate::yaml::Node;

/// The rule of inputs that a cluster would apply.
const INPUT_IN_SYNCED_PATH: &str = "input-in-synced-path";
/// The rule of inputs that would be rendered over.
const INPUT_OVERWRITTEN: &str = "input-overwritten";

/// A file that a render reads.
struct Read {
    /// Its path in the repository.
    path: String,
    /// What in fleet.yaml names it.
    named: Span,
    /// How it is named there; fleet.yaml itself is not.
    why: Option<&'static str>,
}

/// A folder of the repository that clusters sync.
struct Synced<'a> {
    /// Normalized.
    folder: String,
    /// As written, and who says it.
    said: &'a str,
    whose: String,
    at: &'a Span,
}

impl Loaded {
    /// Reports inputs in folders that clusters sync, since Flux would apply them.
    ///
    /// `folder` is the one of fleet.yaml in the repository that is rendered.
    pub fn synced_inputs(&self, folder: &str) -> Vec<Finding> {
        let read = self.read(folder);
        let mut findings = Vec::new();
        for synced in self.synced() {
            let Some(input) = read.iter().find(|input| is_inside(&input.path, &synced.folder)) else { continue };
            let message = format!("{} syncs `{}`, and `{}` lies in it", synced.whose, synced.said, input.path);
            let help = "Flux would apply the file; keep inputs outside of what clusters sync";
            let finding = Finding::error(INPUT_IN_SYNCED_PATH, synced.at.clone(), message).help(help);
            findings.push(match input.why {
                Some(why) => finding.related(input.named.clone(), why),
                None => finding,
            });
        }
        findings
    }

    /// Reports inputs that stand where something is rendered; `folder` is the one of fleet.yaml in the repository.
    pub fn overwritten_inputs(&self, folder: &str, is_rendered: impl Fn(&str) -> bool) -> Vec<Finding> {
        let read = self.read(folder).into_iter();
        let overwritten = read.filter(|input| is_rendered(&input.path)).map(|input| {
            let message = format!("`{}` is read here, and it would be rendered over", input.path);
            let help = "keep inputs where nothing is rendered, or render into another folder with `-o`";
            Finding::error(INPUT_OVERWRITTEN, input.named, message).help(help)
        });
        overwritten.collect()
    }

    fn read(&self, folder: &str) -> Vec<Read> {
        let Some(root) = &self.root else { return Vec::new() };
        let mut read = Vec::new();
        let mut add = |path: &str, named: &Span, why| {
            read.extend(join(folder, path).map(|path| Read { path, named: named.clone(), why }));
        };
        for path in &self.inputs {
            match self.included.get(path) {
                Some(glob) => add(path, glob, Some("included here")),
                None => add(path, root.get("name").unwrap_or(root).span(), None),
            }
        }
        if let (Some(layout), Some(said)) = (&self.layout, root.get("layout"))
            && layout.name.starts_with("./")
        {
            for (path, _) in layout.files.entries() {
                add(&format!("{}/{path}", layout.name), said.span(), Some("the layout"));
            }
        }
        read
    }

    fn synced(&self) -> Vec<Synced<'_>> {
        let Some(merged) = &self.merged else { return Vec::new() };
        let clusters = merged.clusters.iter().map(|cluster| ("cluster", cluster, cluster.get("path")));
        let tenants = merged.tenants.iter().map(|tenant| &tenant.node);
        let tenants = tenants.map(|tenant| ("tenant", tenant, tenant.at_keys(&["sync", "path"])));
        let all = clusters.chain(tenants).filter_map(|(what, node, path)| {
            let path = path?;
            // An expression that is left is a mistake that was reported.
            let said = path.text().filter(|text| !text.contains("{{"))?;
            let whose = format!("{what} `{}`", name(node)?);
            Some(Synced { folder: join("", said)?, said, whose, at: self.place(node, path) })
        });
        all.collect()
    }

    /// Where to point for a path: where somebody wrote it, or the name of what gets it from the layout.
    fn place<'a>(&self, node: &'a Node, path: &'a Node) -> &'a Span {
        let written = self.inputs.iter().any(|input| input == path.span().file().path());
        if written { path.span() } else { node.get("name").unwrap_or(path).span() }
    }
}
