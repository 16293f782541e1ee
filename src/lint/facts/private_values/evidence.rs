//! The reason why a value outside of a Secret is private: its shape, or its name.

use super::encoding::decoded;
use super::guessable::is_guessable;
use super::name::{self, Name};
use super::placeholder::is_placeholder;
use super::private::Evidence;
use super::random::looks_random;
use super::shape;
use crate::yaml::Node;

/// Returns whether a mapping assigns a value to a variable: `name: PASSWORD` beside `value: …`.
fn is_variable(name: &str, among: &Node) -> bool {
    among.get("name").and_then(Node::text) == Some(name) && among.get("value").is_some()
}

/// The reason why a value outside of a Secret is private; `None` if the value is not private.
///
/// `among` is the mapping that contains the value. Without it, the result is a reason if any mapping is one.
pub(super) fn evidence(
    name: &str,
    value: &str,
    is_string: impl Fn() -> bool,
    among: Option<&Node>,
) -> Option<Evidence> {
    if let Some(shape) = shape::find(value) {
        return Some(Evidence::Shape(shape.what));
    }
    if shape::has_known_password(value) {
        return Some(Evidence::Guessable);
    }
    let told = name::of_value(name);
    if told == Name::Neutral
        || among.is_some_and(|among| is_query_id(name, among) || is_key_of_external_secret(name, among))
        || !is_string()
        || is_placeholder(value)
        || shape::is_public(value)
        || shape::is_address(value)
        || password_of(name, value).is_some_and(|password| is_placeholder(&password))
    {
        return None;
    }
    if let Some(what) = shape::of_named(name, value) {
        return Some(Evidence::Shape(what));
    }
    // Programs number their objects: `key: 12f354f0-…` of a dashboard.
    let is_name = shape::is_variable_name(value) || among.is_some_and(|among| is_beside_its_name(name, among));
    if is_name || (told == Name::Ambiguous && shape::is_uuid(value)) {
        return None;
    }
    if looks_random(value) && !is_guessable(value) {
        return Some(Evidence::Name);
    }
    if told == Name::Ambiguous
        || shape::is_setting(value)
        || value.contains(char::is_whitespace)
        || among.is_some_and(|among| is_key_of_secret(name, among))
    {
        return None;
    }
    if is_guessable(value) {
        return Some(Evidence::Guessable);
    }
    // A password may be any word, except a key of a Secret with several words, such as `password: admin-password`.
    // Other values may be names: `clientSecret: web-client`, `apiKey: unused`.
    let has_digit = value.contains(|letter: char| letter.is_ascii_digit());
    let is_private = if name::is_password(name) {
        let is_key = name::words(value).len() > 1 && name::of_value(value) != Name::Neutral;
        has_digit || !is_key || among.is_none_or(|among| is_variable(name, among))
    } else {
        has_digit && !value.contains('-')
    };
    is_private.then_some(Evidence::Name)
}

/// The password in the credentials of a registry: `auth` is `USER:PASSWORD`, encoded.
fn password_of(name: &str, value: &str) -> Option<String> {
    let credentials = decoded(value).filter(|_| name == "auth")?;
    Some(credentials.split_once(':')?.1.to_owned())
}

/// Returns whether a value is the id of a query of a Grafana dashboard: `key: Q-…` beside `refId: A`.
fn is_query_id(name: &str, among: &Node) -> bool {
    name == "key" && among.get("refId").is_some()
}

/// Returns whether a value is the name of a key in the Secret of an ExternalSecret or a `PushSecret`.
fn is_key_of_external_secret(name: &str, among: &Node) -> bool {
    name == "secretKey" && ["remoteRef", "sourceRef"].iter().any(|field| among.get(field).is_some())
}

/// Returns whether a field has the key of an object that a sibling field names: `loginKey` beside `loginName`.
fn is_beside_its_name(name: &str, among: &Node) -> bool {
    let object = name.strip_suffix("Key").filter(|object| !object.is_empty());
    object.and_then(|object| among.get(&format!("{object}Name"))).and_then(Node::text).is_some_and(|it| !it.is_empty())
}

/// Returns whether a value is a key of a Secret in a sibling field, such as `secretKey` beside `existingSecret`.
fn is_key_of_secret(name: &str, among: &Node) -> bool {
    let is_key = name.to_ascii_lowercase().ends_with("key");
    is_key
        && among.entries().iter().any(|entry| {
            let other = entry.key.to_ascii_lowercase();
            let is_named = entry.node.text().is_none_or(|text| !text.is_empty());
            *entry.key != *name
                && is_named
                && ["secret", "secretname", "secretref"].iter().any(|end| other.ends_with(end))
        })
}
