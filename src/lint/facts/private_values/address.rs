//! Credentials in addresses.

use super::private::{Evidence, Private};
use super::shape;
use crate::yaml::Node;

/// The credentials in the address of a field.
pub(crate) fn in_address(node: &Node, field: &str) -> Option<Private> {
    let text = node.text()?;
    let known = shape::has_known_password(text).then_some(Evidence::Guessable);
    let evidence = shape::find(text).map(|shape| Evidence::Shape(shape.what)).or(known)?;
    Some(Private::new(node, field, evidence))
}

/// The credentials in the address of a webhook, whose last segment may be a credential.
pub(crate) fn in_webhook(node: &Node, field: &str) -> Option<Private> {
    let is_token = shape::ends_with_token(node.text()?);
    in_address(node, field).or_else(|| is_token.then(|| Private::new(node, field, Evidence::Name)))
}
