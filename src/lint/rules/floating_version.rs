use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, ApplierKind};
use crate::kube::semver_range::Range;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::facts::pods::containers::containers;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::yaml::{Entry, Node};

declare! {
    /// The version of a source, a chart or an image can change without a commit.
    ///
    /// ## Why
    ///
    /// `latest`, `*`, or a range without an upper bound accepts every new release, including a breaking release. A new
    /// release reaches all clusters within the same hour. Git does not contain a record of the change, and the revert
    /// of a commit does not restore the previous version.
    ///
    /// The rule ignores branches of Git repositories and the source of the cluster's root, since each commit moves
    /// them. It ignores ranges with an upper bound, since the author set the bound. It also ignores OCI tags whose
    /// artifact Flux verifies, since only the signer can publish a new version. The severity is warning on production
    /// clusters, and pedantic on others.
    ///
    /// ## How to fix it
    ///
    /// Set a version, a digest, or a range with an upper bound such as `1.x`, and let a bot propose updates.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: chart version](https://fluxcd.io/flux/components/helm/helmreleases/#chart-template),
    /// [OCI reference](https://fluxcd.io/flux/components/source/ocirepositories/#reference),
    /// [Kubernetes: images](https://kubernetes.io/docs/concepts/containers/images/#image-names)
    "floating-version", Warning, "a deployed version can change without a commit", Check::Object(check),
}

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let mut report = |floating: Floating<'_>| {
        let (place, what) = match floating {
            Floating::Set(node, what) => (node.span().clone().into(), what),
            Floating::Unset(place, what) => (place, what),
        };
        let message = format!("{} {}", object.reference(), what.of_one());
        let help = if is_of_flux(object) {
            "set a version, a digest, or a range with an upper bound such as `1.x`: otherwise the next release reaches \
             all clusters without a commit"
        } else {
            "set the tag of a version, or a digest: otherwise a new pod may run another image, without a commit"
        };
        let mut finding = Finding::warning(RULE.id, place, message).help(help).about(object.reference());
        // Versions that float in the same way have one cause: the habit of their author.
        let all = what.of_all();
        finding = finding.caused_by(all, "", format!(" {all}"));
        if !context.is_production {
            finding.severity = Severity::Pedantic;
        }
        found.push(finding);
    };
    match (object.group(), object.kind()) {
        (groups::SOURCE, "GitRepository" | "OCIRepository") if is_of_root(applied) => {}
        (groups::SOURCE, "OCIRepository") => oci(applied).into_iter().for_each(report),
        (groups::SOURCE, "GitRepository") => {
            git(object).into_iter().for_each(report);
        }
        (groups::SOURCE, "HelmChart") => {
            chart(object, &["spec"], applied).into_iter().for_each(report);
        }
        (groups::HELM, "HelmRelease") => {
            chart(object, &["spec", "chart", "spec"], applied).into_iter().for_each(report);
        }
        (groups::FLUX_OPERATOR, "FluxInstance") => {
            let range = object.node.at_keys(&["spec", "distribution", "version"]).filter(|range| is_unbounded(range));
            range.map(|range| Floating::Set(range, What::Range(range))).into_iter().for_each(report);
        }
        _ => {
            for image in containers(object).filter_map(|container| container.get("image")) {
                let is_placeholder = || image.text() == Some("auto") && is_injected(object);
                if image.text().is_some_and(is_latest) && !is_placeholder() {
                    report(Floating::Set(image, What::Image(image)));
                }
            }
        }
    }
}

/// Returns whether Flux resolves the version of an object. The kubelet resolves the tags of images.
fn is_of_flux(object: &Object) -> bool {
    matches!(object.group(), groups::SOURCE | groups::HELM | groups::FLUX_OPERATOR)
}

/// Returns whether a source belongs to a root. Each commit moves the tag or branch of such a source.
fn is_of_root(applied: &Applied<'_>) -> bool {
    let by = applied.by;
    let is_own = || by.source.as_ref().is_some_and(|source| *source == applied.object.reference());
    matches!(by.kind, ApplierKind::Bootstrap | ApplierKind::FluxInstance) || is_own()
}

/// The place of a floating version.
enum Floating<'a> {
    /// The field that sets the version.
    Set(&'a Node, What<'a>),
    /// The label for a missing field.
    Unset(Label, What<'a>),
}

/// What floats.
#[derive(Clone, Copy)]
enum What<'a> {
    /// A range without an upper bound.
    Range(&'a Node),
    /// The newest version of a chart.
    Chart,
    /// The tag `latest` of an artifact.
    Artifact,
    /// The tag `latest` of a Git repository.
    Commit,
    /// The tag `latest` of an image.
    Image(&'a Node),
}

impl What<'_> {
    /// The part of the message that follows the reference to the object.
    fn of_one(self) -> String {
        match self {
            Self::Range(range) => {
                format!("accepts any new version: `{}` has no upper bound", range.text().unwrap_or_default())
            }
            Self::Chart => "uses the newest version of its chart".to_owned(),
            Self::Artifact => "uses the current artifact of tag `latest`".to_owned(),
            Self::Commit => "uses the current commit of tag `latest`".to_owned(),
            Self::Image(image) => {
                format!("runs `{}`, which can change at any time", image.text().unwrap_or_default())
            }
        }
    }

    /// The part of the message about several objects that follows their number.
    fn of_all(self) -> &'static str {
        match self {
            Self::Range(_) => "objects accept any new version: their ranges have no upper bound",
            Self::Chart => "objects use the newest version of their chart",
            Self::Artifact => "OCIRepositories use the current artifact of tag `latest`",
            Self::Commit => "GitRepositories use the current commit of tag `latest`",
            Self::Image(_) => "containers run an image that can change at any time",
        }
    }
}

/// Returns the floating reference of a GitRepository. The precedence is: commit, name, range, tag.
fn git(repository: &Object) -> Option<Floating<'_>> {
    let field_of = |field: &str| {
        let node = repository.node.at_keys(&["spec", "ref", field])?;
        node.text().is_some_and(|text| !text.is_empty()).then_some(node)
    };
    if field_of("commit").or_else(|| field_of("name")).is_some() {
        return None;
    }
    if let Some(range) = field_of("semver") {
        return is_unbounded(range).then(|| Floating::Set(range, What::Range(range)));
    }
    let tag = field_of("tag").filter(|tag| tag.text() == Some("latest"))?;
    Some(Floating::Set(tag, What::Commit))
}

/// Returns the floating reference of an OCIRepository. The precedence is: digest, range, tag. The default is `latest`.
fn oci<'a>(applied: &Applied<'a>) -> Option<Floating<'a>> {
    let repository = applied.object;
    let field_of = |field: &str| {
        let node = repository.node.at_keys(&["spec", "ref", field])?;
        node.text().is_some_and(|text| !text.is_empty()).then_some(node)
    };
    let is_verified = repository.node.at_keys(&["spec", "verify", "provider"]).is_some();
    if is_verified || field_of("digest").is_some() || applied.completion.mentions("ref") {
        return None;
    }
    match (field_of("semver"), field_of("tag")) {
        (Some(range), _) => is_unbounded(range).then(|| Floating::Set(range, What::Range(range))),
        (None, Some(tag)) => {
            let floats = tag.text() == Some("latest");
            floats.then(|| Floating::Set(tag, What::Artifact))
        }
        (None, None) => Some(Floating::Unset(missing_in_spec(repository, "ref"), What::Artifact)),
    }
}

/// Returns the floating version of a chart from a HelmRepository. The default is the newest version.
///
/// Charts from Git and buckets contain their version.
fn chart<'a>(object: &'a Object, path: &[&str], applied: &Applied<'_>) -> Option<Floating<'a>> {
    let chart = object.node.at_keys(path)?;
    let source = chart.at_keys(&["sourceRef", "kind"]).and_then(Node::text);
    if source != Some("HelmRepository") || applied.completion.mentions("version") {
        return None;
    }
    if let Some(version) = chart.get("version").filter(|version| version.text().is_some_and(|text| !text.is_empty())) {
        is_unbounded(version).then(|| Floating::Set(version, What::Range(version)))
    } else {
        let place = chart.entry("chart").map_or_else(|| object.span().clone(), Entry::key_span);
        Some(Floating::Unset(Label::new(place, "no `version` here"), What::Chart))
    }
}

/// Returns whether a version range has no upper bound.
///
/// A text that Flux cannot parse as a range does not match any version.
fn is_unbounded(range: &Node) -> bool {
    range.text().and_then(Range::parse).is_some_and(|range| range.is_unbounded())
}

/// Returns whether Istio completes the pod of an object. It replaces the image `auto`.
fn is_injected(object: &Object) -> bool {
    let pod = object.node.at_keys(&["spec", "template"]).unwrap_or(&object.node);
    let maps = ["labels", "annotations"].into_iter().filter_map(|map| pod.at_keys(&["metadata", map]));
    let mut keys = maps.flat_map(Node::entries).map(|entry| &*entry.key);
    keys.any(|key| ["sidecar.istio.io/inject", "inject.istio.io/templates"].contains(&key))
}

/// Returns whether an image has no digest, and no tag or the tag `latest`.
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
    fn an_image_without_tag_or_digest_is_latest() {
        for image in ["nginx", "nginx:latest", "localhost:5000/nginx", "registry.example.com:5000/a/b:latest"] {
            assert!(is_latest(image), "{image}");
        }
        for image in ["nginx:1.27", "nginx@sha256:0", "nginx:latest@sha256:0", "${image}", "localhost:5000/nginx:1", ""]
        {
            assert!(!is_latest(image), "{image}");
        }
    }
}
