//! The model of changes.

use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Name, Path};

/// The changes between two states of a repository.
#[derive(Debug, Default)]
pub struct Changes {
    /// The clusters that only the later state has.
    pub new_clusters: Vec<Name>,
    /// The clusters that only the earlier state has.
    pub former_clusters: Vec<Name>,
    /// The changes of objects, dangerous ones first.
    pub objects: Vec<Change>,
    /// The changes of the rights of service accounts.
    pub rights: Vec<RightsChange>,
    /// The clusters with too many rights to compare.
    pub uncompared_rights: Vec<Name>,
    /// The paths of the files that a state did not read.
    pub unread: Vec<String>,
    /// The appliers whose objects cannot be compared, since a state has no build.
    pub unbuilt: Vec<Unbuilt>,
}

/// A change of one object, on all clusters with the same change.
#[derive(Debug)]
pub struct Change {
    /// The object.
    pub object: ObjectRef,
    /// The kind of the change.
    pub what: What,
    /// The object in the earlier state; `None` if it is added.
    pub before: Option<Object>,
    /// The object in the later state; `None` if it is removed.
    pub after: Option<Object>,
    /// The changed fields, in the order of the object.
    pub fields: Vec<FieldChange>,
    /// The place of the object.
    pub at: Span,
    /// The reasons why the change is dangerous.
    pub dangers: Vec<Danger>,
    /// Other consequences, such as the dependents of an applier.
    pub notes: Vec<String>,
    /// The applier whose own addition or removal on the same clusters causes the change.
    pub follows: Option<ObjectRef>,
    /// The clusters with the change.
    pub clusters: Vec<Name>,
}

/// The kind of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The cluster receives the object for the first time.
    Added {
        /// The applier.
        by: ObjectRef,
    },
    /// The cluster does not receive the object any more.
    Removed {
        /// The former applier.
        by: ObjectRef,
    },
    /// Another applier applies the object.
    Moved {
        /// The former applier.
        from: ObjectRef,
        /// The applier.
        to: ObjectRef,
    },
    /// Fields of the object change.
    Changed {
        /// The applier.
        by: ObjectRef,
    },
}

impl What {
    /// The verb of the change.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Added { .. } => "added",
            Self::Removed { .. } => "removed",
            Self::Moved { .. } => "moved",
            Self::Changed { .. } => "changed",
        }
    }

    /// The applier; for a removed object the former one.
    pub(super) fn by(&self) -> &ObjectRef {
        match self {
            Self::Added { by } | Self::Removed { by } | Self::Changed { by } | Self::Moved { to: by, .. } => by,
        }
    }

    /// The same change by an unnamed applier; a move keeps its appliers.
    pub(super) fn without_applier(&self) -> Self {
        let by = || ObjectRef { api_version: "".into(), kind: "".into(), namespace: None, name: "".into() };
        match self {
            Self::Added { .. } => Self::Added { by: by() },
            Self::Removed { .. } => Self::Removed { by: by() },
            Self::Changed { .. } => Self::Changed { by: by() },
            Self::Moved { .. } => self.clone(),
        }
    }
}

/// A change of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// The field in words, such as `spec.template.spec.containers[name=web].image`.
    pub field: String,
    /// The path in the earlier object; `None` if the object did not have the field.
    pub before: Option<Path>,
    /// The path in the later object; `None` if the object does not have the field.
    pub after: Option<Path>,
    /// The place that causes the change: the place that sets the value now, or that set the removed value.
    pub cause: Span,
}

/// A reason why a change is dangerous.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// Flux deletes the object, with a further consequence.
    Pruned(&'static str),
    /// The object stays on the cluster, but the repository does not contain it any more.
    Orphaned,
    /// The applier is not in the repository, and may delete the object.
    Unapplied,
    /// The former applier may delete the object after the new one has applied it.
    Moved,
    /// The former applier may delete the object, although another one applies it in both states.
    Shared(ObjectRef),
    /// The API server rejects a change of the field.
    Immutable(String),
    /// The API server rejects a change of the field, and Flux replaces the object.
    Replaced(String),
    /// The kind of the object grants rights.
    Rights,
    /// An applier acts as another account.
    Account,
    /// A source reads another repository.
    Source,
    /// helm-controller uninstalls the release, since its identity changes.
    Reinstalled,
    /// Reconciliation is suspended.
    Suspended,
    /// Flux ignores the object.
    Ignored,
}

impl Danger {
    /// The order of dangers: the loss of data first.
    pub(super) fn order(&self) -> u8 {
        match self {
            Self::Pruned("") | Self::Unapplied => 4,
            Self::Pruned(_) | Self::Reinstalled => 0,
            Self::Immutable(_) | Self::Replaced(_) => 1,
            Self::Moved | Self::Shared(_) => 2,
            Self::Rights | Self::Account | Self::Source | Self::Suspended | Self::Ignored => 3,
            Self::Orphaned => 5,
        }
    }
}

impl std::fmt::Display for Danger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pruned("") => f.write_str("Flux deletes the object"),
            Self::Pruned(consequence) => write!(f, "Flux deletes the object: {consequence}"),
            Self::Orphaned => f.write_str("the object stays on the cluster, but no file defines it any more"),
            Self::Unapplied => f.write_str("an applier outside of this repository may delete the object"),
            Self::Moved => f.write_str(
                "the former applier deletes the object if it reconciles before the new one applies the object",
            ),
            Self::Shared(other) => write!(
                f,
                "the former applier deletes the object if it was the last to apply it; {other} then creates it again"
            ),
            Self::Immutable(field) => write!(f, "`{field}` is immutable: the API server rejects the change"),
            Self::Replaced(field) => {
                write!(f, "`{field}` is immutable: Flux deletes the object and creates it again, since `force` is set")
            }
            Self::Rights => f.write_str("the change affects access rights"),
            Self::Account => f.write_str("Flux applies its objects with the rights of another account"),
            Self::Source => f.write_str("Flux applies the files of another repository, which are not compared"),
            Self::Reinstalled => f.write_str(
                "Flux uninstalls the release before it installs it again, since its name or a namespace changes",
            ),
            Self::Suspended => f.write_str("Flux stops applying the objects below it"),
            Self::Ignored => f.write_str("Flux stops applying the object"),
        }
    }
}

/// A change of the rights of a service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightsChange {
    /// The account, as `namespace/name`.
    pub account: String,
    /// The gained rights.
    pub gained: Vec<String>,
    /// The lost rights.
    pub lost: Vec<String>,
    /// The clusters with the change.
    pub clusters: Vec<Name>,
}

/// An applier whose objects cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbuilt {
    /// The applier.
    pub applier: ObjectRef,
    /// Whether the later state has no build.
    pub is_later: bool,
    /// Whether the build failed. Otherwise, its source has no local copy, for example.
    pub failed: bool,
    /// The reason.
    pub reason: String,
    /// The place of the fault, if it is known.
    pub at: Option<Span>,
    /// The clusters.
    pub clusters: Vec<Name>,
}
