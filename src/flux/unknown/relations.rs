//! An index of producers by their names and values. Most producers create an object only if its name relates to theirs,
//! and a cluster may have thousands of producers and of missing objects.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::contents::Contents;
use super::known_contents::Purpose;
use super::mention::{is_of_name, words};
use super::unknown_producer::{UnknownProducer, fixed_accounts, is_definition, is_namespace, is_of_rights, is_role};
use crate::kube::{ObjectId, groups};
use crate::yaml::{Node, Value};

/// An index of the producers of a cluster.
#[derive(Debug, Default)]
pub struct Relations {
    signatures: Vec<Signature>,
    /// The producers by their whole names.
    named: Postings,
    /// The lengths of the names, each once.
    lengths: Vec<usize>,
    /// The producers by the names in their values.
    values: Postings,
}

/// The object of a search, and the producers whose whole names or values relate to it.
#[derive(Debug)]
pub struct Related<'i> {
    id: ObjectId<'i>,
    /// The sorted positions of the producers.
    positions: Vec<usize>,
    name: Words,
    namespace: Words,
}

/// The manner in which a producer depends on names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// A producer with any objects, or with certain ones.
    Other,
    Chart,
    Artifact,
    Base,
}

#[derive(Debug)]
struct Signature {
    manner: Manner,
    /// Whether the producer is the chart of a controller, which has no Namespace.
    is_controller: bool,
    words: Words,
}

/// A set of the starts of words, which may contain others too.
#[derive(Debug, Clone, Copy, Default)]
struct Words([u64; 4]);

impl Words {
    fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut set = Self::default();
        // Related words have an equal start, and have three bytes or more.
        for start in texts.flat_map(words).filter_map(|word| word.get(..3)) {
            let bit = hash(&start.to_ascii_lowercase()) % 256;
            set.0.iter_mut().zip(0..).filter(|(_, at)| bit / 64 == *at).for_each(|(part, _)| *part |= 1 << (bit % 64));
        }
        set
    }

    fn meets(self, other: Self) -> bool {
        self.0.into_iter().zip(other.0).any(|(own, other)| own & other != 0)
    }
}

/// Positions by the hash of a text. Texts with equal hashes share their positions.
#[derive(Debug, Default)]
struct Postings(Vec<(u64, usize)>);

impl Postings {
    fn add(&mut self, text: &str, at: usize) {
        let entry = (hash(text), at);
        if self.0.last() != Some(&entry) {
            self.0.push(entry);
        }
    }

    fn sort(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
        self.0.shrink_to_fit();
    }

    fn of(&self, text: &str) -> impl Iterator<Item = usize> {
        let hash = hash(text);
        let start = self.0.partition_point(|(own, _)| *own < hash);
        self.0.iter().skip(start).take_while(move |(own, _)| *own == hash).map(|(_, at)| *at)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Relations {
    /// The index of producers, by their positions.
    pub fn new<'p>(producers: impl Iterator<Item = &'p UnknownProducer>) -> Self {
        let mut all = Self::default();
        for (at, producer) in producers.enumerate() {
            let of_base = producer.namespace.iter().filter(|_| producer.base.is_some());
            let names = producer.names.iter().chain(&producer.renamed).chain(of_base).map(|name| &**name);
            let fixed = producer.names.iter().flat_map(|name| fixed_accounts(name)).copied();
            for name in names.chain(fixed) {
                all.named.add(name, at);
                all.lengths.push(name.len());
            }
            if let Some(values) = &producer.values {
                names_in(values, &mut |name| all.values.add(name, at));
            }
            all.signatures.push(Signature {
                manner: manner(producer),
                is_controller: producer.contents.is(Purpose::Controller),
                words: Words::of(producer.names.iter().map(|name| &**name)),
            });
        }
        all.named.sort();
        all.values.sort();
        all.lengths.sort_unstable();
        all.lengths.dedup();
        all
    }

    /// The relations of the producers to an object.
    pub fn to<'i>(&self, id: ObjectId<'i>) -> Related<'i> {
        let mut positions: Vec<usize> = Vec::new();
        // A name without any letter and digit has no start, and nothing is named like this.
        let first = id.name.split(|c| !is_of_name(c)).find(|part| !part.is_empty());
        positions.extend(first.into_iter().flat_map(|first| self.values.of(first)));
        let bytes = id.name.as_bytes();
        let is_limit = |at: usize| bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        for start in (0..bytes.len()).filter(|at| *at == 0 || is_limit(at - 1)) {
            let ends = self.lengths.iter().map(|length| start + length).take_while(|end| *end <= bytes.len());
            let parts = ends.filter(|end| is_limit(*end)).filter_map(|end| id.name.get(start..end));
            parts.for_each(|part| positions.extend(self.named.of(part)));
        }
        positions.sort_unstable();
        positions.dedup();
        let (name, namespace) = (Words::of([id.name].into_iter()), Words::of([id.namespace].into_iter()));
        Related { id, positions, name, namespace }
    }

    /// Returns whether the producer at a position may create the object. If it returns `false`, the producer never does.
    pub fn may_create(&self, at: usize, related: &Related<'_>) -> bool {
        let Some(signature) = self.signatures.get(at) else { return true };
        let Related { id, name, namespace, .. } = related;
        if !signature.needs_relation(*id) || related.has(at) {
            return true;
        }
        let (own, is_of_flux) = (signature.words, id.namespace == groups::FLUX_NAMESPACE);
        match signature.manner {
            Manner::Other => true,
            Manner::Chart => !id.is_flux() && own.meets(*name),
            Manner::Artifact => own.meets(*name) || !is_of_flux && own.meets(*namespace),
            Manner::Base => own.meets(*name) || own.meets(*namespace),
        }
    }
}

impl Related<'_> {
    /// Returns whether the name of the object may contain a name of a producer, or the producer's values the object's name.
    pub fn has(&self, at: usize) -> bool {
        self.positions.binary_search(&at).is_ok()
    }
}

impl Signature {
    /// Returns whether the producer creates an object only if its name or namespace relates to the producer.
    fn needs_relation(&self, id: ObjectId<'_>) -> bool {
        self.manner != Manner::Other
            && !is_definition(id)
            && (self.manner == Manner::Base
                || id.is_flux()
                || is_of_rights(id) && !is_role(id)
                || self.is_controller && is_namespace(id))
    }
}

fn manner(producer: &UnknownProducer) -> Manner {
    let is_plain = match producer.contents {
        Contents::Public => true,
        Contents::Known(known) => matches!(known.purpose, Purpose::Controller | Purpose::Other),
        Contents::Definitions | Contents::Config | Contents::Anything => false,
    };
    match (&producer.base, &producer.artifact) {
        _ if !is_plain => Manner::Other,
        (Some(_), _) => Manner::Base,
        (None, Some(_)) => Manner::Artifact,
        (None, None) => Manner::Chart,
    }
}

/// Calls a function with the parts of the texts and keys of a node that may be names.
fn names_in(node: &Node, add: &mut impl FnMut(&str)) {
    let mut parts = |text: &str| text.split(|c| !is_of_name(c)).filter(|part| !part.is_empty()).for_each(&mut *add);
    match &node.value {
        Value::Scalar(text, _) => parts(text),
        Value::Seq(items) => items.iter().for_each(|item| names_in(item, add)),
        Value::Map(entries) => {
            entries.iter().for_each(|entry| parts(&entry.key));
            entries.iter().for_each(|entry| names_in(&entry.node, add));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fleet_identity::FleetIdentity;
    use super::super::unknown_producer::Creates;
    use super::*;
    use crate::kube::Object;
    use crate::text::File;
    use crate::yaml::parse;

    fn object(text: &str) -> Object {
        let parsed = parse(&File::new("a.yaml", text));
        Object { node: parsed.documents.first().expect("a document").node.clone() }
    }

    fn producers() -> Vec<UnknownProducer> {
        let fleet = FleetIdentity::new(Some("https://github.com/acme/fleet"), std::iter::empty());
        let mut all = Vec::new();
        let names = ["podinfo", "web-100", "a", "cert-manager", "tailscale-operator", "x.y", "flux-operator", "raw"];
        let values = ["{}", "{a: shop-db}", "{shop: [b, kind: GitRepository]}", "{a: \"x:shop, web-app.b\"}"];
        for name in names {
            for values in values {
                let (release, source) = (
                    format!(
                        "kind: HelmRelease\nmetadata: {{name: {name}-r}}\nspec:\n  chart: {{spec: {{chart: {name}, \
                         sourceRef: {{kind: HelmRepository, name: c}}}}}}\n  values: {values}\n"
                    ),
                    object("kind: HelmRepository\nspec: {url: \"oci://ghcr.io/stefanprodan/charts\"}\n"),
                );
                all.push(UnknownProducer::of_release(&object(&release), "shop", Some(&source), &fleet));
                for kind in ["GitRepository", "OCIRepository"] {
                    let scheme = if kind == "GitRepository" { "https://github.com" } else { "oci://ghcr.io" };
                    let applier = format!(
                        "kind: Kustomization\nmetadata: {{name: {name}, namespace: team}}\nspec: {{postBuild: {values}}}\n"
                    );
                    let source = format!("kind: {kind}\nspec: {{url: \"{scheme}/other/{name}\"}}\n");
                    let (applier, source) = (object(&applier), object(&source));
                    all.push(UnknownProducer::of_applier(Some(&applier), Some(&source), &fleet));
                    all.push(UnknownProducer::of_applier(Some(&applier), None, &fleet));
                }
            }
            let url = format!("https://github.com/other/{name}//deploy?ref=v1").as_str().into();
            let renamed = ["shop-db".into()].into();
            let unread = crate::kustomize::UnreadBase { url, namespace: Some("web".into()), renamed };
            all.push(UnknownProducer::of_base(&unread, &fleet));
        }
        all
    }

    #[test]
    fn the_index_excludes_only_producers_that_never_create_an_object() {
        let producers = producers();
        let relations = Relations::new(producers.iter());
        let kinds = [
            (groups::SOURCE, "GitRepository"),
            ("", "ServiceAccount"),
            ("", "ConfigMap"),
            ("", "Namespace"),
            (groups::RBAC, "RoleBinding"),
            (groups::RBAC, "ClusterRole"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
            ("apps", "Deployment"),
        ];
        let names = "podinfo pod web-100 other-100 shop shop-db db a my-a x.y x operator proxies web web-app.b web-app \
                     team flux-system cert-manager certs. source-controller other :shop a:b unrelated";
        let names: Vec<&str> = names.split_whitespace().chain(["", "::"]).collect();
        let mut excluded = 0;
        for (group, kind) in kinds {
            for name in &names {
                for namespace in ["shop", "team", "web-x", "flux-system", ""] {
                    let id = ObjectId { group, kind, namespace, name };
                    let related = relations.to(id);
                    for (at, producer) in producers.iter().enumerate() {
                        let may_create = relations.may_create(at, &related);
                        assert!(may_create || producer.creates(id) == Creates::Never, "{id} {producer:?}");
                        assert!(related.has(at) || !producer.refers_to(name), "{id} {producer:?}");
                        excluded += usize::from(!may_create);
                    }
                }
            }
        }
        assert!(excluded > 10_000, "{excluded}");
    }
}
