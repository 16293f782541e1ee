//! The JSON form of appliers and of the provenance of fields, shared by `build` and `trace`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::ObjectRef;
use crate::flux::{Agent, Applier, ApplierKind, Cause, State, pointer};
use crate::yaml::{Node, Path, Style, Value};

/// A reference to a Kubernetes object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ObjectName", deny_unknown_fields)]
pub(super) struct JsonReference {
    /// The `apiVersion` of the object.
    api_version: String,
    /// The `kind` of the object.
    kind: String,
    /// The namespace; null if the object has none.
    namespace: Option<String>,
    /// The name of the object.
    name: String,
}

impl From<&ObjectRef> for JsonReference {
    fn from(reference: &ObjectRef) -> Self {
        Self {
            api_version: reference.api_version.to_string(),
            kind: reference.kind.to_string(),
            namespace: reference.namespace.as_ref().map(ToString::to_string),
            name: reference.name.to_string(),
        }
    }
}

/// An object or a directory that applies objects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Applier", deny_unknown_fields)]
pub(super) struct JsonApplier {
    /// The kind of the applier.
    kind: Kind,
    /// The object.
    object: JsonReference,
    /// The source; null if there is none.
    source: Option<JsonReference>,
    /// The applied directory, relative to the root of the source.
    folder: String,
    /// The state of the build.
    state: JsonState,
    /// The reason why the applier was not built, if that is not an error; null otherwise.
    reason: Option<String>,
}

/// The kind of an applier.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApplierKind")]
enum Kind {
    /// The bootstrap installation of the cluster.
    Bootstrap,
    /// A Flux Kustomization.
    Kustomization,
    /// A FluxInstance.
    FluxInstance,
    /// A ResourceSet.
    ResourceSet,
    /// A directory of a repository without a root.
    Folder,
}

/// The state of a build.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BuildState")]
enum JsonState {
    /// The build succeeded.
    Built,
    /// The build failed.
    Failed,
    /// The build was not attempted, for a reason that is not an error.
    NotBuilt,
}

impl From<&Applier> for JsonApplier {
    fn from(applier: &Applier) -> Self {
        let kind = match applier.kind {
            ApplierKind::Bootstrap => Kind::Bootstrap,
            ApplierKind::Kustomization => Kind::Kustomization,
            ApplierKind::FluxInstance => Kind::FluxInstance,
            ApplierKind::ResourceSet => Kind::ResourceSet,
            ApplierKind::Folder => Kind::Folder,
        };
        let (state, reason) = match &applier.state {
            State::Built => (JsonState::Built, None),
            State::Failed => (JsonState::Failed, None),
            State::NotBuilt(why) => (JsonState::NotBuilt, Some(why.to_string())),
        };
        Self {
            kind,
            object: (&applier.reference).into(),
            source: applier.source.as_ref().map(JsonReference::from),
            folder: applier.folder.clone(),
            state,
            reason,
        }
    }
}

/// A field and the positions that set its value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Field", deny_unknown_fields)]
pub(super) struct JsonField {
    /// The path of the field as a JSON pointer.
    path: String,
    /// `true` if the value is unknown, such as a variable from a Secret; the value then contains the variable.
    unknown: bool,
    /// The positions in the order of their effect; the last one sets the value.
    causes: Vec<JsonCause>,
}

/// A position that affects a value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cause", deny_unknown_fields)]
struct JsonCause {
    /// The kind of the position.
    by: By,
    /// The directory of another repository that `path` is relative to; null for the input directory.
    root: Option<String>,
    /// The path of the file relative to `root` or to the input directory, with `/` between segments.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column in characters, from 1.
    #[schemars(range(min = 1))]
    column: u32,
    /// The name of the variable; null for other kinds.
    variable: Option<String>,
    /// The object that defines the variable; null for other kinds, and if the applier defines it.
    from: Option<JsonReference>,
}

/// The kind of a position.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CauseKind")]
enum By {
    /// The manifest that defines the object.
    Base,
    /// An entry of a generator.
    Generator,
    /// A field of a kustomization.
    Kustomization,
    /// A patch of a kustomization.
    Patch,
    /// A patch of the applier.
    FluxPatch,
    /// Another field of the applier.
    FluxField,
    /// A variable that Flux substitutes.
    Variable,
}

impl JsonField {
    pub(super) fn new(path: &Path, node: &Node, causes: &[Cause]) -> Self {
        let unknown = matches!(node.value, Value::Scalar(_, Style::Unknown));
        Self { path: pointer(path), unknown, causes: causes.iter().map(JsonCause::from).collect() }
    }
}

impl From<&Cause> for JsonCause {
    fn from(cause: &Cause) -> Self {
        let (by, variable, from) = match &cause.by {
            Agent::Base => (By::Base, None, None),
            Agent::Generator => (By::Generator, None, None),
            Agent::Field => (By::Kustomization, None, None),
            Agent::Patch => (By::Patch, None, None),
            Agent::FluxPatch => (By::FluxPatch, None, None),
            Agent::FluxField => (By::FluxField, None, None),
            Agent::Variable { name, from, .. } => {
                (By::Variable, Some(name.to_string()), from.as_ref().map(JsonReference::from))
            }
        };
        let place = cause.place.position();
        let (path, root) = (cause.place.file().path().to_owned(), cause.place.file().root());
        Self { by, root: root.map(ToString::to_string), path, line: place.line, column: place.column, variable, from }
    }
}

/// Returns the JSON Schema of a document type.
pub(super) fn schema_of<T: JsonSchema>() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
