use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::lint::cluster_policies::ClusterPolicies;
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};

declare! {
    /// An admission policy of the cluster refuses an object.
    ///
    /// ## Why
    ///
    /// The API server evaluates each ValidatingAdmissionPolicy when Flux applies an object. If the binding has the
    /// action `Deny`, it rejects the object, and Flux applies nothing of the Kustomization that contains it. The action
    /// `Warn` is a warning, and `Audit` is pedantic.
    ///
    /// The linter evaluates the policies that the cluster receives, those in directories that `policies` of
    /// `.fleetwright.yaml` names, and the built-in policies that it enables. Parameters, namespaces and values that the
    /// repository does not contain are counted in the output of `--verbose`.
    ///
    /// ## How to fix it
    ///
    /// Change the object as the message of the policy says. [Admission policies](../policies.md) explains how to write
    /// and test policies.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # policy.yaml
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
    ///       message: run two replicas
    /// ---
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicyBinding
    /// metadata:
    ///   name: replicas
    /// spec:
    ///   policyName: replicas
    ///   validationActions: [Deny]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: shop
    /// spec:
    ///   replicas: 1
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/acme/web:1.0.0
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # policy.yaml
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
    ///       message: run two replicas
    /// ---
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicyBinding
    /// metadata:
    ///   name: replicas
    /// spec:
    ///   policyName: replicas
    ///   validationActions: [Deny]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: shop
    /// spec:
    ///   replicas: 2
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/acme/web:1.0.0
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. ValidatingAdmissionPolicy is enabled in Kubernetes since 1.30.
    ///
    /// ## Source
    ///
    /// [Kubernetes: ValidatingAdmissionPolicy](https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/)
    "policy-violation", Error, "an admission policy refuses an object", Check::Policies(check),
}

fn check<'a>(fleet: &Fleet<'a>, policies: &ClusterPolicies<'a>, found: &mut Findings) {
    let mut known: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    let mut findings: Vec<Finding> = Vec::new();
    for answer in policies.answers(fleet.views, found) {
        let Some(view) = fleet.views.get(answer.view) else { continue };
        let object = answer.applied.object;
        for (at, violation) in answer.decision.violations.iter().enumerate() {
            let key = (memory_address(object), Arc::as_ptr(&answer.decision).addr(), at);
            let position = *known.entry(key).or_insert_with(|| {
                let span = violation.at.clone().unwrap_or_else(|| object.span().clone());
                let reference = object.reference();
                let policy = &violation.policy;
                let message = format!("{policy} refuses {reference}: {}", violation.message);
                let help = "change the object as the policy requires, or except it in the binding";
                let finding = Finding::error(RULE.id, answer.applied.by.place(&span), message).help(help);
                let finding = finding.related(violation.expression.clone(), "the expression of the policy");
                findings.push(Finding { severity: violation.severity, ..finding.about(reference) });
                findings.len() - 1
            });
            if let Some(finding) = findings.get_mut(position).filter(|_| view.is_whole()) {
                finding.clusters.push(view.receiver.to_string().into());
            }
        }
    }
    found.extend(findings);
}
