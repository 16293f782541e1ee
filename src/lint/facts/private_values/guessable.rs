//! Values that attackers try first: well-known passwords, and values that repeat a name.

use super::name::words;
use crate::yaml::decode_base64;

/// Returns whether a value is only its name, such as `apikey` for `api-key`, a word of its name, such as `shop` for
/// `SHOP_PASSWORD`, consists of words of its name, such as `appkey` for `application_key`, or ends with its name, such as
/// `shop-client-secret` for `client-secret`.
pub(super) fn repeats(name: &str, value: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let is_of_words = value.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_'));
    letters(name) == letters(value)
        || words(name).contains(&value.to_ascii_lowercase())
        || (name.len() > 5 && is_of_words && letters(value).ends_with(&letters(name)))
        || (is_of_words && consists_of_words(name, &letters(value)))
}

/// Returns whether a value consists of words of its name in their order, or of the first letters of these words.
fn consists_of_words(name: &str, value: &str) -> bool {
    const MIN_LETTERS: usize = 3;
    let mut rest = value;
    for word in words(name) {
        let shared = word.bytes().zip(rest.bytes()).take_while(|(one, other)| one == other).count();
        if shared >= MIN_LETTERS.min(word.len()) {
            rest = rest.get(shared..).unwrap_or_default();
        }
    }
    rest.is_empty() && !value.is_empty()
}

/// The programs whose examples use their own names as passwords, alone or with digits: `minio123`.
const PROGRAMS: [&str; 22] = [
    "airflow",
    "argocd",
    "console",
    "elastic",
    "gitlab",
    "grafana",
    "harbor",
    "influxdb",
    "jenkins",
    "kafka",
    "keycloak",
    "mariadb",
    "minio",
    "mongo",
    "mongodb",
    "mysql",
    "nextcloud",
    "postgres",
    "postgresql",
    "rabbitmq",
    "rancher",
    "redis",
];

/// The words of values in examples: `test-token`, `my_secret_key`, `adminPassword`.
const VOCABULARY: [&str; 29] = [
    "access",
    "admin",
    "api",
    "bar",
    "client",
    "default",
    "demo",
    "dummy",
    "example",
    "fake",
    "foo",
    "insecure",
    "invalid",
    "key",
    "my",
    "pass",
    "password",
    "placeholder",
    "root",
    "sample",
    "secret",
    "secure",
    "some",
    "super",
    "test",
    "testing",
    "token",
    "user",
    "value",
];

/// The digits that users append to a word.
const COUNTED: [&str; 4] = ["1", "123", "1234", "12345"];

/// Returns whether a value is a common word without any addition: the name of a program, or words in examples.
///
/// Other texts contain such a word, whether or not it is a password somewhere.
pub fn is_common_word(value: &str) -> bool {
    let words = || value.split(['-', '_', '.']);
    PROGRAMS.contains(&value) || words().all(|word| !word.is_empty() && is_of_vocabulary(word))
}

/// Returns whether a value is a password that attackers try first.
///
/// Examples contain such values, and users may keep them. Some have signs instead of letters: `p@ssw0rd`.
pub(super) fn is_guessable(text: &str) -> bool {
    let letters = text.replace('@', "a").replace('$', "s").replace('0', "o");
    let decoded = || decode_base64(text).and_then(|bytes| String::from_utf8(bytes).ok());
    is_well_known(text) || is_well_known(&letters) || decoded().is_some_and(|text| is_well_known(text.trim()))
}

fn is_well_known(text: &str) -> bool {
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let known = [
        "adminadmin",
        "administrator",
        // The default of GitLab's chart.
        "bogussatisfyupgrade",
        "calvin",
        "changeit",
        "changethis",
        "foobar",
        "guest",
        // The default of Harbor.
        "harbor12345",
        "letmein",
        // The default of MinIO.
        "minioadmin",
        "mypassword",
        "mysecret",
        "passwd",
        "pleasechangeme",
        // The default of the chart kube-prometheus-stack.
        "promoperator",
        "secretpassword",
        "supersecret",
    ];
    let words = words(text);
    // `strongpassword`, `mysecret1`, `minio123`.
    let stem = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_counted = COUNTED.iter().any(|digits| plain.strip_suffix(digits) == Some(stem));
    let is_program = PROGRAMS.contains(&stem) && (is_counted || stem == plain);
    let is_compound = words.len() == 1 && ["password", "secret"].iter().any(|end| stem.ends_with(end));
    known.contains(&plain.as_str())
        || plain.contains("changeme")
        || is_compound
        || is_program
        || (!words.is_empty() && words.iter().all(|word| is_of_vocabulary(word)))
}

/// The maximum length of a guessable word. The search is recursive.
const MAX_WORD: usize = 64;

/// Returns whether a word consists of words in examples, such as `token` or `myaccess`.
fn is_of_vocabulary(word: &str) -> bool {
    if word.len() > MAX_WORD {
        return false;
    }
    let mut rests = VOCABULARY.iter().filter_map(|known| word.strip_prefix(known));
    rests.any(|rest| rest.is_empty() || is_of_vocabulary(rest))
}
