//! kustomize beside the cases of `testdata/kustomize`: its bounds, its fields, and other repositories.

mod bounds;
mod fields;
mod repositories;
mod upstream;
