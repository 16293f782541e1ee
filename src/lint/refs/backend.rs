//! The backends of Ingresses and of the routes of the Gateway API.

use crate::kube::Object;
use crate::yaml::Node;

/// The API group of Gateways and their routes.
pub(crate) const GATEWAY: &str = "gateway.networking.k8s.io";

/// The kinds of the routes of the Gateway API.
pub(crate) const ROUTES: [(&str, &str); 5] = [
    (GATEWAY, "GRPCRoute"),
    (GATEWAY, "HTTPRoute"),
    (GATEWAY, "TCPRoute"),
    (GATEWAY, "TLSRoute"),
    (GATEWAY, "UDPRoute"),
];

/// The backends of an Ingress.
pub(crate) fn backends_of_ingress(ingress: &Object) -> impl Iterator<Item = &Node> {
    let spec = ingress.node.get("spec");
    let rules = spec.and_then(|spec| spec.get("rules")).map_or(&[][..], Node::items).iter();
    let paths = rules.flat_map(|rule| rule.at_keys(&["http", "paths"]).map_or(&[][..], Node::items));
    paths.filter_map(|path| path.get("backend")).chain(spec.and_then(|spec| spec.get("defaultBackend")))
}

/// The backends of the rules of a route.
pub(crate) fn backends_of_route(route: &Object) -> impl Iterator<Item = &Node> {
    let rules = route.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items).iter();
    rules.flat_map(|rule| rule.get("backendRefs").map_or(&[][..], Node::items))
}
