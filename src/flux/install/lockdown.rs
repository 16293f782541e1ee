//! The multi-tenancy lockdown of controllers, set by their arguments.

use std::collections::BTreeMap;

use super::command_line::CommandLine;
use super::deployments::{FIRST_ARGUMENT, controllers_in, controllers_of};
use super::installation::COMPONENTS_FILE;
use super::kustomizations::KustomizationFile;
use crate::kube::Object;
use crate::kube::groups::SYNC_FILE;
use crate::kustomize::{Builder, file_in, references_of};
use crate::text::Span;
use crate::yaml::Node;

/// The flag that forbids references to objects in other namespaces.
pub const CROSS_NAMESPACE: &str = "--no-cross-namespace-refs";
/// The flag that forbids remote bases in kustomize-controller.
pub const REMOTE_BASES: &str = "--no-remote-bases";
/// The flag that sets the service account of objects without `spec.serviceAccountName`.
pub const DEFAULT_ACCOUNT: &str = "--default-service-account";

/// The lockdown of one controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locks {
    /// Whether the controller refuses references to other namespaces.
    pub cross_namespace: bool,
    /// Whether the controller refuses remote bases of kustomizations.
    pub remote_bases: bool,
    /// The service account that the controller impersonates by default.
    pub default_account: Option<String>,
}

/// A kustomization that contains the installation of Flux.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The directory of the kustomization.
    pub folder: String,
    /// The position of the entry that lists the manifests of Flux.
    pub place: Span,
    /// Whether the kustomization contains the controllers, and not only the sync.
    pub brings_controllers: bool,
    /// The lockdown that the patches of the kustomization set, by controller.
    pub(crate) locks: BTreeMap<String, Locks>,
}

impl Locks {
    /// Reads the lockdown from the command line of a controller's Deployment.
    pub fn read(deployment: &Object) -> Self {
        Self::default().with_arguments(&CommandLine::all(deployment))
    }

    /// The lockdown with the arguments of a controller, which follow the arguments of `self`. If several containers run the
    /// controller, each must set a flag.
    fn with_arguments(self, lines: &[CommandLine]) -> Self {
        let is_set = |before: bool, flag: &str| {
            !lines.is_empty() && lines.iter().all(|line| line.values(flag).next_back().map_or(before, is_true))
        };
        let account = |line: &CommandLine| {
            let value = line.values(DEFAULT_ACCOUNT).next_back().map(str::to_owned);
            value.or_else(|| self.default_account.clone()).filter(|name| !name.is_empty())
        };
        let accounts: Option<Vec<String>> = lines.iter().map(account).collect();
        Self {
            cross_namespace: is_set(self.cross_namespace, CROSS_NAMESPACE),
            remote_bases: is_set(self.remote_bases, REMOTE_BASES),
            default_account: accounts.and_then(|accounts| accounts.into_iter().next()),
        }
    }

    /// The flags for multi-tenancy that a controller lacks.
    ///
    /// Source: the flags that `multitenant: true` of a FluxInstance adds to each controller.
    pub fn lacking(&self, controller: &str) -> Vec<&'static str> {
        let applies = matches!(controller, "kustomize-controller" | "helm-controller");
        let needed = [
            (controller != "source-controller" && !self.cross_namespace, CROSS_NAMESPACE),
            (controller == "kustomize-controller" && !self.remote_bases, REMOTE_BASES),
            (applies && self.default_account.is_none(), DEFAULT_ACCOUNT),
        ];
        needed.into_iter().filter(|(lacks, _)| *lacks).map(|(_, flag)| flag).collect()
    }

    /// Adds the lockdown of another Deployment of the same controller.
    pub(crate) fn add(&mut self, other: Self) {
        self.cross_namespace |= other.cross_namespace;
        self.remote_bases |= other.remote_bases;
        self.default_account = other.default_account.or(self.default_account.take());
    }
}

/// The lockdown that a FluxInstance sets with `multitenant` and with its patches, by controller. The patches come last.
pub fn locks_of_instance(instance: &Object) -> BTreeMap<String, Locks> {
    let deployments =
        if is_multitenant(instance) || patches_flags(instance) { controllers_of(instance) } else { Vec::new() };
    deployments.iter().map(|deployment| (deployment.name().to_string(), Locks::read(deployment))).collect()
}

/// The positions of the settings that revert the lockdown of a FluxInstance with `multitenant: true`: for each flag
/// that a controller lacks, the argument that disables the flag, or the patch that replaces the arguments.
pub fn reverting_places(instance: &Object, controller: &str) -> Vec<(&'static str, Span)> {
    if !is_multitenant(instance) {
        return Vec::new();
    }
    let deployments = controllers_of(instance);
    let Some(deployment) = deployments.iter().find(|deployment| deployment.name() == controller) else {
        return Vec::new();
    };
    let lacking = Locks::read(deployment).lacking(controller);
    let lines = CommandLine::all(deployment);
    let lacks = |line: &&CommandLine, flag: &&'static str| {
        Locks::default().with_arguments(std::slice::from_ref(line)).lacking(controller).contains(flag)
    };
    let place_of = |flag: &&'static str| {
        let line = lines.iter().find(|line| lacks(line, flag));
        line.map_or(deployment.node.span(), |line| line.place_of(flag)).clone()
    };
    lacking.into_iter().map(|flag| (flag, place_of(&flag))).collect()
}

fn is_multitenant(instance: &Object) -> bool {
    instance.text_at(&["spec", "cluster", "multitenant"]) == Some("true")
}

fn patches_flags(instance: &Object) -> bool {
    let patches = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    patches.iter().any(|patch| patch.get("patch").and_then(Node::text).is_some_and(mentions_flags))
}

impl Installation {
    /// The installations of a repository, one per directory. They include kustomizations that patch another
    /// installation.
    pub(crate) fn all(builder: &Builder, kustomizations: &[KustomizationFile]) -> Vec<Self> {
        let mut found: BTreeMap<&str, Self> = BTreeMap::new();
        let mut includers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for KustomizationFile { folder, references, .. } in kustomizations {
            for included in &references.included {
                includers.entry(included).or_default().push(folder);
            }
            found.extend(Self::of(builder, folder).map(|installation| (folder.as_str(), installation)));
        }
        let bringing = |found: &BTreeMap<&'_ str, Self>, folder: &str| {
            found.get(folder).filter(|installation| installation.brings_controllers).cloned()
        };
        let mut open: Vec<&str> = found.keys().copied().collect();
        while let Some(below) = open.pop() {
            let Some(base) = bringing(&found, below) else { continue };
            for folder in includers.get(below).map_or(&[][..], Vec::as_slice) {
                if bringing(&found, folder).is_none() {
                    let mut above = Self { folder: (*folder).to_string(), ..base.clone() };
                    above.take_patches(builder);
                    found.insert(folder, above);
                    open.push(folder);
                }
            }
        }
        found.into_values().collect()
    }

    fn of(builder: &Builder, folder: &str) -> Option<Self> {
        let path = file_in(builder.files(), folder).into_iter().next()?;
        let parsed = builder.files().get(&path)?;
        let document = &parsed.documents.first()?.node;
        let items =
            ["resources", "bases"].into_iter().flat_map(|field| document.get(field).map_or(&[][..], Node::items));
        let named = |file: &str| items.clone().find(|item| item.text().is_some_and(|text| text.ends_with(file)));
        let controllers = named(COMPONENTS_FILE);
        let place = controllers.or_else(|| named(SYNC_FILE))?.span().clone();
        let (folder, brings_controllers) = (folder.to_string(), controllers.is_some());
        let mut installation = Self { folder, place, brings_controllers, locks: BTreeMap::new() };
        installation.take_patches(builder);
        Some(installation)
    }

    /// The lockdown that the patches of the kustomization set for a controller.
    pub fn locks(&self, controller: &str) -> Locks {
        self.locks.get(controller).cloned().unwrap_or_default()
    }

    fn take_patches(&mut self, builder: &Builder) {
        let texts = patches(builder, &self.folder);
        if texts.is_empty() || self.locks.is_empty() && !texts.iter().any(|text| mentions_flags(text)) {
            return;
        }
        for deployment in controllers_in(builder, &self.folder) {
            // The patches of an overlay follow the patches of its base, unless they replace the arguments.
            let lines = CommandLine::all(&deployment);
            let locks = self.locks.entry(deployment.name().to_string()).or_default();
            let before = std::mem::take(locks);
            let keeps = lines.iter().all(|line| line.values(FIRST_ARGUMENT).next().is_some());
            *locks = if keeps { before } else { Locks::default() }.with_arguments(&lines);
        }
    }
}

/// The texts of the patches of a directory's kustomization.
fn patches(builder: &Builder, folder: &str) -> Vec<String> {
    let files = builder.files();
    let mut texts = Vec::new();
    for path in file_in(files, folder) {
        let Some(parsed) = files.get(&path) else { continue };
        let Some(document) = parsed.documents.first() else { continue };
        for field in ["patches", "patchesJson6902", "patchesStrategicMerge"] {
            let items = document.node.get(field).map_or(&[][..], Node::items);
            texts.extend(items.iter().filter_map(|item| Some(item.get("patch").unwrap_or(item).text()?.to_string())));
        }
        for path in references_of(files, &path).named {
            texts.extend(files.get(&path).map(|parsed| parsed.file.text().to_string()));
        }
    }
    texts
}

fn mentions_flags(text: &str) -> bool {
    [CROSS_NAMESPACE, REMOTE_BASES, DEFAULT_ACCOUNT].iter().any(|flag| text.contains(flag))
}

/// Returns whether a text is a true boolean in Go.
///
/// Source: `strconv.ParseBool`.
fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}
