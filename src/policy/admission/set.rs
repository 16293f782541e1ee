//! The policies of a cluster with their bindings.

use std::collections::BTreeMap;

use super::binding::Binding;
use super::evaluate::evaluate;
use super::parameters::{Params, parameters};
use super::policy::Policy;
use super::selection::Selected;
use crate::base::finding::Finding;
use crate::cel::Budget;
use crate::kube::Object;
use crate::policy::cluster::Objects;
use crate::policy::decision::{Decision, Unknown, Violation};
use crate::policy::policies::Policies;
use crate::policy::request::Request;
use crate::yaml::Name;

/// The group of admission policies. The API server does not evaluate policies for their objects.
const GROUP: &str = "admissionregistration.k8s.io";

/// The policies of a cluster that bindings enforce.
#[derive(Debug, Default)]
pub(crate) struct PolicySet {
    enforced: Vec<(Policy, Vec<Binding>)>,
}

impl PolicySet {
    /// Reads the policies and bindings among objects.
    pub(crate) fn read(objects: &[&Object]) -> (Self, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut bindings: BTreeMap<Name, Vec<Binding>> = BTreeMap::new();
        for object in objects.iter().filter(|object| object.is(GROUP, "ValidatingAdmissionPolicyBinding")) {
            if let Some(fault) = Binding::fault(object) {
                findings.push(fault);
                continue;
            }
            if let Some(binding) = Binding::read(object).filter(|binding| binding.severity.is_some()) {
                bindings.entry(binding.policy.clone()).or_default().push(binding);
            }
        }
        let mut enforced = Vec::new();
        for object in objects.iter().filter(|object| object.is(GROUP, "ValidatingAdmissionPolicy")) {
            let (policy, invalid) = Policy::read(object);
            findings.extend(invalid);
            if let (Some(policy), Some(bindings)) = (policy, bindings.remove(object.name())) {
                enforced.push((policy, bindings));
            }
        }
        (Self { enforced }, findings)
    }
}

impl Policies for PolicySet {
    fn is_empty(&self) -> bool {
        self.enforced.is_empty()
    }

    fn reads_parameters(&self) -> bool {
        self.enforced.iter().any(|(policy, _)| policy.param_kind.is_some())
    }

    fn decide<'a>(&self, request: &Request<'a>, objects: &dyn Objects<'a>, budget: &mut Budget) -> Decision {
        let mut decision = Decision::default();
        let is_exempt = request.object.group() == GROUP && request.object.kind().contains("AdmissionPolicy");
        if is_exempt {
            return decision;
        }
        for (policy, bindings) in &self.enforced {
            match policy.selection.selects(request) {
                Selected::No => continue,
                Selected::Unknown => {
                    decision.unknown.push(Unknown::Namespace);
                    continue;
                }
                Selected::Yes => {}
            }
            for binding in bindings {
                match binding.selection.selects(request) {
                    Selected::No => continue,
                    Selected::Unknown => {
                        decision.unknown.push(Unknown::Namespace);
                        continue;
                    }
                    Selected::Yes => {}
                }
                bind(policy, binding, request, objects, budget, &mut decision);
            }
        }
        decision
    }
}

fn bind<'a>(
    policy: &Policy,
    binding: &Binding,
    request: &Request<'a>,
    objects: &dyn Objects<'a>,
    budget: &mut Budget,
    decision: &mut Decision,
) {
    match parameters(policy.param_kind.as_ref(), binding.parameters.as_ref(), request, objects) {
        Params::None => evaluate(policy, binding, request, None, budget, decision),
        Params::Found(all) => {
            for params in all {
                evaluate(policy, binding, request, Some(params), budget, decision);
            }
        }
        Params::Skipped => {}
        Params::Unknown => decision.unknown.push(Unknown::Parameters),
        Params::Denied => {
            let at = binding.parameters.as_ref().map_or(&binding.at, |reference| &reference.at);
            decision.violations.push(Violation {
                severity: binding.severity.unwrap_or(crate::base::finding::Severity::Pedantic),
                message: "no object with parameters exists, and the binding denies requests without parameters"
                    .to_owned(),
                at: None,
                policy: policy.reference.clone(),
                expression: at.clone(),
            });
        }
    }
}
