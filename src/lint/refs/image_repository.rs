//! The ImageRepository of an ImagePolicy.

use super::reference::Reference;
use crate::kube::{Object, groups};

/// The ImageRepository with the tags that an ImagePolicy selects.
pub(crate) fn image_repository_of(policy: &Object) -> Option<Reference<'_>> {
    let node =
        policy.node.at_keys(&["spec", "imageRepositoryRef"]).filter(|_| policy.is(groups::IMAGE, "ImagePolicy"))?;
    Reference::read(node, groups::IMAGE, "ImageRepository", policy.namespace())
}
