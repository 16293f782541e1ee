//! The files that each file uses: their order in every `mod.rs`, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

use petgraph::algo::{astar, tarjan_scc};
use petgraph::graphmap::DiGraphMap;

use super::modules::{Definition, Modules};
use super::source::{Path, Place, Source};
use super::{Complaint, shown};

/// The most files that a complaint about a cycle lists.
const MAX_LISTED: usize = 30;

/// The uses between files: the line of the first, and the name that is used there.
type Uses<'a> = BTreeMap<(&'a str, &'a str), (usize, String)>;

/// The offences of files against the order of their modules, below the level of the crate.
pub(super) fn complaints(sources: &BTreeMap<Vec<String>, (PathBuf, Source)>, house: &FilePath) -> BTreeSet<Complaint> {
    let modules = Modules::new(sources);
    let mut complaints = BTreeSet::new();
    let mut uses = BTreeMap::new();
    for (names, (file, source)) in sources {
        let file = shown(file, house);
        for path in &source.paths {
            let Some(module) = modules.closest(&[names.as_slice(), &path.inside].concat()) else { continue };
            let resolved = modules.resolve(module, path);
            for definition in &resolved.definitions {
                let target = modules.get(definition.module);
                if target.file == modules.get(module).file {
                    continue;
                }
                if let Some(complaint) = judge(&modules, module, path, definition, house) {
                    complaints.insert((file.clone(), path.line, complaint));
                }
                if !path.test && !modules.get(module).test && path.place != Place::Reexport {
                    let first = uses
                        .entry((file.clone(), shown(&target.file, house)))
                        .or_insert_with(|| (path.line, definition.name.clone()));
                    if path.line < first.0 {
                        *first = (path.line, definition.name.clone());
                    }
                }
            }
            if path.test || modules.get(module).test || path.place == Place::Reexport {
                continue;
            }
            let own = &modules.get(module).names;
            let mut around = resolved.facades.iter().filter(|facade| {
                let around = modules.get(facade.module);
                own.starts_with(&around.names)
            });
            if let Some(facade) = around.next_back() {
                let root = shown(&modules.get(facade.module).file, house);
                let written = path.segments.join("::");
                let better = &facade.path;
                complaints.insert((
                    file.clone(),
                    path.line,
                    format!("`{written}` goes through an import of {root}, which hides the file it uses; write `{better}`"),
                ));
            }
        }
    }
    let uses: Uses = uses.iter().map(|((from, to), at)| ((from.as_str(), to.as_str()), at.clone())).collect();
    complaints.extend(cycles(&uses));
    complaints
}

/// The offence of one use of a definition in another file.
fn judge(
    modules: &Modules,
    module: usize,
    path: &Path,
    definition: &Definition,
    house: &FilePath,
) -> Option<String> {
    let (from, to) = (modules.get(module), modules.get(definition.module));
    let is_test = path.test || from.test;
    let name = &definition.name;
    if path.place == Place::Reexport {
        let own = &from.names;
        let hides = !own.is_empty() && !to.names.starts_with(own) && to.names.first() == own.first();
        return hides
            .then(|| format!("`pub use` of `{name}` of another module hides its users; import it there from the module that defines it"));
    }
    if to.test && !is_test {
        return Some(format!("`{name}` is defined in a module of tests; move it to a module that is always compiled"));
    }
    let shared = from.names.iter().zip(&to.names).take_while(|(from, to)| from == to).count();
    let (ours, theirs) = (from.names.get(shared)?, to.names.get(shared)?);
    // The order in lib.rs is judged by the path as it is written.
    if shared == 0 || is_test {
        return None;
    }
    let parent = modules.get(modules.closest(&from.names[..shared])?);
    let position = |name: &str| parent.children.iter().position(|child| child == name);
    (position(theirs) >= position(ours)).then(|| {
        let list = shown(&parent.file, house);
        format!(
            "`{ours}` uses `{name}` of `{theirs}`, which {list} lists below it; \
             list `{theirs}` above `{ours}`, or move the shared item to a module above both"
        )
    })
}

/// One complaint for each set of files that use each other, at the first edge of a shortest cycle.
fn cycles(uses: &Uses) -> Vec<Complaint> {
    let graph: DiGraphMap<&str, ()> = uses.keys().copied().collect();
    let components = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    let described = components.filter_map(|mut component| {
        component.sort_unstable();
        let edges = graph.all_edges().filter(|(from, to, ())| component.contains(from) && component.contains(to));
        let cycles = edges.filter_map(|(from, to, ())| astar(&graph, to, |node| node == from, |_| 1_usize, |_| 0));
        let (_, cycle) = cycles.min()?;
        let edge = |(from, to): (&&str, &&str)| {
            let (line, name) = &uses[&(*from, *to)];
            format!("{from}:{line} uses `{name}` of {to}")
        };
        let following = cycle.iter().cycle().skip(1);
        let edges: Vec<String> = cycle.iter().zip(following).map(edge).collect();
        let (line, _) = &uses[&(cycle[0], cycle[1])];
        let others = match component.len() - cycle.len() {
            0 => String::new(),
            _ => {
                let more = if component.len() > MAX_LISTED { ", …" } else { "" };
                let listed = component.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
                format!(" ({} files are connected by cycles: {listed}{more})", component.len())
            }
        };
        let complaint = format!(
            "files form an import cycle: {}; move the shared items to a separate file{others}",
            edges.join(", ")
        );
        Some((cycle[0].to_owned(), *line, complaint))
    });
    described.collect()
}
