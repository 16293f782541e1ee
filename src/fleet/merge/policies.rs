//! The built-in admission policies that a cluster installs. They are further objects of the cluster.

use std::collections::BTreeMap;

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::policy::{BUILT_IN, built_in};
use crate::yaml::{Entry, Node, Style, Value};

/// Adds the objects of the cluster's policies to its objects.
pub(super) fn install(cluster: &Node, findings: &mut Vec<Finding>) -> Node {
    let entries = cluster.get("policies").map(Node::entries).unwrap_or_default();
    let mut objects: Vec<Node> = cluster.get("objects").map(Node::items).unwrap_or_default().to_vec();
    let before = objects.len();
    for entry in entries.iter().filter(|entry| !entry.node.is_null()) {
        match of_policy(entry) {
            Ok(policy) => objects.extend(policy),
            Err(finding) => findings.push(*finding),
        }
    }
    if objects.len() == before {
        return cluster.clone();
    }
    let origin = cluster.get("objects").unwrap_or(cluster).origin.clone();
    set(cluster, "objects", Node { value: Value::Seq(objects.into()), origin })
}

/// The policy, its binding and its parameters.
fn of_policy(entry: &Entry) -> Result<Vec<Node>, Box<Finding>> {
    let name = &*entry.key;
    let Some(policy) = built_in(name) else {
        let help = match did_you_mean(name, BUILT_IN.iter().map(|policy| policy.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "run `fleetwright policy list` for the names; write other policies in `objects`".to_owned(),
        };
        let message = format!("there is no built-in policy `{name}`");
        return Err(Box::new(Finding::error(INVALID_FLEET, entry.key_span(), message).help(help)));
    };
    let known = policy.parameters();
    let mut values = BTreeMap::new();
    for parameter in entry.node.get("parameters").map(Node::entries).unwrap_or_default() {
        if !known.contains_key(&*parameter.key) {
            let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
            let help = if names.is_empty() {
                "remove it: the policy has no parameters".to_owned()
            } else {
                format!("use one of the parameters: {}", names.join(", "))
            };
            let message = format!("the policy `{name}` has no parameter `{}`", parameter.key);
            return Err(Box::new(Finding::error(INVALID_FLEET, parameter.key_span(), message).help(help)));
        }
        values.insert(parameter.key.to_string(), parameter.node.text().unwrap_or_default().to_owned());
    }
    let action = entry.node.get("action").and_then(Node::text);
    let objects = policy.objects_with(&values).into_iter().map(|object| match action {
        Some(action) if object.kind().ends_with("Binding") => with_action(&object.node, action, entry),
        _ => object.node,
    });
    Ok(objects.collect())
}

/// Returns a mapping with another value of a key.
fn set(node: &Node, key: &str, value: Node) -> Node {
    let at = value.origin.written().clone();
    node.with(Entry::new(key, &at, value))
}

/// Returns a binding with another action.
fn with_action(binding: &Node, action: &str, entry: &Entry) -> Node {
    let Some(spec) = binding.get("spec") else { return binding.clone() };
    let at = entry.key_span();
    let list = Value::Seq([Node::scalar(action, Style::Plain, at.clone())].into());
    set(binding, "spec", set(spec, "validationActions", Node::at(list, at)))
}
