use std::ptr;

use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::Object;
use crate::lint::context::Context;
use crate::lint::facts::pods::containers::{containers, pod};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::text::{Span, is_inside};
use crate::yaml::Node;

declare! {
    /// A workload is privileged, shares a namespace or a directory of its node, adds capabilities, or runs as root.
    ///
    /// ## Why
    ///
    /// With a privileged container, or a container in the namespaces or directories of its node, an attacker can
    /// control the node and read the Secrets of all its pods. Root and a writable root filesystem make each further
    /// step easier.
    ///
    /// The severity is warning for a permission that the manifest adds: `privileged: true`, `hostNetwork`, `hostPID`,
    /// `hostIPC`, a volume of type `hostPath`, and each capability that the baseline of the Pod Security Standards does
    /// not allow, such as `NET_ADMIN`, `NET_RAW` and `SYS_ADMIN`. It is pedantic for a restriction that the manifest
    /// does not set, because the image may run as another user. It is also pedantic for `runAsUser: 0` alone, because
    /// most images run as root and the baseline allows this, and for a read-only mount of the public certificates of
    /// the node.
    ///
    /// `runAsNonRoot: false` and `readOnlyRootFilesystem: false` are the defaults of Kubernetes, so the rule treats
    /// them as not set. The rule ignores host paths with the time zone of the node.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: Pod Security Standards](https://kubernetes.io/docs/concepts/security/pod-security-standards/)
    "privileged-workload", Warning, "a workload has more permissions on its node than it needs", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(pod) = pod(object) else { return };
    let mut faults: Vec<Fault<'_>> = Vec::new();
    // The baseline forbids these mounts, but they contain only public files of the node.
    let mut public: Vec<Fault<'_>> = Vec::new();
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        let node = pod.get(field).filter(|node| flag(node) == Some(true));
        faults.extend(node.map(|node| Fault::new("", node, format!("`{field}: true`"))));
    }
    let of_pod = pod.get("securityContext");
    let mut roots: Vec<Fault<'_>> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for container in containers(object) {
        let own = container.get("securityContext");
        let name = container.get("name").and_then(Node::text).unwrap_or_default();
        if let Some(node) = root(own, of_pod).filter(|node| roots.iter().all(|other| !ptr::eq(*node, other.node))) {
            roots.push(Fault::new(name, node, "`runAsUser: 0`".to_string()));
        }
        if let Some(context) = own {
            let privileged = context.get("privileged").filter(|node| flag(node) == Some(true));
            faults.extend(privileged.map(|node| Fault::new(name, node, "`privileged: true`".to_string())));
            let added = context.at_keys(&["capabilities", "add"]).map(Node::items).unwrap_or_default();
            let strong = added.iter().filter(|item| item.text().is_some_and(is_beyond_baseline));
            let capability = |item: &Node| format!("capability `{}`", item.text().unwrap_or_default());
            faults.extend(strong.map(|item| Fault::new(name, item, capability(item))));
        }
        let sets_user = field_of(own, of_pod, "runAsUser").is_some()
            || field_of(own, of_pod, "runAsNonRoot").is_some_and(|node| flag(node) != Some(false));
        if !sets_user {
            open.push("may run as root");
        }
        let is_read_only = own.and_then(|own| own.get("readOnlyRootFilesystem"));
        if is_read_only.is_none_or(|node| flag(node) == Some(false)) {
            open.push("can write to its root filesystem");
        }
    }
    for volume in pod.get("volumes").map(Node::items).unwrap_or_default() {
        let path = volume.at_keys(&["hostPath", "path"]).filter(|path| path.text().is_some_and(is_of_node));
        let fault = path.map(|node| Fault::new("", node, format!("host path `{}`", node.text().unwrap_or_default())));
        if path.is_some_and(|path| path.text().is_some_and(is_public)) && is_read_only(object, volume) {
            public.extend(fault);
        } else {
            faults.extend(fault);
        }
    }
    // A root user alone does not have access to the node, and most images run as root.
    if faults.is_empty() {
        open.extend(roots.first().map(|_| "runs as root"));
    } else {
        faults.append(&mut roots);
    }
    let is_mild = faults.is_empty() && !public.is_empty();
    faults.extend(public);
    if let Some(first) = faults.first() {
        // Several containers may have the same permission.
        let mut words: Vec<&str> = Vec::new();
        for Fault { words: fault, .. } in &faults {
            if !words.contains(&fault.as_str()) {
                words.push(fault);
            }
        }
        let message = format!("{} has {}", object.reference(), shortened(&words));
        let summary = shortened(&words);
        let words = words.join(", ");
        // Workloads with the same permissions are often instances of one program. The owner of a cluster of one node often
        // keeps all data in directories of the node.
        let (of_all, summary) = if faults.iter().all(|fault| fault.node.text().is_some_and(is_of_data)) {
            ("data in directories of a node", "data in directories of a node".to_owned())
        } else {
            (words.as_str(), summary)
        };
        let mut finding = Finding::warning(RULE.id, first.node.span().clone(), message)
            .help(HELP)
            .about(object.reference())
            .caused_by(of_all, "", format!(" workloads have {summary}"))
            .with_faults(faults.iter().map(Fault::part));
        if is_mild {
            finding.severity = Severity::Pedantic;
            finding = finding.help(
                "mount the certificates from a ConfigMap or from the image: the baseline of the Pod \
                                    Security Standards forbids host paths",
            );
        }
        // Nearly all programs for networks and storage have a dozen permissions.
        for Fault { node, words, .. } in faults.iter().skip(1).take(MAX_NAMED) {
            finding = finding.related(node.span().clone(), words.clone());
        }
        found.push(finding);
    } else if !open.is_empty() {
        open.sort_unstable();
        open.dedup();
        open.reverse();
        let message = format!("{} {}", object.reference(), open.join(" and "));
        let place = roots.first().map_or_else(|| object.span(), |root| root.node.span());
        let finding = pedantic(RULE.id, place.clone(), message).help(HELP_FOR_ROOT).about(object.reference());
        let open = open.join(" and ");
        let summary = format!(" workloads have a container that {open}");
        let finding = finding.caused_by(open, "", summary);
        found.push(finding.with_faults(roots.iter().map(Fault::part)));
    }
}

/// The maximum number of permissions in a message.
const MAX_NAMED: usize = 4;

/// The first permissions, and the number of the others.
fn shortened(words: &[&str]) -> String {
    // One name takes no more space than the number of the others.
    match words.len().saturating_sub(MAX_NAMED) {
        0 | 1 => words.join(", "),
        more => format!("{} and {more} other permissions", words[..MAX_NAMED].join(", ")),
    }
}

/// A permission that a workload has.
struct Fault<'a> {
    /// The container that has the permission; empty if the pod has it.
    container: &'a str,
    node: &'a Node,
    words: String,
}

impl<'a> Fault<'a> {
    fn new(container: &'a str, node: &'a Node, words: String) -> Self {
        Self { container, node, words }
    }

    /// The position, and a text that identifies the fault in its workload.
    fn part(&self) -> (Span, String) {
        (self.node.span().clone(), format!("{} {}", self.container, self.words))
    }
}

const HELP: &str = "remove the permissions that the program does not need; if the program needs a permission, add an \
                    exception with its reason";
const HELP_FOR_ROOT: &str = "set `runAsNonRoot` and `readOnlyRootFilesystem` if the program permits it";

/// The capabilities that the baseline of the Pod Security Standards allows containers to add.
///
/// Source: `check_capabilities_baseline.go` of `k8s.io/pod-security-admission`.
const BASELINE: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Returns whether a host path is below a directory in which nodes have no programs and no sockets.
fn is_of_data(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|path| path.split('/').next());
    first.is_some_and(|name| matches!(name, "data" | "export" | "home" | "media" | "mnt" | "srv" | "storage"))
}

/// Returns whether the baseline forbids a capability. Container runtimes also accept the prefix `CAP_`.
fn is_beyond_baseline(capability: &str) -> bool {
    let name = capability.strip_prefix("CAP_").unwrap_or(capability);
    !name.is_empty() && !name.contains('$') && !BASELINE.contains(&name)
}

/// Returns whether a host path gives access to the node. The files of the time zone do not.
fn is_of_node(path: &str) -> bool {
    !matches!(path, "/etc/localtime" | "/etc/timezone") && !path.starts_with("/usr/share/zoneinfo")
}

/// Returns whether a host path contains only public certificates of the node.
fn is_public(path: &str) -> bool {
    let known = ["/etc/ssl/certs", "/etc/ca-certificates", "/usr/share/ca-certificates"];
    known.iter().any(|known| is_inside(path.trim_end_matches('/'), known))
}

/// Returns whether all containers mount a volume read-only.
fn is_read_only(object: &Object, volume: &Node) -> bool {
    let name = volume.get("name").and_then(Node::text);
    let mounts = |container: &Node| container.get("volumeMounts").map(Node::items).unwrap_or_default().to_vec();
    let mut mounts = containers(object).flat_map(mounts);
    mounts.all(|mount| {
        mount.get("name").and_then(Node::text) != name || mount.get("readOnly").and_then(flag) == Some(true)
    })
}

/// A field of the security context of a container, or of its pod if the container does not set the field.
fn field_of<'a>(own: Option<&'a Node>, of_pod: Option<&'a Node>, field: &str) -> Option<&'a Node> {
    [own, of_pod].into_iter().flatten().find_map(|context| context.get(field))
}

/// The field that sets root as the user of a container. Fields of the container override the fields of its pod.
fn root<'a>(own: Option<&'a Node>, of_pod: Option<&'a Node>) -> Option<&'a Node> {
    field_of(own, of_pod, "runAsUser").filter(|user| user.text() == Some("0"))
}
