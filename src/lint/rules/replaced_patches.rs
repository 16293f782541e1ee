use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::{File, Span};
use crate::yaml::{ChangedBy, Node, Origin, parse};

declare! {
    /// A patch replaces the patches of a Kustomization.
    ///
    /// ## Why
    ///
    /// kustomize has no merge keys for the lists in Flux objects. Therefore, a strategic merge patch that sets
    /// `spec.patches` replaces the whole list. The Kustomization loses its own patches, and Flux does not report the
    /// loss. Usually, such a patch has a `target` that selects many Kustomizations, and one of them has patches of its
    /// own.
    ///
    /// The rule does not report a new list that contains all patches of the old list. It also does not report a
    /// Kustomization without objects of the kinds that the lost patches select.
    ///
    /// ## How to fix it
    ///
    /// Add to the list with a JSON patch: `op: add` and `path: /spec/patches/-`. The JSON patch requires an existing
    /// list, so keep the strategic merge patch for the Kustomizations without patches. Otherwise, repeat the lost
    /// patches in the new list.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # shop.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   patches:
    ///     - target:
    ///         kind: Deployment
    ///       patch: |
    ///         - op: add
    ///           path: /spec/replicas
    ///           value: 3
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - shop.yaml
    /// patches:
    ///   - target:
    ///       kind: Kustomization
    ///       name: shop
    ///     patch: |
    ///       apiVersion: kustomize.toolkit.fluxcd.io/v1
    ///       kind: Kustomization
    ///       metadata:
    ///         name: any
    ///       spec:
    ///         patches:
    ///           - target:
    ///               kind: HelmRelease
    ///             patch: |
    ///               - op: add
    ///                 path: /spec/timeout
    ///                 value: 10m
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # shop.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   patches:
    ///     - target:
    ///         kind: Deployment
    ///       patch: |
    ///         - op: add
    ///           path: /spec/replicas
    ///           value: 3
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - shop.yaml
    /// patches:
    ///   - target:
    ///       kind: Kustomization
    ///       name: shop
    ///     patch: |
    ///       - op: add
    ///         path: /spec/patches/-
    ///         value:
    ///           target:
    ///             kind: HelmRelease
    ///           patch: |
    ///             - op: add
    ///               path: /spec/timeout
    ///               value: 10m
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize: strategic merge patches](https://kubectl.docs.kubernetes.io/references/kustomize/glossary/#patchstrategicmerge)
    "replaced-patches", Warning, "a patch replaces the patches of a Kustomization", Check::Cluster(check),
}

/// A patch, with the Kustomizations whose patches it replaces.
struct Replaced<'a> {
    place: Span,
    lost: Vec<(Applied<'a>, Span)>,
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut by_place: BTreeMap<(String, usize), Replaced<'_>> = BTreeMap::new();
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization") {
        let Some(patches) = applied.object.node.at_keys(&["spec", "patches"]) else { continue };
        let Some((by, lost, lost_patches)) = lost_patches(patches) else { continue };
        // A patch without effect on the objects of a Kustomization is not a loss.
        let set = view.applied_by(applied.object).filter(|set| set.is_complete());
        if let Some(set) = set {
            let kinds = selected_kinds(&lost_patches);
            if !set.objects.iter().any(|object| kinds.as_ref().is_none_or(|kinds| kinds.contains(object.kind()))) {
                continue;
            }
        }
        let place = applied.by.place(by);
        let key = (place.file().path().to_owned(), place.range().start);
        let lost = (applied, applied.by.place(lost));
        by_place.entry(key).or_insert_with(|| Replaced { place, lost: Vec::new() }).lost.push(lost);
    }
    for Replaced { place, lost } in by_place.into_values() {
        let Some((first, _)) = lost.first() else { continue };
        let reference = first.object.reference();
        let others = match lost.len() - 1 {
            0 => String::new(),
            1 => " and one other".to_owned(),
            others => format!(" and {others} others"),
        };
        let message =
            format!("this patch replaces `spec.patches` of {reference}{others}: the earlier patches are lost");
        let mut finding = Finding::warning(RULE.id, place, message)
            .help(
                "add to the list with a JSON patch, `op: add` and `path: /spec/patches/-`, or repeat the lost patches: a \
                 strategic merge patch replaces the whole list",
            )
            .about(reference);
        for (applied, span) in lost {
            finding = finding.related(span, format!("the lost patches of {}", applied.object.reference()));
        }
        found.push(finding);
    }
}

/// The kinds of the objects that patches may change; `None` for all kinds.
fn selected_kinds(patches: &[Node]) -> Option<BTreeSet<String>> {
    let mut kinds = BTreeSet::new();
    for patch in patches {
        let Some(target) = patch.get("target") else {
            let text = patch.get("patch").and_then(Node::text).unwrap_or_default();
            let parsed = parse(&File::new("", text));
            if parsed.documents.is_empty() {
                return None;
            }
            for document in &parsed.documents {
                kinds.insert(document.node.get("kind")?.text()?.to_owned());
            }
            continue;
        };
        let kind = target.get("kind").and_then(Node::text).unwrap_or_default();
        // A kind with other characters is a regular expression.
        if kind.is_empty() || !kind.chars().all(char::is_alphanumeric) {
            return None;
        }
        kinds.insert(kind.to_owned());
    }
    Some(kinds)
}

/// Returns the position of the patch that replaces a list of patches, the position of the list, and the lost patches.
///
/// The result is `None` without lost patches.
fn lost_patches(patches: &Node) -> Option<(&Span, &Span, Vec<Node>)> {
    let Origin::Via(step) = &patches.origin else { return None };
    let (ChangedBy::Patch(by), Some(previous)) = (&step.by, &step.previous) else { return None };
    let written = previous.written();
    let text = |item: &Node| item.get("patch").and_then(Node::text).map(|text| text.trim().to_owned());
    let kept: BTreeSet<String> = patches.items().iter().filter_map(text).collect();
    // The parser reads only the text of the list, with its indentation.
    let indent = written.position().column.saturating_sub(1) as usize;
    let parsed = parse(&File::new(written.file().path(), format!("{}{}", " ".repeat(indent), written.text())));
    let old = parsed.documents.first().map_or(&[][..], |document| document.node.items());
    let lost = old.iter().filter(|item| text(item).is_some_and(|text| !kept.contains(&text)));
    let lost: Vec<Node> = lost.cloned().collect();
    (!lost.is_empty()).then_some((by, written, lost))
}
