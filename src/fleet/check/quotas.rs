//! Quotas of numbers of objects, which must be whole numbers.

use crate::base::finding::Finding;
use crate::fleet::merge::levels::Merged;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::kube::quantity::Quantity;
use crate::text::Index;
use crate::yaml::Node;

/// The resources of a ResourceQuota that count objects, besides `count/…`.
const COUNTED: [&str; 9] = [
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];
const NANOS: i128 = 1_000_000_000;

pub(super) fn check(merged: &Merged, findings: &mut Vec<Finding>) {
    // The namespaces of a tenant inherit its quota.
    let mut seen: Index<(String, u32), ()> = Index::default();
    for owner in merged.tenants.iter().flat_map(|tenant| std::iter::once(&tenant.node).chain(&tenant.namespaces)) {
        for entry in owner.get("quota").map(Node::entries).unwrap_or_default() {
            let is_counted = COUNTED.contains(&&*entry.key) || entry.key.starts_with("count/");
            let quantity = entry.node.text().filter(|_| is_counted).and_then(Quantity::parse);
            let (path, start, _) = entry.node.span().order();
            if quantity.is_some_and(|quantity| quantity.nanos() % NANOS != 0)
                && seen.insert((path.to_owned(), start), ()).is_none()
            {
                let text = entry.node.text().unwrap_or_default();
                let message = format!("`{}` is `{text}`, which is not a whole number", entry.key);
                let help = "write the number of objects, for example `10`";
                findings.push(Finding::error(INVALID_FLEET, entry.node.span().clone(), message).help(help));
            }
        }
    }
}
