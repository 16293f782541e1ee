use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::semver_range::Range;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Node, Style, Value};

declare! {
    /// Flux cannot parse a range of versions.
    ///
    /// ## Why
    ///
    /// Flux parses the range at each reconciliation, and the API server does not. A source or an ImagePolicy with an
    /// invalid range never becomes ready, and a chart with an invalid version is never installed. The Flux Operator
    /// installs nothing for a FluxInstance with an invalid `distribution.version`.
    ///
    /// The severity is warning for the version of a chart that may be a tag, such as `latest`: a registry may contain a
    /// chart with exactly this tag, while the index of a HelmRepository contains only versions.
    ///
    /// ## How to fix it
    ///
    /// Write a range, such as `1.x` or `>=1.2.0 <2.0.0`. For the tag of an OCIRepository, set `spec.ref.tag`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: oci://registry.example.com/web
    ///   ref:
    ///     semver: latest
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 10m
    ///   url: oci://registry.example.com/web
    ///   ref:
    ///     semver: 1.x
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: versions of an OCIRepository](https://fluxcd.io/flux/components/source/ocirepositories/#semver-example),
    /// [Masterminds: constraints](https://github.com/Masterminds/semver#checking-version-constraints),
    /// `matchVersions` and `makeFilters` of flux-operator
    "invalid-version-range", Error, "Flux cannot parse a range of versions", Check::Object(check),
}

/// The maximum length of a tag in a registry.
const MAX_TAG: usize = 128;

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some((node, may_be_tag)) = range_of(object) else { return };
    let Value::Scalar(text, style) = &node.value else { return };
    let is_replaced = applied.completion.mentions("version") || applied.completion.mentions("ref");
    if *style == Style::Unknown || text.is_empty() || text.contains("${") || is_replaced || Range::parse(text).is_some()
    {
        return;
    }
    let message = format!("Flux cannot parse the version `{text}` of {}", object.reference());
    let (severity, help) = if may_be_tag && is_tag(text) {
        (
            Severity::Warning,
            "write a version or a range, such as `1.x`: unless the chart has exactly this tag, Flux never installs it",
        )
    } else {
        (Severity::Error, "write a range, such as `1.x` or `>=1.2.0 <2.0.0`: otherwise the object never becomes ready")
    };
    let finding = Finding::error(RULE.id, applied.by.place(node.span()).clone(), message);
    found.push(Finding { severity, ..finding }.help(help).about(object.reference()));
}

/// The range of an object that Flux reads, and whether the text may also be a tag.
fn range_of(object: &Object) -> Option<(&Node, bool)> {
    let at = |path: &[&str]| object.node.at_keys(path).filter(|node| !node.is_null());
    let has = |path: &[&str]| at(path).and_then(Node::text).is_some_and(|text| !text.is_empty());
    let is_of_index = |path: &[&str]| at(path).and_then(Node::text) == Some("HelmRepository");
    let is_static = at(&["spec", "type"]).and_then(Node::text) == Some("Static");
    match (object.group(), object.kind()) {
        // The precedence is: commit, name, range; and: digest, range.
        (groups::SOURCE, "GitRepository") if has(&["spec", "ref", "commit"]) || has(&["spec", "ref", "name"]) => None,
        (groups::SOURCE, "OCIRepository") if has(&["spec", "ref", "digest"]) => None,
        (groups::SOURCE, "GitRepository" | "OCIRepository") => Some((at(&["spec", "ref", "semver"])?, false)),
        (groups::IMAGE, "ImagePolicy") => Some((at(&["spec", "policy", "semver", "range"])?, false)),
        (groups::FLUX_OPERATOR, "FluxInstance") => Some((at(&["spec", "distribution", "version"])?, false)),
        (groups::FLUX_OPERATOR, "ResourceSetInputProvider") if !is_static => {
            Some((at(&["spec", "filter", "semver"])?, false))
        }
        (groups::SOURCE, "HelmChart") if is_of_index(&["spec", "sourceRef", "kind"]) => {
            Some((at(&["spec", "version"])?, true))
        }
        (groups::HELM, "HelmRelease") if is_of_index(&["spec", "chart", "spec", "sourceRef", "kind"]) => {
            Some((at(&["spec", "chart", "spec", "version"])?, true))
        }
        _ => None,
    }
}

/// Returns whether a text may be a tag in a registry.
fn is_tag(text: &str) -> bool {
    let is_first = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+'));
    is_first && is_rest && text.len() <= MAX_TAG
}
