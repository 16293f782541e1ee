//! `vars`: substitution of `$(NAME)` with the values of fields.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::base::finding::{Finding, Severity};
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, each_item};
use crate::kustomize::fieldspec::transformer_config::{ConfigField, TransformerConfig};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::objects::resources::{Resource, ResourceId, Resources};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::{Accumulator, Variable};
use crate::kustomize::text::field_path::{look_up, split};
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Name, Node, Reader, Scalar, Style, Value};

/// Reads `vars`, and marks their source objects before outer kustomizations rename the objects.
pub(crate) fn collect(definition: &Definition, accumulator: &mut Accumulator) {
    let items = definition.items("vars");
    if items.is_empty() {
        return;
    }
    let positions = accumulator.resources.index();
    for item in items {
        let text = |keys: &[&str]| item.at_keys(keys).filter(|node| !node.is_null()).and_then(Node::text);
        let name = item.get("name").and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        let objref = ObjRef::read(item);
        let is_match = |index: &&usize| accumulator.resources.list.get(**index).is_some_and(|one| objref.matches(one));
        let found: Vec<usize> = positions.with_name(&objref.id.name).iter().filter(is_match).copied().collect();
        let span = item.get("name").unwrap_or(item).span().clone();
        match *found {
            [] => {}
            [index] => accumulator.resources.list[index].variables.push(name.clone()),
            _ => {
                let message = format!("the variable `{name}` matches {} objects", found.len());
                let help = "set `namespace` in the `objref` of the variable";
                accumulator.fail(Finding::error(FAILED_BUILD, span.clone(), message).help(help));
            }
        }
        let path = text(&["fieldref", "fieldPath"]).or_else(|| text(&["fieldref", "fieldpath"]));
        let path = path.filter(|path| !path.is_empty()).unwrap_or("metadata.name").to_string();
        accumulator.declare_variable(&name, Variable { path, span });
    }
}

/// The source object of a variable.
struct ObjRef {
    id: ResourceId,
    /// Whether the namespace must match.
    namespaced: bool,
}

impl ObjRef {
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
        let id = ResourceId { group, version, kind: text("kind"), namespace: namespace.clone(), name: text("name") };
        Self { id, namespaced: !namespace.is_empty() }
    }

    fn matches(&self, resource: &Resource) -> bool {
        let same = |id: ResourceId| {
            id.name == self.id.name
                && id.kind == self.id.kind
                && id.group == self.id.group
                && id.version == self.id.version
                && (!self.namespaced || id.namespace == self.id.namespace)
        };
        !resource.is_deleted() && (resource.previous_ids().any(same) || same(resource.id.clone()))
    }
}

/// Substitutes all variables in the fields of `varReference`.
pub(crate) fn resolve(resources: &mut Resources, accumulator: &Accumulator, findings: &mut Vec<Finding>) {
    if accumulator.variables.is_empty() {
        return;
    }
    let values = values(resources, accumulator, findings);
    if values.is_empty() {
        return;
    }
    for resource in &mut resources.list {
        match substitute(resource, &accumulator.config, &values) {
            Ok(node) => resource.replace(node),
            Err(FieldError { span, message }) => findings.push(Finding::error(FAILED_BUILD, span, message)),
        }
    }
    findings.extend(unused(resources, &values));
}

/// The findings of the variables that replace nothing although a field contains them: no `varReference` names this field.
fn unused(resources: &Resources, values: &BTreeMap<Name, VarValue>) -> Vec<Finding> {
    let mut unused: BTreeMap<&str, &VarValue> =
        values.iter().filter(|(_, value)| !value.is_used.get()).map(|(name, value)| (&**name, value)).collect();
    let mut found = Vec::new();
    for resource in &resources.list {
        if unused.is_empty() {
            break;
        }
        find_unused(&resource.node, &mut unused, &mut |name, value, place| {
            let message =
                format!("the variable `{name}` replaces nothing, and `$({name})` stays in {}", resource.id.kind);
            let mut finding = Finding::error(FAILED_BUILD, place.clone(), message);
            finding.severity = Severity::Warning;
            let help = "name the field in `varReference` of a file in `configurations`, or use `replacements` instead of \
                        `vars`: kustomize replaces variables in these fields only";
            found.push(finding.help(help).related(value.span.clone(), "the variable"));
        });
    }
    found
}

/// Finds the values that consist of one line and contain a variable, and removes this variable from `unused`.
fn find_unused<'a>(
    node: &Node,
    unused: &mut BTreeMap<&'a str, &'a VarValue>,
    found: &mut impl FnMut(&str, &VarValue, &Span),
) {
    match &node.value {
        // In a longer text, such as a script, the same notation may mean something else.
        Value::Scalar(text, _) if !text.contains('\n') => {
            let names = text.split("$(").skip(1).filter_map(|rest| rest.split_once(')'));
            for (name, _) in names {
                if let Some(value) = unused.remove(name) {
                    found(name, value, node.span());
                }
            }
        }
        Value::Scalar(..) => {}
        Value::Seq(items) => items.iter().for_each(|item| find_unused(item, unused, found)),
        Value::Map(entries) => entries.iter().for_each(|entry| find_unused(&entry.node, unused, found)),
    }
}

/// The value of a variable, and the position of its declaration.
struct VarValue {
    /// `None` for a list or a mapping, which cannot be substituted.
    value: Option<(Name, Style)>,
    span: Span,
    /// Whether a field contained the variable.
    is_used: Cell<bool>,
}

fn values(resources: &Resources, accumulator: &Accumulator, findings: &mut Vec<Finding>) -> BTreeMap<Name, VarValue> {
    let mut sources: BTreeMap<&Name, &Resource> = BTreeMap::new();
    for resource in &resources.list {
        for name in &resource.variables {
            sources.entry(name).or_insert(resource);
        }
    }
    let mut values = BTreeMap::new();
    for (name, variable) in &accumulator.variables {
        let span = &variable.span;
        let mut report = |message: String, help: &str| {
            // An unsupported feature may create the object.
            if !accumulator.is_incomplete {
                findings.push(Finding::error(FAILED_BUILD, span.clone(), message).help(help));
            }
        };
        let Some(source) = sources.get(name) else {
            report(
                format!("the object of variable `{name}` does not exist in this build"),
                "correct the `objref` of the variable",
            );
            continue;
        };
        let Ok(Some(node)) = look_up(&source.node, &indexed(&variable.path)) else {
            let kind = &source.id.kind;
            report(
                format!("{kind} `{}` has no field `{}`", source.id.name, variable.path),
                "correct the `fieldref` of the variable",
            );
            continue;
        };
        values.insert(name.clone(), VarValue { value: typed_text(node), span: span.clone(), is_used: Cell::default() });
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

/// The text of a value, and the style that keeps its type.
fn typed_text(node: &Node) -> Option<(Name, Style)> {
    let text = node.shared_text()?;
    let style = match node.resolve(Reader::Kustomize)? {
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_) => Style::Plain,
        Scalar::String(_) | Scalar::Null => Style::Double,
    };
    Some((text, style))
}

fn substitute(
    resource: &Resource,
    config: &TransformerConfig,
    values: &BTreeMap<Name, VarValue>,
) -> Result<Node, FieldError> {
    let mut node = resource.node.clone();
    for spec in config.specs(ConfigField::VarReference).iter().filter(|spec| spec.matches(&resource.id)) {
        let mut change = |node: Option<&Node>| node.map_or(Ok(None), |node| substitute_node(node, values));
        node = spec.apply(&node, CreateKind::Nothing, &mut change)?.unwrap_or(node);
    }
    Ok(node)
}

fn substitute_node(node: &Node, values: &BTreeMap<Name, VarValue>) -> Result<Option<Node>, FieldError> {
    match &node.value {
        _ if node.is_null() => Ok(None),
        Value::Scalar(..) => Ok(substitute_text(node, values)),
        Value::Map(entries) => {
            let changed: Vec<Option<Node>> = entries.iter().map(|entry| substitute_text(&entry.node, values)).collect();
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
                let message = "variables can only be substituted in strings, and this is not a string".to_string();
                return Err(FieldError { span: item.span().clone(), message });
            }
            Ok(substitute_text(item, values))
        }),
    }
}

/// Substitutes variables in a text. A variable without other text also sets the type.
fn substitute_text(node: &Node, values: &BTreeMap<Name, VarValue>) -> Option<Node> {
    let Some(Scalar::String(text)) = node.resolve(Reader::Kustomize) else { return None };
    if !text.contains('$') {
        return None;
    }
    let alone = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).filter(|name| !name.contains(')'));
    if let Some(known) = alone.and_then(|name| values.get(name)) {
        known.is_used.set(true);
        let (text, style) = known.value.clone()?;
        return Some(node.changed(Value::Scalar(text, style), ChangedBy::Field(known.span.clone())));
    }
    let (new, span) = expand(text, values);
    if new == text {
        return None;
    }
    let by = ChangedBy::Field(span.unwrap_or_else(|| node.span().clone()));
    Some(node.changed(Value::Scalar(new.into(), Style::Double), by))
}

/// Expands `$(NAME)` and `$$`; other text stays. The returned position is the declaration of the last variable.
fn expand(text: &str, values: &BTreeMap<Name, VarValue>) -> (String, Option<Span>) {
    let mut out = String::with_capacity(text.len());
    let mut span = None;
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
                    known.is_used.set(true);
                    out.push_str(value);
                    span = Some(known.span.clone());
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
    (out, span)
}
