//! `configMapGenerator` and `secretGenerator`: objects from files, env files and literals.

use data_encoding::BASE64;

use super::generator_kind::GeneratorKind;
use super::key_values::{self, Content, Pair};
use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::objects::resources::{Behavior, Resource, ResourceIndex};
use crate::kustomize::objects::trace::PluginRef;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::string_value::new_value;
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Node, Origin, Reader, Scalar, Style, Value, ValueChange};

/// Runs the generators of a kustomization and adds their objects.
pub(crate) fn run(files: &Files, definition: &Definition, accumulator: &mut Accumulator) {
    let global = definition.entry("generatorOptions").map(|entry| entry.node.clone());
    let mut resources = Vec::new();
    for (field, kind) in [("configMapGenerator", GeneratorKind::ConfigMap), ("secretGenerator", GeneratorKind::Secret)]
    {
        for entry in definition.items(field) {
            if accumulator.is_too_large {
                return;
            }
            let mut object = generate(files, &definition.folder, kind, entry, global.as_ref(), accumulator);
            if let (Some((resource, _)), Some(file)) = (&mut object, &accumulator.traced_file) {
                resource.set_generator(PluginRef::from_field(file, kind.generator()));
            }
            resources.extend(object);
        }
    }
    if resources.is_empty() {
        return;
    }
    let mut positions = accumulator.resources.index();
    for (resource, location) in resources {
        add_generated(accumulator, &mut positions, resource, &location);
    }
}

/// Generates the object of an entry. The returned node is the position of the entry.
pub(crate) fn generate(
    files: &Files,
    folder: &str,
    kind: GeneratorKind,
    entry: &Node,
    global: Option<&Node>,
    accumulator: &mut Accumulator,
) -> Option<(Resource, Node)> {
    let text = |field: &str| entry.get(field).filter(|node| node.text().is_some_and(|text| !text.is_empty()));
    let Some(name) = text("name").filter(|name| !name.is_null()) else {
        let finding = Finding::error(FAILED_BUILD, entry.span().clone(), "this generator has no `name`");
        accumulator.fail(finding.help("set `name`"));
        return None;
    };
    let options = Options { local: entry.get("options"), global };
    let key = entry.entry("name").map_or_else(|| name.span().clone(), Entry::key_span);
    let generated_string = |text: &str| string(text, name.span());
    let mut metadata = vec![entry_at("name", name, "name", entry)];
    if let Some(namespace) = text("namespace").filter(|namespace| !namespace.is_null()) {
        metadata.push(entry_at("namespace", namespace, "namespace", entry));
    }
    metadata.extend(options.map("labels"));
    metadata.extend(options.map("annotations"));
    let mut fields = vec![
        Entry::new("apiVersion", &key, generated_string("v1")),
        Entry::new("kind", &key, generated_string(if kind == GeneratorKind::Secret { "Secret" } else { "ConfigMap" })),
        Entry::new("metadata", &key, generated(Value::Map(metadata.into()), name.span())),
    ];
    if kind == GeneratorKind::Secret {
        fields.push(match text("type") {
            Some(value) => entry_at("type", value, "type", entry),
            None => Entry::new("type", &key, generated_string("Opaque")),
        });
    }
    let pairs = key_values::read(files, folder, kind, entry, accumulator);
    reject_duplicate_keys(&pairs, name, accumulator);
    fields.extend(data(kind, pairs, &key));
    if let Some(node) = options.enabled("immutable") {
        let value = generated(Value::Scalar("true".into(), Style::Plain), node.span());
        fields.push(Entry::new("immutable", node.span(), value));
    }
    let mut resource = Resource::new(generated(Value::Map(fields.into()), name.span()));
    resource.history.hashed = options.enabled("disableNameSuffixHash").is_none();
    resource.history.behavior = Some(match entry.get("behavior").and_then(Node::text) {
        Some("merge") => Behavior::Merge,
        Some("replace") => Behavior::Replace,
        _ => Behavior::Create,
    });
    Some((resource, name.clone()))
}

/// The maximum number of reported duplicate keys of a generator.
const MAX_DUPLICATES: usize = 100;

fn reject_duplicate_keys(pairs: &[Pair], name: &Node, accumulator: &mut Accumulator) {
    let mut seen: std::collections::BTreeMap<&str, &Pair> = std::collections::BTreeMap::new();
    let mut reported = 0;
    for pair in pairs {
        if let Some(first) = seen.insert(&pair.key, pair) {
            reported += 1;
            if reported > MAX_DUPLICATES {
                break;
            }
            let message = format!("`{}` has the key `{}` twice", name.text().unwrap_or_default(), pair.key);
            let finding = Finding::error(FAILED_BUILD, pair.key_span.clone(), message);
            accumulator.fail(
                finding
                    .related(first.key_span.clone(), "first defined here")
                    .help("remove one of them; kustomize rejects duplicate keys"),
            );
        }
    }
}

/// The entries `data` and `binaryData`, with sorted keys.
fn data(kind: GeneratorKind, mut pairs: Vec<Pair>, location: &Span) -> Vec<Entry> {
    pairs.sort_by(|a, b| a.key.cmp(&b.key));
    let (mut texts, mut binary) = (Vec::new(), Vec::new());
    for pair in pairs {
        let (list, text): (&mut Vec<Entry>, String) = match (kind, &pair.value) {
            (_, Content::Unknown(text)) | (GeneratorKind::ConfigMap, Content::Text(text)) => {
                (&mut texts, text.to_string())
            }
            (GeneratorKind::Secret, Content::Text(text)) => (&mut texts, base64(text.as_bytes())),
            (GeneratorKind::Secret, Content::Bytes(bytes)) => (&mut texts, base64(bytes)),
            (GeneratorKind::ConfigMap, Content::Bytes(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => (&mut texts, text.to_string()),
                Err(_) => (&mut binary, base64(bytes)),
            },
        };
        let style = match pair.value {
            Content::Unknown(_) => Style::Unknown,
            _ if text.contains('\n') => Style::Literal,
            _ => Style::Double,
        };
        let was = pair.reference_span.clone().map(Origin::At);
        let step = ValueChange::new(ChangedBy::Generator(pair.span.clone()), was, Box::default());
        let node = Node { value: Value::Scalar(text.into(), style), origin: Origin::Via(step.into()) };
        list.push(Entry::new(pair.key.clone(), &pair.key_span, node));
    }
    let map =
        |key: &str, entries: Vec<Entry>| Entry::new(key, location, generated(Value::Map(entries.into()), location));
    let mut fields = Vec::new();
    // A Secret always has `data`; a ConfigMap has `data` only if it is not empty.
    if kind == GeneratorKind::Secret || !texts.is_empty() {
        fields.push(map("data", texts));
    }
    if !binary.is_empty() {
        fields.push(map("binaryData", binary));
    }
    fields
}

/// Encodes bytes as Base64, in lines of 70 characters unless the text is shorter than one line.
fn base64(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let text = BASE64.encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / LINE + 1);
    for (index, symbol) in text.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            out.push('\n');
        }
        out.push(symbol);
    }
    out.push('\n');
    out
}

fn generated(value: Value, span: &Span) -> Node {
    new_value(value, ChangedBy::Generator(span.clone()))
}

fn string(text: &str, span: &Span) -> Node {
    generated(Value::Scalar(text.into(), Style::Double), span)
}

/// A field with a value of the entry, and its positions.
fn entry_at(key: &str, value: &Node, field: &str, entry: &Node) -> Entry {
    let key_span = entry.entry(field).map_or_else(|| value.span().clone(), Entry::key_span);
    Entry::new(key, &key_span, string(value.text().unwrap_or_default(), value.span()))
}

/// The `options` of an entry, and the `generatorOptions` of all entries.
struct Options<'a> {
    local: Option<&'a Node>,
    global: Option<&'a Node>,
}

impl Options<'_> {
    /// The node that enables an option. Neither level can disable an option of the other level.
    fn enabled(&self, option: &str) -> Option<&Node> {
        let is_enabled = |options: Option<&Node>| options.and_then(|options| options.get(option)).is_some_and(is_true);
        let options = if is_enabled(self.local) { self.local } else { self.global.filter(|_| is_enabled(self.global)) };
        options?.get(option)
    }

    /// Labels or annotations of both levels. The entry has precedence.
    fn map(&self, field: &str) -> Option<Entry> {
        let map = |options: Option<&Node>| options.and_then(|options| options.get(field)).cloned();
        let (local, global) = (map(self.local), map(self.global));
        let location = local.as_ref().or(global.as_ref())?.span().clone();
        let local = local.iter().flat_map(Node::entries);
        let mut pairs: Vec<Entry> = local.map(generated_string_entry).collect();
        for entry in global.iter().flat_map(Node::entries) {
            if !pairs.iter().any(|own| own.key == entry.key) {
                pairs.push(generated_string_entry(entry));
            }
        }
        (!pairs.is_empty()).then(|| Entry::new(field, &location, generated(Value::Map(pairs.into()), &location)))
    }
}

fn is_true(node: &Node) -> bool {
    node.resolve(Reader::Kubernetes) == Some(Scalar::Bool(true))
}

fn generated_string_entry(entry: &Entry) -> Entry {
    Entry::new(entry.key.clone(), &entry.key_span(), string(entry.node.text().unwrap_or_default(), entry.node.span()))
}

/// Adds a generated object, or merges it into the object with the same id.
pub(crate) fn add_generated(
    accumulator: &mut Accumulator,
    positions: &mut ResourceIndex,
    resource: Resource,
    location: &Node,
) {
    let found = positions.with_id(&resource.id).to_vec();
    let behavior = resource.history.behavior.unwrap_or(Behavior::Create);
    let verb = match behavior {
        Behavior::Create => "create",
        Behavior::Replace => "replace",
        Behavior::Merge => "merge",
    };
    let (kind, name) = (resource.id.kind.clone(), resource.id.name.clone());
    let error = |message: String| Finding::error(FAILED_BUILD, location.span().clone(), message);
    match (&*found, behavior) {
        ([], Behavior::Create) => {
            let index = accumulator.resources.list.len();
            positions.add(index, &resource);
            accumulator.add(resource, location);
        }
        // An unsupported feature may create the object.
        ([], _) if accumulator.is_incomplete => {}
        ([], _) => {
            let message = format!("{kind} `{name}` does not exist, so the generator cannot {verb} it");
            let help = "correct the name or namespace, or remove `behavior` to create an object";
            accumulator.unmatched_generators.push((accumulator.findings.len(), resource.id));
            accumulator.fail(error(message).help(help));
        }
        ([index], Behavior::Create) => {
            let message = format!("{kind} `{name}` already exists");
            let object = Object { node: accumulator.resources.list[*index].node.clone() };
            let finding = error(message).related(object.span().clone(), "this object");
            accumulator.fail(finding.help("set `behavior: merge` or `behavior: replace`, or use another name"));
        }
        ([index], behavior) => {
            let old = &mut accumulator.resources.list[*index];
            *old = merge_resources(old, &resource, behavior);
        }
        _ => {
            accumulator.fail(error(format!(
                "there are several objects of kind {kind} with the name `{name}`, so the generator cannot {verb} them"
            )));
        }
    }
}

/// Returns the generated object after it replaced an existing object or was merged into it. The result keeps the name,
/// the namespace and the history of the existing object.
fn merge_resources(old: &Resource, new: &Resource, behavior: Behavior) -> Resource {
    let mut node = new.node.clone();
    let part = |node: &Node, field: &str| node.get("metadata").and_then(|metadata| metadata.entry(field)).cloned();
    if let Some(metadata) = node.entry("metadata") {
        let mut changed = metadata.node.clone();
        for field in ["name", "namespace"] {
            changed = match part(&old.node, field) {
                Some(entry) => changed.with(entry),
                None => changed.without(field),
            };
        }
        for field in ["labels", "annotations"] {
            if let Some(both) = merge_entries(part(&old.node, field), part(&node, field)) {
                changed = changed.with(both);
            }
        }
        node = node.with(metadata.with_node(changed));
    }
    if behavior == Behavior::Merge {
        for field in ["data", "binaryData"] {
            node = match merge_entries(old.node.entry(field).cloned(), node.entry(field).cloned()) {
                Some(both) if !both.node.entries().is_empty() => node.with(both),
                _ => node.without(field),
            };
        }
    }
    let mut merged = Resource::new(node);
    merged.history = old.history.clone();
    merged.history.hashed = old.history.hashed && new.history.hashed;
    if behavior == Behavior::Replace {
        merged.history.trace.take_source(&new.history.trace);
    }
    merged.variables.clone_from(&old.variables);
    merged
}

/// Merges two mappings of strings. The origin of a replacing value contains the origin of the replaced value.
fn merge_entries(old: Option<Entry>, new: Option<Entry>) -> Option<Entry> {
    let (Some(base), Some(over)) = (&old, &new) else {
        let one = old.or(new).filter(|entry| entry.node.is_map())?;
        let pairs: Vec<Entry> = one.node.entries().iter().map(to_string_entry).collect();
        let map = Node { value: Value::Map(pairs.into()), origin: one.node.origin.clone() };
        return Some(one.with_node(map));
    };
    let mut pairs: Vec<Entry> = base.node.entries().iter().map(to_string_entry).collect();
    for entry in over.node.entries() {
        match pairs.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => {
                let by = ChangedBy::Generator(entry.node.span().clone());
                *known = known.with_node(known.node.changed(entry.node.value.clone(), by));
            }
            None => pairs.push(entry.clone()),
        }
    }
    Some(base.with_node(Node { value: Value::Map(pairs.into()), origin: base.node.origin.clone() }))
}

/// The entry with its value as a string.
fn to_string_entry(entry: &Entry) -> Entry {
    match &entry.node.value {
        Value::Scalar(_, style) if *style != Style::Plain => entry.clone(),
        value => {
            let text = match value {
                Value::Scalar(text, _) => text.clone(),
                Value::Seq(_) | Value::Map(_) => "".into(),
            };
            entry.with_node(Node { value: Value::Scalar(text, Style::Double), origin: entry.node.origin.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn long_base64_is_split_into_lines() {
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"abc"), "YWJj");
        let text = base64(&[0; 53]);
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(text.ends_with('\n'));
    }
}
