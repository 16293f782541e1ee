//! `kustomize build`, in memory, keeping positions.
