//! Objects that Kyverno's policies generate: copies, or objects defined in the policy, usually one for each namespace.

use super::produced::{ObjectLookup, Produced, shell, unknown};
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::text::Span;
use crate::yaml::{Name, Node, Style, Value};

/// A `generate` rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// The policy.
    pub(super) by: ObjectRef,
    pub(super) place: Span,
    /// The trigger; `None` for a policy with CEL expressions, which are not evaluated.
    trigger: Option<Trigger>,
    generate: Node,
    /// The namespace of a namespaced policy, which generates objects only in that namespace.
    namespace: Option<String>,
}

#[derive(Debug, Clone)]
struct Trigger {
    matched: Node,
    excluded: Option<Node>,
}

/// The object that a rule generates.
pub(super) enum Made {
    Copy { namespace: String, name: String },
    Data(Produced),
}

/// The `generate` rules of a policy.
pub(super) fn rules(policy: &Object) -> Vec<Rule> {
    let place = policy.span().clone();
    let by = policy.reference();
    let namespace = policy.namespace().map(ToOwned::to_owned);
    if policy.group() == "policies.kyverno.io" {
        let Some(generate) = policy.node.at_keys(&["spec", "generate"]) else { return Vec::new() };
        // The variables of the policy contain the generated objects.
        let spec = policy.node.get("spec").unwrap_or(generate).clone();
        return vec![Rule { by, place, trigger: None, generate: spec, namespace }];
    }
    if !matches!(policy.kind(), "ClusterPolicy" | "Policy") {
        return Vec::new();
    }
    let mut rules = Vec::new();
    for rule in policy.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items) {
        let (Some(matched), Some(generate)) = (rule.get("match"), rule.get("generate")) else { continue };
        let trigger = Trigger { matched: matched.clone(), excluded: rule.get("exclude").cloned() };
        let each = generate.get("foreach").map_or(&[][..], Node::items);
        for generate in std::iter::once(generate).chain(each) {
            rules.push(Rule {
                by: by.clone(),
                place: place.clone(),
                trigger: Some(trigger.clone()),
                generate: generate.clone(),
                namespace: namespace.clone(),
            });
        }
    }
    rules
}

impl Rule {
    /// The source of an object that the rule generates; `None` if the rule does not generate the object.
    pub(super) fn makes(&self, kind: &str, namespace: &str, name: &str, known: ObjectLookup<'_>) -> Option<Made> {
        if self.namespace.as_deref().is_some_and(|own| own != namespace) {
            return None;
        }
        let Some(trigger) = &self.trigger else {
            let says = mentions(&self.generate, name) && mentions(&self.generate, kind);
            return says.then(|| Made::Data(Produced::unknown(kind, namespace, name, &self.place, &self.by)));
        };
        let said = |key: &str| self.generate.get(key).and_then(Node::text);
        let target = said("namespace").or_else(|| self.generate.at_keys(&["cloneList", "namespace"])?.text());
        if !target.is_some_and(|target| fits_template(target, namespace)) || !trigger.takes(namespace, known) {
            return None;
        }
        if let Some(list) = self.generate.get("cloneList") {
            let kinds = list.get("kinds").map_or(&[][..], Node::items).iter().filter_map(Node::text);
            let wanted = kinds.into_iter().any(|said| is_kind(said, kind));
            let from = list.get("namespace").and_then(Node::text)?;
            return (wanted && from != namespace).then(|| Made::Copy { namespace: from.into(), name: name.into() });
        }
        if said("kind") != Some(kind) || !said("name").is_some_and(|said| fits_template(said, name)) {
            return None;
        }
        if let Some(clone) = self.generate.get("clone") {
            let from = |key: &str| clone.get(key).and_then(Node::text).unwrap_or_default().to_owned();
            let (from, of) = (from("namespace"), from("name"));
            return ((&*from, &*of) != (namespace, name)).then_some(Made::Copy { namespace: from, name: of });
        }
        Some(Made::Data(self.data(kind, namespace, name)))
    }

    /// Returns whether the name of the generated object is an expression without a fixed part.
    pub(super) fn computes_name(&self) -> bool {
        let name = self.generate.get("name").and_then(Node::text).map(str::trim);
        name.is_some_and(|name| name.starts_with("{{") && name.ends_with("}}") && name.matches("{{").count() == 1)
    }

    /// Returns whether `cloneList` selects a source by its labels.
    pub(super) fn takes(&self, source: &Object) -> bool {
        is_selected(self.generate.at_keys(&["cloneList", "selector"]), |key| source.label(key))
    }

    /// The object defined in the policy, with computed values unknown.
    fn data(&self, kind: &str, namespace: &str, name: &str) -> Produced {
        let mut data: Vec<(Name, Node)> = Vec::new();
        for field in ["data", "stringData"] {
            for entry in self.generate.at_keys(&["data", field]).map_or(&[][..], Node::entries) {
                let computed = entry.node.text().is_none_or(|text| text.contains("{{"));
                let value = if computed { unknown(&entry.key, entry.node.span()) } else { entry.node.clone() };
                data.push((entry.key.clone(), value));
            }
        }
        let place = self.generate.get("name").map_or(&self.place, Node::span);
        let computed =
            matches!(self.generate.get("data").map(|node| &node.value), Some(Value::Scalar(_, Style::Unknown)));
        let object = shell(kind, namespace, name, data, place);
        Produced { object, open: computed, by: Some(self.by.clone()), has_computed_name: false }
    }
}

impl Trigger {
    /// Returns whether an object in a namespace, usually the Namespace itself, triggers the rule.
    fn takes(&self, namespace: &str, known: ObjectLookup<'_>) -> bool {
        let found = known("Namespace", "", namespace);
        let matched = filters(&self.matched);
        let any = matched.iter().any(|filter| fits_filter(filter, namespace, found.as_ref(), true));
        let excluded = self.excluded.as_ref().map(filters).unwrap_or_default();
        any && !excluded.iter().any(|filter| fits_filter(filter, namespace, found.as_ref(), false))
    }
}

/// The resource filters of `match` or `exclude`: in `any`, in `all`, or directly in the block.
fn filters(block: &Node) -> Vec<&Node> {
    let listed = ["any", "all"].into_iter().filter_map(|key| block.get(key)).flat_map(Node::items);
    listed.chain([block]).filter_map(|filter| filter.get("resources")).collect()
}

/// Returns whether a namespace matches a filter.
///
/// A filter for another kind counts as a match in `match`, but not in `exclude`, so that no existing object is reported
/// as missing.
fn fits_filter(filter: &Node, namespace: &str, found: Option<&Object>, granted: bool) -> bool {
    let list = |key: &str| filter.get(key).map_or(&[][..], Node::items).iter().filter_map(Node::text);
    if !list("kinds").any(|kind| is_kind(kind, "Namespace")) {
        return granted;
    }
    let globs = |key: &str| {
        let mut patterns = list(key).peekable();
        patterns.peek().is_none() || patterns.any(|pattern| fits_glob(pattern, namespace))
    };
    let name = filter.get("name").and_then(Node::text).is_none_or(|pattern| fits_glob(pattern, namespace));
    let label = |key: &str| match key {
        "kubernetes.io/metadata.name" => Some(namespace),
        _ => found.and_then(|found| found.label(key)),
    };
    let selector = is_selected(filter.get("selector"), label);
    let near = is_selected(filter.get("namespaceSelector"), label);
    name && globs("names") && globs("namespaces") && selector && near
}

/// Returns whether a selector selects labels; a missing selector selects all.
fn is_selected<'a>(selector: Option<&Node>, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_null()) else { return true };
    Selector::of(selector).is_some_and(|selector| selector.selects(label))
}

/// Returns whether Kyverno's notation matches a kind: `Namespace`, `v1/Namespace`, `*/Namespace`.
fn is_kind(said: &str, kind: &str) -> bool {
    let last = said.rsplit('/').next().unwrap_or(said);
    last == kind || last == "*"
}

/// Returns whether a template, in which `{{ … }}` may have any value, can produce a name.
fn fits_template(template: &str, name: &str) -> bool {
    if template.contains("{{") {
        let mut pattern = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            pattern.push_str(before);
            pattern.push('*');
            rest = after.split_once("}}").map_or("", |(_, rest)| rest);
        }
        pattern.push_str(rest);
        return fits_glob(&pattern, name);
    }
    template == name
}

/// Returns whether a pattern with `*` and `?` matches a whole text.
fn fits_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut in_text, mut star) = (0, 0, None);
    while in_text < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || text.get(in_text) == Some(wanted) => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((back, taken)) = star else { return false };
                star = Some((back, taken + 1));
                (at, in_text) = (back + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|rest| *rest == '*')
}

/// Returns whether a scalar below a node contains a word.
fn mentions(node: &Node, word: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.contains(word),
        Value::Seq(items) => items.iter().any(|item| mentions(item, word)),
        Value::Map(entries) => entries.iter().any(|entry| mentions(&entry.node, word)),
    }
}
