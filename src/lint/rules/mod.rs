//! The rules, in alphabetical order of their ids. Each rule has one line here and one file or directory.

use crate::lint::rule::Rule;

macro_rules! rules {
    ($(mod $module:ident;)*) => {
        $(mod $module;)*

        /// All rules, in alphabetical order of their ids.
        pub const RULES: &[Rule] = &[$($module::RULE),*];
    };
}

rules! {
    mod account_without_rights;
    mod automation_pushes_to_synced_branch;
    mod bootstrap_order;
    mod cross_namespace_reference;
    mod dangling_copy;
    mod dangling_dependency;
    mod dangling_health_check;
    mod dangling_image_policy;
    mod dangling_image_repository;
    mod dangling_notification;
    mod dangling_port;
    mod dangling_reference;
    mod dangling_role_reference;
    mod dangling_source;
    mod dangling_values;
    mod default_namespace;
    mod deletion_deadlock;
    mod dependency_cycle;
    mod deprecated_api;
    mod duplicate_cluster_identity;
    mod duplicate_key;
    mod expired_exception;
    mod failed_build;
    mod floating_version;
    mod flux_object_on_remote;
    mod ignored_health_checks;
    mod insecure_source;
    mod interval_out_of_range;
    mod invalid_duration;
    mod invalid_exception;
    mod invalid_expression;
    mod invalid_git_url;
    mod invalid_message_template;
    mod invalid_object;
    mod invalid_patch;
    mod invalid_policy;
    mod invalid_provider;
    mod invalid_release;
    mod invalid_source;
    mod invalid_values;
    mod invalid_variable_name;
    mod invalid_version_range;
    mod invalid_yaml;
    mod legacy_oci_helm_repository;
    mod lockdown_missing;
    mod mismatched_image_marker;
    mod missing_chart;
    mod missing_controller;
    mod missing_dependency;
    mod missing_drift_detection;
    mod missing_failure_strategy;
    mod missing_namespace;
    mod missing_path;
    mod missing_prune;
    mod missing_push_branch;
    mod missing_resource;
    mod missing_secret_key;
    mod missing_service_account;
    mod missing_storage_namespace;
    mod missing_timeout;
    mod namespace_from_helm;
    mod object_owned_twice;
    mod overlapping_sync;
    mod path_of_other_cluster;
    mod plaintext_secret;
    mod policy_violation;
    mod privileged_workload;
    mod rbac_escalation;
    mod receiver_target;
    mod registry_without_provider;
    mod remote_base;
    mod removed_api;
    mod replaced_namespace;
    mod replaced_patches;
    mod retyped_by_substitution;
    mod runtime_info_drift;
    mod schema_mismatch;
    mod shell_variable_substituted;
    mod sops_misconfigured;
    mod stray_quote;
    mod suspended_in_git;
    mod target_namespace_mismatch;
    mod tenant_baseline;
    mod tenant_cluster_admin;
    mod tenant_escape;
    mod tenant_forbidden_object;
    mod unauthenticated_receiver;
    mod undefined_variable;
    mod undeletable_namespace;
    mod unfiltered_image_policy;
    mod unknown_service_account;
    mod unknown_verb;
    mod unmanaged_bootstrap;
    mod unmatched_image;
    mod unmatched_patch;
    mod unmatched_selector;
    mod unreachable_object;
    mod unready_dependency;
    mod unsized_instance;
    mod unused_exception;
    mod unused_source;
    mod unverified_artifact;
    mod watch_label_missing;
}

/// The id of the rule whose findings are at private values. Output masks these values.
pub const PLAINTEXT_SECRET: &str = plaintext_secret::RULE.id;

/// The rule with an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
