//! `ValueAddTransformer`: a value in fields, or in paths that fields contain.

use super::namespace::{self, Options, Subjects};
use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::split_path;
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::resources::{Resource, Resources};
use crate::kustomize::objects::selector::Selector;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::field_change::{Change, Shape};
use crate::yaml::{ChangedBy, Node, Reader, Scalar, Style, Value};

const NAMESPACE: &str = "metadata/namespace";

/// Applies the targets of a transformer and the targets in its target file.
pub(crate) fn apply(files: &Files, folder: &str, transformer: &Node, accumulator: &mut Accumulator) {
    let value = value_of(files, folder, transformer);
    let mut targets = transformer.get("targets").map_or(&[][..], Node::items).to_vec();
    if let Some(path) =
        transformer.get("targetFilePath").filter(|path| path.text().is_some_and(|text| !text.is_empty()))
    {
        match files.locate(folder, path) {
            Ok(found) => {
                let parsed = files.get(&found);
                let root = parsed.as_ref().and_then(|parsed| parsed.documents.first()).map(|document| &document.node);
                let more = root.and_then(|root| root.get("targets")).map_or(&[][..], Node::items);
                targets.extend(more.iter().cloned());
            }
            Err(finding) => accumulator.fail(finding),
        }
    }
    if targets.is_empty() {
        let message = "a ValueAddTransformer requires `targets`";
        accumulator.fail(Finding::error(FAILED_BUILD, transformer.span().clone(), message));
    }
    for target in targets {
        let grown = value.text().unwrap_or_default().len() * accumulator.resources.list.len();
        if !accumulator.take_visit(1, target.span()) || !accumulator.take_bytes(grown, target.span()) {
            return;
        }
        if let Err(finding) = apply_one(&value, &target, &mut accumulator.resources) {
            accumulator.fail(finding);
        }
    }
}

/// The value of a transformer; the default is the name of the kustomization's directory.
fn value_of(files: &Files, folder: &str, transformer: &Node) -> Node {
    let written = transformer.get("value").filter(|value| !value.is_null());
    let trimmed = written.and_then(Node::text).map(str::trim).filter(|text| !text.is_empty());
    let source = written.unwrap_or(transformer);
    let folder_name = files.tree().display_path(folder);
    let text = trimmed.unwrap_or_else(|| folder_name.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
    Node { value: Value::Scalar(text.into(), Style::Plain), origin: source.origin.clone() }
}

fn apply_one(value: &Node, target: &Node, resources: &mut Resources) -> Result<(), Finding> {
    let error = |node: &Node, message: String| Finding::error(FAILED_BUILD, node.span().clone(), message);
    let path = target.get("fieldPath").filter(|path| path.text().is_some_and(|text| !text.is_empty()));
    let path = path.ok_or_else(|| error(target, "this target has no `fieldPath`".into()))?;
    let position = match target.get("filePathPosition").map(|node| (node, node.resolve(Reader::Kubernetes))) {
        None | Some((_, Some(Scalar::Null))) => 0,
        Some((node, Some(Scalar::Int(position)))) => {
            usize::try_from(position).map_err(|_| error(node, "`filePathPosition` must not be negative".into()))?
        }
        Some((node, _)) => return Err(error(node, "`filePathPosition` must be an integer".into())),
    };
    let selector = target.get("selector").filter(|selector| !selector.is_null()).map(Selector::read).transpose();
    let selector = selector.map_err(|unreadable| error(&unreadable.node, unreadable.message))?;
    let selected = match selector {
        Some(selector) => selector.select(resources, &resources.index()),
        None => (0..resources.list.len()).collect(),
    };
    for index in selected {
        let Some(resource) = resources.list.get_mut(index) else { continue };
        let node = add(value, path, position, resource).map_err(|message| {
            let message =
                format!("the value cannot be added to {} `{}`: {message}", resource.id.kind, resource.id.name);
            error(path, message).related(resource.node.span().clone(), "this object")
        })?;
        resource.replace(node);
    }
    Ok(())
}

fn add(value: &Node, path: &Node, position: usize, resource: &Resource) -> Result<Node, String> {
    let text = path.text().unwrap_or_default();
    if text == NAMESPACE {
        let mut single = Resources::default();
        single.list.push(resource.clone());
        let options = Options { unset_only: false, subjects: Subjects::None };
        namespace::apply(&mut single, path.span(), value, &[], options).map_err(|error| error.message)?;
        return single.list.pop().map(|resource| resource.node).ok_or_else(String::new);
    }
    let set = |old: &Node, _: bool| {
        let Some(before) = old.text() else { return Err("the field is not a scalar".to_string()) };
        let added = value.text().unwrap_or_default();
        let new = if position == 0 { added.to_string() } else { insert_segment(before, position - 1, added) };
        let style = match old.value {
            Value::Scalar(_, style) => style,
            Value::Seq(_) | Value::Map(_) => Style::Plain,
        };
        Ok(old.changed(Value::Scalar(new.into(), style), ChangedBy::Field(value.span().clone())))
    };
    let change = Change { create: Some(Shape::Scalar), span: path.span(), set: &set };
    change.apply(&resource.node, &split_path(text, '/'))?.ok_or_else(|| format!("the field `{text}` does not exist"))
}

/// Inserts a segment into a path. Positions count from the first segment, with or without a leading slash.
fn insert_segment(path: &str, position: usize, part: &str) -> String {
    if part.is_empty() {
        return path.to_string();
    }
    let (root, rest) = path.strip_prefix('/').map_or(("", path), |rest| ("/", rest));
    let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::insert_segment;

    #[test]
    fn a_segment_is_inserted_at_its_position_and_an_absolute_path_stays_absolute() {
        let cases = [("", 0, "P"), ("/", 3, "/P"), ("a/b", 0, "P/a/b"), ("/a/b", 1, "/a/P/b"), ("a/b", 9, "a/b/P")];
        for (path, position, expected) in cases {
            assert_eq!(insert_segment(path, position, "P"), expected);
        }
    }
}
