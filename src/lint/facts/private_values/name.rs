//! The names of values, and whether a name indicates that the value is private.

use super::markers::may_name_secrets;

/// Whether the name of a value indicates that the value is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// The value is private: `password`, `apiKey`, `client_secret`.
    Private,
    /// The value is private if it looks random. The names `token`, `secret` and `auth` also denote references.
    Ambiguous,
    /// The name does not indicate that the value is private.
    Neutral,
}

/// The last words of names whose values are private.
const PRIVATE: [&str; 8] = ["password", "passwd", "passphrase", "pwd", "pass", "apikey", "authkey", "secretkey"];

/// The ends of names, without separators, whose values are private.
const PRIVATE_ENDS: [&str; 18] = [
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "apitoken",
    "accesstoken",
    "authtoken",
    "authkey",
    "bottoken",
    "clientsecret",
    "clientkeydata",
    "encryptionkey",
    "privatekey",
    "secretaccesskey",
    "secretkey",
    "secretkeybase",
    "signingkey",
    "webhooksecret",
];

/// The last words of names whose values are private or reference a private value.
const AMBIGUOUS: [&str; 7] = ["token", "secret", "auth", "credential", "credentials", "key", "jwt"];

/// The words that denote the place or a property of a secret, at any position in a name.
const OF_PLACE: [&str; 11] =
    ["existing", "ref", "file", "path", "name", "public", "env", "pull", "location", "template", "encrypted"];

/// Classifies a name in chart values, in a ConfigMap or in an environment.
pub(super) fn of_value(name: &str) -> Name {
    if !may_name_secrets(name) {
        return Name::Neutral;
    }
    let words = words(name);
    let Some(last) = words.last().map(|last| last.trim_end_matches(|c: char| c.is_ascii_digit())) else {
        return Name::Neutral;
    };
    if words.iter().any(|word| OF_PLACE.contains(&word.as_str())) {
        return Name::Neutral;
    }
    if is_public_key(&words) {
        return Name::Neutral;
    }
    let joined = words.concat();
    let joined = joined.trim_end_matches(|c: char| c.is_ascii_digit());
    if PRIVATE.contains(&last) || PRIVATE_ENDS.iter().any(|end| joined.ends_with(end)) {
        Name::Private
    } else if AMBIGUOUS.contains(&last) {
        Name::Ambiguous
    } else {
        Name::Neutral
    }
}

/// Returns whether a name whose value is private denotes a password, which may be any word.
pub(super) fn is_password(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map(|last| last.trim_end_matches(|c: char| c.is_ascii_digit()));
    last.is_some_and(|last| last.starts_with("pass") || last == "pwd" || last.ends_with("password"))
}

/// The last words of keys of Secrets whose values are not private: users, addresses, identifiers and settings.
const PUBLIC: [&str; 71] = [
    "account",
    "addr",
    "address",
    "alg",
    "algorithm",
    "audience",
    "bucket",
    "ca",
    "cert",
    "channel",
    "class",
    "count",
    "crt",
    "database",
    "db",
    "dbname",
    "dir",
    "disabled",
    "domain",
    "domains",
    "driver",
    "email",
    "enabled",
    "endpoint",
    "endpoints",
    "expiry",
    "file",
    "format",
    "from",
    "group",
    "groups",
    "header",
    "host",
    "hostname",
    "hosts",
    "interval",
    "issuer",
    "length",
    "level",
    "limit",
    "login",
    "mail",
    "method",
    "mode",
    "name",
    "names",
    "namespace",
    "org",
    "organization",
    "path",
    "port",
    "prefix",
    "project",
    "provider",
    "pub",
    "realm",
    "region",
    "role",
    "roles",
    "scope",
    "scopes",
    "server",
    "size",
    "subject",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "user",
    "username",
];

/// Returns whether a key of a Secret indicates that its value is private.
///
/// More names indicate a private value in a Secret than in chart values, since the author stored the value in a Secret.
pub(super) fn of_secret(key: &str) -> bool {
    let words = words(key);
    let tells = |word: &String| {
        let is_one_of = |all: &[&str]| all.contains(&word.as_str());
        let contains = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
        is_one_of(&["auth", "key", "keys", "pass", "pwd", "pin", "cred", "creds", "session", "jwt", "salt"])
            || contains(&["passw", "passphrase", "secret", "token", "credential"])
            || ["key", "pass", "auth"].iter().any(|end| word.ends_with(end) && word.len() > end.len() + 1)
    };
    !is_public(key) && !words.iter().any(|word| word == "public") && words.iter().any(tells)
}

/// Returns whether a key of a Secret denotes a user, an address, an identifier or a setting.
pub(super) fn is_public(key: &str) -> bool {
    let words = words(key);
    // `azurestorageaccountname` is one word.
    let is_name = |last: &str| ["accountname", "hostname", "username"].iter().any(|end| last.ends_with(end));
    let is_public_word = |last: &String| PUBLIC.contains(&last.as_str()) || is_name(last);
    is_identifier(&words) || is_public_key(&words) || words.last().is_some_and(is_public_word)
}

/// Returns whether a key denotes a key that web pages contain: the site key of a captcha, or a publishable key.
fn is_public_key(words: &[String]) -> bool {
    let joined = words.concat();
    ["sitekey", "publishablekey", "publickey", "frontendkey"].iter().any(|end| joined.ends_with(end))
}

/// Returns whether a key denotes an identifier, such as a client id.
///
/// The identifiers of secrets and sessions are private.
fn is_identifier(words: &[String]) -> bool {
    let is_id = words.last().is_some_and(|last| last == "id" || last == "ids");
    is_id && !words.iter().any(|word| word == "secret" || word == "session")
}

/// The words of a name in lower case: `adminPassword`, `ADMIN_PASSWORD` and `admin.password` have two words.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_start = true;
    let mut before: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let before = before.replace(letter);
        if !letter.is_alphanumeric() {
            is_start = true;
            continue;
        }
        let after_lower = || before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit());
        // The last capital letter of `APIKey` starts a word.
        let after = letters.peek();
        let is_last_upper =
            || before.is_some_and(char::is_uppercase) && after.is_some_and(|after| after.is_lowercase());
        if is_start || (letter.is_uppercase() && (after_lower() || is_last_upper())) {
            words.push(String::new());
        }
        is_start = false;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        for (name, expected) in [
            ("adminPassword", "admin password"),
            ("ADMIN_PASSWORD", "admin password"),
            ("APIKey", "api key"),
            ("tls.key", "tls key"),
            ("S3_SECRET_KEY", "s3 secret key"),
            ("OAuth2ClientID", "o auth2 client id"),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn the_last_word_of_a_name_tells() {
        for name in
            ["password", "DB_PASSWORD", "apiKey", "clientSecret", "secret_key_base", "rootpassword", "password1"]
        {
            assert_eq!(of_value(name), Name::Private, "{name}");
        }
        for name in ["token", "botSecret", "jwt"] {
            assert_eq!(of_value(name), Name::Ambiguous, "{name}");
        }
        for name in [
            "passwordFile",
            "encryptedKey",
            "existingSecret",
            "CAPTCHA_SITE_KEY",
            "PASSWORD_LENGTH",
            "imagePullSecret",
            "user",
            "tokenUrl",
            "compass",
        ] {
            assert_eq!(of_value(name), Name::Neutral, "{name}");
        }
    }

    #[test]
    fn keys_of_secrets_tell_more() {
        for key in ["sessionId", "SECRET_ID", "pin", "tls.key", "auth", "credentials.ini", "db-pass"] {
            assert!(of_secret(key), "{key}");
        }
        for key in [
            "client_id",
            "appID",
            "DB_USER",
            "OAUTH_URL",
            "spinning",
            "keycloak",
            "public-key",
            "sitekey",
            "values.yaml",
        ] {
            assert!(!of_secret(key), "{key}");
        }
    }
}
