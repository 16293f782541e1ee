//! Directories ↔ trees; the only door to the file system.
