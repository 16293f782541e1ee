use std::cell::LazyCell;

use crate::base::finding::{Finding, Severity};
use crate::flux::Applied;
use crate::kube::semver_range::Range;
use crate::kube::{Object, groups};
use crate::lint::automation::{Automation, production_sources};
use crate::lint::controllers::{follows_from, lacks_controller};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// An ImagePolicy selects unintended tags.
    ///
    /// ## Why
    ///
    /// The policy sorts all tags of the repository and selects the last tag. With alphabetical order, the policy also
    /// considers tags such as `latest`, `main` or `test`, so it may select the tag of an experiment. A range without an
    /// upper bound, such as `>=2.0.0`, also includes the next major release. With numerical order, a tag such as
    /// `latest` stops the policy instead, so the rule does not report it.
    ///
    /// The severity is warning if an automation pushes the result to a branch that a production cluster reconciles, so
    /// that production deploys the tag without review. Otherwise, it is pedantic.
    ///
    /// ## How to fix it
    ///
    /// Select the intended tags with `filterTags`, or set an upper limit for the range, as in `1.x`.
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
    ///     alphabetical:
    ///       order: asc
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
    ///   filterTags:
    ///     pattern: ^main-[a-f0-9]+-(?P<ts>[0-9]+)$
    ///     extract: $ts
    ///   policy:
    ///     numerical:
    ///       order: asc
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: image policies](https://fluxcd.io/flux/components/image/imagepolicies/#filter-tags)
    "unfiltered-image-policy", Warning, "an ImagePolicy selects unintended tags",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    for view in fleet.views {
        let mut automations = None;
        let lacks_controller = LazyCell::new(|| lacks_controller(view, groups::IMAGE, "ImagePolicy"));
        for applied in view.of_kind(groups::IMAGE, "ImagePolicy") {
            let Some(Fault { place, message, summary }) = fault(&applied) else { continue };
            let pushing = automations.get_or_insert_with(|| pushing_to_production(fleet, view));
            let pushing = pushing.iter().find(|automation| updates(automation, applied.object));
            let reference = applied.object.reference();
            let reach = match pushing {
                Some(_) => "production deploys unintended tags without review",
                None => "the policy may select any pushed tag",
            };
            let has_range = applied.object.node.at_keys(&["spec", "policy", "semver", "range"]).is_some();
            let or_bound = if has_range { ", or set an upper bound for the range, as in `1.x`" } else { "" };
            let help = format!("select the intended tags with `filterTags`{or_bound}: otherwise {reach}");
            let is_pushed = if pushing.is_some() { "pushed" } else { "" };
            let finding = Finding::warning(RULE.id, place, message).help(help).about(reference);
            let mut finding = finding.caused_by(format!("{summary}{is_pushed}"), "", summary);
            match pushing {
                Some(automation) => {
                    let label =
                        format!("{} pushes the tag to a branch that production reconciles", automation.reference());
                    finding = finding.related(automation.span().clone(), label);
                }
                None => finding.severity = Severity::Pedantic,
            }
            if *lacks_controller {
                finding = finding.following(follows_from(applied.object));
            }
            if view.is_whole() {
                finding.clusters.push(view.receiver.to_string().into());
            }
            found.push(finding);
        }
    }
}

/// The fault of a policy that selects unintended tags.
struct Fault {
    place: Span,
    message: String,
    /// The message for several policies, after their number.
    summary: &'static str,
}

fn fault(applied: &Applied<'_>) -> Option<Fault> {
    let object = applied.object;
    if applied.completion.mentions("filterTags") {
        return None;
    }
    let filter = object.text_at(&["spec", "filterTags", "pattern"]);
    if filter.is_some_and(|pattern| !matches_every_tag(pattern)) {
        return None;
    }
    let policy = object.node.at_keys(&["spec", "policy"])?;
    let reference = object.reference();
    if let Some(node) = policy.get("semver").and_then(|semver| semver.get("range")) {
        let text = node.text()?;
        let range = Range::parse(text).filter(Range::is_unbounded)?;
        let (message, summary) = if range.is_unrestricted() {
            (format!("{reference} selects any version: `{text}`"), " ImagePolicies select any version")
        } else {
            let message = format!("{reference} selects any newer version: `{text}` has no upper bound");
            (message, " ImagePolicies select any newer version")
        };
        return Some(Fault { place: node.span().clone(), message, summary });
    }
    let entry = policy.entry("alphabetical").filter(|entry| entry.node.is_map() || entry.node.is_null())?;
    let message = format!("{reference} sorts all tags without a filter");
    Some(Fault { place: entry.key_span(), message, summary: " ImagePolicies sort all tags without a filter" })
}

/// The automations of a cluster that push to a branch that a production cluster reconciles.
fn pushing_to_production<'a>(fleet: &Fleet<'a>, view: &View<'a>) -> Vec<&'a Object> {
    let automations = view.of_kind(groups::IMAGE, "ImageUpdateAutomation");
    let automations = automations.filter_map(|applied| Automation::of(view, &applied));
    let pushes = automations.filter(|automation| {
        automation.pushes.iter().any(|push| !production_sources(fleet, automation, push).is_empty())
    });
    pushes.map(|automation| automation.object).collect()
}

/// Returns whether an automation updates the images of a policy.
///
/// The policy must be in the namespace of the automation and have the labels of the automation's `policySelector`.
///
/// Source: `getPolicies` of image-automation-controller.
fn updates(automation: &Object, policy: &Object) -> bool {
    let labels = automation.node.at_keys(&["spec", "policySelector", "matchLabels"]);
    let mut labels = labels.map(Node::entries).unwrap_or_default().iter();
    automation.namespace() == policy.namespace() && labels.all(|label| policy.label(&label.key) == label.node.text())
}

/// Returns whether a pattern matches every tag, such as `.*` or a group that contains `.*`.
fn matches_every_tag(pattern: &str) -> bool {
    let inner = pattern.trim_start_matches('^').trim_end_matches('$');
    let group = inner.strip_prefix('(').and_then(|group| group.strip_suffix(')')).unwrap_or(inner);
    let named = group.strip_prefix("?P<").or_else(|| group.strip_prefix("?<"));
    let inner = named.and_then(|named| named.split_once('>')).map_or(group, |(_, inner)| inner);
    matches!(inner, "" | ".*" | ".+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_pattern_matches_every_tag() {
        for all in ["", ".*", "^.+$", "(.*)", "^(?P<tag>.*)$", "(?<tag>.+)"] {
            assert!(matches_every_tag(all), "{all}");
        }
        for some in ["^v", "^main-(?P<n>.*)$", "^(?P<n>[0-9]+)$", ".*-rc", "(.*)-(.*)"] {
            assert!(!matches_every_tag(some), "{some}");
        }
    }
}
