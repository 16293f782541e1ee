//! The operators between a name and its argument.

/// What a `${…}` does with a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `${x}`, and `${x,^}` and `${x^,}`, which do nothing either.
    Value,
    /// `${#x}`, in bytes.
    Length,
    /// `${x,}`
    LowerFirst,
    /// `${x,,}`
    Lower,
    /// `${x^}`
    UpperFirst,
    /// `${x^^}`
    Upper,
    /// `${x:1}` and `${x:1:2}`, in bytes.
    Substring,
    /// `${x#pattern}`
    ShortPrefix,
    /// `${x##pattern}`
    LongPrefix,
    /// `${x%pattern}`
    ShortSuffix,
    /// `${x%%pattern}`
    LongSuffix,
    /// `${x/text/other}`
    ReplaceFirst,
    /// `${x//text/other}`
    ReplaceAll,
    /// `${x/#text/other}`
    ReplacePrefix,
    /// `${x/%text/other}`
    ReplaceSuffix,
    /// `${x:-default}`, and the same with `:=`, `:?`, `:+` and `=`.
    Default,
}

impl Operator {
    /// What a run of `,` and `^` means.
    pub(super) fn casing(text: &str) -> Self {
        match text {
            "," => Self::LowerFirst,
            ",," => Self::Lower,
            "^" => Self::UpperFirst,
            "^^" => Self::Upper,
            _ => Self::Value,
        }
    }

    /// What a slash and the character after it mean.
    pub(super) fn replacing(text: &str) -> Self {
        match text {
            "//" => Self::ReplaceAll,
            "/#" => Self::ReplacePrefix,
            "/%" => Self::ReplaceSuffix,
            _ => Self::ReplaceFirst,
        }
    }

    /// What one or two `#` or `%` mean.
    pub(super) fn trimming(text: &str) -> Self {
        match text {
            "##" => Self::LongPrefix,
            "%" => Self::ShortSuffix,
            "%%" => Self::LongSuffix,
            _ => Self::ShortPrefix,
        }
    }
}
