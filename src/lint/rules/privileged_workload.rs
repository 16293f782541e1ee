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
    /// A privileged container, or a container in the namespaces of its node, gives an attacker control over the node
    /// and over the Secrets of all its pods. Root and a writable root filesystem make each further step easier.
    ///
    /// The severity is warning for a value that the manifest sets: `privileged: true`, `hostNetwork`, `hostPID`,
    /// `hostIPC`, `runAsUser: 0`, `runAsNonRoot: false`, `readOnlyRootFilesystem: false`, and `SYS_ADMIN` or `ALL` in
    /// the capabilities. It is pedantic for a value that the manifest does not set, because the image may run as
    /// another user.
    ///
    /// ## How to fix it
    ///
    /// Remove the permissions that the program does not need. If a program such as a CNI needs them, add an exception
    /// with its reason to `.fleetwright.yaml`.
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
    "privileged-workload", Warning, "a workload has more permissions on its node than it needs", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(pod) = pod(object) else { return };
    let mut faults: Vec<(&Node, String)> = Vec::new();
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        faults.extend(
            pod.get(field).filter(|node| flag(node) == Some(true)).map(|node| (node, format!("`{field}: true`"))),
        );
    }
    let of_pod = pod.get("securityContext");
    let mut open: Vec<&str> = Vec::new();
    for container in containers(object) {
        let own = container.get("securityContext");
        if let Some((node, words)) =
            root(own, of_pod).filter(|(node, _)| faults.iter().all(|(other, _)| !ptr::eq(*node, *other)))
        {
            faults.push((node, words));
        }
        if let Some(context) = own {
            for (field, bad) in [("privileged", true), ("readOnlyRootFilesystem", false)] {
                let node = context.get(field).filter(|node| flag(node) == Some(bad));
                faults.extend(node.map(|node| (node, format!("`{field}: {bad}`"))));
            }
            let added = context.at_keys(&["capabilities", "add"]).map(Node::items).unwrap_or_default();
            let strong = added.iter().filter(|item| matches!(item.text(), Some("ALL" | "SYS_ADMIN" | "CAP_SYS_ADMIN")));
            faults.extend(strong.map(|item| (item, format!("capability `{}`", item.text().unwrap_or_default()))));
        }
        let sets = |field: &str| own.and_then(|own| own.get(field)).is_some();
        let sets_user = ["runAsNonRoot", "runAsUser"]
            .iter()
            .any(|field| sets(field) || of_pod.and_then(|of_pod| of_pod.get(field)).is_some());
        if !sets_user {
            open.push("may run as root");
        }
        if !sets("readOnlyRootFilesystem") {
            open.push("can write to its root filesystem");
        }
    }
    if let Some((first, _)) = faults.first() {
        let words: Vec<&str> = faults.iter().map(|(_, words)| words.as_str()).collect();
        let message = format!("{} has {}", object.reference(), words.join(", "));
        let mut finding = Finding::warning(RULE.id, first.span().clone(), message).help(HELP).about(object.reference());
        for (node, words) in faults.iter().skip(1) {
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

const HELP: &str = "remove the permissions that the program does not need, and set `runAsNonRoot` and \
                    `readOnlyRootFilesystem`; if it needs them, add an exception with its reason";

/// The field that makes a container run as root. Fields of the container override those of its pod.
fn root<'a>(own: Option<&'a Node>, of_pod: Option<&'a Node>) -> Option<(&'a Node, String)> {
    let value = |field: &str| [own, of_pod].into_iter().flatten().find_map(|context| context.get(field));
    if let Some(user) = value("runAsUser") {
        return (user.text() == Some("0")).then(|| (user, "`runAsUser: 0`".to_string()));
    }
    let may_be_root = value("runAsNonRoot").filter(|node| flag(node) == Some(false))?;
    Some((may_be_root, "`runAsNonRoot: false`".to_string()))
}
