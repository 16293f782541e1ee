//! Groups, globs, other names and public imports, each of which hides an edge.

mod node;

use crate as house;
use crate::*;
use crate::{disk, text};

pub use crate::text::File;
pub(crate) use crate::text::{Edit, Span};
pub use node::Node;
