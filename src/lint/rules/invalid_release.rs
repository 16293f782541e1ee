use crate::api::validate::{is_label_value, is_qualified_name};
use crate::base::finding::{Finding, Label, Severity};
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::facts::suspension::is_suspended;
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// Helm or the API server rejects a field of a HelmRelease.
    ///
    /// ## Why
    ///
    /// The API server accepts these values in a HelmRelease, but the release then fails or ignores them:
    ///
    /// - `releaseName` with uppercase letters, `_` or another character that Helm does not allow: Helm neither installs nor
    ///   upgrades the release;
    /// - an invalid name or value of a label in `commonMetadata`: the API server rejects all objects of the chart;
    /// - a path in `driftDetection.ignore` that does not start with `/`: it is no JSON pointer and matches no field, so Flux reverts
    ///   the field. This is a warning.
    ///
    /// ## How to fix it
    ///
    /// Write a release name of lowercase letters, digits, `-` and `.`; correct the label; write the path with a leading `/`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   releaseName: Web_1
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// spec:
    ///   interval: 1h
    ///   releaseName: web-1
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: web
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `driftDetection.ignore` exists from Flux 2.2 on.
    ///
    /// ## Source
    ///
    /// [Flux: release name](https://fluxcd.io/flux/components/helm/helmreleases/#release-name),
    /// [Flux: drift detection](https://fluxcd.io/flux/components/helm/helmreleases/#ignore-rules);
    /// `ValidateReleaseName` of Helm, `CommonRenderer` of helm-controller, `IgnoreRule` of `github.com/fluxcd/pkg/ssa`
    "invalid-release", Error, "Helm or the API server rejects a field of a HelmRelease", Check::Object(check),
}

/// A value that is rejected or has no effect.
struct Fault {
    at: Span,
    message: String,
    help: String,
    severity: Severity,
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let Some(spec) = object.node.get("spec").filter(|_| object.is(groups::HELM, "HelmRelease")) else { return };
    let mut faults = Vec::new();
    if !applied.completion.mentions("releaseName") {
        faults.extend(release_name(object, spec));
    }
    if !applied.completion.mentions("commonMetadata") {
        labels(object, spec, &mut faults);
    }
    if !applied.completion.mentions("driftDetection") {
        ignored_paths(object, spec, &mut faults);
    }
    for Fault { at, message, help, severity } in faults {
        let finding = Finding::error(RULE.id, Label::new(applied.by.place(&at), "not valid"), message);
        let severity = if is_suspended(applied) { severity.min(Severity::Warning) } else { severity };
        found.push(Finding { severity, ..finding }.help(help).about(object.reference()));
    }
}

fn release_name(object: &Object, spec: &Node) -> Option<Fault> {
    let node = spec.get("releaseName")?;
    let name = known_text(node)?;
    let is_part = |part: &str| {
        let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        is_end(part.as_bytes().first()) && is_end(part.as_bytes().last()) && part.bytes().all(is_valid)
    };
    if name.split('.').all(is_part) {
        return None;
    }
    let meant: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    let meant = meant.trim_matches(['-', '.']);
    let remedy = if meant.split('.').all(is_part) { format!("write `{meant}`") } else { "correct the name".to_owned() };
    Some(Fault {
        at: node.span().clone(),
        message: format!("`releaseName: {name}` of {} is not a name of a Helm release", object.reference()),
        help: format!("{remedy}: otherwise Helm neither installs nor upgrades the release"),
        severity: Severity::Error,
    })
}

fn labels(object: &Object, spec: &Node, faults: &mut Vec<Fault>) {
    let labels = spec.at_keys(&["commonMetadata", "labels"]).map_or(&[][..], Node::entries);
    for entry in labels {
        let help = "correct the label: otherwise the API server rejects all objects of the chart".to_owned();
        let severity = Severity::Error;
        if !entry.key.contains("${") && !is_qualified_name(&entry.key) {
            let message =
                format!("the label `{}` in `commonMetadata` of {} has no valid name", entry.key, object.reference());
            faults.push(Fault { at: entry.key_span(), message, help, severity });
        } else if let Some(value) = known_text(&entry.node).filter(|value| !is_label_value(value)) {
            let message = format!(
                "the label `{}: {value}` in `commonMetadata` of {} is not valid",
                entry.key,
                object.reference()
            );
            faults.push(Fault { at: entry.node.span().clone(), message, help, severity });
        }
    }
}

fn ignored_paths(object: &Object, spec: &Node, faults: &mut Vec<Fault>) {
    let rules = spec.at_keys(&["driftDetection", "ignore"]).map_or(&[][..], Node::items);
    for node in rules.iter().filter_map(|rule| rule.get("paths")).flat_map(Node::items) {
        let Some(path) = known_text(node).filter(|path| !path.starts_with('/')) else { continue };
        let meant = path.trim_start_matches(['$', '.']).replace('.', "/");
        faults.push(Fault {
            at: node.span().clone(),
            message: format!(
                "the path `{path}` in `driftDetection.ignore` of {} does not start with `/`",
                object.reference()
            ),
            help: format!(
                "write `/{}`: the path matches no field, so Flux reverts its changes",
                meant.trim_start_matches('/')
            ),
            severity: Severity::Warning,
        });
    }
}
