mod changed_name;
mod kinds;
mod meant_kind;
mod mismatches;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::api::catalog::{Definition, Origin, Product};
use crate::api::release::api;
use crate::api::validate::{Fault, Mismatch};
use crate::base::finding::{Finding, Safety, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::groups;
use crate::lint::apis::normalization;
use crate::lint::facts::private_values::placeholder::is_to_replace;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::{Node, Style, Value, fix};
use changed_name::invalid_part;
use kinds::{Kind, UNKNOWN};
use meant_kind::MeantKind;
use mismatches::Mismatches;

declare! {
    /// An object does not match the schema of its kind.
    ///
    /// ## Why
    ///
    /// Flux applies objects with server-side apply. The API server rejects an object with an unknown field, a value of
    /// another type, a missing field or a value that the schema excludes. Flux then applies nothing of the Kustomization
    /// that contains the object.
    ///
    /// Flux removes unknown fields of Kubernetes' own kinds, such as Deployments, before it applies an object. The finding
    /// is then a warning: the field has no effect. Roles, ClusterRoles and custom resources keep unknown fields, and so
    /// does an object with a value of another type.
    ///
    /// The schema is the one that the cluster has: of the CustomResourceDefinition that the cluster receives, or else of
    /// a CustomResourceDefinition elsewhere in the repository, in the copies of its sources or in the directories of
    /// `schemas` in `.fleetwright.yaml`, or else of the built-in kinds of Kubernetes, Flux and the Flux Operator.
    /// `fleetwright schema list` prints the built-in kinds. A mismatch with a CustomResourceDefinition that the cluster
    /// does not receive is a warning, since the cluster may have another version of it.
    ///
    /// The rule also reports an `apiVersion` that the definition on the cluster does not serve, and a definition whose name,
    /// stored versions, conversion or schemas the API server rejects. It reports a kind that an API group of Flux does not
    /// have, and a kind that an API group of Kubernetes does not have, if a similar kind or another group is meant.
    ///
    /// An object may consist of some fields of an object that exists on the cluster: with the annotation
    /// `kustomize.toolkit.fluxcd.io/ssa: merge`, or in the namespace `kube-system`. The rule ignores the fields that
    /// such an object lacks. If a chart of the fleet or a chart with a similar name may create the
    /// object, such a field is a warning. The same applies to a field without a value if a MutatingWebhookConfiguration of
    /// the cluster selects the kind, since the webhook may set the value.
    ///
    /// Values that only the cluster knows, such as values of Secrets, match any schema. An object whose kind is such a
    /// value is a warning, since no rule can check it. Kinds without a known schema are
    /// counted in the output of `--verbose`.
    ///
    /// ## How to fix it
    ///
    /// Correct the field. `fleetwright schema KIND` prints the schema.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: "true"
    ///   dependOn:
    ///     - name: infrastructure
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   dependsOn:
    ///     - name: infrastructure
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: server-side apply](https://kubernetes.io/docs/reference/using-api/server-side-apply/),
    /// [Kubernetes: structural schemas](https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema)
    "schema-mismatch", Error, "the API server rejects an object, since it does not match the schema of its kind",
    Check::Fleet(check), fixes: [Unsafe],
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    // The first of some alike clusters has the mismatches of the others, at other positions.
    let first = |at: usize| fleet.views.get(at).map_or(at, |view| view.first);
    let mut all = Mismatches::of(fleet.views, |at| first(at) == at);
    let is_alike = |at: usize| first(at) == at || all.is_clean() && all.are_alike(first(at), at);
    let has_all = (0..fleet.views.len()).all(is_alike);
    if !has_all {
        all = Mismatches::of(fleet.views, |_| true);
    }
    // The number of objects of each kind.
    let kinds: LazyCell<BTreeMap<(&str, &str), usize>, _> = LazyCell::new(|| {
        let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for object in fleet.repo.objects.iter().map(|built| &built.object) {
            *kinds.entry((object.group(), object.kind())).or_default() += 1;
        }
        kinds
    });
    let mut findings: Vec<Finding> = Vec::new();
    let mut reported: BTreeMap<(usize, usize, bool), usize> = BTreeMap::new();
    for (number, view) in fleet.views.iter().enumerate() {
        let number = if has_all { first(number) } else { number };
        let sets = || fleet.views.get(number).into_iter().flat_map(View::applied_sets);
        let unchecked: BTreeSet<_> = sets().flat_map(|set| all.unchecked(number, set)).collect();
        if view.is_whole() {
            let unknown = unchecked.iter().filter(|(_, reason)| *reason == UNKNOWN);
            let unknown = unknown.map(|((version, kind), _)| (group_of(version), *kind));
            let misspelled =
                unknown.filter_map(|(group, kind)| Some((group, kind, MeantKind::of(&kinds, group, kind)?)));
            findings.extend(misspelled.flat_map(|(group, kind, meant)| {
                view.of_kind(group, kind).map(move |applied| meant.finding(RULE.id, view, &applied))
            }));
        }
        for ((version, kind), reason) in unchecked {
            found.unchecked(format!("objects of {version} {kind}, since {reason}"));
        }
        for (applied, key, definition) in sets().filter(|_| view.is_whole()).flat_map(|set| all.not_served(number, set))
        {
            let position = *reported.entry((key, usize::MAX, applied.by.is_suspended())).or_insert_with(|| {
                findings.push(not_served(&applied, definition));
                findings.len() - 1
            });
            if let Some(finding) = findings.get_mut(position) {
                finding.clusters.push(view.receiver.to_string().into());
            }
        }
        for (applied, key) in sets().filter(|_| view.is_whole()).flat_map(|set| all.of_unknown_kind(number, set)) {
            let position = *reported.entry((key, usize::MAX, applied.by.is_suspended())).or_insert_with(|| {
                findings.push(of_unknown_kind(&applied));
                findings.len() - 1
            });
            if let Some(finding) = findings.get_mut(position) {
                finding.clusters.push(view.receiver.to_string().into());
            }
        }
        let parts = LazyCell::new(|| view.parts());
        for (applied, kind, key, mismatches) in sets().flat_map(|set| all.in_list(number, set)) {
            for (at, mismatch) in mismatches.iter().enumerate() {
                // Server-side apply merges objects with one identity, so another one may have the field.
                let is_part = |one: &Mismatch| one.fault == Fault::Missing && parts.contains(&key.0);
                if is_part(mismatch) || is_misspelled(mismatch, mismatches) || !concerns(view, &applied, kind, mismatch)
                {
                    continue;
                }
                // An object that has another field in place of a required one has one mistake.
                let is_open = |other: &Mismatch| {
                    is_part(other) || is_misspelled(other, mismatches) || !concerns(view, &applied, kind, other)
                };
                let replaces = |one: &Mismatch, other: &Mismatch| {
                    one.fault == Fault::UnknownField
                        && other.fault == Fault::Missing
                        && parent(&one.path) == parent(&other.path)
                        && !is_open(one)
                        && !is_open(other)
                };
                let is_received = matches!(kind.found.origin, Origin::Received(_)) && !has_defaults(view, kind);
                if is_received && mismatches.iter().any(|other| replaces(other, mismatch)) {
                    continue;
                }
                let lacked: Vec<&Mismatch> =
                    mismatches.iter().filter(|other| is_received && replaces(mismatch, other)).collect();
                // Unknown fields beside each other usually have one cause, such as a wrong indentation.
                let beside: Vec<&Mismatch> = mismatches
                    .iter()
                    .filter(|other| are_unknown_siblings(mismatch, other) && concerns(view, &applied, kind, other))
                    .collect();
                if beside.first().is_some_and(|first| !std::ptr::eq(*first, mismatch)) {
                    continue;
                }
                let is_extension = (mismatch.fault == Fault::Missing && view.may_be_of_chart(&applied))
                    || (is_absent(mismatch) && has_defaults(view, kind))
                    || (!view.is_whole() && is_to_replace(mismatch.at.text()));
                let is_doubtful = is_extension || applied.by.is_suspended();
                let position = *reported.entry((key.0, at, is_doubtful)).or_insert_with(|| {
                    let has_defaults = is_absent(mismatch) && has_defaults(view, kind);
                    let finding = finding(&applied, kind, mismatch, (&beside, &lacked), mismatches, has_defaults);
                    let severity = if is_extension { Severity::Warning } else { finding.severity };
                    findings.push(Finding { severity, ..finding });
                    findings.len() - 1
                });
                if let Some(finding) = findings.get_mut(position).filter(|_| view.is_whole()) {
                    finding.clusters.push(view.receiver.to_string().into());
                }
            }
        }
    }
    found.extend(findings);
}

fn group_of(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

/// Returns whether two mismatches are unknown fields of one mapping.
fn are_unknown_siblings(one: &Mismatch, other: &Mismatch) -> bool {
    let is_unknown = |mismatch: &Mismatch| mismatch.fault == Fault::UnknownField && mismatch.meant.is_none();
    is_unknown(one) && is_unknown(other) && parent(&one.path) == parent(&other.path)
}

/// The path of the mapping that contains a field. The name of a field in brackets may contain dots.
fn parent(path: &str) -> &str {
    match path.strip_suffix("\"]").and_then(|path| path.rsplit_once("[\"")) {
        Some((parent, _)) => parent,
        None => path.rsplit_once('.').map_or("", |(parent, _)| parent),
    }
}

/// A path without the numbers of items, such as `spec.containers[].image`.
fn without_numbers(path: &str) -> String {
    let mut parts = path.split('[');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push('[');
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

/// Returns whether an object lacks a field because the object has the field with another spelling, which is a mismatch
/// too.
fn is_misspelled(mismatch: &Mismatch, all: &[Mismatch]) -> bool {
    let is_meant = |other: &Mismatch| {
        other.fault == Fault::UnknownField
            && other.meant.is_some()
            && other.meant.as_deref() == mismatch.path.rsplit('.').next()
            && parent(&other.path) == parent(&mismatch.path)
    };
    mismatch.fault == Fault::Missing && all.iter().any(is_meant)
}

/// Returns whether an object lacks a value.
fn is_absent(mismatch: &Mismatch) -> bool {
    mismatch.fault == Fault::Missing || mismatch.message.starts_with("is null")
}

/// Returns whether a webhook changes the objects of a kind before the API server validates them. It may set the values
/// that an object lacks.
fn has_defaults(view: &View<'_>, kind: &Kind) -> bool {
    let Origin::Received(definition) = &kind.found.origin else { return false };
    let has = |rule: &Node, key: &str, wanted: &str| {
        let mut values = rule.get(key).into_iter().flat_map(Node::items).filter_map(Node::text);
        values.any(|value| matches!(value, "*" | "*/*") || value == wanted)
    };
    view.of_kind("admissionregistration.k8s.io", "MutatingWebhookConfiguration").any(|configuration| {
        let hooks = configuration.object.node.get("webhooks").into_iter().flat_map(Node::items);
        let mut rules = hooks.filter_map(|hook| hook.get("rules")).flat_map(Node::items);
        rules.any(|rule| has(rule, "apiGroups", &definition.group) && has(rule, "resources", &definition.plural))
    })
}

/// The kinds of the Flux Operator that send events and that Receivers can reconcile.
const OPERATOR_KINDS: [&str; 3] = ["FluxInstance", "ResourceSet", "ResourceSetInputProvider"];

/// Returns whether a mismatch is certain, and no other rule reports it.
fn concerns(view: &View<'_>, applied: &Applied<'_>, kind: &Kind, mismatch: &Mismatch) -> bool {
    let last = mismatch.path.rsplit('.').next().unwrap_or_default();
    if normalization::removes(applied.object, &mismatch.path) {
        return false;
    }
    if applied.completion.mentions(last) || kind.is_newer && mismatch.fault == Fault::UnknownField {
        return false;
    }
    let is_null = mismatch.message.starts_with("is null");
    if (mismatch.fault == Fault::Duplicate || is_null) && view.uses_kubectl() {
        return false;
    }
    // An object that no cluster receives may be a patch or a template.
    let is_open = matches!(mismatch.fault, Fault::Missing | Fault::Metadata) || is_null;
    if !view.is_whole() && (is_open || is_variable(mismatch.at.text())) {
        return false;
    }
    // Kubernetes distributions create objects in this namespace, to which server-side apply adds fields.
    let is_of_kubernetes = matches!(&kind.found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes);
    let may_exist = is_of_kubernetes && applied.namespace() == Some("kube-system");
    let is_part = may_exist || applied.apply_mode() == ApplyMode::Merged;
    if is_part && mismatch.fault == Fault::Missing {
        return false;
    }
    let is_flux = groups::is_toolkit(applied.object.group());
    // The Flux Operator adds its own kinds to the schemas of Alerts and Receivers.
    let takes_kinds =
        |kind: &str, path: &str| applied.object.is(groups::NOTIFICATION, kind) && mismatch.path.starts_with(path);
    if (takes_kinds("Alert", "spec.eventSources") || takes_kinds("Receiver", "spec.resources"))
        && OPERATOR_KINDS.contains(&mismatch.at.text().trim_matches(['"', '\'']))
        && may_have_operator(view)
    {
        return false;
    }
    match mismatch.fault {
        // `invalid-duration` and `invalid-git-url` explain these values.
        Fault::Value => {
            !(is_flux
                && (matches!(last, "interval" | "retryInterval" | "timeout")
                    || (last == "url" && applied.object.kind() == "GitRepository")))
        }
        _ => true,
    }
}

/// Returns whether a value is only a variable or a placeholder, which another program replaces, such as envsubst.
fn is_variable(text: &str) -> bool {
    let text = text.trim_matches(['"', '\'']);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_between = |start: &str, end: &str| text.starts_with(start) && text.ends_with(end);
    text.strip_prefix('$').is_some_and(is_name)
        || is_between("${", "}")
        || is_between("{{", "}}")
        || is_between("<", ">")
}

/// Returns whether the Flux Operator may have installed Flux: there is a FluxInstance, or the repository does not show
/// how Flux is installed.
fn may_have_operator(view: &View<'_>) -> bool {
    !view.shows_controllers() || view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").next().is_some()
}

/// The finding for an object whose version the definition on the cluster does not serve.
fn not_served(applied: &Applied<'_>, definition: &Definition) -> Finding {
    let object = applied.object;
    let version = object.api_version().rsplit('/').next().unwrap_or_default();
    let is_listed = definition.versions.iter().any(|own| *own.name == *version);
    let lack = if is_listed { "does not serve" } else { "does not have" };
    let message =
        format!("`apiVersion: {}` of {}: the definition {lack} this version", object.api_version(), object.reference());
    let served = definition.versions.iter().filter(|own| own.served);
    let served: Vec<String> = served.map(|own| format!("`{}/{}`", definition.group, own.name)).collect();
    let help = match served.as_slice() {
        [] => "serve a version in the definition".to_owned(),
        served => format!("set {}", served.join(" or ")),
    };
    // Flux may serve the version in a later release.
    let older = definition.versions.iter().filter_map(|own| api(&definition.group, &own.name, object.kind()));
    let older = older.filter(|api| api.product() == Product::Flux);
    let mut later = older.filter(|api| api.replacement.as_deref() == Some(object.api_version()));
    let help = match later.find_map(|api| api.replacement_since.as_ref()) {
        Some(since) => {
            format!(
                "{help}, or upgrade Flux to {}.{}, which serves `{}`",
                since.major,
                since.minor,
                object.api_version()
            )
        }
        None => help,
    };
    let help = format!("{help}; the API server rejects the object, and Flux applies nothing of its Kustomization");
    let at = object.node.get("apiVersion").unwrap_or(&object.node).span();
    let severity = if applied.by.is_suspended() { Severity::Warning } else { Severity::Error };
    let finding = Finding::error(RULE.id, applied.by.place(at), message).help(help).about(object.reference());
    let (kind, version) = (object.kind(), object.api_version());
    let summary = format!(" objects of kind {kind} have `apiVersion: {version}`: the definition {lack} this version");
    let at = &definition.at;
    let key = format!("{version} {kind} of {}:{}", at.file().path(), at.range().start);
    let finding = finding.caused_by(key, "", summary);
    Finding { severity, ..finding }.related(at.clone(), "the definition is here")
}

/// The finding for an object whose kind depends on a value that only the cluster knows.
fn of_unknown_kind(applied: &Applied<'_>) -> Finding {
    let object = applied.object;
    let is_unknown = |field: &&str| {
        object.node.get(field).is_some_and(|node| matches!(node.value, Value::Scalar(_, Style::Unknown)))
    };
    let field = ["kind", "apiVersion"].into_iter().find(is_unknown).unwrap_or("kind");
    let at = object.node.get(field).unwrap_or(&object.node).span();
    let message = format!("`{field}` of {} depends on a value that only the cluster knows", object.reference());
    let finding = Finding::warning(RULE.id, applied.by.place(at), message).about(object.reference());
    finding.help("write the value: no rule can check an object of an unknown kind")
}

/// The finding for a mismatch. `beside` are the unknown fields of its mapping, in which it is the first one, and `lacked`
/// the required fields that the mapping lacks. `has_defaults` is whether a webhook may set the value.
fn finding(
    applied: &Applied<'_>,
    kind: &Kind,
    mismatch: &Mismatch,
    (beside, lacked): (&[&Mismatch], &[&Mismatch]),
    all: &[Mismatch],
    has_defaults: bool,
) -> Finding {
    let object = applied.object.reference();
    let names: Vec<String> = beside.iter().map(|other| format!("`{}`", other.path)).collect();
    let message = match mismatch.fault {
        Fault::Missing => format!("{object} has no `{}`", mismatch.path),
        Fault::UnknownField if names.len() > 1 => format!("{object} has unknown fields: {}", names.join(", ")),
        Fault::UnknownField => format!("{object} has an unknown field: `{}` {}", mismatch.path, mismatch.message),
        _ if mismatch.path.is_empty() => format!("{object} {}", mismatch.message),
        _ => format!("`{}` of {object} {}", mismatch.path, mismatch.message),
    };
    let lacked: Vec<String> = lacked.iter().map(|other| format!("`{}`", other.path)).collect();
    let lacks = if lacked.is_empty() { String::new() } else { format!(", and has no {}", lacked.join(", ")) };
    let message = format!("{message}{lacks}");
    let is_elsewhere = matches!(kind.found.origin, Origin::Elsewhere(_));
    // Flux replaces labels that it cannot read by its own.
    let loses_labels = mismatch.path.starts_with("metadata.labels") && mismatch.fault == Fault::Type;
    let is_dropped = mismatch.fault == Fault::UnknownField
        && matches!(&kind.found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes)
        && normalization::drops_unknown_fields(applied.object, all);
    let is_unchecked = mismatch.fault == Fault::Unchecked;
    let is_warning = is_elsewhere || loses_labels || is_dropped || is_unchecked || applied.by.is_suspended();
    let severity = if is_warning { Severity::Warning } else { Severity::Error };
    let result = if loses_labels {
        "Flux cannot read the labels, and removes all of them"
    } else if is_dropped {
        match names.len() {
            0 | 1 => "Flux removes the field before it applies the object",
            _ => "Flux removes the fields before it applies the object",
        }
    } else if mismatch.fault == Fault::Limit {
        "simplify the schema, or except the finding: the linter does not check the rest of the object"
    } else if is_unchecked {
        "the API server rejects definitions and objects with such a rule; correct or simplify it"
    } else if has_defaults {
        "unless a webhook of the cluster sets the value, the API server rejects the object, and Flux applies nothing of \
         its Kustomization"
    } else if is_elsewhere && mismatch.fault == Fault::UnknownField {
        "if the cluster has this version of the definition, the API server rejects the object, and Flux applies nothing of \
         its Kustomization"
    } else {
        "the API server rejects the object, and Flux applies nothing of its Kustomization"
    };
    let help = match &mismatch.help {
        _ if names.len() > 1 => format!("correct the indentation of the fields, or remove them; {result}"),
        Some(help) if help.ends_with('?') => format!("{help} {result}"),
        Some(help) => format!("{help}; {result}"),
        None => result.to_owned(),
    };
    let is_name = mismatch.fault == Fault::Metadata && mismatch.path == "metadata.name";
    let part = is_name.then(|| invalid_part(applied.object)).flatten();
    let at = applied.by.place(part.unwrap_or(&mismatch.at));
    let meant = mismatch.meant.as_deref();
    let fix = meant.and_then(|meant| fix::retype(&at, mismatch.at.text(), meant, Safety::Unsafe));
    let finding = Finding::error(RULE.id, at, message).help(help).about(object).fixed_by(fix);
    let mut finding = Finding { severity, ..finding };
    if mismatch.fault == Fault::UnknownField {
        let paths: Vec<String> = match names.len() {
            0 => vec![format!("`{}`", without_numbers(&mismatch.path))],
            _ => names.iter().map(|name| without_numbers(name)).collect(),
        };
        let (word, rest) = match paths.as_slice() {
            [path] => ("an unknown field", format!("{path} {}{lacks}", mismatch.message)),
            paths => ("unknown fields", format!("{}{lacks}", paths.join(", "))),
        };
        // The author of several objects usually makes the same mistake in each of them.
        let (version, name) = (applied.object.api_version(), applied.object.kind());
        let summary = format!(" objects of kind {name} have {word}: {rest}");
        finding = finding.caused_by(format!("{version}{summary}"), "", summary);
    }
    // A prefix changes the names of many objects.
    if is_name {
        let span = &finding.at.span;
        let key = format!("name by {}:{}", span.file().path(), span.range().start);
        let summary =
            " objects get a name that is not valid, because of this text: use lower-case letters, digits and `-`";
        finding = finding.caused_by(key, "", summary);
    }
    if beside.len() > 1 {
        let place = |other: &Mismatch| applied.by.place(&other.at);
        finding = finding.with_faults(beside.iter().map(|other| (place(other), other.path.clone())));
        for other in beside.iter().skip(1) {
            finding = finding.related(place(other), format!("`{}`", other.path));
        }
    }
    if let Origin::Received(definition) | Origin::Elsewhere(definition) = &kind.found.origin {
        finding = finding.related(definition.at.clone(), "the schema is here");
    }
    finding
}
