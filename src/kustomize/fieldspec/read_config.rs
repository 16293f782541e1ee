//! Files of `configurations`, and field specifications as users write them.

use super::field_spec::{FieldSpec, Gvk};
use super::transformer_config::{Configuration, NameReference, Topic};
use crate::base::finding::{Finding, did_you_mean};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::{Entry, Name, Node, Reader, Scalar, Value};

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
