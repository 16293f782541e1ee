//! The search for referenced objects that are missing on a cluster, with a suggestion for what was meant.

use std::collections::BTreeMap;

use super::charts::may_contain_flux;
use super::on_cluster::Presence;
use crate::base::finding::{Finding, did_you_mean};
use crate::flux::Applied;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::refs::dependency::dependencies;
use crate::lint::refs::source_reference::source_of;
use crate::lint::refs::values_reference::values_of;
use crate::lint::view::View;

/// The maximum number of missing objects of a cluster for which a suggestion is searched.
const MAX_SUGGESTIONS: usize = 50;
/// The length from which a word of a name may be a typing error; a shorter one is more likely a number or a stage.
const MIN_WORD: usize = 4;
/// The maximum number of charts that are checked; if there are more, one of them may contain the object.
const MAX_CHARTS: usize = 200;

/// A search for missing objects on a cluster, which remembers its answers.
pub(crate) struct MissingSearch<'v, 'a> {
    view: &'v View<'a>,
    known: BTreeMap<ObjectId<'a>, Option<Missing<'a>>>,
    suggestions: usize,
}

/// A missing object.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    wanted: ObjectId<'a>,
    suggestion: Option<(Mistake, Applied<'a>)>,
}

/// The mistake in a reference, if the intended object exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    Namespace,
    Kind,
    Name,
    /// A generator adds a hash to the name.
    Hash,
}

impl<'v, 'a> MissingSearch<'v, 'a> {
    pub(crate) fn on(view: &'v View<'a>) -> Self {
        Self { view, known: BTreeMap::new(), suggestions: 0 }
    }

    /// Returns an object that the cluster does not receive, if it is certainly missing.
    pub(crate) fn missing(&mut self, wanted: ObjectId<'a>) -> Option<Missing<'a>> {
        if let Some(known) = self.known.get(&wanted) {
            return *known;
        }
        let found = self.search(wanted);
        self.known.insert(wanted, found);
        found
    }

    fn search(&mut self, wanted: ObjectId<'a>) -> Option<Missing<'a>> {
        let view = self.view;
        // The other objects of a remote cluster are not known.
        if view.receiver.target.is_some() || !view.is_whole() || !wanted.is_known() {
            return None;
        }
        match view.presence(wanted.group, wanted.kind, wanted.namespace, wanted.name) {
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => None,
            Presence::Missing => Some(Missing { wanted, suggestion: self.suggestion(wanted) }),
            Presence::Unknown(_) if wanted.namespace.is_empty() => None,
            Presence::Unknown(_) => {
                let releases = view.unknown_sources().only_releases(wanted.namespace)?;
                let mut brought = releases.iter().take(MAX_CHARTS).filter(|release| !waits_for(release, wanted));
                let is_checked = releases.len() <= MAX_CHARTS;
                if wanted.is_flux() {
                    let suggestion = self.suggestion(wanted);
                    let is_mistake = suggestion
                        .is_some_and(|(mistake, near)| mistake != Mistake::Name || is_typing_error(wanted, &near));
                    let mut may_come = || brought.any(|release| may_contain_flux(view, release, wanted.name));
                    return (is_mistake || (is_checked && !may_come())).then_some(Missing { wanted, suggestion });
                }
                (is_checked && brought.next().is_none())
                    .then(|| Missing { wanted, suggestion: self.suggestion(wanted) })
            }
        }
    }

    /// The existing object that a reference probably means.
    fn suggestion(&mut self, wanted: ObjectId<'a>) -> Option<(Mistake, Applied<'a>)> {
        self.suggestions += 1;
        if self.suggestions > MAX_SUGGESTIONS {
            return None;
        }
        let view = self.view;
        let ObjectId { group, kind, namespace, name } = wanted;
        let alike = || view.of_kind(group, kind);
        if let Some(found) = alike().find(|found| found.object.name() == name) {
            return Some((Mistake::Namespace, found));
        }
        if group == groups::SOURCE {
            let kinds = ["GitRepository", "OCIRepository", "HelmRepository", "Bucket"];
            let found = kinds.iter().find_map(|kind| view.find(group, kind, namespace, name));
            if let Some(found) = found {
                return Some((Mistake::Kind, found));
            }
        }
        let near = alike().filter(|found| found.object.namespace().unwrap_or_default() == namespace);
        let near: Vec<Applied<'a>> = near.collect();
        let is_generated = |found: &&Applied<'a>| found.object.name().strip_prefix(name).is_some_and(is_hash);
        if let Some(found) = near.iter().find(is_generated).filter(|_| matches!(kind, "ConfigMap" | "Secret")) {
            return Some((Mistake::Hash, *found));
        }
        let meant = did_you_mean(name, near.iter().map(|found| found.object.name()))?;
        // The names of programs are short and similar.
        let is_near = strsim::damerau_levenshtein(name, meant) * 3 < name.len().max(MIN_WORD);
        let found = near.into_iter().find(|found| found.object.name() == meant);
        found.filter(|_| is_near).map(|found| (Mistake::Name, found))
    }
}

impl Missing<'_> {
    /// Returns whether an existing object is probably meant.
    pub(crate) fn is_mistake(&self) -> bool {
        self.suggestion.is_some()
    }

    /// Adds the fix to a finding; `otherwise` is the help if no similar object exists.
    pub(crate) fn explain(&self, finding: Finding, otherwise: &str) -> Finding {
        let wanted = self.wanted;
        let summary = format!(" places reference {wanted}, which the cluster does not receive");
        let finding = finding.caused_by(wanted.to_string(), "", summary);
        let Some((mistake, near)) = &self.suggestion else { return finding.help(otherwise) };
        let (namespace, name) = (near.object.namespace().unwrap_or_default(), near.object.name());
        let help = match mistake {
            Mistake::Namespace => format!("found in namespace `{namespace}`; set `namespace: {namespace}`, or add one to this namespace"),
            Mistake::Kind => format!("`{namespace}/{name}` has kind {kind}; set `kind: {kind}`", kind = near.object.kind()),
            Mistake::Hash => {
                "the generator adds a hash to the name; set `disableNameSuffixHash: true` there, or let kustomize update \
                 this reference with a `nameReference` in `configurations`"
                    .to_owned()
            }
            Mistake::Name => format!("did you mean `{name}`? Otherwise {otherwise}"),
        };
        finding.help(help).related(near.by.place(near.object.span()), "this object exists")
    }
}

/// Returns whether only manifests create objects of a kind. Operators and users may create objects of other kinds.
pub(crate) fn comes_from_manifests(wanted: ObjectId<'_>) -> bool {
    match (wanted.group, wanted.kind) {
        // A user may create the FluxInstance by hand, and controllers create the other kinds.
        (_, "FluxInstance" | "FluxReport" | "ExternalArtifact" | "HelmChart") => false,
        ("", "ConfigMap" | "Namespace") => true,
        _ => wanted.is_flux(),
    }
}

/// Returns whether the end of a name is a hash that kustomize adds to generated objects.
///
/// Source: `encode` of kustomize's hasher, which writes ten characters of an alphabet without vowels.
fn is_hash(end: &str) -> bool {
    let Some(hash) = end.strip_prefix('-') else { return false };
    hash.len() == 10 && hash.bytes().all(|byte| b"bcdfghkmt2456789".contains(&byte))
}

/// Returns whether a release waits for an object: its own chart cannot contain that object.
fn waits_for(release: &Object, wanted: ObjectId<'_>) -> bool {
    source_of(release).is_some_and(|source| source.target == wanted)
        || dependencies(release).any(|dependency| dependency.target == wanted)
        || values_of(release).any(|values| values.target == wanted && !values.optional)
}

/// Whether a name is a typing error for a similar one, and not the next of a series, such as `team-b` beside `team-a`.
fn is_typing_error(wanted: ObjectId<'_>, near: &Applied<'_>) -> bool {
    let (typed, known) = (wanted.name, near.object.name());
    let word = |text: &str| {
        let same = typed.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
        let start = text.bytes().take(same).rposition(|byte| byte == b'-').map_or(0, |at| at + 1);
        text.bytes().skip(start).take_while(|byte| *byte != b'-').count()
    };
    word(typed) >= MIN_WORD && word(known) >= MIN_WORD
}
