use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::kube::semver_range::Range;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// An ImagePolicy takes tags that nobody meant.
    ///
    /// ## Why
    ///
    /// The policy orders all tags of the repository and takes the last one. In the order of the alphabet or of numbers, a tag
    /// such as `latest`, `main` or `test` takes part, and whatever somebody pushes to try something out may win. A range that any
    /// version is in takes the next major release, too.
    ///
    /// ## How to fix it
    ///
    /// Say with `filterTags` which tags are meant, or give the range an end, as in `1.x`.
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
    "unfiltered-image-policy", Warning, "an ImagePolicy takes tags that nobody meant",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::IMAGE, "ImagePolicy") || applied.completion.mentions("filterTags") {
        return;
    }
    let filter = object.text_at(&["spec", "filterTags", "pattern"]);
    if filter.is_some_and(|pattern| !lets_all_through(pattern)) {
        return;
    }
    let Some(policy) = object.node.at_keys(&["spec", "policy"]) else { return };
    let reference = object.reference();
    let (place, message) = if let Some(range) = policy.get("semver").and_then(|semver| semver.get("range")) {
        if !range.text().and_then(Range::parse).is_some_and(|range| range.is_unrestricted()) {
            return;
        }
        let message = format!("{reference} takes any version: `{}`", range.text().unwrap_or_default());
        (range.span().clone(), message)
    } else {
        let of = |field: &str| policy.entry(field).filter(|entry| entry.node.is_map() || entry.node.is_null());
        let Some(entry) = of("alphabetical").or_else(|| of("numerical")) else { return };
        (entry.key_span(), format!("{reference} orders all tags, whatever they are"))
    };
    let help = "say with `filterTags` which tags are meant, or give the range an end; otherwise the next tag that anybody \
                pushes may be the one";
    found.push(Finding::warning(RULE.id, place, message).help(help).about(reference));
}

/// Tells whether a pattern filters nothing: `.*`, or a group of that.
fn lets_all_through(pattern: &str) -> bool {
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
    fn a_pattern_of_anything_filters_nothing() {
        for all in ["", ".*", "^.+$", "(.*)", "^(?P<tag>.*)$", "(?<tag>.+)"] {
            assert!(lets_all_through(all), "{all}");
        }
        for some in ["^v", "^main-(?P<n>.*)$", "^(?P<n>[0-9]+)$", ".*-rc", "(.*)-(.*)"] {
            assert!(!lets_all_through(some), "{some}");
        }
    }
}
