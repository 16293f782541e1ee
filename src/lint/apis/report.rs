//! Findings about deprecated and removed API versions.

use crate::api::catalog::Releases;
use crate::api::release::{Status, flux_releases, replacement_for};
use crate::base::finding::{Finding, Fix, Safety, Severity};
use crate::kube::version::Version;
use crate::lint::api_uses::{ApiUse, RepositoryUses, Role};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::view::View;
use crate::text::{Edit, Index};

/// Reports the uses of API versions, removed ones or deprecated ones.
pub(crate) fn report(fleet: &Fleet<'_>, uses: &RepositoryUses, rule: &'static str, found: &mut Findings) {
    // Most clusters have the same releases.
    let mut numbers: Index<Releases, usize> = Index::default();
    let mut distinct: Vec<Releases> = Vec::new();
    let number = |view: &View<'_>| {
        let releases = view.releases();
        *numbers.entry_or(releases.clone(), || {
            distinct.push(releases);
            distinct.len() - 1
        })
    };
    let of_view: Vec<usize> = fleet.views.iter().map(number).collect();
    let newest = Releases { kubernetes: None, flux: flux_releases().last().map(|release| release.version.clone()) };
    for (one, views) in &uses.uses {
        let mut reported: Vec<(Finding, Vec<usize>)> = Vec::new();
        let mut answers: Index<usize, Answer> = Index::default();
        for view in views {
            let Some((number, releases)) = of_view.get(*view).and_then(|at| Some((*at, distinct.get(*at)?))) else {
                continue;
            };
            let answer = *answers.entry_or(number, || match judge(one, releases, &newest) {
                Err(Unjudged) => Answer::Unjudged,
                Ok(Some(fault)) if fault.rule() == rule => {
                    let finding = fault.finding(one, replacement_for(one.api, releases));
                    let at = reported.iter().position(|(known, _)| *known == finding);
                    Answer::Reported(at.unwrap_or_else(|| {
                        reported.push((finding, Vec::new()));
                        reported.len() - 1
                    }))
                }
                Ok(_) => Answer::Nothing,
            });
            match answer {
                Answer::Nothing => {}
                Answer::Unjudged => {
                    found.unchecked("API versions that a release of Kubernetes removes, since the version is unknown");
                }
                Answer::Reported(at) => reported.iter_mut().skip(at).take(1).for_each(|(_, views)| views.push(*view)),
            }
        }
        for (mut finding, views) in reported {
            let views = views.iter().filter_map(|view| fleet.views.get(*view)).filter(|view| view.is_whole());
            finding.clusters = views.map(|view| view.receiver.to_string().into()).collect();
            found.push(finding);
        }
    }
}

/// The result for clusters with the same releases.
#[derive(Clone, Copy)]
enum Answer {
    Nothing,
    /// The release is unknown.
    Unjudged,
    /// The position of the finding.
    Reported(usize),
}

/// The release of Kubernetes is unknown.
struct Unjudged;

/// The fault of a version on clusters with some releases.
fn judge(one: &ApiUse, releases: &Releases, newest: &Releases) -> Result<Option<Fault<'static>>, Unjudged> {
    let api = one.api;
    let (status, is_known) = match api.status(releases) {
        Status::Unknown => (api.status(newest), false),
        known => (known, true),
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
    Ok(Some(Fault { since, verb, severity, is_known }))
}

/// The removal or deprecation of an API version.
struct Fault<'a> {
    since: &'a Version,
    verb: &'static str,
    severity: Severity,
    /// Whether the release of the cluster is known.
    is_known: bool,
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
        if self.verb == "removed" && self.is_known { "removed-api" } else { "deprecated-api" }
    }

    fn finding(&self, one: &ApiUse, replacement: Option<(String, String)>) -> Finding {
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
        let replacement_of_all = replacement.as_ref().filter(|(_, kind)| *kind == api.kind).map(|(new, _)| new.clone());
        let fix = edit.map(|edit| Fix { edits: vec![edit], safety: Safety::Safe });
        let help = match replacement {
            Some((new, kind)) if kind == api.kind => format!("set `apiVersion: {new}`"),
            Some((new, kind)) => format!("use {kind} of `{new}`"),
            None => match (&api.replacement, &api.replacement_since) {
                (Some(new), Some(later)) => {
                    let product = api.product().name();
                    format!(
                        "upgrade {product} to {}.{} or later, then set `apiVersion: {new}`",
                        later.major, later.minor
                    )
                }
                _ => format!("remove it: {release} has no replacement"),
            },
        };
        let help = match &api.removed {
            Some(removed) if verb == "deprecated" => {
                let (product, Version { major, minor, .. }) = (api.product().name(), removed);
                format!("{help}; {product} {major}.{minor} removes the old version")
            }
            _ => help,
        };
        // The kinds of one version have one replacement, but Flux often deprecated them in different releases.
        let (key, after) = match &replacement_of_all {
            Some(new) if verb == "deprecated" => {
                (format!("{version} {new} {:?}", api.removed), format!(" places use `{version}`, which is deprecated"))
            }
            Some(new) => {
                (format!("{version} {new} {release}"), format!(" places use `{version}`, which {release} {verb}"))
            }
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
