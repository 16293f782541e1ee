//! A compiler and a linter for GitOps fleets.
//!
//! One `fleet.yaml` becomes the repository that Flux reads, and any such repository is judged. The modules stand in
//! order: each uses only those above it. A test reads this file and the sources and enforces it.

// ground

/// Bytes and positions: files, spans, edits, trees.
pub mod text;

/// What every check reports, a message at a place, and small algorithms.
pub mod base;

/// The directory `templates/`, compiled into the binary.
pub mod assets;

// languages

/// YAML with positions: nodes, a parser that never fails, a printer.
pub mod yaml;

// facts

/// Kubernetes objects as written, and notations that several modules read.
pub mod kube;

/// The addresses that sources go by, and where copies of them lie.
pub mod address;

/// A node against a JSON Schema: every mistake at its place.
pub mod schema;

/// What `.fleetwright.yaml` says: how a repository is judged, where copies of sources lie, what clusters have besides.
pub mod config;

// compiler

/// The language of fleet.yaml: nodes → a fleet, or findings.
pub mod fleet;

/// A fleet and a layout → the tree that Flux reads.
pub mod render;

// engines

/// `kustomize build`, in memory, keeping positions.
pub mod kustomize;

/// A Flux repository, understood.
pub mod flux;

// judgement

/// Who may do what on a cluster, as the API server and Flux's impersonation decide it.
pub mod rbac;

/// One repository → findings.
pub mod lint;

// output

/// Findings and pages → text and the formats of other tools.
pub mod report;

// world

/// Directories ↔ trees; the only door to the file system.
pub mod disk;

/// One file per command.
pub mod cli;
