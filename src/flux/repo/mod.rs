//! The contents of a repository: its clusters, and the objects of its directories.

pub(super) mod absent_files;
mod switched_off_images;
mod missing_lists;
mod moved_folders;
mod unsubstituted_paths;
mod named_paths;
pub(super) mod skipped;
mod directory_objects;
mod rootless;
mod chart_clusters;
mod own_sources;
pub(super) mod nested_roots;
pub(super) mod repository;
