//! Files of `configurations`, and field specs as users write them.

use super::field_spec::{FieldSpec, Gvk};
use super::transformer_config::{ConfigField, NameReference, TransformerConfig};
use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::go::is_field;
use crate::yaml::{Entry, Name, Node, Reader, Scalar, Value};

/// The fields of a configuration file.
const CONFIG_FIELDS: &[(&str, ConfigField)] = &[
    ("namePrefix", ConfigField::NamePrefix),
    ("nameSuffix", ConfigField::NameSuffix),
    ("namespace", ConfigField::Namespace),
    ("commonLabels", ConfigField::CommonLabels),
    ("labels", ConfigField::Labels),
    ("templateLabels", ConfigField::TemplateLabels),
    ("commonAnnotations", ConfigField::CommonAnnotations),
    ("varReference", ConfigField::VarReference),
    ("images", ConfigField::Images),
    ("replicas", ConfigField::Replicas),
];

/// The maximum number of keys of a path.
const MAX_KEYS: usize = 128;

const REFERENCES: &str = "nameReference";

/// Reads a file of `configurations`, and adds its errors to the findings.
pub(crate) fn read(root: &Node, findings: &mut Vec<Finding>) -> TransformerConfig {
    let mut config = TransformerConfig::default();
    if !root.is_map() && !root.is_null() {
        let message = "a transformer configuration must be a mapping of lists";
        findings.push(Finding::error(FAILED_BUILD, root.span().clone(), message));
    }
    let names: Vec<&str> = CONFIG_FIELDS.iter().map(|(name, _)| *name).chain([REFERENCES]).collect();
    for entry in root.entries() {
        let config_field = CONFIG_FIELDS.iter().find(|(name, _)| is_field(&entry.key, name));
        if let Some((_, config_field)) = config_field {
            let specs = items(entry, findings).iter().filter_map(|item| read_spec(item, findings)).collect();
            config.fields.insert(*config_field, specs);
        } else if is_field(&entry.key, REFERENCES) {
            let references: Vec<Node> = items(entry, findings);
            config.references = references.iter().filter_map(|item| read_reference(item, findings)).collect();
        } else {
            findings.push(unknown_field(entry, &names));
        }
    }
    config
}

fn read_reference(item: &Node, findings: &mut Vec<Finding>) -> Option<NameReference> {
    let mut target = Gvk::new("", "", "");
    let mut referrers = Vec::new();
    for entry in fields(item, findings)? {
        match &*entry.key.to_ascii_lowercase() {
            "fieldspecs" => {
                referrers = items(entry, findings).iter().filter_map(|item| read_spec(item, findings)).collect();
            }
            name => {
                if !read_gvk(&mut target, name, entry, findings) {
                    findings.push(unknown_field(entry, &["group", "version", "kind", "fieldSpecs"]));
                }
            }
        }
    }
    Some(NameReference { target, referrers })
}

/// Reads a field spec of a plugin object, in which kustomize ignores unknown fields.
pub(crate) fn read_plugin_spec(item: &Node, findings: &mut Vec<Finding>) -> Option<FieldSpec> {
    let is_known = |entry: &&Entry| SPEC_FIELDS.iter().any(|name| is_field(&entry.key, name));
    let known: Vec<Entry> = item.entries().iter().filter(is_known).cloned().collect();
    if !item.is_map() {
        return read_spec(item, findings);
    }
    read_spec(&Node { value: Value::Map(known.into()), origin: item.origin.clone() }, findings)
}

/// The fields of a field spec.
const SPEC_FIELDS: &[&str] = &["group", "version", "kind", "path", "create"];

/// Reads a field spec of `labels` or of a configuration.
pub(crate) fn read_spec(item: &Node, findings: &mut Vec<Finding>) -> Option<FieldSpec> {
    let mut gvk = Gvk::new("", "", "");
    let (mut path, mut create) = (Name::from(""), false);
    for entry in fields(item, findings)? {
        match &*entry.key.to_ascii_lowercase() {
            "path" => path = text(entry, findings),
            "create" => match entry.node.resolve(Reader::Kubernetes) {
                Some(Scalar::Bool(value)) => create = value,
                Some(Scalar::Null) => {}
                _ => findings.push(type_error(entry, "`true` or `false`")),
            },
            name => {
                if !read_gvk(&mut gvk, name, entry, findings) {
                    findings.push(unknown_field(entry, SPEC_FIELDS));
                }
            }
        }
    }
    let mut spec = FieldSpec::new(gvk, path, create);
    spec.span = Some(item.span().clone());
    if spec.depth() > MAX_KEYS {
        let message = format!("the path has more than {MAX_KEYS} keys");
        findings.push(Finding::error(FAILED_BUILD, item.span().clone(), message).help("shorten the path"));
        return None;
    }
    Some(spec)
}

fn read_gvk(gvk: &mut Gvk, name: &str, entry: &Entry, findings: &mut Vec<Finding>) -> bool {
    let field = match name {
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
            findings.push(type_error(entry, "a string"));
            "".into()
        }
    }
}

fn fields<'a>(item: &'a Node, findings: &mut Vec<Finding>) -> Option<&'a [Entry]> {
    if !item.is_map() && !item.is_null() {
        findings.push(Finding::error(FAILED_BUILD, item.span().clone(), "a field spec must be a mapping"));
        return None;
    }
    Some(item.entries())
}

fn items(entry: &Entry, findings: &mut Vec<Finding>) -> Vec<Node> {
    if !entry.node.is_seq() && !entry.node.is_null() {
        findings.push(type_error(entry, "a list"));
    }
    entry.node.items().to_vec()
}

fn type_error(entry: &Entry, expected: &str) -> Finding {
    Finding::error(FAILED_BUILD, entry.node.span().clone(), format!("`{}` must be {expected}", entry.key))
}

fn unknown_field(entry: &Entry, names: &[&str]) -> Finding {
    let place = entry.key_span();
    let message = format!("unknown field `{}` in a transformer configuration", entry.key);
    let help = match did_you_mean(&entry.key, names.iter().copied()) {
        _ if &*entry.key == "apiVersion" => "set `group` and `version` instead; kustomize rejects the file".to_string(),
        Some(meant) => format!("did you mean `{meant}`? kustomize rejects the file"),
        None => "remove it; kustomize rejects the file".to_string(),
    };
    let cause = format!("{} in {}", entry.key, place.file().path());
    let all = format!(" places of this transformer configuration have the unknown field `{}`", entry.key);
    Finding::error(FAILED_BUILD, place, message).help(help).caused_by(cause, "", all)
}
