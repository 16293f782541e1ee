//! fleet.yaml and its included files, read and validated against their schemas.

use std::collections::BTreeMap;

use super::includes::{Including, Restriction};
use super::schema;
use crate::base::finding::Finding;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::text::{File, Span, Tree, folder_of};
use crate::yaml::{Document, Node, parse};

/// The maximum number of clusters. A render of more clusters needs more than the memory of a render.
const MAX_CLUSTERS: usize = 10_000;

/// The input: fleet.yaml and its included files.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// The directory of fleet.yaml. All paths in fleet.yaml are relative to this directory.
    pub folder: String,
    /// The root node of fleet.yaml.
    pub root: Node,
    /// The clusters of all files.
    pub clusters: Vec<Node>,
    /// The tenants of all files.
    pub tenants: Vec<Node>,
    /// The restrictions of each tenant, in the order of `tenants`. A tenant of fleet.yaml has none.
    pub restrictions: Vec<Vec<Restriction>>,
    /// The included files, each with the glob that matched it.
    pub included: BTreeMap<String, Span>,
}

impl Input {
    /// Reads fleet.yaml and its included files; `None` if fleet.yaml is missing, not a complete mapping, or has too many
    /// clusters.
    pub(crate) fn read(tree: &Tree, path: &str) -> (Option<Self>, Vec<Finding>) {
        let file = match tree.file(path) {
            Ok(file) => file,
            Err(error) => {
                let at = File::new(path, "").first_line();
                let help = "create one with `fleetwright init`";
                let finding = Finding::error(INVALID_FLEET, at, format!("`{path}` cannot be read: {error}")).help(help);
                return (None, vec![finding]);
            }
        };
        let parsed = parse(&file);
        let mut findings = parsed.findings;
        let Some(Document { node: root, complete }) = parsed.documents.first().cloned() else {
            if findings.is_empty() {
                let help = "create one with `fleetwright init`";
                findings
                    .push(Finding::error(INVALID_FLEET, file.first_line(), format!("`{path}` is empty")).help(help));
            }
            return (None, findings);
        };
        if let Some(second) = parsed.documents.get(1) {
            let finding = Finding::error(
                INVALID_FLEET,
                second.node.span().clone(),
                format!("`{path}` has more than one YAML document"),
            )
            .related(root.span().clone(), "the first document starts here")
            .help("move additional clusters and tenants to files of their own, and list them in `include`");
            findings.push(finding);
        }
        // Fields after a YAML error are not read, so they must not be reported as missing.
        if !complete {
            return (None, findings);
        }
        findings.extend(schema::FLEET.check(&root));
        if !root.is_map() {
            return (None, findings);
        }
        let mut included = BTreeMap::new();
        let including = Including { tree, path, root: &root };
        let more_clusters = including.read("clusters", &schema::CLUSTER, &mut included, &mut findings);
        let more_tenants = including.read("tenants", &schema::TENANT, &mut included, &mut findings);
        let mut clusters = items(&root, "clusters");
        clusters.extend(more_clusters.items.into_iter().map(|(cluster, _)| cluster));
        if let Some(first) = clusters.get(MAX_CLUSTERS) {
            let message = format!("a fleet has at most {MAX_CLUSTERS} clusters, and this one has {}", clusters.len());
            let finding = Finding::error(INVALID_FLEET, first.span().clone(), message);
            findings.push(finding.help("split the fleet: give each part a fleet.yaml of its own"));
            return (None, findings);
        }
        let mut tenants = items(&root, "tenants");
        let mut restrictions = vec![Vec::new(); tenants.len()];
        for (tenant, restricted) in more_tenants.items {
            tenants.push(tenant);
            restrictions.push(restricted);
        }
        let input = Self { folder: folder_of(path).into(), root, clusters, tenants, restrictions, included };
        (Some(input), findings)
    }
}

fn items(root: &Node, key: &str) -> Vec<Node> {
    root.get(key).map(Node::items).unwrap_or_default().to_vec()
}
