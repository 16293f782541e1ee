//! Texts that each match of a pattern contains.

use regex_syntax::hir::{Hir, HirKind};

/// A literal text of each match that `is_wanted`.
pub(super) fn text(pattern: &Hir, is_wanted: &dyn Fn(&str) -> bool) -> Option<String> {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            is_wanted(text).then(|| text.to_owned())
        }
        HirKind::Concat(parts) => parts.iter().find_map(|part| text(part, is_wanted)),
        HirKind::Capture(group) => text(&group.sub, is_wanted),
        HirKind::Repetition(repetition) if repetition.min > 0 => text(&repetition.sub, is_wanted),
        _ => None,
    }
}
