//! The kinds of objects that generators create.

/// The kind of object that a generator creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneratorKind {
    ConfigMap,
    Secret,
}

impl GeneratorKind {
    /// The kind of the generator in origin annotations.
    pub(super) fn generator(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMapGenerator",
            Self::Secret => "SecretGenerator",
        }
    }
}
