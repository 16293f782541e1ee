//! Policies, operators, templates and writers that may create an object.

use crate::flux::Applied;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::makers::custom_resources::is_of_operator;
use crate::lint::facts::makers::generator_words::{GeneratorWords, Words, mentions};
use crate::lint::facts::pods::containers::containers;
use crate::lint::view::View;
use crate::yaml::Node;

/// The kinds of Kyverno policies, which can generate any object.
const POLICIES: [(&str, &str); 4] = [
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "GeneratingPolicy"),
    ("policies.kyverno.io", "NamespacedGeneratingPolicy"),
];

/// The kinds of the operators that manage tenant namespaces.
const OPERATORS: [(&str, &str); 5] = [
    ("capsule.clastix.io", "GlobalTenantResource"),
    ("capsule.clastix.io", "Tenant"),
    ("capsule.clastix.io", "TenantResource"),
    ("hnc.x-k8s.io", "HierarchyConfiguration"),
    ("redhatcop.redhat.io", "NamespaceConfig"),
];

/// The kinds that contain manifests, which a controller other than Flux applies.
const TEMPLATES: [(&str, &str); 4] = [
    ("apiextensions.crossplane.io", "Composition"),
    ("kro.run", "ResourceGraphDefinition"),
    ("kubernetes.crossplane.io", "Object"),
    ("kubernetes.m.crossplane.io", "Object"),
];

impl<'a> View<'a> {
    /// Returns an Argo CD object of the repository that may apply objects to a namespace.
    pub(crate) fn argo_of(&self, namespace: &str) -> Option<&'a Object> {
        self.written.argo_of(namespace)
    }

    /// Returns a policy, or an object of an operator, that may create an object.
    ///
    /// [`View::producers`] evaluates the policies that generate `ConfigMap` and `Secret` objects.
    pub(crate) fn creator(&self, wanted: ObjectId<'_>) -> Option<Applied<'a>> {
        let is_of_rights = wanted.group == groups::RBAC || wanted.kind == "ServiceAccount";
        if is_of_rights && let Some(found) = self.generator(wanted.kind) {
            return Some(found);
        }
        let is_config = wanted.group.is_empty() && matches!(wanted.kind, "ConfigMap" | "Secret");
        if is_config && let Some(found) = self.custom_resources().find(wanted.namespace, wanted.name) {
            return Some(found);
        }
        let of_templates = || self.generator_words().templates.find(wanted.kind);
        let of_policies = || self.generator_words().policies.find(wanted.kind);
        of_templates().or_else(|| if matches!(wanted.kind, "ConfigMap" | "Secret") { None } else { of_policies() })
    }

    fn generator_words(&self) -> &GeneratorWords<'a> {
        self.generators.get_or_init(|| {
            let spec = |found: Applied<'a>| Some((found, vec![found.object.node.get("spec")?]));
            let parts = |found: Applied<'a>| Some((found, generating_parts(found.object.node.get("spec")?)));
            let all = |kinds: &[(&str, &str)]| -> Vec<Applied<'a>> {
                kinds.iter().flat_map(|(group, kind)| self.of_kind(group, kind)).collect()
            };
            GeneratorWords {
                templates: Words::of(all(&TEMPLATES).into_iter().filter_map(spec)),
                policies: Words::of(all(&POLICIES).into_iter().filter_map(parts)),
            }
        })
    }

    /// Returns a role that allows an account to write a Secret or ConfigMap with this name.
    ///
    /// Only a program that writes the object needs such a rule.
    pub(crate) fn role_of_writer(&self, wanted: ObjectId<'_>) -> Option<Applied<'a>> {
        let resource = match (wanted.group, wanted.kind) {
            ("", "Secret") => "secrets",
            ("", "ConfigMap") => "configmaps",
            _ => return None,
        };
        self.writers().find(resource, wanted.namespace, wanted.name)
    }

    /// Returns a custom resource, a workload or another object of the namespace of an object, if its controller or its
    /// program may create the object.
    ///
    /// Controllers derive the names of their objects from the name or the fields of the custom resource. A program that
    /// writes an object has its name in its arguments or its environment.
    pub(crate) fn maker_in_namespace(&self, wanted: ObjectId<'_>) -> Option<Applied<'a>> {
        self.objects().find(|found| {
            let object = found.object;
            let namespace = found.namespace().unwrap_or_default();
            if !namespace.is_empty() && namespace != wanted.namespace {
                return false;
            }
            // Operators append or prepend a word, such as `vmalert-NAME`.
            let is_suffix = || wanted.name.strip_suffix(object.name()).is_some_and(|start| start.ends_with('-'));
            let is_derived = || wanted.name.starts_with(object.name()) || is_suffix();
            if containers(object).any(|container| is_given_to(container, wanted.name)) {
                return true;
            }
            match (object.group(), object.kind()) {
                ("apps", "StatefulSet") => {
                    let templates = object.node.at_keys(&["spec", "volumeClaimTemplates"]);
                    let names = templates.map_or(&[][..], Node::items).iter();
                    let mut names = names.filter_map(|template| template.at_keys(&["metadata", "name"])?.text());
                    let of = |name: &str| wanted.name.starts_with(&format!("{name}-{}-", object.name()));
                    wanted.kind == "PersistentVolumeClaim" && names.any(of)
                }
                ("networking.k8s.io", "Ingress") | ("gateway.networking.k8s.io", "Gateway") => {
                    is_certified(object) && mentions(&object.node, wanted.name)
                }
                ("", "Service") => {
                    let annotations = object.node.at_keys(&["metadata", "annotations"]);
                    annotations.is_some_and(|annotations| mentions(annotations, wanted.name))
                }
                (group, _) => {
                    let spec = || object.node.get("spec").is_some_and(|spec| mentions(spec, wanted.name));
                    let is_own = || !namespace.is_empty() && (is_derived() || is_whole_product(object, namespace));
                    is_of_operator(group) && (is_own() || spec())
                }
            }
        })
    }

    /// Returns a policy or operator that may create objects of a kind in namespaces, or set a label of namespaces.
    ///
    /// `word` is the kind or the name of the label.
    pub(crate) fn generator(&self, word: &str) -> Option<Applied<'a>> {
        self.generator_words()
            .policies
            .find(word)
            .or_else(|| OPERATORS.iter().find_map(|(group, kind)| self.of_kind(group, kind).next()))
    }
}

/// Returns whether the operator of a custom resource installs a whole product in the namespace, such as `KnativeServing` in
/// `knative-serving`.
fn is_whole_product(object: &Object, namespace: &str) -> bool {
    object.name() == namespace || object.kind().eq_ignore_ascii_case(&namespace.replace('-', ""))
}

/// Returns whether cert-manager creates the Secret with the certificate of an Ingress or Gateway.
fn is_certified(object: &Object) -> bool {
    let annotations = object.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    annotations.iter().any(|entry| entry.key.starts_with("cert-manager.io/") || &*entry.key == "kubernetes.io/tls-acme")
}

/// Returns whether the arguments or the environment of a container contain a name. A part of a path does not count.
fn is_given_to(container: &Node, name: &str) -> bool {
    let lists = ["command", "args"].into_iter().filter_map(|field| container.get(field)).flat_map(Node::items);
    let variables = container.get("env").map_or(&[][..], Node::items).iter().filter_map(|one| one.get("value"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    let contains = |text: &str| {
        memchr::memmem::find_iter(text.as_bytes(), name).any(|at| {
            let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    };
    !name.is_empty() && lists.chain(variables).filter_map(Node::text).any(contains)
}

/// The parts of a policy's `spec` that generate or mutate objects.
///
/// The parts that match or validate objects do not create objects.
fn generating_parts(spec: &Node) -> Vec<&Node> {
    let whole = spec.get("generate").is_some().then_some(spec);
    let rules = spec.get("rules").map_or(&[][..], Node::items).iter();
    let parts = rules.flat_map(|rule| ["generate", "mutate"].into_iter().filter_map(|part| rule.get(part)));
    whole.into_iter().chain(parts).collect()
}
