//! `vars`: values of fields that are written where `$(NAME)` stands.

use std::collections::BTreeMap;

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{Make, Misfit, each_item};
use crate::kustomize::fieldspec::transformer_config::{Configuration, Topic};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::objects::resources::{Id, Resource, Resources};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::{Partial, Variable};
use crate::kustomize::text::field_path::{look_up, split};
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Name, Node, Reader, Scalar, Style, Value};

/// Reads `vars` and notes on the objects which variables are read from them, while they have their names.
pub(crate) fn collect(definition: &Definition, partial: &mut Partial) {
    let items = definition.items("vars");
    if items.is_empty() {
        return;
    }
    let positions = partial.resources.index();
    for item in items {
        let text = |keys: &[&str]| item.at_keys(keys).filter(|node| !node.is_null()).and_then(Node::text);
        let name = item.get("name").and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        let wanted = Wanted::read(item);
        let is_meant = |at: &&usize| partial.resources.list.get(**at).is_some_and(|one| wanted.matches(one));
        let found: Vec<usize> = positions.with_name(&wanted.id.name).iter().filter(is_meant).copied().collect();
        let place = item.get("name").unwrap_or(item).span().clone();
        match *found {
            [] => {}
            [at] => partial.resources.list[at].variables.push(name.clone()),
            _ => {
                let message = format!("the variable `{name}` could be read from {} objects", found.len());
                let help = "say `namespace` in its `objref`";
                partial.fail(Finding::error(FAILED_BUILD, place.clone(), message).help(help));
            }
        }
        let path = text(&["fieldref", "fieldPath"]).or_else(|| text(&["fieldref", "fieldpath"]));
        let path = path.filter(|path| !path.is_empty()).unwrap_or("metadata.name").to_string();
        partial.declare_variable(&name, Variable { path, place });
    }
}

/// The object that a variable is read from.
struct Wanted {
    id: Id,
    /// Whether the namespace matters.
    namespaced: bool,
}

impl Wanted {
    fn read(item: &Node) -> Self {
        let text = |key: &str| item.at_keys(&["objref", key]).and_then(Node::shared_text).unwrap_or_else(|| "".into());
        let (mut group, mut version) = (text("group"), text("version"));
        let api_version = text("apiVersion");
        let pieces: Vec<&str> = api_version.split('/').collect();
        match *pieces {
            [one] if !one.is_empty() => version = one.into(),
            [one, two] => (group, version) = (one.into(), two.into()),
            _ => {}
        }
        let namespace = text("namespace");
        let id = Id { group, version, kind: text("kind"), namespace: namespace.clone(), name: text("name") };
        Self { id, namespaced: !namespace.is_empty() }
    }

    fn matches(&self, resource: &Resource) -> bool {
        let same = |id: Id| {
            id.name == self.id.name
                && id.kind == self.id.kind
                && id.group == self.id.group
                && id.version == self.id.version
                && (!self.namespaced || id.namespace == self.id.namespace)
        };
        !resource.is_gone() && (resource.previous().any(same) || same(resource.id.clone()))
    }
}

/// Writes the values of all variables into the fields that may have them.
pub(crate) fn resolve(resources: &mut Resources, partial: &Partial, findings: &mut Vec<Finding>) {
    if partial.variables.is_empty() {
        return;
    }
    let values = values(resources, partial, findings);
    if values.is_empty() {
        return;
    }
    for resource in &mut resources.list {
        match replace(resource, &partial.configuration, &values) {
            Ok(node) => resource.replace(node),
            Err(Misfit { span, message }) => findings.push(Finding::error(FAILED_BUILD, span, message)),
        }
    }
}

/// A value and the place to name for it.
struct Known {
    /// `None` for a collection, which cannot be written into a text.
    value: Option<(Name, Style)>,
    place: Span,
}

fn values(resources: &Resources, partial: &Partial, findings: &mut Vec<Finding>) -> BTreeMap<Name, Known> {
    let mut sources: BTreeMap<&Name, &Resource> = BTreeMap::new();
    for resource in &resources.list {
        for name in &resource.variables {
            sources.entry(name).or_insert(resource);
        }
    }
    let mut values = BTreeMap::new();
    for (name, variable) in &partial.variables {
        let place = &variable.place;
        let mut wrong = |message: String, help: &str| {
            // The object may be made by something that was not done.
            if !partial.uncertain {
                findings.push(Finding::error(FAILED_BUILD, place.clone(), message).help(help));
            }
        };
        let Some(source) = sources.get(name) else {
            wrong(format!("the variable `{name}` names no object of this build"), "correct its `objref`");
            continue;
        };
        let Ok(Some(node)) = look_up(&source.node, &indexed(&variable.path)) else {
            let kind = &source.id.kind;
            wrong(format!("{kind} `{}` has no field `{}`", source.id.name, variable.path), "correct its `fieldref`");
            continue;
        };
        values.insert(name.clone(), Known { value: typed(node), place: place.clone() });
    }
    values
}

/// The segments of a path; `ports[0]` is `ports` and its first item.
fn indexed(path: &str) -> Vec<String> {
    let pieces =
        split(path).into_iter().flat_map(|segment| match segment.strip_suffix(']').and_then(|s| s.split_once('[')) {
            Some((field, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
                [field, index].into_iter().filter(|piece| !piece.is_empty()).map(str::to_string).collect()
            }
            _ => vec![segment],
        });
    pieces.collect()
}

/// The text of a value and the style that keeps its type.
fn typed(node: &Node) -> Option<(Name, Style)> {
    let text = node.shared_text()?;
    let style = match node.resolve(Reader::Kustomize)? {
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) => Style::Plain,
        Scalar::String(_) | Scalar::Null => Style::Double,
    };
    Some((text, style))
}

fn replace(resource: &Resource, configuration: &Configuration, values: &BTreeMap<Name, Known>) -> Result<Node, Misfit> {
    let mut node = resource.node.clone();
    for spec in configuration.specs(Topic::VarReference).iter().filter(|spec| spec.matches(&resource.id)) {
        let mut change = |node: Option<&Node>| node.map_or(Ok(None), |node| written(node, values));
        node = spec.apply(&node, Make::Nothing, &mut change)?.unwrap_or(node);
    }
    Ok(node)
}

fn written(node: &Node, values: &BTreeMap<Name, Known>) -> Result<Option<Node>, Misfit> {
    match &node.value {
        _ if node.is_null() => Ok(None),
        Value::Scalar(..) => Ok(write_text(node, values)),
        Value::Map(entries) => {
            let changed: Vec<Option<Node>> = entries.iter().map(|entry| write_text(&entry.node, values)).collect();
            if changed.iter().all(Option::is_none) {
                return Ok(None);
            }
            let entry =
                |(entry, new): (&Entry, Option<Node>)| new.map_or_else(|| entry.clone(), |new| entry.with_node(new));
            let entries = entries.iter().zip(changed).map(entry).collect();
            Ok(Some(Node { value: Value::Map(entries), origin: node.origin.clone() }))
        }
        Value::Seq(items) => each_item(node, items, |item| {
            if !matches!(item.resolve(Reader::Kustomize), Some(Scalar::String(_))) {
                let message = "variables can be written into strings only, and this is none".to_string();
                return Err(Misfit { span: item.span().clone(), message });
            }
            Ok(write_text(item, values))
        }),
    }
}

/// The text with the values of its variables; a variable alone gives its type too.
fn write_text(node: &Node, values: &BTreeMap<Name, Known>) -> Option<Node> {
    let Some(Scalar::String(text)) = node.resolve(Reader::Kustomize) else { return None };
    if !text.contains('$') {
        return None;
    }
    let alone = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).filter(|name| !name.contains(')'));
    if let Some(known) = alone.and_then(|name| values.get(name)) {
        let (text, style) = known.value.clone()?;
        return Some(node.changed(Value::Scalar(text, style), ChangedBy::Field(known.place.clone())));
    }
    let (new, place) = expand(text, values);
    if new == text {
        return None;
    }
    let by = ChangedBy::Field(place.unwrap_or_else(|| node.span().clone()));
    Some(node.changed(Value::Scalar(new.into(), Style::Double), by))
}

/// Replaces `$(NAME)`; `$$` is a dollar sign, and everything else stays. Gives the place of the last variable too.
fn expand(text: &str, values: &BTreeMap<Name, Known>) -> (String, Option<Span>) {
    let mut out = String::with_capacity(text.len());
    let mut place = None;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let variable = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        rest = match variable {
            _ if after.starts_with('$') => {
                out.push('$');
                after.strip_prefix('$').unwrap_or(after)
            }
            Some((name, rest)) => {
                if let Some((known, (value, _))) =
                    values.get(name).and_then(|known| Some((known, known.value.as_ref()?)))
                {
                    out.push_str(value);
                    place = Some(known.place.clone());
                } else {
                    out.push_str("$(");
                    out.push_str(name);
                    out.push(')');
                }
                rest
            }
            None => {
                out.push('$');
                after
            }
        };
    }
    out.push_str(rest);
    (out, place)
}
