//! Workloads: selectors, update strategies and restart policies.

use super::fault::{Fault, field, integer, is_unknown, text};
use super::{cron, pods};
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// The default of `progressDeadlineSeconds`.
const DEFAULT_DEADLINE: i64 = 600;

pub(super) fn deployment(object: &Object, faults: &mut Vec<Fault>) {
    workload(object, faults);
    let number = |key: &str| object.node.at_keys(&["spec", key]).and_then(|node| Some((node, integer(node)?)));
    if let Some((node, ready)) = number("minReadySeconds") {
        let deadline = match object.node.at_keys(&["spec", "progressDeadlineSeconds"]).filter(|node| !node.is_null()) {
            Some(node) => integer(node),
            None => Some(DEFAULT_DEADLINE),
        };
        if let Some(deadline) = deadline.filter(|deadline| *deadline <= ready && ready > 0) {
            let message =
                format!("has `minReadySeconds: {ready}`, which is not below `progressDeadlineSeconds: {deadline}`");
            faults.push(Fault::new(node, message, "increase `progressDeadlineSeconds`"));
        }
    }
    let Some(strategy) = object.node.at_keys(&["spec", "strategy"]) else { return };
    let Some(rolling) = field(strategy, "rollingUpdate") else { return };
    if text(strategy, "type") == Some("Recreate") {
        let message = "has `rollingUpdate` although its strategy is `Recreate`";
        faults.push(Fault::new(rolling, message, "remove `rollingUpdate`"));
        return;
    }
    let is_zero = |key| text(rolling, key).is_some_and(|text| matches!(text, "0" | "0%"));
    if let Some(at) = rolling.get("maxUnavailable").filter(|_| is_zero("maxUnavailable") && is_zero("maxSurge")) {
        let message = "can replace no pod: `maxUnavailable` and `maxSurge` are both 0";
        faults.push(Fault::new(at, message, "increase one of them"));
    }
}

/// Checks a StatefulSet. Most versions of Kubernetes do not validate the containers and volumes of its template.
pub(super) fn stateful_set(object: &Object, faults: &mut Vec<Fault>) {
    template(object, faults);
    let Some(strategy) = object.node.at_keys(&["spec", "updateStrategy"]) else { return };
    faults.extend(recreate(strategy));
    let rolling = field(strategy, "rollingUpdate").filter(|_| text(strategy, "type") == Some("OnDelete"));
    if let Some(rolling) = rolling {
        let message = "has `rollingUpdate` although its update strategy is `OnDelete`";
        faults.push(Fault::new(rolling, message, "remove `rollingUpdate`"));
    }
}

pub(super) fn daemon_set(object: &Object, faults: &mut Vec<Fault>) {
    workload(object, faults);
    faults.extend(object.node.at_keys(&["spec", "updateStrategy"]).and_then(recreate));
}

/// The fault of the strategy of a Deployment in another workload.
fn recreate(strategy: &Node) -> Option<Fault> {
    let node = field(strategy, "type").filter(|node| node.text() == Some("Recreate"))?;
    let message = "has the update strategy `Recreate`, which only Deployments have";
    Some(Fault::new(node, message, "write `RollingUpdate` or `OnDelete`"))
}

/// Checks a Deployment, DaemonSet or ReplicaSet.
pub(super) fn workload(object: &Object, faults: &mut Vec<Fault>) {
    template(object, faults);
    pods::pod(object, faults);
}

/// Checks the selector and the restart policy of a workload.
fn template(object: &Object, faults: &mut Vec<Fault>) {
    let replicas = object.node.at_keys(&["spec", "replicas"]).and_then(|node| Some((node, integer(node)?)));
    if let Some((node, replicas)) = replicas.filter(|(_, replicas)| *replicas < 0) {
        faults.push(Fault::new(node, format!("has `replicas: {replicas}`"), "write a number of at least 0"));
    }
    faults.extend(selector(object));
    let policy = object.node.at_keys(&["spec", "template", "spec", "restartPolicy"]);
    if let Some((node, policy)) = policy.and_then(|node| Some((node, node.text()?))) {
        // Another rule reports values that the API does not know.
        if matches!(policy, "Never" | "OnFailure") {
            let message = format!("has `restartPolicy: {policy}`, which only Jobs support");
            faults.push(Fault::new(node, message, "remove it"));
        }
    }
}

fn selector(object: &Object) -> Option<Fault> {
    let spec = object.node.get("spec")?;
    let node = field(spec, "selector")?;
    let template = field(spec, "template")?;
    let labels = template.at_keys(&["metadata", "labels"]).filter(|node| !node.is_null());
    let is_open = |node: &Node| is_unknown(node) || !node.is_map();
    if is_open(node) || !template.is_map() || labels.is_some_and(is_open) {
        return None;
    }
    let selector = Selector::of(node)?;
    if selector.is_empty() {
        return Some(Fault::new(node, "has an empty selector", "select a label of its pods"));
    }
    let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Node::text);
    if selector.selects(label) {
        return None;
    }
    let entries = node.get("matchLabels").map_or(&[][..], Node::entries);
    let wrong = entries.iter().find(|entry| label(&entry.key) != entry.node.text());
    let (at, what) = match wrong {
        Some(entry) => match label(&entry.key) {
            Some(own) => (&entry.node, format!("their label `{}` is `{own}`", entry.key)),
            None => (&entry.node, format!("they have no label `{}`", entry.key)),
        },
        None => (node, "their labels do not match".to_owned()),
    };
    let message = format!("does not select its own pods: {what}");
    Some(Fault::new(at, message, "write the same labels in `selector` and `template.metadata.labels`"))
}

pub(super) fn job(object: &Object, faults: &mut Vec<Fault>) {
    // Kubernetes adds its own label to the selector and to the pods.
    let selector_node = object.node.at_keys(&["spec", "selector"]);
    if selector_node.is_some_and(|node| !node.is_null() && !node.entries().is_empty()) {
        faults.extend(selector(object));
    }
    job_policy(object.node.at_keys(&["spec", "template", "spec"]), faults);
    pods::pod(object, faults);
}

pub(super) fn cron_job(object: &Object, faults: &mut Vec<Fault>) {
    let schedule = object.node.at_keys(&["spec", "schedule"]);
    if let Some((node, schedule, why)) = schedule.and_then(|node| {
        let text = known_text(node)?;
        Some((node, text, cron::fault(text)?))
    }) {
        let message = format!("has an invalid schedule `{schedule}`: {why}");
        faults.push(Fault::new(node, message, "write minute, hour, day, month and weekday, as in `0 3 * * *`"));
    }
    job_policy(object.node.at_keys(&["spec", "jobTemplate", "spec", "template", "spec"]), faults);
    pods::pod(object, faults);
}

/// Checks the restart policy of a Job, which has no default that the API server accepts.
fn job_policy(pod: Option<&Node>, faults: &mut Vec<Fault>) {
    let Some(pod) = pod.filter(|pod| pod.is_map()) else { return };
    let remedy = "set `restartPolicy` to `OnFailure` or `Never`";
    match field(pod, "restartPolicy") {
        None => faults.push(Fault::new(
            pod,
            "has no `restartPolicy`, and the default `Always` is not valid for a Job",
            remedy,
        )),
        Some(node) if node.text() == Some("Always") => {
            faults.push(Fault::new(node, "has `restartPolicy: Always`, which is not valid for a Job", remedy));
        }
        Some(_) => {}
    }
}
