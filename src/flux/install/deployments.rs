//! The Deployments of Flux's controllers where no file holds them: the flux CLI or the operator is going to make them,
//! and patches for them are there already.

use super::installation::CONTROLLERS;
use super::sync::{namespace, patches};
use crate::flux::object::synthetic_node::{list, map, text};
use crate::kube::Object;
use crate::kube::groups;
use crate::kustomize::{Builder, Files, file_in};
use crate::yaml::Node;

/// The controller whose arguments decide how variables are substituted.
const SUBSTITUTING: &[&str] = &["kustomize-controller"];

/// Where a kustomization takes objects from; without these fields it says what is done to them.
const BRINGING: [&str; 7] =
    ["resources", "bases", "components", "configMapGenerator", "secretGenerator", "generators", "helmCharts"];

/// The Deployment of kustomize-controller as a FluxInstance patches it, as far as its arguments say something.
pub(crate) fn controller_of(instance: &Object) -> Option<Object> {
    of_instance(instance, SUBSTITUTING).into_iter().next()
}

/// The Deployments of all controllers as a FluxInstance patches them; none where it has no patches.
pub(super) fn controllers_of(instance: &Object) -> Vec<Object> {
    of_instance(instance, &CONTROLLERS)
}

/// The Deployment of kustomize-controller as the kustomization of a folder patches it, which installs Flux from a file
/// that is not there.
pub(super) fn controller_in(builder: &Builder, folder: &str) -> Option<Object> {
    in_folder(builder, folder, SUBSTITUTING).into_iter().next()
}

/// The Deployments of all controllers as the kustomization of a folder patches them.
pub(super) fn controllers_in(builder: &Builder, folder: &str) -> Vec<Object> {
    in_folder(builder, folder, &CONTROLLERS)
}

/// Objects as the kustomization of a folder changes them, in their order; as they are where the folder has none.
pub(super) fn patched_by(builder: &Builder, folder: &str, objects: Vec<Object>) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return objects };
    let mut built = builder.build_over(objects.clone(), folder, &node).objects;
    let place = |object: &Object| objects.iter().position(|other| other.kind() == object.kind());
    built.sort_by_key(place);
    // A patch may delete what it is laid over, and it is applied by hand all the same.
    if built.len() == objects.len() { built } else { objects }
}

fn of_instance(instance: &Object, names: &[&str]) -> Vec<Object> {
    let patches = patches(instance);
    let Some(first) = patches.first() else { return Vec::new() };
    let place = first.span().clone();
    let patches = map(vec![("patches", list(patches, &place))], &place);
    let namespace = namespace(instance);
    let controllers = names.iter().map(|name| controller(name, &namespace)).collect();
    Builder::new(Files::default()).build_over(controllers, "", &patches).objects
}

fn in_folder(builder: &Builder, folder: &str, names: &[&str]) -> Vec<Object> {
    let Some(node) = transformations(builder, folder) else { return Vec::new() };
    let namespace = text(groups::FLUX_NAMESPACE, &node.span().file().first_line());
    let controllers = names.iter().map(|name| controller(name, &namespace)).collect();
    builder.build_over(controllers, folder, &node).objects
}

/// What the kustomization of a folder does to objects.
fn transformations(builder: &Builder, folder: &str) -> Option<Node> {
    let path = file_in(builder.files(), folder).into_iter().next()?;
    let parsed = builder.files().get(&path)?;
    let node = parsed.documents.first().map(|document| document.node.clone()).filter(Node::is_map)?;
    Some(BRINGING.iter().fold(node, |node, field| node.without(field)))
}

/// As much of a controller's Deployment as patches of it need.
fn controller(name: &str, namespace: &Node) -> Object {
    let place = namespace.span();
    let at = |said: &str| text(said, place);
    let volumes = || list(["data", "temp"].map(|name| map(vec![("name", at(name))], place)).to_vec(), place);
    let amounts = |cpu: &str, memory: &str| map(vec![("cpu", at(cpu)), ("memory", at(memory))], place);
    let resources = map(vec![("limits", amounts("1000m", "1Gi")), ("requests", amounts("100m", "64Mi"))], place);
    // The operator's own patches replace the first ones of these, and users do what works with them.
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
