//! As whom Flux acts for the objects that it reconciles.
//!
//! An object names an account of its own namespace in `serviceAccountName`. Where it names none, the controller takes
//! the account that `--default-service-account` says, or acts as itself.

use std::collections::BTreeMap;

use crate::flux::{Applied, Produced, Receiver, Tenancy, helm};
use crate::kube::Object;
use crate::kube::groups;
use crate::rbac::admission::policy::Named;
use crate::rbac::authz::subject::Account;
use crate::yaml::{Name, Node};

/// The kinds whose objects Flux applies as an account that they name.
pub(super) const APPLIERS: [Applier; 3] = [
    Applier {
        named: Named { group: groups::KUSTOMIZE, kind: "Kustomization", plural: "kustomizations" },
        controller: "kustomize-controller",
    },
    Applier {
        named: Named { group: groups::HELM, kind: "HelmRelease", plural: "helmreleases" },
        controller: "helm-controller",
    },
    Applier {
        named: Named { group: groups::FLUX_OPERATOR, kind: "ResourceSet", plural: "resourcesets" },
        controller: "flux-operator",
    },
];

/// A kind whose objects Flux applies, and the program that does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Applier {
    pub(crate) named: Named<'static>,
    pub(crate) controller: &'static str,
}

/// As whom Flux acts on a cluster.
#[derive(Debug, Default)]
pub(crate) struct Acting {
    /// The programs that run, each with what it does for an object that names no account.
    programs: BTreeMap<&'static str, Unnamed>,
}

/// What Flux does for an object that names no account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// It acts as itself.
    Itself(Account),
    /// It takes an account of the object's namespace.
    Default,
    /// Nobody knows here.
    Unknown,
}

impl Acting {
    pub(crate) fn of(objects: &[Applied<'_>], tenancy: &Tenancy, receiver: &Receiver<'_>) -> Self {
        let mut acting = Self::default();
        if receiver.target.is_some() {
            // Nothing of a cluster that another one's Flux applies to runs Flux, as far as is seen.
            return acting;
        }
        let components = objects.iter().find_map(|applied| components(applied.object));
        let home = home(objects, tenancy);
        for applier in &APPLIERS {
            let account = Account::new(home.clone(), applier.controller);
            let unnamed = match applier.controller {
                "flux-operator" => operator(objects, account),
                _ if components.as_ref().is_some_and(|all| !all.iter().any(|name| &**name == applier.controller)) => {
                    continue;
                }
                controller if tenancy.default_account(controller).is_some() => Some(Unnamed::Default),
                // Nothing in a repository without a root says how Flux is installed.
                _ if receiver.cluster.name.is_empty() => Some(Unnamed::Unknown),
                _ => Some(Unnamed::Itself(account)),
            };
            if let Some(unnamed) = unnamed {
                acting.programs.insert(applier.controller, unnamed);
            }
        }
        acting
    }

    /// What happens to objects of a kind that name no account; `None` where nobody reconciles them.
    pub(super) fn unnamed(&self, applier: &Applier) -> Option<&Unnamed> {
        self.programs.get(applier.controller)
    }

    /// What the programs that run do for objects that name no account.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Unnamed> {
        self.programs.values()
    }
}

/// The account that Flux acts as for an object of a namespace: the one that it names, else the one that its controller
/// falls back on. `None` for objects that Flux does not apply, or to another cluster, or as itself.
pub fn acts_as(object: &Object, namespace: Option<&str>, tenancy: &Tenancy) -> Option<Account> {
    let applier = APPLIERS.iter().find(|one| object.is(one.named.group, one.named.kind))?;
    if object.node.at_keys(&["spec", "kubeConfig"]).is_some_and(|node| !node.is_null()) {
        return None;
    }
    let named = object.text_at(&["spec", "serviceAccountName"]).filter(|name| !name.is_empty());
    let name = named.or_else(|| tenancy.default_account(applier.controller));
    Some(Account::new(namespace?, name.filter(|name| !name.contains("${"))?))
}

/// The components that a FluxInstance installs, when it says so.
fn components(object: &Object) -> Option<Vec<Name>> {
    let list = object.is(groups::FLUX_OPERATOR, "FluxInstance").then(|| object.node.at_keys(&["spec", "components"]));
    let names: Vec<Name> = list??.items().iter().filter_map(Node::shared_text).collect();
    (!names.is_empty()).then_some(names)
}

/// The namespace that Flux runs in: a FluxInstance's, else the one that is not the usual one.
fn home(objects: &[Applied<'_>], tenancy: &Tenancy) -> Name {
    let instance = objects.iter().find(|applied| applied.object.is(groups::FLUX_OPERATOR, "FluxInstance"));
    let homes = &tenancy.flux_namespaces;
    let other = homes.iter().find(|home| *home != groups::FLUX_NAMESPACE).or_else(|| homes.first());
    let found = instance.and_then(Applied::namespace).or(other.map(String::as_str));
    found.unwrap_or(groups::FLUX_NAMESPACE).into()
}

/// What Flux Operator does, as the values of its chart or the arguments of its Deployment say; `None` where nothing says
/// that it runs.
fn operator(objects: &[Applied<'_>], account: Account) -> Option<Unnamed> {
    let mut runs = false;
    for applied in objects {
        let object = applied.object;
        runs |= object.group() == groups::FLUX_OPERATOR;
        if object.is("apps", "Deployment") && object.name() == "flux-operator" {
            let containers = object.node.at_keys(&["spec", "template", "spec", "containers"]);
            let locked = containers.map_or(&[][..], Node::items).iter().any(has_default_account);
            return Some(if locked { Unnamed::Default } else { Unnamed::Itself(account) });
        }
        if is_operators_release(object) {
            let values = helm::values(object, |kind, name| configured(objects, applied, kind, name));
            let enabled = values.node.at_keys(&["multitenancy", "enabled"]).and_then(Node::text);
            return Some(match enabled {
                Some("true") => Unnamed::Default,
                _ if values.open || !values.faults.is_empty() => Unnamed::Unknown,
                _ => Unnamed::Itself(account),
            });
        }
    }
    runs.then_some(Unnamed::Unknown)
}

fn has_default_account(container: &Node) -> bool {
    let items = |key: &str| container.get(key).map_or(&[][..], Node::items).iter();
    let by_argument = items("args").filter_map(Node::text).any(|text| text.starts_with("--default-service-account="));
    let name = |variable: &Node| variable.get("name").and_then(Node::text) == Some("DEFAULT_SERVICE_ACCOUNT");
    by_argument || items("env").any(name)
}

/// Whether a release installs Flux Operator: by the name of its chart, or its own.
fn is_operators_release(object: &Object) -> bool {
    let names = [&["spec", "chart", "spec", "chart"][..], &["spec", "chartRef", "name"], &["metadata", "name"]];
    object.is(groups::HELM, "HelmRelease") && names.iter().any(|keys| object.text_at(keys) == Some("flux-operator"))
}

/// A ConfigMap that a release takes values from.
fn configured(objects: &[Applied<'_>], release: &Applied<'_>, kind: &str, name: &str) -> Option<Produced> {
    let is_it = |applied: &&Applied<'_>| {
        applied.object.is("", kind) && applied.object.name() == name && applied.namespace() == release.namespace()
    };
    let found = objects.iter().find(is_it)?;
    Some(Produced { object: found.object.clone(), open: false, by: None })
}
