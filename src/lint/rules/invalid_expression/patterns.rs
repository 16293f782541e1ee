//! The fields that Flux compiles as regular expressions.

use crate::base::finding::{Finding, Label, Severity};
use crate::base::go_regexp::{Refused, Regexp};
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::fields::{known_text, text_of};
use crate::lint::findings::Findings;
use crate::yaml::Node;

/// The filters of a ResourceSetInputProvider.
const FILTERS: [&str; 6] =
    ["includeBranch", "excludeBranch", "includeTag", "excludeTag", "includeEnvironment", "excludeEnvironment"];

/// A regular expression of an object.
struct Pattern<'a> {
    node: &'a Node,
    field: &'static str,
    severity: Severity,
    consequence: &'static str,
}

pub(super) fn check(applied: &Applied<'_>, rule: &'static str, found: &mut Findings) {
    let object = applied.object;
    for Pattern { node, field, severity, consequence } in patterns(object) {
        let Some(text) = known_text(node).filter(|_| !applied.completion.mentions(field)) else { continue };
        // Our limit of the size may be lower than the limit of Go.
        let Some(refused) = Regexp::compile(text).err().filter(|refused| *refused != Refused::Size) else { continue };
        let message = format!("`{field}` of {} is not a valid regular expression: {refused}", object.reference());
        let label = Label::new(applied.by.place(node.span()), "Go cannot compile this pattern");
        let finding = Finding::error(rule, label, message).about(object.reference());
        found.push(Finding { severity, ..finding }.help(format!("correct the pattern; {consequence}")));
    }
}

/// The regular expressions of an object that Flux compiles.
fn patterns(object: &Object) -> Vec<Pattern<'_>> {
    let Some(spec) = object.node.get("spec") else { return Vec::new() };
    let error = |node, field, consequence| Pattern { node, field, severity: Severity::Error, consequence };
    let one = |path: &[&str], field, consequence| {
        spec.at_keys(path).map(|node| error(node, field, consequence)).into_iter().collect::<Vec<_>>()
    };
    let all = |field: &'static str, severity, consequence| {
        let items = spec.get(field).map_or(&[][..], Node::items).iter();
        items.map(move |node| Pattern { node, field, severity, consequence })
    };
    let never_ready = "the source never becomes ready until then";
    match (object.group(), object.kind()) {
        (groups::IMAGE, "ImagePolicy") => {
            one(&["filterTags", "pattern"], "pattern", "the policy selects no image until then")
        }
        (groups::IMAGE, "ImageRepository") => {
            all("exclusionList", Severity::Error, "Flux reads no tags until then").collect()
        }
        (groups::NOTIFICATION, "Alert") => {
            let excluded = all("exclusionList", Severity::Warning, "Flux ignores it, and sends the events");
            excluded
                .chain(all("inclusionList", Severity::Warning, "Flux ignores it, and no event matches it"))
                .collect()
        }
        (groups::SOURCE, "OCIRepository") => {
            let has = |key| spec.get("ref").is_some_and(|node| text_of(node, key).is_some());
            let filter = one(&["ref", "semverFilter"], "semverFilter", never_ready);
            let filter = filter.into_iter().filter(|_| has("semver") && !has("digest"));
            filter.chain(identities(spec, never_ready)).collect()
        }
        (groups::SOURCE, "HelmChart") => identities(spec, "the chart never becomes ready until then").collect(),
        (groups::FLUX_OPERATOR, "ResourceSetInputProvider") if text_of(spec, "type") != Some("Static") => {
            let consequence = "the provider returns no inputs until then";
            FILTERS.iter().flat_map(|field| one(&["filter", field], field, consequence)).collect()
        }
        _ => Vec::new(),
    }
}

/// The patterns of the identities that may have signed an artifact without a key.
///
/// An identity after the first is compiled only if no identity before it matches. So its findings are warnings.
fn identities<'a>(spec: &'a Node, consequence: &'static str) -> impl Iterator<Item = Pattern<'a>> {
    let verify = spec.get("verify").filter(|verify| text_of(verify, "provider") == Some("cosign"));
    let keyless = verify.filter(|verify| verify.get("secretRef").is_none_or(Node::is_null));
    let identities = keyless.and_then(|verify| verify.get("matchOIDCIdentity")).map_or(&[][..], Node::items);
    identities.iter().enumerate().flat_map(move |(at, identity)| {
        let severity = if at == 0 { Severity::Error } else { Severity::Warning };
        ["issuer", "subject"]
            .into_iter()
            .filter_map(move |field| Some(Pattern { node: identity.get(field)?, field, severity, consequence }))
    })
}
