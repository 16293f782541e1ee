//! Cases of kustomize.
