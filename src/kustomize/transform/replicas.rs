//! `replicas`: the replica count of workloads.

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec};
use crate::kustomize::objects::resources::ResourceId;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::string_value::new_value;
use crate::yaml::{ChangedBy, Entry, Node, Reader, Scalar, Style, Value};

/// Sets the replica counts of objects; an entry without a match is an error.
pub(crate) fn apply(entries: &[Node], specs: &[FieldSpec], accumulator: &mut Accumulator) {
    if entries.is_empty() {
        return;
    }
    let positions = accumulator.resources.index();
    for entry in entries {
        let (name, count) = match read(entry) {
            Ok(read) => read,
            Err(finding) => {
                accumulator.fail(finding);
                continue;
            }
        };
        let named = positions.with_name(name).iter().filter_map(|position| accumulator.resources.list.get(*position));
        let steps = named.map(|resource| resource.node.size().saturating_mul(1 + specs.len())).sum();
        if !accumulator.take_steps(steps, entry.span()) {
            return;
        }
        let mut found = false;
        let mut errors = Vec::new();
        for position in positions.with_name(name) {
            let Some(resource) = accumulator.resources.list.get_mut(*position).filter(|one| !one.node.is_null()) else {
                continue;
            };
            for spec in specs {
                let is_match = |id: ResourceId| &*id.name == name && spec.matches(&id);
                if !resource.previous_ids().any(is_match) && !is_match(resource.id.clone()) {
                    continue;
                }
                found = true;
                if !spec.matches(&resource.id) {
                    continue;
                }
                let mut change = |old: Option<&Node>| set(old, &count);
                let key = entry.entry("count").map_or_else(|| count.span().clone(), Entry::key_span);
                match spec.apply(&resource.node, CreateKind::Scalar(&key), &mut change) {
                    Ok(changed) => resource.node = changed.unwrap_or_else(|| resource.node.clone()),
                    Err(error) => errors.push(error),
                }
            }
        }
        for error in errors {
            accumulator.fail(Finding::error(FAILED_BUILD, error.span, error.message));
        }
        if !found && !accumulator.is_incomplete {
            let finding = unmatched(entry, name, specs, accumulator);
            accumulator.fail(finding);
        }
    }
}

fn unmatched(entry: &Node, name: &str, specs: &[FieldSpec], accumulator: &Accumulator) -> Finding {
    let mut kinds: Vec<&str> = specs.iter().map(|spec| &*spec.gvk.kind).filter(|kind| !kind.is_empty()).collect();
    kinds.dedup();
    let message = format!("no object `{name}` of a kind with replicas exists; the kinds are {}", kinds.join(", "));
    let candidates =
        accumulator.resources.list.iter().filter(|resource| specs.iter().any(|spec| spec.matches(&resource.id)));
    let help = match did_you_mean(name, candidates.map(|resource| &*resource.id.name)) {
        Some(suggestion) => format!("did you mean `{suggestion}`? kustomize rejects the entry"),
        None => "correct the name, or remove the entry; kustomize rejects it".to_string(),
    };
    Finding::error(FAILED_BUILD, entry.get("name").unwrap_or(entry).span().clone(), message).help(help)
}

/// The name and the count of an entry.
fn read(entry: &Node) -> Result<(&str, Node), Finding> {
    let error = |node: &Node, message: &str| Finding::error(FAILED_BUILD, node.span().clone(), message);
    let name = match entry.get("name").map(|name| (name, name.resolve(Reader::Kubernetes))) {
        None | Some((_, Some(Scalar::Null))) => "",
        Some((_, Some(Scalar::String(text)))) => text,
        Some((name, _)) => return Err(error(name, "`name` must be a string").help("put the value in quotes")),
    };
    let count = match entry.get("count").map(|count| (count, count.resolve(Reader::Kubernetes))) {
        None | Some((_, Some(Scalar::Null))) => Node::scalar("0", Style::Plain, entry.span().clone()),
        Some((count, Some(Scalar::Int(number)))) => {
            Node { value: Value::Scalar(number.to_string().into(), Style::Plain), origin: count.origin.clone() }
        }
        Some((count, _)) => return Err(error(count, "`count` must be an integer")),
    };
    Ok((name, count))
}

fn set(old: Option<&Node>, count: &Node) -> Result<Option<Node>, FieldError> {
    let by = ChangedBy::Field(count.span().clone());
    match old {
        None => Ok(Some(new_value(count.value.clone(), by))),
        Some(Node { value: Value::Scalar(_, Style::Plain), .. }) => {
            Ok(old.filter(|old| *old != count).map(|old| old.changed(count.value.clone(), by)))
        }
        // A quoted count stays quoted, so it stays a string.
        Some(old @ Node { value: Value::Scalar(text, style), .. }) => {
            let new = count.shared_text().unwrap_or_else(|| text.clone());
            Ok((new != *text).then(|| old.changed(Value::Scalar(new, *style), by)))
        }
        Some(old) => Err(FieldError { span: old.span().clone(), message: "a replica count must be a scalar".into() }),
    }
}
