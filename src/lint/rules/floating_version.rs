use crate::base::finding::{Finding, Label, Severity};
use crate::flux::Applied;
use crate::kube::semver_range::Range;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::facts::pods::containers;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::yaml::{Entry, Node};

declare! {
    /// A source, a chart or an image has a version that whoever publishes the next one decides.
    ///
    /// ## Why
    ///
    /// `latest`, `*`, or a range without an upper bound takes whatever comes, a breaking release too. It reaches all clusters in
    /// the same hour, nothing in Git says when or why, and reverting a commit does not bring the old one back.
    ///
    /// Branches of Git repositories are meant to move, ranges with an upper bound are a choice, and an OCI tag whose artifact is
    /// verified moves only with its signer. A warning on clusters that count as production, pedantic on others.
    ///
    /// ## How to fix it
    ///
    /// Name a version, a digest, or a range with an upper bound such as `1.x`; let a bot propose the next one.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chart:
    ///     spec:
    ///       chart: cache
    ///       sourceRef:
    ///         kind: HelmRepository
    ///         name: charts
    ///       version: ">=1.0.0"
    ///   interval: 1h
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chart:
    ///     spec:
    ///       chart: cache
    ///       sourceRef:
    ///         kind: HelmRepository
    ///         name: charts
    ///       version: 1.x
    ///   interval: 1h
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: chart version](https://fluxcd.io/flux/components/helm/helmreleases/#chart-template),
    /// [OCI reference](https://fluxcd.io/flux/components/source/ocirepositories/#reference),
    /// [Kubernetes: images](https://kubernetes.io/docs/concepts/containers/images/#image-names)
    "floating-version", Warning, "what runs can change without a commit", Check::Object(check),
}

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let mut tell = |floating: Floating<'_>| {
        let (place, what) = match floating {
            Floating::Said(node, what) => (node.span().clone().into(), what),
            Floating::Silent(place, what) => (place, what),
        };
        let message = format!("{} {what}", object.reference());
        let help = "name a version, a digest, or a range with an upper bound such as `1.x`: the next release arrives \
                    everywhere without a commit";
        let mut finding = Finding::warning(RULE.id, place, message).help(help).about(object.reference());
        if !context.is_production {
            finding.severity = Severity::Pedantic;
        }
        found.push(finding);
    };
    match (object.group(), object.kind()) {
        (groups::SOURCE, "OCIRepository") => oci(applied).into_iter().for_each(tell),
        (groups::SOURCE, "GitRepository") => {
            git(object).into_iter().for_each(tell);
        }
        (groups::SOURCE, "HelmChart") => {
            chart(object, &["spec"], applied).into_iter().for_each(tell);
        }
        (groups::HELM, "HelmRelease") => {
            chart(object, &["spec", "chart", "spec"], applied).into_iter().for_each(tell);
        }
        (groups::FLUX_OPERATOR, "FluxInstance") => {
            let range = object.node.at_keys(&["spec", "distribution", "version"]).filter(|range| is_unbounded(range));
            range.map(|range| Floating::Said(range, takes(range))).into_iter().for_each(tell);
        }
        _ => {
            for image in containers(object).filter_map(|container| container.get("image")) {
                if image.text().is_some_and(is_latest) {
                    let what = format!("runs `{}`, whatever that is today", image.text().unwrap_or_default());
                    tell(Floating::Said(image, what));
                }
            }
        }
    }
}

/// A version that floats: where it is said, or where it is not; and what follows, in words behind the object's name.
enum Floating<'a> {
    Said(&'a Node, String),
    Silent(Label, String),
}

fn takes(range: &Node) -> String {
    format!("takes any new version: `{}` has no upper bound", range.text().unwrap_or_default())
}

/// The reference of a GitRepository: a commit goes before a name, that before a range, that before a tag.
fn git(repository: &Object) -> Option<Floating<'_>> {
    let said = |field: &str| {
        let node = repository.node.at_keys(&["spec", "ref", field])?;
        node.text().is_some_and(|text| !text.is_empty()).then_some(node)
    };
    if said("commit").or_else(|| said("name")).is_some() {
        return None;
    }
    if let Some(range) = said("semver") {
        return is_unbounded(range).then(|| Floating::Said(range, takes(range)));
    }
    let tag = said("tag").filter(|tag| tag.text() == Some("latest"))?;
    Some(Floating::Said(tag, "takes whatever `latest` is".into()))
}

/// The reference of an OCIRepository: a digest goes before a range, that before a tag, and nothing means `latest`.
fn oci<'a>(applied: &Applied<'a>) -> Option<Floating<'a>> {
    let repository = applied.object;
    let said = |field: &str| {
        let node = repository.node.at_keys(&["spec", "ref", field])?;
        node.text().is_some_and(|text| !text.is_empty()).then_some(node)
    };
    let is_verified = repository.node.at_keys(&["spec", "verify", "provider"]).is_some();
    if is_verified || said("digest").is_some() || applied.completion.mentions("ref") {
        return None;
    }
    match (said("semver"), said("tag")) {
        (Some(range), _) => is_unbounded(range).then(|| Floating::Said(range, takes(range))),
        (None, Some(tag)) => {
            let floats = tag.text() == Some("latest");
            floats.then(|| Floating::Said(tag, "takes whatever `latest` is".into()))
        }
        (None, None) => Some(Floating::Silent(missing_in_spec(repository, "ref"), "takes whatever `latest` is".into())),
    }
}

/// The version of a chart from a HelmRepository: none means the newest one. Charts from Git and buckets have their own.
fn chart<'a>(object: &'a Object, path: &[&str], applied: &Applied<'_>) -> Option<Floating<'a>> {
    let chart = object.node.at_keys(path)?;
    let source = chart.at_keys(&["sourceRef", "kind"]).and_then(Node::text);
    if source != Some("HelmRepository") || applied.completion.mentions("version") {
        return None;
    }
    if let Some(version) = chart.get("version").filter(|version| version.text().is_some_and(|text| !text.is_empty())) {
        is_unbounded(version).then(|| Floating::Said(version, takes(version)))
    } else {
        let place = chart.entry("chart").map_or_else(|| object.span().clone(), Entry::key_span);
        Some(Floating::Silent(Label::new(place, "no `version` here"), "takes the newest version of its chart".into()))
    }
}

/// Tells whether a range of versions has no upper bound. A text that Flux cannot read as a range has no versions.
fn is_unbounded(range: &Node) -> bool {
    range.text().and_then(Range::parse).is_some_and(|range| range.is_unbounded())
}

/// Whether an image is whatever was pushed last: no digest, and no tag or the tag `latest`.
fn is_latest(image: &str) -> bool {
    if image.is_empty() || image.contains(['@', '$']) {
        return false;
    }
    let name = image.rsplit('/').next().unwrap_or(image);
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_tag_or_digest_is_the_latest() {
        for image in ["nginx", "nginx:latest", "localhost:5000/nginx", "registry.example.com:5000/a/b:latest"] {
            assert!(is_latest(image), "{image}");
        }
        for image in ["nginx:1.27", "nginx@sha256:0", "nginx:latest@sha256:0", "${image}", "localhost:5000/nginx:1", ""]
        {
            assert!(!is_latest(image), "{image}");
        }
    }
}
