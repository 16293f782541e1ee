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
    mod dangling_dependency;
    mod dangling_source;
    mod dangling_values;
    mod dependency_cycle;
    mod duplicate_key;
    mod failed_build;
    mod ignored_health_checks;
    mod interval_out_of_range;
    mod invalid_yaml;
    mod missing_dependency;
    mod missing_drift_detection;
    mod missing_failure_strategy;
    mod missing_path;
    mod missing_prune;
    mod missing_resource;
    mod missing_service_account;
    mod missing_storage_namespace;
    mod missing_timeout;
    mod namespace_from_helm;
    mod suspended_in_git;
    mod target_namespace_mismatch;
    mod unready_dependency;
    mod unsized_instance;
    mod watch_label_missing;
}
