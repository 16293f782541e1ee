//! The Deployments of Flux's controllers if no file contains them. The flux CLI or Flux Operator creates them later,
//! but the repository contains their patches.

use super::installation::CONTROLLERS;
use super::sync::{namespace, patches};
use crate::flux::object::synthetic_node::{list, map, text};
use crate::kube::Object;
use crate::kube::groups;
use crate::kustomize::{Builder, Files, file_in};
use crate::text::Span;
use crate::yaml::Node;

/// The controller whose arguments determine the substitution of variables.
const SUBSTITUTING: &[&str] = &["kustomize-controller"];

/// A flag that each controller sets before the flags of patches.
pub(super) const FIRST_ARGUMENT: &str = "--events-addr";

/// The fields that add objects to a kustomization. The other fields are transformations.
const BRINGING: [&str; 7] =
    ["resources", "bases", "components", "configMapGenerator", "secretGenerator", "generators", "helmCharts"];

/// The Deployment of kustomize-controller with the patches of a FluxInstance; `None` without patches.
pub(crate) fn controller_of(instance: &Object) -> Option<Object> {
    of_instance(instance, SUBSTITUTING).into_iter().next()
}

/// The Deployments of all controllers with the patches of a FluxInstance; empty without patches.
pub(super) fn controllers_of(instance: &Object) -> Vec<Object> {
    of_instance(instance, &CONTROLLERS)
}

/// The Deployment of kustomize-controller with the patches of a directory's kustomization, if the manifests of Flux are
/// missing there.
pub(super) fn controller_in(builder: &Builder, folder: &str) -> Option<Object> {
    in_folder(builder, folder, SUBSTITUTING).into_iter().next()
}

/// The Deployments of all controllers with the patches of a directory's kustomization.
pub(super) fn controllers_in(builder: &Builder, folder: &str) -> Vec<Object> {
    in_folder(builder, folder, &CONTROLLERS)
}

/// Transforms objects by the kustomization of a directory, and keeps their order. Without a kustomization, returns the
/// objects unchanged.
pub(super) fn patched_by(builder: &Builder, folder: &str, objects: Vec<Object>) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return objects };
    let mut built = builder.build_over(objects.clone(), folder, &node).objects;
    let place = |object: &Object| objects.iter().position(|other| other.kind() == object.kind());
    built.sort_by_key(place);
    // A patch may delete an object that the bootstrap applies nevertheless.
    if built.len() == objects.len() { built } else { objects }
}

fn of_instance(instance: &Object, names: &[&str]) -> Vec<Object> {
    let patches = patches(instance);
    let Some(first) = patches.first() else { return Vec::new() };
    let place = first.span().clone();
    // Flux Operator sets the namespace after the patches.
    let patches = map(vec![("namespace", namespace(instance)), ("patches", list(patches, &place))], &place);
    let controllers = names.iter().map(|name| controller(name, None, &place)).collect();
    Builder::new(Files::default()).build_over(controllers, "", &patches).objects
}

fn in_folder(builder: &Builder, folder: &str, names: &[&str]) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return Vec::new() };
    let namespace = text(groups::FLUX_NAMESPACE, &node.span().file().first_line());
    let place = namespace.span();
    let controllers = names.iter().map(|name| controller(name, Some(&namespace), place)).collect();
    builder.build_over(controllers, folder, &node).objects
}

/// The transformations of a directory's kustomization.
fn transformations(builder: &Builder, folder: &str) -> Option<Node> {
    let path = file_in(builder.files(), folder).into_iter().next()?;
    let parsed = builder.files().get(&path)?;
    let node = parsed.documents.first().map(|document| document.node.clone()).filter(Node::is_map)?;
    Some(BRINGING.iter().fold(node, |node, field| node.without(field)))
}

/// The labels of a component's objects.
pub(super) fn labels(component: &str, place: &Span) -> Node {
    let labels = [
        ("app.kubernetes.io/component", component),
        ("app.kubernetes.io/part-of", "flux"),
        ("control-plane", "controller"),
    ];
    map(labels.map(|(key, value)| (key, text(value, place))).to_vec(), place)
}

/// The Deployment of a controller, with the fields that patches usually change.
pub(super) fn controller(name: &str, namespace: Option<&Node>, place: &Span) -> Object {
    let at = |value: &str| text(value, place);
    let volumes = || list(["data", "temp"].map(|name| map(vec![("name", at(name))], place)).to_vec(), place);
    let amounts = |cpu: &str, memory: &str| map(vec![("cpu", at(cpu)), ("memory", at(memory))], place);
    let resources = map(vec![("limits", amounts("1000m", "1Gi")), ("requests", amounts("100m", "64Mi"))], place);
    // Patches, including those of Flux Operator, replace the first arguments by index.
    let arguments = ["--events-addr=", "--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json"];
    let container = map(
        vec![
            ("name", at("manager")),
            ("image", at(&format!("ghcr.io/fluxcd/{name}"))),
            ("args", list(arguments.map(at).to_vec(), place)),
            ("env", list(vec![map(vec![("name", at("RUNTIME_NAMESPACE"))], place)], place)),
            ("resources", resources),
            ("securityContext", map(Vec::new(), place)),
            ("volumeMounts", volumes()),
        ],
        place,
    );
    let pod = map(
        vec![
            ("containers", list(vec![container], place)),
            ("nodeSelector", map(vec![("kubernetes.io/os", at("linux"))], place)),
            ("securityContext", map(Vec::new(), place)),
            ("serviceAccountName", at(name)),
            ("volumes", volumes()),
        ],
        place,
    );
    let template = map(vec![("metadata", map(vec![("labels", labels(name, place))], place)), ("spec", pod)], place);
    let mut metadata = vec![("name", at(name)), ("labels", labels(name, place))];
    metadata.extend(namespace.map(|namespace| ("namespace", namespace.clone())));
    let entries = vec![
        ("apiVersion", at("apps/v1")),
        ("kind", at("Deployment")),
        ("metadata", map(metadata, place)),
        ("spec", map(vec![("replicas", at("1")), ("template", template)], place)),
    ];
    Object { node: map(entries, place) }
}
