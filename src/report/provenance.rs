//! Where fields come from, as programs read it: shared by `build` and `trace`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::ObjectRef;
use crate::flux::{Agent, Applier, ApplierKind, Cause, State, pointer};
use crate::yaml::{Node, Path, Style, Value};

/// A Kubernetes object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ObjectName", deny_unknown_fields)]
pub(super) struct JsonReference {
    /// Its `apiVersion`.
    api_version: String,
    /// Its `kind`.
    kind: String,
    /// Its namespace; null for objects without one.
    namespace: Option<String>,
    /// Its name.
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

/// What applies objects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Applier", deny_unknown_fields)]
pub(super) struct JsonApplier {
    /// What it is.
    kind: Kind,
    /// The object that it is.
    object: JsonReference,
    /// The source that it builds from; null where it has none.
    source: Option<JsonReference>,
    /// The folder that it applies, from the root of its source.
    folder: String,
    /// How its build went.
    state: JsonState,
    /// Why it was not built, when that is no fault; null otherwise.
    reason: Option<String>,
}

/// What an applier is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApplierKind")]
enum Kind {
    /// What somebody installed.
    Bootstrap,
    /// A Kustomization of Flux.
    Kustomization,
    /// A FluxInstance.
    FluxInstance,
    /// A ResourceSet.
    ResourceSet,
    /// A folder of a repository without a root.
    Folder,
}

/// How a build went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BuildState")]
enum JsonState {
    /// It built.
    Built,
    /// It does not build.
    Failed,
    /// It was not built, for a reason that is no fault.
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

/// A field and the places that gave it its value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Field", deny_unknown_fields)]
pub(super) struct JsonField {
    /// The field, as a JSON pointer.
    path: String,
    /// Whether nobody can know the value, as that of a variable that a Secret holds: then the variable is shown.
    unknown: bool,
    /// The places, in the order in which they act; the last one decided.
    causes: Vec<JsonCause>,
}

/// A place that had a say in a value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cause", deny_unknown_fields)]
struct JsonCause {
    /// What stands there.
    by: By,
    /// The folder of another repository that `path` starts in; null for the folder that was read.
    root: Option<String>,
    /// The file, relative to the folder that was read or to `root`, with `/` between segments.
    path: String,
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column in characters, from 1.
    #[schemars(range(min = 1))]
    column: u32,
    /// The name of the variable; null for other places.
    variable: Option<String>,
    /// The object that defines the variable; null for other places, and when the applier does.
    from: Option<JsonReference>,
}

/// What stands at a place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CauseKind")]
enum By {
    /// The manifest that the object was first written in.
    Base,
    /// An entry of a generator.
    Generator,
    /// A field of a kustomization.
    Kustomization,
    /// A patch of a kustomization.
    Patch,
    /// A patch of the Flux object that applies it.
    FluxPatch,
    /// Another field of the Flux object that applies it.
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

/// The JSON Schema of a document of ours.
pub(super) fn schema_of<T: JsonSchema>() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
