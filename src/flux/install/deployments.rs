//! The Deployments of Flux's controllers if no file contains them: the flux CLI or the operator creates them later, but
//! their patches exist already.

use super::installation::CONTROLLERS;
use super::sync::{namespace, patches};
use crate::flux::object::synthetic_node::{list, map, text};
use crate::kube::Object;
use crate::kube::groups;
use crate::kustomize::{Builder, Files, file_in};
use crate::yaml::Node;

/// The controller whose arguments decide how variables are substituted.
const SUBSTITUTING: &[&str] = &["kustomize-controller"];

/// The fields with which a kustomization adds objects. Without them, the remaining fields are transformations.
const BRINGING: [&str; 7] =
    ["resources", "bases", "components", "configMapGenerator", "secretGenerator", "generators", "helmCharts"];

/// The Deployment of kustomize-controller with the patches of a FluxInstance; `None` without patches.
pub(crate) fn controller_of(instance: &Object) -> Option<Object> {
    of_instance(instance, SUBSTITUTING, |_| Vec::new()).into_iter().next()
}

/// The Deployments of all controllers with the patches of a FluxInstance; empty without patches.
///
/// `arguments` returns the arguments that the operator adds to a controller. Its patches come before those of the user.
pub(super) fn controllers_of(instance: &Object, arguments: impl Fn(&str) -> Vec<String>) -> Vec<Object> {
    of_instance(instance, &CONTROLLERS, arguments)
}

/// The Deployment of kustomize-controller with the patches of a directory's kustomization, whose file of manifests is
/// missing.
pub(super) fn controller_in(builder: &Builder, folder: &str) -> Option<Object> {
    in_folder(builder, folder, SUBSTITUTING).into_iter().next()
}

/// The Deployments of all controllers with the patches of a directory's kustomization.
pub(super) fn controllers_in(builder: &Builder, folder: &str) -> Vec<Object> {
    in_folder(builder, folder, &CONTROLLERS)
}

/// Transforms objects by the kustomization of a directory, and keeps their order; unchanged if the directory has none.
pub(super) fn patched_by(builder: &Builder, folder: &str, objects: Vec<Object>) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return objects };
    let mut built = builder.build_over(objects.clone(), folder, &node).objects;
    let place = |object: &Object| objects.iter().position(|other| other.kind() == object.kind());
    built.sort_by_key(place);
    // A patch may delete its object, which the bootstrap applies nevertheless.
    if built.len() == objects.len() { built } else { objects }
}

fn of_instance(instance: &Object, names: &[&str], arguments: impl Fn(&str) -> Vec<String>) -> Vec<Object> {
    let patches = patches(instance);
    let Some(first) = patches.first() else { return Vec::new() };
    let place = first.span().clone();
    let patches = map(vec![("patches", list(patches, &place))], &place);
    let namespace = namespace(instance);
    let controllers = names.iter().map(|name| controller(name, &namespace, &arguments(name))).collect();
    Builder::new(Files::default()).build_over(controllers, "", &patches).objects
}

fn in_folder(builder: &Builder, folder: &str, names: &[&str]) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return Vec::new() };
    let namespace = text(groups::FLUX_NAMESPACE, &node.span().file().first_line());
    let controllers = names.iter().map(|name| controller(name, &namespace, &[])).collect();
    builder.build_over(controllers, folder, &node).objects
}

/// The transformations of a directory's kustomization.
fn transformations(builder: &Builder, folder: &str) -> Option<Node> {
    let path = file_in(builder.files(), folder).into_iter().next()?;
    let parsed = builder.files().get(&path)?;
    let node = parsed.documents.first().map(|document| document.node.clone()).filter(Node::is_map)?;
    Some(BRINGING.iter().fold(node, |node, field| node.without(field)))
}

/// The parts of a controller's Deployment that patches usually refer to, with further arguments.
fn controller(name: &str, namespace: &Node, further: &[String]) -> Object {
    let place = namespace.span();
    let at = |value: &str| text(value, place);
    let volumes = || list(["data", "temp"].map(|name| map(vec![("name", at(name))], place)).to_vec(), place);
    let amounts = |cpu: &str, memory: &str| map(vec![("cpu", at(cpu)), ("memory", at(memory))], place);
    let resources = map(vec![("limits", amounts("1000m", "1Gi")), ("requests", amounts("100m", "64Mi"))], place);
    // Patches of the operator replace the first arguments by position, so the user's patches rely on them.
    let arguments = ["--events-addr=", "--watch-all-namespaces=true", "--log-level=info", "--log-encoding=json"];
    let arguments = arguments.into_iter().chain(further.iter().map(String::as_str));
    let container = map(
        vec![
            ("name", at("manager")),
            ("image", at(&format!("ghcr.io/fluxcd/{name}"))),
            ("args", list(arguments.map(at).collect(), place)),
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
    let labels = || {
        let labels = [("app.kubernetes.io/component", at(name)), ("app.kubernetes.io/part-of", at("flux"))];
        map(labels.to_vec(), place)
    };
    let template = map(vec![("metadata", map(vec![("labels", labels())], place)), ("spec", pod)], place);
    let metadata = vec![("name", at(name)), ("namespace", namespace.clone()), ("labels", labels())];
    let entries = vec![
        ("apiVersion", at("apps/v1")),
        ("kind", at("Deployment")),
        ("metadata", map(metadata, place)),
        ("spec", map(vec![("replicas", at("1")), ("template", template)], place)),
    ];
    Object { node: map(entries, place) }
}
