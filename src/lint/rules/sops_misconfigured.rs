use crate::base::finding::Finding;
use crate::flux::ApplierKind;
use crate::kube::Object;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Entry;

declare! {
    /// An encrypted object belongs to a Kustomization that is not told to decrypt.
    ///
    /// ## Why
    ///
    /// The API server gets the object as it stands in the repository: the encrypted text becomes the password, or the whole
    /// Kustomization fails at the field `sops` that no schema knows. Nothing else of it is applied then.
    ///
    /// In a repository without a root nobody knows who applies a folder, and whether that decrypts. Silent for what is to
    /// stay encrypted: with the annotation `kustomize.toolkit.fluxcd.io/decrypt: disabled`, and for a `SopsSecret`, which
    /// an operator decrypts.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.decryption` with `provider: sops` and the Secret of the key, or take the object to a Kustomization that has it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # secrets/database.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: ENC[AES256_GCM,data:c2VjcmV0,iv:aXY=,tag:dGFn,type:str]
    /// sops:
    ///   age:
    ///     - recipient: age1example
    ///       enc: example
    ///   mac: ENC[AES256_GCM,data:bWFj,iv:aXY=,tag:dGFn,type:str]
    ///   version: 3.9.0
    /// # apps.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: secrets
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/secrets
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - apps.yaml
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # secrets/database.yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: ENC[AES256_GCM,data:c2VjcmV0,iv:aXY=,tag:dGFn,type:str]
    /// sops:
    ///   age:
    ///     - recipient: age1example
    ///       enc: example
    ///   mac: ENC[AES256_GCM,data:bWFj,iv:aXY=,tag:dGFn,type:str]
    ///   version: 3.9.0
    /// # apps.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: secrets
    ///   namespace: flux-system
    /// spec:
    ///   decryption:
    ///     provider: sops
    ///     secretRef:
    ///       name: sops-age
    ///   interval: 1h
    ///   path: ./clusters/example/secrets
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - apps.yaml
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: decryption](https://fluxcd.io/flux/components/kustomize/kustomizations/#decryption)
    "sops-misconfigured", Error, "what SOPS encrypted is applied as it is", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    // What is decrypted has no trace of SOPS any more.
    for applied in view.encrypted() {
        let (object, applier) = (applied.object, applied.by);
        if is_meant(object) {
            continue;
        }
        if applier.kind == ApplierKind::Folder {
            found.unchecked("who decrypts what is encrypted in a repository without a root");
            continue;
        }
        let message = format!("{} is encrypted, and {} does not decrypt it", object.reference(), applier.reference);
        let place = object.node.entry("sops").map_or_else(|| object.span().clone(), Entry::key_span);
        let decrypts = applier.kind == ApplierKind::Kustomization;
        let help = if decrypts {
            "set `spec.decryption.provider` of the Kustomization to `sops`: as it is, the encrypted text is applied"
        } else {
            "only a Kustomization decrypts: let one with `spec.decryption` apply it"
        };
        let mut finding = Finding::error(RULE.id, place, message).help(help).about(object.reference());
        if let Some(by) = &applier.object {
            finding = finding.related(by.span().clone(), "it is applied by this");
        }
        found.push(finding);
    }
}

/// Whether it is to be encrypted on the cluster, too: it says so, or its own operator decrypts it there.
fn is_meant(object: &Object) -> bool {
    let said = object.text_at(&["metadata", "annotations", "kustomize.toolkit.fluxcd.io/decrypt"]);
    object.kind() == "SopsSecret" || said.is_some_and(|said| said.eq_ignore_ascii_case("disabled"))
}
