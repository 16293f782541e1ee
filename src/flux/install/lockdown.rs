//! The multi-tenancy lockdown of controllers, set by their arguments.

use std::collections::BTreeMap;

use super::deployments::{controllers_in, controllers_of};
use super::installation::{COMPONENTS_FILE, CONTROLLERS, SYNC_FILE};
use super::kustomizations::KustomizationFile;
use crate::kube::Object;
use crate::kustomize::{Builder, file_in, references_of};
use crate::text::Span;
use crate::yaml::Node;

/// The flags.
const CROSS_NAMESPACE: &str = "--no-cross-namespace-refs";
const REMOTE_BASES: &str = "--no-remote-bases";
const DEFAULT_ACCOUNT: &str = "--default-service-account";
const FLAGS: [&str; 3] = [CROSS_NAMESPACE, REMOTE_BASES, DEFAULT_ACCOUNT];

/// The lockdown of one controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locks {
    /// Whether it refuses references to other namespaces.
    pub cross_namespace: bool,
    /// Whether it refuses remote bases of kustomizations.
    pub remote_bases: bool,
    /// The service account that it impersonates by default.
    pub default_account: Option<String>,
}

/// A kustomization that contains the installation of Flux.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The directory of the kustomization.
    pub folder: String,
    /// The place where it lists the manifests.
    pub place: Span,
    /// Whether it contains the controllers, and not only the sync.
    pub brings_controllers: bool,
    /// The lockdown that its patches set, by controller.
    pub(crate) locks: BTreeMap<String, Locks>,
}

impl Locks {
    /// Reads the lockdown from the arguments of a controller's Deployment.
    pub fn read(deployment: &Object) -> Self {
        let mut locks = Self::default();
        locks.take(deployment);
        locks
    }

    /// Applies the arguments of a controller's Deployment after those that are already known.
    fn take(&mut self, deployment: &Object) {
        for Argument { flag, value, .. } in arguments(deployment) {
            match flag {
                CROSS_NAMESPACE => self.cross_namespace = value.is_none_or(is_true),
                REMOTE_BASES => self.remote_bases = value.is_none_or(is_true),
                _ => self.default_account = value.filter(|name| !name.is_empty()).map(str::to_owned),
            }
        }
    }

    /// The arguments of a Deployment that disable a flag, each with the flag and its place. The last argument of a flag
    /// counts.
    pub fn disabling(deployment: &Object) -> Vec<(&'static str, &Span)> {
        let mut last: BTreeMap<&'static str, Argument<'_>> = BTreeMap::new();
        last.extend(arguments(deployment).map(|argument| (argument.flag, argument)));
        let disables = |argument: &Argument<'_>| match argument.flag {
            DEFAULT_ACCOUNT => argument.value.is_none_or(str::is_empty),
            _ => argument.value.is_some_and(|value| !is_true(value)),
        };
        last.into_values().filter(disables).map(|argument| (argument.flag, argument.place)).collect()
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

    /// The arguments that set the lockdown.
    fn arguments(&self) -> Vec<String> {
        let cross_namespace = self.cross_namespace.then(|| format!("{CROSS_NAMESPACE}=true"));
        let remote_bases = self.remote_bases.then(|| format!("{REMOTE_BASES}=true"));
        let account = self.default_account.as_ref().map(|account| format!("{DEFAULT_ACCOUNT}={account}"));
        [cross_namespace, remote_bases, account].into_iter().flatten().collect()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cross_namespace |= other.cross_namespace;
        self.remote_bases |= other.remote_bases;
        self.default_account = other.default_account.or(self.default_account.take());
    }
}

/// An argument of a controller that belongs to the lockdown.
struct Argument<'a> {
    flag: &'static str,
    value: Option<&'a str>,
    place: &'a Span,
}

/// The arguments of a Deployment that belong to the lockdown, in their order.
fn arguments(deployment: &Object) -> impl Iterator<Item = Argument<'_>> {
    let containers = deployment.node.at_keys(&["spec", "template", "spec", "containers"]);
    let lists = containers.map_or(&[][..], Node::items).iter().map(|container| container.get("args"));
    lists.flat_map(|list| {
        let items = list.map_or(&[][..], Node::items);
        items.iter().enumerate().filter_map(|(at, item)| {
            let text = item.text()?;
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let flag = FLAGS.into_iter().find(|flag| *flag == name)?;
            // The value of a flag with a value may be a separate argument.
            let next = || items.get(at + 1).filter(|_| flag == DEFAULT_ACCOUNT).and_then(Node::text);
            Some(Argument { flag, value: value.or_else(next), place: item.span() })
        })
    })
}

/// The lockdown of controllers that a FluxInstance sets by `multitenant` or by patches.
///
/// The patches of the user come after those of the operator for `multitenant`, so they may revert the lockdown.
pub fn locks_of_instance(instance: &Object) -> BTreeMap<String, Locks> {
    let mut found: BTreeMap<String, Locks> = BTreeMap::new();
    for name in CONTROLLERS {
        let locks = locks_of_multitenant(instance, name);
        if locks != Locks::default() {
            found.insert(name.to_string(), locks);
        }
    }
    for deployment in patched_controllers(instance) {
        found.insert(deployment.name().to_string(), Locks::read(&deployment));
    }
    found
}

/// The Deployments of the controllers of a FluxInstance, if its patches may change the lockdown.
pub fn patched_controllers(instance: &Object) -> Vec<Object> {
    let patches = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    let concerns = |text: &str| {
        // A patch may also replace all arguments.
        mentions_flags(text) || text.lines().any(|line| line.trim_end().ends_with("/args") || line.contains("args:"))
    };
    if !patches.iter().any(|patch| patch.get("patch").and_then(Node::text).is_some_and(concerns)) {
        return Vec::new();
    }
    controllers_of(instance, |name| locks_of_multitenant(instance, name).arguments())
}

/// The lockdown that `multitenant: true` of a FluxInstance sets for a controller.
fn locks_of_multitenant(instance: &Object, controller: &str) -> Locks {
    if instance.text_at(&["spec", "cluster", "multitenant"]) != Some("true") || controller == "source-controller" {
        return Locks::default();
    }
    let account = instance.text_at(&["spec", "cluster", "tenantDefaultServiceAccount"]);
    let account = account.filter(|account| !account.is_empty()).unwrap_or("default");
    let applies = matches!(controller, "kustomize-controller" | "helm-controller");
    Locks {
        cross_namespace: true,
        remote_bases: controller == "kustomize-controller",
        default_account: applies.then(|| account.to_string()),
    }
}

impl Installation {
    /// The installations of a repository, including kustomizations that patch another one; one per directory.
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

    /// The lockdown that its patches set for a controller.
    pub fn locks(&self, controller: &str) -> Locks {
        self.locks.get(controller).cloned().unwrap_or_default()
    }

    fn take_patches(&mut self, builder: &Builder) {
        if !patches(builder, &self.folder).iter().any(|text| mentions_flags(text)) {
            return;
        }
        for deployment in controllers_in(builder, &self.folder) {
            self.locks.entry(deployment.name().to_string()).or_default().take(&deployment);
        }
    }
}

/// The text of the patches of a directory's kustomization.
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
    FLAGS.iter().any(|flag| text.contains(flag))
}

/// Returns whether a text is a true boolean in Go.
///
/// Source: `strconv.ParseBool`.
fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}
