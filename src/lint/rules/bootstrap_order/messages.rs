//! The findings of the rule.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::needs::{ITS_DEFINITION, Need, never};
use crate::base::finding::{Finding, Label, ObjectRef, Part, Severity};
use crate::flux::Applier;
use crate::lint::facts::inputs::Input;
use crate::lint::facts::own_position::own_position;
use crate::lint::order::apply_order::{ApplyOrder, CycleStep, EventCycle, Reason};
use crate::lint::refs::dependency::add_dependency;
use crate::lint::view::View;
use crate::text::Span;

/// The maximum number of objects that a message lists.
const MAX_LISTED: usize = 5;

/// Returns the finding for an applier that applies its own inputs: its source or its variables.
pub(super) fn own_inputs(rule: &'static str, inputs: &[&Input<'_>], severity: Severity) -> Option<Finding> {
    let is_secret = |input: &Input<'_>| input.target.kind == "Secret";
    let first = inputs.iter().find(|input| !is_secret(input)).or(inputs.first())?;
    // Users often create Secrets by hand.
    let severity = if is_secret(first) { Severity::Warning } else { severity };
    let (by, wanted) = (first.by, first.target);
    let others: Vec<&&Input<'_>> = inputs.iter().filter(|input| input.target != wanted).collect();
    let more = match others.len() {
        0 => String::new(),
        1 => " and one more object".to_owned(),
        more => format!(" and {more} more objects"),
    };
    let applied = if first.is_produced() {
        format!(
            "which {} creates, and it applies this {} itself",
            first.thing.object.reference(),
            first.thing.object.kind()
        )
    } else {
        "which it applies itself".to_owned()
    };
    let message = format!("in a cold start, {} {}: it needs {wanted}{more}, {applied}", by.reference, never(severity));
    let help = if is_secret(first) {
        "move the object to another Kustomization, or to the parent of this Kustomization: unless the object exists \
         before Flux starts, Flux does not apply this Kustomization"
    } else {
        "move the object to another Kustomization, or to the parent of this Kustomization: Flux needs the object \
         before it applies any object of this Kustomization"
    };
    let place = own_position(by, first.node.span());
    let mut finding = Finding::warning(rule, Label::new(place, "needed first"), message);
    finding.severity = severity;
    let parts: Vec<(Span, String)> = std::iter::once(first)
        .chain(others.iter().copied())
        .map(|input| (own_position(by, input.node.span()), input.target.to_string()))
        .collect();
    for input in std::iter::once(first).chain(others) {
        finding = finding.related(input.thing.by.place(input.thing.object.span()), "applied here");
    }
    // The author of several Kustomizations usually makes the same mistake in each of them.
    let (wanted, creator) = (wanted.kind, first.thing.object.kind());
    let how = if first.is_produced() {
        format!("each applies the {creator} that creates its {wanted}")
    } else {
        format!("each applies its own {wanted}")
    };
    let never = if severity == Severity::Error { "never become ready" } else { "may never become ready" };
    let summary = format!(" {}s {never}: {how}", by.reference.kind);
    let finding = finding.help(help).about(by.reference.clone()).with_faults(parts);
    Some(finding.caused_by(format!("own inputs{summary}"), "in a cold start, ", summary))
}

/// Returns the finding for objects that an applier may apply before an object of the applier `provider` exists.
pub(super) fn too_early(
    rule: &'static str,
    view: &View<'_>,
    provider: usize,
    needs: &[&Need<'_>],
    is_after: bool,
) -> Option<Finding> {
    let (first, rest) = needs.split_first()?;
    let provider = view.receiver.cluster.appliers.get(provider)?;
    let (object, user) = (first.object.object.reference(), &first.object.by);
    // A list has one need for each kind, each namespace and each Secret.
    let key = |need: &Need<'_>| {
        let kind = (need.what == ITS_DEFINITION).then(|| need.object.object.kind().to_owned());
        (need.what.clone(), kind)
    };
    let others: BTreeSet<_> = rest.iter().map(|need| key(need)).filter(|other| *other != key(first)).collect();
    let more = match others.len() {
        0 => String::new(),
        1 => format!("; {} needs one more object of {}", user.reference, provider.reference),
        more => format!("; {} needs {more} more objects of {}", user.reference, provider.reference),
    };
    let message = format!(
        "in a cold start, {} may apply {object} before {}, which {} applies{more}",
        user.reference, first.what, provider.reference
    );
    let (provider_name, user_name) = (&provider.reference, &user.reference);
    let what = missing_thing(first);
    let consequence = if first.refused {
        let retry = retry_of(user);
        format!("until {what} exists, Flux applies nothing else of {user_name}, and tries again after {retry}")
    } else {
        format!("until {what} exists, the pods of the object do not start, and {user_name} is not ready")
    };
    let help = if is_after {
        format!(
            "move {what} to {user_name} or to a dependency of {user_name}, because {provider_name} is applied after \
             {user_name}: {consequence}"
        )
    } else {
        let add = add_dependency(provider_name, &provider_name.to_string(), user_name, &user_name.to_string());
        format!("{add}: {consequence}")
    };
    let mut finding = Finding::warning(rule, Label::new(first.place.clone(), format!("needs {}", first.what)), message)
        .help(help)
        .about(object);
    if !first.refused {
        finding.severity = Severity::Pedantic;
    }
    let before = "in a cold start, ";
    // One dependency of each applier is the remedy for all namespaces of a provider.
    let (all, exist) = if what.starts_with("namespace ") {
        ("their namespaces".to_owned(), "the namespaces exist".to_owned())
    } else {
        (what.clone(), format!("{what} exists"))
    };
    let summary = format!(" appliers may apply objects before {all}, which {provider_name} applies");
    let consequence = if first.refused {
        format!("until {exist}, Flux applies nothing else of these appliers, and tries again after their intervals")
    } else {
        format!("until {what} exists, the pods of the objects do not start, and the appliers are not ready")
    };
    let help = if is_after {
        format!(
            "move {all} to a dependency of these appliers, because {provider_name} is applied after them: \
             {consequence}"
        )
    } else {
        let add = add_dependency(provider_name, &provider_name.to_string(), user_name, "each of these appliers");
        format!("{add}: {consequence}")
    };
    let key = format!("{all} {provider_name} {is_after}");
    finding = finding.caused_by(key, before, summary).help_for_all(help);
    let mut parts: Vec<Part> = Vec::new();
    for need in needs {
        let object = Some(need.object.object.reference());
        let fault = format!("{} {provider_name}", missing_thing(need));
        let part = Part { span: need.place.clone(), object, fault };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    finding = finding.with_parts(parts);
    if let Some(own) = &user.object {
        finding = finding
            .related(own_position(user, own.span()), format!("{} does not wait for {provider_name}", user.reference));
    }
    if let Some(own) = &provider.object {
        finding = finding.related(own_position(provider, own.span()), format!("{} applies {what}", provider.reference));
    }
    Some(finding)
}

/// Returns the finding for an applier that must wait for several other appliers.
///
/// The finding has one cause: an incomplete list of dependencies.
pub(super) fn earlier_than_several(
    rule: &'static str,
    view: &View<'_>,
    several: &[(usize, Vec<&Need<'_>>)],
) -> Option<Finding> {
    let first = several.first()?.1.first()?;
    let user = first.object.by;
    let appliers = several.iter().filter_map(|(at, _)| view.receiver.cluster.appliers.get(*at));
    let providers: Vec<&Arc<Applier>> = appliers.collect();
    let names: Vec<String> = providers.iter().map(|provider| provider.reference.to_string()).collect();
    let needed: BTreeSet<String> =
        several.iter().flat_map(|(_, needs)| needs).map(|need| missing_thing(need)).collect();
    let (names, needed) = (listed(&names, "Kustomization"), listed(&Vec::from_iter(needed), "namespace"));
    let user_name = &user.reference;
    let message = format!("in a cold start, {user_name} may apply objects before {needed}, which {names} apply");
    let references: Vec<&ObjectRef> = providers.iter().map(|provider| &provider.reference).collect();
    let add = |user_named: &str| add_dependencies(&references, user_name, user_named);
    let help = format!(
        "{}: until these objects exist, Flux applies nothing else of \
         {user_name}, and tries again after {}",
        add(&user_name.to_string()),
        retry_of(user)
    );
    let summary = format!(" appliers may apply objects before {needed}, which {names} apply");
    let help_for_all = format!(
        "{}: until these objects exist, Flux applies nothing else of these appliers, and tries again after their \
         intervals",
        add("each of these appliers")
    );
    let mut finding = Finding::warning(rule, Label::new(first.place.clone(), format!("needs {}", first.what)), message)
        .help(help)
        .about(first.object.object.reference())
        .caused_by(format!("{needed} {names}"), "in a cold start, ", summary)
        .help_for_all(help_for_all);
    if let Some(own) = &user.object {
        finding =
            finding.related(own_position(user, own.span()), format!("{user_name} does not wait for these appliers"));
    }
    for provider in providers.iter().take(MAX_LISTED) {
        if let Some(own) = &provider.object {
            let place = own_position(provider, own.span());
            finding = finding.related(place, format!("{} applies a needed object", provider.reference));
        }
    }
    Some(finding)
}

/// The instruction to depend on several objects.
fn add_dependencies(providers: &[&ObjectRef], user: &ObjectRef, user_named: &str) -> String {
    let all =
        |list: &[&ObjectRef]| listed(&list.iter().map(ToString::to_string).collect::<Vec<String>>(), "Kustomization");
    let can_depend = |provider: &&ObjectRef| provider.kind == user.kind || &*user.kind == "ResourceSet";
    let (own, others): (Vec<&ObjectRef>, Vec<&ObjectRef>) = providers.iter().copied().partition(can_depend);
    let Some(other) = others.first() else {
        return format!("add {} to `dependsOn` of {user_named}", all(&own));
    };
    if own.is_empty() && others.len() == 1 {
        return add_dependency(other, &other.to_string(), user, user_named);
    }
    let (kind, of_others) = (&user.kind, &other.kind);
    let (wrapped, those) = if others.len() == 1 {
        (format!("{other} with a {kind} of its own with `wait: true`"), format!("that {kind}"))
    } else {
        (format!("{} with {kind}s of their own with `wait: true`", all(&others)), format!("these {kind}s"))
    };
    let added = if own.is_empty() { those } else { format!("{those} and {}", all(&own)) };
    format!(
        "apply {wrapped}, and add {added} to `dependsOn` of {user_named}, since a {kind} cannot depend on a {of_others}"
    )
}

/// The dependency of an object, as text for a message about several objects.
fn missing_thing(need: &Need<'_>) -> String {
    match need.what.as_str() {
        ITS_DEFINITION => format!("the CRD of {}", need.object.object.kind()),
        what => what.to_owned(),
    }
}

/// The first items of a list, as text for a message.
///
/// If each item starts with `noun`, the text starts with its plural, and the items lack the word.
fn listed(items: &[String], noun: &str) -> String {
    let names: Option<Vec<&str>> = items.iter().map(|item| item.strip_prefix(noun)?.strip_prefix(' ')).collect();
    let (start, items) = match names.filter(|names| names.len() > 1) {
        Some(names) => (format!("{noun}s "), names),
        None => (String::new(), items.iter().map(String::as_str).collect()),
    };
    let shown = items.get(..MAX_LISTED).unwrap_or(&items);
    let list = match (shown, items.len() - shown.len()) {
        (shown, rest @ 1..) => format!("{} and {rest} more", shown.join(", ")),
        ([first @ .., last], 0) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (shown, 0) => shown.join(", "),
    };
    format!("{start}{list}")
}

/// The interval after which Flux tries to apply a Kustomization again, as text for a message.
fn retry_of(user: &Applier) -> String {
    match user.object.as_ref().and_then(|object| object.text_at(&["spec", "retryInterval"])) {
        Some(interval) if !interval.contains('$') => format!("{interval} (`retryInterval`)"),
        Some(_) => "its `retryInterval`".to_owned(),
        None => "its interval".to_owned(),
    }
}

/// Returns the finding for a cycle of waits.
pub(super) fn deadlock(
    rule: &'static str,
    order: &ApplyOrder<'_>,
    cycle: &EventCycle,
    severity: Severity,
) -> Option<Finding> {
    let never = never(severity);
    // Flux checks the health again after each change. It does not undo a dependency that was ready once.
    let is_checked = cycle.steps.iter().any(|step| matches!(step.reason, Reason::HealthCheck(_)));
    let when = if is_checked { "" } else { "in a cold start, " };
    let (first, rest) = cycle.steps.split_first()?;
    let (waiting, wanted) = (order.name(first.from), order.name(first.to));
    let (place, message) = match &first.reason {
        Reason::Needs(place, what, _) => (
            place.clone(),
            format!(
                "in a cold start, {waiting} {never}: {what}, which {wanted} applies, and {wanted} waits for \
                 {waiting}"
            ),
        ),
        Reason::HealthCheck(place) | Reason::DependsOn(place, _) => {
            let message = if waiting == wanted {
                format!("{waiting} {never}: it waits for itself")
            } else {
                format!("{when}{waiting} {never}: it waits for {wanted}, which waits for {waiting}")
            };
            (place.clone(), message)
        }
        Reason::Applied | Reason::AppliedByParent | Reason::MayCreate => return None,
    };
    let mut finding = Finding::warning(rule, Label::new(place, "waits here"), message).help(help_of(order, cycle));
    finding.severity = severity;
    for CycleStep { from, to, reason } in rest {
        let (one, other) = (order.name(*from), order.name(*to));
        match reason {
            Reason::Needs(place, what, _) => {
                finding = finding.related(place.clone(), format!("{what}, which {other} applies"));
            }
            Reason::HealthCheck(place) => finding = finding.related(place.clone(), format!("{one} waits for {other}")),
            Reason::DependsOn(place, _) => {
                finding = finding.related(place.clone(), format!("{one} depends on {other}"));
            }
            Reason::AppliedByParent => {
                if let Some(place) = order.position(*from) {
                    finding = finding.related(place, format!("{other} applies {one}"));
                }
            }
            Reason::Applied | Reason::MayCreate => {}
        }
    }
    Some(finding)
}

/// The instruction that breaks a cycle.
fn help_of(order: &ApplyOrder<'_>, cycle: &EventCycle) -> String {
    let is_checked = cycle.steps.iter().any(|step| matches!(step.reason, Reason::HealthCheck(_)));
    let depends = cycle.steps.iter().any(|step| matches!(step.reason, Reason::DependsOn(..)));
    if is_checked {
        return "break one step of the cycle: remove a wait, or move the dependency to another Kustomization"
            .to_owned();
    }
    if depends {
        return "break one step of the cycle: remove a dependency, or move a needed object to another Kustomization"
            .to_owned();
    }
    let mut needs = cycle.steps.iter().filter_map(|step| match &step.reason {
        Reason::Needs(_, what, _) => Some((what, step)),
        _ => None,
    });
    let (Some((what, step)), None) = (needs.next(), needs.next()) else {
        return "break one step of the cycle: move a needed object to another Kustomization".to_owned();
    };
    let thing = match what.rsplit_once(" needs ") {
        Some((_, needed)) if needed == ITS_DEFINITION => "the CRD",
        Some((_, needed)) if needed.starts_with("namespace ") => needed,
        _ => "the needed object",
    };
    let (waiting, wanted) = (order.name(step.from), order.name(step.to));
    format!("move {thing} to {waiting}, or move the object that needs it to {wanted}")
}

#[cfg(test)]
mod tests {
    use arcstr::ArcStr;

    use super::*;

    #[test]
    fn a_kustomization_waits_for_resource_sets_with_a_kustomization() {
        let of = |kind: &str, name: &str| ObjectRef {
            kind: kind.into(),
            namespace: Some("flux-system".into()),
            name: name.into(),
            api_version: ArcStr::new(),
        };
        let (set, first, second) =
            (of("ResourceSet", "sets"), of("Kustomization", "first"), of("Kustomization", "second"));
        let user = of("Kustomization", "user");
        let help = |providers: &[&ObjectRef]| add_dependencies(providers, &user, "it");
        assert_eq!(
            help(&[&first, &second]),
            "add Kustomizations `flux-system/first` and `flux-system/second` to `dependsOn` of it"
        );
        let both = help(&[&set, &first]);
        assert!(
            both.contains("add that Kustomization and Kustomization `flux-system/first` to `dependsOn` of it"),
            "{both}"
        );
        assert!(both.ends_with("since a Kustomization cannot depend on a ResourceSet"), "{both}");
    }
}
