//! Shapes of clusters: equal shapes mean that rules judge clusters equally.
//!
//! Clusters of one environment receive almost the same objects. Their files are copies in the directory of each cluster,
//! and the values of their variables differ. A shape ignores only these differences.

use std::collections::BTreeSet;
use std::sync::Arc;

use arcstr::ArcStr;

use super::applied_set::AppliedSet;
use super::applier::Applier;
use super::desired_state::Cluster;
use crate::base::buffered_digest::BufferedDigest;
use crate::base::finding::ObjectRef;
use crate::base::set_aside::{is_set_aside, is_test_data};
use crate::flux::model::applier_kind::State;
use crate::flux::model::completion::Completion;
use crate::flux::producer::is_producer;
use crate::kube::{Object, groups};
use crate::text::{Index, Span, folder_of};
use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// A digest of everything that a cluster receives, except for differences that no check of one cluster may read:
///
/// - the positions of nodes, apart from the place of each object relative to the directory of the cluster;
/// - the directory of the cluster in paths;
/// - the values in ConfigMaps with variables, apart from their types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape([u8; 32]);

/// The shapes of the clusters of a repository.
pub struct Shapes {
    /// The lists of objects and the facts of builds, by address: the number of the first cluster, and whether another
    /// cluster has the list too.
    seen: Index<usize, (usize, bool)>,
    /// The number of clusters with each outline.
    outlines: Index<Outline, usize>,
}

impl Shapes {
    /// Prepares the shapes of clusters.
    pub fn new(clusters: &[Cluster]) -> Self {
        let mut seen: Index<usize, (usize, bool)> = Index::default();
        let mut outlines: Index<Outline, usize> = Index::default();
        for (number, cluster) in clusters.iter().enumerate() {
            *outlines.entry_or(Outline::of(cluster), || 0) += 1;
            for address in cluster.applied_sets.iter().flat_map(addresses) {
                let (first, is_shared) = seen.entry_or(address, || (number, false));
                *is_shared |= *first != number;
            }
        }
        Self { seen, outlines }
    }

    /// The shape of a cluster.
    pub fn of(&self, cluster: &Cluster) -> Shape {
        let outline = Outline::of(cluster);
        if self.outlines.get(&outline) == Some(&1) {
            return outline.shape();
        }
        let mut writer = Writer {
            digest: BufferedDigest::new(),
            folder: &cluster.folder,
            shapes: self,
            variable_names: variable_names(cluster),
        };
        // Rules do not judge examples and test data.
        let is_aside = is_test_data(&cluster.folder) || is_set_aside(&cluster.folder, |_| false);
        writer.number(usize::from(is_aside));
        writer.text(folder_of(&cluster.folder));
        for applier in &cluster.appliers {
            writer.applier(applier);
        }
        for set in &cluster.applied_sets {
            writer.set(set);
        }
        Shape(writer.digest.finish())
    }

    fn is_shared(&self, address: usize) -> bool {
        self.seen.get(&address).is_some_and(|(_, is_shared)| *is_shared)
    }
}

/// The numbers of the parts of a cluster. Clusters with different outlines have different shapes.
#[derive(PartialEq, Eq, Hash)]
struct Outline {
    appliers: usize,
    objects: Vec<usize>,
}

impl Outline {
    fn of(cluster: &Cluster) -> Self {
        let objects = cluster.applied_sets.iter().map(|set| set.objects.len()).collect();
        Self { appliers: cluster.appliers.len(), objects }
    }

    /// The shape of the only cluster with the outline.
    fn shape(&self) -> Shape {
        let mut digest = BufferedDigest::new();
        digest.text("outline");
        std::iter::once(self.appliers).chain(self.objects.iter().copied()).for_each(|number| digest.number(number));
        Shape(digest.finish())
    }
}

/// The addresses of the parts that clusters may share.
fn addresses(set: &AppliedSet) -> impl Iterator<Item = usize> {
    let list = set.objects.shared().as_ptr().addr();
    let facts = set.facts.as_ref().map(|facts| Arc::as_ptr(facts).addr());
    std::iter::once(list).filter(|_| !set.objects.is_empty()).chain(facts)
}

/// The names of the ConfigMaps from which Kustomizations of a cluster substitute variables, without the ConfigMaps that
/// contain the values of a HelmRelease.
fn variable_names(cluster: &Cluster) -> BTreeSet<&str> {
    let sources = cluster.appliers.iter().flat_map(|applier| &applier.variables.sources);
    let mut names: BTreeSet<&str> = sources.filter(|one| &*one.kind == "ConfigMap").map(|one| &*one.name).collect();
    if names.is_empty() {
        return names;
    }
    for applied in cluster.objects().filter(|applied| applied.object.is(groups::HELM, "HelmRelease")) {
        let values = applied.object.node.at_keys(&["spec", "valuesFrom"]).map_or(&[][..], Node::items);
        for name in values.iter().filter_map(|source| source.get("name").and_then(Node::text)) {
            names.remove(name);
        }
    }
    names
}

/// Writes a cluster into a digest. Each text follows its length, and each node a mark of its type.
struct Writer<'a> {
    digest: BufferedDigest,
    folder: &'a str,
    shapes: &'a Shapes,
    variable_names: BTreeSet<&'a str>,
}

impl Writer<'_> {
    fn applier(&mut self, applier: &Applier) {
        self.number(applier.kind as usize);
        self.number(applier.parent.map_or(0, |parent| parent + 1));
        self.optional(applier.target.as_deref());
        self.number(usize::from(applier.is_known));
        match &applier.state {
            State::Built => self.number(0),
            State::Failed => self.number(1),
            State::NotBuilt(reason) => self.debug(reason),
        }
        self.reference(&applier.reference);
        self.number(usize::from(applier.source.is_some()));
        applier.source.iter().for_each(|source| self.reference(source));
        self.path(&applier.folder);
        self.number(usize::from(applier.variables.open));
        self.number(applier.variables.values.len());
        for (name, variable) in &applier.variables.values {
            self.text(name);
            self.number(usize::from(variable.value.is_some()));
        }
        self.number(applier.variables.sources.len());
        for source in &applier.variables.sources {
            self.text(&source.kind);
            self.text(&source.name);
            self.number(usize::from(source.place.is_some()));
        }
    }

    fn set(&mut self, set: &AppliedSet) {
        self.number(set.by.at);
        if *set.completion != Completion::default() {
            self.debug(&set.completion);
        }
        self.facts(set);
        self.number(set.undefined.len());
        for undefined in set.undefined.iter() {
            self.debug(&(undefined.owner, undefined.fails, undefined.generator.is_some()));
            self.reference(&undefined.object);
            self.number(undefined.uses.len());
            undefined.uses.iter().for_each(|(name, _)| self.text(name));
        }
        let (shared, own) = (set.objects.shared(), set.objects.own());
        self.number(shared.len());
        let is_shared = self.shapes.is_shared(shared.as_ptr().addr());
        if is_shared {
            self.number(shared.as_ptr().addr());
        } else {
            for (at, object) in shared.iter().enumerate().filter(|(at, _)| !set.objects.is_own(*at)) {
                self.number(at);
                self.object(object);
            }
        }
        self.number(own.len());
        for (at, object) in own.iter() {
            self.number(*at);
            match shared.get(*at).filter(|_| is_shared) {
                Some(base) => self.changed_object(object, base),
                None => self.object(object),
            }
        }
    }

    /// Writes the facts of a build. Facts of one cluster count by their content, unless the build omits objects.
    fn facts(&mut self, set: &AppliedSet) {
        let Some(facts) = &set.facts else { return self.number(0) };
        let address = Arc::as_ptr(facts).addr();
        let is_plain = facts.remote.is_empty() && facts.unidentified.is_empty() && facts.unread.is_empty();
        if self.shapes.is_shared(address) || !is_plain {
            return self.number(address);
        }
        self.number(facts.names.len());
        facts.names.iter().for_each(|name| self.text(name));
        self.debug(&facts.not_done);
    }

    fn object(&mut self, object: &Object) {
        self.identity(object);
        self.place(object.node.get("kind").unwrap_or(&object.node).origin.written());
        if self.has_variables(object) {
            for entry in object.node.entries() {
                self.text(&entry.key);
                if &*entry.key == "data" { self.keys(&entry.node) } else { self.node(&entry.node) }
            }
        } else {
            self.node(&object.node);
        }
    }

    /// Writes the difference between an object and the object of the shared list that it replaces.
    fn changed_object(&mut self, object: &Object, base: &Object) {
        let has_variables = self.has_variables(object);
        self.identity(object);
        self.number(object.node.entries().len());
        for (at, entry) in object.node.entries().iter().enumerate() {
            let old = base.node.entries().get(at).filter(|old| old.key == entry.key);
            match old {
                Some(old) if is_same(&entry.node, &old.node) => self.digest.byte(b'='),
                _ => {
                    self.text(&entry.key);
                    if has_variables && &*entry.key == "data" {
                        self.keys(&entry.node);
                    } else {
                        self.changed_node(&entry.node, old.map(|old| &old.node));
                    }
                }
            }
        }
    }

    fn changed_node(&mut self, node: &Node, base: Option<&Node>) {
        match (&node.value, base) {
            (_, Some(base)) if is_same(node, base) => self.digest.byte(b'='),
            (Value::Map(entries), Some(base)) => {
                self.digest.byte(b'{');
                self.number(entries.len());
                for (at, entry) in entries.iter().enumerate() {
                    let old = base.entries().get(at).filter(|old| old.key == entry.key);
                    self.text(&entry.key);
                    self.changed_node(&entry.node, old.map(|old| &old.node));
                }
            }
            (Value::Seq(items), Some(base)) => {
                self.digest.byte(b'[');
                self.number(items.len());
                for (at, item) in items.iter().enumerate() {
                    self.changed_node(item, base.items().get(at));
                }
            }
            _ => self.node(node),
        }
    }

    fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(text, style) => {
                self.digest.byte(match style {
                    Style::Plain => b'p',
                    Style::Unknown => b'u',
                    Style::Single | Style::Double | Style::Literal | Style::Folded => b's',
                });
                self.path(text);
            }
            Value::Seq(items) => {
                self.digest.byte(b'[');
                self.number(items.len());
                items.iter().for_each(|item| self.node(item));
            }
            Value::Map(entries) => {
                self.digest.byte(b'{');
                self.number(entries.len());
                for entry in entries.iter() {
                    self.text(&entry.key);
                    self.node(&entry.node);
                }
            }
        }
    }

    /// Writes the keys of a mapping with the types of its values.
    fn keys(&mut self, node: &Node) {
        self.number(node.entries().len());
        for entry in node.entries() {
            self.text(&entry.key);
            match (&entry.node.value, entry.node.resolve(Reader::Kubernetes)) {
                (Value::Scalar(_, Style::Unknown), _) => self.digest.byte(b'u'),
                (Value::Scalar(..), Some(Scalar::String(_))) => self.digest.byte(b's'),
                _ => self.node(&entry.node),
            }
        }
    }

    /// Returns whether only Kustomizations read the values of an object, as variables.
    fn has_variables(&self, object: &Object) -> bool {
        object.is("", "ConfigMap") && self.variable_names.contains(object.name()) && !is_producer(object)
    }

    fn place(&mut self, span: &Span) {
        self.text(span.file().root().map_or("", |root| root));
        self.path(span.file().path());
        self.number(span.range().start);
    }

    /// Writes a text. In a path below the directory of the cluster, that directory counts as the same on each cluster.
    fn path(&mut self, text: &str) {
        let (start, path) = text.strip_prefix("./").map_or(("", text), |path| ("./", path));
        let below = path.strip_prefix(self.folder).filter(|below| below.is_empty() || below.starts_with('/'));
        // A word without a slash may have another meaning.
        let below = below.filter(|_| !self.folder.is_empty() && text.contains('/'));
        if let Some(below) = below {
            self.digest.byte(b'/');
            self.text(start);
            self.text(below);
        } else {
            self.digest.byte(b't');
            self.text(text);
        }
    }

    fn identity(&mut self, object: &Object) {
        self.optional(object.namespace());
        self.text(object.name());
    }

    fn reference(&mut self, reference: &ObjectRef) {
        self.text(&reference.api_version);
        self.text(&reference.kind);
        self.optional(reference.namespace.as_deref());
        self.text(&reference.name);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.number(usize::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    fn text(&mut self, text: &str) {
        self.digest.text(text);
    }

    fn number(&mut self, number: usize) {
        self.digest.number(number);
    }

    fn debug(&mut self, value: &impl std::fmt::Debug) {
        self.text(&format!("{value:?}"));
    }
}

/// Returns whether two nodes share their value in memory.
fn is_same(node: &Node, other: &Node) -> bool {
    match (&node.value, &other.value) {
        (Value::Scalar(text, style), Value::Scalar(old, old_style)) => ArcStr::ptr_eq(text, old) && style == old_style,
        (Value::Seq(items), Value::Seq(old)) => items.is_same(old),
        (Value::Map(entries), Value::Map(old)) => entries.is_same(old),
        _ => false,
    }
}
