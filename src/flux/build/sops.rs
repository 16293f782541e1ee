//! Objects encrypted by SOPS: what they say once Flux decrypted them is known to be there, and nobody here can know it.

use crate::kube::Object;
use crate::kustomize::decrypt_object;

/// The annotation by which an object stays encrypted.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/decrypt";

/// Tells whether a Kustomization asks for decryption.
pub(super) fn is_asked(kustomization: &Object) -> bool {
    kustomization.text_at(&["spec", "decryption", "provider"]) == Some("sops")
}

/// Decrypts an object as far as that can be done without the key: what is encrypted becomes unknown.
pub(super) fn decrypt(object: &mut Object) {
    let switched = object.text_at(&["metadata", "annotations", SWITCH]);
    if switched.is_some_and(|value| value.eq_ignore_ascii_case("disabled")) {
        return;
    }
    if let Some(node) = decrypt_object(&object.node) {
        object.node = node;
    }
}
