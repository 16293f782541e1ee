mod kinds;
mod directories;
mod variants;
mod needed_charts;
mod finding;
mod patches;
mod possible;
mod switched_off;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Follows, ObjectRef};
use crate::base::set_aside::is_set_aside;
use crate::base::similar_names::is_almost;
use crate::flux::{Applier, Cluster, MISSING_PATH, State, groups_of_chart, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::paths::{prefixes, segment_runs};
use crate::lint::facts::reached::has_root;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::text::{Index, folder_of, is_inside, normalize};
use directories::missed_directories;
use finding::finding;
use kinds::{OF_TOOLS, is_fluxs};
use needed_charts::{Undefined, charts_of};
use patches::{Patched, is_for_patches, is_patch, listed_objects, variant_of, variants};
use possible::{PossiblyReached, folders_of_open_instances};
use switched_off::SwitchedOff;

declare! {
    /// No cluster reaches a Flux object, a file beside a kustomization.yaml, or a directory with a kustomization.yaml.
    ///
    /// ## Why
    ///
    /// Flux never reconciles a Kustomization that no root reaches, so its objects do not exist, although the repository
    /// contains them. The same is true for a file in a directory if the `resources` of the kustomization.yaml do not
    /// list the file, and for a directory with a kustomization.yaml that nothing includes or applies, although clusters
    /// reach the directory above it or the directories beside it. Flux does not report such objects and files, because it
    /// does not read them.
    ///
    /// An object without the fields that its kind requires is a patch. List it below `patches`, not `resources`. The same is
    /// true for an object that a cluster receives if its file is in a directory `patches`.
    ///
    /// The rule reports one finding for all directories whose files the same kustomization.yaml would have to list. It
    /// does not report objects that only an unreached object would apply. If all clusters are in directories for examples
    /// or tests, the rule reports one finding. The rule ignores:
    ///
    /// - a FluxInstance, which users apply by hand
    /// - files that a comment of a kustomization.yaml names, and the paths of Flux Kustomizations in these files or in
    ///   commented lines
    /// - directories that are set aside according to their name: examples, tests, templates, charts (if there is
    ///   a Chart.yaml), documentation, archives and hidden directories; and files with such a name, unless it is the
    ///   name of the object, such as `database-backup`
    /// - directories named `base` or `bases`, since a library may contain unused objects, unless a Kustomization applies the
    ///   directory or the part of it with the object
    /// - the directories of clusters that `--cluster` does not select
    /// - Components, and the objects that their Kustomizations apply
    /// - files of other tools
    /// - objects that an unbuilt input or a template of a Kustomization may reach, directly or through further
    ///   Kustomizations
    /// - directories that a Kustomization applies with another value of a variable that has a default value, or with
    ///   another value of a segment that `replacements` write
    /// - directories and manifests that a script, or a command in Markdown, applies with `kubectl apply`
    /// - manifests with a comment that contains the command to apply them, and manifests whose address is in the
    ///   configuration of a Talos machine
    /// - directories whose path is a string of Terraform or Bicep, of a program that creates Kustomizations, or the option
    ///   `--path` of `flux create` in Markdown
    /// - directories without Flux objects if a program mentions their files, if Argo CD has an object there, or if a
    ///   namespace or a name has a placeholder
    /// - all objects, if an applier applies a complete artifact that may contain this repository
    /// - a repository without a root
    ///
    /// ## How to fix it
    ///
    /// Add the file to a kustomization.yaml that a cluster reaches, or apply its directory with a Kustomization. Or
    /// remove the file.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    /// # apps.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - apps.yaml
    /// # apps.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [flux2-multi-tenancy#126](https://github.com/fluxcd/flux2-multi-tenancy/issues/126);
    /// [kustomize: resources](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/)
    "unreachable-object", Warning, "no cluster reaches a Flux object, a file beside a kustomization.yaml, or a directory",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    if !has_root(fleet.repo) {
        return;
    }
    let reached = fleet.reached();
    let applied = applied_folders(fleet);
    let switched_off = SwitchedOff::of(fleet, reached, &applied);
    let is_of_chart = |path: &str| prefixes(path).any(|above| fleet.repo.charts.contains(above));
    let unfollowed = |folder: &str| fleet.repo.unfollowed.contains(folder);
    let open = folders_of_open_instances(fleet, reached);
    let is_of_other = |path: &str| {
        prefixes(path).any(unfollowed)
            || is_of_unchecked_cluster(fleet, path)
            || open.iter().any(|folder| is_inside(path, folder))
    };
    let is_excused = |path: &str| {
        is_library(path, &applied) || switched_off.contains(path) || is_of_chart(path) || is_of_other(path)
    };
    let built = fleet.repo.objects.iter().map(|built| &built.object).filter(|object| is_fluxs(object));
    let listed = listed_objects(fleet);
    let variants = variants(fleet, &listed);
    let aside = fleet.repo.aside.iter().filter(|object| {
        let (root, path, _) = written_position(object);
        is_fluxs(object) || (!OF_TOOLS.contains(&object.group()) && reached.reaches_folder(root, folder_of(path)))
    });
    // The keys are the directory and the position, since an object that several directories build is a single object.
    let mut folders: Unreached<'_> = BTreeMap::new();
    // The rule does not report objects that only an unreached object would apply.
    let mut led_to: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    // A user or a script applies a FluxInstance, and the source of a root whose Kustomization the repository lacks.
    let sources = sources_of_generated_roots(fleet);
    let is_source = |object: &Object| {
        let namespace = object.namespace();
        sources.iter().any(|source| {
            *source.kind == *object.kind()
                && *source.name == *object.name()
                && namespace.is_none_or(|namespace| Some(namespace) == source.namespace.as_deref())
        })
    };
    let is_by_hand = |object: &Object| object.is(groups::FLUX_OPERATOR, "FluxInstance") || is_source(object);
    let patches = patches::forgotten(fleet, reached);
    for object in built.chain(aside).chain(patches).filter(|object| !is_by_hand(object) && !reached.may_reach(object)) {
        let (root, path, offset) = written_position(object);
        if is_kustomization(object)
            && let Some(leads) = object.text_at(&["spec", "path"]).and_then(normalize)
            && !applied.contains(&*leads)
        {
            led_to.entry(leads).or_default().insert(folder_of(path));
        }
        let named = if is_named_after(path, object) { folder_of(path) } else { path };
        if root.is_none() && !reached.is_set_aside(named) && !is_excused(path) {
            folders.entry(folder_of(path)).or_default().insert((path, offset), object);
        }
    }
    let is_led_to = |folder: &str| segment_runs(folder).any(|run| led_to.contains_key(run));
    let directories = missed_directories(fleet, reached, |folder, file| {
        is_led_to(folder) || reached.is_set_aside(file) || is_excused(file)
    });
    add_directories(&mut folders, directories);
    remove_applied_by_hand(&mut folders, fleet, found);
    remove_possible(&mut folders, fleet, &applied, found);
    remove_consequences(&mut folders, &led_to);
    // The kustomization.yaml of this directory would have to list the files, so it is the cause.
    let tops: Vec<&str> =
        folders.keys().map(|folder| reached.nearest(folder).unwrap_or_else(|| first(folder))).collect();
    let mut below: Index<&str, usize> = Index::default();
    for top in &tops {
        *below.entry_or(top, || 0) += 1;
    }
    let is_habit = tops.iter().collect::<BTreeSet<_>>().len() > MAX_SEPARATE;
    let common = is_habit.then(|| common_folder(&tops));
    let missing = missing_folders(fleet);
    let is_of_library = has_only_examples(fleet);
    let undefined = LazyCell::new(|| Undefined::on(fleet));
    let targets = LazyCell::new(|| Patched::of(fleet, reached));
    let files: BTreeSet<&str> = folders.values().flat_map(BTreeMap::keys).map(|(path, _)| *path).collect();
    for ((folder, objects), top) in folders.iter().zip(&tops) {
        let objects: Vec<&Object> = objects.values().copied().collect();
        let shared_top = Some(*top).filter(|top| below.get(top).is_some_and(|count| *count > 1));
        let is_beside = shared_top.is_none() || top == folder;
        let (patches, objects): (Vec<&Object>, Vec<&Object>) = objects.into_iter().partition(|object| {
            let is_listed = listed.contains(&written_position(object)) || variants.contains(&variant_of(object));
            (is_beside || is_for_patches(folder)) && is_patch(object) && !is_listed
        });
        if !patches.is_empty() {
            let is_explained = |path: &str| switched_off.contains(path) || files.contains(path);
            found.extend(targets.unused_patches(RULE.id, patches, is_explained));
        }
        let has_definitions = charts_of(&objects).any(|chart| !groups_of_chart(chart).is_empty());
        let needed = has_definitions.then(|| undefined.of_charts(&objects)).flatten();
        let Some(finding) = finding(RULE.id, folder, &objects, common.or(shared_top), needed) else { continue };
        if is_of_library {
            found.push(of_library(finding));
            continue;
        }
        // A path below a directory without reached files has one directory too many.
        let is_unused = !folder.is_empty() && reached.nearest(folder) != Some(*folder);
        let is_moved = |path: &str| fleet.repo.moved.get(path).is_some_and(|to| is_inside(folder, to));
        let is_cause = |path: &str| is_meant(folder, path) || is_moved(path) || (is_unused && is_inside(path, folder));
        let object = missing.iter().find(|(path, _)| is_cause(path)).map(|(_, cause)| (*cause).clone());
        let follows = object.map(|object| Follows { rules: &[MISSING_PATH], object, stands_alone: true });
        found.push(match follows {
            Some(follows) => finding.following(follows),
            None => finding,
        });
    }
}

/// Adds the directories that no build includes. They replace the directories with Flux objects below them.
fn add_directories<'a>(folders: &mut Unreached<'a>, mut directories: Unreached<'a>) {
    directories.retain(|folder, objects| {
        let from_here = folders.range(*folder..).take_while(|(other, _)| other.starts_with(*folder));
        let mut below = from_here.filter(|(other, _)| is_inside(other, folder));
        !prefixes(folder).any(|above| folders.contains_key(above))
            && below.all(|(_, others)| others.keys().all(|position| objects.contains_key(position)))
    });
    folders.retain(|folder, _| !prefixes(folder).any(|above| directories.contains_key(above)));
    folders.append(&mut directories);
}

/// Returns whether a file has the name of its object, so that a word in the name, such as `backup`, describes the object.
fn is_named_after(path: &str, object: &Object) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem == object.name() && stem.contains('-')
}

/// The sources of the roots whose Kustomizations the repository lacks.
fn sources_of_generated_roots<'a>(fleet: &Fleet<'a>) -> BTreeSet<&'a ObjectRef> {
    let clusters = fleet.repo.clusters.iter();
    let roots = clusters.filter_map(|cluster| cluster.appliers.iter().find(|applier| cluster.is_generated(applier)));
    roots.filter_map(|root| root.source.as_ref()).collect()
}

/// The unreached objects of each directory, by file and offset.
type Unreached<'a> = BTreeMap<&'a str, BTreeMap<(&'a str, usize), &'a Object>>;

/// Removes the directories that clusters possibly reach, or that programs apply.
fn remove_possible(folders: &mut Unreached<'_>, fleet: &Fleet<'_>, applied: &BTreeSet<&str>, found: &mut Findings) {
    let reached = fleet.reached();
    let possible = PossiblyReached::of(fleet, reached, applied);
    let programs = &fleet.repo.other_programs;
    // The build of a directory that a cluster reaches omits these objects, even if a program applies the directory too.
    let apart = folders.keys().copied().filter(|folder| reached.nearest(folder) != Some(*folder));
    let files = folders.values().flat_map(BTreeMap::keys).map(|(path, _)| *path);
    let named = programs.named_paths(&apart.chain(files).collect());
    for objects in folders.values_mut() {
        objects.retain(|(path, _), object| {
            let program = named.get(*path);
            if let Some(program) = program {
                found.unchecked(format!("{}, which a command in `{program}` may apply", object.reference()));
            }
            program.is_none()
        });
    }
    folders.retain(|_, objects| !objects.is_empty());
    folders.retain(|folder, _| {
        let program = programs.applier(folder).or_else(|| named.get(*folder).map(String::as_str));
        let program = program.map(|program| format!("the program of `{program}`"));
        let by = program.or_else(|| possible.by(folder).map(str::to_owned));
        if let Some(by) = &by {
            found.unchecked(format!("objects in `{folder}`, which {by} may apply"));
        }
        by.is_none()
    });
}

/// Removes the objects whose manifests a program may apply.
fn remove_applied_by_hand(folders: &mut Unreached<'_>, fleet: &Fleet<'_>, found: &mut Findings) {
    for objects in folders.values_mut() {
        objects.retain(|(path, _), object| {
            let programs = &fleet.repo.other_programs;
            let program = programs.applier_of_file(path).map(|program| format!("the program of `{program}`"));
            let by_comment = || programs.is_applied_by_comment(path).then(|| "the command in its file".to_owned());
            let by = program.or_else(by_comment);
            if let Some(by) = &by {
                found.unchecked(format!("{}, which {by} may apply", object.reference()));
            }
            by.is_none()
        });
    }
    folders.retain(|_, objects| !objects.is_empty());
}

/// Removes the objects that only other unreached objects would apply. `led_to` has the directories that unreached
/// Kustomizations apply, with the directories of these Kustomizations.
fn remove_consequences(folders: &mut Unreached<'_>, led_to: &BTreeMap<String, BTreeSet<&str>>) {
    let from_elsewhere = |folder: &str| -> Vec<&str> {
        let from = segment_runs(folder).filter_map(|run| led_to.get(run)).flatten().copied();
        from.filter(|from| *from != folder).collect()
    };
    // The directories to which the Kustomizations of each directory lead, and the directories to which none leads.
    let (mut next, mut open): (BTreeMap<&str, Vec<&str>>, Vec<&str>) = (BTreeMap::new(), Vec::new());
    for folder in folders.keys().copied() {
        let from = from_elsewhere(folder);
        if !from.iter().any(|from| folders.contains_key(from)) {
            open.push(folder);
        }
        for one in from {
            next.entry(one).or_default().push(folder);
        }
    }
    while let Some(from) = open.pop() {
        for folder in next.remove(from).unwrap_or_default() {
            if folders.remove(folder).is_some() {
                open.push(folder);
            }
        }
    }
    // Directories that lead to each other, and the directories of a library, remain. Their Kustomizations are the cause.
    for (folder, objects) in folders.iter_mut() {
        if !from_elsewhere(folder).is_empty() {
            objects.retain(|_, object| is_kustomization(object));
        }
    }
    folders.retain(|_, objects| !objects.is_empty());
}

/// Returns whether all clusters are tests or examples, so that the repository is a library for other repositories.
///
/// Below `clusters`, `testing` is an environment.
fn has_only_examples(fleet: &Fleet<'_>) -> bool {
    let mut clusters = fleet.repo.clusters.iter().filter(|cluster| !cluster.name.is_empty());
    clusters.all(|cluster| {
        let folder = &*cluster.folder;
        let above = prefixes(folder).find(|above| *above != folder && above.rsplit('/').next() == Some("clusters"));
        is_set_aside(above.unwrap_or(folder), |_| false)
    })
}

/// The finding of a library. Its users determine which objects they apply, so that all directories have one cause.
fn of_library(finding: Finding) -> Finding {
    let summary = " directories: all clusters of this repository are in directories for examples or tests";
    finding.caused_by("library", "no cluster reaches the objects of ", summary).keeping_related()
}

/// The innermost directory that contains some directories.
fn common_folder<'a>(folders: &[&'a str]) -> &'a str {
    let first = folders.first().copied().unwrap_or_default();
    let above = std::iter::successors(Some(first), |folder| Some(folder_of(folder)).filter(|_| !folder.is_empty()));
    let mut above = above.filter(|above| folders.iter().all(|folder| is_inside(folder, above)));
    above.next().unwrap_or_default()
}

/// The outermost directory above a directory.
fn first(folder: &str) -> &str {
    folder.split('/').next().unwrap_or(folder)
}

/// The directories that the clusters apply.
fn applied_folders<'a>(fleet: &Fleet<'a>) -> BTreeSet<&'a str> {
    appliers(fleet).map(|applier| &*applier.folder).collect()
}

/// The directories of the appliers whose build fails, such as directories that do not exist, each with its applier.
fn missing_folders<'a>(fleet: &Fleet<'a>) -> Vec<(&'a str, &'a ObjectRef)> {
    let failed = appliers(fleet).filter(|applier| applier.state == State::Failed);
    failed.map(|applier| (applier.folder.as_ref(), &applier.reference)).collect()
}

fn appliers<'a>(fleet: &Fleet<'a>) -> impl Iterator<Item = &'a Applier> {
    fleet.repo.clusters.iter().flat_map(|cluster| &cluster.appliers).map(AsRef::as_ref)
}

/// Returns whether the path of a missing directory is probably a misspelling of a directory, or of a directory above it.
fn is_meant(folder: &str, missing: &str) -> bool {
    let depth = missing.split('/').count();
    let Some((above, name)) = missing.rsplit_once('/').or(Some(("", missing))) else { return false };
    let candidate = prefixes(folder).find(|path| !path.is_empty() && path.split('/').count() == depth);
    candidate.is_some_and(|path| {
        let (own_above, own_name) = path.rsplit_once('/').unwrap_or(("", path));
        own_above == above && own_name != name && is_almost(name, own_name)
    })
}

/// Returns whether a file is in a base directory, according to the name of the directory, and a cluster applies neither the
/// base directory nor the part of it with the file.
fn is_library(path: &str, applied: &BTreeSet<&str>) -> bool {
    let is_base = |folder: &&str| matches!(folder.rsplit('/').next(), Some("base" | "bases"));
    let folder = folder_of(path);
    let Some(base) = prefixes(folder).find(is_base) else { return false };
    !prefixes(folder).any(|above| is_inside(above, base) && applied.contains(above))
}

/// Returns whether a file is in the directory of an unchecked cluster, and not in the directory of a checked cluster.
fn is_of_unchecked_cluster(fleet: &Fleet<'_>, path: &str) -> bool {
    let is_in = |cluster: &Cluster| !cluster.folder.is_empty() && is_inside(path, &cluster.folder);
    let mut checked = fleet.views.iter().map(|view| view.receiver.cluster);
    !checked.any(is_in) && fleet.repo.clusters.iter().any(is_in)
}

/// The maximum number of kustomization.yaml files with separate findings. An author who leaves out files in more
/// directories does so out of habit.
const MAX_SEPARATE: usize = 5;
