use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::address::short_reference;
use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, Marker};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::automation::{OwnSources, UpdatePath};
use crate::lint::controllers::{follows_from, lacks_controller};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::reached::has_root;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// An image marker references a missing ImagePolicy, or an image automation finds no marker.
    ///
    /// ## Why
    ///
    /// A marker is a comment beside a value. It references an ImagePolicy, and image automation replaces the value with
    /// the image or tag that the policy selects. Image automation silently ignores a marker that references a missing
    /// policy, and a path without markers. The images then stay at their version. It is an error if the path of an
    /// automation does not exist: the automation fails.
    ///
    /// In a repository without an ImagePolicy, an ImageRepository and an ImageUpdateAutomation, the severity of a marker is
    /// pedantic: the marker was probably copied from another repository.
    ///
    /// The rule does not run in a repository without a root. It does not report a policy that an unbuilt input may
    /// create. It ignores automations whose source is another repository or has no local copy.
    ///
    /// ## How to fix it
    ///
    /// Correct the marker, `# {"$imagepolicy": "NAMESPACE:NAME"}`, add the ImagePolicy, or correct `spec.update.path`.
    /// The path is relative to the root of the repository.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: image update automations](https://fluxcd.io/flux/components/image/imageupdateautomations/)
    "dangling-image-policy", Error, "an image marker references a missing ImagePolicy, or an image automation finds no marker",
    Check::Fleet(check),
}

/// The kinds of image automation that show that the repository has one.
const IMAGE_KINDS: [&str; 3] = ["ImagePolicy", "ImageRepository", "ImageUpdateAutomation"];

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    if !has_root(fleet.repo) {
        return;
    }
    let views: Vec<&View<'_>> = fleet.views.iter().filter(|view| view.receiver.target.is_none()).collect();
    markers_without_policy(fleet, &views, found);
    let mut idle: BTreeMap<(String, usize), Finding> = BTreeMap::new();
    for view in views {
        let lacks_controller = LazyCell::new(|| lacks_controller(view, groups::IMAGE, "ImageUpdateAutomation"));
        let own = LazyCell::new(|| OwnSources::of(view));
        for automation in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
            let Some(updates) = UpdatePath::of(&automation) else { continue };
            let is_below = |marker: &Marker| updates.contains(marker.place.file().path());
            if !own.are_changed_by(view, &automation) || fleet.repo.markers.iter().any(is_below) {
                continue;
            }
            let key = (updates.place.file().path().to_owned(), updates.place.range().start);
            let find = || {
                let is_missing = is_missing(fleet, view, &automation, &updates);
                let find = if is_missing { without_path } else { without_markers };
                let finding = find(&automation, updates.place.clone(), &updates.path);
                if *lacks_controller { finding.following(follows_from(automation.object)) } else { finding }
            };
            let finding = idle.entry(key).or_insert_with(find);
            finding.clusters.push(view.receiver.to_string().into());
        }
    }
    found.extend(idle.into_values());
}

/// Returns whether the path of an automation certainly does not exist in the branch that the automation checks out: the
/// branch of its source, without submodules.
fn is_missing(fleet: &Fleet<'_>, view: &View<'_>, automation: &Applied<'_>, updates: &UpdatePath) -> bool {
    let Some(tree) = fleet.repo.sources.as_ref().map(|sources| sources.repository_files().tree()) else { return false };
    let of_source = |key: &str| automation.object.text_at(&["spec", "sourceRef", key]);
    let namespace = of_source("namespace").or(automation.namespace()).unwrap_or_default();
    let source = of_source("name").and_then(|name| view.find(groups::SOURCE, "GitRepository", namespace, name));
    let checked_out = automation.object.node.at_keys(&["spec", "git", "checkout", "ref"]);
    let is_of_branch = checked_out.is_none_or(|checked_out| {
        let (branch, Some(source)) = (checked_out.get("branch").and_then(Node::text), source) else { return false };
        let pushed = automation.object.text_at(&["spec", "git", "push", "branch"]);
        // If the repository does not contain the source, the automation knows its branch, and pushes to it.
        let is_known = source.object.text_at(&["spec", "url"]).is_some();
        let of_ref = |key: &str| source.object.text_at(&["spec", "ref", key]);
        let own = of_ref("name").map(short_reference).or(of_ref("branch"));
        branch.is_some() && if is_known { branch == own } else { pushed.is_none_or(|pushed| Some(pushed) == branch) }
    });
    let exists = || tree.entries().any(|(path, _)| updates.contains(path));
    is_of_branch && !tree.has_file(".gitmodules") && !exists()
}

/// Reports markers without a policy on any cluster, and invalid markers.
fn markers_without_policy(fleet: &Fleet<'_>, views: &[&View<'_>], found: &mut Findings) {
    if fleet.repo.markers.is_empty() {
        return;
    }
    let reached = fleet.reached();
    let mut judged: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    // The clusters determine the namespace of a policy that they receive.
    let are_all = fleet.repo.clusters.len() <= views.len();
    let is_received = |object: &Object| are_all && reached.receives(object);
    // `unreachable-object` reports a policy in a file that no cluster reaches.
    let written = fleet.repo.objects.iter().map(|built| &built.object).chain(&fleet.repo.aside);
    let written: Vec<&Object> = written.filter(|object| object.group() == groups::IMAGE).collect();
    // Without a policy and without an automation, the markers are those of another repository, from which they were copied.
    let mut received = views.iter().flat_map(|view| IMAGE_KINDS.map(|kind| view.of_kind(groups::IMAGE, kind)));
    let (namespace, kind) = (groups::FLUX_NAMESPACE, "ImageUpdateAutomation");
    let automation = ObjectId { group: groups::IMAGE, kind, namespace, name: namespace };
    let has_automation = !written.is_empty()
        || received.any(|mut objects| objects.next().is_some())
        || views.iter().any(|view| view.unknown_sources().of(automation).next().is_some());
    let is_written = |namespace: &str, name: &str| {
        let is_it = |object: &&Object| {
            object.kind() == "ImagePolicy"
                && object.name() == name
                && object.namespace().is_none_or(|own| own == namespace)
        };
        let is_aside = |object: &Object| reached.is_set_aside(written_position(object).1);
        written.iter().any(|object| is_it(object) && !is_aside(object) && !is_received(object))
    };
    // The chart of an application may contain the policy of its image, in the namespace of Flux.
    let chart_of = |name: &str| {
        let mut charts = views.iter().flat_map(|view| view.unknown_sources().fleet_charts());
        charts.find(|chart| chart.refers_to(name)).map(|chart| &chart.source)
    };
    let mut is_missing = |namespace: &str, name: &str| {
        let mut presences = views.iter().map(|view| view.presence(groups::IMAGE, "ImagePolicy", namespace, name));
        let unknown = match presences.find(|presence| !presence.is_missing()) {
            Some(Presence::Unknown(source)) => Some(source),
            Some(_) => return false,
            None if is_written(namespace, name) => return false,
            None => chart_of(name).cloned(),
        };
        let is_missing = unknown.is_none();
        if let Some(source) = unknown {
            found.unchecked(format!("ImagePolicy `{namespace}/{name}`, which {source} may create"));
        }
        is_missing
    };
    // An image often has a marker for its name and a marker for its tag.
    let mut reported: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut findings = Vec::new();
    for marker in &fleet.repo.markers {
        let (namespace, name) = (marker.namespace.as_str(), marker.name.as_str());
        let path = marker.place.file().path();
        let is_missing =
            *judged.entry((namespace, name)).or_insert_with(|| namespace.is_empty() || is_missing(namespace, name));
        if (is_missing || marker.unknown_part.is_some())
            && !reached.is_set_aside(path)
            && reported.insert((path, namespace, name))
        {
            let finding = without_policy(marker);
            findings.push(if has_automation { finding } else { of_another_repository(finding) });
        }
    }
    found.extend(findings);
}

fn without_policy(marker: &Marker) -> Finding {
    let message = match &marker.unknown_part {
        _ if marker.namespace.is_empty() => format!("this marker references `{}` without a namespace", marker.name),
        Some(part) => format!("this marker selects `{part}`, which is not a part of an image"),
        None => format!(
            "this marker references ImagePolicy `{}/{}`, which does not exist on any cluster",
            marker.namespace, marker.name
        ),
    };
    if let Some(part) = &marker.unknown_part {
        let help = "set `:tag`, `:name`, `:digest` or no suffix: image automation ignores other markers";
        let label = Label::new(marker.place.clone(), format!("`{part}` is not valid"));
        return Finding::warning(RULE.id, label, message).help(help);
    }
    let help =
        "correct the name in the form `NAMESPACE:NAME`, or add the ImagePolicy: image automation ignores this marker";
    if marker.namespace.is_empty() {
        return Finding::warning(RULE.id, Label::new(marker.place.clone(), "policy not found"), message).help(help);
    }
    let label = format!("ImagePolicy `{}/{}` not found", marker.namespace, marker.name);
    let finding = Finding::warning(RULE.id, Label::new(marker.place.clone(), label), message).help(help);
    finding.caused_by("policy", "", " markers reference an ImagePolicy that does not exist on any cluster")
}

/// The finding of a marker in a repository without any policy or automation. Nothing reads the marker.
fn of_another_repository(finding: Finding) -> Finding {
    let help = "remove the marker, or add an ImagePolicy and an ImageUpdateAutomation: the repository has neither, so the \
                marker has no effect";
    Finding { severity: Severity::Pedantic, ..finding.help(help) }
}

/// Source: `Read` in internal/update/filereader.go of image-automation-controller, which fails if the path does not exist.
fn without_path(automation: &Applied<'_>, place: Span, path: &str) -> Finding {
    let reference = automation.object.reference();
    let message = format!("{reference} updates `{path}`, which does not exist");
    let help = "correct `spec.update.path`, which is relative to the root of the repository: the automation fails, and \
                changes no file";
    let finding = Finding::error(RULE.id, Label::new(place, "this path does not exist"), message);
    let after = format!(" ImageUpdateAutomations update `{path}`, which does not exist");
    finding.help(help).about(reference).caused_by(format!("path {path}"), "", after)
}

fn without_markers(automation: &Applied<'_>, place: Span, folder: &str) -> Finding {
    let reference = automation.object.reference();
    let searched = if folder.is_empty() { "the repository".to_owned() } else { format!("`{folder}`") };
    let message = format!("{reference} finds no marker in {searched}");
    let help = "correct `spec.update.path`, or add markers of the form `# {\"$imagepolicy\": \"NAMESPACE:NAME\"}`: \
                without markers, the automation changes no file";
    let finding = Finding::warning(RULE.id, Label::new(place, "no marker in this path"), message);
    let after = format!(" ImageUpdateAutomations find no marker in {searched}");
    finding.help(help).about(reference).caused_by(format!("markers {folder}"), "", after)
}
