//! What `buildMetadata` asks for: where each object came from, what was done to it, and who built it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::accumulator::Accumulator;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldSpec, Gvk};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::copy_of;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::objects::trace::{PluginRef, Source};
use crate::kustomize::text::string_value::{new_value, set_text_entry};
use crate::text::{File, Span, folder_of};
use crate::yaml::{By, Node, Style, Value, go};

/// What kustomize's field of that name holds; the version is that of the program whose output is the measure.
const MANAGED_BY_LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "kustomize-v5.8.1");
const ORIGIN: &str = "config.kubernetes.io/origin";
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

impl Accumulator {
    /// Notes that a field's transformers, so many of them, went over all objects.
    pub(crate) fn record_transformers(&mut self, kind: &str, count: usize) {
        if let Some(file) = self.traced_file.clone() {
            let plugin_ref = PluginRef::from_field(&file, kind);
            (0..count).for_each(|_| self.record_transformer(&plugin_ref));
        }
    }

    /// Notes that a transformer went over all objects.
    pub(crate) fn record_transformer(&mut self, plugin_ref: &Arc<PluginRef>) {
        if self.traced_file.is_none() {
            return;
        }
        for resource in &mut self.resources.list {
            let trace = &mut resource.history.trace;
            match trace.source {
                Some(_) => trace.transformers.push(plugin_ref.clone()),
                // What has no source was made by this transformer.
                None => trace.source = Some(Source::Generated(plugin_ref.clone())),
            }
        }
    }
}

/// Tells whether a kustomization at the top asks for anything to be noted.
pub(crate) fn has_build_metadata(definition: &Definition) -> bool {
    !definition.items("buildMetadata").is_empty()
}

/// Writes what the topmost kustomization asks for into an object.
pub(crate) fn write(resource: &mut Resource, definition: &Definition) {
    for option in definition.items("buildMetadata") {
        let (span, trace) = (option.span(), &resource.history.trace);
        let node = match option.text() {
            Some("managedByLabel") => {
                let (key, value) = MANAGED_BY_LABEL;
                set_entry(&resource.node, "metadata/labels", key, value.into(), span)
            }
            Some("originAnnotations") => {
                let text = trace.source.as_ref().map(|source| match source {
                    Source::File(path) => format!("path: {}\n", print_scalar(&relative_path(&definition.folder, path))),
                    Source::Generated(plugin_ref) => describe(plugin_ref, &definition.folder, ""),
                });
                text.map_or_else(|| resource.node.clone(), |text| annotate(&resource.node, ORIGIN, text, span))
            }
            Some("transformerAnnotations") if !trace.transformers.is_empty() => {
                let transformers = trace
                    .transformers
                    .iter()
                    .map(|plugin_ref| format!("- {}", describe(plugin_ref, &definition.folder, "  ")));
                annotate(&resource.node, TRANSFORMATIONS, transformers.collect(), span)
            }
            _ => continue,
        };
        resource.node = node;
    }
}

/// What the annotations say of it, each line behind `indent`.
fn describe(plugin: &PluginRef, top: &str, indent: &str) -> String {
    let mut out = format!("configuredIn: {}\n", print_scalar(&relative_path(top, &plugin.file)));
    let _ = write!(out, "{indent}configuredBy:\n{indent}  apiVersion: builtin\n{indent}  kind: {}\n", plugin.kind);
    for (field, value) in [("name", &plugin.name), ("namespace", &plugin.namespace)] {
        if !value.is_empty() {
            let _ = writeln!(out, "{indent}  {field}: {}", print_scalar(value));
        }
    }
    out
}

fn annotate(node: &Node, key: &str, text: String, span: &Span) -> Node {
    set_entry(node, "metadata/annotations", key, text, span)
}

fn set_entry(node: &Node, path: &str, key: &str, text: String, span: &Span) -> Node {
    let style = if text.contains('\n') { Style::Literal } else { Style::Double };
    let value = new_value(Value::Scalar(text.into(), style), By::Field(span.clone()));
    let spec = FieldSpec::new(Gvk::new("", "", ""), path, true);
    let mut set = |map: Option<&Node>| Ok(map.map(|map| set_text_entry(map, key, span, &value)));
    let result = spec.apply(node, CreateKind::Map(span), &mut set);
    // Metadata that are no mapping were refused when the object was read.
    result.ok().flatten().unwrap_or_else(|| node.clone())
}

/// A text as YAML.
fn print_scalar(text: &str) -> String {
    let nowhere = File::new("", "").first_line();
    go::print(&Node::scalar(text, Style::Double, nowhere)).trim_end().to_string()
}

/// The path of a file from a folder, both given from the tree's root; that of a copy's file is from the copy's root.
fn relative_path(folder: &str, path: &str) -> String {
    if let Some(place) = copy_of(path) {
        return path.get(place.len() + 1..).unwrap_or_default().to_owned();
    }
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_string).collect::<Vec<_>>();
    let (from, to) = (parts(folder), parts(folder_of(path)));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let name = path.rsplit('/').next().unwrap_or(path);
    let up = from.iter().skip(common).map(|_| "..".to_string());
    up.chain(to.into_iter().skip(common)).chain([name.to_string()]).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::relative_path;

    #[test]
    fn a_path_is_given_from_the_folder_that_is_built() {
        assert_eq!(relative_path("overlay", "base/a.yaml"), "../base/a.yaml");
        assert_eq!(relative_path("", "base/a.yaml"), "base/a.yaml");
        assert_eq!(relative_path("a/b", "a/b/c.yaml"), "c.yaml");
    }
}
