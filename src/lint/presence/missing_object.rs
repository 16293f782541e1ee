//! A missing object, with the reason that a finding states.

use super::failed_appliers::follows_from;
use crate::base::finding::{Finding, Fix, ObjectRef, Safety, Severity};
use crate::flux::{Applied, Applier};
use crate::kube::{Object, ObjectId};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::written_objects::ReceivedObject;
use crate::lint::namespace_change::NamespaceChange;
use crate::lint::refs::dependency::dependencies;
use crate::lint::refs::values_reference::values_of;
use crate::text::{Span, folder_of};
use crate::yaml::fix;
use crate::yaml::{Node, Origin};

/// A missing object.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    pub(super) wanted: ObjectId<'a>,
    pub(super) suggestion: Option<(Mistake, Applied<'a>)>,
    /// A similar object that the same object references, too.
    pub(super) also_referenced: Option<Applied<'a>>,
    /// Whether several namespaces have an object with the name.
    pub(super) is_ambiguous: bool,
    pub(super) elsewhere: Option<Elsewhere<'a>>,
    /// The object on another cluster.
    pub(super) received: Option<ReceivedObject<'a>>,
    /// The applier that would apply the object, but fails.
    pub(super) failed: Option<&'a ObjectRef>,
    /// Whether the object may exist: the other objects of the cluster are unknown, since it is remote, or charts with unrelated
    /// names may create the object.
    pub(super) is_uncertain: bool,
    /// Whether a user may have created the object by hand, like the root of the cluster.
    pub(super) may_be_by_hand: bool,
}

/// An object of the repository that the cluster does not receive.
#[derive(Clone, Copy)]
pub(super) struct Elsewhere<'a> {
    pub(super) object: &'a Object,
    /// Whether a directory around the object's file is the path of an applier.
    pub(super) is_inside: bool,
    /// Whether the directory of the object's file has a kustomization file, so that other kustomizations can list it.
    pub(super) is_listable: bool,
    /// The nearest kustomization file that the cluster reads: its directory and its name.
    pub(super) reader: Option<(&'a str, &'static str)>,
    /// The topmost directory that leads to the object, but that no kustomization lists.
    pub(super) top: &'a str,
    /// Whether a comment of a kustomization names that directory.
    pub(super) is_switched_off: bool,
}

/// The mistake in a reference, if the intended object exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    Namespace,
    Kind,
    Name,
    /// A generator adds a hash to the name, but the reference does not have the hash.
    Hash,
    /// The reference has the hash of a former content of a generated object.
    OldHash,
    /// kustomize renames the object, but does not update the reference.
    Renamed,
}

impl Elsewhere<'_> {
    /// The help for some files of the directory.
    fn remedy(&self, files: &str) -> String {
        let folder = self.top;
        let listed = if self.is_listable { format!("`{folder}`") } else { files.to_owned() };
        let what = match self.reader {
            Some((reader, name)) if self.is_switched_off => format!(
                "a comment switches `{folder}` off: remove this reference, or list {listed} in `{reader}/{name}`"
            ),
            Some((reader, name)) if reader == folder => format!("list {listed} in `{reader}/{name}`"),
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
    pub(super) fn for_user(mut self, user: Option<&Object>) -> Self {
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

    /// The answer for the first object that references the missing object.
    ///
    /// The author did not confuse two namespaces if the object references both. The author did not confuse two names if
    /// the missing object has the name of the program, and the similar object has this name and a further word, such as
    /// `web-token` beside `web`.
    pub(super) fn for_references(mut self, user: &Object, references: impl Fn(ObjectId<'_>) -> bool) -> Self {
        let name = self.wanted.name;
        let is_further = |near: &Applied<'_>| {
            let rest = near.object.name().strip_prefix(name);
            user.name() == name && rest.is_some_and(|rest| rest.starts_with('-'))
        };
        let Some((mistake, near)) = self.suggestion else { return self };
        if mistake == Mistake::Namespace && references(ObjectId::of(near.object)) {
            (self.suggestion, self.also_referenced) = (None, Some(near));
        } else if mistake == Mistake::Name && is_further(&near) {
            self.suggestion = None;
        }
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

    /// Returns whether the intended object certainly exists under another identity, and not under the wanted one.
    pub(crate) fn is_certain_mistake(&self) -> bool {
        let prunes = |by: &Applier| by.object.as_ref().is_some_and(|by| by.text_at(&["spec", "prune"]) == Some("true"));
        match &self.suggestion {
            None | Some((Mistake::Name, _)) => false,
            // Without pruning, the object with the former content still exists.
            Some((Mistake::OldHash, near)) => prunes(near.by),
            Some(_) => true,
        }
    }

    /// The fix that corrects the name of a reference, if one object has a similar name.
    pub(crate) fn fix(&self, name: &Node) -> Option<Fix> {
        let (mistake, near) = self.suggestion.as_ref().filter(|_| self.elsewhere.is_none())?;
        let safety = match mistake {
            Mistake::Renamed => Safety::Safe,
            Mistake::Name => Safety::Unsafe,
            Mistake::Namespace | Mistake::Kind | Mistake::Hash | Mistake::OldHash => return None,
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
            let of_one = elsewhere.remedy(&format!("`{path}`"));
            let of_all = elsewhere.remedy(&format!("the files of `{folder}`"));
            let summary = format!(" places reference objects of `{folder}`, which the cluster does not apply");
            let finding = finding.caused_by(format!("in {folder}"), "", summary).help_for_all(of_all).help(of_one);
            return finding.related(object.span().clone(), "defined here");
        }
        if let Some(near) = self.also_referenced {
            let near = near.object.reference();
            return finding.help(format!("remove this reference, since there is one to {near} too, or {otherwise}"));
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
            Mistake::OldHash => "the content of the generated object changed, and with it the hash in its name; set \
                 `disableNameSuffixHash: true` in the generator, or let kustomize update this reference with a \
                 `nameReference` in `configurations`"
                .to_owned(),
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

/// The name in the manifest of an object, if the build changed the name.
pub(super) fn written_name(object: &Object) -> Option<&str> {
    let node = object.node.at_keys(&["metadata", "name"])?;
    let written = node.origin.written().text().trim_matches(['"', '\'']);
    (matches!(node.origin, Origin::Via(_)) && Some(written) != node.text()).then_some(written)
}
