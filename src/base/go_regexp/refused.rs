//! The reasons why Go refuses a pattern.

use std::fmt;

/// The reason why a pattern does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// An unknown escape sequence: `\y`, `\1`, or `\b` in a class.
    Escape,
    /// An invalid range or an unknown class: `[b-a]`, `[[:word]]` or `\p{None}`.
    Class,
    /// A bracket that is not closed: `[a`.
    Bracket,
    /// A parenthesis that is not closed: `(a`.
    OpenParenthesis,
    /// A closing parenthesis without an opening parenthesis: `a)`.
    CloseParenthesis,
    /// A repetition without an operand: `*a`.
    Operand,
    /// A repetition of a repetition: `a**`, `a{2}{3}` or `a++`.
    Repeated,
    /// A count above the limit: `a{1001}` or `(a{100}){100}`.
    Count,
    /// An unknown flag or kind of group: `(?x)` or `(?=a)`.
    Group,
    /// An invalid name of a group: `(?P<a-b>c)`.
    GroupName,
    /// The pattern is too large, or its groups are nested too deeply.
    Size,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Escape => "it has an escape sequence that Go does not support",
            Self::Class => "it has an invalid range or an unknown character class",
            Self::Bracket => "a `[` is not closed",
            Self::OpenParenthesis => "a `(` is not closed",
            Self::CloseParenthesis => "a `)` has no matching `(`",
            Self::Operand => "a repetition has no expression before it",
            Self::Repeated => "a repetition cannot be repeated",
            Self::Count => "a repetition has a count above 1000",
            Self::Group => "Go does not support this kind of group or flag",
            Self::GroupName => "the name of a group is invalid",
            Self::Size => "it is too large, or its groups are nested too deeply",
        })
    }
}
