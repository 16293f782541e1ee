//! A neighbour.

pub(super) struct Tag;
