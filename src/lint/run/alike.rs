//! Classes of clusters that rules judge equally.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::options::{FormerTenants, Options};
use crate::flux::{Installation, Locks, Receiver, Repo, Shape, Shapes};
use crate::lint::facts::installation::Installations;
use crate::yaml::Name;

/// The classes of some receivers. The receivers of a class have equal shapes and equal settings.
pub(super) struct Classes {
    /// The number of the class of each receiver.
    of_receiver: Vec<usize>,
    /// The first receiver of each class.
    first: Vec<usize>,
}

/// The inputs of the rules for one receiver. Receivers with equal keys are alike.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    shape: Shape,
    target: Option<Name>,
    is_production: bool,
    programs: Vec<&'a str>,
    declared: Vec<bool>,
    installations: Vec<(&'a str, bool, &'a BTreeMap<String, Locks>)>,
    former_tenants: Option<&'a FormerTenants>,
    /// The versions of Flux and Kubernetes in fleet.yaml.
    versions: Option<(Option<&'a str>, Option<&'a str>)>,
    /// The name, if the configuration has settings of the cluster itself, or a program mentions paths.
    name: Option<&'a str>,
}

impl Classes {
    /// Groups receivers into classes.
    pub(super) fn new<'a>(repo: &'a Repo, receivers: &[&Receiver<'a>], options: &'a Options) -> Self {
        if receivers.len() < 2 {
            return Self { of_receiver: vec![0; receivers.len()], first: (0..receivers.len()).collect() };
        }
        let shapes = Shapes::new(&repo.clusters);
        let installations = Installations::in_repository(repo);
        let key = |receiver: &&Receiver<'a>| Key::new(repo, receiver, &shapes, &installations, options);
        let keys: Vec<Key<'_>> = receivers.par_iter().map(key).collect();
        let mut known: BTreeMap<&Key<'_>, usize> = BTreeMap::new();
        let (mut of_receiver, mut first) = (Vec::with_capacity(keys.len()), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            let class = *known.entry(key).or_insert_with(|| {
                first.push(at);
                first.len() - 1
            });
            of_receiver.push(class);
        }
        Self { of_receiver, first }
    }

    /// The number of the class of a receiver.
    pub(super) fn of(&self, receiver: usize) -> usize {
        self.of_receiver.get(receiver).copied().unwrap_or_default()
    }

    /// The first receiver of each class.
    pub(super) fn first(&self) -> &[usize] {
        &self.first
    }
}

impl<'a> Key<'a> {
    fn new(
        repo: &'a Repo,
        receiver: &Receiver<'a>,
        shapes: &Shapes,
        installations: &Installations<'a>,
        options: &'a Options,
    ) -> Self {
        let (cluster, settings) = (receiver.cluster, &options.settings.config);
        let full_name = receiver.to_string();
        let installed = |installation: &'a Installation| {
            let own = installation.folder.strip_prefix(cluster.folder.as_str()).filter(|_| !cluster.folder.is_empty());
            (own.unwrap_or(&installation.folder), installation.brings_controllers, &installation.locks)
        };
        let programs = repo.other_programs.of_cluster(&cluster.name);
        let is_special = cluster.name.is_empty()
            || settings.clusters.contains_key(&*cluster.name)
            || settings.clusters.contains_key(&full_name)
            || programs.mentions_paths();
        let versions = options.settings.fleet.get(&full_name);
        Self {
            shape: shapes.of(cluster),
            target: receiver.target.clone(),
            is_production: options.lint.production.has(&full_name),
            programs: programs.files().collect(),
            declared: settings.external.iter().map(|declared| declared.is_on(&cluster.name)).collect(),
            installations: installations.of_receiver(receiver).into_iter().map(installed).collect(),
            former_tenants: options.former_tenants.get(&full_name),
            versions: versions.map(|versions| (versions.flux.as_deref(), versions.kubernetes.as_deref())),
            name: is_special.then_some(&*cluster.name),
        }
    }
}
