//! Cases of render.
