//! The kinds that the binary knows: those of Kubernetes, Flux and the Flux Operator.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::pack::{Kind, Pack, Run};
use crate::api::schema::Link;
use crate::kube::version::Version;
use crate::kube::{Scope, groups};

/// A product that defines kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Product {
    /// Kubernetes.
    Kubernetes,
    /// The controllers of Flux.
    Flux,
    /// The Flux Operator.
    FluxOperator,
}

/// The releases of a cluster, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Releases {
    /// The version of Kubernetes.
    pub kubernetes: Option<Version>,
    /// The version of Flux.
    pub flux: Option<Version>,
}

/// A built-in schema.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// The schema.
    pub schema: Link,
    /// Whether objects have a namespace.
    pub scope: Scope,
    /// The name of the resource.
    pub plural: &'static str,
    /// The product that defines the kind.
    pub product: Product,
    /// The release with this schema; empty if the product has only one schema.
    pub release: &'static str,
}

impl Product {
    /// All products.
    pub const ALL: [Self; 3] = [Self::Kubernetes, Self::Flux, Self::FluxOperator];

    /// The product that may define a group.
    pub fn of_group(group: &str) -> Option<Self> {
        if groups::is_toolkit(group) || group == groups::SOURCE_EXTENSIONS {
            Some(Self::Flux)
        } else if group == groups::FLUX_OPERATOR {
            Some(Self::FluxOperator)
        } else {
            (!group.contains('.') || group.ends_with(".k8s.io")).then_some(Self::Kubernetes)
        }
    }

    /// The name of the product.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes",
            Self::Flux => "Flux",
            Self::FluxOperator => "Flux Operator",
        }
    }

    /// The schemas of the product. The first call decompresses them.
    pub fn pack(self) -> &'static Pack {
        static PACKS: [LazyLock<Pack>; 3] = [
            LazyLock::new(|| Pack::open(include_bytes!("../../../schemas/apis/kubernetes.pack"))),
            LazyLock::new(|| Pack::open(include_bytes!("../../../schemas/apis/flux.pack"))),
            LazyLock::new(|| Pack::open(include_bytes!("../../../schemas/apis/flux-operator.pack"))),
        ];
        let [kubernetes, flux, operator] = &PACKS;
        match self {
            Self::Kubernetes => kubernetes,
            Self::Flux => flux,
            Self::FluxOperator => operator,
        }
    }

    /// The versions of a kind, in the order of their names.
    pub fn versions(self, group: &str, kind: &str) -> impl Iterator<Item = &'static Kind> {
        let kinds = &self.pack().kinds;
        let start = kinds.partition_point(|known| &*known.group < group);
        let in_group = kinds.iter().skip(start).take_while(move |known| &*known.group == group);
        in_group.filter(move |known| &*known.kind == kind)
    }

    /// The index of the release that is nearest to a version: the newest that is not newer, or else the oldest.
    fn nearest(self, version: &Version) -> usize {
        let numbers = |release: &str| Version::parse(release).map(|known| (known.major, known.minor, known.patch));
        // A release of Kubernetes stands for all of its patch releases.
        let wanted = (version.major, version.minor, version.patch);
        let newer = self.pack().releases.iter().position(|release| numbers(release).is_none_or(|known| known > wanted));
        newer.unwrap_or(self.pack().releases.len()).saturating_sub(1)
    }
}

/// The built-in schema of a kind.
///
/// If the release of a cluster is unknown, this is the schema of the newest release that serves the version.
pub fn built_in(group: &str, version: &str, kind: &str, releases: &Releases) -> Option<BuiltIn> {
    let product = Product::of_group(group)?;
    let known = product.versions(group, kind).find(|known| &*known.version == version)?;
    let release = match product {
        Product::Kubernetes => releases.kubernetes.as_ref(),
        Product::Flux => releases.flux.as_ref(),
        Product::FluxOperator => None,
    };
    let (run, release) = match release.map(|version| product.nearest(version)) {
        Some(index) => (known.runs.iter().find(|run| (run.first..=run.last).contains(&index))?, index),
        None => known.runs.last().map(|run| (run, run.last))?,
    };
    Some(BuiltIn {
        schema: product.pack().link(run),
        scope: known.scope,
        plural: &known.plural,
        product,
        release: product.pack().releases.get(release)?,
    })
}

/// The scope of a kind, from any version of it.
pub fn scope_of(group: &str, kind: &str) -> Scope {
    let known = Product::of_group(group).and_then(|product| product.versions(group, kind).next());
    known.map_or(Scope::Unknown, |known| known.scope)
}

/// The API versions of the groups that have a kind in the newest releases: the newest stable version of each group.
pub fn versions_of_kind(kind: &str) -> Vec<String> {
    let mut newest: BTreeMap<&str, &str> = BTreeMap::new();
    for product in Product::ALL {
        let pack = product.pack();
        let last = pack.releases.len().saturating_sub(1);
        for known in pack.kinds.iter().filter(|known| &*known.kind == kind) {
            let is_served = known.runs.last().is_some_and(|run| run.last == last);
            let is_stable = |version: &str| !version.contains("alpha") && !version.contains("beta");
            let old = newest.get(&*known.group).copied();
            if is_served && old.is_none_or(|old| is_stable(&known.version) || !is_stable(old)) {
                newest.insert(&known.group, &known.version);
            }
        }
    }
    let text = |(group, version): (&str, &str)| match group {
        "" => version.to_owned(),
        _ => format!("{group}/{version}"),
    };
    newest.into_iter().map(text).collect()
}

impl Run {
    /// The names of the first and the last release.
    pub fn releases(&self, product: Product) -> [&'static str; 2] {
        [self.first, self.last].map(|index| product.pack().releases.get(index).map_or("", |name| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(kubernetes: &str, flux: &str) -> Releases {
        Releases { kubernetes: Version::parse(kubernetes), flux: Version::parse(flux) }
    }

    #[test]
    fn a_kind_has_the_schema_of_the_release() {
        let interval = |flux: &str, version: &str| {
            let releases = releases("1.34.2", flux);
            built_in("source.toolkit.fluxcd.io", version, "OCIRepository", &releases).map(|found| found.release)
        };
        assert_eq!(interval("2.3.0", "v1beta2"), Some("2.3.0"));
        assert_eq!(interval("2.3.0", "v1"), None, "served since 2.6");
        assert_eq!(interval("2.6.9", "v1"), Some("2.6.4"));
        assert_eq!(interval("2.99.0", "v1beta1"), None);
    }

    #[test]
    fn a_schema_is_decoded_with_its_constraints() {
        let found = built_in("apps", "v1", "Deployment", &releases("1.35.1", "2.7.0")).unwrap();
        let pod = found.schema.property("spec").unwrap().property("template").unwrap().property("spec").unwrap();
        let containers = pod.property("containers").unwrap();
        assert_eq!(containers.merge_key.as_deref(), Some("name"));
        let ports = containers.items.as_ref().unwrap().property("ports").unwrap().items.as_ref().unwrap();
        assert_eq!(ports.property("protocol").unwrap().default.as_deref(), Some(&"TCP".into()));
        assert_eq!(found.release, "1.35");
    }

    #[test]
    fn every_built_in_schema_can_be_read() {
        let mut count = 0;
        for product in Product::ALL {
            let mut open = Vec::new();
            for kind in &product.pack().kinds {
                open.extend(kind.runs.iter().map(|run| product.pack().link(run)));
            }
            let mut seen = std::collections::BTreeSet::new();
            while let Some(link) = open.pop() {
                if seen.insert(link.identity()) {
                    open.extend(link.properties.iter().map(|(_, link)| link.clone()));
                    open.extend(link.items.clone());
                }
            }
            count += seen.len();
        }
        assert!(count > 1000);
    }

    #[test]
    fn a_recursive_type_refers_to_itself() {
        let found = built_in("apiextensions.k8s.io", "v1", "CustomResourceDefinition", &Releases::default()).unwrap();
        let version = found.schema.property("spec").unwrap().property("versions").unwrap().items.as_ref().unwrap();
        let schema = version.property("schema").unwrap().property("openAPIV3Schema").unwrap();
        let nested = schema.property("not").unwrap();
        assert!(std::ptr::eq(schema, nested));
    }
}
