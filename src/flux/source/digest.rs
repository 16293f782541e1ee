//! Digests of the inputs of artifacts.

use std::fmt::Write as _;

use arcstr::ArcStr;
use sha2::{Digest as _, Sha256};

/// The digest of an artifact's input, which may contain the ids of other artifacts.
pub(super) fn digest(recipe: &str) -> ArcStr {
    let digest = Sha256::digest(recipe);
    let mut id = String::new();
    for byte in digest.iter().take(16) {
        let _ = write!(id, "{byte:02x}");
    }
    id.into()
}
