//! The finding for the objects of one directory.

use std::collections::BTreeMap;

use super::needed_charts::Uses;
use crate::base::finding::{Finding, Label, Part};
use crate::kube::Object;
use crate::text::Span;

/// The number of further objects of a directory that a finding shows.
pub(super) const MAX_SHOWN: usize = 10;

/// Returns the finding for a directory. `needed` is the chart of a release in the directory, and the custom resources whose
/// CRDs it installs.
pub(super) fn finding(
    rule: &'static str,
    folder: &str,
    objects: &[&Object],
    top: Option<&str>,
    needed: Option<(&str, &Uses<'_>)>,
) -> Option<Finding> {
    let (first, rest) = objects.split_first()?;
    let what = if rest.is_empty() { first.reference().to_string() } else { counted(objects) };
    let folder = if folder.is_empty() { "." } else { folder };
    let message = format!("no cluster reaches {what} in `{folder}`");
    let help = "add the file to a kustomization.yaml that a cluster reaches, apply the directory with a Kustomization, \
                or remove the file: Flux does not apply it";
    let finding =
        Finding::warning(rule, Label::new(place_of(first), "not reached"), message).help(help).about(first.reference());
    let finding = if let Some((chart, uses)) = needed {
        let user = uses.object;
        let message = format!(
            "{}; the chart `{chart}` installs the CRD of {}, which {}",
            finding.message,
            user.reference(),
            uses.receivers()
        );
        let label = format!("needs the CRD from the chart `{chart}`");
        Finding { message, ..finding }.related(place_of(user), label)
    } else if let Some(top) = top {
        let summary = if top.is_empty() { " directories".to_owned() } else { format!(" directories in `{top}`") };
        finding.caused_by(format!("below {top}"), "no cluster reaches the objects of ", summary)
    } else {
        // The environments of an application often have the same objects.
        let references: Vec<String> = objects.iter().map(|object| object.reference().to_string()).collect();
        finding.caused_by(references.join(" "), format!("no cluster reaches {what} in "), " directories")
    };
    let finding = finding.keeping_related();
    let finding = finding.with_parts(parts(objects));
    let shown = rest.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, object| finding.related(place_of(object), object.reference().to_string())))
}

/// The parts of a finding about several objects.
pub(super) fn parts<'a>(objects: &'a [&Object]) -> impl Iterator<Item = Part> + 'a {
    objects.iter().map(|object| Part { span: place_of(object), object: Some(object.reference()), fault: String::new() })
}

/// The position of the kind of an object.
pub(super) fn place_of(object: &Object) -> Span {
    object.node.get("kind").unwrap_or(&object.node).origin.written().clone()
}

/// The number of objects of each kind, as in `2 Kustomizations and 1 ImagePolicy`.
fn counted(objects: &[&Object]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects {
        *kinds.entry(object.kind()).or_default() += 1;
    }
    let counts: Vec<String> =
        kinds.into_iter().map(|(kind, count)| format!("{count} {}", plural(kind, count))).collect();
    match counts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn plural(kind: &str, count: usize) -> String {
    match kind {
        _ if count == 1 => kind.to_owned(),
        _ if kind.ends_with('s') => format!("{kind}es"),
        _ => {
            let stem = kind.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
            stem.map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
        }
    }
}
