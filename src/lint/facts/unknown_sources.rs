//! The sources of unknown objects: charts, appliers that are not built, remote bases, and encrypted objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use arcstr::ArcStr;

use crate::base::finding::ObjectRef;
use crate::flux::{
    Applied, AppliedSet, Applier, Creates, FleetIdentity, NotBuiltReason, Relations, State, UnknownProducer,
};
use crate::kube::{Object, ObjectId};
use crate::yaml::Name;

/// The reason why it is unknown whether a cluster has an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownSource {
    /// The name or namespace contains a variable.
    VariableInName,
    /// The repository has no root, so other appliers may exist.
    NoRoot,
    /// No object of the repository bootstraps the cluster, and the repository uses the namespace nowhere else.
    OtherRepository,
    /// An applier is not built, and the reason is not a fault.
    NotBuilt(ObjectRef, NotBuiltReason),
    /// The build of an applier fails.
    FailedBuild(ObjectRef),
    /// An applier has an encrypted object with an unknown identity, in the file at this path.
    Encrypted(ArcStr),
    /// The chart of a release may contain the object.
    Chart(ObjectRef),
    /// A base of an applier at a URL without a copy may contain the object.
    RemoteBase(ObjectRef, Name),
    /// A controller may create the object for this policy or template.
    Controller(ObjectRef),
    /// A role references the object and allows an account to write it.
    Account(ObjectRef),
    /// A file of another program, such as a script, creates an object with this name.
    Program(ArcStr),
}

impl fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VariableInName => f.write_str("an object with a variable in its name"),
            Self::NoRoot => f.write_str("another applier of this repository without a root"),
            Self::OtherRepository => f.write_str("the repository that bootstraps the cluster"),
            Self::NotBuilt(applier, reason) => write!(f, "{applier}, which is not built ({reason}),"),
            Self::FailedBuild(applier) => write!(f, "{applier}, which does not build,"),
            Self::Encrypted(path) => write!(f, "an encrypted object of `{path}`"),
            Self::Chart(release) => write!(f, "the chart of {release}"),
            Self::RemoteBase(applier, url) => write!(f, "the remote base `{url}` of {applier}"),
            Self::Controller(object) => write!(f, "the controller of {object}"),
            Self::Account(role) => write!(f, "an account with {role}"),
            Self::Program(path) => write!(f, "the program of `{path}`"),
        }
    }
}

/// A chart, applier, remote base or encrypted object of a cluster, with unknown contents.
#[derive(Debug)]
pub(crate) struct Producer<'a> {
    /// The HelmRelease, the applier or the encrypted object; `None` for a remote base.
    pub(crate) object: Option<&'a Object>,
    /// The namespace of the HelmRelease or the applier.
    pub(crate) home: &'a str,
    /// The applier that applies the producer.
    pub(crate) by: Option<&'a Arc<Applier>>,
    /// The position of the applier that applies the contents; `None` for a chart, which a release installs.
    pub(crate) at: Option<usize>,
    /// The producer, as messages describe it.
    pub(crate) source: UnknownSource,
    contents: UnknownProducer,
}

/// The producers of a cluster with unknown contents.
#[derive(Debug, Default)]
pub(crate) struct UnknownSources<'a> {
    /// All producers.
    producers: Vec<Producer<'a>>,
    /// The positions of the charts of releases, by the namespace into which Flux installs the release.
    charts: BTreeMap<Name, Vec<usize>>,
    /// The positions of the charts of releases, by the names of the release and of the chart.
    named: BTreeMap<&'a str, Vec<usize>>,
    /// The sorted positions of the producers whose objects may be in any namespace: all but charts, and some charts.
    anywhere: Vec<usize>,
    /// The positions of the producers with known contents, without those that create the same objects.
    certain: BTreeMap<(&'static str, Option<Name>), usize>,
    /// The namespaces that releases create.
    created: BTreeSet<&'a str>,
    /// The producers by name. It has only the producers before its first use.
    relations: OnceLock<Relations>,
}

impl<'a> UnknownSources<'a> {
    /// The unknown sources among the releases and appliers of a cluster.
    ///
    /// `source_of` returns the source of a release or an applier, and `kinds_of` the kinds of the objects of a release.
    /// `lacks` returns whether the cluster does not have a source. An applier with a missing source does not apply
    /// objects.
    pub(crate) fn collect(
        applied_sets: impl Iterator<Item = &'a AppliedSet>,
        releases: impl Iterator<Item = Applied<'a>>,
        appliers: impl Iterator<Item = &'a Arc<Applier>>,
        source_of: impl Fn(&Object) -> Option<&'a Object>,
        kinds_of: impl Fn(&Applied<'a>) -> Option<BTreeSet<String>>,
        fleet: &FleetIdentity,
        lacks: impl Fn(&ObjectRef) -> bool,
    ) -> Self {
        let mut sources = Self::default();
        let mut sourceless = Vec::new();
        for applier in appliers {
            let lacks_source = || applier.source.as_ref().is_some_and(&lacks);
            match &applier.state {
                _ if applier.is_known => {}
                State::NotBuilt(_) if lacks_source() => sourceless.push(applier),
                State::Built | State::Failed | State::NotBuilt(_) => sources.add_applier(applier, &source_of, fleet),
            }
        }
        for set in applied_sets {
            sources.add_unidentified(set);
            if set.by.is_known {
                sources.add_bases(set, fleet);
            }
        }
        releases.for_each(|release| sources.add_release(&release, &source_of, kinds_of(&release), fleet));
        for applier in sourceless {
            let Some(source) = applier.source.as_ref() else { continue };
            let namespace = source.namespace.as_deref().unwrap_or_default();
            let id = ObjectId { group: source.group(), kind: &source.kind, namespace, name: &source.name };
            if sources.of(id).next().is_some() {
                sources.add_applier(applier, &source_of, fleet);
            }
        }
        sources
    }

    fn add(&mut self, producer: Producer<'a>) {
        if let Some(contents) = producer.contents.certain_contents() {
            self.certain.entry(contents).or_insert(self.producers.len());
        }
        self.producers.push(producer);
    }

    fn add_release(
        &mut self,
        applied: &Applied<'a>,
        source_of: impl Fn(&Object) -> Option<&'a Object>,
        kinds: Option<BTreeSet<String>>,
        fleet: &FleetIdentity,
    ) {
        let release = applied.object;
        if release.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return;
        }
        let Some(namespace) = spec_text(release, "targetNamespace").or(applied.namespace()) else { return };
        let creates = release.text_at(&["spec", "install", "createNamespace"]) == Some("true");
        // A release cannot create its own namespace, since the HelmRelease is in that namespace.
        if creates && Some(namespace) != applied.namespace() {
            self.created.insert(namespace);
        }
        let contents = UnknownProducer::of_release(release, namespace, source_of(release), fleet).with_kinds(kinds);
        let further = contents.namespaces_of_manifests().iter().filter(|other| ***other != *namespace);
        for namespace in further.cloned().chain([namespace.into()]) {
            self.charts.entry(namespace).or_default().push(self.producers.len());
        }
        for name in names_of(release) {
            self.named.entry(name).or_default().push(self.producers.len());
        }
        if contents.namespace().is_none() {
            self.anywhere.push(self.producers.len());
        }
        self.add(Producer {
            object: Some(release),
            home: applied.namespace().unwrap_or_default(),
            by: Some(applied.by),
            at: None,
            source: UnknownSource::Chart(release.reference()),
            contents,
        });
    }

    /// Adds the objects of an applier that have an encrypted identity.
    fn add_unidentified(&mut self, applied: &'a AppliedSet) {
        for object in applied.unidentified() {
            self.anywhere.push(self.producers.len());
            self.add(Producer {
                object: Some(object),
                home: applied.by.reference.namespace.as_deref().unwrap_or_default(),
                by: Some(&applied.by),
                at: Some(applied.by.at),
                source: UnknownSource::Encrypted(object.node.origin.written().file().path().into()),
                contents: UnknownProducer::of_unidentified(object),
            });
        }
    }

    fn add_applier(
        &mut self,
        applier: &'a Arc<Applier>,
        source_of: impl Fn(&Object) -> Option<&'a Object>,
        fleet: &FleetIdentity,
    ) {
        let object = applier.object.as_ref();
        // The objects of a failed build are mostly objects of the fleet, not of an artifact.
        let artifact = object.filter(|_| matches!(applier.state, State::NotBuilt(_))).and_then(source_of);
        self.anywhere.push(self.producers.len());
        self.add(Producer {
            object,
            home: applier.reference.namespace.as_deref().unwrap_or_default(),
            by: applier.parent_applier.as_ref(),
            at: Some(applier.at),
            source: unbuilt(applier),
            contents: UnknownProducer::of_applier(object, artifact, fleet),
        });
    }

    fn add_bases(&mut self, set: &'a AppliedSet, fleet: &FleetIdentity) {
        for base in set.unread() {
            let contents = UnknownProducer::of_base(base, fleet);
            self.anywhere.push(self.producers.len());
            self.add(Producer {
                object: None,
                home: set.by.reference.namespace.as_deref().unwrap_or_default(),
                by: Some(&set.by),
                at: Some(set.by.at),
                source: UnknownSource::RemoteBase(set.by.reference.clone(), base.url.clone()),
                contents,
            });
        }
    }

    /// The producers that may create an object; a cluster-scoped object has the empty namespace.
    pub(crate) fn of(&self, id: ObjectId<'_>) -> impl Iterator<Item = &Producer<'a>> {
        self.positions_of(id).map(|(_, one)| one)
    }

    fn positions_of(&self, id: ObjectId<'_>) -> impl Iterator<Item = (usize, &Producer<'a>)> {
        // The positions are in ascending order.
        let charts = self.charts.get(id.namespace).map_or(&[][..], Vec::as_slice);
        let is_anywhere = |at: &usize| self.anywhere.binary_search(at).is_ok();
        let in_namespace = charts.iter().copied().filter(move |at| !is_anywhere(at));
        let others = 0..if id.namespace.is_empty() { self.producers.len() } else { 0 };
        let others = others.filter(move |at| !is_anywhere(at) && charts.binary_search(at).is_err());
        self.that_create(id, self.anywhere.iter().copied().chain(in_namespace).chain(others))
    }

    /// The producers at some positions that may create an object.
    fn that_create(
        &self,
        id: ObjectId<'_>,
        positions: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = (usize, &Producer<'a>)> {
        let relations = self.relations();
        let related = relations.to(id);
        let related = positions.filter(move |at| relations.may_create(*at, &related));
        let producers = related.filter_map(|at| Some((at, self.producers.get(at)?)));
        producers.filter(move |(_, one)| one.contents.creates(id) != Creates::Never)
    }

    fn relations(&self) -> &Relations {
        self.relations.get_or_init(|| Relations::new(self.producers.iter().map(|one| &one.contents)))
    }

    /// The charts of the fleet itself, which may also create objects in other namespaces than that of their release.
    pub(crate) fn fleet_charts(&self) -> impl Iterator<Item = &Producer<'a>> {
        self.producers.iter().filter(|one| one.is_chart() && one.may_create_anything())
    }

    /// Returns whether a producer certainly creates an object.
    pub(crate) fn certainly_creates(&self, id: ObjectId<'_>) -> bool {
        let mut certain = self.certain.values().filter_map(|at| self.producers.get(*at));
        certain.any(|one| one.contents.creates(id) == Creates::Certainly)
    }

    /// Returns whether it is likely that a producer creates a role: charts usually name roles after the chart.
    pub(crate) fn is_likely_role(&self, id: ObjectId<'_>) -> bool {
        let related = self.relations().to(id);
        let mut producers = self.positions_of(id).map(|(at, one)| (at, &one.contents));
        producers.any(|(at, one)| one.is_likely_to_create_roles() || related.has(at) && one.refers_to(id.name))
    }

    /// Returns whether a release creates a namespace.
    pub(crate) fn creates(&self, namespace: &str) -> bool {
        self.created.contains(namespace)
    }

    /// Returns whether an applier that is not built, or a remote base, may contain a Namespace with any name.
    pub(crate) fn may_contain_namespaces(&self) -> bool {
        self.with_namespaces().next().is_some()
    }

    /// The appliers that are not built, and the remote bases, that may contain a Namespace with any name.
    pub(crate) fn with_namespaces(&self) -> impl Iterator<Item = &Producer<'a>> {
        let id = ObjectId { group: "", kind: "Namespace", namespace: "", name: "" };
        self.producers.iter().filter(move |producer| {
            let contents = &producer.contents;
            !producer.is_chart() && !contents.is_config() && contents.creates(id) != Creates::Never
        })
    }

    /// The positions of the appliers whose unknown contents are not only CRDs.
    pub(crate) fn beyond_definitions(&self) -> BTreeSet<usize> {
        let others = self.producers.iter().filter(|producer| !producer.contents.has_only_definitions());
        others.filter_map(|producer| producer.at).collect()
    }

    /// The remote bases and unbuilt appliers that probably contain the CRD of a custom resource.
    pub(crate) fn with_definition(&self, group: &str, kind: &str) -> impl Iterator<Item = &Producer<'a>> {
        self.producers.iter().filter(move |one| one.contents.probably_defines(group, kind))
    }

    /// A source that may contain a Namespace object with a name.
    pub(crate) fn of_namespace_object(
        &self,
        name: &str,
        is_denied: impl Fn(&Producer<'_>) -> bool,
    ) -> Option<UnknownSource> {
        let id = ObjectId { group: "", kind: "Namespace", namespace: "", name };
        // The order is that of `of`.
        let similar: BTreeSet<usize> = self.similar(name).copied().collect();
        let is_similar =
            |at: &usize| similar.contains(at) || self.producers.get(*at).is_some_and(|one| !one.is_chart());
        let others = similar.iter().filter(|at| self.anywhere.binary_search(at).is_err());
        let all = self.anywhere.iter().filter(|at| is_similar(at)).chain(others).copied();
        // Flux cannot apply a release to a namespace that does not exist.
        let is_in_it =
            |one: &Producer<'_>| one.is_chart() && one.object.is_some_and(|release| release.namespace() == Some(name));
        let mut producers = self.that_create(id, all).map(|(_, one)| one).filter(|one| !is_in_it(one));
        producers.find(|one| !is_denied(one)).map(|one| one.source.clone())
    }

    /// The positions of the charts with a name that starts with another name, or that is a start of it.
    fn similar(&self, name: &str) -> impl Iterator<Item = &usize> {
        let starts = name.char_indices().filter_map(move |(at, last)| name.get(..at + last.len_utf8()));
        let shorter = starts.filter_map(move |start| self.named.get(start));
        let above = (Bound::Excluded(name), Bound::Unbounded);
        let longer = self.named.range::<str, _>(above).take_while(move |(own, _)| own.starts_with(name));
        shorter.chain(longer.map(|(_, at)| at)).flatten()
    }
}

/// The names of a release and of its chart, which namespaces for the chart often have.
fn names_of(release: &Object) -> impl Iterator<Item = &str> {
    let chart = release.text_at(&["spec", "chart", "spec", "chart"]).and_then(|chart| chart.rsplit('/').next());
    let names = [Some(release.name()), chart, release.text_at(&["spec", "chartRef", "name"])];
    names.into_iter().flatten().filter(|name| !name.is_empty())
}

impl Producer<'_> {
    /// Returns whether the producer is the chart of a release.
    pub(crate) fn is_chart(&self) -> bool {
        matches!(self.source, UnknownSource::Chart(_))
    }

    /// Returns whether the producer is a chart that is named like an object, or whose values contain the name.
    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.contents.refers_to(name)
    }

    /// Returns whether the producer is a public chart that very probably does not create an object.
    pub(crate) fn is_unrelated(&self, id: ObjectId<'_>) -> bool {
        self.contents.is_unrelated(id)
    }

    /// Returns whether the producer may create any object in its namespace.
    pub(crate) fn may_create_anything(&self) -> bool {
        self.contents.may_create_anything()
    }

    /// Returns whether the producer is a remote base.
    pub(crate) fn is_base(&self) -> bool {
        matches!(self.source, UnknownSource::RemoteBase(..))
    }
}

fn unbuilt(applier: &Arc<Applier>) -> UnknownSource {
    match &applier.state {
        State::NotBuilt(reason) => UnknownSource::NotBuilt(applier.reference.clone(), reason.clone()),
        State::Built | State::Failed => UnknownSource::FailedBuild(applier.reference.clone()),
    }
}

fn spec_text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.text_at(&["spec", field]).filter(|text| !text.is_empty() && !text.contains('$'))
}
