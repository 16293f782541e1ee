//! Findings about deprecated and removed API versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::catalog::{Catalog, Definition, Releases};
use crate::api::release::{Api, Status, flux_releases, replacement_for};
use crate::base::finding::{Finding, Fix, Safety, Severity};
use crate::kube::version::{Version, api_version_order};
use crate::lint::api_uses::{ApiUse, RepositoryUses, Role};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::view::View;
use crate::text::{Edit, Index};

/// The rule for versions that the release of a cluster removed.
const REMOVED: &str = "removed-api";

/// Reports the uses of API versions, removed ones or deprecated ones.
pub(crate) fn report<'v>(fleet: &'v Fleet<'_>, uses: &RepositoryUses, rule: &'static str, found: &mut Findings) {
    if uses.uses.is_empty() {
        return;
    }
    // Most clusters have the same releases and definitions, and so the same catalog.
    let mut numbers: Index<usize, usize> = Index::default();
    let mut distinct: Vec<&Catalog> = Vec::new();
    let number = |view: &'v View<'_>| {
        let catalog = view.catalog();
        *numbers.entry_or(Arc::as_ptr(catalog).addr(), || {
            distinct.push(catalog);
            distinct.len() - 1
        })
    };
    let of_view: Vec<usize> = fleet.views.iter().map(number).collect();
    let newest = Releases { kubernetes: None, flux: flux_releases().last().map(|release| release.version.clone()) };
    for (one, views) in &uses.uses {
        let mut alike: BTreeMap<usize, Vec<&View<'_>>> = BTreeMap::new();
        for view in views {
            let (Some(number), Some(view)) = (of_view.get(*view), fleet.views.get(*view)) else { continue };
            alike.entry(*number).or_default().push(view);
        }
        let known: Vec<(&Catalog, Vec<&View<'_>>)> =
            alike.into_iter().filter_map(|(number, views)| Some((*distinct.get(number)?, views))).collect();
        let mut faults: Vec<(Fault<'_>, &[&View<'_>])> = Vec::new();
        for (catalog, views) in &known {
            match judge(one, catalog, &newest) {
                Ok(fault) => faults.extend(fault.map(|fault| (fault, views.as_slice()))),
                Err(Unjudged) => views.iter().for_each(|_| {
                    found.unchecked("API versions that a release of Kubernetes removes, since the version is unknown");
                }),
            }
        }
        // One edit corrects the place for all clusters. The finding about the removed version proposes it.
        if rule != REMOVED && faults.iter().any(|(fault, _)| fault.rule() == REMOVED) {
            continue;
        }
        let mut reported: Vec<(Finding, Vec<&View<'_>>)> = Vec::new();
        let mut behind: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (fault, views) in faults.iter().filter(|(fault, _)| fault.rule() == rule) {
            // The clusters of a patch are not known. Its base has a finding with the clusters that receive the object.
            let new_version = fault.new_version(one.api).filter(|_| one.object.is_some());
            let behind = new_version.and_then(|new| {
                let search = || cluster_without(new, one.api, &known);
                behind.entry(new.to_owned()).or_insert_with(search).as_deref()
            });
            let finding = fault.finding(one, behind);
            match reported.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, of)) => of.extend(*views),
                None => reported.push((finding, views.to_vec())),
            }
        }
        for (mut finding, views) in reported {
            let views = views.iter().filter(|view| view.is_whole());
            finding.clusters = views.map(|view| view.receiver.to_string().into()).collect();
            found.push(finding);
        }
    }
}

/// The first cluster that does not serve the replacement of a version.
fn cluster_without(new: &str, api: &Api, known: &[(&Catalog, Vec<&View<'_>>)]) -> Option<String> {
    let name = new.rsplit('/').next().unwrap_or(new);
    let is_older = |(version, _): (String, String)| {
        api_version_order(version.rsplit('/').next().unwrap_or(&version), name).is_lt()
    };
    let lacks = |catalog: &Catalog| match catalog.received(&api.group, &api.kind) {
        Some(definition) => definition.served(name).is_none(),
        None => replacement_for(api, catalog.releases()).is_none_or(is_older),
    };
    let mut behind = known.iter().filter(|(catalog, _)| lacks(catalog)).flat_map(|(_, views)| views);
    behind.find(|view| view.is_whole()).map(|view| view.receiver.to_string())
}

/// The release of Kubernetes is unknown.
struct Unjudged;

/// The fault of a version on clusters with some releases and definitions.
fn judge(one: &ApiUse, catalog: &Catalog, newest: &Releases) -> Result<Option<Fault<'static>>, Unjudged> {
    let api = one.api;
    let releases = catalog.releases();
    // The definition that a cluster receives decides, not the release of the controllers.
    let definition = catalog.received(&api.group, &api.kind);
    let is_served = definition.is_some_and(|definition| definition.served(&api.version).is_some());
    let replacement = match definition {
        Some(definition) => replacement_in(definition, api, releases),
        None => replacement_for(api, releases),
    };
    if is_served && replacement.is_none() {
        return Ok(None);
    }
    let (status, is_known) = match api.status(releases) {
        Status::Unknown => (api.status(newest), false),
        known => (known, !is_served),
    };
    let (since, verb, severity) = match (status, is_known) {
        (Status::Unknown, _) => return Err(Unjudged),
        (Status::Removed(since), true) => (since, "removed", one.severity()),
        (Status::Removed(since), false) => match &api.deprecated {
            Some(since) => (since, "deprecated", Severity::Warning),
            None => (since, "removed", Severity::Warning),
        },
        (Status::Deprecated(since), _) => (since, "deprecated", Severity::Warning),
        (Status::Served, _) => return Ok(None),
    };
    // Without both, the release of the cluster may be too old for the replacement.
    let is_certain = definition.is_some() || !matches!(api.status(releases), Status::Unknown);
    let safety = if is_certain { Safety::Safe } else { Safety::Unsafe };
    Ok(Some(Fault { since, verb, severity, is_known, replacement, safety }))
}

/// The replacement of a version that a definition serves: the usual one, or else the newest later version.
fn replacement_in(definition: &Definition, api: &Api, releases: &Releases) -> Option<(String, String)> {
    let usual = replacement_for(api, releases);
    let is_served = |text: &str| text.split_once('/').is_some_and(|(_, name)| definition.served(name).is_some());
    if usual.as_ref().is_none_or(|(version, kind)| *kind != api.kind || is_served(version)) {
        return usual;
    }
    let later = definition.versions.iter().filter(|version| version.served && !version.deprecated);
    let later = later.filter(|version| api_version_order(&version.name, &api.version).is_gt());
    let newest = later.max_by(|one, other| api_version_order(&one.name, &other.name))?;
    Some((format!("{}/{}", api.group, newest.name), api.kind.clone()))
}

/// The removal or deprecation of an API version.
struct Fault<'a> {
    since: &'a Version,
    verb: &'static str,
    severity: Severity,
    /// Whether the release of the cluster is known, and no definition contradicts it.
    is_known: bool,
    /// The `apiVersion` and the kind that replace it on the cluster.
    replacement: Option<(String, String)>,
    /// Whether the cluster certainly serves the replacement.
    safety: Safety,
}

impl ApiUse {
    /// The edit of the version in a file of the repository; `None` if the text is not there, such as that of a variable.
    pub(crate) fn edit(&self, new: &str) -> Option<Edit> {
        let (api, written) = (self.api, self.at.text());
        let bare = written.trim_matches(['"', '\'']);
        let (group, version) = new.split_once('/').unwrap_or(("", new));
        let text = if bare == api.api_version() {
            new
        } else if bare == api.version && group == api.group {
            version
        } else {
            return None;
        };
        // A file of a copy is not a file of the repository.
        self.at.file().root().is_none().then(|| Edit { span: self.at.clone(), text: written.replace(bare, text) })
    }

    fn severity(&self) -> Severity {
        if self.role == Role::Mention { Severity::Warning } else { Severity::Error }
    }
}

impl Fault<'_> {
    /// The rule. Without a known release, it is unknown whether the cluster still serves the version.
    fn rule(&self) -> &'static str {
        if self.verb == "removed" && self.is_known { REMOVED } else { "deprecated-api" }
    }

    /// The `apiVersion` that replaces the version of the kind.
    fn new_version(&self, api: &Api) -> Option<&str> {
        self.replacement.as_ref().filter(|(_, kind)| *kind == api.kind).map(|(new, _)| new.as_str())
    }

    /// The finding. `behind` is a cluster that also receives the object, and does not serve the replacement.
    fn finding(&self, one: &ApiUse, behind: Option<&str>) -> Finding {
        let (api, replacement) = (one.api, &self.replacement);
        let release = format!("{} {}.{}", api.product().name(), self.since.major, self.since.minor);
        let (version, verb) = (api.api_version(), self.verb);
        let subject = match &one.object {
            Some(object) if one.role == Role::Object => format!("{object} has"),
            Some(object) => format!("{object} references {} with", api.kind),
            None => format!("a patch references {} with", api.kind),
        };
        let message = format!("{subject} `apiVersion: {version}`, which {release} {verb}");
        let edit = self.new_version(api).filter(|_| behind.is_none()).and_then(|new| one.edit(new));
        let replacement_of_all = self.new_version(api);
        let fix = edit.map(|edit| Fix { edits: vec![edit], safety: self.safety });
        let product = api.product().name();
        let help = match replacement {
            Some((new, kind)) if *kind == api.kind => match behind {
                Some(behind) => format!(
                    "upgrade {product} of cluster `{behind}`, which receives the object too, then set `apiVersion: {new}`"
                ),
                None => format!("set `apiVersion: {new}`"),
            },
            Some((new, kind)) => format!("use {kind} of `{new}`"),
            None => match (&api.replacement, &api.replacement_since) {
                (Some(new), Some(later)) => format!(
                    "upgrade {product} to {}.{} or later, then set `apiVersion: {new}`",
                    later.major, later.minor
                ),
                _ => format!("remove it: {release} has no replacement"),
            },
        };
        let help = match &api.removed {
            Some(removed) if verb == "deprecated" => {
                let Version { major, minor, .. } = removed;
                format!("{help}; {product} {major}.{minor} removes the old version")
            }
            _ => help,
        };
        // The kinds of one version have one replacement, but Flux often deprecated them in different releases.
        let (key, after) = match &replacement_of_all {
            Some(new) if verb == "deprecated" => (
                format!("{version} {new} {:?} {behind:?}", api.removed),
                format!(" places use `{version}`, which is deprecated"),
            ),
            Some(new) => (
                format!("{version} {new} {release} {behind:?}"),
                format!(" places use `{version}`, which {release} {verb}"),
            ),
            None => (
                format!("{version} {}", api.kind),
                format!(" places use `{version}` of {}, which {release} {verb}", api.kind),
            ),
        };
        let finding = Finding { severity: self.severity, ..Finding::error(self.rule(), one.at.clone(), message) };
        let finding = finding.help(help).fixed_by(fix).caused_by(key, "", after);
        match &one.object {
            Some(object) => finding.about(object.clone()),
            None => finding,
        }
    }
}
