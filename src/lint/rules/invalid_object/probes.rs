//! Probes and lifecycle handlers of containers.

use super::fault::{Fault, field, is_unknown, number};
use crate::yaml::Node;

/// The handlers of a probe.
const OF_PROBES: [&str; 4] = ["exec", "grpc", "httpGet", "tcpSocket"];

/// The handlers of a lifecycle event.
const OF_EVENTS: [&str; 4] = ["exec", "httpGet", "sleep", "tcpSocket"];

/// Checks the probes and lifecycle handlers of a container.
pub(super) fn check_probes(container: &Node, faults: &mut Vec<Fault>) {
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = field(container, key) else { continue };
        check_handler(key, probe, &OF_PROBES, faults);
        let successes = field(probe, "successThreshold").filter(|_| key != "readinessProbe");
        if let Some(node) = successes.filter(|_| number(probe, "successThreshold").is_some_and(|number| number > 1)) {
            let message = format!("has a `{key}` with a `successThreshold` other than 1");
            faults.push(Fault::new(node, message, "remove it: only a `readinessProbe` can need several successes"));
        }
    }
    let lifecycle = field(container, "lifecycle");
    for key in ["postStart", "preStop"] {
        if let Some(event) = lifecycle.and_then(|lifecycle| field(lifecycle, key)) {
            check_handler(key, event, &OF_EVENTS, faults);
        }
    }
}

/// Checks that a probe or an event has exactly one handler.
fn check_handler(key: &str, node: &Node, handlers: &[&str], faults: &mut Vec<Fault>) {
    if !node.is_map() || is_unknown(node) {
        return;
    }
    let mut found = handlers.iter().filter(|handler| field(node, handler).is_some());
    match (found.next(), found.next()) {
        (None, _) => {
            let message = format!("has a `{key}` without a handler");
            faults.push(Fault::new(node, message, format!("add a handler: one of `{}`", handlers.join("`, `"))));
        }
        (Some(first), Some(second)) => {
            let message = format!("has a `{key}` with two handlers: `{first}` and `{second}`");
            faults.push(Fault::new(node, message, "remove one of them; in a patch, set it to null"));
        }
        (Some(_), None) => {}
    }
}
