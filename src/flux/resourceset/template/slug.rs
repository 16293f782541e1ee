//! `slugify`: converts a text to a label value.

use super::fault::Fault;

/// The maximum length of a label value.
const MAX_LEN: usize = 63;

pub(super) fn slugify(text: &str) -> Result<String, Fault> {
    let mut plain = String::with_capacity(text.len());
    for character in text.trim().chars() {
        match character {
            '&' => plain.push_str("and"),
            '@' => plain.push_str("at"),
            '"' | '\'' | '’' => {}
            '‒' | '–' | '—' | '―' => plain.push('-'),
            _ if character.is_ascii() => plain.push(character.to_ascii_lowercase()),
            _ => return Err(Fault::limit(0, format!("the character `{character}` is not supported"))),
        }
    }
    let mut slug = String::with_capacity(plain.len());
    for character in plain.chars() {
        let kept = if character.is_ascii_alphanumeric() || character == '_' { character } else { '-' };
        if kept != '-' || !slug.ends_with('-') {
            slug.push(kept);
        }
    }
    let slug = slug.trim_matches(['-', '_']);
    if slug.len() <= MAX_LEN {
        return Ok(slug.to_owned());
    }
    // The value is truncated at the last dash within the limit, if there is one.
    let head = slug.get(..=MAX_LEN).unwrap_or(slug);
    let cut = head.rfind('-').unwrap_or(MAX_LEN);
    Ok(slug.get(..cut).unwrap_or(slug).to_owned())
}
