//! The formats of Kubernetes and Flux values: quantities, names of resources, labels and version ranges.

use crate::base::similar_names::did_you_mean;
use crate::kube::quantity::Quantity;
use crate::kube::semver_range::Range;
use crate::schema::{FormatError, TextFormat};

/// The format of a quantity.
pub(super) const QUANTITY: &str = "quantity";
/// The format of a range of versions.
pub(super) const VERSION_RANGE: &str = "version-range";
/// The format of the value of a label.
pub(super) const LABEL_VALUE: &str = "label-value";
/// The pattern of the key of a label or an annotation.
pub(super) const LABEL_KEY: &str =
    r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// The pattern of a resource of a LimitRange.
pub(super) const RESOURCE: &str = r"^(cpu|memory|storage|ephemeral-storage|hugepages-[0-9]+[KMGT]i|[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$";
/// The pattern of a resource of a ResourceQuota.
pub(super) const QUOTA_RESOURCE: &str = r"^(cpu|memory|storage|ephemeral-storage|pods|services|services\.loadbalancers|services\.nodeports|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims|requests\.cpu|requests\.memory|requests\.storage|requests\.ephemeral-storage|limits\.cpu|limits\.memory|limits\.ephemeral-storage|(requests\.|limits\.)?hugepages-[0-9]+[KMGT]i|[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?)$";

/// The resources of a ResourceQuota without a domain.
const QUOTA_RESOURCES: [&str; 19] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

pub(super) const QUANTITY_FORMAT: TextFormat = TextFormat { keyword: QUANTITY, check: quantity };
pub(super) const VERSION_RANGE_FORMAT: TextFormat = TextFormat { keyword: VERSION_RANGE, check: version_range };
pub(super) const LABEL_VALUE_FORMAT: TextFormat = TextFormat { keyword: LABEL_VALUE, check: label_value };
pub(super) const LABEL_KEY_FORMAT: TextFormat = TextFormat { keyword: LABEL_KEY, check: label_key };
pub(super) const RESOURCE_FORMAT: TextFormat = TextFormat { keyword: RESOURCE, check: resource };
pub(super) const QUOTA_RESOURCE_FORMAT: TextFormat = TextFormat { keyword: QUOTA_RESOURCE, check: quota_resource };

fn fault(message: String, help: impl Into<String>) -> FormatError {
    FormatError { rule: None, message, help: help.into() }
}

/// Returns whether Flux substitutes a variable in a text, so that its final value is unknown.
fn is_substituted(text: &str) -> bool {
    text.contains("${")
}

fn quantity(text: &str) -> Option<FormatError> {
    if is_substituted(text) {
        return None;
    }
    match Quantity::parse(text) {
        Some(quantity) if quantity.is_negative() => {
            Some(fault(format!("is `{text}`, a negative quantity"), "write a quantity of at least `0`"))
        }
        Some(_) => None,
        None => {
            let meant = meant_quantities(text);
            let help = if meant.is_empty() {
                "write a number with an optional suffix: `500m`, `2`, `8G` or `8Gi`".to_owned()
            } else {
                format!("did you mean {}?", meant.join(" or "))
            };
            Some(fault(format!("is `{text}`, which is not a valid quantity"), help))
        }
    }
}

/// Returns the quantities that a text probably means: `8GB` means `8G` or `8Gi`.
fn meant_quantities(text: &str) -> Vec<String> {
    let compact: String = text.split_whitespace().collect();
    if Quantity::parse(&compact).is_some() {
        return vec![format!("`{compact}`")];
    }
    let end = compact.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(compact.len());
    let Some((number, suffix)) = compact.split_at_checked(end) else { return Vec::new() };
    let suffix = suffix.to_ascii_lowercase();
    let Some(unit) = suffix.chars().next().filter(char::is_ascii_lowercase) else {
        return Vec::new();
    };
    let rest = suffix.strip_prefix(unit).unwrap_or_default();
    let upper = unit.to_ascii_uppercase();
    let decimal = if unit == 'k' { unit } else { upper };
    let candidates = match rest {
        "" | "b" | "byte" | "bytes" => vec![format!("{number}{decimal}"), format!("{number}{upper}i")],
        "i" | "ib" => vec![format!("{number}{upper}i")],
        _ => Vec::new(),
    };
    candidates.into_iter().filter(|text| Quantity::parse(text).is_some()).map(|text| format!("`{text}`")).collect()
}

fn version_range(text: &str) -> Option<FormatError> {
    if is_substituted(text) || Range::parse(text).is_some() {
        return None;
    }
    let message = format!("is `{text}`, which is not a valid version or range of versions");
    Some(fault(message, "write a SemVer range, for example `1.x`, `~1.4`, `>=1.4.0 <2.0.0` or `1.4.2`"))
}

fn label_value(text: &str) -> Option<FormatError> {
    let is_end = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_valid = text.len() <= 63
        && text.chars().all(allowed)
        && is_end(text.chars().next())
        && is_end(text.chars().next_back());
    if is_valid || is_substituted(text) {
        return None;
    }
    let help = "a label value has at most 63 letters, digits, `-`, `_` and `.`, and starts and ends with a letter or \
                digit; use an annotation for other text";
    Some(fault(format!("is `{text}`, which is not a valid label value"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn label_key(text: &str) -> Option<FormatError> {
    let help = "write `name` or `domain/name`; a name has at most 63 letters, digits, `-`, `_` and `.`, and the domain \
                lower-case letters: `team`, `example.com/cost-center`";
    Some(fault(format!("is `{text}`, which is not a valid key of a label or annotation"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn resource(text: &str) -> Option<FormatError> {
    let help = match did_you_mean(text, ["cpu", "memory", "storage", "ephemeral-storage"]) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "use `cpu`, `memory`, `storage`, `ephemeral-storage`, or an extended resource such as `nvidia.com/gpu`"
            .to_owned(),
    };
    Some(fault(format!("is `{text}`, which is not a resource of a LimitRange"), help))
}

#[expect(clippy::unnecessary_wraps, reason = "all formats have this signature")]
fn quota_resource(text: &str) -> Option<FormatError> {
    let help = match did_you_mean(text, QUOTA_RESOURCES) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "use a resource such as `requests.cpu`, `limits.memory` or `pods`, `count/deployments.apps` for other \
                 objects, or an extended resource such as `requests.nvidia.com/gpu`"
            .to_owned(),
    };
    Some(fault(format!("is `{text}`, which is not a resource of a ResourceQuota"), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_quantity_has_a_suggestion() {
        let help = |text| quantity(text).map(|fault| fault.help);
        assert_eq!(help("8GB").as_deref(), Some("did you mean `8G` or `8Gi`?"));
        assert_eq!(help("8 gib").as_deref(), Some("did you mean `8Gi`?"));
        assert_eq!(help("500 m").as_deref(), Some("did you mean `500m`?"));
        assert_eq!(help("64K").as_deref(), Some("did you mean `64k` or `64Ki`?"));
        assert_eq!(help("8Gi"), None);
    }
}
