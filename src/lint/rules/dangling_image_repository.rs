use crate::kube::groups;
use crate::lint::facts::suspension::is_suspended;
use crate::lint::findings::Findings;
use crate::lint::presence::dangling::References;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::image_repository::image_repository_of;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// An ImagePolicy references an ImageRepository that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// An ImagePolicy selects a tag from the tags that its ImageRepository finds. Without the ImageRepository, the
    /// ImagePolicy is never ready and does not select a tag. Image automation then does not change files, and the
    /// images stay at their version. The ImageRepository is in the namespace of the ImagePolicy, unless the reference
    /// sets `namespace`.
    ///
    /// The rule does not report an ImageRepository that an unknown input may create: a source without a local copy, a
    /// ResourceSet with live inputs, or a chart in that namespace. It ignores suspended ImagePolicies.
    ///
    /// ## How to fix it
    ///
    /// Correct the name or the namespace, or add the ImageRepository.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   imageRepositoryRef:
    ///     name: web
    ///   policy:
    ///     semver:
    ///       range: 1.x
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   imageRepositoryRef:
    ///     name: web
    ///   policy:
    ///     semver:
    ///       range: 1.x
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   image: registry.example.com/web
    ///   interval: 10m
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: image repository reference](https://fluxcd.io/flux/components/image/imagepolicies/#image-repository-reference)
    "dangling-image-repository", Error, "an ImagePolicy references an ImageRepository that the cluster does not receive",
    Check::Cluster(check), fixes: [Unsafe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut repositories = References::default();
    for policy in view.of_kind(groups::IMAGE, "ImagePolicy").filter(|policy| !is_suspended(policy)) {
        repositories.add(policy, image_repository_of(policy.object));
    }
    for dangling in repositories.dangling(&mut MissingSearch::on(view), found) {
        let help = "add the ImageRepository, or correct the name: without it, Flux selects no tag, and the images \
                    stay at their version";
        found.push(dangling.finding(RULE.id, "selects a tag of", help));
    }
}
