use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::{AppliedSet, Applier, ApplierKind, State};
use crate::kube::{Object, ObjectId, groups, is_encrypted_value};
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Entry, Node};

declare! {
    /// A Kustomization applies a SOPS-encrypted object without decryption.
    ///
    /// ## Why
    ///
    /// kustomize-controller refuses to apply an encrypted Secret, and then applies no object of the Kustomization. The
    /// API server receives an encrypted object of another kind as it is in the repository. The encrypted text is then
    /// the value, or the API server rejects the unknown field `sops`, and Flux does not apply the Kustomization.
    ///
    /// Without a root, the applier of a directory is unknown. So is its decryption. The rule ignores objects that stay
    /// encrypted on the cluster: objects with the annotation `kustomize.toolkit.fluxcd.io/decrypt: disabled`, and a
    /// `SopsSecret`, which an operator decrypts.
    ///
    /// kustomize-controller reads the Secret of `spec.decryption.secretRef` in the namespace of the Kustomization, and
    /// applies nothing without the Secret. The rule warns if the repository has this Secret in another namespace only.
    ///
    /// If no object applies the root itself, its live object may have a decryption that the repository does not show.
    /// The finding is then a warning.
    ///
    /// kustomize-controller decrypts an object after the build. If the build sets a field that SOPS encrypted, such as
    /// `metadata.namespace` with `namespace`, the decryption fails, and Flux does not apply the Kustomization. A file
    /// without such a change works. If SOPS encrypted the `kind`, name or namespace, kustomize does not know the
    /// identity of the object, so the rule reports the object with pedantic severity. An encrypted `kind` is a warning,
    /// since no rule can check the object.
    ///
    /// SOPS writes each age key as an armored age file. If a file has only age keys, and all of them contain other data, such
    /// as a text that a program invented, no identity decrypts the object.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.decryption` with `provider: sops` and the Secret of the key, or move the object to a Kustomization
    /// with this setting. Encrypt only `data` and `stringData`: set `encrypted_regex: ^(data|stringData)$` in
    /// `.sops.yaml`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: decryption](https://fluxcd.io/flux/components/kustomize/kustomizations/#decryption)
    "sops-misconfigured", Error, "a Kustomization applies a SOPS-encrypted object without decryption", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    check_keys(view, found);
    let is_decrypting = |object: &Object| object.node.at_keys(&["spec", "decryption", "provider"]).is_some();
    // Another definition of the Kustomization decrypts the objects. `object-owned-twice` reports the two definitions.
    let duplicates = view.duplicates().filter(|(first, second)| {
        first.object.is(groups::KUSTOMIZE, "Kustomization")
            && (is_decrypting(first.object) || is_decrypting(second.object))
    });
    let decrypted_elsewhere: BTreeSet<ObjectId<'_>> = duplicates.map(|(first, _)| ObjectId::of(first.object)).collect();
    // A decrypted object no longer has the field `sops`.
    for applied in view.encrypted() {
        let (object, applier) = (applied.object, applied.by);
        let is_decrypted = |by: &Object| decrypted_elsewhere.contains(&ObjectId::of(by));
        if stays_encrypted(object) || applier.object.as_ref().is_some_and(is_decrypted) {
            continue;
        }
        if applier.kind == ApplierKind::Folder {
            found.unchecked("the decryption of encrypted objects in a repository without a root");
            continue;
        }
        if applier.kind == ApplierKind::Bootstrap {
            found.unchecked("the decryption of encrypted objects that a user applies with the root");
            continue;
        }
        let evidence = &view.receiver.cluster.evidence;
        if evidence.is_assumed && evidence.is_generated && applier.is_of_bootstrap() {
            found.unchecked("the decryption of encrypted objects by a Kustomization that no file contains");
            continue;
        }
        let message = if is_encrypted_value(object.name()) {
            format!("{} contains an encrypted object, and does not decrypt it", applier.reference)
        } else {
            format!("{} is encrypted, and {} does not decrypt it", object.reference(), applier.reference)
        };
        let place = object.node.entry("sops").map_or_else(|| object.span().clone(), Entry::key_span);
        let decrypts = applier.kind == ApplierKind::Kustomization;
        let help = if !decrypts {
            "apply the object with a Kustomization that sets `spec.decryption`: only Kustomizations decrypt objects"
        } else if object.is("", "Secret") {
            "set `spec.decryption` of the Kustomization, with `provider: sops` and the Secret of the key: without it, \
             Flux refuses the encrypted Secret, and applies no object of the Kustomization"
        } else if is_encrypted_value(object.name()) {
            "set `spec.decryption` of the Kustomization, with `provider: sops` and the Secret of the key: without it, \
             the API server rejects the encrypted object"
        } else {
            "set `spec.decryption` of the Kustomization, with `provider: sops` and the Secret of the key: without it, \
             Flux applies the encrypted text"
        };
        let mut finding = Finding::error(RULE.id, place, message).help(help).about(object.reference());
        if let Some(by) = &applier.object {
            finding = finding.related(by.span().clone(), "applied by this object");
            if is_only_bootstrapped(view, applier, by) {
                finding.severity = Severity::Warning;
            }
        }
        let before = format!("{} does not decrypt ", applier.reference);
        finding = finding.caused_by(applier.reference.to_string(), before, " encrypted objects");
        if decrypts {
            finding = finding.help_for_all(
                "set `spec.decryption` of the Kustomization, with `provider: sops` and the Secret of the key: without \
                 it, Flux applies no object of a Kustomization with an encrypted Secret, and applies the encrypted \
                 text of other objects",
            );
        }
        if let Some((parent, patch)) = decrypting_patch(applier) {
            let help = format!(
                "correct the target of the patch of {}: it sets `spec.decryption`, but not of this Kustomization",
                parent.reference
            );
            let place = parent.parent_applier.as_ref().map_or_else(|| patch.clone(), |by| by.place(patch));
            finding = finding.help(help.clone()).help_for_all(help).related(place, "this patch");
        }
        found.push(finding);
    }
    let built = view.applied_sets().filter(|set| matches!(set.by.state, State::Built));
    for object in built.flat_map(AppliedSet::unidentified) {
        let file = object.node.origin.written().file().path();
        let message =
            format!("SOPS encrypted `kind` or `metadata` of an object in `{file}`, which Flux does not support");
        let help = "set `encrypted_regex: ^(data|stringData)$` in `.sops.yaml`, and encrypt the file again: kustomize \
                    needs the identity of an object, and kustomize-controller decrypts the object after the build";
        let place = object.node.entry("kind").map_or_else(|| object.node.span().clone(), Entry::key_span);
        // No rule can check an object of an unknown kind.
        let has_unknown_kind = object.node.get("kind").and_then(Node::text).is_some_and(is_encrypted_value);
        let (severity, cause) = if has_unknown_kind {
            (Severity::Warning, "encrypted kinds")
        } else {
            (Severity::Pedantic, "encrypted identities")
        };
        let finding = Finding { severity, ..Finding::error(RULE.id, place, message) }.help(help);
        found.push(finding.caused_by(cause, "SOPS encrypted `kind` or `metadata` of ", " objects"));
    }
}

/// Checks that the Secret with the key of a Kustomization is in its namespace, if the cluster receives a Secret of this name
/// in another one. Users often create other keys by hand.
fn check_keys(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization") {
        let object = applied.object;
        let Some(node) = object.node.at_keys(&["spec", "decryption", "secretRef", "name"]) else { continue };
        let (Some(name), Some(namespace)) = (node.text(), object.namespace()) else { continue };
        let wanted = ObjectId { group: "", kind: "Secret", namespace, name };
        // A user often applies the file of the key, so that the cluster does not receive the Secret.
        let by_hand = view.written.find(ObjectId { namespace: groups::FLUX_NAMESPACE, ..wanted });
        let is_elsewhere =
            || view.of_kind("", "Secret").any(|secret| secret.object.name() == name) || by_hand.is_some();
        if view.get(wanted).is_some() || view.written.find(wanted).is_some() || !is_elsewhere() {
            continue;
        }
        let Some(missing) = search.missing(wanted, None, found) else { continue };
        let by = object.reference();
        let message = format!("{by} decrypts with {wanted}, which the cluster does not receive");
        let finding = Finding::warning(RULE.id, applied.by.place(node.span()), message).about(by);
        let help = "add the Secret to the namespace of the Kustomization, where kustomize-controller reads it";
        if missing.is_certain_mistake() {
            found.push(missing.explain(finding, help));
        } else if let Some(secret) = by_hand {
            found
                .push(missing.explain(finding, help).help(help).related(secret.span().clone(), "in another namespace"));
        }
    }
}

/// The patch with which the parent of a Kustomization sets `spec.decryption` of some Kustomizations.
fn decrypting_patch(applier: &Applier) -> Option<(&Applier, &Span)> {
    let parent = applier.parent_applier.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization)?;
    let patches = parent.object.as_ref()?.node.at_keys(&["spec", "patches"])?.items();
    let patch = patches.iter().find(|patch| {
        let text = patch.get("patch").and_then(Node::text).unwrap_or_default();
        text.contains("decryption") && text.contains("sops")
    })?;
    Some((parent, patch.span()))
}

/// Returns whether a user applied an object once, and no Kustomization applies it.
///
/// Flux keeps later changes to such an object, which the repository does not show.
fn is_only_bootstrapped(view: &View<'_>, applier: &Applier, object: &Object) -> bool {
    let is_of_user = |applier: &Applier| applier.kind == ApplierKind::Bootstrap;
    let id = ObjectId::of(object);
    applier.parent_applier.as_ref().is_some_and(|parent| is_of_user(parent))
        && !view.objects().any(|applied| !is_of_user(applied.by) && ObjectId::of(applied.object) == id)
}

/// Returns whether an object stays encrypted on the cluster.
///
/// An annotation disables its decryption, or an operator decrypts it on the cluster.
fn stays_encrypted(object: &Object) -> bool {
    let decrypt = object.annotation("kustomize.toolkit.fluxcd.io/decrypt");
    object.kind() == "SopsSecret" || decrypt.is_some_and(|value| value.eq_ignore_ascii_case("disabled"))
}
