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
    mod duplicate_key;
    mod failed_build;
    mod floating_version;
    mod insecure_source;
    mod interval_out_of_range;
    mod invalid_yaml;
    mod legacy_oci_helm_repository;
    mod missing_drift_detection;
    mod missing_failure_strategy;
    mod missing_prune;
    mod missing_resource;
    mod missing_service_account;
    mod missing_storage_namespace;
    mod missing_timeout;
    mod namespace_from_helm;
    mod plaintext_secret;
    mod privileged_workload;
    mod sops_misconfigured;
    mod suspended_in_git;
    mod target_namespace_mismatch;
    mod unsized_instance;
    mod unverified_artifact;
    mod watch_label_missing;
}
