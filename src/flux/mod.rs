//! A Flux repository, understood.
