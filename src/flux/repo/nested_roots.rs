//! Roots whose source is assumed to be a directory of the repository, since that directory contains the synced path.

use crate::address::Address;
use crate::base::finding::{Finding, ObjectRef};
use crate::flux::build::kustomization::MISSING_PATH;
use crate::flux::install::roots::root::Root;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Name;

/// A root whose source is assumed to be a directory of the repository.
#[derive(Debug, Clone)]
pub struct NestedRoot {
    /// The name of the cluster.
    pub cluster: Name,
    /// The directory that is the root of the source.
    pub folder: String,
    /// The address of the source.
    pub address: Address,
    /// The synced path, and its position.
    path: (String, Span),
    object: ObjectRef,
}

impl NestedRoot {
    /// The nested roots among the roots of a repository, without the declared ones.
    pub(super) fn all(roots: &[Root]) -> Vec<Self> {
        let of_git = |source: &Object| source.kind() == "GitRepository";
        let nested = roots.iter().filter(|root| root.path_exists && !root.is_declared && !root.syncs_other);
        let nested = nested.filter_map(|root| {
            let folder = root.prefix.clone().filter(|folder| !folder.is_empty())?;
            let url = root.source().filter(|source| of_git(source))?.text_at(&["spec", "url"])?;
            let sync = root.objects.last()?;
            let path = sync.node.at_keys(&["spec", "path"])?;
            Some(Self {
                cluster: root.name.clone(),
                folder,
                address: Address::new(url),
                path: (path.text()?.to_owned(), path.span().clone()),
                object: sync.reference(),
            })
        });
        nested.collect()
    }

    /// The finding for a source that is the whole repository.
    pub(super) fn finding(&self) -> Finding {
        let (path, place) = &self.path;
        let message = format!("no directory `{path}` in the repository of cluster `{}`", self.cluster);
        let help = format!(
            "set `path: ./{}`, and start the paths of the other Kustomizations with `./{}` too: the source is the whole \
             repository, and Flux applies nothing until the path exists",
            below(&self.folder, &clamp(path)),
            self.folder
        );
        let mut finding = Finding::error(MISSING_PATH, place.clone(), message).help(help).about(self.object.clone());
        finding.clusters.push(self.cluster.clone());
        finding
    }
}
