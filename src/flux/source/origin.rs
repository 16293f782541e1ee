//! The address and reference that a source fetches.

use arcstr::ArcStr;

use crate::address::{Address, short_reference};
use crate::kube::Object;
use crate::yaml::{Node, Style, Value};

/// The default branch of a GitRepository.
const DEFAULT_BRANCH: &str = "master";
/// The default tag of an OCIRepository.
const DEFAULT_TAG: &str = "latest";

/// The address of a source, and the reference that the source fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) address: Address,
    /// The branch, tag, version or digest; `None` for buckets.
    pub(super) reference: Option<ArcStr>,
}

impl Origin {
    /// The origin of a source object; `None` if a required field is missing or unknown.
    pub(super) fn of(source: &Object) -> Option<Self> {
        let text = |keys: &[&str]| source.node.at_keys(keys).and_then(known).filter(|text| !text.is_empty());
        let first = |fields: &[&str]| fields.iter().find_map(|field| text(&["spec", "ref", field]));
        match source.kind() {
            "GitRepository" => {
                let reference = first(&["commit", "name", "tag", "semver", "branch"]).unwrap_or(DEFAULT_BRANCH);
                Some(Self::new(text(&["spec", "url"])?, Some(reference)))
            }
            "OCIRepository" => {
                let reference = first(&["digest", "semver", "tag"]).unwrap_or(DEFAULT_TAG);
                Some(Self::new(text(&["spec", "url"])?, Some(reference)))
            }
            "Bucket" => {
                let endpoint = text(&["spec", "endpoint"])?.trim_end_matches('/');
                Some(Self::new(&format!("{endpoint}/{}", text(&["spec", "bucketName"])?), None))
            }
            _ => None,
        }
    }

    fn new(url: &str, reference: Option<&str>) -> Self {
        Self { address: Address::new(url), reference: reference.map(|reference| short_reference(reference).into()) }
    }

    /// The origin in the form of `--source`.
    pub(super) fn shown(&self) -> String {
        match &self.reference {
            Some(reference) => format!("{}#{reference}", self.address),
            None => self.address.to_string(),
        }
    }
}

/// The text of a scalar, unless it is unknown.
pub(super) fn known(node: &Node) -> Option<&str> {
    node.text().filter(|_| !matches!(node.value, Value::Scalar(_, Style::Unknown)))
}
