//! Findings of undefined variables, with the positions where users can set a value.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::cluster_build::state::{ClusterBuild, Slot};
use crate::base::finding::{Finding, Fix, ObjectRef, Safety, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::build::output::Output;
use crate::flux::install::version::Strictness;
use crate::flux::model::variables::{Variable, Variables};
use crate::flux::variables::substitute::rule_ids::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE};
use crate::flux::variables::substitute::undefined::{UndefinedVariable, VariableOwner};
use crate::kube::groups;
use crate::text::{Index, Span, folder_of};
use crate::yaml::fix;
use crate::yaml::{Entry, Name, Node};

/// The maximum number of names or positions in one finding.
const MAX_SHOWN: usize = 5;

/// The definitions of variables in all clusters, collected when the first undefined variable is found.
pub(crate) struct Definitions<'a> {
    clusters: &'a [ClusterBuild],
    by_name: OnceCell<BTreeMap<&'a Name, Vec<Definition<'a>>>>,
    lacking: OnceCell<Lacking<'a>>,
    /// The keys of the Secrets and ConfigMaps of each output with undefined variables, by the address of the output.
    keys: RefCell<BTreeMap<*const Output, Rc<Keys>>>,
    /// The names of each set of [`Lacking`] that are not misspelled in a slot, since many findings use them.
    missing: RefCell<NamesOf<'a>>,
}

/// Some names of a set of [`Lacking`], by the addresses of a slot and of the set.
type NamesOf<'a> = BTreeMap<(*const Slot, *const BTreeSet<&'a Name>), Rc<[&'a Name]>>;

/// The Secrets and ConfigMaps with a key, by the namespace and the key.
type Keys = BTreeMap<(Option<Name>, Name), ObjectRef>;

/// The variables that ConfigMaps, Secrets and Kustomizations lack.
struct Lacking<'a> {
    /// The sets of sources that lack the same variables, with these variables.
    sets: Vec<(BTreeSet<Source<'a>>, BTreeSet<&'a Name>)>,
    /// The set of sources that lack a variable, as a position in `sets`.
    by_name: BTreeMap<&'a Name, usize>,
}

/// The file, position, kind and name of a ConfigMap, Secret or Kustomization with variables.
type Source<'a> = ((&'a str, u32, u32), &'a str, &'a str);

/// The definition of a variable on a cluster.
#[derive(Clone, Copy)]
struct Definition<'a> {
    cluster: &'a Name,
    by: &'a ObjectRef,
    variable: &'a Variable,
}

impl<'a> Definitions<'a> {
    /// Prepares the definitions of variables in these clusters.
    pub(crate) fn new(clusters: &'a [ClusterBuild]) -> Self {
        let (keys, missing) = (RefCell::default(), RefCell::default());
        Self { clusters, by_name: OnceCell::new(), lacking: OnceCell::new(), keys, missing }
    }

    /// The findings of the undefined variables of an output, with the positions of the output.
    pub(crate) fn missed(&self, cluster: &ClusterBuild, slot: &Slot, output: &Output) -> Vec<Finding> {
        let findings = output.undefined.iter().map(|undefined| match undefined.owner {
            VariableOwner::Flux => self.undefined(undefined, cluster, slot, output),
            VariableOwner::Other(what) => own(undefined, what, cluster, slot),
        });
        findings.collect()
    }

    fn undefined(
        &self,
        undefined: &UndefinedVariable,
        cluster: &ClusterBuild,
        slot: &Slot,
        output: &Output,
    ) -> Finding {
        let Some((name, place)) = undefined.uses.first() else { unreachable!("an undefined variable is used") };
        let known = || slot.variables.values.keys().map(|name| &**name);
        // A name that other Kustomizations define is not misspelled.
        let elsewhere = self.elsewhere(name, place, cluster, slot);
        let meant = did_you_mean(name, known()).filter(|_| elsewhere.is_empty());
        let edits = meant.and_then(|meant| {
            let uses = undefined.uses.iter().map(|(name, at)| {
                let written = at.text();
                let is_used = written == &**name || written.starts_with("${") && written.contains(&**name);
                is_used.then(|| fix::replace_part(at, written, name, meant, Safety::Unsafe))?
            });
            uses.collect::<Option<Vec<_>>>().and_then(Fix::join)
        });
        let keys = self.keys_of(output);
        let key = (undefined.object.namespace.clone(), name.clone());
        let environment = keys.get(&key).filter(|owner| meant.is_none() && **owner != undefined.object);
        let advice = match (meant, environment) {
            (Some(meant), _) => format!("did you mean `{meant}`? "),
            (None, Some(owner)) => format!(
                "write `$${{{name}}}` if a program reads the variable from its environment, since {owner} has this key; \
                 otherwise set it in `postBuild`; "
            ),
            (None, None) => format!(
                "set it in `postBuild`, set a default with `${{{name}:=…}}`, or write `$${{{name}}}` if it belongs to \
                 another program; "
            ),
        };
        let why = match cluster.strictness {
            Strictness::Strict => {
                "Flux fails the build of the Kustomization that reads it, and applies none of its objects"
            }
            Strictness::Lenient => "this version of Flux substitutes an empty text; Flux 2.9 and later fail",
            Strictness::SwitchedOff => {
                "Flux substitutes an empty text, because `StrictPostBuildSubstitutions=false` is set; without it, Flux 2.9 and \
                 later fail"
            }
            Strictness::Assumed => {
                "Flux 2.9 and later fail the build of the Kustomization that reads it, older versions substitute an \
                 empty text, and the version of this cluster is unknown"
            }
        };
        let mut finding =
            Finding::error(UNDEFINED_VARIABLE, place.clone(), format!("variable `{name}` is not defined"))
                .fixed_by(edits)
                .help(format!("{advice}{why}{}", unknown_paths(name, cluster, slot)))
                .about(undefined.object.clone())
                .caused_by(name.to_string(), format!("variable `{name}` is not defined in "), " places");
        if let Some(owner) = environment {
            finding = finding
                .caused_by(format!("keys of {owner}"), "", format!(" places use variables that are keys of {owner}"))
                .help_for_all(format!(
                    "write `$${{NAME}}` for each variable that a program reads from its environment, and set the others in \
                     `postBuild`; {why}"
                ));
        }
        // A misspelled name has another remedy than a missing key.
        if meant.is_none()
            && environment.is_none()
            && let Some((sources, names)) = self.lacking_with(name)
            && let names = self.not_misspelled(names, slot)
            && names.len() > 1
        {
            let listed: Vec<String> = names.iter().take(MAX_SHOWN).map(|name| format!("`{name}`")).collect();
            let more = match names.len() - listed.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let ((file, ..), kind, object) = sources.first().copied().unwrap_or_default();
            let (whom, them) = match sources.len() {
                1 => (format!("{kind} `{object}` of `{file}` does not define"), format!("{kind} `{object}`")),
                2 => (
                    format!("{kind} `{object}` of `{file}` and another source do not define"),
                    "these sources".to_owned(),
                ),
                count => (
                    format!("{kind} `{object}` of `{file}` and {} more sources do not define", count - 1),
                    "these sources".to_owned(),
                ),
            };
            finding = finding
                .caused_by(
                    format!("sources without {}", listed.join(", ")),
                    "",
                    format!(" places use variables that {whom}"),
                )
                .help_for_all(format!(
                    "add the keys {}{more} to {them}, set defaults, or write `$${{…}}` for variables of another program; \
                     {why}",
                    listed.join(", ")
                ));
        }
        finding = finding.keeping_related();
        finding.severity = severity(undefined, cluster.strictness);
        for (span, message) in sources(name, slot) {
            finding = finding.related(span, message);
        }
        for (span, message) in elsewhere {
            finding = finding.related(span, message);
        }
        finding
    }

    /// The keys of the Secrets and ConfigMaps of an output, without those whose values are variables.
    fn keys_of(&self, output: &Output) -> Rc<Keys> {
        let find = || {
            let mut keys = Keys::new();
            let objects = output.objects.iter().filter(|object| object.is("", "Secret") || object.is("", "ConfigMap"));
            for object in objects {
                let fields = ["data", "stringData"].into_iter().filter_map(|field| object.node.get(field));
                for entry in fields.flat_map(Node::entries) {
                    let text = entry.node.text().unwrap_or_default();
                    if !text.is_empty() && !text.contains("${") {
                        let key = (object.namespace().map(Name::from), entry.key.clone());
                        keys.entry(key).or_insert_with(|| object.reference());
                    }
                }
            }
            Rc::new(keys)
        };
        self.keys.borrow_mut().entry(output).or_insert_with(find).clone()
    }

    /// The names of a set that no known variable of a slot resembles.
    fn not_misspelled(&self, names: &BTreeSet<&'a Name>, slot: &Slot) -> Rc<[&'a Name]> {
        let known = || slot.variables.values.keys().map(|name| &**name);
        let found = || names.iter().copied().filter(|name| did_you_mean(name, known()).is_none()).collect();
        self.missing.borrow_mut().entry((slot, names)).or_insert_with(found).clone()
    }

    /// The sources that lack a variable, if they also lack other variables, and all of these variables.
    fn lacking_with(&self, name: &Name) -> Option<(&BTreeSet<Source<'a>>, &BTreeSet<&'a Name>)> {
        let lacking = self.lacking.get_or_init(|| lacking(self.clusters));
        let (sources, names) = lacking.sets.get(*lacking.by_name.get(name)?)?;
        (names.len() > 1).then_some((sources, names))
    }

    /// The definitions of a variable for other Kustomizations: first those of this cluster, then those of other
    /// clusters.
    fn elsewhere(&self, name: &Name, used: &Span, cluster: &ClusterBuild, slot: &Slot) -> Vec<(Span, String)> {
        let by_name = self.by_name.get_or_init(|| by_name(self.clusters));
        let found = by_name.get(name).map_or(&[][..], Vec::as_slice);
        let cluster = &cluster.root.name;
        let here = found.iter().filter(|definition| definition.cluster == cluster);
        let there = found.iter().filter(|definition| definition.cluster != cluster);
        // An inline variable of another Kustomization is not relevant, unless that Kustomization is the same one on
        // another cluster.
        let is_relevant = |definition: &&Definition<'_>| {
            let is_same = definition.cluster != cluster && *definition.by == slot.spec.reference;
            definition.variable.from.is_some() || is_same
        };
        let mut seen: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
        let mut shown = Vec::new();
        for definition in here.chain(there).filter(is_relevant) {
            let place = &definition.variable.place;
            // In `X: ${X}`, a Kustomization sets a variable to an undefined variable of its parent. This definition is
            // the use itself.
            let is_use = place.file() == used.file() && place.range().contains(&used.range().start);
            if is_use || shown.len() >= MAX_SHOWN || !seen.insert(place.order()) {
                continue;
            }
            let what = match &definition.variable.from {
                Some(object) => object.to_string(),
                None => definition.by.to_string(),
            };
            let whom = if definition.cluster == cluster {
                "other Kustomizations of this cluster".to_owned()
            } else {
                format!("cluster `{}`", definition.cluster)
            };
            shown.push((place.clone(), format!("{what} defines the variable for {whom}")));
        }
        shown
    }
}

/// The sources that lack variables, for all clusters.
fn lacking(clusters: &[ClusterBuild]) -> Lacking<'_> {
    let mut sources_of: BTreeMap<&Name, BTreeSet<Source<'_>>> = BTreeMap::new();
    for slot in clusters.iter().flat_map(|cluster| &cluster.slots) {
        let Some(output) = &slot.output else { continue };
        let of_flux = output.undefined.iter().filter(|undefined| matches!(undefined.owner, VariableOwner::Flux));
        let names: BTreeSet<&Name> = of_flux.filter_map(|undefined| Some(&undefined.uses.first()?.0)).collect();
        // The variables of a cluster are usually in its first ConfigMap.
        let known = || slot.variables.sources.iter().filter(|source| source.place.is_some());
        let source = known().find(|source| &*source.kind == "ConfigMap").or_else(|| known().next());
        let source = source.and_then(|source| Some((source.place.as_ref()?.order(), &*source.kind, &*source.name)));
        // A Kustomization without such sources sets its variables itself.
        let own = || {
            let set = slot.spec.object.node.at_keys(&["spec", "postBuild", "substitute"])?;
            Some((set.span().order(), &*slot.spec.reference.kind, &*slot.spec.reference.name))
        };
        let source = source.or_else(own);
        for name in names {
            sources_of.entry(name).or_default().extend(source);
        }
    }
    let mut names_of: BTreeMap<BTreeSet<Source<'_>>, BTreeSet<&Name>> = BTreeMap::new();
    for (name, sources) in sources_of.into_iter().filter(|(_, sources)| !sources.is_empty()) {
        names_of.entry(sources).or_default().insert(name);
    }
    let sets: Vec<(BTreeSet<Source<'_>>, BTreeSet<&Name>)> = names_of.into_iter().collect();
    let by_name = sets.iter().enumerate().flat_map(|(at, (_, names))| names.iter().map(move |name| (*name, at)));
    Lacking { by_name: by_name.collect(), sets }
}

/// The definitions of all variables that are undefined for at least one applier.
fn by_name(clusters: &[ClusterBuild]) -> BTreeMap<&Name, Vec<Definition<'_>>> {
    let slots = || clusters.iter().flat_map(|cluster| cluster.slots.iter().map(move |slot| (cluster, slot)));
    let outputs = slots().filter_map(|(_, slot)| slot.output.as_ref());
    let uses = outputs.flat_map(|output| output.undefined.iter()).flat_map(|undefined| &undefined.uses);
    let missed: BTreeSet<&Name> = uses.map(|(name, _)| name).collect();
    let mut found: BTreeMap<&Name, Vec<Definition<'_>>> = BTreeMap::new();
    let mut seen: Index<usize, ()> = Index::default();
    for (cluster, slot) in slots() {
        let variables: &Arc<Variables> = &slot.variables;
        if seen.insert(Arc::as_ptr(variables).addr(), ()).is_some() {
            continue;
        }
        for (name, variable) in variables.values.iter().filter(|(name, _)| missed.contains(name)) {
            found.entry(name).or_default().push(Definition {
                cluster: &cluster.root.name,
                by: &slot.spec.reference,
                variable,
            });
        }
    }
    found
}

/// The number of Kustomizations whose directory is unknown without a variable, as text for a message.
fn unknown_paths(name: &Name, cluster: &ClusterBuild, slot: &Slot) -> String {
    let is_child = |child: &&Slot| {
        let parent = child.parent.and_then(|parent| cluster.slots.get(parent));
        parent.is_some_and(|parent| std::ptr::eq(parent, slot)) && !child.spec.is_folder_known()
    };
    let reads = |child: &&Slot| {
        let path = child.spec.object.text_at(&["spec", "path"]).unwrap_or_default();
        path.contains(&format!("${{{name}}}"))
    };
    match cluster.slots.iter().filter(is_child).filter(reads).count() {
        0 => String::new(),
        1 => "; the path of a Kustomization contains the variable, so the linter does not check that directory"
            .to_owned(),
        count => format!(
            "; the paths of {count} Kustomizations contain the variable, so the linter does not check those directories"
        ),
    }
}

/// The positions of the variable sources of an applier. None of them defines the variable.
fn sources(name: &Name, slot: &Slot) -> Vec<(Span, String)> {
    let Some(post_build) = slot.spec.object.node.at_keys(&["spec", "postBuild"]) else { return Vec::new() };
    let mut places = Vec::new();
    let items = post_build.get("substituteFrom").map_or(&[][..], Node::items);
    for (item, source) in items.iter().zip(&slot.variables.sources) {
        let (kind, object) = (&source.kind, &source.name);
        if let Some(place) = &source.place {
            places.push((place.clone(), format!("{kind} `{object}` has no key `{name}`")));
        } else {
            let span = item.get("name").unwrap_or(item).span().clone();
            places.push((span, format!("the cluster has no known {kind} `{object}`")));
        }
    }
    let reference = &slot.spec.reference;
    let inline = post_build.entry("substitute").map(Entry::key_span);
    let own = slot.spec.object.node.at_keys(&["spec"]).and_then(|spec| spec.entry("postBuild")).map(Entry::key_span);
    places.truncate(MAX_SHOWN);
    if let Some(place) = inline.or(own) {
        places.push((place, format!("{reference} substitutes variables, and does not set `{name}`")));
    }
    places
}

/// The finding of variables that belong to another program.
fn own(undefined: &UndefinedVariable, what: &str, cluster: &ClusterBuild, slot: &Slot) -> Finding {
    let Some((first, place)) = undefined.uses.first() else { unreachable!("an undefined variable is used") };
    let names: Vec<String> = undefined.uses.iter().take(MAX_SHOWN).map(|(name, _)| format!("`${{{name}}}`")).collect();
    let more = undefined.uses.len() - names.len();
    let (names, belong, them) = match (names.as_slice(), more) {
        ([name], 0) => (name.clone(), "belongs", "it"),
        ([others @ .., last], 0) => (format!("{} and {last}", others.join(", ")), "belong", "them"),
        (names, more) => (format!("{} and {more} more", names.join(", ")), "belong", "them"),
    };
    let message = format!("{names} {belong} to the {what}, and Flux substitutes {them}");
    let why = match cluster.strictness {
        _ if !undefined.fails => "Flux substitutes the value of its own variable, or the default",
        Strictness::Strict => "Flux has no such variable and fails",
        Strictness::Lenient => "Flux has no such variable and substitutes an empty text; Flux 2.9 and later fail",
        Strictness::SwitchedOff => {
            "Flux has no such variable and substitutes an empty text, because `StrictPostBuildSubstitutions=false` is set"
        }
        Strictness::Assumed => {
            "Flux has no such variable: 2.9 and later fail, older versions substitute an empty text, and the version of \
             this cluster is unknown"
        }
    };
    let switch = "`kustomize.toolkit.fluxcd.io/substitute: disabled`";
    let object = &undefined.object;
    let is_of_flux = &*object.kind == "CustomResourceDefinition"
        && object.name.split_once('.').is_some_and(|(_, group)| groups::is_toolkit(group));
    let help = match &undefined.generator {
        Some(_) => {
            format!("set {switch} below `options.annotations` of the generator, or write `$${{{first}}}`; {why}")
        }
        None if is_of_flux => format!(
            "set the annotation {switch} on {object} with a patch in the kustomization.yaml beside the file, since \
             `flux bootstrap` overwrites the file; {why}"
        ),
        None => format!("set the label or annotation {switch} on {object}, or write `$${{{first}}}`; {why}"),
    };
    let mut finding =
        Finding::error(SHELL_VARIABLE_SUBSTITUTED, place.clone(), message).help(help).about(undefined.object.clone());
    finding.severity = severity(undefined, cluster.strictness);
    if let Some(generator) = &undefined.generator {
        // One annotation of the kustomization removes all of these findings.
        let file = generator.file().path();
        let summary =
            format!(" texts of generators of `{file}` contain variables of their own, and Flux substitutes them");
        finding = finding.caused_by(file, "", summary).help_for_all(format!(
            "set {switch} once below `generatorOptions.annotations`, or below `options.annotations` of each generator if \
             others need variables; {why}"
        ));
    } else {
        // The author of several objects usually makes the same mistake in each of them. Each cluster has a copy of the
        // manifests of Flux, so their findings do not depend on the file.
        let folder = folder_of(place.file().path());
        let shown = if folder.is_empty() { "." } else { folder };
        finding = if is_of_flux {
            let summary = format!(" texts of {object} contain variables of their own, and Flux substitutes them");
            finding.caused_by(object.to_string(), "", summary)
        } else {
            let summary = format!(" texts in `{shown}` contain variables of their own, and Flux substitutes them");
            let help = format!("set the label or annotation {switch} on each of these objects; {why}");
            finding.caused_by(folder, "", summary).help_for_all(help)
        };
    }
    finding = finding.with_faults(undefined.uses.iter().map(|(name, place)| (place.clone(), name.to_string())));
    for (name, place) in undefined.uses.iter().skip(1).take(MAX_SHOWN) {
        finding = finding.related(place.clone(), format!("`{name}`"));
    }
    if let Some(place) = &undefined.generator {
        finding = finding.related(place.clone(), format!("{object} is generated here"));
    }
    let spec = slot.spec.object.node.get("spec");
    if let Some(entry) = spec.and_then(|spec| spec.entry("postBuild")) {
        finding = finding.related(entry.key_span(), format!("{} substitutes variables", slot.spec.reference));
    }
    finding
}

fn severity(undefined: &UndefinedVariable, strictness: Strictness) -> Severity {
    match strictness {
        Strictness::Strict if undefined.fails => Severity::Error,
        // A comment or a description without a word has no effect.
        Strictness::Lenient | Strictness::SwitchedOff
            if undefined.is_description || undefined.uses.iter().all(|(_, place)| is_in_comment(place)) =>
        {
            Severity::Pedantic
        }
        _ => Severity::Warning,
    }
}

/// Returns whether a position is in a comment line of a text, such as a script.
fn is_in_comment(place: &Span) -> bool {
    let before = place.file().text().get(..place.range().start).unwrap_or_default();
    before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with('#'))
}
