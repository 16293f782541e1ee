//! SOPS decryption without keys: decrypted values exist but are unknown.

use crate::kube::Object;
use crate::kustomize::decrypt_object;

/// The annotation that disables decryption of an object.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/decrypt";

/// Returns whether a Kustomization enables decryption.
pub(super) fn is_enabled(kustomization: &Object) -> bool {
    kustomization.text_at(&["spec", "decryption", "provider"]) == Some("sops")
}

/// Decrypts an object without the key: encrypted values become unknown.
pub(super) fn decrypt(object: &mut Object) {
    let switched = object.text_at(&["metadata", "annotations", SWITCH]);
    if switched.is_some_and(|value| value.eq_ignore_ascii_case("disabled")) {
        return;
    }
    if let Some(node) = decrypt_object(&object.node) {
        object.node = node;
    }
}
