//! Producers with unknown contents, and the objects that they create.

use std::collections::BTreeSet;

use super::base_url::BaseUrl;
use super::contents::{self, Contents};
use super::fleet_identity::FleetIdentity;
use super::known_contents::{KnownContents, Purpose, groups_of_chart};
use super::manifests::namespaces_of_manifests;
use super::mention::{contains, has_word, mentions, mentions_kind, share_word};
use crate::flux::install::installation::installs;
use crate::kube::{Object, ObjectId, groups};
use crate::kustomize::UnreadBase;
use crate::yaml::{Name, Node};

/// The certainty with which a producer creates an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Creates {
    /// The producer certainly does not create the object.
    Never,
    /// The producer may create the object.
    Possibly,
    /// The producer certainly creates the object.
    Certainly,
}

/// A chart or an applier whose objects are not in the repository.
#[derive(Debug, Clone)]
pub struct UnknownProducer {
    pub(super) contents: Contents,
    /// The namespace of the producer's namespaced objects; `None` for any.
    pub(super) namespace: Option<Name>,
    /// The namespaces of the manifests in the values of a release.
    of_manifests: BTreeSet<Name>,
    /// The kinds of the objects of a chart; `None` for any.
    kinds: Option<BTreeSet<String>>,
    /// The names from which a chart derives the names of its objects.
    pub(super) names: Vec<Name>,
    /// The values of the release.
    pub(super) values: Option<Node>,
    /// Whether the release has further values.
    has_more_values: bool,
    /// The URL, if the producer is a remote base.
    pub(super) base: Option<Name>,
    /// The names that patches give to the Namespaces of a remote base.
    pub(super) renamed: BTreeSet<Name>,
    /// The URL of the artifact, if the producer is an applier.
    pub(super) artifact: Option<Name>,
    /// The path in the artifact, if the producer is an applier.
    path: Option<Name>,
    /// The names of the CRDs for which the applier waits.
    awaited_definitions: Vec<Name>,
}

/// Words in the names of charts that contain roles for the accounts of other applications.
const RIGHTS: [&str; 6] = ["access", "permission", "rbac", "role", "tenant", "user"];

impl UnknownProducer {
    /// The chart of a HelmRelease, with the namespace of the installation.
    ///
    /// A chart of the fleet itself may contain any object.
    pub fn of_release(release: &Object, namespace: &str, source: Option<&Object>, fleet: &FleetIdentity) -> Self {
        let contents = contents::of_chart(release, source, fleet);
        let fields: [&[&str]; 6] = [
            &["metadata", "name"],
            &["spec", "releaseName"],
            &["spec", "chart", "spec", "chart"],
            &["spec", "chartRef", "name"],
            &["spec", "values", "fullnameOverride"],
            &["spec", "values", "nameOverride"],
        ];
        let names = fields.iter().filter_map(|keys| release.text_at(keys)).map(last_segment);
        let values = release.node.at_keys(&["spec", "values"]).cloned();
        let has_more_values =
            release.node.at_keys(&["spec", "valuesFrom"]).is_some_and(|list| !list.items().is_empty());
        // A chart of manifests creates objects in the namespaces that the values contain.
        let namespace = Some(Name::from(namespace)).filter(|_| !contents.is(Purpose::Manifests));
        let of_manifests = values.as_ref().map(namespaces_of_manifests).unwrap_or_default();
        Self {
            namespace,
            of_manifests,
            names: names.filter(|name| !name.is_empty()).map(Name::from).collect(),
            values,
            has_more_values,
            ..Self::new(contents)
        }
    }

    /// The producer with the kinds of its objects, if they are known.
    #[must_use]
    pub fn with_kinds(self, kinds: Option<BTreeSet<String>>) -> Self {
        Self { kinds, ..self }
    }

    /// An applier that is not built, with the source of its artifact.
    pub fn of_applier(applier: Option<&Object>, source: Option<&Object>, fleet: &FleetIdentity) -> Self {
        let target = applier.and_then(|object| object.text_at(&["spec", "targetNamespace"]));
        let namespace = target.filter(|name| !name.is_empty() && !name.contains('$')).map(Name::from);
        let contents = contents::of_applier(applier, source, fleet);
        // The manifests of Flux contain the namespace of Flux.
        let home = || applier.and_then(Object::namespace).map(Name::from);
        let namespace = namespace.or_else(|| home().filter(|_| contents.is(Purpose::Flux)));
        let url = source.and_then(|source| source.text_at(&["spec", "url"]));
        // The artifact of another owner may still be for this fleet, if the names tell so.
        let own = applier.map(|object| [Some(object.name()), home_of(object)]);
        let names = own.into_iter().flatten().flatten().chain(url.into_iter().flat_map(path_of));
        let names = names.filter(|_| matches!(contents, Contents::Public)).map(Name::from).collect();
        let values = applier.and_then(|object| object.node.at_keys(&["spec", "postBuild"])).cloned();
        let (artifact, awaited_definitions) = (url.map(Name::from), awaited_definitions(applier));
        let path = applier.and_then(|object| object.text_at(&["spec", "path"])).map(Name::from);
        Self { namespace, names, values, artifact, path, awaited_definitions, ..Self::new(contents) }
    }

    /// A base at a URL without a copy.
    pub fn of_base(unread: &UnreadBase, fleet: &FleetIdentity) -> Self {
        let url = BaseUrl::new(&unread.url);
        let contents = contents::of_base(&url, fleet);
        let is_of_fleet = matches!(contents, Contents::Anything);
        let names = url.repository.split('/').skip(1).chain([url.name.as_str()]);
        let names = names.filter(|name| !name.is_empty() && !is_of_fleet).map(Name::from).collect();
        let (namespace, base) = (unread.namespace.clone(), Some(unread.url.clone()));
        Self { namespace, names, base, renamed: unread.renamed.clone(), ..Self::new(contents) }
    }

    /// A producer without a name, a namespace or values.
    fn new(contents: Contents) -> Self {
        Self {
            contents,
            namespace: None,
            of_manifests: BTreeSet::new(),
            kinds: None,
            names: Vec::new(),
            values: None,
            has_more_values: false,
            base: None,
            renamed: BTreeSet::new(),
            artifact: None,
            path: None,
            awaited_definitions: Vec::new(),
        }
    }

    /// Returns whether the producer is a base or an applier that probably contains the CRD of a custom resource.
    pub fn probably_defines(&self, group: &str, kind: &str) -> bool {
        let is_of_group = |name: &Name| name.split_once('.').is_some_and(|(_, suffix)| suffix == group);
        if self.awaited_definitions.iter().any(is_of_group) {
            return true;
        }
        // The Git repository of several charts has a directory for each chart.
        let places = [self.base.as_deref(), self.path.as_deref()];
        let mut charts = places.into_iter().flatten().flat_map(|place| place.split('/'));
        if self.has_only_definitions() && charts.any(|chart| groups_of_chart(chart).contains(&group)) {
            return true;
        }
        let url = self.base.as_deref().or(self.artifact.as_deref());
        let Some(url) = url.map(str::to_ascii_lowercase) else { return false };
        match self.contents {
            Contents::Known(known) => known.groups.contains(&group),
            Contents::Config => false,
            Contents::Public if self.artifact.is_none() => false,
            Contents::Public | Contents::Anything | Contents::Definitions => {
                url.contains(group) || url.contains(&kind.to_ascii_lowercase()) || share_word(&url, group)
            }
        }
    }

    /// Returns whether the producer contains only CRDs.
    pub fn has_only_definitions(&self) -> bool {
        matches!(self.contents, Contents::Definitions) || self.contents.is(Purpose::Definitions)
    }

    /// The producer of an object whose kind, name or namespace SOPS encrypted. The keys of the fields are not
    /// encrypted.
    pub fn of_unidentified(object: &Object) -> Self {
        let is_config = ["data", "stringData", "binaryData"].iter().any(|key| object.node.get(key).is_some());
        let contents = if is_config { Contents::Config } else { Contents::Anything };
        Self::new(contents)
    }

    /// Returns whether the producer creates an object; a cluster-scoped object has the empty namespace.
    pub fn creates(&self, id: ObjectId<'_>) -> Creates {
        if self.kinds.as_ref().is_some_and(|kinds| !kinds.contains(id.kind)) {
            return Creates::Never;
        }
        let is_of_manifest = || self.of_manifests.contains(id.namespace) && self.mentions(id.name);
        let is_elsewhere = |own: &Name| !id.namespace.is_empty() && **own != *id.namespace && !is_of_manifest();
        if self.namespace.as_ref().is_some_and(is_elsewhere) {
            return Creates::Never;
        }
        let known = match self.contents {
            Contents::Anything => return Creates::Possibly,
            Contents::Config => return possibly(matches!((id.group, id.kind), ("", "ConfigMap" | "Secret"))),
            Contents::Known(known) => Some(known),
            Contents::Public | Contents::Definitions => None,
        };
        let purpose = known.map(|known| known.purpose);
        let is_definitions = purpose == Some(Purpose::Definitions) || matches!(self.contents, Contents::Definitions);
        if is_definition(id) {
            let group = id.name.split_once('.').map_or("", |(_, group)| group);
            return match known.and_then(KnownContents::all_groups) {
                None => Creates::Possibly,
                Some(groups) if groups.contains(&group) => Creates::Certainly,
                Some(_) => possibly(!is_definitions),
            };
        }
        let is_related = || self.refers_to(id.name);
        if is_namespace(id) && self.base.is_some() && purpose != Some(Purpose::Flux) {
            // The manifests of a project contain its Namespace, unlike its chart, and a kustomization may rename it.
            let is_renamed = self.namespace.as_deref() == Some(id.name) || self.renamed.contains(id.name);
            return possibly(is_renamed || self.names.iter().any(|own| share_word(own, id.name)));
        }
        match purpose {
            _ if is_definitions => Creates::Never,
            Some(Purpose::Flux) => {
                let home = self.namespace.as_deref().unwrap_or(groups::FLUX_NAMESPACE);
                if installs(home, id.group, id.kind, id.namespace, id.name) {
                    return Creates::Certainly;
                }
                // Flux Operator names the sync of a FluxInstance after the namespace of the FluxInstance, or as the
                // values specify.
                let is_sync = || contains_instance(known) && (*id.name == *home || self.mentions(id.name));
                possibly(if id.is_flux() { is_sync() } else { is_related() })
            }
            Some(Purpose::Manifests) => possibly(self.has_more_values || is_related()),
            // Users set the namespace of such a chart at its installation, so the chart contains no Namespace.
            Some(Purpose::Controller) if is_namespace(id) => possibly(self.mentions(id.name)),
            // Flux creates the objects of an artifact without values, so only the names relate it to the fleet.
            _ if self.artifact.is_some() && (id.is_flux() || is_of_rights(id) && !is_role(id)) => {
                possibly(self.mentions(id.name) || self.shares_word(id))
            }
            // A public chart does not contain Flux objects of a fleet, but the values of the release may.
            _ if id.is_flux() => possibly(self.mentions(id.name) && self.mentions_kind(id.kind)),
            _ if is_of_rights(id) && !is_role(id) => {
                let has_fixed_name = || self.names.iter().any(|chart| fixed_accounts(chart).contains(&id.name));
                let is_similar = || self.names.iter().any(|own| share_word(own, id.name));
                possibly(is_related() || is_similar() || has_fixed_name())
            }
            // The manifests of a public project are the same for all fleets.
            _ if self.base.is_some() => {
                possibly(self.names.iter().any(|own| share_word(own, id.name) || share_word(own, id.namespace)))
            }
            _ => Creates::Possibly,
        }
    }

    /// The known contents of the producer, if it certainly creates some objects, with their namespace if that is
    /// significant.
    pub fn certain_contents(&self) -> Option<(&'static str, Option<Name>)> {
        let Contents::Known(known) = self.contents else { return None };
        let is_of_flux = known.purpose == Purpose::Flux;
        (is_of_flux || known.all_groups().is_some())
            .then(|| (known.name, self.namespace.clone().filter(|_| is_of_flux)))
    }

    /// Returns whether the producer is likely to create roles that are not named after it: an applier, or a chart whose
    /// purpose is rights.
    pub fn is_likely_to_create_roles(&self) -> bool {
        !self.is_chart() || self.names.iter().any(|name| RIGHTS.iter().any(|word| name.contains(word)))
    }

    /// Returns whether the producer is the chart of a public project that very probably does not create a ConfigMap, a Secret or a
    /// volume claim: neither the names nor the values of the release relate to the name of the object.
    ///
    /// Charts derive the names of their objects from the names of the release and of the chart, or read them from values.
    pub fn is_unrelated(&self, id: ObjectId<'_>) -> bool {
        let is_public = match self.contents {
            Contents::Public => true,
            Contents::Known(known) => matches!(known.purpose, Purpose::Controller | Purpose::Other),
            Contents::Definitions | Contents::Config | Contents::Anything => false,
        };
        let is_data = id.group.is_empty() && matches!(id.kind, "ConfigMap" | "Secret" | "PersistentVolumeClaim");
        is_data
            && is_public
            && self.is_chart()
            && self.base.is_none()
            && !self.has_more_values
            && !self.names.iter().any(|own| share_word(own, id.name) || id.name.contains(&**own))
            && !self.values.as_ref().is_some_and(|values| contains(values, id.name))
    }

    /// Returns whether the producer may create ClusterRoles that other ClusterRoles aggregate, with rules for an API
    /// group.
    pub fn may_extend_roles(&self, group: &str) -> bool {
        match self.contents {
            Contents::Definitions | Contents::Config => false,
            Contents::Known(known) => match known.purpose {
                Purpose::Definitions => false,
                Purpose::Flux | Purpose::Controller => known.groups.contains(&group),
                Purpose::Manifests | Purpose::Other => true,
            },
            Contents::Public | Contents::Anything => true,
        }
    }

    /// Returns whether the producer is a chart that is named like an object, or whose values contain the name.
    pub fn refers_to(&self, name: &str) -> bool {
        self.is_named_after(name) || self.mentions(name)
    }

    /// Returns whether the producer may create any object, such as ConfigMaps of the fleet or admission policies.
    pub fn may_create_anything(&self) -> bool {
        matches!(self.contents, Contents::Anything)
    }

    /// Returns whether the producer contains only ConfigMaps and Secrets.
    pub fn is_config(&self) -> bool {
        matches!(self.contents, Contents::Config)
    }

    /// The namespace of the producer's namespaced objects; `None` for any.
    pub fn namespace(&self) -> Option<&Name> {
        self.namespace.as_ref()
    }

    /// The namespaces of the manifests in the values of a release.
    pub fn namespaces_of_manifests(&self) -> &BTreeSet<Name> {
        &self.of_manifests
    }

    fn is_chart(&self) -> bool {
        !self.names.is_empty() && self.artifact.is_none()
    }

    /// Returns whether a name of the producer has a word of an object's name or namespace.
    fn shares_word(&self, id: ObjectId<'_>) -> bool {
        let namespace = if id.namespace == groups::FLUX_NAMESPACE { "" } else { id.namespace };
        self.names.iter().any(|own| share_word(own, id.name) || share_word(own, namespace))
    }

    fn is_named_after(&self, name: &str) -> bool {
        self.names.iter().any(|own| has_word(name, own))
    }

    fn mentions(&self, name: &str) -> bool {
        self.values.as_ref().is_some_and(|values| mentions(values, name))
    }

    /// Returns whether the values contain a kind, as in an embedded manifest or in a key such as `gitRepository`.
    fn mentions_kind(&self, kind: &str) -> bool {
        self.values.as_ref().is_some_and(|values| mentions_kind(values, &kind.to_ascii_lowercase()))
    }
}

fn possibly(may: bool) -> Creates {
    if may { Creates::Possibly } else { Creates::Never }
}

/// The names of the CRDs in `spec.healthChecks` of an applier.
fn awaited_definitions(applier: Option<&Object>) -> Vec<Name> {
    let checks = applier.and_then(|applier| applier.node.at_keys(&["spec", "healthChecks"]));
    let checks = checks.map_or(&[][..], Node::items).iter();
    let is_definition = |check: &&Node| check.get("kind").and_then(Node::text) == Some("CustomResourceDefinition");
    checks.filter(is_definition).filter_map(|check| check.get("name")?.text()).map(Name::from).collect()
}

/// The namespace of an applier, unless it is that of Flux.
fn home_of(applier: &Object) -> Option<&str> {
    applier.namespace().filter(|namespace| *namespace != groups::FLUX_NAMESPACE)
}

/// The segments of the path of a URL.
fn path_of(url: &str) -> impl Iterator<Item = &str> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    path.split('/').skip(1).filter(|segment| !segment.is_empty())
}

/// The accounts of a chart whose names do not contain the name of the chart.
///
/// Source: `templates/` of the chart.
pub(super) fn fixed_accounts(chart: &str) -> &'static [&'static str] {
    if chart == "tailscale-operator" { &["operator", "proxies"] } else { &[] }
}

fn contains_instance(known: Option<&KnownContents>) -> bool {
    known.is_some_and(|known| known.name == "flux-instance")
}

pub(super) fn is_definition(id: ObjectId<'_>) -> bool {
    id.kind == "CustomResourceDefinition"
}

pub(super) fn is_namespace(id: ObjectId<'_>) -> bool {
    id.group.is_empty() && id.kind == "Namespace"
}

/// Returns whether an object is an account, a role or a binding.
pub(super) fn is_of_rights(id: ObjectId<'_>) -> bool {
    id.group == groups::RBAC || (id.group.is_empty() && id.kind == "ServiceAccount")
}

pub(super) fn is_role(id: ObjectId<'_>) -> bool {
    id.group == groups::RBAC && matches!(id.kind, "Role" | "ClusterRole")
}

fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    fn object(text: &str) -> Object {
        let file = File::new("a.yaml", text);
        let parsed = parse(&file);
        Object { node: parsed.documents.first().expect("a document").node.clone() }
    }

    fn acme() -> FleetIdentity {
        FleetIdentity::new(Some("https://github.com/acme/fleet"), std::iter::empty())
    }

    fn repository(url: &str) -> Object {
        object(&format!("kind: HelmRepository\nmetadata: {{name: charts}}\nspec: {{url: \"{url}\"}}\n"))
    }

    fn release(chart: &str, values: &str) -> Object {
        object(&format!(
            "kind: HelmRelease\nmetadata: {{name: web}}\nspec:\n  chart: {{spec: {{chart: {chart}, sourceRef: {{kind: \
             HelmRepository, name: charts}}}}}}\n  values: {values}\n"
        ))
    }

    fn creates(chart: &str, url: &str, values: &str, id: (&str, &str, &str, &str)) -> Creates {
        let (group, kind, namespace, name) = id;
        let producer = UnknownProducer::of_release(&release(chart, values), "shop", Some(&repository(url)), &acme());
        producer.creates(ObjectId { group, kind, namespace, name })
    }

    const PUBLIC: &str = "oci://ghcr.io/stefanprodan/charts";
    const OWN: &str = "oci://ghcr.io/acme/charts";
    const SOURCE: (&str, &str, &str, &str) = (groups::SOURCE, "GitRepository", "shop", "orders");

    #[test]
    fn a_public_chart_creates_no_flux_objects_of_a_fleet() {
        assert_eq!(creates("podinfo", PUBLIC, "{}", SOURCE), Creates::Never);
        let values = |kind: &str, name: &str| format!("{{extra: [{{kind: {kind}, metadata: {{name: {name}}}}}]}}");
        let of = |kind, name| creates("podinfo", PUBLIC, &values(kind, name), SOURCE);
        assert_eq!(of("GitRepository", "orders"), Creates::Possibly);
        assert_eq!(of("Service", "orders"), Creates::Never);
        assert_eq!(of("GitRepository", "orders-server.shop.svc"), Creates::Never);
        assert_eq!(creates("podinfo", OWN, "{}", SOURCE), Creates::Possibly);
        assert_eq!(creates("podinfo", "https://charts.acme.com", "{}", SOURCE), Creates::Possibly);
        assert_eq!(creates("podinfo", "https://charts.example.com", "{}", SOURCE), Creates::Never);
    }

    #[test]
    fn a_public_chart_creates_only_its_own_accounts() {
        assert_eq!(creates("podinfo", PUBLIC, "{}", ("", "ServiceAccount", "shop", "flux")), Creates::Never);
        assert_eq!(creates("podinfo", PUBLIC, "{}", ("", "ServiceAccount", "shop", "web-podinfo")), Creates::Possibly);
        let values = "{serviceAccount: {name: runner}}";
        assert_eq!(creates("podinfo", PUBLIC, values, ("", "ServiceAccount", "shop", "runner")), Creates::Possibly);
        assert_eq!(creates("podinfo", PUBLIC, values, ("", "ServiceAccount", "other", "runner")), Creates::Never);
    }

    #[test]
    fn an_artifact_of_another_owner_is_not_for_this_fleet() {
        let creates = |source: &str, id: (&str, &str, &str, &str)| {
            let applier = object(
                "kind: Kustomization\nmetadata: {name: podinfo, namespace: flux-system}\nspec: {postBuild: {substitute: {A: \
                 runner}}}\n",
            );
            let source = object(&format!("kind: {source}\n"));
            let producer = UnknownProducer::of_applier(Some(&applier), Some(&source), &acme());
            let (group, kind, namespace, name) = id;
            producer.creates(ObjectId { group, kind, namespace, name })
        };
        let account = |name| ("", "ServiceAccount", "shop", name);
        let foreign = "GitRepository\nspec: {url: \"https://github.com/other/podinfo\"}";
        let artifact = "OCIRepository\nspec: {url: \"oci://ghcr.io/other/manifests/podinfo\"}";
        for source in [foreign, artifact] {
            assert_eq!(creates(source, SOURCE), Creates::Never);
            assert_eq!(creates(source, account("flux")), Creates::Never);
            assert_eq!(creates(source, account("podinfo")), Creates::Possibly);
            assert_eq!(creates(source, account("runner")), Creates::Possibly, "the variables contain the name");
            assert_eq!(creates(source, ("", "ConfigMap", "shop", "settings")), Creates::Possibly);
        }
        let own = "GitRepository\nspec: {url: \"https://github.com/Acme/podinfo\"}";
        let private = "GitRepository\nspec: {url: \"https://github.com/other/podinfo\", secretRef: {name: a}}";
        let internal = "GitRepository\nspec: {url: \"https://git.example.com/other/podinfo\"}";
        for source in [own, private, internal] {
            assert_eq!(creates(source, SOURCE), Creates::Possibly);
        }
    }

    #[test]
    fn a_chart_may_create_any_config_map_of_its_namespace() {
        assert_eq!(creates("podinfo", PUBLIC, "{}", ("", "ConfigMap", "shop", "settings")), Creates::Possibly);
        assert_eq!(creates("podinfo", PUBLIC, "{}", ("", "ConfigMap", "other", "settings")), Creates::Never);
    }

    #[test]
    fn charts_of_flux_contain_its_installation() {
        let of_flux = |id| creates("flux-operator", "oci://registry.example.com/mirror", "{}", id);
        assert_eq!(of_flux(("", "ServiceAccount", "shop", "flux-operator")), Creates::Certainly);
        assert_eq!(of_flux(("", "ConfigMap", "shop", "settings")), Creates::Never);
        assert_eq!(of_flux(SOURCE), Creates::Never);
        let sync = (groups::SOURCE, "GitRepository", "shop", "shop");
        assert_eq!(creates("flux-instance", OWN, "{}", sync), Creates::Possibly);
    }

    #[test]
    fn charts_of_definitions_contain_nothing_else() {
        let name = "certificates.cert-manager.io";
        let definition = ("apiextensions.k8s.io", "CustomResourceDefinition", "", name);
        assert_eq!(creates("cert-manager", PUBLIC, "{}", definition), Creates::Certainly);
        assert_eq!(creates("prometheus-operator-crds", PUBLIC, "{}", definition), Creates::Never);
        assert_eq!(creates("prometheus-operator-crds", PUBLIC, "{}", ("", "Secret", "shop", "a")), Creates::Never);
    }

    #[test]
    fn a_chart_of_manifests_creates_what_its_values_contain() {
        assert_eq!(creates("raw", PUBLIC, "{resources: [{name: orders}]}", SOURCE), Creates::Possibly);
        assert_eq!(creates("raw", PUBLIC, "{resources: [{name: other}]}", SOURCE), Creates::Never);
    }
}
