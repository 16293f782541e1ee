//! The separation of inputs and outputs: no cluster syncs an input, and no rendered file replaces one.

use crate::base::finding::Finding;
use crate::fleet::load::Loaded;
use crate::fleet::merge::repositories::{OWN_REPOSITORY, Repositories};
use crate::fleet::resolve::dependencies::name;
use crate::text::{Span, Tree, is_inside, join};
use crate::yaml::Node;

/// The rule id for inputs that a cluster would apply.
const INPUT_IN_SYNCED_PATH: &str = "input-in-synced-path";
/// The rule id for inputs that a rendered file would overwrite.
const INPUT_OVERWRITTEN: &str = "input-overwritten";

/// The label of the reference to a layout.
const LAYOUT: &str = "the layout";

/// An input file of a render.
struct Read {
    /// The path in the repository.
    path: String,
    /// The place in fleet.yaml that references the file.
    named: Span,
    /// The label of the reference; `None` for fleet.yaml itself.
    why: Option<&'static str>,
}

/// A directory of the repository that clusters sync.
struct Synced<'a> {
    /// The normalized path.
    folder: String,
    /// The path as written.
    written: &'a str,
    /// The cluster or tenant, as messages show it.
    owner: String,
    at: &'a Span,
}

impl Loaded {
    /// Reports inputs in directories that clusters sync, since Flux would apply them.
    ///
    /// `folder` is the directory of fleet.yaml in the rendered repository.
    pub fn synced_inputs(&self, folder: &str) -> Vec<Finding> {
        let read = self.read(folder);
        let mut findings = Vec::new();
        for synced in self.synced() {
            let Some(input) = read.iter().find(|input| is_inside(&input.path, &synced.folder)) else { continue };
            let message =
                format!("{} syncs `{}`, which contains the input `{}`", synced.owner, synced.written, input.path);
            let help = "move the file out of the synced directory; otherwise Flux applies it";
            let finding = Finding::error(INPUT_IN_SYNCED_PATH, synced.at.clone(), message).help(help);
            findings.push(match input.why {
                Some(why) => finding.related(input.named.clone(), why),
                None => finding,
            });
        }
        findings
    }

    /// Reports inputs at the path of a rendered file, and rendered files in the directory of the layout, since the next
    /// render would read them as templates.
    ///
    /// `folder` is the directory of fleet.yaml in the repository.
    pub fn overwritten_inputs(&self, folder: &str, rendered: &Tree) -> Vec<Finding> {
        let help = "move the file, or render to another directory with `-o`";
        let read = self.read(folder).into_iter();
        let overwritten = read.filter(|input| rendered.has_file(&input.path)).map(|input| {
            let message = format!("a rendered file would overwrite the input `{}`", input.path);
            Finding::error(INPUT_OVERWRITTEN, input.named, message).help(help)
        });
        let mut findings: Vec<Finding> = overwritten.collect();
        if findings.is_empty()
            && let Some((layout, named)) = self.own_layout()
            && let Some(layout) = join(folder, layout)
            && let Some(first) = rendered.under(&layout).next()
        {
            let message = format!("`{first}` would be rendered into the layout");
            findings.push(Finding::error(INPUT_OVERWRITTEN, named.clone(), message).help(help));
        }
        findings
    }

    /// Returns the directory of a layout in the repository, and its place in fleet.yaml.
    fn own_layout(&self) -> Option<(&str, &Span)> {
        let layout = self.layout.as_ref().filter(|layout| layout.name.starts_with("./"))?;
        Some((&layout.name, self.root.as_ref()?.get("layout")?.span()))
    }

    /// Returns the paths of the inputs in the repository: fleet.yaml, the included files, and the layout.
    pub fn input_paths(&self, folder: &str) -> Vec<String> {
        self.read(folder).into_iter().map(|input| input.path).collect()
    }

    /// Returns the paths of the templates in the repository.
    pub fn template_paths(&self, folder: &str) -> Vec<String> {
        let templates = self.read(folder).into_iter().filter(|input| input.why == Some(LAYOUT));
        templates.map(|input| input.path).collect()
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
        if let (Some(layout), Some((name, named))) = (&self.layout, self.own_layout()) {
            for (path, _) in layout.files.entries() {
                add(&format!("{name}/{path}"), named, Some(LAYOUT));
            }
        }
        read
    }

    fn synced(&self) -> Vec<Synced<'_>> {
        let Some(merged) = &self.merged else { return Vec::new() };
        let repositories = &merged.repositories;
        let clusters = merged.clusters.iter();
        let clusters =
            clusters.map(|cluster| ("cluster", cluster, cluster.get("path"), repositories.of_cluster(cluster)));
        let own = repositories.find(OWN_REPOSITORY);
        let tenants = merged.tenants.iter().map(|tenant| &tenant.node);
        let tenants = tenants.map(|tenant| ("tenant", tenant, tenant.at_keys(&["sync", "path"]), own));
        let all = clusters.chain(tenants).filter_map(|(what, node, path, repository)| {
            let path = path?;
            // An expression that is still unevaluated has a finding already.
            let written = path.text().filter(|text| !text.contains("{{"))?;
            let owner = format!("{what} `{}`", name(node)?);
            Some(Synced {
                folder: Repositories::folder(repository, written)?,
                written,
                owner,
                at: self.place(node, path),
            })
        });
        all.collect()
    }

    /// Returns the place to report for a path: the path if the author wrote it, or the name of the owner if the layout
    /// sets it.
    fn place<'a>(&self, node: &'a Node, path: &'a Node) -> &'a Span {
        let written = self.inputs.iter().any(|input| input == path.span().file().path());
        if written { path.span() } else { node.get("name").unwrap_or(path).span() }
    }
}
