//! Output that waits until it is known which secret values it may contain.

use std::cell::RefCell;
use std::rc::Rc;

use super::lines::Lines;
use super::transcript::Destination;

/// The output that waits; `None` if nothing waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Held(Rc<RefCell<Option<Vec<Piece>>>>);

/// A piece of output without masks.
#[derive(Debug)]
pub(super) struct Piece {
    /// The destination.
    pub destination: Destination,
    /// The treatment of its lines.
    pub lines: Lines,
    /// The output.
    pub bytes: Vec<u8>,
}

impl Held {
    /// Starts to hold output.
    pub(super) fn start(&self) {
        *self.0.borrow_mut() = Some(Vec::new());
    }

    /// Ends, and returns the pieces in their order.
    pub(super) fn finish(&self) -> Vec<Piece> {
        self.0.borrow_mut().take().unwrap_or_default()
    }

    /// Adds output, and returns `false` if nothing waits.
    pub(super) fn add(&self, destination: &Destination, lines: Lines, bytes: &[u8]) -> bool {
        let mut held = self.0.borrow_mut();
        let Some(pieces) = held.as_mut() else { return false };
        match pieces.last_mut().filter(|last| last.destination == *destination && last.lines == lines) {
            Some(last) => last.bytes.extend_from_slice(bytes),
            None => pieces.push(Piece { destination: destination.clone(), lines, bytes: bytes.to_owned() }),
        }
        true
    }
}
