//! Queries on built clusters: traces, provenance, tenancy, and the objects that other programs create.

pub mod field;
pub(super) mod image_marker;
pub(super) mod lockdown;
pub(super) mod operator;
mod template_paths;
mod cluster_config;
mod shell;
mod created_objects;
mod indirect_files;
mod program_evidence;
mod program_index;
mod named_folders;
pub(super) mod other_programs;
pub(super) mod provenance;
pub mod select;
pub(super) mod tenant_repositories;
pub(super) mod tenancy;
pub mod trace;
