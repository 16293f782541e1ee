//! `replacements`: values that are copied from one object into fields of other objects.

use std::sync::Arc;

use super::replacement_source::{CandidateIndex, ReplacementError, SourceValue, delimiter, find_source, invalid};
use crate::base::finding::Finding;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::kustomization_fields::REPLACEMENT;
use crate::kustomize::file::typed::Decoder;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::objects::selector::Selector;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::field_change::{Change, Shape};
use crate::kustomize::text::field_path::split;
use crate::kustomize::text::retype::{Retyped, retype};
use crate::kustomize::text::{size_limits, structured};
use crate::text::Span;
use crate::yaml::{ChangedBy, Node, Origin, Value, ValueChange};

/// Applies the entries of `replacements` in order. An entry with a path is replaced by the entries of the file.
pub(crate) fn apply(files: &Files, folder: &str, entries: &[Node], accumulator: &mut Accumulator) {
    let mut all = Vec::new();
    for entry in entries {
        match entry.get("path").filter(|path| path.text().is_some_and(|text| !text.is_empty())) {
            None => all.push(entry.clone()),
            Some(path) if entry.get("source").is_some() || entry.get("targets").is_some() => {
                let message = "a replacement has both `path` and `source` or `targets`";
                accumulator.fail(
                    Finding::error(FAILED_BUILD, path.span().clone(), message).help("keep `path` or the other fields"),
                );
            }
            Some(path) => all.extend(read_file(files, folder, path, accumulator)),
        }
    }
    if all.is_empty() {
        return;
    }
    let mut candidate_index = CandidateIndex::new(&accumulator.resources);
    for replacement in &all {
        if accumulator.is_too_large {
            return;
        }
        if let Err(error) = apply_one(replacement, &mut candidate_index, accumulator) {
            match error {
                // An unsupported feature may create the object or field.
                ReplacementError::NotFound(_) if accumulator.is_incomplete => {}
                ReplacementError::NotFound(finding) | ReplacementError::Invalid(finding) => accumulator.fail(*finding),
            }
        }
    }
}

fn read_file(files: &Files, folder: &str, path: &Node, accumulator: &mut Accumulator) -> Vec<Node> {
    let text = path.text().unwrap_or_default();
    let parsed = match files.read_named(folder, path) {
        Ok(parsed) => parsed,
        Err(finding) => {
            accumulator.fail(finding);
            return Vec::new();
        }
    };
    parsed.findings.iter().cloned().for_each(|finding| accumulator.fail(finding));
    let mut decoder = Decoder::lenient();
    let mut read_one = |node: &Node| if node.is_map() { decoder.mapping(node, REPLACEMENT, "") } else { node.clone() };
    let read: Option<Vec<Node>> = match parsed.documents.first().map(|document| &document.node) {
        Some(node) if node.is_seq() => Some(node.items().iter().map(&mut read_one).collect()),
        Some(node) if node.is_map() => Some(vec![read_one(node)]),
        _ => None,
    };
    decoder.findings.into_iter().for_each(|finding| accumulator.fail(finding));
    read.unwrap_or_else(|| {
        let message = format!("`{text}` is neither a replacement nor a list of replacements");
        accumulator.fail(Finding::error(FAILED_BUILD, path.span().clone(), message));
        Vec::new()
    })
}

fn apply_one(
    replacement: &Node,
    candidate_index: &mut CandidateIndex,
    accumulator: &mut Accumulator,
) -> Result<(), ReplacementError> {
    let field_value = |field: &str| replacement.get(field).filter(|node| !node.is_null());
    let (source, fixed) = (field_value("source"), field_value("sourceValue"));
    let targets = field_value("targets").filter(|targets| !targets.items().is_empty());
    let (Some(used), Some(targets)) = (source.or(fixed), targets) else {
        return Err(invalid(replacement.span(), "a replacement requires `source` or `sourceValue`, and `targets`"));
    };
    let source_value = match (source, fixed) {
        (Some(_), Some(fixed)) => {
            return Err(invalid(fixed.span(), "a replacement has both `source` and `sourceValue`"));
        }
        (None, Some(fixed)) => SourceValue { value: fixed.clone(), source: fixed.span().clone() },
        _ => find_source(used, candidate_index, &accumulator.resources)?,
    };
    targets.items().iter().try_for_each(|target| write_to(target, &source_value, candidate_index, accumulator))
}

/// The fields of a target, and the value to write.
struct TargetFields<'a> {
    source_value: &'a SourceValue,
    delimiter: Option<(&'a str, i64)>,
    create: bool,
    /// The field paths and their positions.
    paths: Vec<(Vec<String>, Span)>,
}

fn write_to(
    target: &Node,
    source_value: &SourceValue,
    candidate_index: &mut CandidateIndex,
    accumulator: &mut Accumulator,
) -> Result<(), ReplacementError> {
    let Some(select) = target.get("select").filter(|select| !select.is_null()) else {
        return Err(invalid(target.span(), "a target of a replacement requires `select`"));
    };
    let selector = Selector::read(select)?;
    let rejects = target.get("reject").map_or(&[][..], Node::items).iter().filter(|node| !node.is_null());
    let rejects = rejects.map(Selector::read).collect::<Result<Vec<_>, _>>()?;
    let options = target.get("options").filter(|options| !options.is_null());
    let written = target.get("fieldPaths").map_or(&[][..], Node::items);
    let mut paths: Vec<_> =
        written.iter().filter_map(|path| Some((split(path.text()?), path.span().clone()))).collect();
    if paths.is_empty() {
        paths.push((split("metadata.name"), select.span().clone()));
    }
    let create = options.and_then(|options| options.get("create")).and_then(Node::text) == Some("true");
    let fields = TargetFields { source_value, delimiter: delimiter(options)?, create, paths };
    let candidates = candidate_index.candidates(selector.literal_name(), selector.literal_kind()).to_vec();
    for position in candidates {
        let Some(resource) = accumulator.resources.list.get_mut(position).filter(|one| !one.node.is_null()) else {
            continue;
        };
        if !selects(&selector, &rejects, resource) {
            continue;
        }
        let changed = fields.apply(resource)?;
        let (before, after) = (resource.node.weight(), changed.weight());
        let copies = changed.unshared(&resource.node);
        let id = resource.id.clone();
        resource.replace(changed);
        if resource.id != id {
            candidate_index.add(position, resource);
        }
        let steps = before.max(after) / BYTES_OF_STEP * fields.paths.len();
        if !accumulator.take_steps(steps, target.span())
            || !accumulator.take_bytes(after.saturating_sub(before), target.span())
            || !accumulator.take_copies(copies, target.span())
        {
            return Ok(());
        }
    }
    let steps = std::iter::once(&selector).chain(&rejects).map(Selector::take_steps).sum();
    accumulator.take_steps(steps, target.span());
    Ok(())
}

/// The number of bytes of an object that take as much time as the visit of a value. A field may contain YAML or JSON,
/// which is parsed.
const BYTES_OF_STEP: usize = 32;

fn selects(selector: &Selector, rejects: &[Selector], resource: &Resource) -> bool {
    let namespace = resource.node.at_keys(&["metadata", "namespace"]).and_then(Node::text).unwrap_or_default();
    // The current namespace is compared as written, former namespaces as kustomize stores them.
    let any = |target: &Selector| {
        target.selects_id(&resource.id, namespace)
            || resource.previous_ids().any(|id| target.selects_id(&id, &id.namespace))
    };
    let rejected = |reject: &Selector| {
        (reject.has_metadata() && reject.selects_metadata(&resource.node)) || (reject.has_id() && any(reject))
    };
    selector.selects_metadata(&resource.node) && !rejects.iter().any(rejected) && any(selector)
}

impl TargetFields<'_> {
    fn apply(&self, resource: &Resource) -> Result<Node, ReplacementError> {
        let mut node = resource.node.clone();
        for (path, span) in &self.paths {
            let value = &self.source_value.value;
            if let Some(written) = structured::write(&node, path, value, self.create, span) {
                node = written;
                continue;
            }
            let set = |old: &Node, is_new: bool| self.set(old, is_new, span);
            let create = self.create.then(|| Shape::of(value));
            let change = Change { create, span, set: &set };
            let shown = path.join(".");
            let error = |message: String| {
                let finding = Finding::error(FAILED_BUILD, span.clone(), message)
                    .related(resource.node.span().clone(), "this object");
                ReplacementError::NotFound(Box::new(finding))
            };
            let object = format!("{} `{}`", resource.id.kind, resource.id.name);
            match change.apply(&node, path) {
                Ok(Some(changed)) => {
                    let refused = |message| error(format!("`{shown}` cannot be replaced in {object}: {message}"));
                    size_limits::check_object_size(&changed, value).map_err(refused)?;
                    node = changed;
                }
                Ok(None) => return Err(error(format!("{object} has no field `{shown}`"))),
                Err(message) => return Err(error(format!("`{shown}` cannot be replaced in {object}: {message}"))),
            }
        }
        Ok(node)
    }

    fn set(&self, old: &Node, is_new: bool, span: &Span) -> Result<Node, String> {
        let value = &self.source_value.value;
        let new = match (old.text(), self.delimiter) {
            (None, Some(_)) => return Err("`delimiter` requires a scalar".into()),
            (None, None) => value.value.clone(),
            (Some(before), delimiter) => {
                let text = match delimiter {
                    Some((delimiter, index)) => {
                        replace_part(before, delimiter, index, value.text().unwrap_or_default())
                    }
                    None => value.text().unwrap_or_default().to_string(),
                };
                size_limits::check_text_size(&text)?;
                match retype(old, &text, is_new) {
                    Retyped::Compatible(style) => Value::Scalar(text.into(), style),
                    Retyped::Incompatible(tag) => {
                        return Err(format!("`{text}` does not have the type `{tag}` of the field"));
                    }
                }
            }
        };
        let via = |by: &Span, was: Origin| {
            Origin::Via(Arc::new(ValueChange::new(ChangedBy::Field(by.clone()), Some(was), Box::default())))
        };
        // The origin of the source is between the former value and the replacement.
        Ok(Node { value: new, origin: via(span, via(&self.source_value.source, old.origin.clone())) })
    }
}

/// Replaces a part of a text, or adds a part at the start or the end.
fn replace_part(text: &str, delimiter: &str, index: i64, value: &str) -> String {
    let mut parts: Vec<&str> = text.split(delimiter).collect();
    match usize::try_from(index) {
        Err(_) => parts.insert(0, value),
        Ok(index) => match parts.get_mut(index) {
            Some(part) => *part = value,
            None => parts.push(value),
        },
    }
    parts.join(delimiter)
}

#[cfg(test)]
mod tests {
    use crate::kustomize::build;
    use crate::text::File;
    use crate::text::Tree;
    use crate::yaml::Origin;

    #[test]
    fn a_replaced_value_keeps_the_replacement_the_source_and_the_old_value_as_origin() {
        let replacement = "resources: [a.yaml]\nreplacements:\n  - source: {name: a, fieldPath: data.from}\n    targets:\n      - select: {name: a}\n        fieldPaths: [data.to]\n";
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  from: new\n  to: old\n";
        let tree: Tree =
            [File::new("kustomization.yaml", replacement), File::new("a.yaml", object)].into_iter().collect();
        let build = build(&tree, "");
        assert!(build.findings.is_empty(), "{:?}", build.findings);
        let value = build.objects[0].node.at_keys(&["data", "to"]).unwrap();
        let mut candidate_index = Vec::new();
        let mut origin = Some(&value.origin);
        while let Some(now) = origin {
            candidate_index.push(now.span().text().to_string());
            origin = match now {
                Origin::Via(step) => step.previous.as_ref(),
                Origin::At(_) => None,
            };
        }
        assert_eq!((value.text(), candidate_index), (Some("new"), vec!["data.to".into(), "new".into(), "old".into()]));
    }
}
