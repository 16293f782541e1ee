//! What is known of a folder while it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::FAILED_BUILD;
use super::configuration::Configuration;
use super::configure;
use super::definition::Definition;
use super::laid::{self, Laid};
use super::remote_base::{self, RemoteBase};
use super::resources::{Id, Resource, Resources};
use super::user_schema::UserSchema;
use super::variables::{self, Variables};
use crate::finding::Finding;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Node};

/// A build may hold this many objects.
const MAX_OBJECTS: usize = 100_000;

/// More findings are looked through for those that say the same.
const MANY_FINDINGS: usize = 1_000;

/// What a folder builds to before the last steps, which are done once at the top.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Partial {
    pub(super) resources: Resources,
    pub(super) findings: Vec<Finding>,
    pub(super) not_done: BTreeMap<String, usize>,
    /// What was left out because it lies elsewhere or needs another program.
    pub(super) left_out: Vec<Finding>,
    /// The patches with a target, and whether they found anything.
    pub(super) laid: Vec<Laid>,
    /// What is loaded from a URL.
    pub(super) remote: Vec<RemoteBase>,
    /// Whether Flux's own manifests are yet to be written into a file that is empty so far.
    pub(super) awaits_flux: bool,
    /// The same as `not_done` without what its bases say.
    pub(super) own_not_done: BTreeMap<String, usize>,
    pub(super) folders: BTreeSet<String>,
    /// Whether it is a Component, which can be built but not be a resource.
    pub(super) component: bool,
    /// What is wrong with a kustomization that says nothing, once another one includes it.
    pub(super) empty: Option<Finding>,
    /// Where transformers work.
    pub(super) configuration: Arc<Configuration>,
    /// What `vars` declare.
    pub(super) variables: Variables,
    /// The schema that the user gives for kinds, if any.
    pub(super) schema: Option<Arc<UserSchema>>,
    /// The kustomization's file, where it is noted what is done to objects.
    pub(super) traced: Option<Name>,
    /// Whether objects may be missing or other ones because something was not done or was wrong.
    pub(super) uncertain: bool,
    /// Whether there were more objects than a build may hold.
    pub(super) is_overfull: bool,
}

impl Partial {
    pub(super) fn fail(&mut self, finding: Finding) {
        self.uncertain = true;
        self.findings.push(finding);
    }

    pub(super) fn skip(&mut self, what: &str) {
        self.uncertain = true;
        self.count(what);
    }

    /// Says and counts what was not done because it lies elsewhere or needs another program.
    pub(super) fn leave_out(&mut self, what: &str, finding: Finding) {
        self.skip(what);
        self.left_out.push(finding);
    }

    pub(super) fn count(&mut self, what: &str) {
        *self.not_done.entry(what.to_string()).or_default() += 1;
        *self.own_not_done.entry(what.to_string()).or_default() += 1;
    }

    /// Takes over what is to be said of a base.
    pub(super) fn absorb(&mut self, base: &Self, item: &Node) {
        self.uncertain |= base.uncertain;
        self.is_overfull |= base.is_overfull;
        self.awaits_flux |= base.awaits_flux;
        self.laid.extend(base.laid.iter().cloned());
        self.remote.extend(base.remote.iter().cloned());
        if self.remote.len() > MANY_FINDINGS {
            remote_base::settle(&mut self.remote);
        }
        if self.laid.len() > MANY_FINDINGS {
            laid::settle(&mut self.laid);
        }
        base.empty.iter().for_each(|finding| self.fail(finding.clone().related(item.span().clone(), "included here")));
        self.findings.extend(base.findings.iter().cloned());
        self.left_out.extend(base.left_out.iter().cloned());
        self.folders.extend(base.folders.iter().cloned());
        for (what, count) in &base.not_done {
            let all = self.not_done.entry(what.clone()).or_default();
            *all = all.saturating_add(*count);
        }
        // A base that is included twice, by a base that is included twice, says everything many times.
        for said in [&mut self.findings, &mut self.left_out] {
            if said.len() > MANY_FINDINGS {
                crate::finding::sort(said);
            }
        }
        configure::merge(self, &base.configuration, item);
        variables::absorb(self, &base.variables);
    }

    pub(super) fn add(&mut self, mut resource: Resource, item: &Node) {
        if let Some(schema) = &self.schema {
            resource.know(schema);
        }
        if self.is_overfull || self.resources.list.len() >= MAX_OBJECTS {
            if !self.is_overfull {
                let message = format!("this build holds more than {MAX_OBJECTS} objects; it was given up");
                self.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            }
            self.is_overfull = true;
            return;
        }
        let place = self.resources.list.len();
        if let Some(first) = self.resources.claim(&resource.id, place) {
            let id = &resource.id;
            let message = format!("{} `{}` comes twice into this build", id.kind, id.name);
            let finding = Finding::error(FAILED_BUILD, item.span().clone(), message)
                .related(Object { node: resource.node.clone() }.span().clone(), "again here")
                .related(Object { node: self.resources.list[first].node.clone() }.span().clone(), "first here")
                .help("name each object once, or patch it");
            self.fail(finding);
            return;
        }
        self.resources.list.push(resource);
    }

    /// Lets go of the objects when there were too many: every folder that includes this one would go through them again.
    pub(super) fn empty_when_overfull(&mut self) {
        if self.is_overfull {
            self.resources = Resources::default();
        }
    }

    /// Two objects that a `namespace` gave one name.
    pub(super) fn refuse_conflicts(&mut self, place: &Node) {
        let mut seen: Index<Id, usize> = Index::default();
        let mut conflicts = Vec::new();
        for (position, resource) in self.resources.list.iter().enumerate() {
            if let Some(first) = seen.insert(resource.id.clone(), position) {
                let object = |at: usize| Object { node: self.resources.list[at].node.clone() }.span().clone();
                let message = format!(
                    "in one namespace there would be two objects called {} `{}`",
                    resource.id.kind, resource.id.name
                );
                let finding = Finding::error(FAILED_BUILD, place.span().clone(), message)
                    .related(object(first), "one")
                    .related(object(position), "the other");
                conflicts.push(finding);
            }
        }
        for finding in conflicts {
            self.fail(finding);
        }
    }
}

/// The fields whose items take another program.
const CHARTS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// Notes what kustomize refuses of a kustomization's fields, and what this engine does not carry out.
pub(super) fn count_fields(definition: &Definition, partial: &mut Partial) {
    definition.faults.iter().for_each(|fault| partial.fail(fault.clone()));
    for entry in definition.node.entries() {
        if let Some(field) = CHARTS.iter().find(|field| ***field == *entry.key) {
            entry.node.items().iter().for_each(|chart| partial.leave_out(field, not_inflated(chart)));
        } else if &*entry.key == "helmGlobals" && !entry.node.is_null() {
            partial.count("helmGlobals");
        }
    }
}

fn not_inflated(chart: &Node) -> Finding {
    let name = chart.get("name").or_else(|| chart.get("chartName")).filter(|name| name.text().is_some());
    let message = match name.and_then(Node::text) {
        Some(name) => format!("the Helm chart `{name}` was not inflated: that is Helm's work"),
        None => "a Helm chart was not inflated: that is Helm's work".to_owned(),
    };
    let help = "Flux refuses to build this folder too; a HelmRelease installs a chart, or render it into a file";
    Finding::error(FAILED_BUILD, name.unwrap_or(chart).span().clone(), message).help(help)
}

/// Tells whether an object is for local use only: kustomize leaves it out.
pub(super) fn is_local(node: &Node) -> bool {
    let value = node.at_keys(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
    value.is_some_and(|value| value.text() != Some("false"))
}
