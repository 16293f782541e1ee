//! The rules: one file and one line each, in order of their ids.

use super::Rule;

macro_rules! rules {
    ($(mod $module:ident;)*) => {
        $(mod $module;)*

        /// Every rule, in order of their ids.
        pub const RULES: &[Rule] = &[$($module::RULE),*];
    };
}

rules! {
    mod bootstrap_order;
    mod dangling_image_policy;
    mod default_namespace;
    mod deletion_deadlock;
    mod duplicate_key;
    mod failed_build;
    mod flux_object_on_remote;
    mod invalid_yaml;
    mod missing_namespace;
    mod missing_resource;
    mod missing_service_account;
    mod object_owned_twice;
    mod target_namespace_mismatch;
    mod unmatched_patch;
    mod unreachable_object;
}
