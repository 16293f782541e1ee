//! Text from a repository, made safe for a terminal.

use std::borrow::Cow;

/// A text of the user's as it may be shown: what would move the cursor or reverse the line is replaced.
pub fn printable(text: &str) -> Cow<'_, str> {
    let unsafe_for_terminals = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(unsafe_for_terminals) {
        Cow::Owned(text.replace(unsafe_for_terminals, "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}
