//! What an object that applies others asks for: read once, however many clusters have it.

use std::sync::OnceLock;

use super::digest::{Digest, Hasher};
use super::sops::is_asked;
use crate::base::finding::ObjectRef;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::object::source_path::clamp;
use crate::flux::source::reference::SourceRef;
use crate::kube::Object;
use crate::kube::groups;
use crate::yaml::{Name, Node, Style, Value};

/// What an object that applies others asks for.
#[derive(Debug)]
pub(crate) struct Asks {
    pub(crate) kind: ApplierKind,
    pub(crate) reference: ObjectRef,
    pub(crate) object: Object,
    /// The source of a Kustomization.
    pub(crate) source: Option<SourceRef>,
    /// The folder of a Kustomization, from the root of its source.
    pub(crate) folder: String,
    /// The cluster that a Kustomization applies to when that is another one.
    pub(crate) target: Option<Name>,
    // Nobody asks for the digests of what is not built.
    digest: OnceLock<Digest>,
    variables: OnceLock<Option<Digest>>,
    metadata: OnceLock<Option<Digest>>,
}

/// The fields of a Kustomization that decide what its folder builds to.
const FOLDER_FIELDS: [&str; 10] = [
    "patchesStrategicMerge",
    "patchesJson6902",
    "targetNamespace",
    "namePrefix",
    "nameSuffix",
    "patches",
    "components",
    "ignoreMissingComponents",
    "images",
    "buildMetadata",
];

impl Asks {
    /// Reads an object that applies others.
    pub(crate) fn of(kind: ApplierKind, object: &Object) -> Self {
        let is_kustomization = kind == ApplierKind::Kustomization;
        let spec = |key: &str| object.node.at_keys(&["spec", key]).filter(|_| is_kustomization);
        Self {
            kind,
            reference: object.reference(),
            object: object.clone(),
            source: SourceRef::of_kustomization(object).filter(|_| is_kustomization),
            folder: clamp(spec("path").and_then(Node::text).unwrap_or_default()),
            target: spec("kubeConfig").filter(|config| config.is_map()).map(|config| target_of(object, config)),
            digest: OnceLock::new(),
            variables: OnceLock::new(),
            metadata: OnceLock::new(),
        }
    }

    /// Whether the folder of a Kustomization is known: a Secret's value may be a part of it.
    pub(crate) fn is_folder_known(&self) -> bool {
        let path = self.object.node.at_keys(&["spec", "path"]);
        !path.is_some_and(|path| matches!(path.value, Value::Scalar(_, Style::Unknown)))
    }

    /// What decides the build: of a Kustomization, that of its folder.
    pub(crate) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| match self.kind {
            ApplierKind::Kustomization => folder_digest(&self.object, &self.folder),
            _ => whole_digest(&self.object),
        })
    }

    /// What decides the variables of a Kustomization, when it substitutes.
    pub(crate) fn variables(&self) -> Option<Digest> {
        *self.variables.get_or_init(|| self.said("postBuild").map(|node| variables_digest(&self.object, node)))
    }

    /// What decides the `commonMetadata` of a Kustomization, when it has any.
    pub(crate) fn metadata(&self) -> Option<Digest> {
        *self.metadata.get_or_init(|| self.said("commonMetadata").map(metadata_digest))
    }

    /// A mapping in the `spec` of a Kustomization.
    fn said(&self, key: &str) -> Option<&Node> {
        let is_kustomization = self.kind == ApplierKind::Kustomization;
        self.object.node.at_keys(&["spec", key]).filter(|node| is_kustomization && node.is_map())
    }
}

/// Clusters whose Kustomizations ask for the same share a build, though its places are those of one of them.
fn folder_digest(object: &Object, folder: &str) -> Digest {
    let spec = |key: &str| object.node.at_keys(&["spec", key]);
    let mut hasher = Hasher::new("folder");
    hasher.text(folder);
    hasher.text(if is_asked(object) { "decrypted" } else { "" });
    for field in FOLDER_FIELDS {
        if let Some(node) = spec(field) {
            hasher.text(field);
            hasher.content(node);
        }
    }
    hasher.finish()
}

/// An object with its places.
pub(super) fn whole_digest(object: &Object) -> Digest {
    let mut hasher = Hasher::new("object");
    hasher.node(&object.node);
    hasher.finish()
}

/// The places of variables that stand in the object itself count here, since they are told for each of them.
fn variables_digest(object: &Object, post_build: &Node) -> Digest {
    let mut hasher = Hasher::new("variables");
    hasher.text(object.namespace().unwrap_or_default());
    if post_build.get("substitute").is_some_and(|values| !values.entries().is_empty()) {
        hasher.node(post_build);
    } else {
        hasher.content(post_build);
    }
    hasher.finish()
}

fn metadata_digest(metadata: &Node) -> Digest {
    let mut hasher = Hasher::new("metadata");
    hasher.content(metadata);
    hasher.finish()
}

/// The name of another cluster: that of the Secret or ConfigMap that leads to it. Hubs often give each cluster a
/// namespace, in which it has the same name everywhere, and one Secret may hold several kubeconfigs.
fn target_of(object: &Object, config: &Node) -> Name {
    let said = |keys: &[&str]| config.at_keys(keys).and_then(Node::text).filter(|text| !text.is_empty());
    let name = said(&["secretRef", "name"]).or_else(|| said(&["configMapRef", "name"])).unwrap_or_default();
    let namespace = object.namespace().filter(|namespace| *namespace != groups::FLUX_NAMESPACE);
    let name = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    match said(&["secretRef", "key"]).filter(|key| !matches!(*key, "value" | "value.yaml")) {
        Some(key) => format!("{name}/{key}").into(),
        None => name.into(),
    }
}
