//! The account under which Flux Operator applies a ResourceSet without `serviceAccountName`.

use crate::flux::cluster::applied_set::Applied;
use crate::flux::helm::Values;
use crate::flux::install::installation::OPERATOR;
use crate::kube::{Object, groups};
use crate::yaml::Node;

/// The flag that sets the default account.
const FLAG: &str = "--default-service-account=";
/// The environment variable that sets the default account.
const VARIABLE: &str = "DEFAULT_SERVICE_ACCOUNT";

/// The account that Flux Operator uses for a ResourceSet without `serviceAccountName`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperatorAccount {
    /// No object indicates that the operator runs.
    #[default]
    None,
    /// The operator runs with unknown arguments.
    Unknown,
    /// The operator uses its own account.
    Own,
    /// The operator uses an account of this name in the namespace of the ResourceSet.
    Default(String),
}

impl OperatorAccount {
    /// Detects the account from the values of the operator's chart, or from the arguments of its Deployment.
    ///
    /// `values` returns the merged values of a HelmRelease.
    pub(super) fn detect(received: &[Applied<'_>], values: impl Fn(&Applied<'_>) -> Option<Values>) -> Self {
        let mut account = Self::None;
        for applied in received {
            let object = applied.object;
            if object.is("apps", "Deployment") && object.name() == OPERATOR {
                let containers = object.node.at_keys(&["spec", "template", "spec", "containers"]);
                let set = containers.map_or(&[][..], Node::items).iter().find_map(default_account);
                return set.map_or(Self::Own, Self::Default);
            }
            if installs_operator(object) {
                return values(applied).map_or(Self::Unknown, |values| Self::of_chart(&values));
            }
            if object.group() == groups::FLUX_OPERATOR {
                account = Self::Unknown;
            }
        }
        account
    }

    /// The account that the operator's chart configures. Source: `templates/deployment.yaml` and `values.yaml` of the
    /// chart.
    fn of_chart(values: &Values) -> Self {
        let text = |key: &str| values.node.at_keys(&["multitenancy", key]).and_then(Node::text);
        match text("enabled") {
            Some("true") => Self::Default(text("defaultServiceAccount").unwrap_or(OPERATOR).to_owned()),
            _ if values.open || !values.faults.is_empty() => Self::Unknown,
            _ => Self::Own,
        }
    }
}

fn default_account(container: &Node) -> Option<String> {
    let items = |key: &str| container.get(key).map_or(&[][..], Node::items).iter();
    let by_argument = items("args").filter_map(Node::text).find_map(|text| text.strip_prefix(FLAG));
    let variable = |node: &&Node| node.get("name").and_then(Node::text) == Some(VARIABLE);
    let by_variable = || items("env").find(variable).and_then(|node| node.get("value")).and_then(Node::text);
    by_argument.or_else(by_variable).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns whether a HelmRelease installs Flux Operator, by the name of the chart or of the HelmRelease.
fn installs_operator(object: &Object) -> bool {
    let names = [&["spec", "chart", "spec", "chart"][..], &["spec", "chartRef", "name"], &["metadata", "name"]];
    object.is(groups::HELM, "HelmRelease") && names.iter().any(|keys| object.text_at(keys) == Some(OPERATOR))
}
