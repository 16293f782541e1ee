//! A Helm chart: its default values, its schema, and its subcharts.

use arcstr::ArcStr;

use crate::kustomize::Files;
use crate::text::{File, folder_of, join};
use crate::yaml::{Node, Value, as_kubernetes};

/// The maximum number of charts that a chart contains, including itself.
const MAX_CHARTS: usize = 100;
/// The maximum depth of subcharts.
const MAX_DEPTH: usize = 8;

/// A chart.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The name; for a subchart with an alias, the alias.
    pub name: ArcStr,
    /// The default values.
    pub values: Node,
    /// The file `values.schema.json`.
    pub schema: Option<File>,
    /// The subcharts that the chart contains.
    pub subcharts: Vec<Subchart>,
    /// The names of subcharts whose contents are unknown, such as packed ones.
    pub unknown: Vec<ArcStr>,
    /// Whether the chart imports default values from subcharts.
    pub imports: bool,
}

/// A chart in another chart.
#[derive(Debug, Clone)]
pub struct Subchart {
    /// The chart.
    pub chart: Chart,
    /// The paths of the values that enable the subchart, separated by commas.
    pub condition: Option<ArcStr>,
    /// The tags of the subchart.
    pub tags: Vec<ArcStr>,
}

/// Reads the charts of an artifact.
struct Reading<'a> {
    files: &'a Files,
    count: usize,
}

impl Chart {
    /// Reads the chart in a directory; `None` if the directory contains no valid chart.
    ///
    /// `values` are the files that replace `values.yaml`, if any; a missing one is an error unless it may be missing.
    pub fn read(files: &Files, folder: &str, values: Option<&[String]>) -> Option<Self> {
        let mut reading = Reading { files, count: 0 };
        let mut chart = reading.chart(folder, 0)?;
        if let Some(paths) = values {
            let parts = paths.iter().map(|path| reading.values(path)).collect::<Option<Vec<Node>>>()?;
            let first = parts.first()?.clone();
            chart.values = parts.iter().skip(1).fold(first, |under, over| super::merge(&under, over));
        }
        Some(chart)
    }
}

impl Reading<'_> {
    fn chart(&mut self, folder: &str, depth: usize) -> Option<Chart> {
        self.count += 1;
        if self.count > MAX_CHARTS || depth > MAX_DEPTH {
            return None;
        }
        let file = |name: &str| join(folder, name);
        let definition = self.mapping(&file("Chart.yaml")?)?;
        let name = definition.get("name").and_then(Node::shared_text)?;
        let values_path = file("values.yaml")?;
        let values = if self.files.tree().has_file(&values_path) {
            self.values(&values_path)?
        } else {
            Node { value: Value::Map([].into()), origin: definition.origin.clone() }
        };
        let schema = self.files.tree().file(&file("values.schema.json")?).ok();
        let mut chart = Chart { name, values, schema, subcharts: Vec::new(), unknown: Vec::new(), imports: false };
        // The first version of charts lists its subcharts in a file of its own.
        let requirements = self.mapping(&file("requirements.yaml")?);
        let listed = [Some(&definition), requirements.as_ref()].into_iter().flatten();
        let listed: Vec<Node> =
            listed.filter_map(|node| node.get("dependencies")).flat_map(Node::items).cloned().collect();
        self.subcharts(&mut chart, folder, &listed, depth);
        Some(chart)
    }

    fn subcharts(&mut self, chart: &mut Chart, folder: &str, listed: &[Node], depth: usize) {
        let (mut contained, mut packed) = (Vec::new(), Vec::new());
        let charts = join(folder, "charts").unwrap_or_default();
        for name in self.files.tree().names(&charts) {
            let path = format!("{charts}/{name}");
            if let Some(archive) = name.strip_suffix(".tgz") {
                packed.push(archive.to_owned());
            } else if !name.starts_with(['.', '_']) && self.files.tree().has_file(&format!("{path}/Chart.yaml")) {
                match self.chart(&path, depth + 1) {
                    Some(subchart) => contained.push(subchart),
                    None => chart.unknown.push(name.into()),
                }
            }
        }
        for dependency in listed {
            let text = |key: &str| dependency.get(key).and_then(Node::shared_text).filter(|text| !text.is_empty());
            let Some(name) = text("name") else { continue };
            let own = text("alias").unwrap_or_else(|| name.clone());
            chart.imports |= dependency.get("import-values").is_some_and(|list| !list.items().is_empty());
            let found = contained.iter().find(|subchart| subchart.name == name).cloned();
            let is_packed = packed.iter().any(|archive| is_archive_of(archive, &name));
            let mut local = || {
                let path = text("repository")?.strip_prefix("file://").map(str::to_owned)?;
                self.chart(&join(folder, &path)?, depth + 1)
            };
            match found.or_else(|| if is_packed { None } else { local() }) {
                Some(subchart) => chart.subcharts.push(Subchart {
                    chart: Chart { name: own, ..subchart },
                    condition: text("condition"),
                    tags: dependency
                        .get("tags")
                        .map_or(&[][..], Node::items)
                        .iter()
                        .filter_map(Node::shared_text)
                        .collect(),
                }),
                None => chart.unknown.push(own),
            }
        }
        let is_listed = |name: &str| {
            let names = listed.iter().filter_map(|dependency| dependency.get("name")?.text());
            names.into_iter().any(|listed| listed == name)
        };
        let unlisted = contained.into_iter().filter(|subchart| !is_listed(&subchart.name));
        chart.subcharts.extend(unlisted.map(|chart| Subchart { chart, condition: None, tags: Vec::new() }));
        // The name in an archive is unknown, but its file usually consists of the name and the version.
        let names = packed.iter().filter_map(|archive| archive.rsplit_once('-'));
        chart.unknown.extend(names.map(|(name, _)| ArcStr::from(name)));
    }

    fn values(&self, path: &str) -> Option<Node> {
        self.mapping(path).map(|node| as_kubernetes(&node))
    }

    /// The mapping in a valid file; an empty file is an empty mapping.
    fn mapping(&self, path: &str) -> Option<Node> {
        let parsed = self.files.get(path)?;
        let is_valid = parsed.findings.iter().all(|finding| finding.rule == crate::yaml::DUPLICATE_KEY);
        let node = match parsed.documents.as_slice() {
            [] => Node::at(Value::Map([].into()), parsed.file.span(0..0)),
            [document] => document.node.clone(),
            _ => return None,
        };
        Some(node).filter(|node| is_valid && node.is_map())
    }
}

/// Returns whether an archive without its extension, such as `redis-1.2.3`, contains a chart.
fn is_archive_of(archive: &str, name: &str) -> bool {
    let version = archive.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit() || first == 'v'))
}

/// The directory in an artifact that contains a chart: the root, or the only directory with a chart.
pub(super) fn root_of_chart(files: &Files) -> Option<String> {
    let paths = files.tree().entries().map(|(path, _)| path);
    let mut folders = paths.filter(|path| path.rsplit('/').next() == Some("Chart.yaml")).map(folder_of);
    let folders: Vec<&str> = folders.by_ref().collect();
    if folders.contains(&"") {
        return Some(String::new());
    }
    match folders.iter().filter(|folder| !folder.contains('/')).collect::<Vec<_>>().as_slice() {
        [only] => Some((**only).to_owned()),
        _ => None,
    }
}
