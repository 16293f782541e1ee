//! Whether something that is referred to is missing on a cluster, and what was probably meant.

use std::collections::BTreeMap;

use super::dependency::dependencies;
use super::presence::Presence;
use super::source_reference::source_of;
use super::values_reference::values_of;
use super::wanted::Wanted;
use crate::base::finding::{Finding, did_you_mean};
use crate::flux::Applied;
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::facts::charts::may_bring_flux;
use crate::lint::view::View;

/// For so many missing objects of a cluster it is asked what was meant.
const MAX_MEANT: usize = 50;
/// A word of a name with fewer letters is more likely a number or a stage than mistyped.
const WORD: usize = 4;
/// So many charts are asked whether they may bring something; of more, one may.
const MAX_CHARTS: usize = 200;

/// Finds what is missing on a cluster.
pub(crate) struct Search<'v, 'a> {
    view: &'v View<'a>,
    known: BTreeMap<Wanted<'a>, Option<Missing<'a>>>,
    asked: usize,
}

/// Something that is missing.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    meant: Option<(Slip, Applied<'a>)>,
}

/// What is wrong with a reference to something that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    Namespace,
    Kind,
    Name,
    /// Its generator adds a hash to the name.
    Hash,
}

impl<'v, 'a> Search<'v, 'a> {
    pub(crate) fn on(view: &'v View<'a>) -> Self {
        Self { view, known: BTreeMap::new(), asked: 0 }
    }

    /// Tells whether something is certainly missing that is not received.
    pub(crate) fn missing(&mut self, wanted: Wanted<'a>) -> Option<Missing<'a>> {
        if let Some(known) = self.known.get(&wanted) {
            return *known;
        }
        let found = self.look(wanted);
        self.known.insert(wanted, found);
        found
    }

    fn look(&mut self, wanted: Wanted<'a>) -> Option<Missing<'a>> {
        let view = self.view;
        // What another cluster has beside what is sent there is not known.
        if view.receiver.target.is_some() || !view.is_whole() || !wanted.is_known() {
            return None;
        }
        match view.presence(wanted.group, wanted.kind, wanted.namespace, wanted.name) {
            Presence::Received(_) | Presence::Made(_) | Presence::Given => None,
            Presence::Missing => Some(Missing { meant: self.meant(wanted) }),
            Presence::Unknown(_) if wanted.namespace.is_empty() => None,
            Presence::Unknown(_) => {
                let releases = view.makers().only_releases(wanted.namespace)?;
                let mut brought = releases.iter().take(MAX_CHARTS).filter(|release| !waits_for(release, wanted));
                let is_asked = releases.len() <= MAX_CHARTS;
                if wanted.is_flux() {
                    let meant = self.meant(wanted);
                    let is_slip = meant.is_some_and(|(slip, near)| slip != Slip::Name || is_typing(wanted, &near));
                    let mut may_come = || brought.any(|release| may_bring_flux(view, release, wanted.name));
                    return (is_slip || (is_asked && !may_come())).then_some(Missing { meant });
                }
                (is_asked && brought.next().is_none()).then(|| Missing { meant: self.meant(wanted) })
            }
        }
    }

    /// What was probably meant.
    fn meant(&mut self, wanted: Wanted<'a>) -> Option<(Slip, Applied<'a>)> {
        self.asked += 1;
        if self.asked > MAX_MEANT {
            return None;
        }
        let view = self.view;
        let Wanted { group, kind, namespace, name } = wanted;
        let alike = || view.of_kind(group, kind);
        if let Some(found) = alike().find(|found| found.object.name() == name) {
            return Some((Slip::Namespace, found));
        }
        if group == groups::SOURCE {
            let kinds = ["GitRepository", "OCIRepository", "HelmRepository", "Bucket"];
            let found = kinds.iter().find_map(|kind| view.find(group, kind, namespace, name));
            if let Some(found) = found {
                return Some((Slip::Kind, found));
            }
        }
        let near = alike().filter(|found| found.object.namespace().unwrap_or_default() == namespace);
        let near: Vec<Applied<'a>> = near.collect();
        let is_generated = |found: &&Applied<'a>| found.object.name().strip_prefix(name).is_some_and(is_hash);
        if let Some(found) = near.iter().find(is_generated).filter(|_| matches!(kind, "ConfigMap" | "Secret")) {
            return Some((Slip::Hash, *found));
        }
        let meant = did_you_mean(name, near.iter().map(|found| found.object.name()))?;
        // Names of programs are short and alike.
        let is_near = strsim::damerau_levenshtein(name, meant) * 3 < name.len().max(WORD);
        let found = near.into_iter().find(|found| found.object.name() == meant);
        found.filter(|_| is_near).map(|found| (Slip::Name, found))
    }
}

impl Missing<'_> {
    /// Says in a finding what to do about it; `otherwise` where nothing near is there.
    pub(crate) fn explain(&self, finding: Finding, otherwise: &str) -> Finding {
        let Some((slip, near)) = &self.meant else { return finding.help(otherwise) };
        let (namespace, name) = (near.object.namespace().unwrap_or_default(), near.object.name());
        let help = match slip {
            Slip::Namespace => format!("there is one in namespace `{namespace}`: name that, or bring one here"),
            Slip::Kind => format!("`{namespace}/{name}` is of kind {}: correct the kind", near.object.kind()),
            Slip::Hash => {
                "its generator adds a hash to the name: set `disableNameSuffixHash: true` there, or let kustomize \
                           change this name too by a `nameReference` below `configurations`"
                    .to_owned()
            }
            Slip::Name => format!("did you mean `{name}`? Otherwise {otherwise}"),
        };
        finding.help(help).related(near.by.place(near.object.span()), "this one is there")
    }
}

/// Whether the end of a name is what kustomize adds to what it generates.
///
/// Source: `encode` of kustomize's hasher, whose ten letters are of an alphabet without vowels.
fn is_hash(end: &str) -> bool {
    let Some(hash) = end.strip_prefix('-') else { return false };
    hash.len() == 10 && hash.bytes().all(|byte| b"bcdfghkmt2456789".contains(&byte))
}

/// Tells whether an object waits for another one: its chart cannot bring that.
fn waits_for(release: &Object, wanted: Wanted<'_>) -> bool {
    source_of(release).is_some_and(|source| source.wanted == wanted)
        || dependencies(release).any(|dependency| dependency.wanted == wanted)
        || values_of(release).any(|values| values.wanted == wanted && !values.optional)
}

/// Tells whether a name that is near another one is rather mistyped than the next of a series: `team-b` beside `team-a`.
fn is_typing(wanted: Wanted<'_>, near: &Applied<'_>) -> bool {
    let (typed, known) = (wanted.name, near.object.name());
    let word = |text: &str| {
        let same = typed.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
        let start = text.bytes().take(same).rposition(|byte| byte == b'-').map_or(0, |at| at + 1);
        text.bytes().skip(start).take_while(|byte| *byte != b'-').count()
    };
    word(typed) >= WORD && word(known) >= WORD
}
