//! Selectors of objects as users type them: `Kind/namespace/name`, `Kind/name`.

use std::collections::BTreeSet;

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::base::similar_names::did_you_mean;
use crate::flux::cluster::applied_set::Applied;
use crate::flux::cluster::desired_state::Cluster;

/// A typed selector of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The kind in lower case, possibly plural.
    kind: String,
    /// The group of `Kind.group`, in lower case.
    group: Option<String>,
    namespace: Option<String>,
    name: String,
}

/// A selector that matches no object, or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// No object matches. The value is the suggested object.
    Unknown(Option<String>),
    /// Several objects match, in different namespaces or groups.
    Several(Vec<String>),
}

impl Selector {
    /// Parses `Kind/namespace/name` or `Kind/name`. The kind may include its group, as in
    /// `Kustomization.kustomize.toolkit.fluxcd.io`.
    pub fn parse(typed: &str) -> Option<Self> {
        let segments: Vec<&str> = typed.split('/').collect();
        let (kind, namespace, name) = match segments.as_slice() {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some((*namespace).to_owned()), name),
            _ => return None,
        };
        if kind.is_empty() || name.is_empty() || namespace.as_deref() == Some("") {
            return None;
        }
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind, Some(group.to_ascii_lowercase())),
            None => (*kind, None),
        };
        Some(Self { kind: kind.to_ascii_lowercase(), group, namespace, name: (*name).to_owned() })
    }

    fn is_kind_of(&self, reference: &ObjectRef) -> bool {
        let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
        let kind = reference.kind.to_ascii_lowercase();
        let plural = || self.kind == format!("{kind}s") || self.kind == format!("{}ies", kind.trim_end_matches('y'));
        self.group.as_ref().is_none_or(|wanted| wanted == group) && (self.kind == kind || plural())
    }

    /// Returns whether the selector matches an object. An object without a namespace is in `default`.
    pub fn matches(&self, reference: &ObjectRef) -> bool {
        let namespace = self.namespace.as_deref().is_none_or(|namespace| {
            reference.namespace.as_deref().map_or(namespace == "default", |own| own == namespace)
        });
        *self.name == *reference.name && namespace && self.is_kind_of(reference)
    }

    /// Finds the object in all clusters that receive it.
    pub fn find<'a>(&self, clusters: &[&'a Cluster]) -> Result<Vec<(&'a Cluster, Applied<'a>)>, Miss> {
        let mut found = Vec::new();
        let mut identities: BTreeSet<(Option<ArcStr>, ArcStr, String)> = BTreeSet::new();
        let mut all: BTreeSet<String> = BTreeSet::new();
        for cluster in clusters {
            for applied in cluster.objects() {
                let reference = applied.object.reference();
                if self.matches(&reference) {
                    let group = applied.object.group().to_owned();
                    identities.insert((reference.namespace.clone(), reference.kind.clone(), group));
                    found.push((*cluster, applied));
                }
            }
        }
        if self.namespace.is_none() && identities.iter().any(|(namespace, ..)| namespace.is_none()) {
            // `Kind/name` prefers an object without a namespace.
            identities.retain(|(namespace, ..)| namespace.is_none());
            found.retain(|(_, applied)| applied.object.namespace().is_none());
        }
        if identities.len() > 1 {
            let groups: BTreeSet<&String> = identities.iter().map(|(_, _, group)| group).collect();
            let named = |(namespace, kind, group): &(Option<ArcStr>, ArcStr, String)| {
                let kind =
                    if groups.len() > 1 && !group.is_empty() { format!("{kind}.{group}") } else { kind.to_string() };
                let namespace = namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
                format!("{kind}/{namespace}{}", self.name)
            };
            return Err(Miss::Several(identities.iter().map(named).collect()));
        }
        if !found.is_empty() {
            return Ok(found);
        }
        for cluster in clusters {
            all.extend(cluster.objects().map(|applied| typed(&applied.object.reference())));
        }
        Err(Miss::Unknown(self.meant(&all)))
    }

    /// The suggested object: an object with the same name in another namespace or of another kind, or else an object
    /// with a similar name.
    fn meant(&self, all: &BTreeSet<String>) -> Option<String> {
        let kind_of = |typed: &str| typed.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let name_of = |typed: &str| typed.rsplit('/').next().unwrap_or_default().to_owned();
        let same_kind: Vec<&String> = all.iter().filter(|typed| kind_of(typed) == self.kind).collect();
        let namesake =
            |among: &[&String]| among.iter().find(|typed| name_of(typed) == self.name).map(ToString::to_string);
        if let Some(typed) = namesake(&same_kind) {
            return Some(typed);
        }
        let typed_name = match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        };
        let rest = |typed: &'_ str| typed.split_once('/').map_or_else(String::new, |(_, rest)| rest.to_owned());
        let near = |among: &[&String]| {
            let rests: Vec<String> = among.iter().map(|typed| rest(typed)).collect();
            let meant =
                did_you_mean(&typed_name, rests.iter().map(String::as_str)).map(str::to_owned).or_else(|| {
                    let names: Vec<String> = among.iter().map(|typed| name_of(typed)).collect();
                    let name = did_you_mean(&self.name, names.iter().map(String::as_str))?.to_owned();
                    rests.iter().find(|rest| name_of(rest) == name).cloned()
                })?;
            among.iter().find(|typed| rest(typed) == meant).map(ToString::to_string)
        };
        if let Some(typed) = near(&same_kind) {
            return Some(typed);
        }
        let kinds: BTreeSet<String> = all.iter().map(|typed| kind_of(typed)).collect();
        let other_kind = did_you_mean(&self.kind, kinds.iter().map(String::as_str)).map(str::to_owned);
        let of_kind: Vec<&String> = all.iter().filter(|typed| Some(kind_of(typed)) == other_kind).collect();
        namesake(&of_kind).or_else(|| near(&of_kind)).or_else(|| namesake(&all.iter().collect::<Vec<_>>()))
    }
}

/// The selector of an object.
pub fn typed(reference: &ObjectRef) -> String {
    match &reference.namespace {
        Some(namespace) => format!("{}/{namespace}/{}", reference.kind, reference.name),
        None => format!("{}/{}", reference.kind, reference.name),
    }
}
