//! `replicas`: how many pods a workload has.

use crate::base::finding::{Finding, did_you_mean};
use crate::kustomize::fieldspec::field_spec::{FieldSpec, Make, Misfit};
use crate::kustomize::objects::resources::Id;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Partial;
use crate::kustomize::text::string_value::made;
use crate::yaml::{ChangedBy, Entry, Node, Reader, Scalar, Style, Value};

/// Sets the counts of an entry's objects; an entry that names none is a fault.
pub(crate) fn apply(entries: &[Node], specs: &[FieldSpec], partial: &mut Partial) {
    if entries.is_empty() {
        return;
    }
    let positions = partial.resources.index();
    for entry in entries {
        let (name, count) = match read(entry) {
            Ok(read) => read,
            Err(finding) => {
                partial.fail(finding);
                continue;
            }
        };
        let mut found = false;
        let mut misfits = Vec::new();
        for position in positions.with_name(name) {
            let Some(resource) = partial.resources.list.get_mut(*position).filter(|one| !one.node.is_null()) else {
                continue;
            };
            for spec in specs {
                let is_meant = |id: Id| &*id.name == name && spec.matches(&id);
                if !resource.previous().any(is_meant) && !is_meant(resource.id.clone()) {
                    continue;
                }
                found = true;
                if !spec.matches(&resource.id) {
                    continue;
                }
                let mut change = |old: Option<&Node>| set(old, &count);
                let key = entry.entry("count").map_or_else(|| count.span().clone(), Entry::key_span);
                match spec.apply(&resource.node, Make::Scalar(&key), &mut change) {
                    Ok(changed) => resource.node = changed.unwrap_or_else(|| resource.node.clone()),
                    Err(misfit) => misfits.push(misfit),
                }
            }
        }
        for misfit in misfits {
            partial.fail(Finding::error(FAILED_BUILD, misfit.span, misfit.message));
        }
        if !found && !partial.uncertain {
            let finding = unmatched(entry, name, specs, partial);
            partial.fail(finding);
        }
    }
}

fn unmatched(entry: &Node, name: &str, specs: &[FieldSpec], partial: &Partial) -> Finding {
    let mut kinds: Vec<&str> = specs.iter().map(|spec| &*spec.gvk.kind).filter(|kind| !kind.is_empty()).collect();
    kinds.dedup();
    let message = format!("no object called `{name}` has replicas: none of {}", kinds.join(", "));
    let scaled = partial.resources.list.iter().filter(|resource| specs.iter().any(|spec| spec.matches(&resource.id)));
    let help = match did_you_mean(name, scaled.map(|resource| &*resource.id.name)) {
        Some(meant) => format!("did you mean `{meant}`? kustomize refuses the entry"),
        None => "correct the name or remove the entry: kustomize refuses it".to_string(),
    };
    Finding::error(FAILED_BUILD, entry.get("name").unwrap_or(entry).span().clone(), message).help(help)
}

/// The name and the count of an entry.
fn read(entry: &Node) -> Result<(&str, Node), Finding> {
    let wrong = |node: &Node, message: &str| Finding::error(FAILED_BUILD, node.span().clone(), message);
    let name = match entry.get("name").map(|name| (name, name.resolve(Reader::Kubernetes))) {
        None | Some((_, Some(Scalar::Null))) => "",
        Some((_, Some(Scalar::String(text)))) => text,
        Some((name, _)) => return Err(wrong(name, "`name` must be a string").help("put it into quotes")),
    };
    let count = match entry.get("count").map(|count| (count, count.resolve(Reader::Kubernetes))) {
        None | Some((_, Some(Scalar::Null))) => Node::scalar("0", Style::Plain, entry.span().clone()),
        Some((count, Some(Scalar::Int(number)))) => {
            Node { value: Value::Scalar(number.to_string().into(), Style::Plain), origin: count.origin.clone() }
        }
        Some((count, _)) => return Err(wrong(count, "`count` must be a whole number")),
    };
    Ok((name, count))
}

fn set(old: Option<&Node>, count: &Node) -> Result<Option<Node>, Misfit> {
    let by = ChangedBy::Field(count.span().clone());
    match old {
        None => Ok(Some(made(count.value.clone(), by))),
        Some(Node { value: Value::Scalar(_, Style::Plain), .. }) => {
            Ok(old.filter(|old| *old != count).map(|old| old.changed(count.value.clone(), by)))
        }
        // A count in quotes stays in quotes, and so a string.
        Some(old @ Node { value: Value::Scalar(text, style), .. }) => {
            let new = count.shared_text().unwrap_or_else(|| text.clone());
            Ok((new != *text).then(|| old.changed(Value::Scalar(new, *style), by)))
        }
        Some(old) => Err(Misfit { span: old.span().clone(), message: "a count is a single value".into() }),
    }
}
