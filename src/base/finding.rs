//! Findings: messages with positions, which every check reports.

use std::fmt;

use arcstr::ArcStr;
use serde::{Deserialize, Serialize};

use crate::text::{Edit, Span};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A possible improvement, which is reported only on request.
    Pedantic,
    /// A probable mistake in a configuration that still works.
    Warning,
    /// A fault that fails a build, deletes objects, grants access, or disables a protection between tenants.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pedantic => "pedantic",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A position with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The position.
    pub span: Span,
    /// The message. It may be empty at the main position of a finding, since the finding has a message.
    pub message: String,
}

impl Label {
    /// Creates a label.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl From<Span> for Label {
    fn from(span: Span) -> Self {
        Self::new(span, "")
    }
}

/// The identity of a Kubernetes object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// `apiVersion` as written, for example `kustomize.toolkit.fluxcd.io/v1`.
    #[schemars(with = "String")]
    pub api_version: ArcStr,
    /// `kind`, for example `Kustomization`.
    #[schemars(with = "String")]
    pub kind: ArcStr,
    /// `metadata.namespace`; absent for objects without a namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub namespace: Option<ArcStr>,
    /// `metadata.name`.
    #[schemars(with = "String")]
    pub name: ArcStr,
}

impl ObjectRef {
    /// The group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for ObjectRef {
    /// Writes ``Kind `namespace/name` ``, the form of messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_object(f, &self.kind, self.namespace.as_deref().unwrap_or_default(), &self.name)
    }
}

/// Writes ``Kind `namespace/name` ``, the form of messages. The namespace of a cluster-scoped object is empty.
pub(crate) fn write_object(f: &mut fmt::Formatter<'_>, kind: &str, namespace: &str, name: &str) -> fmt::Result {
    // The text of an encrypted value is long and has no meaning for readers.
    if [kind, namespace, name].iter().any(|text| text.starts_with("ENC[") || text.starts_with("${ENC[")) {
        return f.write_str("an encrypted object");
    }
    match namespace {
        "" => write!(f, "{kind} `{name}`"),
        namespace => write!(f, "{kind} `{namespace}/{name}`"),
    }
}

/// A fault in a file of the user, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule id, for example `missing-service-account`.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// The main position.
    pub at: Label,
    /// Related positions.
    pub related: Vec<Label>,
    /// The faults, if the rule reports several faults together.
    pub joint: Option<Box<Joint>>,
    /// The reason for the finding and the fix.
    pub help: Option<String>,
    /// The object with the fault.
    pub object: Option<ObjectRef>,
    /// The affected clusters, sorted; empty if unknown or not applicable.
    pub clusters: Vec<ArcStr>,
    /// The cause, if other findings of the rule may share it.
    pub cause: Option<Box<Cause>>,
    /// The other places with the same cause.
    pub others: Option<Box<Others>>,
    /// The edits that remove the finding, or those for the places that have some.
    pub fix: Option<Box<Fix>>,
    /// The number of findings that follow from this finding, and that are not reported.
    pub followers: usize,
    /// The first minor release of Flux in which the fault exists, such as `(2, 7)`; `None` if all releases have it.
    pub since_flux: Option<(u64, u64)>,
    /// The kind of fault, if later steps treat some faults of the rule in another way.
    pub kind: Option<FaultKind>,
}

/// A kind of fault that later steps recognize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A kustomization lists a path that does not exist, and no other path is similar.
    NoSuchFile,
    /// A document is not a Kubernetes object.
    NotAnObject,
    /// A kustomization contains Helm charts, which Flux does not build.
    HelmCharts,
    /// A kustomization uses an external plugin, which kustomize runs only with `--enable-alpha-plugins`.
    ExternalPlugin,
    /// All builds together exceed a limit.
    LimitOfAllBuilds,
    /// An object contains a private value because of a variable.
    ValueOfVariable,
}

/// The faults that a rule reports in one finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joint {
    /// The faults. The first one is at the main position.
    pub parts: Vec<Part>,
}

/// One of several faults that a rule reports in one finding, such as one of the privileged containers of a workload.
///
/// A finding is accepted only if each of its parts is. The place of a fault that exists only between several objects is
/// one part, wherever the objects are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The position.
    pub span: Span,
    /// The object with the fault.
    pub object: Option<ObjectRef>,
    /// A text that identifies the fault, together with its rule, file and object.
    pub fault: String,
}

/// Edits of files that remove a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// Whether the author needs to review the fix.
    pub safety: Safety,
}

/// The safety of a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Safety {
    /// The fix states what the author certainly intended, or does not change the objects on a cluster.
    Safe,
    /// The fix changes the behavior of a cluster, or follows from a guess.
    Unsafe,
}

/// The other places of a finding that represents several findings with the same cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Others {
    /// The places, each with its object or its fault. A place may be the main position of the finding.
    pub places: Vec<Label>,
    /// The number of further places that are not in the list.
    pub omitted: usize,
    /// The number of other findings with this cause.
    pub count: usize,
}

/// A cause that several findings of a rule may share: one change removes all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The key. The findings of a rule with the same severity and key are one finding.
    pub key: String,
    /// The message of the joint finding: the text before and after the number of places.
    pub summary: [String; 2],
    /// The help of the joint finding, if the help of the first finding does not apply to all of them.
    pub help: Option<String>,
    /// The finding from which this finding follows.
    pub follows: Option<Follows>,
    /// Whether the finding keeps the related places of all findings at its position, not only of the first finding.
    pub keeps_related: bool,
    /// Whether the joint finding counts the different messages, not the places.
    pub counts_messages: bool,
}

/// The finding from which another finding follows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Follows {
    /// The rules that report the finding; one of several rules reports that an applier fails.
    pub rules: &'static [&'static str],
    /// The object of the finding.
    pub object: ObjectRef,
    /// Whether the other finding is reported if none of the rules reports this one.
    pub stands_alone: bool,
}

impl Fix {
    /// Joins fixes that remove a finding together; `None` if there are none.
    pub fn join(fixes: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut all = fixes.into_iter().reduce(|mut all, fix| {
            all.edits.extend(fix.edits);
            Self { safety: all.safety.max(fix.safety), ..all }
        })?;
        let place = |edit: &Edit| (edit.span.range().start, edit.span.range().end);
        all.edits.sort_by(|a, b| (a.span.file().path(), place(a)).cmp(&(b.span.file().path(), place(b))));
        all.edits.dedup();
        Some(all)
    }

    /// The fix with other positions of its edits.
    #[must_use]
    pub fn moved(mut self, place: impl Fn(&Span) -> Span) -> Self {
        for edit in &mut self.edits {
            let moved = place(&edit.span);
            // A position of another length belongs to another text.
            if moved.range().len() == edit.span.range().len() {
                edit.span = moved;
            }
        }
        self
    }
}

impl Finding {
    /// Creates an error. The builder methods set the other fields.
    pub fn error(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: Severity::Error,
            message: message.into(),
            at: at.into(),
            related: Vec::new(),
            joint: None,
            help: None,
            object: None,
            clusters: Vec::new(),
            cause: None,
            others: None,
            fix: None,
            followers: 0,
            since_flux: None,
            kind: None,
        }
    }

    /// Creates a warning.
    pub fn warning(rule: &'static str, at: impl Into<Label>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, at, message) }
    }

    /// Sets the first minor release of Flux in which the fault exists.
    #[must_use]
    pub fn since_flux(mut self, release: (u64, u64)) -> Self {
        self.since_flux = Some(release);
        self
    }

    /// Sets the kind of fault.
    #[must_use]
    pub fn of_kind(mut self, kind: FaultKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a related position.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label::new(span, message));
        self
    }

    /// Sets the cause.
    ///
    /// The findings of a rule with the same severity and key are one finding. Its message consists of `before`, the
    /// number of places and `after`.
    #[must_use]
    pub fn caused_by(mut self, key: impl Into<String>, before: impl Into<String>, after: impl Into<String>) -> Self {
        let summary = [before.into(), after.into()];
        self.cause = Some(Box::new(Cause {
            key: key.into(),
            summary,
            help: None,
            follows: None,
            keeps_related: false,
            counts_messages: false,
        }));
        self
    }

    /// Counts the different messages in the joint finding: several builds may have the same fault.
    #[must_use]
    pub fn counting_messages(mut self) -> Self {
        if let Some(cause) = &mut self.cause {
            cause.counts_messages = true;
        }
        self
    }

    /// Sets the other places of the fault. Text output shows the first places and the number of the others.
    #[must_use]
    pub fn with_others(mut self, places: Vec<Label>) -> Self {
        let count = places.len();
        self.others = (count > 0).then(|| Box::new(Others { places, omitted: 0, count }));
        self
    }

    /// Sets the help of the finding that represents several findings with the same cause.
    #[must_use]
    pub fn help_for_all(mut self, help: impl Into<String>) -> Self {
        if let Some(cause) = &mut self.cause {
            cause.help = Some(help.into());
        }
        self
    }

    /// Sets the finding from which this finding follows. If that finding is reported, this one is only counted.
    #[must_use]
    pub fn following(mut self, follows: Follows) -> Self {
        if let Some(cause) = &mut self.cause {
            cause.follows = Some(follows);
        }
        self
    }

    /// Keeps the related places of all findings with the same cause at this position.
    #[must_use]
    pub fn keeping_related(mut self) -> Self {
        if let Some(cause) = &mut self.cause {
            cause.keeps_related = true;
        }
        self
    }

    /// Sets the faults that the finding reports. The first one is at the main position.
    #[must_use]
    pub fn with_parts(mut self, parts: impl IntoIterator<Item = Part>) -> Self {
        *self.parts_mut() = parts.into_iter().collect();
        self
    }

    /// The faults that the finding reports together; empty if it reports a single fault.
    pub fn parts(&self) -> &[Part] {
        self.joint.as_ref().map_or(&[], |joint| &joint.parts)
    }

    /// The faults that the finding reports together, for changes.
    pub fn parts_mut(&mut self) -> &mut Vec<Part> {
        &mut self.joint.get_or_insert_default().parts
    }

    /// Sets the faults of the object that the finding reports: their positions, and texts that identify them.
    #[must_use]
    pub fn with_faults<T: Into<String>>(self, faults: impl IntoIterator<Item = (Span, T)>) -> Self {
        let object = self.object.clone();
        let part = |(span, fault): (Span, T)| Part { span, object: object.clone(), fault: fault.into() };
        self.with_parts(faults.into_iter().map(part))
    }

    /// Removes the accepted parts, unless all parts are accepted. Returns whether all parts are accepted.
    ///
    /// `is_accepted` is called once for each part. A finding without parts has one part. `by` is what accepts parts, for the
    /// help.
    pub fn accept_parts(&mut self, by: &str, mut is_accepted: impl FnMut(&Span, Option<&ObjectRef>) -> bool) -> bool {
        if self.parts().is_empty() {
            return is_accepted(&self.at.span, self.object.as_ref());
        }
        let all = self.parts().len();
        let mut open = self.parts().to_vec();
        open.retain(|part| !is_accepted(&part.span, part.object.as_ref()));
        let Some(first) = open.first() else { return true };
        if open.len() < all {
            let is_open = |span: &Span| open.iter().any(|part| part.span == *span);
            let mut accepted: Vec<Span> = self.parts().iter().map(|part| part.span.clone()).collect();
            accepted.retain(|span| !is_open(span));
            let moves = first.object == self.object;
            self.related.retain(|label| !(accepted.contains(&label.span) || moves && label.span == first.span));
            if moves {
                self.at.span = first.span.clone();
            }
            let note = format!("{by} {} of {all} places", all - open.len());
            self.help = Some(self.help.take().map_or(note.clone(), |help| format!("{help}; {note}")));
            // The fix of a joint finding edits all places.
            self.fix = None;
            *self.parts_mut() = open;
        }
        false
    }

    /// Moves all positions of the finding, for another applier of the same build.
    pub fn move_positions(&mut self, place: impl Fn(&Span) -> Span) {
        for label in std::iter::once(&mut self.at).chain(&mut self.related) {
            label.span = place(&label.span);
        }
        for part in self.joint.iter_mut().flat_map(|joint| &mut joint.parts) {
            part.span = place(&part.span);
        }
    }

    /// Sets the fix, if there is one.
    #[must_use]
    pub fn fixed_by(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix.map(Box::new);
        self
    }

    /// Sets the fix of a finding in a build that several appliers share. `place` returns the position for one of them.
    #[must_use]
    pub fn fixed_at(self, fix: Option<Fix>, place: impl Fn(&Span) -> Span) -> Self {
        self.fixed_by(fix.map(|fix| fix.moved(place)))
    }

    /// Sets the object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }

    /// The number of findings that this finding represents.
    pub fn count(&self) -> usize {
        1 + self.others.as_ref().map_or(0, |others| others.count)
    }

    /// The related positions and the other places.
    pub fn all_related(&self) -> impl Iterator<Item = &Label> {
        self.related.iter().chain(self.others.iter().flat_map(|others| &others.places))
    }
}
