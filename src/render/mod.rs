//! A fleet and a layout → the tree that Flux reads.
