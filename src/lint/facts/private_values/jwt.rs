//! JSON Web Tokens.

use super::markers::JWT;
use crate::yaml::decode_base64;

/// The lifetime of a token in seconds from which on the token is a credential: shorter ones have usually expired.
const MIN_LIFETIME: u64 = 30 * 24 * 60 * 60;

/// The expiration, 2028-01-01, from which on a token without a start is a credential.
const FAR: u64 = 1_830_297_600;

/// The minimum length of a signature in base64: that of 128 bits.
const MIN_SIGNATURE: usize = 22;

/// Returns whether a text is a signed JSON Web Token with a long lifetime.
///
/// A token for anonymous users is public, and so may be a token that names neither its issuer nor its user: programs in
/// browsers have such tokens. A token of NATS only identifies an operator, an account or a user, and the seed of its key is
/// private, unless the token is a bearer token. Source: RFC 7519; the documentation of NATS about decentralized JWT
/// authentication.
pub(super) fn is_private_jwt(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let &[header, claims, signature] = parts.as_slice() else { return false };
    let (Some(header), Some(claims)) = (object(header), object(claims)) else { return false };
    let is_of_nats = claims.contains("\"nats\":{") && !claims.contains("\"bearer_token\":true");
    let is_public = claims.contains("\"anon\"") || claims.contains("1234567890") || is_of_nats;
    let has_holder = ["\"iss\"", "\"sub\"", "\"role\""].iter().any(|claim| claims.contains(claim));
    let is_signed = header.contains("\"alg\"") && signature.len() >= MIN_SIGNATURE;
    is_signed && has_holder && !is_public && lives_long(&claims)
}

/// Returns whether a text is a JSON Web Token for anonymous users.
pub(super) fn is_anonymous_jwt(text: &str) -> bool {
    let claims = text.split('.').nth(1).filter(|_| text.starts_with(JWT)).and_then(object);
    claims.is_some_and(|claims| claims.contains("\"anon\""))
}

/// The JSON object in a part of a token.
fn object(part: &str) -> Option<String> {
    let mut standard = part.replace('-', "+").replace('_', "/");
    standard.extend(std::iter::repeat_n('=', part.len().wrapping_neg() % 4));
    let text = String::from_utf8(decode_base64(&standard)?).ok()?;
    Some(text).filter(|text| text.starts_with('{') && text.ends_with('}'))
}

/// Returns whether the claims set no expiration, or one long after the start. Without a start, the expiration is far away.
fn lives_long(claims: &str) -> bool {
    let Some(end) = time(claims, "exp") else { return true };
    let start = time(claims, "iat").or_else(|| time(claims, "nbf"));
    start.map_or(end >= FAR, |start| end.saturating_sub(start) >= MIN_LIFETIME)
}

/// The seconds that a claim sets.
fn time(claims: &str, name: &str) -> Option<u64> {
    let (_, rest) = claims.split_once(&format!("\"{name}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
