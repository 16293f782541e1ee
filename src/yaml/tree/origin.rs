//! The origin of a node: the position in the file that set the node, and the changes since.

use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::text::Span;

/// A string that many nodes share.
pub type Name = ArcStr;

/// The origin of a node.
#[derive(Debug, Clone)]
pub enum Origin {
    /// The position of an unchanged value.
    At(Span),
    /// The last change of the value.
    Via(Arc<ValueChange>),
}

/// One change of a node between the file and the cluster.
#[derive(Debug, Clone)]
pub struct ValueChange {
    /// The cause of the change.
    pub by: ChangedBy,
    /// The origin of the value before the change; `None` if the change created the node.
    pub previous: Option<Origin>,
    /// The parts of a scalar that variables expanded to, sorted; empty for other changes.
    pub pieces: Box<[Piece]>,
    /// The length of the chain of changes, including this change.
    depth: u16,
}

/// The maximum number of changes kept for one node.
///
/// A longer chain, such as a patch of a hundred thousand operations on one field, keeps only the position in the file.
/// Dropping an unbounded chain would overflow the stack.
const MAX_STEPS: u16 = 50;

/// A range of a scalar's text and the name of the variable that expanded to it.
pub type Piece = (Range<u32>, Name);

/// The cause of a change.
#[derive(Debug, Clone)]
pub enum ChangedBy {
    /// A patch: the position of its value.
    Patch(Span),
    /// An entry of a generator.
    Generator(Span),
    /// A field of a `kustomization.yaml`, such as `namespace` or `labels`.
    Field(Span),
    /// A field of the applier, such as `targetNamespace` or `commonMetadata`.
    Applier(Span),
    /// A variable of Flux's substitution. Only the name of the variable is kept, since its position differs by cluster,
    /// and clusters share builds.
    Variable(Name),
    /// A variable of a parent applier, and the number of levels up. The variable expanded in the applier's own patch,
    /// before the applier patched the object.
    Inherited(Name, u8),
}

impl ValueChange {
    /// Creates a change that follows the changes of `previous`.
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
    /// The last position in a file that determined the value.
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
                    unreachable!("a variable changes a value of a file")
                }
            },
        }
    }

    /// The position that first set the value, before any change.
    pub fn written(&self) -> &Span {
        match self {
            Self::At(span) => span,
            Self::Via(step) => step.previous.as_ref().map_or_else(|| self.span(), Self::written),
        }
    }

    /// Returns whether both origins are the same position or the same change in memory.
    ///
    /// Two equal changes are not the same change.
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
