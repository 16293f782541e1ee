//! `crds`: field specs for custom kinds, from `OpenAPI` definitions in files.

use super::field_spec::{FieldSpec, Gvk};
use super::transformer_config::{ConfigField, Conflict, TransformerConfig};
use crate::yaml::go::is_field;
use crate::yaml::{Name, Node};

/// The maximum depth of nested definitions. A definition may reference itself.
const MAX_DEPTH: usize = 32;
/// The maximum number of fields in a file.
const MAX_FIELDS: usize = 10_000;

/// Reads a file of definitions: a mapping from type names to definitions.
pub(crate) fn read(root: &Node) -> Result<TransformerConfig, Conflict> {
    let mut reader = Reader { root, config: TransformerConfig::default(), remaining: MAX_FIELDS };
    for entry in root.entries() {
        let properties = properties(&entry.node);
        let has = |field: &str| properties.is_some_and(|properties| properties.get(field).is_some());
        if ["kind", "apiVersion", "metadata"].iter().all(|field| has(field)) {
            let kind = entry.key.rsplit('.').next().unwrap_or(&entry.key);
            reader.walk(&Gvk::new("", "", kind), &entry.key, &[], 0)?;
        }
    }
    Ok(reader.config)
}

/// The properties of a definition. Go's decoder ignores the case of letters.
fn properties(definition: &Node) -> Option<&Node> {
    let field = |node: &'_ Node, name: &str| node.entries().iter().position(|entry| is_field(&entry.key, name));
    let schema = definition.entries().get(field(definition, "Schema")?)?;
    schema.node.get("properties")
}

struct Reader<'a> {
    root: &'a Node,
    config: TransformerConfig,
    remaining: usize,
}

impl Reader<'_> {
    fn walk(&mut self, gvk: &Gvk, kind: &str, path: &[Name], depth: usize) -> Result<(), Conflict> {
        let Some(properties) = self.root.get(kind).and_then(properties) else { return Ok(()) };
        if depth >= MAX_DEPTH {
            return Ok(());
        }
        for entry in properties.entries() {
            let Some(remaining) = self.remaining.checked_sub(1) else { return Ok(()) };
            self.remaining = remaining;
            let extension = |name: &str| entry.node.get(&format!("x-kubernetes-{name}")).and_then(Node::shared_text);
            let below = |more: Option<Name>| -> Vec<Name> {
                path.iter().cloned().chain([entry.key.clone()]).chain(more).collect()
            };
            let spec = |path: Vec<Name>| {
                let mut spec = FieldSpec::new(gvk.clone(), path.join("/"), false);
                spec.span = Some(entry.key_span());
                spec
            };
            let config_fields = [
                ("annotation", ConfigField::CommonAnnotations),
                ("label-selector", ConfigField::CommonLabels),
                ("identity", ConfigField::NamePrefix),
            ];
            for (extension_name, config_field) in config_fields {
                if extension(extension_name).is_some() {
                    self.config.add(config_field, &spec(below(None)))?;
                }
            }
            if let (Some(version), Some(kind)) = (extension("object-ref-api-version"), extension("object-ref-kind")) {
                let key = extension("object-ref-name-key").unwrap_or_else(|| "name".into());
                let target = Gvk { group: "".into(), version, kind };
                self.config.add_reference(&target, spec(below(Some(key))))?;
            }
            if let Some(next) = entry.node.get("$ref").and_then(Node::text) {
                self.walk(gvk, next, &below(None), depth + 1)?;
            }
        }
        Ok(())
    }
}
