//! Limits, quotas, priorities, classes of Ingresses, webhooks and APIs of a cluster.

use super::fault::{Fault, field, integer, items, known, text};
use crate::api::validate::is_dns_subdomain;
use crate::kube::Object;
use crate::kube::quantity::Quantity;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// The largest value of a priority class that is not one of the system.
const MAX_PRIORITY: i64 = 1_000_000_000;

/// The priority classes of Kubernetes.
const SYSTEM_CLASSES: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// The resources without a domain that a quota can limit.
const QUOTAS: [&str; 17] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
];

/// Source: `ValidateLimitRange` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn limit_range(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    // Each list must not exceed the following ones.
    let order = ["min", "defaultRequest", "default", "max"];
    for limit in items(spec, "limits") {
        for (at, low) in order.iter().enumerate() {
            for high in order.iter().skip(at + 1) {
                let (Some(lows), Some(highs)) = (field(limit, low), field(limit, high)) else { continue };
                for entry in lows.entries() {
                    let Some(other) = field(highs, &entry.key) else { continue };
                    let amounts = amount(&entry.node).zip(amount(other));
                    if let Some(((own, low_amount), (text, high_amount))) = amounts
                        && low_amount > high_amount
                    {
                        let name = &entry.key;
                        let message = format!("has `{low}.{name}: {own}` above `{high}.{name}: {text}`");
                        faults.push(Fault::new(&entry.node, message, "correct one of them"));
                    }
                }
            }
        }
    }
}

fn amount(node: &Node) -> Option<(&str, i128)> {
    let text = known_text(node)?;
    Some((text, Quantity::parse(text)?.nanos()))
}

/// Source: `ValidateResourceQuotaResourceName` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn quota(object: &Object, faults: &mut Vec<Fault>) {
    let Some(hard) = object.node.at_keys(&["spec", "hard"]) else { return };
    for entry in hard.entries() {
        let name = &*entry.key;
        let is_paged = name.strip_prefix("requests.").unwrap_or(name).starts_with("hugepages-");
        let is_of_services = matches!(name, "services.loadbalancers" | "services.nodeports");
        if !name.contains(['/', '$']) && !QUOTAS.contains(&name) && !is_paged && !is_of_services {
            let message = format!("limits the unknown resource `{name}`");
            let remedy = "write a resource of quotas, or `count/RESOURCE.GROUP`".to_owned();
            faults.push(Fault { at: entry.key_span(), message, remedy });
        }
    }
}

/// Source: `ValidatePriorityClass` of `k8s.io/kubernetes/pkg/apis/scheduling/validation`.
pub(super) fn priority_class(object: &Object, faults: &mut Vec<Fault>) {
    if let Some((node, name)) = object.node.get("metadata").and_then(|metadata| known(metadata, "name"))
        && name.starts_with("system-")
    {
        if !SYSTEM_CLASSES.contains(&name) {
            let message = format!("has the name `{name}`, but `system-` is reserved for Kubernetes");
            faults.push(Fault::new(node, message, "write another name"));
        }
        return;
    }
    let value = field(&object.node, "value").and_then(|node| Some((node, integer(node)?)));
    if let Some((node, value)) = value.filter(|(_, value)| *value > MAX_PRIORITY) {
        let message = format!("has the value {value}, which is above {MAX_PRIORITY}");
        faults.push(Fault::new(node, message, "write a lower value"));
    }
}

/// Source: `IsDomainPrefixedPath` of `k8s.io/apimachinery`.
pub(super) fn ingress_class(object: &Object, faults: &mut Vec<Fault>) {
    let Some((node, controller)) = object.node.get("spec").and_then(|spec| known(spec, "controller")) else { return };
    let is_valid =
        controller.split_once('/').is_some_and(|(domain, path)| is_dns_subdomain(domain) && !path.is_empty());
    if !is_valid {
        let message = format!("has the controller `{controller}`, which is no path with a domain");
        faults.push(Fault::new(node, message, "write the name of the controller, such as `k8s.io/ingress-nginx`"));
    }
}

/// Source: `IsFullyQualifiedName` of `k8s.io/apimachinery`.
pub(super) fn webhooks(object: &Object, faults: &mut Vec<Fault>) {
    for (node, name) in items(&object.node, "webhooks").iter().filter_map(|webhook| known(webhook, "name")) {
        if !is_dns_subdomain(name) || name.split('.').count() < 3 {
            let message = format!("has a webhook with the name `{name}`, which has no three parts");
            faults.push(Fault::new(node, message, "write a domain with two dots, such as `pods.webhook.example.com`"));
        }
    }
}

/// Source: `ValidateAPIService` of `k8s.io/kube-aggregator`.
pub(super) fn api_service(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    let (Some(group), Some(version)) = (text(spec, "group"), text(spec, "version")) else { return };
    let Some((node, name)) = object.node.get("metadata").and_then(|metadata| known(metadata, "name")) else { return };
    let wanted = format!("{version}.{group}");
    if name != wanted {
        let message = format!("has the name `{name}`, but its API is `{wanted}`");
        faults.push(Fault::new(node, message, format!("write `{wanted}`, or correct `group` and `version`")));
    }
}
