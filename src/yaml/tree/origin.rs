//! The origin of a node: where a file sets it, and the changes since.

use std::ops::Range;
use std::sync::Arc;

use crate::text::Span;

/// A name that many nodes share.
pub type Name = Arc<str>;

/// Where a node came from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// It stands there as it was written.
    At(Span),
    /// Something made or changed it.
    Via(Arc<ValueChange>),
}

/// One change of a node on its way from the file to the cluster.
#[derive(Debug, Clone)]
pub struct ValueChange {
    /// What changed it.
    pub by: ChangedBy,
    /// Where the value before the change came from; `None` when there was none.
    pub previous: Option<Origin>,
    /// The pieces of a scalar that variables made; sorted, empty for other changes.
    pub pieces: Box<[Piece]>,
    /// How many steps there are, this one included.
    depth: u16,
}

/// Steps that are remembered of one node. What is behind more of them, such as a patch of a hundred thousand operations
/// on one field, is known by its first place alone: a chain without end could not even be dropped.
const MAX_STEPS: u16 = 50;

/// A range of a scalar's text and the variable that made it.
pub type Piece = (Range<u32>, Name);

/// What changed a node.
#[derive(Debug, Clone)]
pub enum ChangedBy {
    /// A patch; the place of the value in it.
    Patch(Span),
    /// A generator's entry.
    Generator(Span),
    /// A field of a kustomization, such as `namespace` or `labels`.
    Field(Span),
    /// A field of the Flux object that applies it, such as `targetNamespace` or `commonMetadata`.
    Applier(Span),
    /// A variable of Flux's substitution, by name: its place differs by cluster, so that clusters can share the build.
    Variable(Name),
    /// A variable of whoever brings the applier, so many appliers further up: it had made a part of the applier's own
    /// patch before that was laid over the object.
    Inherited(Name, u8),
}

impl ValueChange {
    /// A step after all that was before it.
    pub fn new(by: ChangedBy, was: Option<Origin>, pieces: Box<[Piece]>) -> Self {
        let before = match &was {
            Some(Origin::Via(step)) => step.depth,
            Some(Origin::At(_)) | None => 0,
        };
        match was {
            Some(was) if before >= MAX_STEPS => {
                Self { by, previous: Some(Origin::At(was.written().clone())), pieces, depth: 1 }
            }
            was => Self { by, previous: was, pieces, depth: before + 1 },
        }
    }
}

impl Origin {
    /// The last place in a file that decided the value.
    pub fn span(&self) -> &Span {
        match self {
            Self::At(span) => span,
            Self::Via(step) => match (&step.by, &step.previous) {
                (
                    ChangedBy::Patch(span)
                    | ChangedBy::Generator(span)
                    | ChangedBy::Field(span)
                    | ChangedBy::Applier(span),
                    _,
                ) => span,
                (ChangedBy::Variable(_) | ChangedBy::Inherited(..), Some(was)) => was.span(),
                (ChangedBy::Variable(_) | ChangedBy::Inherited(..), None) => {
                    unreachable!("a variable changes what a file brought")
                }
            },
        }
    }

    /// The first place: where the value was written before anything changed it.
    pub fn written(&self) -> &Span {
        match self {
            Self::At(span) => span,
            Self::Via(step) => step.previous.as_ref().map_or_else(|| self.span(), Self::written),
        }
    }

    /// Tells whether this is the other one, and not one that came about in the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At(span), Self::At(other)) => span == other,
            (Self::Via(step), Self::Via(other)) => Arc::ptr_eq(step, other),
            (Self::At(_) | Self::Via(_), _) => false,
        }
    }

    /// The origin of a patch's value that replaces a value of this origin.
    pub(super) fn replaced_by(&self, new: &Self) -> Self {
        let step = match new {
            Self::Via(step) if matches!(step.by, ChangedBy::Variable(_) | ChangedBy::Inherited(..)) => {
                let inner = step.previous.as_ref().map(|inner| self.replaced_by(inner));
                ValueChange::new(step.by.clone(), inner, step.pieces.clone())
            }
            _ => ValueChange::new(ChangedBy::Patch(new.span().clone()), Some(self.clone()), Box::default()),
        };
        Self::Via(Arc::new(step))
    }
}
