//! Objects from which an operator creates a Secret or a ConfigMap: external secrets, sealed secrets, certificates.

use std::collections::BTreeSet;

use super::produced::{ObjectLookup, Produced, shell, unknown};
use crate::base::finding::ObjectRef;
use crate::flux::object::synthetic_node::entry;
use crate::kube::selector::Selector;
use crate::kube::{Object, ObjectId};
use crate::text::Span;
use crate::yaml::{Name, Node, Value};

/// A produced object with unknown values, whose keys may be known.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    keys: Vec<(Name, Span)>,
    open: bool,
    place: Span,
    by: ObjectRef,
}

impl Fetched {
    fn new(by: &Object) -> Self {
        Self { keys: Vec::new(), open: true, place: by.span().clone(), by: by.reference() }
    }

    /// Sets the complete list of keys. Without keys, the object may have any key.
    fn with_keys(self, keys: Vec<(Name, Span)>) -> Self {
        Self { open: keys.is_empty(), keys, ..self }
    }

    /// Adds the keys to the applied object of the same name.
    pub(super) fn added_to(&self, object: &Object) -> Produced {
        let place = object.span().clone();
        let empty = || Node::at(Value::Map([].into()), place.clone());
        let mut data = object.node.get("data").filter(|data| data.is_map()).cloned().unwrap_or_else(empty);
        for (key, place) in &self.keys {
            data = data.with(entry(key, unknown(key, place)));
        }
        let object = Object { node: object.node.with(entry("data", data)) };
        Produced { open: self.open, ..Produced::applied(object) }
    }

    pub(super) fn produced(&self, kind: &str, namespace: &str, name: &str) -> Produced {
        let data = self.keys.iter().map(|(key, place)| (key.clone(), unknown(key, place))).collect();
        let object = shell(kind, namespace, name, data, &self.place);
        Produced { object, open: self.open, by: Some(self.by.clone()), has_computed_name: false }
    }
}

/// The label with the name of a namespace, which the API server sets.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// An object produced in every namespace that a selector matches, and in the listed namespaces.
#[derive(Debug, Clone)]
pub(super) struct Everywhere {
    kind: &'static str,
    name: Name,
    selectors: Vec<Selector>,
    namespaces: Vec<Name>,
    pub(super) made: Fetched,
}

impl Everywhere {
    pub(super) fn makes(&self, kind: &str, namespace: &str, name: &str, known: ObjectLookup<'_>) -> bool {
        if self.kind != kind || *self.name != *name {
            return false;
        }
        if self.namespaces.iter().any(|own| **own == *namespace) || self.selectors.iter().any(Selector::is_empty) {
            return true;
        }
        let found = known("Namespace", "", namespace);
        let label = |key: &str| match key {
            NAME_LABEL => Some(namespace),
            key => found.as_ref()?.label(key),
        };
        // A namespace without a manifest has unknown labels, except for its name.
        let is_known = |selector: &Selector| found.is_some() || selector.keys().all(|key| key == NAME_LABEL);
        self.selectors.iter().any(|selector| is_known(selector) && selector.selects(label))
    }
}

type Made = (Name, Name, Name, Fetched);

/// The objects produced from an object: kind, namespace, name and keys.
pub(super) fn made_by(object: &Object) -> Vec<Made> {
    let namespace = ObjectId::of(object).settled().namespace;
    let said = |keys: &[&str]| object.text_at(keys).filter(|text| !text.is_empty());
    let secret = |name: Option<&str>, made: Fetched| {
        let name = name.unwrap_or(object.name());
        vec![("Secret".into(), namespace.into(), name.into(), made)]
    };
    // This is a closure, since almost no object produces other objects.
    let made = || Fetched::new(object);
    match (object.group(), object.kind()) {
        ("external-secrets.io", "ExternalSecret") => {
            if said(&["spec", "target", "creationPolicy"]) == Some("None") {
                return Vec::new();
            }
            let kind = said(&["spec", "target", "manifest", "kind"]).unwrap_or("Secret");
            let name = said(&["spec", "target", "name"]).unwrap_or(object.name());
            let made = external(&object.node, made(), &["spec"]);
            vec![(kind.into(), namespace.into(), name.into(), made)]
        }
        ("bitnami.com", "SealedSecret") => {
            let mut keys = keys_of(object.node.at_keys(&["spec", "encryptedData"]));
            keys.extend(keys_of(object.node.at_keys(&["spec", "template", "data"])));
            secret(None, made().with_keys(keys))
        }
        ("cert-manager.io", "Certificate") => {
            let Some(name) = object.node.at_keys(&["spec", "secretName"]).filter(|name| name.text().is_some()) else {
                return Vec::new();
            };
            let keys = ["tls.crt", "tls.key", "ca.crt"].map(|key| (Name::from(key), name.span().clone()));
            secret(name.text(), made().with_keys(keys.into()))
        }
        ("onepassword.com", "OnePasswordItem") | ("kafka.strimzi.io", "KafkaUser") => secret(None, made()),
        (
            "secrets.hashicorp.com",
            "VaultStaticSecret" | "VaultDynamicSecret" | "VaultPKISecret" | "HCPVaultSecretsApp",
        ) => secret(said(&["spec", "destination", "name"]), made()),
        ("isindir.github.com", "SopsSecret") => {
            let templates = object.node.at_keys(&["spec", "secretTemplates"]).map_or(&[][..], Node::items);
            let names = templates.iter().filter_map(|template| template.get("name")?.text());
            names.map(|name| ("Secret".into(), namespace.into(), name.into(), made())).collect()
        }
        ("secrets.infisical.com", "InfisicalSecret") => {
            let list = |field: &str| object.node.at_keys(&["spec", field]).map_or(&[][..], Node::items).iter();
            let secrets = list("managedKubeSecretReferences");
            let secrets = secrets.chain(object.node.at_keys(&["spec", "managedSecretReference"]));
            let config_maps = list("managedKubeConfigMapReferences");
            let created = |kind: &str, [name, home]: [&str; 2], reference: &Node| {
                let text = |field: &str| reference.get(field).and_then(Node::text);
                Some((kind.into(), text(home).unwrap_or(namespace).into(), text(name)?.into(), made()))
            };
            let secrets = secrets.filter_map(|one| created("Secret", ["secretName", "secretNamespace"], one));
            let config_maps =
                config_maps.filter_map(|one| created("ConfigMap", ["configMapName", "configMapNamespace"], one));
            secrets.chain(config_maps).collect()
        }
        ("postgresql.cnpg.io", "Cluster") => {
            let own = said(&["spec", "bootstrap", "initdb", "secret", "name"]).is_some();
            let ends = ["-app", "-superuser", "-ca", "-server", "-replication"];
            let ends = ends.into_iter().filter(|end| !own || *end != "-app");
            ends.flat_map(|end| secret(Some(&format!("{}{end}", object.name())), made())).collect()
        }
        ("postgres-operator.crunchydata.com", "PostgresCluster") => {
            let users = object.node.at_keys(&["spec", "users"]).map_or(&[][..], Node::items);
            let names = users.iter().filter_map(|user| user.get("name")?.text()).chain([object.name()]);
            names.flat_map(|user| secret(Some(&format!("{}-pguser-{user}", object.name())), made())).collect()
        }
        ("acid.zalan.do", "postgresql") => {
            let users = object.node.at_keys(&["spec", "users"]).map_or(&[][..], Node::entries);
            let names = users.iter().map(|user| user.key.replace('_', "-")).chain(["postgres".to_owned()]);
            let end = format!(".{}.credentials.postgresql.acid.zalan.do", object.name());
            names.flat_map(|user| secret(Some(&format!("{user}{end}")), made())).collect()
        }
        ("k8s.mariadb.com", "MariaDB") => {
            // The operator generates the password of a named Secret only if `generate` is set.
            let fields = [("rootPasswordSecretKeyRef", "-root"), ("passwordSecretKeyRef", "-password")];
            let named = fields.into_iter().filter_map(|(field, end)| match said(&["spec", field, "name"]) {
                Some(name) => (said(&["spec", field, "generate"]) == Some("true")).then(|| name.to_owned()),
                None => Some(format!("{}{end}", object.name())),
            });
            let named: Vec<String> = named.collect();
            named.iter().flat_map(|name| secret(Some(name), made())).collect()
        }
        ("rabbitmq.com", "RabbitmqCluster") => secret(Some(&format!("{}-default-user", object.name())), made()),
        ("elasticsearch.k8s.elastic.co", "Elasticsearch") => {
            let named = ["elastic-user", "http-certs-public"].map(|end| format!("{}-es-{end}", object.name()));
            named.iter().flat_map(|name| secret(Some(name), made())).collect()
        }
        ("objectbucket.io", "ObjectBucketClaim") => {
            let both = ["ConfigMap", "Secret"];
            both.map(|kind| (kind.into(), namespace.into(), object.name().into(), made())).into()
        }
        _ => Vec::new(),
    }
}

/// An object that an operator creates from another object.
#[derive(Debug, Clone)]
pub struct CreatedObject {
    /// The kind: `Secret` or another kind of the core group.
    pub kind: Name,
    /// The namespace.
    pub namespace: Name,
    /// The name.
    pub name: Name,
    /// The known keys of the data.
    pub keys: Vec<Name>,
}

/// The objects that an operator creates from an object, such as the Secret of an ExternalSecret.
pub fn created_by(object: &Object) -> Vec<CreatedObject> {
    let all = made_by(object).into_iter().map(|(kind, namespace, name, made)| {
        let keys = made.keys.into_iter().map(|(key, _)| key).collect();
        CreatedObject { kind, namespace, name, keys }
    });
    all.collect()
}

/// The objects that a producer creates in each selected namespace; empty if `object` is not such a producer.
pub(super) fn everywhere(object: &Object) -> Vec<Everywhere> {
    let pushed = match (object.group(), object.kind()) {
        ("external-secrets.io", "PushSecret") => object.node.get("spec"),
        ("external-secrets.io", "ClusterPushSecret") => object.node.at_keys(&["spec", "pushSecretSpec"]),
        _ => return in_namespaces(object).into_iter().collect(),
    };
    // A store of the provider `kubernetes` has the remote keys as Secrets, in the namespace that the store sets.
    let data = pushed.and_then(|spec| spec.get("data")).map_or(&[][..], Node::items).iter();
    let key = |one: &Node| one.at_keys(&["match", "remoteRef", "remoteKey"])?.shared_text();
    let keys: BTreeSet<Name> = data.filter_map(key).filter(|key| !key.contains('/')).collect();
    let secret = |name: Name| {
        let selectors = vec![Selector::default()];
        Everywhere { kind: "Secret", name, selectors, namespaces: Vec::new(), made: Fetched::new(object) }
    };
    keys.into_iter().map(secret).collect()
}

fn in_namespaces(object: &Object) -> Option<Everywhere> {
    let made = || Fetched::new(object);
    match (object.group(), object.kind()) {
        ("external-secrets.io", "ClusterExternalSecret") => {
            let inner = &["spec", "externalSecretSpec"];
            let target = object.text_at(&["spec", "externalSecretSpec", "target", "name"]);
            let name = target.or_else(|| object.text_at(&["spec", "externalSecretName"])).unwrap_or(object.name());
            let spec = object.node.get("spec");
            let field = |key: &str| spec.and_then(|spec| spec.get(key)).filter(|node| !node.is_null());
            let items = |key: &str| field(key).map_or(&[][..], Node::items);
            let namespaces: Vec<Name> = items("namespaces").iter().filter_map(Node::shared_text).collect();
            let written = items("namespaceSelectors").iter().chain(field("namespaceSelector"));
            let mut selectors: Vec<Selector> = written.filter_map(Selector::of).collect();
            if selectors.is_empty() && namespaces.is_empty() {
                selectors.push(selector(field("namespaceSelector"))?);
            }
            let made = external(&object.node, made(), inner);
            Some(Everywhere { kind: "Secret", name: name.into(), selectors, namespaces, made })
        }
        ("trust.cert-manager.io", "Bundle") => {
            let target = object.node.at_keys(&["spec", "target"])?;
            let key = target.get("configMap").and_then(|map| map.get("key"));
            let keys = key.and_then(|key| Some((key.shared_text()?, key.span().clone())));
            let selectors = vec![selector(target.get("namespaceSelector"))?];
            let made = made().with_keys(keys.into_iter().collect());
            Some(Everywhere { kind: "ConfigMap", name: object.name().into(), selectors, namespaces: Vec::new(), made })
        }
        _ => None,
    }
}

/// The annotations of the object that an operator creates from an object.
///
/// External Secrets Operator copies the annotations of an ExternalSecret without a template.
pub(super) fn annotations_of_made(object: &Object) -> Option<&Node> {
    match (object.group(), object.kind()) {
        ("external-secrets.io", "ExternalSecret") => match object.node.at_keys(&["spec", "target", "template"]) {
            Some(template) => template.at_keys(&["metadata", "annotations"]),
            None => object.node.at_keys(&["metadata", "annotations"]),
        },
        ("bitnami.com", "SealedSecret") => object.node.at_keys(&["spec", "template", "metadata", "annotations"]),
        ("cert-manager.io", "Certificate") => object.node.at_keys(&["spec", "secretTemplate", "annotations"]),
        ("secrets.hashicorp.com", _) => object.node.at_keys(&["spec", "destination", "annotations"]),
        _ => None,
    }
}

/// Reads a selector of namespaces; `None` if Kubernetes rejects the selector. A missing selector selects all
/// namespaces.
fn selector(node: Option<&Node>) -> Option<Selector> {
    match node.filter(|node| !node.is_null()) {
        Some(node) => Selector::of(node),
        None => Some(Selector::default()),
    }
}

/// The keys of an external secret: the keys of its template, or else the keys that the object fetches by name; both if
/// the template merges them.
fn external(node: &Node, made: Fetched, spec: &[&str]) -> Fetched {
    let Some(spec) = node.at_keys(spec) else { return made };
    let template = spec.at_keys(&["target", "template"]);
    let open = template.and_then(|template| template.get("templateFrom")).is_some();
    let templated = keys_of(template.and_then(|template| template.get("data")));
    let is_merged = template.and_then(|template| template.get("mergePolicy")?.text()) == Some("Merge");
    if !is_merged && (!templated.is_empty() || open) {
        return Fetched { open, keys: templated, ..made };
    }
    let fetched = spec.get("data").map_or(&[][..], Node::items).iter();
    let key = |item: &Node| item.get("secretKey").and_then(|key| Some((key.shared_text()?, key.span().clone())));
    let all = spec.get("dataFrom").is_none_or(|list| list.items().is_empty());
    let made = made.with_keys(fetched.filter_map(key).chain(templated).collect());
    Fetched { open: made.open || open || !all, ..made }
}

fn keys_of(map: Option<&Node>) -> Vec<(Name, Span)> {
    let entries = map.map_or(&[][..], Node::entries).iter();
    entries.map(|entry| (entry.key.clone(), entry.node.span().clone())).collect()
}
