//! Placeholders: values that stand for a secret and do not contain it.

use super::jwt::is_anonymous_jwt;
use super::markers::without_token_prefix;

/// Returns whether a value contains no secret: it is empty, a variable, encrypted, a reference, a published key, or a
/// placeholder.
///
/// `changeme` is not a placeholder: without a replacement, `changeme` is the password.
pub fn is_placeholder(text: &str) -> bool {
    let text = text.trim().trim_matches(['"', '\'']);
    // `ghp_YOUR_TOKEN_HERE`
    is_plain_placeholder(text) || without_token_prefix(text).is_some_and(is_plain_placeholder)
}

fn is_plain_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_of_one_sign = text.chars().all(|c| !c.is_alphanumeric()) || lower.chars().all(|c| c == 'x' || c == '-');
    let words = [
        "todo",
        "tbd",
        "fixme",
        "none",
        "null",
        "n/a",
        "undefined",
        "redacted",
        "placeholder",
        "dummy",
        "unset",
        "unused",
        "not-used",
        "notused",
        "not-needed",
        "notneeded",
        "fake",
        "notasecret",
        "not-a-secret",
        "empty",
        "string",
        "value",
        "ignored",
        "sk-no-key-required",
    ];
    let starts = [
        "replace",
        "your",
        "insert",
        "enter",
        "put-",
        "put_",
        "put ",
        "fill",
        "set-me",
        "set_me",
        "set me",
        "setme",
        "not-used-",
        "not_used_",
        "not-needed-",
        "not_needed_",
        "unused-",
        "unused_",
    ];
    text.is_empty()
        || is_of_one_sign
        || contains_placeholder(text)
        || words.contains(&lower.as_str())
        || starts.iter().any(|start| lower.starts_with(start))
        || lower.contains("placeholder")
        || (lower.starts_with("not-") && lower.ends_with("-used"))
        || lower.contains("replace_me")
        // A comment in a block scalar is the whole value.
        || (text.starts_with('#') && !text.contains('\n'))
        || lower.contains("replaceme")
        // The example of a token, such as `ghp_xxxxxxxx`.
        || lower.contains("xxxxxxxx")
        || is_constant(text)
        || is_cut_off(text)
        || names_its_encoding(&lower)
        || is_reference(text)
        || PUBLISHED.iter().any(|start| text.starts_with(start))
        || is_key_id(text)
        || is_anonymous_jwt(text)
}

/// The prefixes of keys that web pages contain: project keys of `PostHog`, publishable keys of Stripe and Clerk, and public
/// tokens of Mapbox.
const PUBLISHED: [&str; 4] = ["phc_", "pk_live_", "pk_test_", "pk.eyJ"];

/// Returns whether a value is the identifier of an access key of AWS, which signed addresses contain.
fn is_key_id(text: &str) -> bool {
    let id = text.strip_prefix("AKIA").or_else(|| text.strip_prefix("ASIA"));
    id.is_some_and(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
}

/// Returns whether the author wants readers to replace a value: it is a placeholder, or starts with `changeme`.
pub(crate) fn is_to_replace(text: &str) -> bool {
    let text = text.trim().trim_matches(['"', '\'']);
    let letters = text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    is_placeholder(text) || letters.take(CHANGE_ME.len()).eq(CHANGE_ME.bytes())
}

/// The start of many values that users replace, without signs between its words.
const CHANGE_ME: &str = "changeme";

/// Returns whether a short text in lower case describes the encoding of the value that belongs there: `base64value`. The
/// prefix `base64:` belongs to a value.
fn names_its_encoding(text: &str) -> bool {
    text.len() < 64 && text.contains("base64") && !["base64:", "base64,"].iter().any(|prefix| text.contains(prefix))
}

/// Returns whether the author cut off the end of a value: `LzN3RUFJ...`.
fn is_cut_off(text: &str) -> bool {
    !text.contains('\n') && (text.ends_with("...") || text.ends_with('\u{2026}'))
}

/// Returns whether a text is a name such as `DATABASE_PASSWORD`.
fn is_constant(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    text.contains('_') && text.split('_').all(is_word)
}

/// Returns whether a text contains a variable, a template, a tag or an encrypted part.
pub(super) fn contains_placeholder(text: &str) -> bool {
    let is_tag = |tag: &str| {
        tag.len() > 1 && tag.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.' | '/'))
    };
    let in_brackets = text.split('<').skip(1).any(|rest| rest.split_once('>').is_some_and(|(tag, _)| is_tag(tag)));
    let templates = ["${", "$(", "{{", "<<", "((", "[[", "%(", "#{", "ENC[", "(@="];
    let is_marked =
        text.len() > 4 && ["__", "@@", "%%"].iter().any(|mark| text.starts_with(mark) && text.ends_with(mark));
    // `{env:TOKEN}`, `{file:token}`, and tags such as `!env_var TOKEN`.
    let is_braced = text.starts_with('{') && text.ends_with('}') && !text.contains('"');
    in_brackets
        || is_marked
        || is_braced
        || text.starts_with('!')
        || templates.iter().any(|template| text.contains(template))
}

/// Returns whether a value references a secret and does not contain it: a path, a reference to a vault, or `$NAME`.
fn is_reference(text: &str) -> bool {
    let stores = [
        "ref+",
        "vault:",
        "op://",
        "secret:",
        "secret/",
        "arn:aws:",
        "awssm:",
        "gcpsm:",
        "azurekv:",
        "akv:",
        "env:",
        "env.",
        "os.environ",
        "process.env",
        "file:",
        "projects/",
        "secretref:",
        "sops:",
        "bank-vaults:",
        "kv/",
    ];
    text.starts_with(['/', '$', '%', '@', '~'])
        || text.starts_with("./")
        || stores.iter().any(|store| text.starts_with(store))
}
