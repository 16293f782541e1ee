//! The chart of a HelmRelease, if the repository or a local copy contains the chart.

use std::collections::BTreeSet;

use super::chart::{Chart, root_of_chart};
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::source::artifact::Resolution;
use crate::flux::source::reference::{Lookup, SourceRef};
use crate::flux::source::sources::Sources;
use crate::kube::{Object, groups};
use crate::kustomize::Files;
use crate::text::{Tree, folder_of, join};
use crate::yaml::{Node, Style, Value};

/// The file that defines a chart.
const DEFINITION: &str = "Chart.yaml";

/// The kinds of objects that create no further objects.
const PASSIVE: [&str; 20] = [
    "CiliumNetworkPolicy",
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "CustomResourceDefinition",
    "GitRepository",
    "HelmRepository",
    "Ingress",
    "LimitRange",
    "Namespace",
    "NetworkPolicy",
    "OCIRepository",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "ResourceQuota",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
];
/// The kinds of objects whose pods may create further objects if they have the rights.
const WORKLOADS: [&str; 4] = ["DaemonSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet"];

/// Reads the kinds of the objects in a template; `None` if they are unknown.
fn read_kinds(template: &str, kinds: &mut BTreeSet<String>) -> Option<()> {
    for line in template.lines() {
        let prints = |word: &str| line.starts_with("{{") && line.contains(word);
        if prints("toYaml") || prints("tpl ") || prints(".Files") {
            return None;
        }
        if let Some(kind) = line.trim_start().trim_start_matches("- ").strip_prefix("kind:") {
            let kind = kind.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            if kind.contains("{{") {
                return None;
            }
            kinds.insert(kind.to_owned());
        }
    }
    Some(())
}

/// The files of a chart.
#[derive(Debug, Clone)]
pub struct ChartFiles {
    /// A text that is equal for equal charts.
    pub id: String,
    /// The field that names the chart.
    pub place: Node,
    files: Files,
    folder: String,
    /// The files that replace `values.yaml`.
    values: Option<Vec<String>>,
}

/// The reason why the files of a chart are unknown, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoChart {
    /// Neither the repository nor a local copy contains the chart.
    NoCopy,
    /// The release, its source or its chart is incomplete or unknown.
    Unknown,
}

impl ChartFiles {
    /// Reads the chart; `None` if the files contain no valid chart.
    pub fn read(&self) -> Option<Chart> {
        Chart::read(&self.files, &self.folder, self.values.as_deref())
    }

    /// The path of the file that the source does not contain, so that source-controller finds no chart: the archive or
    /// the file Chart.yaml.
    pub fn missing_file(&self) -> Option<String> {
        let path = if self.is_packed() { Some(self.folder.clone()) } else { join(&self.folder, DEFINITION) };
        path.filter(|path| !self.files.tree().has_file(path))
    }

    /// Returns whether the chart is an archive.
    pub fn is_packed(&self) -> bool {
        self.folder.rsplit_once('.').is_some_and(|(_, extension)| extension == "tgz")
    }

    /// The kinds of the objects that the chart may create; `None` if they are unknown.
    ///
    /// They are unknown if a template prints a whole value, if the chart contains other charts, or if an object of the chart
    /// may create objects itself.
    pub fn kinds(&self) -> Option<BTreeSet<String>> {
        let tree = self.files.tree();
        let definition = tree.file(&join(&self.folder, DEFINITION)?).ok().filter(|_| !self.is_packed())?;
        let has_others = definition.text().lines().any(|line| line.starts_with("dependencies:"));
        let mut kinds = BTreeSet::new();
        for path in tree.under(&self.folder) {
            let own = path.strip_prefix(self.folder.as_str()).unwrap_or(path).trim_start_matches('/');
            match own.split_once('/') {
                Some(("charts", _)) => return None,
                Some(("crds", _)) => drop(kinds.insert("CustomResourceDefinition".to_owned())),
                Some(("templates", _)) => read_kinds(tree.file(path).ok()?.text(), &mut kinds)?,
                _ if own == "requirements.yaml" || has_others => return None,
                _ => {}
            }
        }
        if kinds.contains("StatefulSet") {
            kinds.insert("PersistentVolumeClaim".to_owned());
        }
        let has_rights = kinds.iter().any(|kind| kind.ends_with("RoleBinding"));
        let is_passive = |kind: &String| PASSIVE.contains(&&**kind) || (WORKLOADS.contains(&&**kind) && !has_rights);
        kinds.iter().all(is_passive).then_some(kinds)
    }

    /// The directories of all charts of the source.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        let paths = self.files.tree().entries().map(|(path, _)| path);
        paths.filter(|path| path.rsplit('/').next() == Some(DEFINITION)).map(folder_of)
    }

    /// The files of the source.
    pub fn tree(&self) -> &Tree {
        self.files.tree()
    }
}

impl Cluster {
    /// The files of the chart of a HelmRelease. `find` returns the HelmChart or HelmRepository with a kind, namespace and
    /// name.
    pub fn chart(
        &self,
        release: &Applied<'_>,
        sources: &Sources,
        find: &dyn Fn(&str, &str, &str) -> Option<Object>,
    ) -> Result<ChartFiles, NoChart> {
        let lookup = self.lookups.sources(release.by.target.as_ref(), &self.applied_sets).ok_or(NoChart::Unknown)?;
        let namespace = release.object.namespace().or(release.completion.target_namespace.as_deref());
        let search = Search { sources, lookup, find, namespace: namespace.unwrap_or_default() };
        let spec = |keys: &[&str]| release.object.node.at_keys(keys).filter(|node| node.is_map());
        if let Some(reference) = spec(&["spec", "chartRef"]) {
            return search.of_reference(reference);
        }
        search.of_spec(spec(&["spec", "chart", "spec"]).ok_or(NoChart::Unknown)?)
    }
}

/// The search for a chart.
struct Search<'a, L> {
    sources: &'a Sources,
    lookup: &'a L,
    find: &'a dyn Fn(&str, &str, &str) -> Option<Object>,
    /// The namespace of the referencing object.
    namespace: &'a str,
}

impl<L: Lookup> Search<'_, L> {
    /// The chart of a `chartRef`: an artifact that contains only the chart, or a HelmChart.
    fn of_reference(&self, reference: &Node) -> Result<ChartFiles, NoChart> {
        let source = self.source(reference).ok_or(NoChart::Unknown)?;
        if &*source.kind == "HelmChart" {
            let chart = self.object(&source).ok_or(NoChart::Unknown)?;
            let spec = chart.node.get("spec").ok_or(NoChart::Unknown)?;
            let place = reference.get("name").unwrap_or(reference).clone();
            let search = Search { namespace: &source.namespace, ..*self };
            return search.of_spec(spec).map(|found| ChartFiles { place, ..found });
        }
        let (id, files) = self.artifact(&source)?;
        let folder = root_of_chart(&files).ok_or(NoChart::Unknown)?;
        let place = reference.get("name").unwrap_or(reference).clone();
        Ok(ChartFiles { id, place, files, folder, values: None })
    }

    /// The chart of the fields of a HelmChart.
    fn of_spec(&self, spec: &Node) -> Result<ChartFiles, NoChart> {
        let chart = spec.get("chart").ok_or(NoChart::Unknown)?;
        let name = known(chart).ok_or(NoChart::Unknown)?;
        let source = spec.get("sourceRef").and_then(|reference| self.source(reference)).ok_or(NoChart::Unknown)?;
        let values = values_files(spec)?;
        if &*source.kind == "HelmRepository" {
            let repository = self.object(&source).ok_or(NoChart::Unknown)?;
            let url = repository.node.at_keys(&["spec", "url"]).and_then(known).ok_or(NoChart::Unknown)?;
            let version = spec.get("version").and_then(known);
            let (id, files) = self.sources.chart_copy(url, name, version).ok_or(NoChart::NoCopy)?;
            let is_root = |folder: &String| files.tree().has_file(&format!("{folder}/Chart.yaml"));
            let folder = Some(name.to_owned()).filter(is_root).or_else(|| root_of_chart(&files));
            let folder = folder.ok_or(NoChart::Unknown)?;
            let values = values.into_iter().map(|path| join(&folder, &path)).collect::<Option<Vec<_>>>();
            let values = values.filter(|values| !values.is_empty());
            return Ok(ChartFiles {
                id: format!("{id}\n{name}\n{values:?}"),
                place: chart.clone(),
                files,
                folder,
                values,
            });
        }
        let (id, files) = self.artifact(&source)?;
        let inside = |path: &str| join("", path.trim_start_matches('/'));
        let folder = inside(name).ok_or(NoChart::Unknown)?;
        let folder = folder.trim_end_matches('/').to_owned();
        let values = values.iter().map(|path| inside(path)).collect::<Option<Vec<_>>>();
        let mut values = values.filter(|values| !values.is_empty());
        if spec.get("ignoreMissingValuesFiles").and_then(Node::text) == Some("true") {
            values = values.map(|values| values.into_iter().filter(|path| files.tree().has_file(path)).collect());
        }
        Ok(ChartFiles { id: format!("{id}\n{folder}\n{values:?}"), place: chart.clone(), files, folder, values })
    }

    fn source(&self, reference: &Node) -> Option<SourceRef> {
        let text = |key: &str| reference.get(key).and_then(known).filter(|text| !text.is_empty());
        let namespace = text("namespace").unwrap_or(self.namespace);
        Some(SourceRef { kind: text("kind")?.into(), namespace: namespace.into(), name: text("name")?.into() })
    }

    fn object(&self, source: &SourceRef) -> Option<Object> {
        (self.find)(&source.kind, &source.namespace, &source.name)
    }

    fn artifact(&self, source: &SourceRef) -> Result<(String, Files), NoChart> {
        match self.sources.resolve(source, self.lookup) {
            Resolution::Artifact(artifact) => Ok((artifact.id.to_string(), artifact.files().clone())),
            Resolution::NoCopy(_) => Err(NoChart::NoCopy),
            Resolution::Unknown(_) | Resolution::Missing | Resolution::Failed(_) => Err(NoChart::Unknown),
        }
    }
}

/// The files of `valuesFiles`.
fn values_files(spec: &Node) -> Result<Vec<String>, NoChart> {
    let listed = spec.get("valuesFiles").map_or(&[][..], Node::items).iter();
    let single = spec.get("valuesFile").filter(|node| !node.is_null());
    let texts = listed.chain(single).map(|node| known(node).map(str::to_owned));
    texts.collect::<Option<Vec<_>>>().ok_or(NoChart::Unknown)
}

fn known(node: &Node) -> Option<&str> {
    node.text().filter(|_| !matches!(node.value, Value::Scalar(_, Style::Unknown)))
}

/// Returns whether helm-controller validates the values of a release at its next installation or upgrade.
pub fn validates(release: &Object) -> bool {
    let is_disabled =
        |action: &str| release.text_at(&["spec", action, "disableSchemaValidation"]).is_some_and(|text| text == "true");
    release.is(groups::HELM, "HelmRelease") && !(is_disabled("install") && is_disabled("upgrade"))
}
