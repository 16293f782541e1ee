//! Findings about deprecated and removed API versions.

use super::uses::{ApiUse, RepositoryUses, Role};
use crate::api::catalog::Releases;
use crate::api::release::{Status, flux_releases, replacement_for};
use crate::base::finding::{Finding, Fix, Safety, Severity};
use crate::kube::version::Version;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::view::View;
use crate::text::Edit;

/// Reports the uses of API versions, removed ones or deprecated ones.
pub(crate) fn report(fleet: &Fleet<'_>, rule: &'static str, found: &mut Findings) {
    let all: Vec<Releases> = fleet.views.iter().map(View::releases).collect();
    let newest = Releases { kubernetes: None, flux: flux_releases().last().map(|release| release.version.clone()) };
    for (one, views) in RepositoryUses::of(fleet).uses {
        let api = one.api;
        let mut reported: Vec<(Finding, Vec<usize>)> = Vec::new();
        for view in views {
            let Some(releases) = all.get(view) else { continue };
            let (status, is_known) = match api.status(releases) {
                Status::Unknown => (api.status(&newest), false),
                known => (known, true),
            };
            let fault = match (status, is_known) {
                (Status::Unknown, _) => {
                    found.unchecked("API versions that a release of Kubernetes removes, since the version is unknown");
                    continue;
                }
                (Status::Removed(since), true) => Fault { since, verb: "removed", severity: one.severity() },
                (Status::Removed(since), false) => match &api.deprecated {
                    Some(since) => Fault { since, verb: "deprecated", severity: Severity::Warning },
                    None => Fault { since, verb: "removed", severity: Severity::Warning },
                },
                (Status::Deprecated(since), _) => Fault { since, verb: "deprecated", severity: Severity::Warning },
                (Status::Served, _) => continue,
            };
            // Without a known release, it is unknown whether the cluster still serves the version.
            let id = if fault.verb == "removed" && is_known { "removed-api" } else { "deprecated-api" };
            if id != rule {
                continue;
            }
            let finding = fault.finding(rule, &one, replacement_for(api, releases));
            match reported.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, views)) => views.push(view),
                None => reported.push((finding, vec![view])),
            }
        }
        for (mut finding, views) in reported {
            let views = views.iter().filter_map(|view| fleet.views.get(*view)).filter(|view| view.is_whole());
            finding.clusters = views.map(|view| view.receiver.to_string().into()).collect();
            found.push(finding);
        }
    }
}

/// The removal or deprecation of an API version.
struct Fault<'a> {
    since: &'a Version,
    verb: &'static str,
    severity: Severity,
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
    fn finding(&self, rule: &'static str, one: &ApiUse, replacement: Option<(String, String)>) -> Finding {
        let api = one.api;
        let release = format!("{} {}.{}", api.product().name(), self.since.major, self.since.minor);
        let (version, verb) = (api.api_version(), self.verb);
        let subject = match &one.object {
            Some(object) if one.role == Role::Object => format!("{object} has"),
            Some(object) => format!("{object} references {} with", api.kind),
            None => format!("a patch references {} with", api.kind),
        };
        let message = format!("{subject} `apiVersion: {version}`, which {release} {verb}");
        let edit = replacement.as_ref().filter(|(_, kind)| *kind == api.kind).and_then(|(new, _)| one.edit(new));
        let fix = edit.map(|edit| Fix { edits: vec![edit], safety: Safety::Safe });
        let help = match replacement {
            Some((new, kind)) if kind == api.kind => format!("set `apiVersion: {new}`"),
            Some((new, kind)) => format!("use {kind} of `{new}`"),
            None => format!("remove it: {release} has no replacement"),
        };
        let help = match &api.removed {
            Some(removed) if verb == "deprecated" => {
                let (product, Version { major, minor, .. }) = (api.product().name(), removed);
                format!("{help}; {product} {major}.{minor} removes the old version")
            }
            _ => help,
        };
        let after = format!(" places use `{version}` of {}, which {release} {verb}", api.kind);
        let finding = Finding { severity: self.severity, ..Finding::error(rule, one.at.clone(), message) };
        let finding = finding.help(help).fixed_by(fix).caused_by(format!("{} {version}", api.kind), "", after);
        match &one.object {
            Some(object) => finding.about(object.clone()),
            None => finding,
        }
    }
}
