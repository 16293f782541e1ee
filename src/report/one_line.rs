//! Texts of a repository in formats with one line for each item.

use super::printable::printable;

/// Returns a text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}
