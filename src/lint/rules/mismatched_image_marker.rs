use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label};
use crate::kube::groups;
use crate::lint::automation::{OwnSources, UpdatePath};
use crate::lint::facts::reached::has_root;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// An image marker references the ImagePolicy of another image.
    ///
    /// ## Why
    ///
    /// Image automation replaces the whole value beside a marker with the image that the policy selects. If the policy
    /// belongs to another image, the automation replaces the program with another one. The rule compares the last part
    /// of the image's name with `spec.image` of the ImageRepository, since a registry may be a mirror of another one. It
    /// does not check markers that select the tag or the digest, and markers outside of the paths of all automations.
    ///
    /// ## How to fix it
    ///
    /// Reference the policy of the image. If the automation is to replace the image, replace it by hand once.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: example.com/web:1.0.0 # {"$imagepolicy": "flux-system:api"}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   image: example.com/api
    ///   interval: 5m
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   imageRepositoryRef:
    ///     name: api
    ///   policy:
    ///     semver:
    ///       range: 1.x
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: api
    ///           image: example.com/api:1.0.0 # {"$imagepolicy": "flux-system:api"}
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageRepository
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   image: example.com/api
    ///   interval: 5m
    /// ---
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImagePolicy
    /// metadata:
    ///   name: api
    ///   namespace: flux-system
    /// spec:
    ///   imageRepositoryRef:
    ///     name: api
    ///   policy:
    ///     semver:
    ///       range: 1.x
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: markers of image automation](https://fluxcd.io/flux/guides/image-update/#configure-image-update-for-custom-resources)
    "mismatched-image-marker", Warning, "an image marker references the ImagePolicy of another image",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    if !has_root(fleet.repo) || fleet.repo.markers.is_empty() {
        return;
    }
    let (reached, updates, mut images_of) = (fleet.reached(), update_paths(fleet), BTreeMap::new());
    let is_updated = |file: &str| updates.as_ref().is_none_or(|paths| paths.iter().any(|path| path.contains(file)));
    for marker in &fleet.repo.markers {
        let Some(image) = marker.image.as_deref().map(image_name) else { continue };
        let program = program_of(image);
        let policy = (marker.namespace.as_str(), marker.name.as_str());
        let images = images_of.entry(policy).or_insert_with(|| images(fleet, policy));
        let Some(first) = images.first().filter(|_| images.iter().all(|own| program_of(own) != program)) else {
            continue;
        };
        let file = marker.place.file().path();
        if reached.is_set_aside(file) || !is_updated(file) {
            continue;
        }
        let (namespace, name) = policy;
        let other = format!("ImagePolicy `{namespace}/{name}` of image `{first}`");
        let message = format!("this marker references {other}, but the value is `{image}`");
        let summary = format!(" markers reference {other}, but their value is `{image}`");
        let label = Label::new(marker.place.clone(), format!("policy of `{first}`"));
        let help =
            format!("reference the policy of `{image}`: image automation replaces the value with image `{first}`");
        found.push(Finding::warning(RULE.id, label, message).help(help).caused_by(
            format!("{other} {image}"),
            "",
            summary,
        ));
    }
}

/// The paths of the automations of all clusters. Returns `None` if there is no automation or one of them is unknown.
fn update_paths(fleet: &Fleet<'_>) -> Option<Vec<UpdatePath>> {
    let mut paths = Vec::new();
    for view in fleet.views {
        let own = LazyCell::new(|| OwnSources::of(view));
        for automation in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
            // An automation of another source may change a copy of this repository.
            if !own.are_changed_by(view, &automation) {
                return None;
            }
            paths.push(UpdatePath::of(&automation)?);
        }
    }
    (!paths.is_empty()).then_some(paths)
}

/// The images of a policy on all clusters; empty if the image of the policy is unknown on a cluster.
fn images<'a>(fleet: &'a Fleet<'_>, (namespace, name): (&str, &str)) -> BTreeSet<&'a str> {
    let image = |view: &'a View<'_>| {
        let policy = view.find(groups::IMAGE, "ImagePolicy", namespace, name)?.object;
        let text = |field: &str| policy.text_at(&["spec", "imageRepositoryRef", field]);
        let repository = || {
            let found =
                view.find(groups::IMAGE, "ImageRepository", text("namespace").unwrap_or(namespace), text("name")?)?;
            found.object.text_at(&["spec", "image"]).filter(|image| !image.contains('$')).map(image_name)
        };
        Some(repository())
    };
    let all: Option<BTreeSet<&str>> = fleet.views.iter().filter_map(image).collect();
    all.unwrap_or_default()
}

/// The name of an image without its tag and digest.
fn image_name(image: &str) -> &str {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let tag = name.rfind(':').filter(|at| !name.get(*at..).is_some_and(|rest| rest.contains('/')));
    tag.and_then(|at| name.get(..at)).unwrap_or(name)
}

/// The last part of an image's name, which is the same in all registries.
fn program_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
