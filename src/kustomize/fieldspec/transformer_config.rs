//! The configuration of kustomize's transformers: where in which kinds each of them works.
//!
//! The built-in one is merged with the files of `configurations` and with what `crds` say, and that of a base is merged
//! into that of its overlay, so that references and variables that a base declares are followed there too.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::builtin_fieldspecs::known;
use super::field_spec::{FieldSpec, Gvk};
use crate::base::finding::{Finding, did_you_mean};
use crate::kustomize::build::FAILED_BUILD;
use crate::kustomize::objects::order::rank;
use crate::text::Span;
use crate::yaml::{Entry, Name, Node, Reader, Scalar, Value};

/// What a list of field specifications is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    NamePrefix,
    NameSuffix,
    Namespace,
    CommonLabels,
    Labels,
    TemplateLabels,
    CommonAnnotations,
    VarReference,
    Images,
    Replicas,
}

/// The topics and the words that files say for them.
const TOPICS: &[(&str, Topic)] = &[
    ("namePrefix", Topic::NamePrefix),
    ("nameSuffix", Topic::NameSuffix),
    ("namespace", Topic::Namespace),
    ("commonLabels", Topic::CommonLabels),
    ("labels", Topic::Labels),
    ("templateLabels", Topic::TemplateLabels),
    ("commonAnnotations", Topic::CommonAnnotations),
    ("varReference", Topic::VarReference),
    ("images", Topic::Images),
    ("replicas", Topic::Replicas),
];

const REFERENCES: &str = "nameReference";

/// The configuration of all transformers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Configuration {
    pub(crate) fields: BTreeMap<Topic, Vec<FieldSpec>>,
    pub(crate) references: Vec<NameReference>,
}

/// What is referred to by name, and the fields that do.
#[derive(Debug, Clone)]
pub(crate) struct NameReference {
    pub(crate) target: Gvk,
    pub(crate) referrers: Vec<FieldSpec>,
}

/// Two specifications that agree in kind and path and not in whether the field is made.
#[derive(Debug)]
pub(crate) struct Conflict {
    path: Name,
    place: Option<Span>,
    other: Option<Span>,
}

impl Conflict {
    /// What is wrong, at the place that a user wrote, or at `otherwise`.
    pub(crate) fn finding(self, otherwise: &Span) -> Finding {
        let message = format!("`{}` is configured twice, with different values of `create`", self.path);
        let help = "say the same in both, or give the field another kind";
        let both = self.place.clone().or(self.other.clone());
        let finding = Finding::error(FAILED_BUILD, both.unwrap_or_else(|| otherwise.clone()), message).help(help);
        match (self.place, self.other) {
            (Some(_), Some(other)) => finding.related(other, "the other one"),
            _ => finding,
        }
    }
}

/// What kustomize does when nothing is configured.
pub(crate) fn built_in() -> &'static Arc<Configuration> {
    static BUILT_IN: LazyLock<Arc<Configuration>> = LazyLock::new(|| {
        let merged = Configuration::default().merge(&known());
        Arc::new(merged.expect("the built-in configuration agrees with itself"))
    });
    &BUILT_IN
}

/// One configuration merged into another. Most are the built-in one, which adds nothing to itself.
pub(crate) fn merged(into: &Arc<Configuration>, from: &Arc<Configuration>) -> Result<Arc<Configuration>, Conflict> {
    let is_first = into.is_empty() && Arc::ptr_eq(from, built_in());
    if is_first || Arc::ptr_eq(into, from) { Ok(from.clone()) } else { into.merge(from).map(Arc::new) }
}

impl Configuration {
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.references.is_empty()
    }

    /// Where the transformer of a topic works.
    pub(crate) fn specs(&self, topic: Topic) -> &[FieldSpec] {
        self.fields.get(&topic).map_or(&[], Vec::as_slice)
    }

    /// Both, sorted by kind. What is there already is not added again; this one is empty or was merged itself.
    pub(crate) fn merge(&self, other: &Self) -> Result<Self, Conflict> {
        let mut all = self.clone();
        for (topic, added) in &other.fields {
            let specs = all.fields.entry(*topic).or_default();
            merge_specs(specs, added)?;
            specs.sort_by_cached_key(|spec| order(&spec.gvk));
        }
        for NameReference { target, referrers } in &other.references {
            all.refer(target, referrers)?;
        }
        if !other.references.is_empty() {
            all.references.sort_by_cached_key(|reference| order(&reference.target));
        }
        Ok(all)
    }

    /// Adds fields that refer to objects by name.
    fn refer(&mut self, target: &Gvk, referrers: &[FieldSpec]) -> Result<(), Conflict> {
        if let Some(known) = self.references.iter_mut().find(|known| known.target == *target) {
            return merge_specs(&mut known.referrers, referrers);
        }
        // kustomize does not compare those that are the first of their target with each other.
        self.references.push(NameReference { target: target.clone(), referrers: referrers.to_vec() });
        Ok(())
    }

    /// Adds a specification that is not there yet.
    pub(crate) fn add(&mut self, topic: Topic, spec: &FieldSpec) -> Result<(), Conflict> {
        merge_specs(self.fields.entry(topic).or_default(), std::slice::from_ref(spec))
    }

    /// Adds a field that refers to objects by name.
    pub(super) fn add_reference(&mut self, target: &Gvk, referrer: FieldSpec) -> Result<(), Conflict> {
        self.refer(target, &[referrer])
    }
}

fn merge_specs(into: &mut Vec<FieldSpec>, from: &[FieldSpec]) -> Result<(), Conflict> {
    for spec in from {
        // One that is wider covers what is there; kustomize asks no more.
        match into.iter().find(|known| spec.path == known.path && spec.gvk.covers(&known.gvk)) {
            Some(known) if known.create != spec.create => {
                let (place, other) = (spec.place.clone(), known.place.clone());
                return Err(Conflict { path: spec.path.clone(), place, other });
            }
            Some(_) => {}
            None => into.push(spec.clone()),
        }
    }
    Ok(())
}

/// Kinds are ordered as objects are: which come first is known, others follow by group, version and kind.
fn order(gvk: &Gvk) -> (isize, String) {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_string() } else { text.to_string() };
    (rank(&gvk.kind), format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K")))
}

/// Reads a file of `configurations`; what is wrong in it is added to the findings.
pub(crate) fn read(root: &Node, findings: &mut Vec<Finding>) -> Configuration {
    let mut configuration = Configuration::default();
    if !root.is_map() && !root.is_null() {
        let message = "a transformer configuration is a mapping of lists";
        findings.push(Finding::error(FAILED_BUILD, root.span().clone(), message));
    }
    let words: Vec<&str> = TOPICS.iter().map(|(word, _)| *word).chain([REFERENCES]).collect();
    for entry in root.entries() {
        let topic = TOPICS.iter().find(|(word, _)| word.eq_ignore_ascii_case(&entry.key));
        if let Some((_, topic)) = topic {
            let specs = items(entry, findings).iter().filter_map(|item| read_spec(item, findings)).collect();
            configuration.fields.insert(*topic, specs);
        } else if entry.key.eq_ignore_ascii_case(REFERENCES) {
            let references: Vec<Node> = items(entry, findings);
            configuration.references = references.iter().filter_map(|item| read_reference(item, findings)).collect();
        } else {
            findings.push(unknown(entry, &words));
        }
    }
    configuration
}

fn read_reference(item: &Node, findings: &mut Vec<Finding>) -> Option<NameReference> {
    let mut target = Gvk::new("", "", "");
    let mut referrers = Vec::new();
    for entry in fields(item, findings)? {
        match &*entry.key.to_ascii_lowercase() {
            "fieldspecs" => {
                referrers = items(entry, findings).iter().filter_map(|item| read_spec(item, findings)).collect();
            }
            word => {
                if !read_gvk(&mut target, word, entry, findings) {
                    findings.push(unknown(entry, &["group", "version", "kind", "fieldSpecs"]));
                }
            }
        }
    }
    Some(NameReference { target, referrers })
}

/// Reads one field specification of a transformer that is an object: there kustomize overlooks words it does not know.
pub(crate) fn read_spec_of_object(item: &Node, findings: &mut Vec<Finding>) -> Option<FieldSpec> {
    let is_known = |entry: &&Entry| SPEC_WORDS.iter().any(|word| word.eq_ignore_ascii_case(&entry.key));
    let known: Vec<Entry> = item.entries().iter().filter(is_known).cloned().collect();
    if !item.is_map() {
        return read_spec(item, findings);
    }
    read_spec(&Node { value: Value::Map(known.into()), origin: item.origin.clone() }, findings)
}

/// What a field specification may say.
const SPEC_WORDS: &[&str] = &["group", "version", "kind", "path", "create"];

/// Reads one field specification, such as those of `labels` and of configurations.
pub(crate) fn read_spec(item: &Node, findings: &mut Vec<Finding>) -> Option<FieldSpec> {
    let mut gvk = Gvk::new("", "", "");
    let (mut path, mut create) = (Name::from(""), false);
    for entry in fields(item, findings)? {
        match &*entry.key.to_ascii_lowercase() {
            "path" => path = text(entry, findings),
            "create" => match entry.node.resolve(Reader::Kubernetes) {
                Some(Scalar::Bool(value)) => create = value,
                Some(Scalar::Null) => {}
                _ => findings.push(wrong(entry, "true or false")),
            },
            word => {
                if !read_gvk(&mut gvk, word, entry, findings) {
                    findings.push(unknown(entry, SPEC_WORDS));
                }
            }
        }
    }
    let mut spec = FieldSpec::new(gvk, path, create);
    spec.place = Some(item.span().clone());
    Some(spec)
}

fn read_gvk(gvk: &mut Gvk, word: &str, entry: &Entry, findings: &mut Vec<Finding>) -> bool {
    let field = match word {
        "group" => &mut gvk.group,
        "version" => &mut gvk.version,
        "kind" => &mut gvk.kind,
        _ => return false,
    };
    *field = text(entry, findings);
    true
}

fn text(entry: &Entry, findings: &mut Vec<Finding>) -> Name {
    match entry.node.resolve(Reader::Kubernetes) {
        Some(Scalar::String(text)) => text.into(),
        Some(Scalar::Null) => "".into(),
        _ => {
            findings.push(wrong(entry, "a string"));
            "".into()
        }
    }
}

fn fields<'a>(item: &'a Node, findings: &mut Vec<Finding>) -> Option<&'a [Entry]> {
    if !item.is_map() && !item.is_null() {
        findings.push(Finding::error(FAILED_BUILD, item.span().clone(), "a field specification is a mapping"));
        return None;
    }
    Some(item.entries())
}

fn items(entry: &Entry, findings: &mut Vec<Finding>) -> Vec<Node> {
    if !entry.node.is_seq() && !entry.node.is_null() {
        findings.push(wrong(entry, "a list"));
    }
    entry.node.items().to_vec()
}

fn wrong(entry: &Entry, wanted: &str) -> Finding {
    Finding::error(FAILED_BUILD, entry.node.span().clone(), format!("`{}` must be {wanted}", entry.key))
}

fn unknown(entry: &Entry, words: &[&str]) -> Finding {
    let message = format!("a transformer configuration has no field `{}`", entry.key);
    let help = match did_you_mean(&entry.key, words.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? kustomize refuses the file"),
        None => "remove it: kustomize refuses the file".to_string(),
    };
    Finding::error(FAILED_BUILD, entry.key_span(), message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_configuration_adds_nothing_to_itself() {
        let twice = built_in().merge(built_in()).unwrap();
        let count = |configuration: &Configuration| {
            let fields = configuration.fields.values().map(Vec::len).sum::<usize>();
            fields + configuration.references.iter().map(|reference| reference.referrers.len()).sum::<usize>()
        };
        assert_eq!(count(&twice), count(built_in()));
    }

    #[test]
    fn a_wider_specification_must_agree_with_a_narrower_one() {
        let mut configuration = Configuration::default();
        let spec = |kind: &str, create| FieldSpec::new(Gvk::new("", "", kind), "spec/a", create);
        configuration.add(Topic::Labels, &spec("Foo", false)).unwrap();
        configuration.add(Topic::Labels, &spec("Bar", true)).unwrap();
        assert!(configuration.add(Topic::Labels, &spec("", true)).is_err());
    }
}
