//! Passwords and tokens in URLs: `https://user:password@host/path`.

use std::ops::Range;

/// The minimum length of a token without a user in bytes. A shorter text is the name of a user.
const MIN_TOKEN: usize = 20;

/// Returns the ranges of the passwords and tokens in the URLs of a text.
pub(super) fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").filter_map(|(at, scheme_end)| {
        let start = at + scheme_end.len();
        let rest = text.get(start..)?;
        let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>');
        let authority = rest.get(..rest.find(is_end).unwrap_or(rest.len()))?;
        let user = authority.get(..authority.rfind('@')?)?;
        // A template or a variable is not a value.
        let is_value = |range: &Range<usize>| !range.is_empty() && !user.contains(['$', '{']);
        let range = match user.find(':') {
            Some(colon) => start + colon + 1..start + user.len(),
            None if user.len() >= MIN_TOKEN => start..start + user.len(),
            None => return None,
        };
        Some(range).filter(is_value)
    })
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn passwords_and_tokens_are_found() {
        let found = |text: &'static str| credentials(text).filter_map(|range| text.get(range)).collect::<Vec<_>>();
        assert_eq!(found("resources: [\"https://bob:hunter2@git.example.com/a.git//p?ref=x\"]"), ["hunter2"]);
        assert_eq!(found("- git::ssh://bob:pass@word@git.example.com/a"), ["pass@word"]);
        assert_eq!(found("https://abcdefghij0123456789@git.example.com"), ["abcdefghij0123456789"]);
        let public = "ssh://git@github.com/a https://acme@dev.azure.com/acme https://a:${B}@c https://a/b:c@d";
        assert!(found(public).is_empty());
    }
}
