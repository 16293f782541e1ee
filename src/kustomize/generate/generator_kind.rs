//! The kinds of objects that generators create.

/// What a generator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneratorKind {
    ConfigMap,
    Secret,
}

impl GeneratorKind {
    pub(super) fn generator(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMapGenerator",
            Self::Secret => "SecretGenerator",
        }
    }
}
