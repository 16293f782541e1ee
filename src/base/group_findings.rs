//! Functions that merge equal findings, and that group findings with one cause.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use arcstr::ArcStr;

use super::finding::{Finding, Fix, Follows, Joint, Label, ObjectRef, Others, Part, Severity};
use crate::text::Index;

/// The maximum number of related places of merged findings.
const MAX_RELATED: usize = 8;

/// The maximum number of further places that a group of findings lists.
const MAX_PLACES: usize = 1000;

/// The maximum number of further places that all groups of findings list. Each group lists at least some.
const MAX_PLACES_OF_ALL: usize = 200_000;

/// Sorts findings by path, position and rule, and merges equal findings.
///
/// Findings with the same message and severity at the same position become one finding with the clusters of all of
/// them. They must also have the same cause or, without a cause, the same help.
pub fn sort(findings: &mut Vec<Finding>) {
    type Key<'a> = (Option<&'a ArcStr>, (&'a str, u32, u32), &'a str, &'a str);
    type Variant<'a> = (Reverse<Severity>, Option<&'a str>, bool);
    fn key(finding: &Finding) -> Key<'_> {
        let span = &finding.at.span;
        (span.file().root(), span.order(), finding.rule, &finding.message)
    }
    fn variant(finding: &Finding) -> Variant<'_> {
        (Reverse(finding.severity), manner(finding), finding.clusters.is_empty())
    }
    fn manner(finding: &Finding) -> Option<&str> {
        finding.cause.as_ref().map(|cause| cause.key.as_str()).or(finding.help.as_deref())
    }
    // Most repeated findings are identical. Merge them first, since sorting is slower.
    let mut known: Index<_, usize> = Index::default();
    let mut same: Vec<(usize, usize)> = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        let first = *known.entry_or((key(finding), variant(finding)), || at);
        if first != at {
            same.push((first, at));
        }
    }
    drop(known);
    for (first, at) in &same {
        let (clusters, related) = (take(&mut findings[*at].clusters), take(&mut findings[*at].related));
        let parts = findings[*at].joint.take();
        findings[*first].clusters.extend(clusters);
        if findings[*first].fix != findings[*at].fix {
            findings[*first].fix = None;
        }
        relate(&mut findings[*first], related);
        add_parts(&mut findings[*first], parts);
    }
    let mut later = same.iter().map(|(_, at)| *at).peekable();
    let mut at = 0;
    findings.retain(|_| {
        let is_kept = later.next_if_eq(&at).is_none();
        at += 1;
        is_kept
    });
    findings.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| variant(a).cmp(&variant(b))));
    findings.dedup_by(|later, kept| {
        let is_manner_shared = later.severity == kept.severity && manner(later) == manner(kept);
        // A finding without clusters is redundant beside the variants with clusters.
        let is_same = key(later) == key(kept) && (is_manner_shared || later.clusters.is_empty());
        if is_same {
            kept.clusters.append(&mut later.clusters);
            // Clusters that share a place may need different edits.
            if kept.fix != later.fix {
                kept.fix = None;
            }
            relate(kept, take(&mut later.related));
            add_parts(kept, later.joint.take());
        }
        is_same
    });
    for finding in findings {
        finding.clusters.sort();
        finding.clusters.dedup();
    }
}

fn take<T>(list: &mut Vec<T>) -> Vec<T> {
    std::mem::take(list)
}

/// Adds the related places of a finding with the same cause.
fn relate(finding: &mut Finding, related: Vec<Label>) {
    if !finding.cause.as_ref().is_some_and(|cause| cause.keeps_related) {
        return;
    }
    for label in related {
        if finding.related.len() < MAX_RELATED && !finding.related.contains(&label) {
            finding.related.push(label);
        }
    }
}

/// Adds the parts that only another finding at the same position has.
fn add_parts(finding: &mut Finding, joint: Option<Box<Joint>>) {
    let Some(joint) = joint.filter(|joint| finding.parts() != joint.parts) else { return };
    for part in joint.parts {
        if !finding.parts().contains(&part) {
            finding.parts_mut().push(part);
        }
    }
}

/// Removes findings that follow from another finding, and counts them in that finding.
pub fn absorb(findings: &mut Vec<Finding>) {
    let follows = |finding: &Finding| finding.cause.as_ref()?.follows.clone();
    // The findings with followers, each with the number of followers until another finding counts them.
    let mut causes: Index<Follows, Option<usize>> = Index::default();
    let mut by_rule: Index<(&'static str, ObjectRef), Vec<Follows>> = Index::default();
    for follows in findings.iter().filter_map(follows) {
        if !causes.contains(&follows) {
            for rule in follows.rules {
                by_rule.entry_or((rule, follows.object.clone()), Vec::new).push(follows.clone());
            }
        }
        let count = causes.entry_or(follows, || Some(0));
        *count = count.map(|count| count + 1);
    }
    if causes.is_empty() {
        return;
    }
    for finding in findings.iter_mut().filter(|finding| follows(finding).is_none()) {
        let about = finding.object.iter().chain(finding.parts().iter().filter_map(|part| part.object.as_ref()));
        let about: BTreeSet<ObjectRef> = about.cloned().collect();
        for follows in about.into_iter().filter_map(|object| by_rule.get(&(finding.rule, object))).flatten() {
            let count = causes.insert(follows.clone(), None).flatten();
            finding.followers += count.unwrap_or_default();
        }
    }
    findings.retain(|finding| {
        follows(finding).is_none_or(|own| own.stands_alone && causes.get(&own).is_none_or(Option::is_some))
    });
}

/// Adds the numbers of findings that follow from other findings to the help of those.
pub fn name_followers(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.followers > 0) {
        let count = finding.followers;
        let others = if count == 1 { "finding follows" } else { "findings follow" };
        let help = finding.help.take().map(|help| format!("{help}; ")).unwrap_or_default();
        finding.help = Some(format!("{help}{count} other {others} from this finding"));
    }
}

/// The key of a group of findings.
#[derive(PartialEq, Eq, Hash)]
enum GroupKey {
    /// The rule sets the cause.
    Cause(&'static str, Severity, String),
    /// One line causes the same fault in several objects. The text is the message without the name of the object.
    Line(&'static str, Severity, (Option<ArcStr>, String, u32, u32), String),
}

fn group_key(finding: &Finding) -> Option<GroupKey> {
    if let Some(cause) = &finding.cause {
        return Some(GroupKey::Cause(finding.rule, finding.severity, cause.key.clone()));
    }
    let object = finding.object.as_ref()?;
    let (reference, name) = (object.to_string(), format!("`{}`", object.name));
    let is_named = finding.message.contains(&reference);
    let message = is_named.then(|| finding.message.replace(&reference, "").replace(&name, ""))?;
    Some(line_key(finding, message))
}

/// Groups sorted findings into one finding for each cause, with the places and the clusters of all its findings.
///
/// Findings of one rule without a cause form a group if they are at the same position and differ only in their object.
/// The findings of several causes form a group if they are at the same position and differ only in their objects and their
/// namespaces, since several namespaces use one file.
pub fn group(findings: Vec<Finding>) -> Vec<Finding> {
    let groups = groups_by(findings.into_iter().map(|finding| (group_key(&finding), finding, Vec::new())));
    let keyed = groups.into_iter().map(|(finding, others)| {
        let is_at_one_place = others.iter().all(|other| other.at.span == finding.at.span);
        let key = if is_at_one_place { namespace_key(&finding) } else { None };
        (key, finding, others)
    });
    let groups = groups_by(keyed.collect::<Vec<_>>().into_iter());
    let join = |(mut first, others): Group| {
        if others.is_empty() {
            return first;
        }
        // The causes differ, so that the line is the cause of the group.
        let is_of_line = others.iter().any(|other| cause_key(other) != cause_key(&first));
        if is_of_line {
            first.cause = None;
            let namespace = first.object.as_ref().and_then(|object| object.namespace.as_deref()).unwrap_or_default();
            let named = first.help.take_if(|help| help.contains(&format!("`{namespace}`")));
            first.help =
                named.map(|help| format!("{help}; each of the objects needs its own namespace")).or(first.help);
        }
        joined(first, others)
    };
    let mut findings: Vec<Finding> = groups.into_iter().map(join).collect();
    limit_places(&mut findings, MAX_PLACES_OF_ALL);
    findings
}

/// Limits the number of further places of all findings.
fn limit_places(findings: &mut [Finding], max: usize) {
    let mut room = max;
    for others in findings.iter_mut().filter_map(|finding| finding.others.as_mut()) {
        let listed = others.places.len().min(room.max(MAX_RELATED));
        others.omitted += others.places.len() - listed;
        others.places.truncate(listed);
        room = room.saturating_sub(listed);
    }
}

/// The first finding of a group, and the other findings.
type Group = (Finding, Vec<Finding>);

/// Adds each finding to the group with its key. A finding without a key is a group of its own.
fn groups_by(findings: impl Iterator<Item = (Option<GroupKey>, Finding, Vec<Finding>)>) -> Vec<Group> {
    let mut first: Index<GroupKey, usize> = Index::default();
    let mut groups: Vec<Group> = Vec::new();
    for (key, finding, others) in findings {
        let at = key.map_or(groups.len(), |key| *first.entry_or(key, || groups.len()));
        match groups.get_mut(at) {
            Some((_, known)) => {
                known.push(finding);
                known.extend(others);
            }
            None => groups.push((finding, others)),
        }
    }
    groups
}

fn cause_key(finding: &Finding) -> Option<&str> {
    finding.cause.as_ref().map(|cause| cause.key.as_str())
}

/// Returns the key of a finding for findings that differ only in their object and its namespace.
fn namespace_key(finding: &Finding) -> Option<GroupKey> {
    finding.cause.as_ref()?;
    let object = finding.object.as_ref()?;
    let namespace = object.namespace.as_ref()?;
    let message = finding.message.replace(&object.to_string(), "");
    let message = message.replace(&format!("`{namespace}/"), "`/").replace(&format!("`{namespace}`"), "``");
    Some(line_key(finding, message))
}

fn line_key(finding: &Finding, message: String) -> GroupKey {
    let span = &finding.at.span;
    let (path, start, len) = span.order();
    GroupKey::Line(finding.rule, finding.severity, (span.file().root().cloned(), path.to_owned(), start, len), message)
}

fn joined(mut finding: Finding, mut others: Vec<Finding>) -> Finding {
    if finding.cause.is_none() {
        // The same fault of the same object on other clusters, with other help.
        let is_same = |other: &mut Finding| other.object == finding.object && other.message == finding.message;
        let same: Vec<Finding> = others.extract_if(.., is_same).collect();
        for other in same {
            finding.clusters.extend(other.clusters);
            finding.followers += other.followers;
            if finding.fix != other.fix {
                finding.fix = None;
            }
            add_parts(&mut finding, other.joint);
        }
        if others.is_empty() {
            finding.clusters.sort();
            finding.clusters.dedup();
            return finding;
        }
    }
    let own = finding.message.clone();
    let count = match &finding.cause {
        Some(cause) if cause.counts_messages => {
            let messages = others.iter().map(|other| &*other.message).chain([&*own]);
            messages.collect::<BTreeSet<&str>>().len()
        }
        _ => others.len() + 1,
    };
    finding.message = match &finding.cause {
        Some(_) if count == 1 => own.clone(),
        Some(cause) => {
            let [before, after] = &cause.summary;
            format!("{before}{count}{after}")
        }
        None if count == 2 => format!("{}; the same line has this effect on another object", finding.message),
        None => format!("{}; the same line has this effect on {} more objects", finding.message, count - 1),
    };
    if let Some(help) = finding.cause.as_ref().and_then(|cause| cause.help.clone()) {
        finding.help = Some(help);
    }
    // The findings of one object may have different messages.
    let is_of_one = others.iter().all(|other| other.object == finding.object);
    let differs = is_of_one && others.iter().any(|other| other.message != own);
    if differs {
        finding.at.message = own;
    }
    let keeps_related = finding.cause.as_ref().is_some_and(|cause| cause.keeps_related);
    let number = others.len();
    let mut places: Vec<Label> = Vec::with_capacity(number);
    let mut further: Vec<Label> = Vec::new();
    let mut fixes: Vec<Fix> = finding.fix.take().into_iter().map(|fix| *fix).collect();
    for other in others {
        // Without a part of the object itself, the first related place is the position of the object.
        let is_own = |part: &Part| part.object.is_some() && part.object == other.object;
        let own = other.related.first().filter(|_| !other.parts().iter().any(is_own)).map(|label| label.span.clone());
        finding.clusters.extend(other.clusters);
        finding.followers += other.followers;
        fixes.extend(other.fix.filter(|_| fixes.len() < MAX_PLACES).map(|fix| *fix));
        let name = match other.object {
            _ if differs => other.message,
            Some(object) => object.to_string(),
            None if !other.at.message.is_empty() => other.at.message,
            None => "also here".to_owned(),
        };
        // If another finding is at the same position, the position of its object is more specific.
        let is_elsewhere = other.at.span != finding.at.span;
        let room = if keeps_related { MAX_PLACES - further.len().min(MAX_PLACES) } else { 0 };
        further.extend(other.related.iter().take(room).filter(|label| !finding.related.contains(label)).cloned());
        places.push(Label::new(own.filter(|_| !is_elsewhere).unwrap_or(other.at.span), name));
    }
    finding.clusters.sort();
    finding.clusters.dedup();
    further.dedup();
    places.extend(further);
    finding.fix = Fix::join(fixes).map(Box::new);
    let omitted = places.len().saturating_sub(MAX_PLACES);
    places.truncate(MAX_PLACES);
    finding.others = Some(Box::new(Others { places, omitted, count: number }));
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::finding::ObjectRef;

    #[test]
    fn findings_at_one_line_that_differ_only_in_the_namespace_are_one() {
        let file = crate::text::File::new("a.yaml", "a: 1\n");
        let found = |namespace: &str, key: &str| {
            let message = format!("Provider `{namespace}/chat` reads Secret `{namespace}/{key}`");
            let api_version = "notification.toolkit.fluxcd.io/v1beta3".into();
            let object = ObjectRef {
                api_version,
                kind: "Provider".into(),
                namespace: Some(namespace.into()),
                name: "chat".into(),
            };
            let key = format!("Secret {namespace}/{key}");
            Finding::error("rule", file.span(0..1), message).about(object).caused_by(key, "", " places")
        };
        let grouped = group(vec![found("a", "token"), found("b", "token"), found("c", "other")]);
        let messages: Vec<&str> = grouped.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "Provider `a/chat` reads Secret `a/token`; the same line has this effect on another object",
                "Provider `c/chat` reads Secret `c/other`"
            ]
        );
    }

    #[test]
    fn equal_findings_of_clusters_merge_into_one_with_all_clusters() {
        let file = crate::text::File::new("a.yaml", "a: 1\n");
        let found = |help: &str, clusters: &[&str]| {
            let mut finding = Finding::error("rule", file.span(0..1), "wrong").help(help);
            finding.clusters = clusters.iter().map(|name| ArcStr::from(*name)).collect();
            finding
        };
        let mut findings = vec![found("x", &["c"]), found("y", &["b"]), found("x", &["a", "c"]), found("x", &[])];
        sort(&mut findings);
        let merged: Vec<(&str, String)> = findings
            .iter()
            .map(|finding| (finding.help.as_deref().unwrap_or_default(), finding.clusters.join(" ")))
            .collect();
        assert_eq!(merged, [("x", "a c".to_owned()), ("y", "b".to_owned())]);
    }

    fn found(line: usize, name: &str) -> Finding {
        let file = crate::text::File::new("a.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
        let object = ObjectRef { api_version: "v1".into(), kind: "A".into(), namespace: None, name: name.into() };
        Finding::error("rule", file.span(line * 5..line * 5 + 1), format!("{object} is wrong")).about(object)
    }

    #[test]
    fn findings_with_a_common_cause_become_one_with_their_number() {
        let named = ["p", "q", "r", "s", "t"].into_iter().enumerate();
        let findings = named.map(|(line, name)| found(line, name).caused_by("k", "", " objects are wrong"));
        let grouped = group(findings.collect());
        let [one] = grouped.as_slice() else { panic!("{grouped:?}") };
        let places: Vec<&str> = one.all_related().map(|label| label.message.as_str()).collect();
        let expected = vec!["A `q`", "A `r`", "A `s`", "A `t`"];
        assert_eq!((one.message.as_str(), places, one.count()), ("5 objects are wrong", expected, 5));
    }

    #[test]
    fn the_places_of_all_groups_are_limited() {
        let span = || found(0, "p").at.span;
        let group = |places: usize| {
            found(0, "p").with_others((0..places).map(|number| Label::new(span(), number.to_string())).collect())
        };
        let mut findings = vec![group(15), group(15), group(15), group(3)];
        limit_places(&mut findings, 20);
        let others = findings.iter().filter_map(|finding| finding.others.as_ref());
        let others: Vec<_> = others.map(|others| (others.places.len(), others.omitted, others.count)).collect();
        assert_eq!(others, [(15, 0, 15), (8, 7, 15), (8, 7, 15), (3, 0, 3)]);
    }

    #[test]
    fn findings_of_one_line_that_differ_in_their_object_become_one() {
        let grouped = group(vec![found(0, "p"), found(0, "q"), found(1, "r")]);
        let messages: Vec<&str> = grouped.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["A `p` is wrong; the same line has this effect on another object", "A `r` is wrong"]);
    }

    #[test]
    fn findings_of_one_object_that_differ_in_their_help_become_one() {
        let on = |cluster: &str| {
            let mut finding = found(0, "p").help(format!("correct it on {cluster}"));
            finding.clusters.push(cluster.into());
            finding
        };
        let grouped = group(vec![on("a"), on("b")]);
        let [one] = grouped.as_slice() else { panic!("{grouped:?}") };
        assert_eq!(
            (one.message.as_str(), one.clusters.join(" "), one.count()),
            ("A `p` is wrong", "a b".to_owned(), 1)
        );
    }
}
