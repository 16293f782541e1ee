//! Where the fields of built objects come from: chains link by link, and what holds for every node of every case.

use std::fmt::Write as _;
use std::path::Path;

use fleetwright::flux::{Agent, Applied, ApplierKind, Cause, Cluster, Provenance, Repo, Settings, leaves};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::{Node, Origin, Path as Field, Reader, Style, Value, parse, to_json};
use libtest_mimic::Trial;

use crate::support::{folders, testdata, tree_of};
use crate::{Outcome, compare, none, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("provenance");
    let mut trials = trials_of("provenance", &root, folders(&root), check);
    // The places of nodes are checked in other cases too.
    let homes = ["provenance", "flux", "fleets", "kustomize", "lint/failed-build", "lint/missing-service-account"];
    let cases = homes.iter().flat_map(|home| folders(&testdata(home))).collect();
    trials.extend(trials_of("places", &testdata(""), cases, check_places));
    trials
}

fn said(cause: &Cause) -> String {
    let agent = match &cause.by {
        Agent::Variable { name, from, .. } => {
            format!("variable {name}{}", from.as_ref().map(|from| format!(" of {from}")).unwrap_or_default())
        }
        other => format!("{other:?}"),
    };
    let place = cause.place.position();
    let text = cause.place.text().lines().next().unwrap_or_default();
    format!("    {agent:24} {}:{}:{}  {text}", cause.place.file().path(), place.line, place.column)
}

/// Checks every link of every chain against `expected.txt`.
fn check(case: &Path) -> Outcome {
    let repo = Repo::load(&tree_of(&case.join("in")), &Settings::default());
    let mut text = String::new();
    for cluster in &repo.clusters {
        writeln!(text, "# {}", cluster.name).unwrap();
        for applied in cluster.objects() {
            writeln!(text, "{} by {}", applied.object.reference(), applied.by.reference).unwrap();
            let provenance = Provenance::of(cluster, applied);
            for (path, node) in leaves(&applied.object.node, &Field::default()) {
                let value = node.text().unwrap_or_default().lines().next().unwrap_or_default();
                writeln!(text, "  {path}: {value}").unwrap();
                provenance.causes(node).iter().for_each(|cause| writeln!(text, "{}", said(cause)).unwrap());
            }
        }
    }
    compare(text, &case.join("expected.txt"))
}

/// Whether what stands at a scalar's place reads as its value. Blocks and what spans lines are told by their words.
fn reads_as(node: &Node) -> bool {
    let Value::Scalar(text, style) = &node.value else { return true };
    // A patch that copies what is not there makes a null; an alias stands for what its anchor has, and a tag may decode
    // what it stands before.
    let written = node.span().text();
    let before = node.span().file().text().get(..node.span().range().start).unwrap_or_default();
    if node.is_null() || written.starts_with('*') || before.ends_with("!!binary ") {
        return true;
    }
    match style {
        Style::Unknown => true,
        Style::Plain | Style::Single | Style::Double if !written.contains('\n') && !written.starts_with(['|', '>']) => {
            let parsed = parse(&File::new("", written));
            // kustomize makes a time of a date when it applies a JSON patch.
            let read = |reader| parsed.documents.first().map(|document| to_json(&document.node, reader));
            let value = Some(to_json(node, Reader::Kustomize));
            // What a doubled sign leaves is no variable's.
            let single = written.replace("$$", "$");
            read(Reader::Kubernetes) == value
                || read(Reader::Kustomize) == value
                || single.trim_matches(['"', '\'']) == &**text
        }
        _ => text.split_whitespace().next().is_none_or(|word| written.contains(word)),
    }
}

fn check_node(tree: &Tree, cluster: &Cluster, applied: Applied<'_>, node: &Node, wrong: &mut Vec<String>) {
    let place = node.span();
    let say = |what: &str| format!("{} {what}: {:?} at {:?}", applied.object.reference(), node.text(), place);
    if !tree.has_file(place.file().path()) || place.range().end > place.file().text().len() {
        wrong.push(say("lies in no file"));
    }
    // What an operator or a template makes stands where it was asked for.
    let is_written = matches!(applied.by.kind, ApplierKind::Kustomization | ApplierKind::Folder);
    if is_written && matches!(node.origin, Origin::At(_)) && !reads_as(node) {
        wrong.push(say("reads otherwise"));
    }
    if node.text().is_some() && Provenance::of(cluster, applied).causes(node).is_empty() {
        wrong.push(say("has no cause"));
    }
    node.items().iter().for_each(|item| check_node(tree, cluster, applied, item, wrong));
    for entry in node.entries() {
        let key = entry.key_span();
        if !tree.has_file(key.file().path()) || key.range().end > key.file().text().len() {
            wrong.push(say("has a key in no file"));
        }
        check_node(tree, cluster, applied, &entry.node, wrong);
    }
}

/// Checks that every node of every built object has a place in a file, and reads as it does there.
fn check_places(case: &Path) -> Outcome {
    let input = Some(case.join("in")).filter(|input| input.is_dir()).unwrap_or_else(|| case.to_owned());
    let tree = tree_of(&input);
    let repo = Repo::load(&tree, &Settings::default());
    let mut wrong = Vec::new();
    for cluster in &repo.clusters {
        for applied in cluster.objects() {
            check_node(&tree, cluster, applied, &applied.object.node, &mut wrong);
        }
    }
    for problem in &repo.problems {
        let place = &problem.at.span;
        if !tree.has_file(place.file().path()) || place.range().end > place.file().text().len() {
            wrong.push(format!("a finding has a place in no file: {}", problem.message));
        }
    }
    none(wrong.join("\n"))
}
