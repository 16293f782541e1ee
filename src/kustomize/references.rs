//! References by name that follow what was renamed: the subjects of role bindings.
//!
//! Names change through prefixes, suffixes and hashes only, which this engine does not make; namespaces change through
//! `namespace`, and a binding's subject follows its account.

use std::sync::Arc;

use super::field_spec::set_text;
use super::resources::{Resource, Resources};
use crate::finding::Finding;
use crate::text::Index;
use crate::yaml::{Node, Value};

/// Writes the namespaces of accounts into the bindings that name them.
pub(super) fn follow_accounts(resources: &mut Resources, findings: &mut Vec<Finding>) {
    let mut accounts: Index<Arc<str>, Vec<Account>> = Index::default();
    // Only what a transformer touched counts as renamed, whether or not its name changed.
    for resource in resources.list.iter().filter(|resource| !resource.previous.is_empty()) {
        if &*resource.id.kind != "ServiceAccount" || !resource.id.group.is_empty() {
            continue;
        }
        let Some(namespace) = resource.node.at_keys(&["metadata", "namespace"]).cloned() else { continue };
        let account = Account {
            original: resource.original().namespace.clone(),
            current: resource.id.namespace.clone(),
            namespace,
        };
        let mut names: Vec<Arc<str>> = resource.previous.iter().map(|id| id.name.clone()).collect();
        names.dedup();
        for name in names {
            accounts.entry(name).push(account.clone());
        }
    }
    if accounts.is_empty() {
        return;
    }
    for resource in &mut resources.list {
        let binding = matches!(&*resource.id.kind, "RoleBinding" | "ClusterRoleBinding")
            && &*resource.id.group == "rbac.authorization.k8s.io";
        if binding {
            follow(resource, &accounts, findings);
        }
    }
}

#[derive(Clone)]
struct Account {
    original: Arc<str>,
    current: Arc<str>,
    namespace: Node,
}

fn follow(binding: &mut Resource, accounts: &Index<Arc<str>, Vec<Account>>, findings: &mut Vec<Finding>) {
    let Some(subjects) = binding.node.entry("subjects").filter(|entry| entry.node.is_seq()) else { return };
    let mut changed = false;
    let mut follow_one = |subject: &Node| {
        let named = subject.get("name").and_then(Node::text).and_then(|name| accounts.get(name));
        let Some(candidates) = named else { return subject.clone() };
        let said = subject.get("namespace").and_then(Node::text);
        let fitting: Vec<&Account> = match said {
            None => candidates.iter().collect(),
            Some(said) if candidates.iter().any(|account| &*account.original == said) => {
                candidates.iter().filter(|account| &*account.original == said).collect()
            }
            Some(said) => candidates.iter().filter(|account| &*account.current == said).collect(),
        };
        let Some(first) = fitting.first() else { return subject.clone() };
        if fitting.iter().any(|account| account.current != first.current) {
            let message = format!(
                "subject `{}` could be an account of several namespaces; kustomize refuses to choose",
                subject.get("name").and_then(Node::text).unwrap_or_default()
            );
            let finding = Finding::error(super::FAILED_BUILD, subject.span().clone(), message)
                .help("say the subject's `namespace`, or build the namespaces apart");
            findings.push(finding);
            return subject.clone();
        }
        changed = true;
        let key = first.namespace.span().clone();
        set_text(subject, "namespace", &key, &first.namespace)
    };
    let items: Vec<Node> = subjects.node.items().iter().map(&mut follow_one).collect();
    if changed {
        let list = Node { value: Value::Seq(items.into()), origin: subjects.node.origin.clone() };
        let node = binding.node.with(subjects.with_node(list));
        binding.replace(node);
    }
}
