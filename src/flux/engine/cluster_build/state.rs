//! The state of the build of one cluster.

use std::sync::Arc;

use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::context::BuildContext;
use crate::flux::build::output::Output;
use crate::flux::cluster::cluster_index::ClusterIndex;
use crate::flux::install::roots::root::Root;
use crate::flux::install::version::Strictness;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::model::variables::Variables;
use crate::kube::ObjectKey;
use crate::text::Index;

/// An applier of a cluster during the build.
pub(crate) struct Slot {
    pub(crate) spec: Arc<ApplierSpec>,
    pub(crate) parent: Option<usize>,
    pub(crate) variables: Arc<Variables>,
    /// The memo key of the output, once it is known. After the build, only outputs that are not shared have their keys.
    pub(super) key: Option<Arc<BuildKey>>,
    /// The output; `None` until it is built.
    pub(crate) output: Option<Arc<Output>>,
    /// Whether the index of the cluster contains the output.
    pub(super) is_collected: bool,
    /// The number of steps since an object arrived for which the applier waits.
    pub(super) tries: u8,
    /// Whether `waiting` has the applier.
    pub(super) is_waiting: bool,
}

/// The build of one cluster, until its fixed point.
pub(crate) struct ClusterBuild {
    pub(crate) root: Root,
    pub(crate) slots: Vec<Slot>,
    pub(crate) strictness: Strictness,
    /// The number of new objects that may change `strictness`.
    pub(super) new_inputs: usize,
    pub(super) bootstrap_output: Arc<Output>,
    /// The objects of the current pass.
    pub(crate) index: ClusterIndex,
    /// The objects of the previous pass, if there was one. Lookups then use these objects instead of `index`.
    pub(super) previous_index: Option<ClusterIndex>,
    pub(super) seen: Index<Arc<ObjectKey>, ()>,
    /// The number of times that the build has started again from the root.
    pub(super) passes: usize,
    /// Whether a reference to a missing object waits for appliers that are not built yet.
    pub(super) waits_for_missing: bool,
    /// The appliers that wait for an object. Without this index, a chain of appliers takes quadratic time.
    pub(super) waiting: Index<ObjectKey, Vec<usize>>,
    /// Whether controllers create objects from other objects, so that any object may complete another one.
    pub(super) has_makers: bool,
    pub(super) complete: bool,
    /// The appliers whose inputs changed after they were built.
    pub(super) unstable: Vec<usize>,
    /// The first applier that is not built because of a limit, with the message of its finding.
    pub(super) first_refusal: Option<(Arc<ApplierSpec>, String)>,
    /// The number of appliers that are written at each position.
    pub(super) written_at: Index<(String, u32), usize>,
    /// The number of objects that the appliers of the current pass apply, and the limit.
    pub(super) applied: usize,
    pub(super) most_applied: usize,
}

impl ClusterBuild {
    pub(crate) fn new(root: Root, most_applied: usize, context: &BuildContext<'_>) -> Self {
        let bootstrap_output = Arc::new(Output::new(root.objects.clone(), root.findings.clone()));
        let mut build = Self {
            index: ClusterIndex::new(&root, context.settings),
            root,
            slots: Vec::new(),
            strictness: Strictness::default(),
            new_inputs: 1,
            bootstrap_output,
            previous_index: None,
            seen: Index::default(),
            passes: 0,
            waits_for_missing: true,
            waiting: Index::default(),
            has_makers: false,
            complete: false,
            unstable: Vec::new(),
            first_refusal: None,
            written_at: Index::default(),
            applied: 0,
            most_applied,
        };
        build.slots.push(build.bootstrap_slot());
        build
    }

    /// The index in which appliers look up references.
    pub(super) fn lookup_index(&self) -> &ClusterIndex {
        self.previous_index.as_ref().unwrap_or(&self.index)
    }

    pub(super) fn bootstrap_slot(&self) -> Slot {
        let last = self.root.objects.last().unwrap_or_else(|| unreachable!("a root has objects"));
        let spec = ApplierSpec::read(ApplierKind::Bootstrap, last, || Arc::new(ObjectKey::of(last)));
        Slot { output: Some(self.bootstrap_output.clone()), ..Slot::new(Arc::new(spec), None) }
    }
}

impl Slot {
    /// A number that is equal for appliers with equal keys; `None` for the bootstrap.
    pub(crate) fn output_number(&self) -> Option<usize> {
        let output = self.output.as_ref().filter(|_| self.spec.kind != ApplierKind::Bootstrap)?;
        Some(self.key.as_ref().map_or(Arc::as_ptr(output).addr(), |key| Arc::as_ptr(key).addr()))
    }

    pub(super) fn new(spec: Arc<ApplierSpec>, parent: Option<usize>) -> Self {
        Self {
            spec,
            parent,
            variables: Arc::default(),
            key: None,
            output: None,
            is_collected: false,
            tries: 0,
            is_waiting: false,
        }
    }
}
