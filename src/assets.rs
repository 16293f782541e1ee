//! `templates/` and `schemas/` inside the binary, as trees.
