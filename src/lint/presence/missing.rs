//! The search for referenced objects that are missing on a cluster, with a suggestion of the intended object.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::failed_appliers::{FailedAppliers, follows_from};
use super::on_cluster::Presence;
use super::own_inputs::unknown_producer;
use super::program_folders::ProgramFolders;
use crate::base::finding::{Finding, Fix, ObjectRef, Safety, Severity};
use crate::base::similar_names::{MIN_WORD, did_you_mean, is_almost};
use crate::flux::{Applied, COPY_FROM, State};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::facts::written_objects::ReceivedObject;
use crate::lint::findings::Findings;
use crate::lint::namespace_change::NamespaceChange;
use crate::lint::refs::dependency::dependencies;
use crate::lint::refs::values_reference::values_of;
use crate::lint::view::View;
use crate::text::{Span, folder_of, is_inside};
use crate::yaml::fix;
use crate::yaml::{Node, Origin};

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

/// A missing object.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    wanted: ObjectId<'a>,
    suggestion: Option<(Mistake, Applied<'a>)>,
    /// Whether several namespaces have an object with the name.
    is_ambiguous: bool,
    elsewhere: Option<Elsewhere<'a>>,
    /// The object on another cluster.
    received: Option<ReceivedObject<'a>>,
    /// The applier that would apply the object, but fails.
    failed: Option<&'a ObjectRef>,
    /// Whether the object may exist: the other objects of the cluster are unknown, since it is remote, or charts with unrelated
    /// names may create the object.
    is_uncertain: bool,
    /// Whether a user may have created the object by hand, like the root of the cluster.
    may_be_by_hand: bool,
}

/// An object of the repository that the cluster does not receive.
#[derive(Clone, Copy)]
struct Elsewhere<'a> {
    object: &'a Object,
    /// Whether a directory around the object's file is the path of an applier.
    is_inside: bool,
    /// Whether the directory of the object's file has a kustomization file, so that other kustomizations can list it.
    is_listable: bool,
    /// The nearest kustomization file that the cluster reads: its directory and its name.
    reader: Option<(&'a str, &'static str)>,
}

/// The mistake in a reference, if the intended object exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    Namespace,
    Kind,
    Name,
    /// A generator adds a hash to the name, but the reference does not have the hash.
    Hash,
    /// kustomize renames the object, but does not update the reference.
    Renamed,
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
                if is_mistake {
                    Answer::Missing(missing)
                } else if self.lacks_namespace(wanted, &missing) {
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
        let mut read = inside.filter(|folder| built.contains(folder) || reached.nearest(folder) == Some(*folder));
        let reader = read.find_map(|folder| Some((folder, self.view.written.kustomization_in(folder)?)));
        let is_read = reader.is_some_and(|(reader, _)| reader == folder);
        let is_listable = !is_read && self.view.written.kustomization_in(folder).is_some();
        Some(Elsewhere { object, is_inside: applied.is_some(), is_listable, reader })
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
        if let Some(found) = near.iter().find(|found| written_name(found.object) == Some(name)) {
            return Some((Mistake::Renamed, *found));
        }
        let meant = did_you_mean(name, near.iter().map(|found| found.object.name()))?;
        let found = near.into_iter().find(|found| found.object.name() == meant);
        found.filter(|_| is_almost(name, meant)).map(|found| (Mistake::Name, found))
    }
}

impl Elsewhere<'_> {
    /// The help for some files of a directory.
    fn remedy(&self, files: &str, folder: &str) -> String {
        let listed = if self.is_listable { format!("`{folder}`") } else { files.to_owned() };
        let what = match self.reader {
            Some((reader, name)) => {
                format!("list {listed} in `{reader}/{name}`, or apply `{folder}` with a Kustomization")
            }
            // Flux generates the kustomization, so no file can list the directory.
            None if self.is_inside => format!("apply `{folder}` with a Kustomization"),
            None => format!(
                "list {listed} in a kustomization.yaml that the cluster reads, or apply `{folder}` with a Kustomization"
            ),
        };
        format!("{what}: the cluster does not receive the objects of this directory")
    }
}

impl Missing<'_> {
    /// The answer for an object that needs the missing object.
    ///
    /// If the object also references the suggested object, the author did not confuse the two names.
    fn for_user(mut self, user: Option<&Object>) -> Self {
        let is_referenced = |near: &Applied<'_>| {
            let near = ObjectId::of(near.object);
            user.is_some_and(|user| {
                values_of(user).any(|values| values.target == near)
                    || dependencies(user).any(|dependency| dependency.target == near)
            })
        };
        self.suggestion = self.suggestion.filter(|(mistake, near)| *mistake != Mistake::Name || !is_referenced(near));
        self
    }

    /// Returns whether the repository contains the object, in a directory that the cluster does not apply.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Returns whether the object may exist although it is not found.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.is_uncertain
    }

    /// Returns whether the author of the reference probably intended an existing object.
    pub(crate) fn is_mistake(&self) -> bool {
        self.suggestion.is_some()
    }

    /// Returns whether the intended object certainly exists under another identity.
    pub(crate) fn is_certain_mistake(&self) -> bool {
        matches!(self.suggestion, Some((mistake, _)) if mistake != Mistake::Name)
    }

    /// The fix that corrects the name of a reference, if one object has a similar name.
    pub(crate) fn fix(&self, name: &Node) -> Option<Fix> {
        let (mistake, near) = self.suggestion.as_ref().filter(|_| self.elsewhere.is_none())?;
        let safety = match mistake {
            Mistake::Renamed => Safety::Safe,
            Mistake::Name => Safety::Unsafe,
            Mistake::Namespace | Mistake::Kind | Mistake::Hash => return None,
        };
        fix::replace(name, near.object.name(), safety)
    }

    /// Adds the cause and the fix to a finding about a reference of `user`.
    ///
    /// If a kustomization moves the user or the intended object out of the namespace of its file, the finding names the
    /// line.
    pub(crate) fn explain_to(&self, user: &Applied<'_>, finding: Finding, otherwise: &str) -> Finding {
        let mut finding = self.explain(finding, otherwise);
        let Some((Mistake::Namespace, near)) = &self.suggestion else { return finding };
        let (wanted, here) = (self.wanted.namespace, near.object.namespace().unwrap_or_default());
        let is_moved = |(applied, from): (&Applied<'_>, &str)| -> Option<(String, Span)> {
            let change = NamespaceChange::of(applied, "namespace")?;
            let NamespaceChange { field, of, place, written } = &change;
            (written.text().trim_matches(['"', '\'']) == from).then(|| {
                let kind = applied.object.kind();
                let moved =
                    format!("`{field}` of {of} moves the {kind} out of namespace `{from}`, which its file sets");
                (moved, applied.by.place(place))
            })
        };
        let is_own = user.object.namespace() == Some(wanted);
        let moved = is_own.then(|| is_moved((user, here))).flatten().or_else(|| is_moved((near, wanted)));
        if let Some((moved, place)) = moved {
            finding.help = finding.help.map(|help| format!("{moved}; {help}"));
            finding = finding.related(place, "moved by this namespace");
        }
        finding
    }

    /// Adds the cause and the fix to a finding. `otherwise` is the help if no similar object exists.
    pub(crate) fn explain(&self, finding: Finding, otherwise: &str) -> Finding {
        let wanted = self.wanted;
        let summary = format!(" places reference {wanted}, which the cluster does not receive");
        let mut finding = finding.caused_by(wanted.to_string(), "", summary);
        if self.is_uncertain || self.may_be_by_hand {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        let by_hand =
            format!("{otherwise}; nothing is wrong if a user created it by hand, like the root of this cluster");
        let otherwise = if self.may_be_by_hand { by_hand.as_str() } else { otherwise };
        if let Some(applier) = self.failed {
            return finding.following(follows_from(applier));
        }
        if let Some(ReceivedObject { object, cluster, applier }) = self.received {
            let folder = folder_of(written_position(object).1);
            let summary = format!(
                " places reference objects of `{folder}`, which cluster `{cluster}` receives, but not this cluster"
            );
            let (by, as_there) = match applier {
                Some(applier) => (
                    format!("{applier} applies it to cluster `{cluster}`"),
                    format!("as {applier} does on cluster `{cluster}`"),
                ),
                None => (format!("cluster `{cluster}` receives it"), format!("as to cluster `{cluster}`")),
            };
            let help = format!("{otherwise}; {by}");
            let of_all = format!("apply `{folder}` to this cluster, too, {as_there}, or correct the names");
            let finding = finding.caused_by(format!("in {folder} of {cluster}"), "", summary);
            let finding = finding.help(help).help_for_all(of_all);
            return finding.related(object.span().clone(), format!("cluster `{cluster}` receives this object"));
        }
        if let Some(elsewhere) = self.elsewhere {
            let object = elsewhere.object;
            let path = written_position(object).1;
            let folder = folder_of(path);
            let of_one = elsewhere.remedy(&format!("`{path}`"), folder);
            let of_all = elsewhere.remedy(&format!("the files of `{folder}`"), folder);
            let summary = format!(" places reference objects of `{folder}`, which the cluster does not apply");
            let finding = finding.caused_by(format!("in {folder}"), "", summary).help_for_all(of_all).help(of_one);
            return finding.related(object.span().clone(), "defined here");
        }
        let Some((mistake, near)) = &self.suggestion else { return finding.help(otherwise) };
        let (namespace, name) = (near.object.namespace().unwrap_or_default(), near.object.name());
        let help = match mistake {
            // References to these kinds do not have the field `namespace`.
            Mistake::Namespace if matches!(wanted.kind, "Secret" | "ConfigMap" | "Provider") => {
                format!(
                    "found in namespace `{namespace}`, but this reference cannot cross namespaces; add a {} to namespace \
                     `{}`",
                    wanted.kind, wanted.namespace
                )
            }
            Mistake::Namespace if self.is_ambiguous => {
                format!(
                    "found in several other namespaces, such as `{namespace}`; set `namespace` to the right one, or add the \
                     {} to this namespace",
                    near.object.kind()
                )
            }
            Mistake::Namespace => {
                let kind = near.object.kind();
                format!(
                    "found in namespace `{namespace}`; set `namespace: {namespace}`, or add the {kind} to this namespace"
                )
            }
            Mistake::Kind => {
                format!("`{namespace}/{name}` has kind {kind}; set `kind: {kind}`", kind = near.object.kind())
            }
            Mistake::Hash => {
                "the generator adds a hash to the name; set `disableNameSuffixHash: true` in the generator, or let \
                 kustomize update this reference with a `nameReference` in `configurations`"
                    .to_owned()
            }
            Mistake::Renamed => {
                let field = match written_name(near.object) {
                    Some(written) if name.ends_with(written) => "`namePrefix` of kustomize",
                    Some(written) if name.starts_with(written) => "`nameSuffix` of kustomize",
                    _ => "a patch",
                };
                format!(
                    "{field} changes the name of the object to `{name}`, but not this reference, since kustomize has no \
                     configuration for the fields of Flux; set `name: {name}`, or let kustomize update the reference \
                     with a `nameReference` in `configurations`"
                )
            }
            Mistake::Name => format!("did you mean `{name}`? Otherwise, {otherwise}"),
        };
        finding.help(help).related(near.by.place(near.object.span()), "this object exists")
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

/// The name in the manifest of an object, if the build changed the name.
fn written_name(object: &Object) -> Option<&str> {
    let node = object.node.at_keys(&["metadata", "name"])?;
    let written = node.origin.written().text().trim_matches(['"', '\'']);
    (matches!(node.origin, Origin::Via(_)) && Some(written) != node.text()).then_some(written)
}

/// Returns whether the end of a name is a hash that kustomize adds to generated objects.
///
/// Source: `encode` of kustomize's hasher, which writes ten characters of an alphabet without vowels.
fn is_hash(end: &str) -> bool {
    let Some(hash) = end.strip_prefix('-') else { return false };
    hash.len() == 10 && hash.bytes().all(|byte| b"bcdfghkmt2456789".contains(&byte))
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
