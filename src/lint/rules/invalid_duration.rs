use crate::base::finding::{Finding, Safety};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::fix;
use crate::yaml::{Style, Value};

declare! {
    /// The API server rejects the interval or timeout of a Flux object.
    ///
    /// ## Why
    ///
    /// A duration is a sequence of numbers, each with a unit: `h`, `m`, `s` or `ms`. The CRDs of Flux contain this
    /// pattern, so the API server rejects an object with `1d`, with `10` or with `10m0`. The dry run of the
    /// Kustomization that contains the object fails, and Flux does not apply the Kustomization. A timeout of a source,
    /// an ImageRepository or a Provider does not accept the unit `h`.
    ///
    /// A CRD of Flux 0.34 or older does not have this pattern. The API server then accepts the object, and the controller
    /// cannot list any object of the kind on the cluster.
    ///
    /// The rule ignores values with variables.
    ///
    /// ## How to fix it
    ///
    /// Add the unit, and write days as hours: `24h`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1d
    ///   ref:
    ///     branch: main
    ///   url: https://git.example.com/acme/apps.git
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 24h
    ///   ref:
    ///     branch: main
    ///   url: https://git.example.com/acme/apps.git
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize-controller: Kustomization API](https://github.com/fluxcd/kustomize-controller/blob/main/api/v1/kustomization_types.go),
    /// [source-controller: GitRepository API](https://github.com/fluxcd/source-controller/blob/main/api/v1/gitrepository_types.go)
    "invalid-duration", Error, "the API server rejects the interval or timeout of a Flux object", Check::Cluster(check),
    fixes: [Safe, Unsafe],
}

/// A path of keys below `spec`.
type Field = &'static [&'static str];

const KUSTOMIZATION: &[Field] = &[&["interval"], &["retryInterval"], &["timeout"]];
const RELEASE: &[Field] = &[
    &["interval"],
    &["timeout"],
    &["chart", "spec", "interval"],
    &["install", "timeout"],
    &["install", "strategy", "retryInterval"],
    &["upgrade", "timeout"],
    &["upgrade", "strategy", "retryInterval"],
    &["rollback", "timeout"],
    &["test", "timeout"],
    &["uninstall", "timeout"],
];
const OTHER: &[Field] = &[&["interval"], &["timeout"]];

/// The groups of the checked kinds.
const GROUPS: [&str; 5] = [groups::KUSTOMIZE, groups::HELM, groups::SOURCE, groups::NOTIFICATION, groups::IMAGE];

fn check(view: &View<'_>, found: &mut Findings) {
    // An older CRD has no pattern.
    let has_pattern = view.has_flux((0, 35)) != Some(false);
    for applied in view.objects().filter(|applied| GROUPS.contains(&applied.object.group())) {
        check_object(&applied, has_pattern, found);
    }
}

fn check_object(applied: &Applied<'_>, has_pattern: bool, found: &mut Findings) {
    let object = applied.object;
    let fields = match (object.group(), object.kind()) {
        (groups::KUSTOMIZE, "Kustomization") => KUSTOMIZATION,
        (groups::HELM, "HelmRelease") => RELEASE,
        (groups::SOURCE | groups::NOTIFICATION | groups::IMAGE, _) => OTHER,
        _ => return,
    };
    let Some(spec) = object.node.get("spec") else { return };
    for field in fields {
        let Some(node) = spec.at_keys(field).filter(|node| !node.is_null()) else { continue };
        let Value::Scalar(text, style) = &node.value else { continue };
        let last = field.last().copied().unwrap_or_default();
        if *style == Style::Unknown || text.contains("${") || applied.completion.mentions(last) {
            continue;
        }
        // The API version v1beta1 has no pattern for most kinds.
        let has_hours = last != "timeout" || fields != OTHER || object.api_version().ends_with("/v1beta1");
        let Some(fault) = fault(text, has_hours) else { continue };
        let fix = match &fault {
            Fault::Hours(Some(meant)) | Fault::Days(meant) => fix::replace(node, meant, Safety::Safe),
            Fault::NoUnit => fix::replace(node, &format!("{text}s"), Safety::Unsafe),
            Fault::Hours(None) | Fault::Other => None,
        };
        let (why, help) = match fault {
            Fault::Hours(meant) => {
                let action = meant
                    .map_or_else(|| "write the duration in minutes".to_owned(), |meant| format!("write `{meant}`"));
                (
                    "but this field does not accept the unit `h`",
                    format!("{action}: the units of this field are `m`, `s` and `ms`"),
                )
            }
            Fault::Days(meant) => {
                ("which is not a duration", format!("write `{meant}`: the units are `h`, `m`, `s` and `ms`"))
            }
            Fault::NoUnit => (
                "which is not a duration",
                format!("add the unit, as in `{text}s`: the units are `h`, `m`, `s` and `ms`"),
            ),
            Fault::Other => (
                "which is not a duration",
                "write numbers with the units `h`, `m`, `s` and `ms`, as in `1h30m`".to_owned(),
            ),
        };
        let path = field.join(".");
        let effect = if has_pattern { "the API server rejects" } else { "its controller cannot read" };
        let message = format!("`spec.{path}` is `{text}`, {why}: {effect} {}", object.reference());
        let help = if has_pattern {
            format!("{help}; Flux applies nothing of the Kustomization that contains the object")
        } else {
            let kind = object.kind();
            format!(
                "{help}; the CRD of this version of Flux has no pattern for durations, so the controller can no longer \
                 list any {kind} of the cluster, and reconciles none"
            )
        };
        let at = applied.by.place(node.span());
        let finding = Finding::error(RULE.id, at, message).help(help).about(object.reference());
        let summary = format!(" objects have a `spec.{path}` of `{text}`, {why}");
        let finding = finding.fixed_at(fix, |span| applied.by.place(span));
        found.push(finding.caused_by(format!("{path} {text}"), "", summary));
    }
}

/// The fault of a duration, with the text that the author probably intended.
enum Fault {
    /// The unit `h` in a field that does not accept it; `None` for a duration with several units or a fraction.
    Hours(Option<String>),
    Days(String),
    NoUnit,
    Other,
}

/// Returns the fault of a duration according to the pattern `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`, which may lack `h`.
fn fault(text: &str, has_hours: bool) -> Option<Fault> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if text.is_empty() {
        return Some(Fault::Other);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = rest.split_at_checked(digits(rest))?;
        if number.is_empty() {
            return Some(Fault::Other);
        }
        let fraction = after.strip_prefix('.').map(|after| (digits(after), after));
        let after = match fraction {
            Some((0, _)) => return Some(Fault::Other),
            Some((length, after)) => after.get(length..)?,
            None => after,
        };
        let unit = ["ms", "s", "m", "h"].into_iter().find(|unit| after.starts_with(unit));
        let multiple =
            |by: u64| (number.len() == text.len() - 1).then(|| number.parse::<u64>().ok()?.checked_mul(by))?;
        match unit {
            Some("h") if !has_hours => {
                return Some(Fault::Hours(multiple(60).map(|minutes| format!("{minutes}m"))));
            }
            Some(unit) => rest = after.strip_prefix(unit)?,
            None if after.is_empty() => return Some(Fault::NoUnit),
            None => {
                let hours = match after {
                    "d" => multiple(24),
                    "w" => multiple(7 * 24),
                    _ => None,
                };
                return Some(hours.map_or(Fault::Other, |hours| Fault::Days(format!("{hours}h"))));
            }
        }
    }
    None
}
