//! `openapi`: the schema that a kustomization references.

use std::sync::Arc;

use super::accumulator::Accumulator;
use crate::base::finding::Finding;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::user_schema::UserSchema;

/// The version of the built-in schema, the only version that kustomize accepts.
const BUILT_IN_VERSION: &str = "v1.21.2";

/// Reads the field `openapi`. The first schema of a build applies; later schemas are ignored.
///
/// kustomize loads its built-in schema with the first object, and adds a later schema to the built-in schema.
/// `has_objects` is true if the build already has an object.
pub(crate) fn run(
    files: &Files,
    definition: &Definition,
    schema: &mut Option<Arc<UserSchema>>,
    has_objects: bool,
    accumulator: &mut Accumulator,
) {
    let Some(openapi) = definition.entry("openapi") else { return };
    let field_value = |field: &str| openapi.node.get(field).filter(|node| !node.is_null());
    match (field_value("path"), field_value("version")) {
        (Some(_), Some(version)) => {
            let message = "`openapi` has both `path` and `version`, but kustomize accepts only one of them";
            accumulator.fail(Finding::error(FAILED_BUILD, version.span().clone(), message).help("remove one of them"));
        }
        (None, Some(version)) if version.text().is_some_and(|text| !text.is_empty() && text != BUILT_IN_VERSION) => {
            let message = format!("kustomize only has the schema of version `{BUILT_IN_VERSION}`");
            accumulator.fail(Finding::error(FAILED_BUILD, version.span().clone(), message));
        }
        (None, Some(version)) if version.text().is_some_and(|text| !text.is_empty()) => {
            schema.get_or_insert_with(|| Arc::new(UserSchema::built_in_only()));
        }
        (Some(path), None) => match files.locate(&definition.folder, path) {
            Err(finding) => accumulator.fail(finding),
            Ok(_) if schema.is_some() => {}
            Ok(path_in_tree) => {
                let parsed = files.get(&path_in_tree);
                parsed.iter().flat_map(|parsed| &parsed.findings).for_each(|finding| accumulator.fail(finding.clone()));
                let root = parsed.as_ref().and_then(|parsed| parsed.documents.first());
                *schema = root.map(|root| Arc::new(UserSchema::read(&root.node, has_objects)));
            }
        },
        _ => {}
    }
}
