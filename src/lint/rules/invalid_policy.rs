use crate::lint::cluster_policies::ClusterPolicies;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};

declare! {
    /// An expression of an admission policy does not compile.
    ///
    /// ## Why
    ///
    /// The API server compiles the CEL expressions of a ValidatingAdmissionPolicy when it receives the policy. It rejects
    /// a policy with a syntax error, an unknown variable or function, or a result of the wrong type. Flux then applies
    /// nothing of the Kustomization that contains the policy, so its objects have no guard.
    ///
    /// ## How to fix it
    ///
    /// Correct the expression.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicy
    /// metadata:
    ///   name: replicas
    /// spec:
    ///   matchConstraints:
    ///     resourceRules:
    ///       - apiGroups: [apps]
    ///         apiVersions: [v1]
    ///         operations: [CREATE, UPDATE]
    ///         resources: [deployments]
    ///   validations:
    ///     - expression: objct.spec.replicas >= 2
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicy
    /// metadata:
    ///   name: replicas
    /// spec:
    ///   matchConstraints:
    ///     resourceRules:
    ///       - apiGroups: [apps]
    ///         apiVersions: [v1]
    ///         operations: [CREATE, UPDATE]
    ///         resources: [deployments]
    ///   validations:
    ///     - expression: object.spec.replicas >= 2
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. ValidatingAdmissionPolicy is enabled in Kubernetes since 1.30.
    ///
    /// ## Source
    ///
    /// [Kubernetes: Common Expression Language](https://kubernetes.io/docs/reference/using-api/cel/)
    "invalid-policy", Error, "an expression of an admission policy does not compile", Check::Policies(check),
}

fn check(_: &Fleet<'_>, policies: &ClusterPolicies<'_>, found: &mut Findings) {
    for (finding, clusters) in &policies.invalid {
        let mut finding = finding.clone();
        finding.clusters.clone_from(clusters);
        found.push(finding);
    }
}
