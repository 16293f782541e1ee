//! Targets for edits of files: the functions that fixes use, and the fixes of the linter.

use fleetwright::base::finding::{Fix, Safety};
use fleetwright::lint::{Options, fix as fix_findings, run};
use fleetwright::text::{File, apply};
use fleetwright::yaml::{Node, fix, parse};

use super::repository::{options, tree};

/// The name of a field that no input has.
const NEW: &str = "fuzz-new-field";

/// Edits each mapping of a YAML file without anchors: the result parses, and the mapping has the field or not.
pub(crate) fn edit(data: &[u8]) {
    let Ok(file) = File::decode("fuzz.yaml", data.to_vec()) else { return };
    let parsed = parse(&file);
    let is_clean = parsed.findings.is_empty() && !file.text().contains('&');
    if !is_clean || file.text().contains(NEW) {
        return;
    }
    let roots: Vec<Node> = parsed.documents.into_iter().map(|document| document.node).collect();
    let mut paths = Vec::new();
    for (number, root) in roots.iter().enumerate() {
        mappings(root, &mut vec![number], &mut paths);
    }
    for path in paths.iter().take(50) {
        let Some(mapping) = node_at(&roots, path) else { continue };
        if let Some(fix) = fix::add(mapping, &[], &[&format!("{NEW}: x")], Safety::Safe) {
            check(&file, &fix, path, mapping.entries().len() + 1, Some("x"));
        }
        let Some(first) = mapping.entries().first() else { continue };
        if let Some(fix) = fix::remove(mapping, &first.key, Safety::Safe) {
            check(&file, &fix, path, mapping.entries().len() - 1, None);
        }
    }
}

/// Applies all fixes to a repository: each changed file parses as well as before, and there are fewer findings.
pub(crate) fn fix_all(data: &[u8]) {
    let Some(tree) = tree(data) else { return };
    let fixed = fix_findings(&tree, &options(), Safety::Unsafe, |_| false);
    for (path, text) in &fixed.texts {
        let faults = |file: &File| parse(file).findings.len();
        let before = tree.file(path).expect("a fix changes a file of the repository");
        assert!(faults(&File::new(path.as_str(), text.as_str())) <= faults(&before), "{path}:\n{text}");
        assert_eq!(fixed.tree.file(path).expect("the file is still there").text(), text);
    }
    let is_changed = fixed.fixed.values().any(|count| *count > 0);
    assert_eq!(is_changed, !fixed.texts.is_empty(), "{:?}", fixed.fixed);
    if is_changed {
        let findings = |tree| run(tree, &Options { is_ungrouped: true, ..options() }).findings;
        let (before, after) = (findings(&tree), findings(&fixed.tree));
        assert!(after.len() < before.len(), "{after:#?}\nwere\n{before:#?}");
    }
}

/// Checks the file after an edit of the mapping at a path.
fn check(file: &File, fix: &Fix, path: &[usize], entries: usize, new: Option<&str>) {
    let text = apply(file.text(), &fix.edits).expect("the edits of a fix do not overlap");
    check_other_bytes(file.text().as_bytes(), text.as_bytes());
    let parsed = parse(&File::new("fuzz.yaml", text.as_str()));
    assert!(parsed.findings.is_empty(), "{:?}\nin\n{text}\nwas\n{}", parsed.findings, file.text());
    let roots: Vec<Node> = parsed.documents.into_iter().map(|document| document.node).collect();
    let mapping = node_at(&roots, path).expect("the mapping is still there");
    assert_eq!(mapping.entries().len(), entries, "{text}\nwas\n{}", file.text());
    assert_eq!(mapping.get(NEW).and_then(Node::text), new, "{text}\nwas\n{}", file.text());
}

/// Checks that the longer text is the shorter one with bytes at one place.
fn check_other_bytes(before: &[u8], after: &[u8]) {
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    let kept = start + end >= before.len().min(after.len());
    assert!(kept, "{}\nwas\n{}", String::from_utf8_lossy(after), String::from_utf8_lossy(before));
}

/// Collects the paths of the mappings below a node.
fn mappings(node: &Node, path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if !node.entries().is_empty() {
        found.push(path.clone());
    }
    let below = node.entries().iter().map(|entry| &entry.node).chain(node.items());
    for (number, child) in below.enumerate() {
        path.push(number);
        mappings(child, path, found);
        path.pop();
    }
}

/// The node at a path. A new field is not counted, since the path is the one before the edit.
fn node_at<'a>(roots: &'a [Node], path: &[usize]) -> Option<&'a Node> {
    let (document, rest) = path.split_first()?;
    rest.iter().try_fold(roots.get(*document)?, |node, number| {
        let known = node.entries().iter().filter(|entry| &*entry.key != NEW).map(|entry| &entry.node);
        known.chain(node.items()).nth(*number)
    })
}
