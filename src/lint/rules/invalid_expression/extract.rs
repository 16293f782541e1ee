//! The groups that `filterTags.extract` of an ImagePolicy reads.

use crate::base::finding::{Finding, Label, Severity};
use crate::base::go_regexp::Regexp;
use crate::flux::Applied;
use crate::kube::groups;
use crate::kube::version::Version;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::yaml::Node;

pub(super) fn check(applied: &Applied<'_>, rule: &'static str, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::IMAGE, "ImagePolicy") || applied.completion.mentions("filterTags") {
        return;
    }
    let Some(filter) = object.node.at_keys(&["spec", "filterTags"]) else { return };
    let Some(node) = filter.get("extract").filter(|node| node.text() != Some("")) else {
        found.extend(whole_tags(applied, filter, rule));
        return;
    };
    let pattern =
        filter.get("pattern").map_or(Some(""), |node| if node.is_null() { Some("") } else { known_text(node) });
    let Some((text, pattern)) = known_text(node).zip(pattern) else { return };
    let Ok(regexp) = Regexp::compile(pattern) else { return };
    let parts = expand(text);
    let names: Vec<Option<&str>> = regexp.groups().collect();
    let exists = |name: &str| match number(name) {
        Some(number) => number < names.len(),
        None => names.contains(&Some(name)),
    };
    let groups = || parts.iter().filter_map(|part| if let Part::Group(name) = part { Some(*name) } else { None });
    let is_constant = !groups().any(exists);
    let why = match groups().find(|name| !exists(name)) {
        Some(name) => format!("reads the group `{name}`, which `filterTags.pattern` does not have"),
        None if is_constant => "reads no group of `filterTags.pattern`".to_owned(),
        None => return,
    };
    let constant: String =
        parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(*text) } else { None }).collect();
    let policy = object.node.at_keys(&["spec", "policy"]);
    let has = |kind: &str| policy.is_some_and(|policy| policy.get(kind).is_some_and(|node| !node.is_null()));
    let fails = (has("numerical") && constant.parse::<f64>().is_err())
        || (has("semver") && Version::parse(&constant).is_none());
    let (severity, result) = match is_constant {
        true if fails => (Severity::Error, "every tag becomes the same text, and the policy selects no image"),
        true => (Severity::Warning, "every tag becomes the same text, and the policy selects any of them"),
        false => (Severity::Warning, "Flux replaces the group by nothing"),
    };
    let known: Vec<String> = names.iter().flatten().map(|name| format!("`${name}`")).collect();
    let remedy = match known.as_slice() {
        [] => "name a group in the pattern, as in `(?P<ts>[0-9]+)`, and read it, as in `$ts`".to_owned(),
        known => format!("read {}", known.join(" or ")),
    };
    let message = format!("`extract: {text}` of {} {why}", object.reference());
    let label = Label::new(applied.by.place(node.span()), "read from the pattern");
    let finding = Finding::error(rule, label, message).about(object.reference());
    let related = filter.get("pattern").map(Node::span);
    let finding = Finding { severity, ..finding }.help(format!("{remedy}: {result}"));
    found.push(match related {
        Some(span) => finding.related(applied.by.place(span), "the pattern is here"),
        None => finding,
    });
}

/// The finding for a numerical policy that gets whole tags, although each tag that matches the pattern has a letter.
fn whole_tags(applied: &Applied<'_>, filter: &Node, rule: &'static str) -> Option<Finding> {
    let object = applied.object;
    let policy = object.node.at_keys(&["spec", "policy", "numerical"]).filter(|node| !node.is_null())?;
    let pattern = filter.get("pattern")?;
    let regexp = Regexp::compile(known_text(pattern)?).ok()?;
    let text = regexp.required_text(|text| text.contains(is_in_no_number))?;
    let groups: Vec<&str> = regexp.groups().flatten().collect();
    let remedy = match groups.as_slice() {
        [] => "name the group with the number, as in `(?P<ts>[0-9]+)`, and set `extract: $ts`".to_owned(),
        [first, ..] => format!("set `extract: ${first}`"),
    };
    let message = format!("{} compares tags as numbers, but each tag contains `{text}`", object.reference());
    let label = Label::new(applied.by.place(pattern.span()), "no `extract` beside this pattern");
    let finding = Finding::error(rule, label, message).about(object.reference());
    let finding = finding.related(applied.by.place(policy.span()), "the policy is here");
    Some(finding.help(format!("{remedy}: otherwise no tag is a number, and the policy selects no image")))
}

/// Returns whether a character is in no number that Go parses, such as `1e5`, `0x1p-2`, `Infinity` or `nan`.
fn is_in_no_number(c: char) -> bool {
    c.is_alphabetic() && !"abcdefxpinty".contains(c.to_ascii_lowercase())
}

/// A part of a text with references to groups.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    /// The name or number of a group.
    Group(&'a str),
}

/// The parts of a text, as Go's `Regexp.Expand` reads it: `$name` is as long as possible, so `$1x` is the group `1x`.
fn expand(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some((before, after)) = text.split_once('$') {
        parts.push(Part::Text(before));
        if let Some(rest) = after.strip_prefix('$') {
            parts.push(Part::Text("$"));
            text = rest;
            continue;
        }
        let inner = after.strip_prefix('{');
        let named = inner.unwrap_or(after);
        let end = named.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(named.len());
        let (name, rest) = named.split_at_checked(end).unwrap_or((named, ""));
        let rest = if inner.is_some() { rest.strip_prefix('}') } else { Some(rest) };
        if let Some(rest) = rest.filter(|_| !name.is_empty()) {
            parts.push(Part::Group(name));
            text = rest;
        } else {
            // Go copies a dollar sign without a name.
            parts.push(Part::Text("$"));
            text = after;
        }
    }
    parts.push(Part::Text(text));
    parts.retain(|part| *part != Part::Text(""));
    parts
}

/// The number of a group; `None` for a name. A number has no leading zeros.
fn number(name: &str) -> Option<usize> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    name.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_long_as_possible() {
        let groups = |text| {
            let names = expand(text).into_iter().filter_map(|part| match part {
                Part::Group(name) => Some(name),
                Part::Text(_) => None,
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(groups("$ver_$ts"), ["ver_", "ts"]);
        assert_eq!(groups("${ver}_$1x.$1"), ["ver", "1x", "1"]);
        assert_eq!(groups("a$$b $ ${open $-"), [""; 0]);
        assert_eq!((number("0"), number("12"), number("012"), number("1x")), (Some(0), Some(12), None, None));
    }
}
