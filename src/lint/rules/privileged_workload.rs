use std::ptr;

use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::lint::context::Context;
use crate::lint::facts::pods::{containers, pod};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::yaml::Node;

declare! {
    /// A workload is privileged, shares a namespace of its node, runs as root, or can write to its root filesystem.
    ///
    /// ## Why
    ///
    /// Whoever breaks into a privileged container, or into one in the namespaces of its node, has the node, and with it every
    /// Secret of every pod that runs there. Root and a writable root filesystem make each further step easier.
    ///
    /// A warning is what the manifest says: `privileged: true`, `hostNetwork`, `hostPID`, `hostIPC`, `runAsUser: 0`,
    /// `runAsNonRoot: false`, `readOnlyRootFilesystem: false`, `SYS_ADMIN` and `ALL` among the capabilities. What it leaves open is
    /// pedantic: an image may well run as somebody else.
    ///
    /// ## How to fix it
    ///
    /// Leave out what the program does not need. What does, such as a CNI, is an exception with its reason in `.fleetwright.yaml`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: shop
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: shop
    ///     spec:
    ///       containers:
    ///         - name: shop
    ///           image: registry.example.com/shop:1.4.2
    ///           securityContext:
    ///             privileged: true
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: shop
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: shop
    ///     spec:
    ///       containers:
    ///         - name: shop
    ///           image: registry.example.com/shop:1.4.2
    ///           securityContext:
    ///             allowPrivilegeEscalation: false
    ///             readOnlyRootFilesystem: true
    ///             runAsNonRoot: true
    /// ```
    ///
    /// ## Source
    ///
    /// [Kubernetes: Pod Security Standards](https://kubernetes.io/docs/concepts/security/pod-security-standards/)
    "privileged-workload", Warning, "a workload has more rights on its node than it needs", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(pod) = pod(object) else { return };
    let mut said: Vec<(&Node, String)> = Vec::new();
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        said.extend(
            pod.get(field).filter(|node| flag(node) == Some(true)).map(|node| (node, format!("`{field}: true`"))),
        );
    }
    let of_pod = pod.get("securityContext");
    let mut open: Vec<&str> = Vec::new();
    for container in containers(object) {
        let own = container.get("securityContext");
        if let Some((node, words)) =
            root(own, of_pod).filter(|(node, _)| said.iter().all(|(other, _)| !ptr::eq(*node, *other)))
        {
            said.push((node, words));
        }
        if let Some(context) = own {
            for (field, bad) in [("privileged", true), ("readOnlyRootFilesystem", false)] {
                let node = context.get(field).filter(|node| flag(node) == Some(bad));
                said.extend(node.map(|node| (node, format!("`{field}: {bad}`"))));
            }
            let added = context.at_keys(&["capabilities", "add"]).map(Node::items).unwrap_or_default();
            let strong = added.iter().filter(|item| matches!(item.text(), Some("ALL" | "SYS_ADMIN" | "CAP_SYS_ADMIN")));
            said.extend(strong.map(|item| (item, format!("capability `{}`", item.text().unwrap_or_default()))));
        }
        let says = |field: &str| own.and_then(|own| own.get(field)).is_some();
        let is_somebody = ["runAsNonRoot", "runAsUser"]
            .iter()
            .any(|field| says(field) || of_pod.and_then(|of_pod| of_pod.get(field)).is_some());
        if !is_somebody {
            open.push("may run as root");
        }
        if !says("readOnlyRootFilesystem") {
            open.push("can write to its root filesystem");
        }
    }
    if let Some((first, _)) = said.first() {
        let words: Vec<&str> = said.iter().map(|(_, words)| words.as_str()).collect();
        let message = format!("{} has {}", object.reference(), words.join(", "));
        let mut finding = Finding::warning(RULE.id, first.span().clone(), message).help(HELP).about(object.reference());
        for (node, words) in said.iter().skip(1) {
            finding = finding.related(node.span().clone(), words.clone());
        }
        found.push(finding);
    } else if !open.is_empty() {
        open.sort_unstable();
        open.dedup();
        open.reverse();
        let message = format!("{} {}", object.reference(), open.join(" and "));
        found.push(pedantic(RULE.id, object.span().clone(), message).help(HELP).about(object.reference()));
    }
}

const HELP: &str = "leave out what the program does not need, and set `runAsNonRoot` and `readOnlyRootFilesystem`; what does \
                    need it is an exception with its reason";

/// What says that a container runs as root: what it says itself goes before what its pod says.
fn root<'a>(own: Option<&'a Node>, of_pod: Option<&'a Node>) -> Option<(&'a Node, String)> {
    let said = |field: &str| [own, of_pod].into_iter().flatten().find_map(|context| context.get(field));
    if let Some(user) = said("runAsUser") {
        return (user.text() == Some("0")).then(|| (user, "`runAsUser: 0`".to_string()));
    }
    let free = said("runAsNonRoot").filter(|free| flag(free) == Some(false))?;
    Some((free, "`runAsNonRoot: false`".to_string()))
}
