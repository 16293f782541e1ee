//! The producers of ConfigMaps and Secrets without a manifest: policies, controllers that copy objects, operators that
//! fetch secrets, and declarations of the configuration.

pub(super) mod produced;
mod declared;
pub(super) mod fetched;
mod kyverno;
mod reflector;
mod replicator;

use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::config::Declared;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::object::synthetic_node::entry;
use crate::kube::Object;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node, Value};
use produced::{ObjectLookup, Produced, unknown};

/// The maximum length of a chain of copies.
const MAX_COPIES: usize = 8;

/// The annotation with which a ResourceSet copies the data of another object.
pub const COPY_FROM: &str = "fluxcd.controlplane.io/copyFrom";
/// The annotation with which a ResourceSet reads the address of a cluster from a kubeconfig.
pub const CONVERT_FROM: &str = "fluxcd.controlplane.io/convertKubeConfigFrom";

/// Returns whether an object produces other objects, so that [`Producers::take`] must process it.
pub(super) fn is_producer(object: &Object) -> bool {
    match object.group() {
        "" => matches!(object.kind(), "ConfigMap" | "Secret") && is_annotated(object),
        "kyverno.io" | "policies.kyverno.io" => true,
        _ => fetched::made_by(object).into_iter().next().is_some() || !fetched::everywhere(object).is_empty(),
    }
}

/// Returns whether a ConfigMap or Secret has an annotation with which a controller copies objects or their data.
fn is_annotated(object: &Object) -> bool {
    let annotations = object.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    let is_ours = |key: &str| {
        key == COPY_FROM || key == CONVERT_FROM || reflector::is_annotation(key) || replicator::is_annotation(key)
    };
    annotations.iter().any(|entry| is_ours(&entry.key))
}

/// The producers of ConfigMaps and Secrets of a cluster.
#[derive(Debug, Clone, Default)]
pub struct Producers {
    /// The produced objects with a known name.
    fetched: Index<(Name, Name, Name), fetched::Fetched>,
    /// The producers for many namespaces.
    everywhere: Vec<fetched::Everywhere>,
    /// The objects of ResourceSets with the data of another object.
    filled: Index<(Name, Name, Name), Filling>,
    reflected: reflector::Reflected,
    replicated: replicator::Replicated,
    rules: Vec<kyverno::Rule>,
    declared: Vec<Arc<Declared>>,
}

/// The source of the data of a ResourceSet's object.
#[derive(Debug, Clone)]
enum Filling {
    Copy { namespace: Name, name: Name, by: ObjectRef },
    KubeConfig,
}

impl Producers {
    /// Creates the producers of a cluster with the objects that the configuration declares.
    pub fn declared(cluster: &str, all: &[Declared]) -> Self {
        let declared = all.iter().filter(|declared| declared.is_on(cluster));
        Self { declared: declared.cloned().map(Arc::new).collect(), ..Self::default() }
    }

    /// Registers an object that an applier applies, if the object produces other objects.
    pub fn take(&mut self, object: &Object, applier: ApplierKind) {
        match object.group() {
            "" if matches!(object.kind(), "ConfigMap" | "Secret") => {
                self.reflected.take(object);
                self.replicated.take(object);
                if applier == ApplierKind::ResourceSet {
                    self.fill(object);
                }
            }
            "kyverno.io" | "policies.kyverno.io" => self.rules.extend(kyverno::rules(object)),
            _ => {
                let annotations = fetched::annotations_of_made(object);
                for (kind, namespace, name, made) in fetched::made_by(object) {
                    let id = (kind.clone(), namespace.clone(), name.clone());
                    self.reflected.take_made(object, id.clone(), annotations);
                    self.replicated.take_made(object, id, annotations);
                    self.fetched.insert((kind, namespace, name), made);
                }
                self.everywhere.extend(fetched::everywhere(object));
            }
        }
    }

    /// Finds a ConfigMap or Secret of the cluster, applied or produced; `None` if no known applier or producer creates
    /// the object.
    pub fn find(&self, kind: &str, namespace: &str, name: &str, known: ObjectLookup<'_>) -> Option<Produced> {
        self.follow(kind, namespace, name, known, 0)
    }

    fn fill(&mut self, object: &Object) {
        let filling = match (object.annotation(COPY_FROM), object.annotation(CONVERT_FROM)) {
            (Some(from), _) => {
                let Some((namespace, name)) = from.split_once('/') else { return };
                Filling::Copy { namespace: namespace.into(), name: name.into(), by: object.reference() }
            }
            (None, Some(_)) if object.kind() == "ConfigMap" => Filling::KubeConfig,
            _ => return,
        };
        self.filled.insert(key(object), filling);
    }

    fn follow(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        known: ObjectLookup<'_>,
        depth: usize,
    ) -> Option<Produced> {
        if depth == MAX_COPIES {
            return None;
        }
        let copy = |from_namespace: &str, from_name: &str, by: &ObjectRef, place: &Span| {
            let source = self.follow(kind, from_namespace, from_name, known, depth + 1);
            Some(match source {
                Some(source) => Produced { by: Some(by.clone()), ..source.named(namespace, name) },
                // The source of a Secret is often created by hand. The contents of the copy are unknown.
                None if kind == "Secret" => Produced::unknown(kind, namespace, name, place, by),
                None => return None,
            })
        };
        let key = (Name::from(kind), Name::from(namespace), Name::from(name));
        let made = || {
            let everywhere = || self.everywhere.iter().find(|made| made.makes(kind, namespace, name, known));
            self.fetched.get(&key).or_else(|| everywhere().map(|made| &made.made))
        };
        if let Some(object) = known(kind, namespace, name) {
            let place = object.span().clone();
            return match self.filled.get(&key) {
                // Without the source, the operator does not apply the copy.
                Some(Filling::Copy { namespace, name, by }) => copy(namespace, name, by, &place),
                Some(Filling::KubeConfig) => Some(with_kubeconfig(&object)),
                None => match reflector::reflects(&object) {
                    Some((from_namespace, from_name)) => {
                        let by = object.reference();
                        // An unknown producer may create the source.
                        let open = || Produced { open: true, ..Produced::applied(object.clone()) };
                        copy(&from_namespace, &from_name, &by, &place).or_else(|| Some(open()))
                    }
                    // Several writers add their keys to one object.
                    None => Some(made().map_or_else(|| as_applied(&object), |made| made.added_to(&object))),
                },
            };
        }
        if let Some(declared) = declared::find(&self.declared, kind, namespace, name) {
            return Some(declared);
        }
        if let Some(made) = made() {
            return Some(made.produced(kind, namespace, name));
        }
        let replicated = || self.replicated.source(kind, namespace, name, known);
        if let Some((from, by, place)) = self.reflected.source(kind, namespace, name).or_else(replicated)
            && let Some(found) = copy(&from, name, &by, &place)
        {
            return Some(found);
        }
        for rule in &self.rules {
            match rule.makes(kind, namespace, name, known) {
                Some(kyverno::Made::Copy { namespace: from, name: of }) => {
                    let labelled = |source: &Produced| rule.takes(&source.object);
                    let source = self.follow(kind, &from, &of, known, depth + 1);
                    match source {
                        Some(source) if labelled(&source) => {
                            let (by, has_computed_name) = (Some(rule.by.clone()), rule.computes_name());
                            return Some(Produced { by, has_computed_name, ..source.named(namespace, name) });
                        }
                        None if kind == "Secret" => {
                            let has_computed_name = rule.computes_name();
                            let made = Produced::unknown(kind, namespace, name, &rule.place, &rule.by);
                            return Some(Produced { has_computed_name, ..made });
                        }
                        _ => {}
                    }
                }
                Some(kyverno::Made::Data(produced)) => {
                    return Some(Produced { has_computed_name: rule.computes_name(), ..produced });
                }
                None => {}
            }
        }
        (kind == "ConfigMap" && name == "kube-root-ca.crt").then(|| declared::root_certificate(namespace, name))
    }
}

/// An applied object, to which other writers may add keys.
fn as_applied(object: &Object) -> Produced {
    let open = is_of_several(object) || replicator::is_filled(object);
    Produced { open, ..Produced::applied(object.clone()) }
}

/// Returns whether an object has the annotation with which Flux keeps the fields of other writers.
fn is_of_several(object: &Object) -> bool {
    ["IfNotPresent", "Merge"].iter().any(|mode| object.is_marked("kustomize.toolkit.fluxcd.io/ssa", mode))
}

fn key(object: &Object) -> (Name, Name, Name) {
    (object.kind().into(), object.namespace().unwrap_or_default().into(), object.name().into())
}

/// Adds the address and the certificate of a cluster to an object, unless the object has these keys.
fn with_kubeconfig(object: &Object) -> Produced {
    let place = object.span().clone();
    let empty = || Node::at(Value::Map([].into()), place.clone());
    let mut data = object.node.get("data").filter(|data| data.is_map()).cloned().unwrap_or_else(empty);
    for key in ["address", "ca.crt"] {
        if data.get(key).is_none() {
            data = data.with(entry(key, unknown(key, &place)));
        }
    }
    let object = Object { node: object.node.with(entry("data", data)) };
    Produced::applied(object)
}
