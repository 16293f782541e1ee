//! Kinds whose objects name a service account.

/// A kind whose objects name a service account.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccountKind<'a> {
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) plural: &'a str,
}

/// The kinds whose pods run as a service account of their namespace, the simplest kind first.
pub(crate) const WORKLOADS: [AccountKind<'static>; 8] = [
    AccountKind { group: "", kind: "Pod", plural: "pods" },
    AccountKind { group: "apps", kind: "Deployment", plural: "deployments" },
    AccountKind { group: "apps", kind: "DaemonSet", plural: "daemonsets" },
    AccountKind { group: "apps", kind: "StatefulSet", plural: "statefulsets" },
    AccountKind { group: "apps", kind: "ReplicaSet", plural: "replicasets" },
    AccountKind { group: "", kind: "ReplicationController", plural: "replicationcontrollers" },
    AccountKind { group: "batch", kind: "Job", plural: "jobs" },
    AccountKind { group: "batch", kind: "CronJob", plural: "cronjobs" },
];
