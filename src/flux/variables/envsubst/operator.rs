//! The operators of `${…}`.

/// The operation of a `${…}` on the value of its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `${x}`, and also `${x,^}` and `${x^,}`, which have no effect.
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
    /// `${x:-default}`, and the same with `:=`, `:?`, `:+` or `=` in place of `:-`.
    Default,
}

impl Operator {
    /// The operator of a run of `,` and `^`.
    pub(super) fn casing(text: &str) -> Self {
        match text {
            "," => Self::LowerFirst,
            ",," => Self::Lower,
            "^" => Self::UpperFirst,
            "^^" => Self::Upper,
            _ => Self::Value,
        }
    }

    /// The operator of a slash and the next character.
    pub(super) fn replacing(text: &str) -> Self {
        match text {
            "//" => Self::ReplaceAll,
            "/#" => Self::ReplacePrefix,
            "/%" => Self::ReplaceSuffix,
            _ => Self::ReplaceFirst,
        }
    }

    /// Returns the operator for `#`, `##`, `%` or `%%`.
    pub(super) fn trimming(text: &str) -> Self {
        match text {
            "##" => Self::LongPrefix,
            "%" => Self::ShortSuffix,
            "%%" => Self::LongSuffix,
            _ => Self::ShortPrefix,
        }
    }
}
