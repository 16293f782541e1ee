//! The search for referenced objects that are missing on a cluster, with a suggestion of the intended object.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::failed_appliers::FailedAppliers;
use super::missing_object::{Elsewhere, Missing, Mistake, written_name};
use super::on_cluster::Presence;
use super::own_inputs::unknown_producer;
use super::program_folders::ProgramFolders;
use crate::base::similar_names::{MIN_WORD, did_you_mean, is_almost};
use crate::flux::{Applied, COPY_FROM, State};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::facts::written_objects::ReceivedObject;
use crate::lint::findings::Findings;
use crate::lint::view::View;
use crate::text::{folder_of, is_inside};

/// The maximum number of missing objects of a cluster for which the search makes a suggestion.
const MAX_SUGGESTIONS: usize = 50;

/// A search for missing objects on a cluster, which caches its answers.
pub(crate) struct MissingSearch<'v, 'a> {
    view: &'v View<'a>,
    known: BTreeMap<ObjectId<'a>, Answer<'a>>,
    suggestions: usize,
    /// The directories of the appliers that are built.
    built: OnceCell<BTreeSet<&'a str>>,
    failed: FailedAppliers<'v, 'a>,
    program_folders: OnceCell<ProgramFolders<'a>>,
}

/// The answer of a search, without regard to the object that needs the wanted object.
#[derive(Clone, Copy)]
enum Answer<'a> {
    Exists,
    Missing(Missing<'a>),
    /// An unknown producer may create the object.
    Possible(Missing<'a>),
    /// It is unknown whether the cluster has the object.
    Unknown,
}

impl<'v, 'a> MissingSearch<'v, 'a> {
    pub(crate) fn on(view: &'v View<'a>) -> Self {
        Self {
            view,
            known: BTreeMap::new(),
            suggestions: 0,
            built: OnceCell::new(),
            failed: FailedAppliers::of(view),
            program_folders: OnceCell::new(),
        }
    }

    /// Returns the wanted object, with a suggestion, if the object is certainly missing.
    ///
    /// `needed_by` is the object that needs `wanted`, if Flux does not apply that object or its contents before `wanted`
    /// exists. The search counts an object that an unknown producer may create as unchecked.
    pub(crate) fn missing(
        &mut self,
        wanted: ObjectId<'a>,
        needed_by: Option<&Object>,
        found: &mut Findings,
    ) -> Option<Missing<'a>> {
        let view = self.view;
        if !self.known.contains_key(&wanted) {
            let answer = self.search(wanted, found);
            self.known.insert(wanted, answer);
        }
        match *self.known.get(&wanted)? {
            Answer::Exists | Answer::Unknown => None,
            Answer::Missing(missing) => Some(missing.for_user(needed_by)),
            Answer::Possible(missing) => {
                let is_related = |producer: &Producer<'_>| !producer.is_unrelated(wanted);
                if let Some(source) = unknown_producer(view, wanted, needed_by, is_related) {
                    found.unchecked(format!("{wanted}, which {source} may create"));
                    return None;
                }
                let is_uncertain =
                    missing.is_uncertain || unknown_producer(view, wanted, needed_by, |_| true).is_some();
                Some(Missing { is_uncertain, ..missing }.for_user(needed_by))
            }
        }
    }

    fn search(&mut self, wanted: ObjectId<'a>, found: &mut Findings) -> Answer<'a> {
        let view = self.view;
        if !view.is_whole() || !wanted.is_known() {
            return Answer::Unknown;
        }
        if view.receiver.target.is_some() {
            return self.search_on_remote(wanted, found);
        }
        let presence = view.presence(wanted.group, wanted.kind, wanted.namespace, wanted.name);
        let is_open = matches!(presence, Presence::Missing | Presence::Unknown(_));
        if is_open && view.written.is_prepared(wanted) {
            found.unchecked(format!("{wanted}, which a FluxInstance that the cluster does not receive yet may create"));
            return Answer::Unknown;
        }
        if let Some(role) = is_open.then(|| view.role_of_writer(wanted)).flatten() {
            found.unchecked(format!("{wanted}, which {} may create", UnknownSource::Account(role.object.reference())));
            return Answer::Unknown;
        }
        if let Some(program) = is_open.then(|| self.applied_by_program(wanted)).flatten() {
            found.unchecked(format!("{wanted}, which {program} may create"));
            return Answer::Unknown;
        }
        if let Some(failed) = is_open.then(|| self.failed.applier_of(wanted)).flatten() {
            found.unchecked(format!("{wanted}, which {failed} would create if it did not fail"));
            return Answer::Missing(Missing {
                wanted,
                suggestion: None,
                also_referenced: None,
                is_ambiguous: false,
                elsewhere: None,
                received: None,
                failed: Some(failed),
                is_uncertain: false,
                may_be_by_hand: false,
            });
        }
        match presence {
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => Answer::Exists,
            Presence::Missing => Answer::Missing(self.explained(wanted)),
            Presence::Unknown(UnknownSource::NoRoot | UnknownSource::VariableInName) => Answer::Unknown,
            Presence::Unknown(
                source @ (UnknownSource::Controller(_) | UnknownSource::Program(_) | UnknownSource::OtherRepository),
            ) => {
                found.unchecked(format!("{wanted}, which {source} may create"));
                Answer::Unknown
            }
            Presence::Unknown(_) => {
                let missing = self.explained(wanted);
                let is_unrelated = |one: &Producer<'_>| one.is_chart() && !one.refers_to(wanted.name);
                let is_mistake = wanted.is_flux()
                    && view.unknown_sources().of(wanted).all(is_unrelated)
                    && missing
                        .suggestion
                        .is_some_and(|(mistake, near)| mistake != Mistake::Name || is_typing_error(wanted, &near));
                let has_old_hash = matches!(missing.suggestion, Some((Mistake::OldHash, _)));
                if is_mistake || has_old_hash {
                    Answer::Missing(missing)
                } else if self.lacks_namespace(wanted, &missing) || stem_of(wanted).is_some() {
                    Answer::Missing(Missing { is_uncertain: true, ..missing })
                } else {
                    Answer::Possible(missing)
                }
            }
        }
    }

    /// Returns whether a reference to a source probably lacks the namespace of the only source with this name, although
    /// appliers are not built: they apply neither the namespace of the reference nor that source.
    fn lacks_namespace(&self, wanted: ObjectId<'a>, missing: &Missing<'a>) -> bool {
        let view = self.view;
        let Some((Mistake::Namespace, near)) = missing.suggestion.filter(|_| !missing.is_ambiguous) else {
            return false;
        };
        let is_elsewhere = |producer: &Producer<'_>| match producer.source {
            UnknownSource::NotBuilt(..) => producer.at != Some(near.by.at),
            _ => producer.is_chart() && !producer.refers_to(wanted.name),
        };
        wanted.group == groups::SOURCE
            && view.find("", "Namespace", "", wanted.namespace).is_some()
            && view.unknown_sources().of(wanted).all(is_elsewhere)
    }

    /// Searches an object on a remote cluster. Its other objects are not known, so only a typing error is certain.
    fn search_on_remote(&mut self, wanted: ObjectId<'a>, found: &mut Findings) -> Answer<'a> {
        let ObjectId { group, kind, namespace, name } = wanted;
        let presence = self.view.presence(group, kind, namespace, name);
        if !matches!(presence, Presence::Missing | Presence::Unknown(_)) {
            return Answer::Exists;
        }
        let is_typed =
            |(mistake, near): &(Mistake, Applied<'a>)| *mistake == Mistake::Name && is_typing_error(wanted, near);
        if let Some(suggestion) = self.suggestion(wanted).filter(is_typed) {
            return Answer::Missing(Missing {
                wanted,
                suggestion: Some(suggestion),
                also_referenced: None,
                is_ambiguous: false,
                elsewhere: None,
                received: None,
                failed: None,
                is_uncertain: true,
                may_be_by_hand: false,
            });
        }
        found.unchecked(format!("{wanted}, which another program may create on the remote cluster"));
        Answer::Unknown
    }

    /// Returns the program that applies the directory of an object, or a Kustomization for this directory, if no cluster
    /// reaches both.
    fn applied_by_program(&self, wanted: ObjectId<'a>) -> Option<UnknownSource> {
        let object = self.view.written.find_unreached(wanted)?;
        let path = written_position(object).1;
        let folder = folder_of(path);
        let programs = self.view.before_flux.programs;
        if let Some(program) = programs.applier_of_file(path) {
            return Some(UnknownSource::Program(program.into()));
        }
        let program = self.program_folders.get_or_init(|| ProgramFolders::on(self.view)).program_of(folder);
        // The build of an applier decides which objects of its directory the cluster receives.
        let is_applied =
            |path: &str| self.view.receiver.cluster.appliers.iter().any(|applier| &*applier.folder == path);
        let template = || {
            let mut templates = programs.template_paths();
            templates.find(|(path, _)| is_inside(folder, path) && !is_applied(path)).map(|(_, file)| file)
        };
        let program = program.or_else(template)?;
        Some(UnknownSource::Program(program.into()))
    }

    fn explained(&mut self, wanted: ObjectId<'a>) -> Missing<'a> {
        let suggestion = self.suggestion(wanted);
        // A file that defines the object itself is a better explanation than an object with a similar identity.
        let is_similar = |(mistake, _): &(Mistake, Applied<'_>)| matches!(mistake, Mistake::Name | Mistake::Namespace);
        let elsewhere = if suggestion.as_ref().is_none_or(is_similar) { self.elsewhere(wanted) } else { None };
        let suggestion = suggestion.filter(|_| elsewhere.is_none());
        let is_ambiguous = matches!(suggestion, Some((Mistake::Namespace, _))) && {
            let ObjectId { group, kind, name, .. } = wanted;
            let alike = self.view.of_kind(group, kind).filter(|found| found.object.name() == name);
            let namespaces: BTreeSet<&str> = alike.filter_map(|found| found.object.namespace()).collect();
            namespaces.len() > 1
        };
        let is_unexplained = suggestion.is_none() && elsewhere.is_none();
        let received = if is_unexplained { self.view.written.received(wanted) } else { None };
        let is_typed =
            |(mistake, near): &(Mistake, Applied<'_>)| *mistake != Mistake::Name || is_typing_error(wanted, near);
        let may_be_by_hand = !suggestion.as_ref().is_some_and(is_typed) && self.view.may_be_by_hand(wanted);
        // Both roots may belong to one cluster, since a user applies a Kustomization that applies itself.
        let applies_itself = |received: &ReceivedObject<'_>| {
            received.applier.is_some_and(|applier| *applier == received.object.reference())
        };
        Missing {
            wanted,
            suggestion,
            also_referenced: None,
            is_ambiguous,
            elsewhere,
            received,
            failed: None,
            is_uncertain: received.as_ref().is_some_and(applies_itself),
            may_be_by_hand,
        }
    }

    /// Returns the object in a directory that the cluster does not apply.
    fn elsewhere(&self, wanted: ObjectId<'a>) -> Option<Elsewhere<'a>> {
        let written = &self.view.written;
        // Another kustomization, or the applier, may set the namespace.
        let without_namespace = || written.find_unreached(ObjectId { namespace: "", ..wanted });
        let object = written.find_unreached(wanted).or_else(without_namespace)?;
        let folder = folder_of(written_position(object).1);
        let built = self.built.get_or_init(|| {
            let built = self.view.appliers().filter(|applier| applier.state == State::Built);
            built.map(|applier| &*applier.folder).collect()
        });
        let above = || {
            let above = std::iter::successors(Some(folder), |folder| Some(folder_of(folder)));
            above.take_while(|folder| !folder.is_empty())
        };
        let applied = above().find(|folder| built.contains(folder));
        let reached = self.view.written.reached();
        let inside = above().take_while(|folder| applied.is_some_and(|applied| is_inside(folder, applied)));
        let is_read = |folder: &&str| built.contains(folder) || reached.nearest(folder) == Some(*folder);
        // A kustomization outside of the applied directories may include the directory of the file.
        let mut read = std::iter::once(folder).chain(inside).filter(is_read);
        let reader = read.find_map(|folder| Some((folder, self.view.written.kustomization_in(folder)?)));
        let is_read = reader.is_some_and(|(reader, _)| reader == folder);
        let is_listable = !is_read && self.view.written.kustomization_in(folder).is_some();
        // The directory above may list this directory, without being listed itself.
        let next = |folder: &&'a str| {
            let above = folder_of(folder);
            let is_outer = !folder.is_empty() && reader.is_none_or(|(reader, _)| reader != above);
            (is_outer && written.lists(above, folder)).then_some(above)
        };
        let top = std::iter::successors(Some(folder).filter(|_| is_listable), next).last().unwrap_or(folder);
        let is_switched_off = written.is_switched_off(top);
        Some(Elsewhere { object, is_inside: applied.is_some(), is_listable, reader, top, is_switched_off })
    }

    /// Returns the existing object that the author of a reference probably intended.
    fn suggestion(&mut self, wanted: ObjectId<'a>) -> Option<(Mistake, Applied<'a>)> {
        self.suggestions += 1;
        if self.suggestions > MAX_SUGGESTIONS {
            return None;
        }
        let view = self.view;
        let ObjectId { group, kind, namespace, name } = wanted;
        let alike = || view.of_kind(group, kind);
        // The author does not intend a copy of an object.
        let is_copy =
            |found: &Applied<'a>| found.object.node.at_keys(&["metadata", "annotations", COPY_FROM]).is_some();
        if let Some(found) = alike().find(|found| found.object.name() == name && !is_copy(found)) {
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
        let has_other_hash = |found: &&Applied<'a>| {
            stem_of(wanted).is_some_and(|stem| found.object.name().strip_prefix(stem).is_some_and(is_hash))
        };
        if let Some(found) = near.iter().find(has_other_hash) {
            return Some((Mistake::OldHash, *found));
        }
        if let Some(found) = near.iter().find(|found| written_name(found.object) == Some(name)) {
            return Some((Mistake::Renamed, *found));
        }
        let meant = did_you_mean(name, near.iter().map(|found| found.object.name()))?;
        let found = near.into_iter().find(|found| found.object.name() == meant);
        found.filter(|_| is_almost(name, meant)).map(|found| (Mistake::Name, found))
    }
}

/// Returns whether only manifests define objects of a kind. Operators and users may create objects of other kinds.
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

/// The name of a generated ConfigMap without its hash; `None` if no generator of kustomize made the name. No chart makes such a
/// name. The hash of a Secret may be unknown, since Flux decrypts the files of its generator before the build.
fn stem_of(wanted: ObjectId<'_>) -> Option<&str> {
    let (stem, _) = wanted.name.rsplit_once('-').filter(|_| wanted.kind == "ConfigMap")?;
    let hash = wanted.name.get(stem.len()..)?;
    let is_mixed = hash.contains(|c: char| c.is_ascii_digit()) && hash.contains(|c: char| c.is_ascii_lowercase());
    (is_hash(hash) && is_mixed).then_some(stem)
}

/// Returns whether a name is a misspelling of a similar name.
///
/// The next name in a series, such as `team-b` beside `team-a`, is not a misspelling.
fn is_typing_error(wanted: ObjectId<'_>, near: &Applied<'_>) -> bool {
    let (typed, known) = (wanted.name, near.object.name());
    let word = |text: &str| {
        let same = typed.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
        let start = text.bytes().take(same).rposition(|byte| byte == b'-').map_or(0, |at| at + 1);
        text.bytes().skip(start).take_while(|byte| *byte != b'-').count()
    };
    word(typed) >= MIN_WORD && word(known) >= MIN_WORD
}
