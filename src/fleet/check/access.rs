//! The subjects and roles of `access`.

use crate::base::finding::Finding;
use crate::base::similar_names::{did_you_mean, is_almost};
use crate::fleet::input::files::Input;
use crate::fleet::merge::levels::Merged;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::Index;
use crate::yaml::Node;

/// The rule id for roles that neither Kubernetes nor the fleet defines.
const UNKNOWN_ROLE: &str = "unknown-role";
/// The ClusterRoles of Kubernetes for users.
const BUILT_IN: [&str; 4] = ["admin", "cluster-admin", "edit", "view"];
/// The fields that name a subject.
const SUBJECTS: [&str; 3] = ["group", "user", "serviceAccount"];

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    let objects = |node: &Node| node.get("objects").map(Node::items).unwrap_or_default().to_vec();
    let mut objects: Vec<Node> = merged.clusters.iter().flat_map(objects).collect();
    objects.extend(
        input.tenants.iter().flat_map(|tenant| tenant.get("objects").map(Node::items).unwrap_or_default()).cloned(),
    );
    let defined = objects.iter().filter(|object| object.get("kind").and_then(Node::text) == Some("ClusterRole"));
    let defined = defined.filter_map(|object| object.at_keys(&["metadata", "name"])?.text());
    let of_layout = merged.roles.iter().filter_map(Node::text);
    let mut known: Vec<&str> = BUILT_IN.into_iter().chain(defined).chain(of_layout).collect();
    known.sort_unstable();
    known.dedup();
    let mut reported: Index<(String, u32), ()> = Index::default();
    for tenant in &merged.tenants {
        for access in tenant.node.get("access").map(Node::items).unwrap_or_default() {
            // Several tenants can inherit one item.
            let (path, start, _) = access.span().order();
            if access.is_map() && reported.insert((path.to_owned(), start), ()).is_none() {
                subject(access, findings);
                role(access, &known, findings);
            }
        }
    }
}

fn subject(access: &Node, findings: &mut Vec<Finding>) {
    let is_set = |key: &str| access.get(key).is_some_and(|node| !node.is_null());
    let set: Vec<&str> = SUBJECTS.into_iter().filter(|key| is_set(key)).collect();
    let fault = match set.as_slice() {
        [] => Some(("has no subject".to_owned(), "set `group`, `user` or `serviceAccount`")),
        [first, second, ..] => Some((format!("sets both `{first}` and `{second}`"), "write one item for each subject")),
        ["serviceAccount"] if !is_set("namespace") => {
            Some(("has no `namespace`".to_owned(), "set the namespace of the service account"))
        }
        [other] if *other != "serviceAccount" && is_set("namespace") => Some((
            format!("sets `namespace`, but a {other} has none"),
            "use `namespaces` for the namespaces to which the subject has access",
        )),
        _ => None,
    };
    if let Some((fault, help)) = fault {
        let message = format!("an item of `access` {fault}");
        findings.push(Finding::error(INVALID_FLEET, access.span().clone(), message).help(help));
    }
}

fn role(access: &Node, known: &[&str], findings: &mut Vec<Finding>) {
    let Some((role, text)) = access.get("role").and_then(|role| Some((role, role.text()?))) else { return };
    if known.contains(&text) || text.is_empty() {
        return;
    }
    // A name such as `viewer` is probably a ClusterRole of the platform.
    let meant = did_you_mean(text, known.iter().copied()).filter(|meant| is_almost(text, meant));
    if let Some(meant) = meant {
        let finding = Finding::error(UNKNOWN_ROLE, role.span().clone(), format!("unknown role `{text}`"));
        findings.push(finding.help(format!("did you mean `{meant}`?")));
    } else {
        let message = format!("the fleet does not define the ClusterRole `{text}`");
        let help = "make sure that it exists on every cluster, or define it in `objects`";
        findings.push(Finding::warning(UNKNOWN_ROLE, role.span().clone(), message).help(help));
    }
}
