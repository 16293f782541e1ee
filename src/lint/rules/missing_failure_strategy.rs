use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Fix, Label, Safety, Severity};
use crate::kube::{Object, groups};
use crate::lint::fields::mentions;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::yaml::Node;
use crate::yaml::fix;

declare! {
    /// A HelmRelease does not retry a failed install or upgrade.
    ///
    /// ## Why
    ///
    /// Without retries, helm-controller tries once. If an install fails because a webhook or a volume is not yet
    /// available, the release remains failed until the HelmRelease or the chart changes, even if the webhook or the
    /// volume is available soon. All objects that depend on the release also wait.
    ///
    /// `remediation.retries` retries after an uninstall or a rollback. The strategy `RetryOnFailure` retries in place,
    /// without a limit. Flux 2.7 introduced it, for `helm.toolkit.fluxcd.io/v2` only. The rule does not run if
    /// helm-controller retries by default (the feature gate `DefaultToRetryOnFailure`, since Flux 2.8).
    ///
    /// Before each retry, `remediation.retries` rolls an upgrade back and uninstalls an install. With `retries: 0`, the
    /// author decides against that. Therefore, the severity is pedantic from Flux 2.7 on, and the rule does not
    /// report `retries: 0` for older versions.
    ///
    /// ## How to fix it
    ///
    /// From Flux 2.7 on, set `install.strategy.name` and `upgrade.strategy.name` to `RetryOnFailure`. For older
    /// versions, set `remediation.retries` for both.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   install:
    ///     strategy:
    ///       name: RetryOnFailure
    ///   upgrade:
    ///     strategy:
    ///       name: RetryOnFailure
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. The help proposes `RetryOnFailure` for `v2` from Flux 2.7 on, and otherwise
    /// `remediation.retries`.
    ///
    /// ## Source
    ///
    /// [Flux: configuring failure handling](https://fluxcd.io/flux/components/helm/helmreleases/#configuring-failure-handling)
    "missing-failure-strategy", Warning, "a HelmRelease does not retry a failed install or upgrade", Check::Fleet(check),
    fixes: [Unsafe],
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let all: Vec<(Vec<Stuck<'_>>, Findings)> = fleet.of_views(|view, _| stuck_releases(view));
    let mut versions: BTreeMap<(&str, u32), BTreeSet<Option<bool>>> = BTreeMap::new();
    for one in all.iter().flat_map(|(stuck, _)| stuck) {
        versions.entry(one.position()).or_default().insert(one.has_strategy);
    }
    for (view, (stuck, _)) in fleet.views.iter().zip(&all) {
        for one in stuck.iter().filter(|one| !(one.is_decision && one.has_strategy == Some(false))) {
            // One file has one fix, for all clusters that apply the file.
            let has_strategy = match versions.get(&one.position()) {
                Some(versions) if versions.len() > 1 => None,
                _ => one.has_strategy,
            };
            let mut finding = finding(one, has_strategy);
            if view.is_whole() {
                finding.clusters.push(view.receiver.to_string().into());
            }
            found.push(finding);
        }
    }
}

/// A HelmRelease that does not retry.
struct Stuck<'a> {
    release: &'a Object,
    /// The failed actions that Flux does not retry.
    actions: Vec<&'static str>,
    /// Whether the author set `retries: 0`.
    is_decision: bool,
    /// Whether the release supports the field `strategy`; `None` for an unknown version of Flux.
    has_strategy: Option<bool>,
}

impl Stuck<'_> {
    /// The file and the position of the release in the file.
    fn position(&self) -> (&str, u32) {
        let (path, start, _) = self.release.span().order();
        (path, start)
    }
}

/// The HelmReleases of a cluster that do not retry.
fn stuck_releases<'a>(view: &View<'a>) -> Vec<Stuck<'a>> {
    let mut by_default = None;
    let mut found = Vec::new();
    for applied in view.of_kind(groups::HELM, "HelmRelease") {
        let release = applied.object;
        let is_stuck = |action: &str| !retries(release, action) && !applied.completion.mentions(action);
        let mut stuck: Vec<&str> = ["install", "upgrade"].into_iter().filter(|action| is_stuck(action)).collect();
        if stuck.is_empty() || !is_whole(release) {
            continue;
        }
        // The default of the controller applies to actions without a strategy.
        if *by_default.get_or_insert_with(|| retries_by_default(view)) {
            stuck.retain(|action| release.node.at_keys(&["spec", action, "strategy", "name"]).is_some());
            if stuck.is_empty() {
                continue;
            }
        }
        // The author decided against a rollback or an uninstall before each retry.
        let (decided, absent): (Vec<&str>, Vec<&str>) = stuck.iter().partition(|action| is_zero(release, action));
        let is_decision = absent.is_empty();
        let has_strategy = match release.api_version().rsplit('/').next() {
            Some("v2") => view.has_flux(STRATEGY_SINCE),
            _ => Some(false),
        };
        found.push(Stuck { release, actions: if is_decision { decided } else { absent }, is_decision, has_strategy });
    }
    found
}

fn finding(stuck: &Stuck<'_>, has_strategy: Option<bool>) -> Finding {
    let Stuck { release, actions, is_decision, .. } = stuck;
    let words = actions.join(" or ");
    let message = format!("{} does not retry a failed {words}", release.reference());
    let field = actions.iter().find_map(|action| field_of(release, action)).map(|node| node.span().clone().into());
    let absent = if has_strategy == Some(true) { "strategy" } else { "remediation" };
    let without_retries = actions.iter().find_map(|action| {
        let remediation = release.node.at_keys(&["spec", action])?.entry("remediation")?;
        Some(Label::new(remediation.key_span(), "no `retries` here"))
    });
    let field = field.or(without_retries);
    let place = field.unwrap_or_else(|| missing_in_spec(release, &format!("{}.{absent}", actions[0])));
    let help = if *is_decision { remedy_in_place(actions, has_strategy) } else { remedy(actions, has_strategy) };
    let mut finding = Finding::warning(RULE.id, place, message).help(help).about(release.reference());
    if *is_decision {
        finding.severity = Severity::Pedantic;
    }
    // Releases with another API version have another fix.
    let cause = format!("{words} {has_strategy:?} {is_decision}");
    let finding = finding.caused_by(cause, "", format!(" HelmReleases do not retry a failed {words}"));
    let fix = if *is_decision { None } else { retrying(release, actions, has_strategy) };
    finding.fixed_by(fix).related(release.span().clone(), "this HelmRelease")
}

/// The fix that adds the retries of actions.
fn retrying(release: &Object, actions: &[&str], has_strategy: Option<bool>) -> Option<Fix> {
    let spec = release.node.get("spec")?;
    let (field, setting) = match has_strategy {
        Some(true) => ("strategy", "name: RetryOnFailure"),
        Some(false) => ("remediation", "retries: 3"),
        None => return None,
    };
    let mut fixes = Vec::new();
    let mut absent: Vec<String> = Vec::new();
    for action in actions {
        match spec.get(action) {
            None => absent.extend([format!("{action}:"), format!("  {field}:"), format!("    {setting}")]),
            Some(own) if own.get("strategy").is_none() && own.get("remediation").is_none() => {
                fixes.push(fix::add(own, &[], &[&format!("{field}:"), &format!("  {setting}")], Safety::Unsafe)?);
            }
            Some(_) => return None,
        }
    }
    if !absent.is_empty() {
        let lines: Vec<&str> = absent.iter().map(String::as_str).collect();
        fixes.push(fix::add(spec, &["interval", "timeout"], &lines, Safety::Unsafe)?);
    }
    Fix::join(fixes)
}

/// The first release of Flux whose HelmReleases have the field `strategy`.
const STRATEGY_SINCE: (u64, u64) = (2, 7);

/// The fix that the cluster's version of Flux supports, as help for a finding.
fn remedy(stuck: &[&str], has_strategy: Option<bool>) -> String {
    let fields = |field: &str| {
        let fields: Vec<String> = stuck.iter().map(|action| format!("`{action}.{field}`")).collect();
        fields.join(" and ")
    };
    let (strategy, retries) = (fields("strategy.name"), fields("remediation.retries"));
    match has_strategy {
        Some(true) => format!("set {strategy} to `RetryOnFailure`, or set `remediation.retries`"),
        Some(false) => format!("set {retries} to the number of retries"),
        None => format!("set {retries} to the number of retries; from Flux 2.7 on, set {strategy} to `RetryOnFailure`"),
    }
}

/// The fix that keeps `retries: 0`, without a rollback or an uninstall, as help for a finding.
fn remedy_in_place(stuck: &[&str], has_strategy: Option<bool>) -> String {
    let fields: Vec<String> = stuck.iter().map(|action| format!("`{action}.strategy.name`")).collect();
    let since = if has_strategy.is_none() { "from Flux 2.7 on, " } else { "" };
    let fields = fields.join(" and ");
    format!("{since}set {fields} to `RetryOnFailure`, which retries without a rollback or an uninstall")
}

/// Returns whether a release has a chart. An overlay may complete a release without a chart.
fn is_whole(release: &Object) -> bool {
    ["chart", "chartRef"].iter().any(|field| release.node.at_keys(&["spec", field]).is_some())
}

/// Returns whether a release retries an action. The result is `true` for an unknown value.
fn retries(release: &Object, action: &str) -> bool {
    let text = |keys: &[&str]| release.text_at(keys);
    text(&["spec", action, "strategy", "name"]).is_some_and(|name| name != "RemediateOnFailure")
        || text(&["spec", action, "remediation", "retries"]).is_some_and(|retries| retries != "0")
}

/// Returns whether the release sets `retries: 0` for an action.
fn is_zero(release: &Object, action: &str) -> bool {
    release.text_at(&["spec", action, "remediation", "retries"]) == Some("0")
}

/// The field that configures the handling of an action's failures.
fn field_of<'a>(release: &'a Object, action: &str) -> Option<&'a Node> {
    let at = |keys: &[&str]| release.node.at_keys(keys);
    at(&["spec", action, "strategy", "name"]).or_else(|| at(&["spec", action, "remediation", "retries"]))
}

/// Returns whether helm-controller retries by default, because of its arguments or a patch of the FluxInstance.
fn retries_by_default(view: &View<'_>) -> bool {
    let controllers = view.of_kind("apps", "Deployment").filter(|applied| applied.object.name() == "helm-controller");
    let instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    controllers.chain(instances).any(|applied| mentions(&applied.object.node, "DefaultToRetryOnFailure=true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_one_that_the_version_knows() {
        let both = ["install", "upgrade"];
        assert!(
            remedy(&both, Some(true))
                .contains("`install.strategy.name` and `upgrade.strategy.name` to `RetryOnFailure`")
        );
        assert!(!remedy(&both, Some(false)).contains("RetryOnFailure"));
        assert!(remedy(&["upgrade"], None).contains("`upgrade.remediation.retries`"));
        assert!(remedy(&["upgrade"], None).contains("from Flux 2.7"));
    }
}
