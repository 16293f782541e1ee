//! `IAMPolicyGenerator`: a service account that impersonates an account of a cloud provider.

use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::text::string_value::new_value;
use crate::yaml::{ChangedBy, Entry, Node, Style, Value};

/// Generates the service account. kustomize supports only one cloud provider.
pub(crate) fn generate(generator: &Node) -> Result<Node, Finding> {
    let span = Object { node: generator.clone() }.span().clone();
    let text = |keys: &[&str]| generator.at_keys(keys).and_then(Node::text).unwrap_or_default();
    let cloud = text(&["cloud"]);
    if cloud != "gke" {
        let cloud_span = generator.get("cloud").map_or(span, |cloud| cloud.span().clone());
        let message = format!("kustomize does not support the cloud `{cloud}`, only `gke`");
        return Err(Finding::error(FAILED_BUILD, cloud_span, message));
    }
    let value = |value: Value| new_value(value, ChangedBy::Generator(span.clone()));
    let string = |text: String| value(Value::Scalar(text.into(), Style::Double));
    let entry = |key: &str, node: Node| Entry::new(key, &span, node);
    let account = format!(
        "{}@{}.iam.gserviceaccount.com",
        text(&["serviceAccount", "name"]),
        text(&["serviceAccount", "projectId"])
    );
    let annotations = vec![entry("iam.gke.io/gcp-service-account", string(account))];
    let mut metadata = vec![
        entry("annotations", value(Value::Map(annotations.into()))),
        entry("name", string(text(&["kubernetesService", "name"]).into())),
    ];
    let namespace = text(&["kubernetesService", "namespace"]);
    if !namespace.is_empty() {
        metadata.push(entry("namespace", string(namespace.into())));
    }
    let object = vec![
        entry("apiVersion", string("v1".into())),
        entry("kind", string("ServiceAccount".into())),
        entry("metadata", value(Value::Map(metadata.into()))),
    ];
    Ok(value(Value::Map(object.into())))
}
