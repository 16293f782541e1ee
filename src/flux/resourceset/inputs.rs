//! The input sets of a ResourceSet: the set's own inputs and the inputs of static providers, combined by the input
//! strategy.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::flux::resourceset::template::convert::from_node;
use crate::flux::resourceset::template::functions::encode::adler32;
use crate::flux::resourceset::template::value::{Kind, Value};
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::text::Span;
use crate::yaml::Node;

const VERSION: &str = "fluxcd.controlplane.io/v1";
/// The annotation that disables an object or a whole set.
pub(super) const RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

/// The maximum number of permutations that the operator accepts.
const MAX_PERMUTATIONS: usize = 10_000;

/// One set of inputs.
#[derive(Debug)]
pub(super) struct InputSet {
    /// The value of `inputs` in templates.
    pub value: Value,
    /// The position of the input.
    pub place: Option<Span>,
}

/// The reason why the inputs are missing.
#[derive(Debug)]
pub(super) enum Missing {
    /// The inputs are known only on the cluster.
    Unknown(String),
    /// The inputs are invalid, and the operator rejects them.
    Wrong(Span, String),
}

/// The input sets of a ResourceSet; `None` without `inputs` and `inputsFrom`, since the templates then run once,
/// without inputs.
pub(super) fn inputs(set: &Object, providers: &[Object]) -> Result<Option<Vec<InputSet>>, Missing> {
    let spec = |key: &str| set.node.at_keys(&["spec", key]).filter(|node| !node.is_null());
    let own = spec("inputs").map_or(&[][..], Node::items);
    let from = spec("inputsFrom").map_or(&[][..], Node::items);
    let mut sources =
        vec![Source { name: set.name(), sets: own.iter().map(|node| input(node, set, "ResourceSet", None)).collect() }];
    for provider in chosen(set, from, providers)? {
        let reference = provider.reference();
        let sets = exported(provider, &reference)?;
        sources.push(Source { name: provider.name(), sets });
    }
    let strategy = spec("inputStrategy");
    let sets = match strategy.and_then(|strategy| strategy.get("name")).and_then(Node::text) {
        Some("Permute") => {
            let empty = strategy.and_then(|strategy| strategy.get("includeEmptyProviders")).and_then(Node::text);
            permute(sources, empty == Some("true"), set)?
        }
        None | Some("" | "Flatten") => sources.into_iter().flat_map(|source| source.sets).collect(),
        Some(other) => {
            let at = strategy.map_or_else(|| set.span().clone(), |node| node.span().clone());
            return Err(Missing::Wrong(at, format!("unknown input strategy `{other}`")));
        }
    };
    Ok((!sets.is_empty() || !from.is_empty()).then_some(sets))
}

/// A provider of input sets.
struct Source<'a> {
    name: &'a str,
    sets: Vec<InputSet>,
}

/// The input set of a mapping, with the reference and the id of its provider.
fn input(node: &Node, provider: &Object, kind: &str, id: Option<Value>) -> InputSet {
    let value = from_node(node, "inputs");
    if let Kind::Map(entries) = &value.kind {
        let said = |text: &str| Value::text(text);
        let reference = [
            ("apiVersion", said(VERSION)),
            ("kind", said(kind)),
            ("name", said(provider.name())),
            ("namespace", said(provider.namespace().unwrap_or_default())),
        ];
        let reference = reference.map(|(key, value)| (ArcStr::from(key), value));
        let mut entries = entries.borrow_mut();
        entries.insert("provider".into(), Value::map(reference.into()));
        if let Some(id) = id {
            entries.insert("id".into(), id);
        }
    }
    InputSet { value, place: Some(node.span().clone()) }
}

/// The providers that `inputsFrom` references or selects, sorted by name, without duplicates.
fn chosen<'a>(set: &Object, from: &[Node], providers: &'a [Object]) -> Result<Vec<&'a Object>, Missing> {
    let near = providers.iter().filter(|provider| provider.namespace() == set.namespace());
    let near: BTreeMap<&str, &Object> = near.map(|provider| (provider.name(), provider)).collect();
    let mut chosen = BTreeMap::new();
    for reference in from {
        if let Some(name) = reference.get("name").and_then(Node::text).filter(|name| !name.is_empty()) {
            let Some(provider) = near.get(name) else {
                let namespace = set.namespace().map(|namespace| format!("{namespace}/")).unwrap_or_default();
                return Err(Missing::Unknown(format!(
                    "the cluster does not receive the input provider `{namespace}{name}`"
                )));
            };
            chosen.insert(provider.name(), *provider);
        } else if let Some(selector) = reference.get("selector").filter(|selector| !selector.is_null()) {
            let Some(parsed) = Selector::of(selector) else {
                return Err(Missing::Wrong(selector.span().clone(), "`selector` is not a valid label selector".into()));
            };
            let selected = near.iter().filter(|(_, provider)| parsed.selects(|key| provider.label(key)));
            chosen.extend(selected.map(|(name, provider)| (*name, *provider)));
        } else {
            let message = "an item of `inputsFrom` has neither `name` nor `selector`";
            return Err(Missing::Wrong(reference.span().clone(), message.into()));
        }
    }
    Ok(chosen.into_values().collect())
}

/// The input sets of a provider. A static provider exports its default values, with an id derived from its UID.
fn exported(provider: &Object, reference: &ObjectRef) -> Result<Vec<InputSet>, Missing> {
    let annotation = provider.annotation(RECONCILE);
    if annotation.is_some_and(|value| value.eq_ignore_ascii_case("disabled")) {
        return Err(Missing::Unknown(format!("an annotation disables {reference}")));
    }
    match provider.text_at(&["spec", "type"]) {
        Some("Static") => {
            let id = Value::new(Kind::Unknown("inputs.id".into()));
            let empty = || Node::at(crate::yaml::Value::Map([].into()), provider.span().clone());
            let values = provider.node.at_keys(&["spec", "defaultValues"]).filter(|node| node.is_map());
            let values = values.cloned().unwrap_or_else(empty);
            Ok(vec![input(&values, provider, "ResourceSetInputProvider", Some(id))])
        }
        other => {
            let kind = other.unwrap_or_default();
            Err(Missing::Unknown(format!("{reference} queries a live system (`{kind}`)")))
        }
    }
}

/// All combinations of one input set of each source. A combination has each input set under the name of its source.
fn permute(sources: Vec<Source<'_>>, with_empty: bool, set: &Object) -> Result<Vec<InputSet>, Missing> {
    let sources: Vec<Source<'_>> = sources.into_iter().filter(|source| with_empty || !source.sets.is_empty()).collect();
    let count = sources.iter().try_fold(1_usize, |count, source| {
        count.checked_mul(source.sets.len()).filter(|count| *count <= MAX_PERMUTATIONS)
    });
    let Some(count) = count else {
        let message = format!("the inputs have more than {MAX_PERMUTATIONS} permutations");
        return Err(Missing::Wrong(set.span().clone(), message));
    };
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = sources.iter().map(|source| normalized(source.name)).collect();
    if let Some(nameless) = names.iter().position(String::is_empty) {
        let name = sources.get(nameless).map_or("", |source| source.name);
        let message = format!("the name `{name}` has no character that is valid in a key of a permutation");
        return Err(Missing::Wrong(set.span().clone(), message));
    }
    let mut permutations = Vec::with_capacity(count);
    for number in 0..count {
        // The input set of the last source changes fastest.
        let (mut rest, mut indices) = (number, vec![0; sources.len()]);
        for (index, source) in indices.iter_mut().zip(&sources).rev() {
            (rest, *index) = (rest / source.sets.len(), rest % source.sets.len());
        }
        let mut entries: BTreeMap<ArcStr, Value> = BTreeMap::new();
        let mut id = Vec::new();
        for ((source, name), index) in sources.iter().zip(&names).zip(&indices) {
            id.push(format!("{name}={index}"));
            if let Some(chosen) = source.sets.get(*index) {
                entries.insert(name.as_str().into(), chosen.value.clone());
            }
        }
        entries.insert("id".into(), Value::text(adler32(&id.join("/")).to_string()));
        let first = sources.first().zip(indices.first()).and_then(|(source, index)| source.sets.get(*index));
        permutations.push(InputSet { value: Value::map(entries), place: first.and_then(|set| set.place.clone()) });
    }
    Ok(permutations)
}

/// Normalizes a name for templates: lower case, with `_` between words.
fn normalized(name: &str) -> String {
    let lower = name.chars().flat_map(char::to_lowercase);
    let mapped: String = lower
        .filter_map(|character| match character {
            'a'..='z' | '0'..='9' => Some(character),
            _ if character.is_whitespace() || is_punctuation(character) => Some('_'),
            _ => None,
        })
        .collect();
    mapped.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Returns whether Go classifies an ASCII character as punctuation.
fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() && !matches!(character, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}
