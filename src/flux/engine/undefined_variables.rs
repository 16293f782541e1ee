//! What is said of variables that nothing defines, with the places that a value could have come from.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cluster_build::{Growing, Slot};
use crate::base::finding::{Finding, ObjectRef, Severity, did_you_mean};
use crate::flux::build::output::Output;
use crate::flux::install::version::Strictness;
use crate::flux::model::variables::{Variable, Variables};
use crate::flux::variables::substitute::rule_ids::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE};
use crate::flux::variables::substitute::unset::{Unset, Whose};
use crate::text::{Index, Span};
use crate::yaml::{Entry, Name, Node};

/// So many names or places are shown where there are more.
const MAX_SHOWN: usize = 5;

/// Says at most so many places of one variable that several Kustomizations miss.
pub(crate) const MAX_PLACES: usize = 8;

/// Where clusters define variables that others miss: looked for once anything is missed.
pub(crate) struct Definitions<'a> {
    clusters: &'a [Growing],
    by_name: OnceCell<BTreeMap<&'a Name, Vec<Definition<'a>>>>,
}

/// A variable of a cluster.
#[derive(Clone, Copy)]
struct Definition<'a> {
    cluster: &'a Name,
    by: &'a ObjectRef,
    variable: &'a Variable,
}

impl<'a> Definitions<'a> {
    /// Those of clusters.
    pub(crate) fn of(clusters: &'a [Growing]) -> Self {
        Self { clusters, by_name: OnceCell::new() }
    }

    /// What is said of the variables that an applier's objects miss. Places are those of the output.
    pub(crate) fn missed(&self, cluster: &Growing, slot: &Slot, output: &Output) -> Vec<Finding> {
        let said = output.unset.iter().map(|unset| match unset.whose {
            Whose::Flux => self.undefined(unset, cluster, slot),
            Whose::Other(what) => own(unset, what, cluster, slot),
        });
        said.collect()
    }

    fn undefined(&self, unset: &Unset, cluster: &Growing, slot: &Slot) -> Finding {
        let Some((name, place)) = unset.uses.first() else { unreachable!("what is unset is used") };
        let known = slot.variables.values.keys().map(|name| &**name);
        let fix = match did_you_mean(name, known) {
            Some(meant) => format!("did you mean `{meant}`? "),
            None => format!(
                "set it in `postBuild`, give a default as `${{{name}:=…}}`, or write `$${{{name}}}` if it is meant for \
                 another program; "
            ),
        };
        let why = match cluster.strictness {
            Strictness::Strict => "Flux fails to build what reads it, and applies nothing of it",
            Strictness::Lax => "Flux puts an empty text in its place here, and fails from 2.9 on",
            Strictness::Assumed => {
                "Flux 2.9 fails to build what reads it, an older one puts an empty text in its place, and nothing says \
                 which one runs here"
            }
        };
        let mut finding = Finding::error(UNDEFINED_VARIABLE, place.clone(), format!("no variable is called `{name}`"))
            .help(format!("{fix}{why}"))
            .about(unset.object.clone());
        finding.severity = severity(unset, cluster.strictness);
        for (span, message) in sources(name, slot) {
            finding = finding.related(span, message);
        }
        for (span, message) in self.elsewhere(name, place, cluster, slot) {
            finding = finding.related(span, message);
        }
        finding
    }

    /// Where it is defined for others: of this cluster first, then of other ones.
    fn elsewhere(&self, name: &Name, used: &Span, cluster: &Growing, slot: &Slot) -> Vec<(Span, String)> {
        let by_name = self.by_name.get_or_init(|| by_name(self.clusters));
        let found = by_name.get(name).map_or(&[][..], Vec::as_slice);
        let cluster = &cluster.root.name;
        let here = found.iter().filter(|definition| definition.cluster == cluster);
        let there = found.iter().filter(|definition| definition.cluster != cluster);
        // What another Kustomization sets for itself says nothing, unless it is the same one elsewhere.
        let tells = |definition: &&Definition<'_>| {
            let is_same = definition.cluster != cluster && *definition.by == slot.asks.reference;
            definition.variable.from.is_some() || is_same
        };
        let mut seen: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
        let mut shown = Vec::new();
        for definition in here.chain(there).filter(tells) {
            let place = &definition.variable.place;
            // A child may hand on what its parent does not have: `X: ${X}`.
            let is_use = place.file() == used.file() && place.range().contains(&used.range().start);
            if is_use || shown.len() >= MAX_SHOWN || !seen.insert(place.order()) {
                continue;
            }
            let what = match &definition.variable.from {
                Some(object) => object.to_string(),
                None => definition.by.to_string(),
            };
            let whom = if definition.cluster == cluster {
                "others of this cluster".to_owned()
            } else {
                format!("cluster `{}`", definition.cluster)
            };
            shown.push((place.clone(), format!("{what} has it, for {whom}")));
        }
        shown
    }
}

/// The variables that anything misses, as clusters define them.
fn by_name(clusters: &[Growing]) -> BTreeMap<&Name, Vec<Definition<'_>>> {
    let slots = || clusters.iter().flat_map(|cluster| cluster.slots.iter().map(move |slot| (cluster, slot)));
    let outputs = slots().filter_map(|(_, slot)| slot.output.as_ref());
    let uses = outputs.flat_map(|output| output.unset.iter()).flat_map(|unset| &unset.uses);
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
                by: &slot.asks.reference,
                variable,
            });
        }
    }
    found
}

/// Where an applier takes variables from, none of which has this one.
fn sources(name: &Name, slot: &Slot) -> Vec<(Span, String)> {
    let Some(post_build) = slot.asks.object.node.at_keys(&["spec", "postBuild"]) else { return Vec::new() };
    let mut places = Vec::new();
    let items = post_build.get("substituteFrom").map_or(&[][..], Node::items);
    for (item, source) in items.iter().zip(&slot.variables.sources) {
        let (kind, object) = (&source.kind, &source.name);
        if let Some(place) = &source.place {
            places.push((place.clone(), format!("{kind} `{object}` has no key `{name}`")));
        } else {
            let span = item.get("name").unwrap_or(item).span().clone();
            places.push((span, format!("nothing here makes {kind} `{object}`")));
        }
    }
    let reference = &slot.asks.reference;
    let inline = post_build.entry("substitute").map(Entry::key_span);
    let own = slot.asks.object.node.at_keys(&["spec"]).and_then(|spec| spec.entry("postBuild")).map(Entry::key_span);
    places.truncate(MAX_SHOWN);
    if let Some(place) = inline.or(own) {
        places.push((place, format!("{reference} substitutes, and does not set `{name}` itself")));
    }
    places
}

/// What is said of variables that a text means for another program.
fn own(unset: &Unset, what: &str, cluster: &Growing, slot: &Slot) -> Finding {
    let Some((first, place)) = unset.uses.first() else { unreachable!("what is unset is used") };
    let names: Vec<String> = unset.uses.iter().take(MAX_SHOWN).map(|(name, _)| format!("`${{{name}}}`")).collect();
    let more = unset.uses.len() - names.len();
    let (names, are, them) = match (names.as_slice(), more) {
        ([name], 0) => (name.clone(), "is", "it"),
        ([others @ .., last], 0) => (format!("{} and {last}", others.join(", ")), "are", "them"),
        (names, more) => (format!("{} and {more} more", names.join(", ")), "are", "them"),
    };
    let message = format!("{names} {are} the {what}'s own, and Flux replaces {them}");
    let why = match cluster.strictness {
        _ if !unset.fails => "Flux puts in what it knows, or the default",
        Strictness::Strict => "Flux knows no such variable and fails",
        Strictness::Lax => "Flux knows no such variable and puts an empty text in its place; Flux 2.9 fails",
        Strictness::Assumed => {
            "Flux knows no such variable: 2.9 fails, an older one puts an empty text in its place, and nothing says which \
             one runs here"
        }
    };
    let switch = "`kustomize.toolkit.fluxcd.io/substitute: disabled`";
    let object = &unset.object;
    let help = match &unset.generator {
        Some(_) => {
            format!(
                "set {switch} below `options.annotations` of the generator of {object}, or write `$${{{first}}}`; {why}"
            )
        }
        None => format!("set the label or annotation {switch} on {object}, or write `$${{{first}}}`; {why}"),
    };
    let mut finding =
        Finding::error(SHELL_VARIABLE_SUBSTITUTED, place.clone(), message).help(help).about(unset.object.clone());
    finding.severity = severity(unset, cluster.strictness);
    for (name, place) in unset.uses.iter().skip(1).take(MAX_SHOWN) {
        finding = finding.related(place.clone(), format!("`{name}`"));
    }
    if let Some(place) = &unset.generator {
        finding = finding.related(place.clone(), format!("{object} is generated here"));
    }
    let spec = slot.asks.object.node.get("spec");
    if let Some(entry) = spec.and_then(|spec| spec.entry("postBuild")) {
        finding = finding.related(entry.key_span(), format!("{} substitutes", slot.asks.reference));
    }
    finding
}

fn severity(unset: &Unset, strictness: Strictness) -> Severity {
    if unset.fails && strictness == Strictness::Strict { Severity::Error } else { Severity::Warning }
}
