//! A compiler and a linter for GitOps fleets.
//!
//! The compiler renders one `fleet.yaml` into the repository that Flux reads. The linter checks any such repository.
//! Each module uses only the modules above it. A test reads this file and the sources, and enforces this order.

// foundations

/// Files, spans, edits and trees of files.
pub mod text;

/// Findings, and small algorithms.
pub mod base;

/// The directory `templates/`, compiled into the binary.
pub mod assets;

// languages

/// YAML with positions: nodes, an error-tolerant parser, and a printer.
pub mod yaml;

// domain types

/// Kubernetes objects as written, and notations that several modules parse.
pub mod kube;

/// CEL: the expressions of validation rules and admission policies.
pub mod cel;

/// The APIs of a cluster: the schemas of its kinds.
pub mod api;

/// URLs of sources, and the locations of their local copies.
pub mod address;

/// Validation of nodes against a JSON Schema, with the position of each error.
pub mod schema;

/// `.fleetwright.yaml`: settings of the linter, local copies of sources, and facts about clusters.
pub mod config;

/// Admission policies, and their evaluation for a request.
pub mod policy;

// compiler

/// The language of fleet.yaml: parses nodes into a fleet, or reports findings.
pub mod fleet;

/// Renders a fleet with a layout into the tree that Flux reads.
pub mod render;

// engines

/// `kustomize build` in memory, with positions.
pub mod kustomize;

/// A model of a Flux repository: its clusters, their appliers, and the resulting objects.
pub mod flux;

// analysis

/// The rights of accounts on a cluster, by RBAC and by Flux's impersonation.
pub mod rbac;

/// The linter: checks a repository and reports findings.
pub mod lint;

/// The changes between two states of a repository, as its clusters receive them.
pub mod changes;

/// Graphs of the Flux objects of a cluster: creators, sources, dependencies and other references.
pub mod graph;

// output

/// Output of findings and objects as text, JSON and formats of other tools.
pub mod report;

// input and output

/// Reads directories into trees and writes trees to directories; the only access to the file system.
pub mod disk;

/// The commands, one file each.
pub mod cli;
