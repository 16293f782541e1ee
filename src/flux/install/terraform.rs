//! Directories that Terraform passes to Flux.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::base::set_aside::is_set_aside;
use crate::flux::classify::objects;
use crate::flux::object::kinds::is_kustomization;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::kustomize::{Builder, FILE_NAMES};
use crate::text::{File, folder_of};

/// The resources that create the Kustomization of a cluster.
const RESOURCES: [&str; 2] = ["azurerm_kubernetes_flux_configuration", "flux_bootstrap_git"];

/// The maximum number of files with such resources.
const MAX_FILES: usize = 1000;

/// The maximum length of a file that is read.
const MAX_LEN: usize = 512 * 1024;

/// A directory that Terraform passes to Flux.
pub(super) struct PassedDirectory {
    pub(super) file: File,
    /// The position of the line that names the directory.
    pub(super) range: Range<usize>,
    pub(super) path: String,
}

/// The directories that configurations of Terraform pass to Flux, one for each configuration. Each directory has a
/// kustomization.yaml or contains Kustomizations. A configuration with several paths may apply them to one cluster or to several ones.
pub(super) fn passed_directories(builder: &Builder) -> Vec<PassedDirectory> {
    let tree = builder.files().tree();
    let is_code = |path: &&str| is_code_file(path) && !is_set_aside(path, |_| false);
    let paths = tree.entries().map(|(path, _)| path).filter(is_code);
    let paths = paths.filter(|path| !tree.is_longer_than(path, MAX_LEN));
    let files = paths.filter_map(|path| tree.file(path).ok());
    let files = files.filter(|file| RESOURCES.iter().any(|resource| file.text().contains(resource)));
    let mut configurations: BTreeMap<String, Vec<(File, Range<usize>, String)>> = BTreeMap::new();
    for file in files.take(MAX_FILES) {
        let values = configurations.entry(folder_of(file.path()).to_owned()).or_default();
        values.extend(paths_in(file.text()).into_iter().map(|(range, value)| (file.clone(), range, value)));
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    // The files of a configuration are searched for one value only.
    let single = configurations.into_iter().filter(|(_, values)| values.len() == 1);
    let single = single.flat_map(|(folder, values)| values.into_iter().map(move |value| (folder.clone(), value)));
    let passed = single.map(|(folder, (file, range, value))| {
        // A value that only Terraform knows may be any path.
        let path = clamp(&known_value(builder, &folder, &value).unwrap_or_default());
        PassedDirectory { file, range, path }
    });
    let known = passed.filter(|one| !one.path.is_empty() && seen.insert(one.path.clone()));
    known.filter(|one| is_of_cluster(builder, &one.path)).collect()
}

fn is_code_file(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "tf")
}

/// The values of `path` in the resources of a file, as written, with their ranges.
fn paths_in(code: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut depth: Option<usize> = None;
    let mut start = 0;
    for whole in code.split_inclusive('\n') {
        let line = whole.trim();
        let begin = start + (whole.len() - whole.trim_start().len());
        start += whole.len();
        if line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        let is_resource = line.strip_prefix("resource").is_some_and(|rest| {
            let name = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            name.is_some_and(|name| RESOURCES.contains(&name))
        });
        if is_resource {
            depth = Some(0);
        }
        let Some(open) = depth else { continue };
        if let Some(value) = value_of(line, "path") {
            found.push((begin..begin + line.len(), value.to_owned()));
        }
        let open = (open + line.matches('{').count()).saturating_sub(line.matches('}').count());
        depth = (open > 0).then_some(open);
    }
    found
}

/// The value that a line gives to a name.
fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let value = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix('=')?;
    (!value.starts_with('=')).then(|| value.trim())
}

/// The text of a value: a string, or a local value of the same configuration that is a string.
fn known_value(builder: &Builder, folder: &str, value: &str) -> Option<String> {
    let string = |value: &str| {
        let inner = value.strip_prefix('"')?.split('"').next()?;
        (!inner.contains('$')).then(|| inner.to_owned())
    };
    let Some(name) = value.strip_prefix("local.") else { return string(value) };
    let tree = builder.files().tree();
    let beside = tree.under(folder).filter(|path| folder_of(path) == folder && is_code_file(path));
    let beside = beside.filter(|path| !tree.is_longer_than(path, MAX_LEN));
    let files = beside.filter_map(|path| tree.file(path).ok());
    let values: Vec<String> = files
        .flat_map(|file| file.text().lines().filter_map(|line| string(value_of(line, name)?)).collect::<Vec<_>>())
        .collect();
    match values.as_slice() {
        [value] => Some(value.clone()),
        _ => None,
    }
}

/// Returns whether a directory has a kustomization.yaml, or a file with a Kustomization, which may be in a directory below it.
fn is_of_cluster(builder: &Builder, folder: &str) -> bool {
    let files = builder.files();
    let tree = files.tree();
    let mut inside = tree.under(folder).filter_map(|path| files.get(path));
    FILE_NAMES.iter().any(|name| tree.has_file(&below(folder, name)))
        || inside.any(|parsed| objects(&parsed).any(|object| is_kustomization(&object)))
}
