//! The specification of an applier: the fields that its build reads. Clusters that receive the same object share the
//! specification.

use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};

use super::digest::{Digest, Hasher};
use super::sops::is_enabled;
use crate::base::finding::ObjectRef;
use crate::flux::model::applier_fields::ApplierFields;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::object::kustomization_path::clamp;
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, ObjectKey, groups};
use crate::yaml::{Name, Node, Style, Value};

/// The fields of an applier that its build reads.
#[derive(Debug)]
pub(crate) struct ApplierSpec {
    pub(crate) object: Object,
    values: Arc<SpecValues>,
}

/// The part of a specification that depends only on the text of the object. Clusters share it if they receive copies of
/// a Kustomization.
#[derive(Debug)]
pub(crate) struct SpecValues {
    fields: Arc<ApplierFields>,
    key: Arc<ObjectKey>,
    /// The source of a Kustomization.
    source: Option<SourceRef>,
    // The digests are lazy, since only built appliers need them.
    digest: OnceLock<Digest>,
    variables: OnceLock<Option<Digest>>,
    metadata: OnceLock<Option<Digest>>,
}

/// The fields of a Kustomization that determine the build of its directory.
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

impl Deref for ApplierSpec {
    type Target = ApplierFields;

    fn deref(&self) -> &ApplierFields {
        &self.values.fields
    }
}

impl ApplierSpec {
    /// Reads the specification from the object of an applier. `key` is the identity of the object.
    pub(crate) fn read(kind: ApplierKind, object: &Object, key: impl FnOnce() -> Arc<ObjectKey>) -> Self {
        Self { object: object.clone(), values: Arc::new(SpecValues::read(kind, object, key())) }
    }

    /// The specification of an object with the values of a copy of the object.
    pub(super) fn of_copy(object: &Object, values: Arc<SpecValues>) -> Self {
        Self { object: object.clone(), values }
    }

    /// The specification of a Kustomization that applies its objects to its own cluster, whatever its `kubeConfig`.
    pub(crate) fn on_own_cluster(&self) -> Self {
        let SpecValues { fields, key, source, .. } = &*self.values;
        let fields = Arc::new(ApplierFields { target: None, ..(**fields).clone() });
        let values = SpecValues::new(fields, key.clone(), source.clone());
        Self { object: self.object.clone(), values: Arc::new(values) }
    }

    /// The part that depends only on the text of the object; `None` if the digests include positions.
    pub(super) fn shareable(&self) -> Option<&Arc<SpecValues>> {
        let has_positions = self.kind != ApplierKind::Kustomization || has_inline_variables(&self.object);
        (!has_positions).then_some(&self.values)
    }

    /// The fields that appliers with equal objects share.
    pub(crate) fn fields(&self) -> &Arc<ApplierFields> {
        &self.values.fields
    }

    /// The identity of the object.
    pub(crate) fn key(&self) -> &Arc<ObjectKey> {
        &self.values.key
    }

    /// The source of a Kustomization.
    pub(crate) fn source_ref(&self) -> Option<&SourceRef> {
        self.values.source.as_ref()
    }

    /// Returns whether the directory of a Kustomization is known. A path that contains the value of a Secret is
    /// unknown.
    pub(crate) fn is_folder_known(&self) -> bool {
        let path = self.object.node.at_keys(&["spec", "path"]);
        !path.is_some_and(|path| matches!(path.value, Value::Scalar(_, Style::Unknown)))
    }

    /// The digest of the fields that determine the build. For a Kustomization, these are the fields that determine the
    /// build of its directory.
    pub(crate) fn digest(&self) -> Digest {
        *self.values.digest.get_or_init(|| match self.kind {
            ApplierKind::Kustomization => folder_digest(&self.object, &self.folder),
            _ => whole_digest(&self.object),
        })
    }

    /// The digest of the fields that determine the variables of a Kustomization; `None` without `postBuild`.
    pub(crate) fn variables(&self) -> Option<Digest> {
        *self
            .values
            .variables
            .get_or_init(|| self.spec_map("postBuild").map(|node| variables_digest(&self.object, node)))
    }

    /// The digest of the `commonMetadata` of a Kustomization, if it is set.
    pub(crate) fn metadata(&self) -> Option<Digest> {
        *self.values.metadata.get_or_init(|| self.spec_map("commonMetadata").map(metadata_digest))
    }

    /// A mapping in the `spec` of a Kustomization; `None` for other appliers.
    fn spec_map(&self, key: &str) -> Option<&Node> {
        let is_kustomization = self.kind == ApplierKind::Kustomization;
        self.object.node.at_keys(&["spec", key]).filter(|node| is_kustomization && node.is_map())
    }
}

impl SpecValues {
    fn read(kind: ApplierKind, object: &Object, key: Arc<ObjectKey>) -> Self {
        let is_kustomization = kind == ApplierKind::Kustomization;
        let spec = |key: &str| object.node.at_keys(&["spec", key]).filter(|_| is_kustomization);
        let source = SourceRef::of_kustomization(object).filter(|_| is_kustomization);
        let fields = ApplierFields {
            kind,
            reference: object.reference(),
            source: source.as_ref().map(reference),
            folder: clamp(spec("path").and_then(Node::text).unwrap_or_default()),
            target: spec("kubeConfig").filter(|config| config.is_map()).map(|config| target_of(object, config)),
        };
        Self::new(Arc::new(fields), key, source)
    }

    fn new(fields: Arc<ApplierFields>, key: Arc<ObjectKey>, source: Option<SourceRef>) -> Self {
        Self { fields, key, source, digest: OnceLock::new(), variables: OnceLock::new(), metadata: OnceLock::new() }
    }
}

/// The API version of sources.
static SOURCE_VERSION: LazyLock<Name> = LazyLock::new(|| "source.toolkit.fluxcd.io/v1".into());

fn reference(source: &SourceRef) -> ObjectRef {
    ObjectRef {
        api_version: SOURCE_VERSION.clone(),
        kind: source.kind.clone(),
        namespace: Some(source.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        name: source.name.clone(),
    }
}

/// The digest of the input of a directory's build. Kustomizations with equal fields share a build, which has the
/// positions of one of these Kustomizations.
fn folder_digest(object: &Object, folder: &str) -> Digest {
    let spec = |key: &str| object.node.at_keys(&["spec", key]);
    let mut hasher = Hasher::new("folder");
    hasher.text(folder);
    hasher.text(if is_enabled(object) { "decrypted" } else { "" });
    for field in FOLDER_FIELDS {
        if let Some(node) = spec(field) {
            hasher.text(field);
            hasher.content(node);
        }
    }
    hasher.finish()
}

/// The digest of an object and of the positions of its nodes.
pub(crate) fn whole_digest(object: &Object) -> Digest {
    let mut hasher = Hasher::new("object");
    hasher.node(&object.node);
    hasher.finish()
}

/// The digest of a FluxInstance without the path of its sync, which is the directory of the cluster.
pub(crate) fn instance_digest(object: &Object) -> Digest {
    let mut hasher = Hasher::new("instance");
    for entry in object.node.entries() {
        hasher.text(&entry.key);
        match &*entry.key {
            "spec" => {
                hasher.content(&entry.node.without("sync"));
                entry.node.get("sync").iter().for_each(|sync| hasher.content(&sync.without("path")));
            }
            _ => hasher.content(&entry.node),
        }
    }
    hasher.finish()
}

/// The digest of `postBuild`. If `postBuild` has inline variables, the digest includes positions, since findings point
/// at these variables.
fn variables_digest(object: &Object, post_build: &Node) -> Digest {
    let mut hasher = Hasher::new("variables");
    hasher.text(object.namespace().unwrap_or_default());
    if has_inline_variables(object) {
        hasher.node(post_build);
    } else {
        hasher.content(post_build);
    }
    hasher.finish()
}

/// Returns whether a Kustomization sets values of variables itself.
fn has_inline_variables(object: &Object) -> bool {
    let values = object.node.at_keys(&["spec", "postBuild", "substitute"]);
    values.is_some_and(|values| !values.entries().is_empty())
}

fn metadata_digest(metadata: &Node) -> Digest {
    let mut hasher = Hasher::new("metadata");
    hasher.content(metadata);
    hasher.finish()
}

/// The name of another cluster: the name of the Secret or ConfigMap in `kubeConfig`, with its namespace and key unless
/// these are the defaults. A hub often has a namespace for each cluster, with a Secret of the same name in each
/// namespace. One Secret may contain several kubeconfigs.
fn target_of(object: &Object, config: &Node) -> Name {
    let text_at = |keys: &[&str]| config.at_keys(keys).and_then(Node::text).filter(|text| !text.is_empty());
    let name = text_at(&["secretRef", "name"]).or_else(|| text_at(&["configMapRef", "name"])).unwrap_or_default();
    let namespace = object.namespace().filter(|namespace| *namespace != groups::FLUX_NAMESPACE);
    let name = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    match text_at(&["secretRef", "key"]).filter(|key| !matches!(*key, "value" | "value.yaml")) {
        Some(key) => format!("{name}/{key}").into(),
        None => name.into(),
    }
}
