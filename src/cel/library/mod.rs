//! The functions and operators of CEL and of Kubernetes.

mod function;
mod arguments;
mod operators;
mod conversions;
mod numbers;
mod strings;
mod text_format;
mod regexes;
mod times;
mod lists;
mod sorting;
mod sets;
mod optionals;
mod urls;
mod networks;
mod quantities;
mod versions;
mod formats;
mod authorizer;

pub(super) use function::{Function, find};
pub(super) use operators::index;
pub(super) use sorting::sort_by_keys;
