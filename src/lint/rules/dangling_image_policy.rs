use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Marker, State};
use crate::kube::groups;
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::paths::segment_runs;
use crate::lint::facts::reached::has_root;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::{Span, folder_of, normalize};
use crate::yaml::{Entry, Node};

declare! {
    /// An image marker names no ImagePolicy, or an automation finds no marker where it looks.
    ///
    /// ## Why
    ///
    /// Image automation replaces a value where a comment beside it names the policy that decides it. A comment that names
    /// a policy which is not there is passed over without a word, and so is an automation whose path holds no such
    /// comment: images stay at their version, and nobody hears of it.
    ///
    /// Silent in a repository without a root, where something that may bring the policy could not be built, and about
    /// automations whose source is another repository or has no copy here.
    ///
    /// ## How to fix it
    ///
    /// Correct the comment, `# {"$imagepolicy": "NAMESPACE:NAME"}`, add the ImagePolicy, or correct `spec.update.path`,
    /// which starts at the root of the repository.
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
    ///           image: example.com/web:1.0.0 # {"$imagepolicy": "flux-system:web"}
    /// ```
    ///
    /// ## Good
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
    ///           image: example.com/web:1.0.0 # {"$imagepolicy": "flux-system:web"}
    /// ---
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
    /// ## Source
    ///
    /// [Flux: image update automations](https://fluxcd.io/flux/components/image/imageupdateautomations/)
    "dangling-image-policy", Warning, "an image marker names no ImagePolicy, or an automation finds no marker",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    if !has_root(fleet.repo) {
        return;
    }
    let views: Vec<&View<'_>> = fleet.views.iter().filter(|view| view.receiver.target.is_none()).collect();
    found.extend(nameless(fleet, &views));
    let mut idle: BTreeMap<(String, usize), Finding> = BTreeMap::new();
    for view in views {
        for automation in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
            let Some((place, folder)) = update_path(&automation) else { continue };
            let is_below = |marker: &Marker| {
                let own = folder_of(marker.place.file().path());
                folder.is_empty() || segment_runs(own).any(|run| run == folder)
            };
            if !syncs_here(view, &automation) || fleet.repo.markers.iter().any(is_below) {
                continue;
            }
            let key = (place.file().path().to_owned(), place.range().start);
            let finding = idle.entry(key).or_insert_with(|| without_markers(&automation, place, &folder));
            finding.clusters.push(view.receiver.to_string().into());
        }
    }
    found.extend(idle.into_values());
}

/// The markers whose policy no cluster has.
fn nameless(fleet: &Fleet<'_>, views: &[&View<'_>]) -> Vec<Finding> {
    if fleet.repo.markers.is_empty() {
        return Vec::new();
    }
    let reached = fleet.reached();
    let mut judged: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    // One value often has a marker for its name and one for its tag.
    let mut said: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut findings = Vec::new();
    for marker in &fleet.repo.markers {
        let (namespace, name) = (marker.namespace.as_str(), marker.name.as_str());
        let path = marker.place.file().path();
        let is_missing = *judged.entry((namespace, name)).or_insert_with(|| {
            namespace.is_empty()
                || views.iter().all(|view| view.presence(groups::IMAGE, "ImagePolicy", namespace, name).is_missing())
        });
        if (is_missing || marker.unknown_part.is_some())
            && !reached.is_set_aside(path)
            && said.insert((path, namespace, name))
        {
            findings.push(without_policy(marker));
        }
    }
    findings
}

fn without_policy(marker: &Marker) -> Finding {
    let message = match &marker.unknown_part {
        _ if marker.namespace.is_empty() => format!("this marker names `{}` without a namespace", marker.name),
        Some(part) => format!("this marker asks for `{part}`, which is no part of an image"),
        None => format!("this marker names ImagePolicy `{}/{}`, which no cluster has", marker.namespace, marker.name),
    };
    if let Some(part) = &marker.unknown_part {
        let help = "say `:tag`, `:name`, `:digest` or nothing: image automation passes over what it does not know";
        let label = Label::new(marker.place.clone(), format!("no `{part}`"));
        return Finding::warning(RULE.id, label, message).help(help);
    }
    let help =
        "correct the name, `NAMESPACE:NAME`, or add the policy: image automation passes over what it does not know";
    Finding::warning(RULE.id, Label::new(marker.place.clone(), "no such policy"), message).help(help)
}

fn without_markers(automation: &Applied<'_>, place: Span, folder: &str) -> Finding {
    let reference = automation.object.reference();
    let folder = if folder.is_empty() { "the repository" } else { folder };
    let message = format!("{reference} finds no marker in `{folder}`");
    let help = "correct `spec.update.path`, or add markers, `# {\"$imagepolicy\": \"NAMESPACE:NAME\"}`: without any it \
                changes nothing";
    Finding::warning(RULE.id, Label::new(place, "no marker below"), message).help(help).about(reference)
}

/// The folder that an automation looks through, from the root of its repository, and the place that says so.
fn update_path(automation: &Applied<'_>) -> Option<(Span, String)> {
    let update = automation.object.node.get("spec")?.entry("update");
    let path = update.and_then(|update| update.node.get("path"));
    let text = path.and_then(Node::text).unwrap_or_default();
    if text.contains('$') {
        return None;
    }
    let span = match (path, update) {
        (Some(path), _) => path.span().clone(),
        (None, Some(update)) => update.key_span(),
        (None, None) => automation.object.node.entry("spec").map(Entry::key_span)?,
    };
    Some((automation.by.place(&span), normalize(text)?))
}

/// Whether an automation works on the repository that is judged.
fn syncs_here(view: &View<'_>, automation: &Applied<'_>) -> bool {
    let said = |key: &str| automation.object.text_at(&["spec", "sourceRef", key]);
    let namespace = said("namespace").or(automation.object.namespace());
    view.receiver.cluster.brought.iter().any(|brought| {
        let Some(source) = brought.by.source.as_ref().filter(|_| brought.by.state == State::Built) else {
            return false;
        };
        let is_same = Some(&*source.name) == said("name")
            && Some(&*source.kind) == said("kind")
            && source.namespace.as_deref() == namespace;
        is_same && brought.objects.get(0).is_some_and(|object| written_position(object).0.is_none())
    })
}
