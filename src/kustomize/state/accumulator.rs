//! What is known of a folder while it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::fieldspec::builtin_fieldspecs::merged;
use crate::kustomize::fieldspec::transformer_config::TransformerConfig;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::remote_base::{self, RemoteBase};
use crate::kustomize::objects::patch_targets::{self, PatchTarget};
use crate::kustomize::objects::resources::{Resource, ResourceId, Resources};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// A build may hold this many objects.
const MAX_OBJECTS: usize = 100_000;

/// More findings are looked through for those that say the same.
const MANY_FINDINGS: usize = 1_000;

/// What a folder builds to before the last steps, which are done once at the top.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Accumulator {
    pub(crate) resources: Resources,
    pub(crate) findings: Vec<Finding>,
    pub(crate) not_done: BTreeMap<String, usize>,
    /// What was left out because it lies elsewhere or needs another program.
    pub(crate) left_out: Vec<Finding>,
    /// The patches with a target, and whether they found anything.
    pub(crate) patch_targets: Vec<PatchTarget>,
    /// What is loaded from a URL.
    pub(crate) remote: Vec<RemoteBase>,
    /// Whether Flux's own manifests are yet to be written into a file that is empty so far.
    pub(crate) awaits_bootstrap: bool,
    /// The same as `not_done` without what its bases say.
    pub(crate) own_not_done: BTreeMap<String, usize>,
    pub(crate) folders: BTreeSet<String>,
    /// Whether it is a Component, which can be built but not be a resource.
    pub(crate) is_component: bool,
    /// What is wrong with a kustomization that says nothing, once another one includes it.
    pub(crate) empty: Option<Finding>,
    /// Where transformers work.
    pub(crate) config: Arc<TransformerConfig>,
    /// What `vars` declare.
    pub(crate) variables: BTreeMap<Name, Variable>,
    /// The schema that the user gives for kinds, if any.
    pub(crate) schema: Option<Arc<UserSchema>>,
    /// The kustomization's file, where it is noted what is done to objects.
    pub(crate) traced_file: Option<Name>,
    /// Whether objects may be missing or other ones because something was not done or was wrong.
    pub(crate) is_incomplete: bool,
    /// Whether there were more objects than a build may hold.
    pub(crate) is_too_large: bool,
}

/// A variable that `vars` declares.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// The path of the field that holds the value, separated by dots.
    pub(crate) path: String,
    /// The position of the declaration.
    pub(crate) place: Span,
}

impl Accumulator {
    pub(crate) fn fail(&mut self, finding: Finding) {
        self.is_incomplete = true;
        self.findings.push(finding);
    }

    pub(crate) fn skip(&mut self, what: &str) {
        self.is_incomplete = true;
        self.count(what);
    }

    /// Says and counts what was not done because it lies elsewhere or needs another program.
    pub(crate) fn leave_out(&mut self, what: &str, finding: Finding) {
        self.skip(what);
        self.left_out.push(finding);
    }

    pub(crate) fn count(&mut self, what: &str) {
        *self.not_done.entry(what.to_string()).or_default() += 1;
        *self.own_not_done.entry(what.to_string()).or_default() += 1;
    }

    /// Takes over what is to be said of a base.
    pub(crate) fn merge_base(&mut self, base: &Self, item: &Node) {
        self.is_incomplete |= base.is_incomplete;
        self.is_too_large |= base.is_too_large;
        self.awaits_bootstrap |= base.awaits_bootstrap;
        self.patch_targets.extend(base.patch_targets.iter().cloned());
        self.remote.extend(base.remote.iter().cloned());
        if self.remote.len() > MANY_FINDINGS {
            remote_base::deduplicate(&mut self.remote);
        }
        if self.patch_targets.len() > MANY_FINDINGS {
            patch_targets::deduplicate(&mut self.patch_targets);
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
        for findings in [&mut self.findings, &mut self.left_out] {
            if findings.len() > MANY_FINDINGS {
                crate::base::finding::sort(findings);
            }
        }
        self.merge_config(&base.config, item);
        for (name, variable) in &base.variables {
            self.declare_variable(name, variable.clone());
        }
    }

    /// Merges a transformer configuration into the accumulated one.
    pub(crate) fn merge_config(&mut self, other: &Arc<TransformerConfig>, place: &Node) {
        match merged(&self.config, other) {
            Ok(both) => self.config = both,
            Err(conflict) => self.fail(conflict.finding(place.span())),
        }
    }

    /// Declares a variable; a second declaration of a name is an error.
    pub(crate) fn declare_variable(&mut self, name: &Name, variable: Variable) {
        match self.variables.get(name) {
            Some(first) => {
                let message = format!("the variable `{name}` is declared twice");
                let finding = Finding::error(FAILED_BUILD, variable.place, message);
                let finding = finding.related(first.place.clone(), "first here");
                self.fail(finding.help("give each variable its own name; kustomize refuses this"));
            }
            None => {
                self.variables.insert(name.clone(), variable);
            }
        }
    }

    pub(crate) fn add(&mut self, mut resource: Resource, item: &Node) {
        if let Some(schema) = &self.schema {
            resource.set_schema(schema);
        }
        if self.is_too_large || self.resources.list.len() >= MAX_OBJECTS {
            if !self.is_too_large {
                let message = format!("this build holds more than {MAX_OBJECTS} objects; it was given up");
                self.fail(Finding::error(FAILED_BUILD, item.span().clone(), message));
            }
            self.is_too_large = true;
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
    pub(crate) fn clear_if_too_large(&mut self) {
        if self.is_too_large {
            self.resources = Resources::default();
        }
    }

    /// Two objects that a `namespace` gave one name.
    pub(crate) fn reject_id_conflicts(&mut self, place: &Node) {
        let mut seen: Index<ResourceId, usize> = Index::default();
        let mut conflicts = Vec::new();
        for (position, resource) in self.resources.list.iter().enumerate() {
            if let Some(first) = seen.insert(resource.id.clone(), position) {
                let object = |index: usize| Object { node: self.resources.list[index].node.clone() }.span().clone();
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
const CHART_FIELDS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// Notes what kustomize refuses of a kustomization's fields, and what this engine does not carry out.
pub(crate) fn count_fields(definition: &Definition, accumulator: &mut Accumulator) {
    definition.findings.iter().for_each(|finding| accumulator.fail(finding.clone()));
    for entry in definition.node.entries() {
        if let Some(field) = CHART_FIELDS.iter().find(|field| ***field == *entry.key) {
            entry.node.items().iter().for_each(|chart| accumulator.leave_out(field, not_inflated(chart)));
        } else if &*entry.key == "helmGlobals" && !entry.node.is_null() {
            accumulator.count("helmGlobals");
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
pub(crate) fn is_local(node: &Node) -> bool {
    let value = node.at_keys(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
    value.is_some_and(|value| value.text() != Some("false"))
}
