//! The accumulator of a directory's build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{FaultKind, Finding, Severity};
use crate::kube::Object;
use crate::kustomize::fieldspec::builtin_fieldspecs::merged;
use crate::kustomize::fieldspec::field_spec::FieldSpec;
use crate::kustomize::fieldspec::transformer_config::TransformerConfig;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::remote_base::{self, RemoteBase, UnreadBase};
use crate::kustomize::objects::patch_targets::{self, PatchTarget};
use crate::kustomize::objects::resources::{Resource, ResourceId, Resources};
use crate::kustomize::omission::{Omission, Omissions};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::state::totals::Totals;
use crate::kustomize::text::size_limits::MAX_STEPS;
use crate::text::{Index, Reads, Span};
use crate::yaml::{Name, Node};

/// The maximum number of objects in a build.
const MAX_OBJECTS: usize = 100_000;

/// The memory of an item of a list or of an entry of a mapping that a change copies, in bytes.
const MEMORY_OF_COPY: usize = 160;

/// The maximum size of all objects of a build and of the files that its generators read, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// The number of field specs, or of copied fields, that take as much time as the visit of a value.
const FIELDS_OF_STEP: usize = 8;

/// The approximate memory for a former id of an object and for the changes of its fields, in bytes. Each of many levels
/// of bases may rename all objects.
const BYTES_OF_FORMER_ID: usize = 256;

/// The help of a build that exceeds a limit.
const SPLIT: &str = "split the kustomization; the linter does not build a larger one";

/// The number of findings above which duplicates are removed early.
const MANY_FINDINGS: usize = 1_000;

/// The result of a directory before the final steps, as kustomize's `ResAccumulator`.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
pub(crate) struct Accumulator {
    pub(crate) resources: Resources,
    pub(crate) findings: Vec<Finding>,
    pub(crate) not_done: Omissions,
    /// Notices about inputs that the build omits because they are remote or need another program.
    pub(crate) left_out: Vec<Finding>,
    /// The Helm charts that were not inflated.
    pub(crate) charts: Vec<Finding>,
    /// The patches with a `target`, and whether the target selected objects.
    pub(crate) patch_targets: Vec<PatchTarget>,
    /// The objects that generators cannot change because they do not exist, with the positions of the findings.
    pub(crate) unmatched_generators: Vec<(usize, ResourceId)>,
    /// The bases that kustomizations load from a URL.
    pub(crate) remote: Vec<RemoteBase>,
    /// The bases whose objects are missing, because the bases have no copy.
    pub(crate) unread: BTreeSet<UnreadBase>,
    /// Whether `gotk-components.yaml` is still empty, so that Flux's own manifests are missing.
    pub(crate) awaits_bootstrap: bool,
    /// The counts of `not_done` without the counts of bases.
    pub(crate) own_not_done: Omissions,
    pub(crate) folders: BTreeSet<String>,
    /// Whether the kustomization is a Component, which cannot be an item of `resources`.
    pub(crate) is_component: bool,
    /// The error about an empty kustomization, for a kustomization that includes it.
    pub(crate) empty: Option<Finding>,
    /// The merged transformer configuration.
    pub(crate) config: Arc<TransformerConfig>,
    /// The variables that `vars` declares.
    pub(crate) variables: BTreeMap<Name, Variable>,
    /// The schema of the `openapi` field.
    pub(crate) schema: Option<Arc<UserSchema>>,
    /// The path of the kustomization, if origins and transformations are recorded.
    pub(crate) traced_file: Option<Name>,
    /// Whether objects may be missing or wrong, because of an error or an unsupported feature.
    pub(crate) is_incomplete: bool,
    /// Whether all objects are known, but some of their fields are not.
    pub(crate) is_outlined: bool,
    /// Whether the build exceeds a limit of objects, bytes or steps.
    pub(crate) is_too_large: bool,
    /// The size of all objects in bytes.
    pub(crate) bytes: usize,
    /// The number of nodes that transformers visited.
    pub(crate) steps: usize,
    /// What the build of the directory read, if it was recorded.
    pub(crate) reads: Option<Reads>,
    /// The cost of all builds of the run.
    pub(crate) totals: Arc<Totals>,
}

/// A variable that `vars` declares.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// The path of the field with the value, separated by dots.
    pub(crate) path: String,
    /// The position of the declaration.
    pub(crate) span: Span,
}

impl Accumulator {
    /// Creates an empty accumulator of a build. All builds of the run share `totals`.
    pub(crate) fn within(totals: &Arc<Totals>) -> Self {
        Self { totals: totals.clone(), ..Self::default() }
    }

    /// Creates an empty accumulator of a part of the same build.
    pub(crate) fn part(&self) -> Self {
        Self { is_incomplete: self.is_incomplete, ..Self::within(&self.totals) }
    }

    /// Reports an error, after which objects may be missing.
    pub(crate) fn fail(&mut self, finding: Finding) {
        self.is_incomplete = true;
        self.findings.push(finding);
    }

    /// Runs a step that changes the objects. If the step reports an error, the objects may lack its changes.
    pub(crate) fn change(&mut self, step: impl FnOnce(&mut Self)) {
        let before = self.findings.len();
        step(self);
        let added = self.findings.get(before..).unwrap_or_default();
        if added.iter().any(|finding| finding.severity == Severity::Error) {
            self.resources.miss_changes();
        }
    }

    /// Reports an error of an input that would change the objects.
    pub(crate) fn fail_to_change(&mut self, finding: Finding) {
        self.fail(finding);
        self.resources.miss_changes();
    }

    /// Counts an omission, after which objects may be missing.
    pub(crate) fn skip(&mut self, omission: Omission) {
        self.is_incomplete = true;
        self.count(omission);
    }

    /// Counts bytes of an object or a file, and returns whether the build is still within its limit.
    pub(crate) fn take_bytes(&mut self, bytes: usize, at: &Span) -> bool {
        self.totals.add_bytes(bytes);
        self.take_shared_bytes(bytes, at)
    }

    /// Counts copied items and entries, and returns whether all builds of the run are still within their limits.
    pub(crate) fn take_copies(&mut self, count: usize, at: &Span) -> bool {
        self.totals.add_bytes(count.saturating_mul(MEMORY_OF_COPY));
        self.is_within_totals(at)
    }

    /// Counts bytes that other builds share, and returns whether the build is still within its limit.
    fn take_shared_bytes(&mut self, bytes: usize, at: &Span) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            self.stop(at, format!("the objects of this build are larger than {} MiB", MAX_BYTES >> 20), SPLIT);
        }
        self.is_within_totals(at)
    }

    /// Counts the visit of all objects by a transformer, and returns whether the build is still within its limit.
    ///
    /// The transformer adds `added` entries to each object, one after the other.
    pub(crate) fn take_visit(&mut self, added: usize, at: &Span) -> bool {
        let nodes: usize = self.resources.list.iter().map(|resource| resource.node.size().saturating_add(added)).sum();
        self.take_steps(nodes.saturating_mul(added.max(1)), at)
    }

    /// Counts the visit of all objects by a transformer with field specs, as [`take_visit`](Self::take_visit) does.
    ///
    /// Every field spec that matches an object copies the mappings on its path, and may create all fields of the path.
    pub(crate) fn take_fields(&mut self, specs: &[FieldSpec], added: usize, at: &Span) -> bool {
        let mut steps: usize = 0;
        for resource in &self.resources.list {
            let matching = specs.iter().filter(|spec| spec.matches(&resource.id));
            let (count, depth) = matching.fold((0, 0), |(count, depth), spec| (count + 1, depth + spec.depth()));
            let nodes = resource.node.size().saturating_add(added);
            let copied = (nodes + depth).saturating_mul(count).saturating_mul(added.max(1)) / FIELDS_OF_STEP;
            let visited = nodes.saturating_mul(added.max(1)).saturating_add(copied);
            steps = steps.saturating_add(visited).saturating_add(specs.len() / FIELDS_OF_STEP);
            if self.steps.saturating_add(steps) > MAX_STEPS {
                break;
            }
        }
        self.take_steps(steps, at)
    }

    /// Counts values that a transformer visits, and returns whether the build is still within its limit.
    pub(crate) fn take_steps(&mut self, steps: usize, at: &Span) -> bool {
        self.totals.add_steps(steps);
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            self.stop(at, format!("the transformers of this build visit more than {MAX_STEPS} values"), SPLIT);
        }
        self.is_within_totals(at)
    }

    /// Returns whether this build and all builds of the run are still within their limits.
    fn is_within_totals(&mut self, at: &Span) -> bool {
        if !self.is_too_large && self.totals.are_exceeded() {
            let exceeded = self.totals.exceeded().unwrap_or_default();
            self.fail(too_many(at, &exceeded));
            self.is_too_large = true;
        }
        !self.is_too_large
    }

    /// Ends the build at a limit, which is reported once.
    fn stop(&mut self, at: &Span, message: String, help: &str) {
        if !self.is_too_large {
            self.fail(Finding::error(FAILED_BUILD, at.clone(), message).help(help));
        }
        self.is_too_large = true;
    }

    /// Reports and counts an input that the build omits because it is remote or needs another program.
    pub(crate) fn leave_out(&mut self, omission: Omission, finding: Finding) {
        self.skip(omission);
        match omission {
            Omission::HelmCharts | Omission::HelmChartInflationGenerator => self.charts.push(finding),
            _ => self.left_out.push(finding),
        }
    }

    /// Leaves out a base at a URL without a copy.
    pub(crate) fn leave_out_base(&mut self, omission: Omission, url: &str, finding: Finding) {
        self.unread.insert(UnreadBase { url: url.into(), namespace: None, renamed: BTreeSet::new() });
        self.leave_out(omission, finding);
    }

    /// Sets the namespace of the missing objects of unread bases.
    pub(crate) fn move_unread(&mut self, namespace: &str) {
        let moved = |base| UnreadBase { namespace: Some(namespace.into()), ..base };
        self.unread = std::mem::take(&mut self.unread).into_iter().map(moved).collect();
    }

    /// Adds a name that a patch gives to the Namespaces of unread bases.
    pub(crate) fn rename_unread(&mut self, name: &str) {
        let renamed = |mut base: UnreadBase| {
            base.renamed.insert(name.into());
            base
        };
        self.unread = std::mem::take(&mut self.unread).into_iter().map(renamed).collect();
    }

    /// Counts an omission.
    pub(crate) fn count(&mut self, omission: Omission) {
        *self.not_done.entry(omission).or_default() += 1;
        *self.own_not_done.entry(omission).or_default() += 1;
    }

    /// Merges the result of a base.
    pub(crate) fn merge_base(&mut self, base: &Self, item: &Node) {
        self.is_incomplete |= base.is_incomplete;
        self.is_too_large |= base.is_too_large;
        self.awaits_bootstrap |= base.awaits_bootstrap;
        self.patch_targets.extend(base.patch_targets.iter().cloned());
        self.remote.extend(base.remote.iter().cloned());
        self.unread.extend(base.unread.iter().cloned());
        if self.remote.len() > MANY_FINDINGS {
            remote_base::deduplicate(&mut self.remote);
        }
        if self.patch_targets.len() > MANY_FINDINGS {
            patch_targets::deduplicate(&mut self.patch_targets);
        }
        base.empty.iter().for_each(|finding| self.fail(finding.clone().related(item.span().clone(), "included here")));
        self.findings.extend(base.findings.iter().cloned());
        self.left_out.extend(base.left_out.iter().cloned());
        self.charts.extend(base.charts.iter().cloned());
        self.folders.extend(base.folders.iter().cloned());
        for (omission, count) in &base.not_done {
            let all = self.not_done.entry(*omission).or_default();
            *all = all.saturating_add(*count);
        }
        // A base that is included many times repeats its findings.
        for findings in [&mut self.findings, &mut self.left_out, &mut self.charts] {
            if findings.len() > MANY_FINDINGS {
                crate::base::group_findings::sort(findings);
            }
        }
        self.merge_config(&base.config, item);
        for (name, variable) in &base.variables {
            self.declare_variable(name, variable.clone());
        }
    }

    /// Merges a transformer configuration.
    pub(crate) fn merge_config(&mut self, other: &Arc<TransformerConfig>, location: &Node) {
        match merged(&self.config, other) {
            Ok(both) => self.config = both,
            Err(conflict) => self.fail(conflict.finding(location.span())),
        }
    }

    /// Declares a variable; a second declaration of a name is an error.
    pub(crate) fn declare_variable(&mut self, name: &Name, variable: Variable) {
        match self.variables.get(name) {
            Some(first) => {
                let message = format!("the variable `{name}` is declared twice");
                let finding = Finding::error(FAILED_BUILD, variable.span, message);
                let finding = finding.related(first.span.clone(), "first declared here");
                self.fail(finding.help("use another name; kustomize rejects duplicate variables"));
            }
            None => {
                self.variables.insert(name.clone(), variable);
            }
        }
    }

    /// Adds an object; a duplicate id is an error.
    pub(crate) fn add(&mut self, mut resource: Resource, item: &Node) {
        if let Some(schema) = &self.schema {
            resource.set_schema(schema);
        }
        if self.resources.list.len() >= MAX_OBJECTS {
            self.stop(item.span(), format!("this build has more than {MAX_OBJECTS} objects"), SPLIT);
        }
        // The length of the text, since the size of the nodes takes time. Generators count what they read.
        self.totals.add_objects(1);
        let ids = resource.history.previous.len().saturating_mul(BYTES_OF_FORMER_ID);
        let is_small = self.take_bytes(ids, item.span());
        if !is_small || !self.take_shared_bytes(resource.node.span().range().len(), item.span()) {
            return;
        }
        let position = self.resources.list.len();
        if let Some(first) = self.resources.claim(&resource.id, position) {
            let id = &resource.id;
            let message = format!("{} `{}` is a duplicate in this build", id.kind, id.name);
            let finding = Finding::error(FAILED_BUILD, item.span().clone(), message)
                .related(Object { node: resource.node.clone() }.span().clone(), "also defined here")
                .related(Object { node: self.resources.list[first].node.clone() }.span().clone(), "first defined here")
                .help("include each object once, or patch it");
            // A copied base has many objects with the names of the original.
            let place = format!("{}:{}", item.span().file().path(), item.span().range().start);
            let summary = format!(" objects of `{}` are duplicates in this build", item.text().unwrap_or_default());
            self.fail(finding.caused_by(place, "", summary).counting_messages());
            return;
        }
        self.resources.list.push(resource);
    }

    /// Removes the objects of a build with too many objects, so that outer kustomizations do not process them.
    pub(crate) fn clear_if_too_large(&mut self) {
        if self.is_too_large {
            self.resources = Resources::default();
        }
    }

    /// Reports objects that get the same id from `namespace`.
    pub(crate) fn reject_id_conflicts(&mut self, location: &Node) {
        let mut seen: Index<ResourceId, usize> = Index::default();
        let mut conflicts = Vec::new();
        for (position, resource) in self.resources.list.iter().enumerate() {
            if let Some(first) = seen.insert(resource.id.clone(), position) {
                let object = |index: usize| Object { node: self.resources.list[index].node.clone() }.span().clone();
                let message = format!(
                    "two objects would become {} `{}` in the same namespace",
                    resource.id.kind, resource.id.name
                );
                let finding = Finding::error(FAILED_BUILD, location.span().clone(), message)
                    .related(object(first), "the first object")
                    .related(object(position), "the second object");
                conflicts.push(finding);
            }
        }
        for finding in conflicts {
            self.fail(finding);
        }
    }
}

/// The finding of a build at which all builds together exceed a limit.
fn too_many(at: &Span, exceeded: &str) -> Finding {
    let summary = format!(" directories are not built completely: all builds together {exceeded}");
    Finding::error(FAILED_BUILD, at.clone(), format!("all builds together {exceeded}"))
        .of_kind(FaultKind::LimitOfAllBuilds)
        .help("split the repository; the linter does not build the rest")
        .caused_by("all builds", "", summary)
}

/// The fields whose items need Helm.
const CHART_FIELDS: [(&str, Omission); 2] =
    [("helmCharts", Omission::HelmCharts), ("helmChartInflationGenerator", Omission::HelmChartInflationGenerator)];

/// Reports errors in the fields of a kustomization, and counts unsupported fields.
pub(crate) fn count_fields(definition: &Definition, accumulator: &mut Accumulator) {
    definition.findings.iter().for_each(|finding| accumulator.fail(finding.clone()));
    for entry in definition.node.entries() {
        if let Some((_, omission)) = CHART_FIELDS.iter().find(|(field, _)| *field == &*entry.key) {
            entry.node.items().iter().for_each(|chart| accumulator.leave_out(*omission, not_inflated(chart)));
        } else if &*entry.key == "helmGlobals" && !entry.node.is_null() {
            accumulator.count(Omission::HelmGlobals);
        }
    }
}

fn not_inflated(chart: &Node) -> Finding {
    let name = chart.get("name").or_else(|| chart.get("chartName")).filter(|name| name.text().is_some());
    let message = match name.and_then(Node::text) {
        Some(name) => format!("the Helm chart `{name}` was not inflated, because inflation requires Helm"),
        None => "a Helm chart was not inflated, because inflation requires Helm".to_owned(),
    };
    let help = "use a HelmRelease, or render the chart to a file; Flux does not build this directory either";
    Finding::error(FAILED_BUILD, name.unwrap_or(chart).span().clone(), message).help(help)
}

/// Returns whether an object is for local use only, so that kustomize removes it from the output.
pub(crate) fn is_local(node: &Node) -> bool {
    let value = node.at_keys(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
    value.is_some_and(|value| value.text() != Some("false"))
}
