use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::kube::semver_range::Range;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// An ImagePolicy selects unintended tags.
    ///
    /// ## Why
    ///
    /// The policy sorts all tags of the repository and selects the last one. In alphabetical or numerical order, a tag
    /// such as `latest`, `main` or `test` also counts, so a tag of an experiment may win. A range without an upper
    /// limit also includes the next major release.
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
    /// ## Source
    ///
    /// [Flux: image policies](https://fluxcd.io/flux/components/image/imagepolicies/#filter-tags)
    "unfiltered-image-policy", Warning, "an ImagePolicy selects unintended tags",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::IMAGE, "ImagePolicy") || applied.completion.mentions("filterTags") {
        return;
    }
    let filter = object.text_at(&["spec", "filterTags", "pattern"]);
    if filter.is_some_and(|pattern| !matches_every_tag(pattern)) {
        return;
    }
    let Some(policy) = object.node.at_keys(&["spec", "policy"]) else { return };
    let reference = object.reference();
    let (place, message, summary) = if let Some(range) = policy.get("semver").and_then(|semver| semver.get("range")) {
        if !range.text().and_then(Range::parse).is_some_and(|range| range.is_unrestricted()) {
            return;
        }
        let message = format!("{reference} selects any version: `{}`", range.text().unwrap_or_default());
        (range.span().clone(), message, " ImagePolicies select any version")
    } else {
        let order = |field: &str| policy.entry(field).filter(|entry| entry.node.is_map() || entry.node.is_null());
        let Some(entry) = order("alphabetical").or_else(|| order("numerical")) else { return };
        let message = format!("{reference} sorts all tags without a filter");
        (entry.key_span(), message, " ImagePolicies sort all tags without a filter")
    };
    let help = "select the intended tags with `filterTags`, or set an upper limit for the range: otherwise any pushed \
                tag may be selected";
    let finding = Finding::warning(RULE.id, place, message).help(help).about(reference);
    found.push(finding.caused_by(summary, "", summary));
}

/// Returns whether a pattern matches every tag: `.*`, or a group of it.
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
