use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api;
use crate::api::catalog::{Definition, Found, Lookup, Origin, Product, definition_mistakes};
use crate::api::release::{Status, api};
use crate::api::schema::Mistake;
use crate::api::validate::{Fault, Mismatch, validate};
use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::version::Version;
use crate::kube::{Object, groups};
use crate::lint::apis::normalization;
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::Node;

declare! {
    /// An object does not match the schema of its kind.
    ///
    /// ## Why
    ///
    /// Flux applies objects with server-side apply. The API server rejects an object with an unknown field, a value of
    /// another type, a missing field or a value that the schema excludes. Flux then applies nothing of the Kustomization
    /// that contains the object.
    ///
    /// Flux removes unknown fields of Kubernetes' own kinds, such as Deployments, before it applies an object. The finding
    /// is then a warning: the field has no effect. Roles, ClusterRoles and custom resources keep unknown fields, and so
    /// does an object with a value of another type.
    ///
    /// The schema is the one that the cluster has: of the CustomResourceDefinition that the cluster receives, or else of
    /// a CustomResourceDefinition elsewhere in the repository, in the copies of its sources or in the directories of
    /// `schemas` in `.fleetwright.yaml`, or else of the built-in kinds of Kubernetes, Flux and the Flux Operator.
    /// `fleetwright schema list` prints the built-in kinds. A mismatch with a CustomResourceDefinition that the cluster
    /// does not receive is a warning, since the cluster may have another version of it.
    ///
    /// The rule also reports an `apiVersion` that the definition on the cluster does not serve, and a definition whose name,
    /// stored versions, conversion or schemas the API server rejects.
    ///
    /// Values that only the cluster knows, such as values of Secrets, match any schema. Kinds without a known schema are
    /// counted in the output of `--verbose`.
    ///
    /// ## How to fix it
    ///
    /// Correct the field. `fleetwright schema KIND` prints the schema.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: "true"
    ///   dependOn:
    ///     - name: infrastructure
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./apps
    ///   prune: true
    ///   dependsOn:
    ///     - name: infrastructure
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
    /// [Kubernetes: server-side apply](https://kubernetes.io/docs/reference/using-api/server-side-apply/),
    /// [Kubernetes: structural schemas](https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema)
    "schema-mismatch", Error, "the API server rejects an object, since it does not match the schema of its kind",
    Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let mut known: Index<Key, Arc<[Mismatch]>> = Index::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut reported: BTreeMap<(usize, usize, bool), usize> = BTreeMap::new();
    for view in fleet.views {
        let mut kinds = Kinds { view, found: Index::default() };
        let name: Arc<str> = view.receiver.to_string().into();
        let pairs = view.duplicates().flat_map(|(first, further)| [first.object, further.object]);
        let parts: BTreeSet<usize> = pairs.map(memory_address).collect();
        for set in view.applied_sets() {
            let is_judged =
                |applied: &Applied<'_>| applied.apply_mode() != ApplyMode::Ignored && is_written(applied.object);
            for applied in set.applied().filter(is_judged) {
                let kind = match kinds.of(&applied, found) {
                    Known::Kind(kind) => kind,
                    Known::NotServed(definition) => {
                        let key = (memory_address(applied.object), usize::MAX, applied.by.is_suspended());
                        let position = *reported.entry(key).or_insert_with(|| {
                            findings.push(not_served(&applied, definition));
                            findings.len() - 1
                        });
                        if let Some(finding) = findings.get_mut(position) {
                            finding.clusters.push(name.clone());
                        }
                        continue;
                    }
                    Known::Nothing => continue,
                };
                let key = (memory_address(applied.object), kind.found.schema.identity());
                let mismatches = known.entry_or(key, || {
                    let is_typed =
                        matches!(&kind.found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes);
                    let mut all = validate(applied.object, &kind.found.schema, kind.found.scope, is_typed);
                    if let Some(own) = view.written.definitions.of(applied.object) {
                        all.extend(rejected(applied.object, &own));
                    }
                    all.into()
                });
                for (at, mismatch) in mismatches.iter().enumerate() {
                    // Server-side apply merges objects with one identity, so another one may have the field.
                    let is_part = mismatch.fault == Fault::Missing && parts.contains(&key.0);
                    if is_part || !concerns(view, &applied, kind, mismatch) {
                        continue;
                    }
                    let is_suspended = applied.by.is_suspended();
                    let position = *reported.entry((key.0, at, is_suspended)).or_insert_with(|| {
                        findings.push(finding(&applied, kind, mismatch, mismatches));
                        findings.len() - 1
                    });
                    if let Some(finding) = findings.get_mut(position).filter(|_| view.is_whole()) {
                        finding.clusters.push(name.clone());
                    }
                }
            }
        }
    }
    found.extend(findings);
}

/// The kinds of the Flux Operator that send events.
const OPERATOR_KINDS: [&str; 3] = ["FluxInstance", "ResourceSet", "ResourceSetInputProvider"];

/// An object and a schema, by their addresses in memory.
type Key = (usize, usize);

/// A kind of a cluster.
struct Kind {
    found: Found,
    /// Whether the cluster has a release that is newer than the built-in schemas.
    is_newer: bool,
}

/// The result of the search for a kind.
enum Known {
    Kind(Kind),
    /// The cluster receives a definition that does not serve the version.
    NotServed(Arc<Definition>),
    Nothing,
}

/// The kinds of a cluster.
struct Kinds<'v, 'a> {
    view: &'v View<'a>,
    found: Index<(Arc<str>, Arc<str>), Known>,
}

impl Kinds<'_, '_> {
    fn of(&mut self, applied: &Applied<'_>, found: &mut Findings) -> &Known {
        let reference = |field: &str| applied.object.node.get(field).and_then(crate::yaml::Node::shared_text);
        let (Some(version), Some(kind)) = (reference("apiVersion"), reference("kind")) else { return &Known::Nothing };
        self.found.entry_or((version, kind), || {
            let object = applied.object;
            let version = object.api_version().rsplit('/').next().unwrap_or_default();
            let catalog = self.view.catalog();
            match catalog.find(object.group(), version, object.kind()) {
                Lookup::Found(own) if is_replaced(self.view, &own) => {
                    found.unchecked(format!(
                        "objects of {} {}, since a FluxInstance patches their definition",
                        object.api_version(),
                        object.kind()
                    ));
                    Known::Nothing
                }
                Lookup::Found(found) => {
                    let is_newer = is_newer(&found, catalog.releases());
                    Known::Kind(Kind { found, is_newer })
                }
                Lookup::NotServed(definition) => {
                    // `removed-api` reports the versions that a known release does not serve.
                    let is_removed = api(object.group(), version, object.kind())
                        .is_some_and(|api| matches!(api.status(catalog.releases()), Status::Removed(_)));
                    if is_removed || !self.view.is_whole() { Known::Nothing } else { Known::NotServed(definition) }
                }
                Lookup::Ambiguous(_) => {
                    found.unchecked(format!(
                        "objects of {} {}, since several definitions differ",
                        object.api_version(),
                        object.kind()
                    ));
                    Known::Nothing
                }
                Lookup::Unknown => {
                    found.unchecked(format!(
                        "objects of {} {}, since its schema is unknown",
                        object.api_version(),
                        object.kind()
                    ));
                    Known::Nothing
                }
            }
        })
    }
}

/// The parts of a definition that the API server rejects.
fn rejected(object: &Object, definition: &Definition) -> Vec<Mismatch> {
    let of_version = |version: &api::catalog::Version| -> Vec<Mismatch> {
        let mismatch = |mistake: &Mistake| Mismatch {
            at: mistake.at.clone(),
            path: format!("spec.versions[name={}].schema", version.name),
            fault: Fault::Value,
            message: format!("is not valid: {}", mistake.message),
            help: None,
        };
        version.mistakes().iter().map(mismatch).collect()
    };
    let outside = definition_mistakes(object).into_iter().map(|(path, mistake)| Mismatch {
        at: mistake.at,
        path: path.to_owned(),
        fault: Fault::Value,
        message: mistake.message,
        help: None,
    });
    outside.chain(definition.versions.iter().flat_map(of_version)).collect()
}

/// Returns whether a FluxInstance patches the definitions of Flux, which then differ from the built-in schemas.
fn is_replaced(view: &View<'_>, found: &Found) -> bool {
    let is_flux = matches!(&found.origin, Origin::BuiltIn(own) if own.product == Product::Flux);
    is_flux
        && view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").any(|instance| {
            let patches = instance.object.node.at_keys(&["spec", "kustomize", "patches"]);
            patches.into_iter().flat_map(Node::items).any(|patch| {
                let texts = [patch.at_keys(&["target", "kind"]), patch.get("patch")];
                texts.into_iter().flatten().filter_map(Node::text).any(|text| text.contains("CustomResourceDefinition"))
            })
        })
}

/// Returns whether a cluster has a release that is newer than the newest built-in one.
fn is_newer(found: &Found, releases: &crate::api::catalog::Releases) -> bool {
    let Origin::BuiltIn(own) = &found.origin else { return false };
    let release = match own.product {
        Product::Kubernetes => releases.kubernetes.as_ref(),
        Product::Flux => releases.flux.as_ref(),
        Product::FluxOperator => None,
    };
    let newest = Version::parse(own.release);
    release.zip(newest.as_ref()).is_some_and(|(own, newest)| (own.major, own.minor) > (newest.major, newest.minor))
}

/// Returns whether a file contains an object. Charts and bootstrap create other objects.
fn is_written(object: &Object) -> bool {
    object.node.get("kind").is_some_and(|kind| kind.origin.written().text().contains(object.kind()))
}

/// Returns whether a mismatch is certain, and no other rule reports it.
fn concerns(view: &View<'_>, applied: &Applied<'_>, kind: &Kind, mismatch: &Mismatch) -> bool {
    let last = mismatch.path.rsplit('.').next().unwrap_or_default();
    if normalization::removes(applied.object, &mismatch.path) {
        return false;
    }
    if applied.completion.mentions(last) || kind.is_newer && mismatch.fault == Fault::UnknownField {
        return false;
    }
    // An object that no cluster receives may be a patch or a template.
    let is_open = matches!(mismatch.fault, Fault::Missing | Fault::Metadata) || mismatch.message.starts_with("is null");
    if !view.is_whole() && is_open {
        return false;
    }
    let is_flux = groups::is_toolkit(applied.object.group());
    // The Flux Operator adds its own kinds to the schema of Alerts.
    if applied.object.is(groups::NOTIFICATION, "Alert")
        && mismatch.path.starts_with("spec.eventSources")
        && OPERATOR_KINDS.contains(&mismatch.at.text())
        && view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").next().is_some()
    {
        return false;
    }
    match mismatch.fault {
        // `invalid-duration` and `invalid-git-url` explain these values.
        Fault::Value => {
            !(is_flux
                && (matches!(last, "interval" | "retryInterval" | "timeout")
                    || (last == "url" && applied.object.kind() == "GitRepository")))
        }
        _ => true,
    }
}

/// The finding for an object whose version the definition on the cluster does not serve.
fn not_served(applied: &Applied<'_>, definition: &Definition) -> Finding {
    let object = applied.object;
    let version = object.api_version().rsplit('/').next().unwrap_or_default();
    let is_listed = definition.versions.iter().any(|own| *own.name == *version);
    let lack = if is_listed { "does not serve" } else { "does not have" };
    let message =
        format!("`apiVersion: {}` of {}: the definition {lack} this version", object.api_version(), object.reference());
    let served = definition.versions.iter().filter(|own| own.served);
    let served: Vec<String> = served.map(|own| format!("`{}/{}`", definition.group, own.name)).collect();
    let help = match served.as_slice() {
        [] => "serve a version in the definition".to_owned(),
        served => format!("set {}", served.join(" or ")),
    };
    let help = format!("{help}; the API server rejects the object, and Flux applies nothing of its Kustomization");
    let at = object.node.get("apiVersion").unwrap_or(&object.node).span();
    let severity = if applied.by.is_suspended() { Severity::Warning } else { Severity::Error };
    let finding = Finding::error(RULE.id, applied.by.place(at), message).help(help).about(object.reference());
    Finding { severity, ..finding }.related(definition.at.clone(), "the definition is here")
}

fn finding(applied: &Applied<'_>, kind: &Kind, mismatch: &Mismatch, all: &[Mismatch]) -> Finding {
    let object = applied.object.reference();
    let message = match mismatch.fault {
        Fault::Missing => format!("{object} has no `{}`", mismatch.path),
        Fault::UnknownField => format!("{object} has an unknown field: `{}` {}", mismatch.path, mismatch.message),
        _ if mismatch.path.is_empty() => format!("{object} {}", mismatch.message),
        _ => format!("`{}` of {object} {}", mismatch.path, mismatch.message),
    };
    let is_elsewhere = matches!(kind.found.origin, Origin::Elsewhere(_));
    // Flux replaces labels that it cannot read by its own.
    let loses_labels = mismatch.path.starts_with("metadata.labels") && mismatch.fault == Fault::Type;
    let is_dropped = mismatch.fault == Fault::UnknownField
        && matches!(&kind.found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes)
        && normalization::drops_unknown_fields(applied.object, all);
    let is_warning = is_elsewhere || loses_labels || is_dropped || applied.by.is_suspended();
    let severity = if is_warning { Severity::Warning } else { Severity::Error };
    let result = if loses_labels {
        "Flux cannot read the labels, and removes all of them"
    } else if is_dropped {
        "Flux removes the field before it applies the object"
    } else {
        "the API server rejects the object, and Flux applies nothing of its Kustomization"
    };
    let help = match &mismatch.help {
        Some(help) if help.ends_with('?') => format!("{help} {result}"),
        Some(help) => format!("{help}; {result}"),
        None => result.to_owned(),
    };
    let at = applied.by.place(&mismatch.at);
    let mut finding = Finding { severity, ..Finding::error(RULE.id, at, message).help(help).about(object) };
    if let Origin::Received(definition) | Origin::Elsewhere(definition) = &kind.found.origin {
        finding = finding.related(definition.at.clone(), "the schema is here");
    }
    finding
}
