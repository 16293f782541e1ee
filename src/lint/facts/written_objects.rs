//! The objects that the files of a repository define. The clusters may not receive all of them.

use std::sync::OnceLock;

use super::definitions::Definitions;
use super::distinct::{DistinctObjects, written_position};
use super::reached::{ReachedFiles, has_charts};
use crate::base::finding::ObjectRef;
use crate::base::set_aside::is_set_aside_beside;
use crate::flux::source::{SourceRef, Sources};
use crate::flux::{AppliedSet, ApplierKind, FluxVersion, Repo, Settings};
use crate::kube::{Object, ObjectId, groups};
use crate::kustomize::{FILE_NAMES, file_in};
use crate::text::{Index, folder_of, join, normalize};
use crate::yaml::Node;

/// The objects of a repository by identity, collected at the first search.
pub(crate) struct WrittenObjects<'a> {
    repo: &'a Repo,
    /// `None` for an identity that several directories define.
    by_id: OnceLock<Index<ObjectId<'a>, Option<&'a Object>>>,
    argo: OnceLock<ArgoObjects<'a>>,
    reached: OnceLock<ReachedFiles<'a>>,
    unreached_kustomizations: OnceLock<Vec<(&'a Object, String)>>,
    /// The newest version of Flux among the components that the repository contains.
    newest_flux: OnceLock<Option<FluxVersion>>,
    /// The objects that clusters receive.
    received: OnceLock<Index<ObjectId<'a>, ReceivedObject<'a>>>,
    /// The kinds that the objects define.
    pub(crate) definitions: Definitions<'a>,
}

/// The objects of Argo CD.
#[derive(Default)]
struct ArgoObjects<'a> {
    /// The first object in each namespace, or with that target namespace.
    by_namespace: Index<&'a str, &'a Object>,
    /// The first object whose target namespace is a template.
    of_any: Option<&'a Object>,
}

impl<'a> ArgoObjects<'a> {
    fn of(repo: &'a Repo) -> Self {
        let mut found = Self::default();
        // Other projects of Argo have kinds in the same group.
        let is_of_argo_cd = |object: &&Object| {
            object.group() == "argoproj.io"
                && ["AppProject", "Application", "ApplicationSet", "ArgoCD"].contains(&object.kind())
        };
        let all = repo.objects.iter().map(|built| &built.object).chain(&repo.aside);
        for object in all.filter(is_of_argo_cd) {
            let target = match object.kind() {
                "Application" => object.text_at(&["spec", "destination", "namespace"]),
                "ApplicationSet" => object.text_at(&["spec", "template", "spec", "destination", "namespace"]),
                _ => None,
            };
            for namespace in target.into_iter().chain(object.namespace()) {
                found.by_namespace.entry_or(namespace, || object);
            }
            if target.is_some_and(|target| target.contains("{{")) {
                found.of_any = found.of_any.or(Some(object));
            }
        }
        found
    }
}

/// An object that a cluster receives.
#[derive(Clone, Copy)]
pub(crate) struct ReceivedObject<'a> {
    pub(crate) object: &'a Object,
    pub(crate) cluster: &'a str,
    /// The applier of the object; `None` if no file contains the applier.
    pub(crate) applier: Option<&'a ObjectRef>,
}

impl<'a> WrittenObjects<'a> {
    pub(crate) fn of(repo: &'a Repo, settings: &'a Settings) -> Self {
        Self {
            repo,
            by_id: OnceLock::new(),
            argo: OnceLock::new(),
            reached: OnceLock::new(),
            unreached_kustomizations: OnceLock::new(),
            newest_flux: OnceLock::new(),
            received: OnceLock::new(),
            definitions: Definitions::of_repository(repo, settings),
        }
    }

    /// The sources of the repository's clusters.
    pub(crate) fn sources(&self) -> Option<&'a Sources> {
        self.repo.sources.as_deref()
    }

    /// The object with an id, if a single directory defines it and no cluster reaches it.
    ///
    /// The directory must not be set aside.
    pub(crate) fn find_unreached(&self, id: ObjectId<'_>) -> Option<&'a Object> {
        self.find(id).filter(|object| !self.reached().may_reach(object))
    }

    /// The object with an id, if a single directory defines it.
    ///
    /// The directory must not be set aside.
    pub(crate) fn find(&self, id: ObjectId<'_>) -> Option<&'a Object> {
        let by_id = self.by_id.get_or_init(|| {
            let mut by_id: Index<ObjectId<'a>, Option<&'a Object>> = Index::default();
            let built = self.repo.objects.iter().map(|built| &built.object);
            for object in built.chain(&self.repo.aside) {
                let (root, path, _) = written_position(object);
                let has_charts = |folder: &str| has_charts(&self.repo.charts, folder);
                if root.is_some() || is_set_aside_beside(folder_of(path), |_| false, has_charts) {
                    continue;
                }
                let known = by_id.entry_or(ObjectId::of(object), || Some(object));
                if known.is_some_and(|known| folder_of(written_position(known).1) != folder_of(path)) {
                    *known = None;
                }
            }
            by_id
        });
        by_id.get(&id).copied().flatten()
    }

    /// An object with an id that a cluster receives, this cluster, and the applier that applies the object there.
    pub(crate) fn received(&self, id: ObjectId<'_>) -> Option<ReceivedObject<'a>> {
        let received = self.received.get_or_init(|| {
            let mut received: Index<ObjectId<'a>, ReceivedObject<'a>> = Index::default();
            // Most clusters have the same objects.
            let mut seen = DistinctObjects::default();
            for cluster in &self.repo.clusters {
                // No file contains the objects of a generated root.
                let is_written =
                    |set: &&AppliedSet| !cluster.evidence.is_generated || set.by.kind != ApplierKind::Bootstrap;
                let own = cluster.applied_sets.iter().filter(|set| set.by.target.is_none()).filter(is_written);
                for set in own {
                    let applier = (!cluster.is_generated(&set.by)).then_some(&set.by.reference);
                    for object in seen.take_new(&set.objects, 0) {
                        let by = ReceivedObject { object, cluster: &cluster.name, applier };
                        received.entry_or(ObjectId::of(object), || by);
                    }
                }
            }
            received
        });
        received.get(&id).copied()
    }

    /// The Kustomizations of the repository in some directories, each with the directory that it applies.
    pub(crate) fn kustomizations_in<'f>(
        &self,
        is_in: impl Fn(&str) -> bool + 'f,
    ) -> impl Iterator<Item = (&'a Object, String)> + 'f
    where
        'a: 'f,
    {
        let all = self.repo.objects.iter().map(|built| &built.object).chain(&self.repo.aside);
        let all = all.filter(move |object| {
            object.is(groups::KUSTOMIZE, "Kustomization") && is_in(folder_of(written_position(object).1))
        });
        all.filter_map(|object| Some((object, normalize(object.node.at_keys(&["spec", "path"])?.text()?)?)))
    }

    /// The newest version of Flux that a `gotk-components.yaml` of the repository installs.
    pub(crate) fn newest_flux(&self) -> Option<&FluxVersion> {
        let newest = self.newest_flux.get_or_init(|| {
            let all = self.repo.objects.iter().map(|built| &built.object).chain(&self.repo.aside);
            let namespaces = all.filter(|object| object.is("", "Namespace"));
            let components = namespaces.filter(|object| written_position(object).1.ends_with("gotk-components.yaml"));
            let versions =
                components.filter_map(|object| FluxVersion::parse(object.label("app.kubernetes.io/version")?));
            versions.max_by(|one, other| one.release().cmp(&other.release()))
        });
        newest.as_ref()
    }

    /// Returns whether a FluxInstance that the cluster does not receive yet creates an object.
    pub(crate) fn is_prepared(&self, id: ObjectId<'_>) -> bool {
        let is_same =
            |source: &SourceRef| (&*source.kind, &*source.namespace, &*source.name) == (id.kind, id.namespace, id.name);
        id.group == groups::SOURCE && self.repo.prepared.iter().any(is_same)
    }

    /// An Argo CD object of the repository that may apply objects to a namespace, or that shows that Argo CD itself runs
    /// in the namespace.
    pub(crate) fn argo_of(&self, namespace: &str) -> Option<&'a Object> {
        let argo = self.argo.get_or_init(|| ArgoObjects::of(self.repo));
        argo.by_namespace.get(namespace).copied().or(argo.of_any)
    }

    /// The Kustomizations that no cluster reaches, each with the directory that it applies.
    pub(crate) fn unreached_kustomizations(&self) -> &[(&'a Object, String)] {
        self.unreached_kustomizations.get_or_init(|| {
            self.kustomizations_in(|_| true).filter(|(object, _)| !self.reached().may_reach(object)).collect()
        })
    }

    /// Returns whether the repository has a directory.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.repo.sources.as_ref().is_none_or(|sources| sources.repository_files().tree().has_folder(path))
    }

    /// The name of the kustomization file of a directory.
    pub(crate) fn kustomization_in(&self, folder: &str) -> Option<&'static str> {
        let path = file_in(self.repo.sources.as_ref()?.repository_files(), folder).into_iter().next()?;
        FILE_NAMES
            .into_iter()
            .find(|name| path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
    }

    /// The first document of a file of the repository.
    pub(crate) fn document(&self, path: &str) -> Option<Node> {
        let parsed = self.repo.sources.as_ref()?.repository_files().get(path)?;
        Some(parsed.documents.first()?.node.clone())
    }

    /// Returns whether the kustomization of a directory lists another directory.
    pub(crate) fn lists(&self, folder: &str, other: &str) -> bool {
        let file = self.kustomization_in(folder).and_then(|name| join(folder, name));
        let Some(document) = file.and_then(|file| self.document(&file)) else { return false };
        let fields = ["resources", "bases", "components"].into_iter().filter_map(|field| document.get(field));
        let mut listed = fields.flat_map(Node::items).filter_map(|item| join(folder, item.text()?));
        listed.any(|path| path == other)
    }

    /// Returns whether a comment of a kustomization names a directory or a file.
    pub(crate) fn is_switched_off(&self, path: &str) -> bool {
        self.repo.parked.contains(path)
    }

    /// The files that the clusters of the repository reach.
    pub(crate) fn reached(&self) -> &ReachedFiles<'a> {
        self.reached.get_or_init(|| ReachedFiles::in_repository(self.repo))
    }
}
