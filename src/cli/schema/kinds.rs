//! The kinds of Kubernetes objects with a known schema.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::catalog::{Definition, Definitions, Product, Releases, built_in};
use crate::api::schema::{Link, to_json};
use crate::base::similar_names::did_you_mean;
use crate::cli::error::Error;
use crate::cli::repository::{Options, join_names};
use crate::cli::streams::Streams;
use crate::flux::definitions_elsewhere;
use crate::kube::Scope;
use crate::kube::version::{self, api_version_order};

/// The known kinds, in the order of precedence of their sources.
pub(super) struct Known(Vec<KnownKind>);

/// A version of a kind from one source.
struct KnownKind {
    group: String,
    version: String,
    kind: String,
    plural: String,
    scope: Scope,
    /// The source of the kind, for users.
    origin: String,
    /// The source of the schema, for users.
    schema_origin: String,
    schema: Link,
}

impl Known {
    /// Collects the kinds of a repository, then the built-in kinds.
    pub(super) fn collect(options: &Options, dir: &Path, streams: &mut Streams) -> Result<Self, Error> {
        let repository = options.open(dir, streams)?;
        let repo = repository.load();
        let read = Definitions::default();
        let mut received: BTreeMap<Place, (Arc<Definition>, BTreeSet<String>)> = BTreeMap::new();
        for receiver in options.receivers(&repo.clusters)? {
            let objects = receiver.applied_sets().flat_map(|set| set.objects.iter());
            for definition in objects.filter_map(|object| read.of(object)) {
                let known = received.entry(place(&definition)).or_insert_with(|| (definition, BTreeSet::new()));
                known.1.extend(Some(receiver.to_string()).filter(|name| !name.is_empty()));
            }
        }
        let mut known = Self(Vec::new());
        for (definition, clusters) in received.values() {
            let clusters: Vec<String> = clusters.iter().cloned().collect();
            let by = if clusters.is_empty() { String::new() } else { format!(", for {}", join_names(&clusters)) };
            known.add(definition, &by);
        }
        for definition in definitions_elsewhere(&repo, &repository.settings, &read).iter() {
            if !received.contains_key(&place(definition)) {
                known.add(definition, "");
            }
        }
        let flux = repository.settings.flux_version.as_deref().and_then(version::Version::parse);
        let kubernetes = repository.settings.kubernetes_version.as_deref().and_then(version::Version::parse);
        known.add_built_in(&Releases { kubernetes, flux });
        Ok(known)
    }

    fn add(&mut self, definition: &Definition, note: &str) {
        let place = shown_place(definition);
        for version in definition.versions.iter().filter(|version| version.served) {
            let Some(schema) = version.schema() else { continue };
            self.0.push(KnownKind {
                group: definition.group.to_string(),
                version: version.name.to_string(),
                kind: definition.kind.to_string(),
                plural: definition.plural.to_string(),
                scope: definition.scope,
                origin: format!("{place}{note}"),
                schema_origin: place.clone(),
                schema: schema.clone(),
            });
        }
    }

    fn add_built_in(&mut self, releases: &Releases) {
        for product in Product::ALL {
            for kind in &product.pack().kinds {
                let Some(found) = built_in(&kind.group, &kind.version, &kind.kind, releases) else { continue };
                let of_runs = [kind.runs.first(), kind.runs.last()].map(|run| run.map(|run| run.releases(product)));
                let origin = match of_runs {
                    [Some([first, _]), Some([_, last])] if first == last => format!("{} {first}", product.name()),
                    [Some([first, _]), Some([_, last])] => format!("{} {first} to {last}", product.name()),
                    _ => product.name().to_string(),
                };
                self.0.push(KnownKind {
                    group: kind.group.to_string(),
                    version: kind.version.to_string(),
                    kind: kind.kind.to_string(),
                    plural: kind.plural.to_string(),
                    scope: kind.scope,
                    origin: format!("built in: {}", origin.trim_end()),
                    schema_origin: format!("built in: {} {}", product.name(), found.release).trim_end().to_string(),
                    schema: found.schema,
                });
            }
        }
    }

    /// Writes one line for each version of a kind and each of its sources.
    pub(super) fn list(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut lines: Vec<(&KnownKind, String)> = self.0.iter().map(|known| (known, known.to_string())).collect();
        // The order of the sources stays.
        lines.sort_by(|(a, _), (b, _)| (&a.group, &a.kind).cmp(&(&b.group, &b.kind)).then_with(|| a.newest_first(b)));
        let width = lines.iter().map(|(_, name)| name.chars().count()).max().unwrap_or_default();
        for (known, name) in lines {
            writeln!(out, "{name:width$}  {:10}  {}", known.scope(), known.origin)?;
        }
        Ok(())
    }

    /// The schema of a kind that a user names. `files` are the names that are not kinds.
    pub(super) fn schema(&self, name: &str, files: &[String]) -> Result<Value, Error> {
        let matching: Vec<&KnownKind> = self.0.iter().filter(|known| known.has_name(name)).collect();
        let groups: BTreeSet<String> = matching.iter().map(|known| known.with_group()).collect();
        if groups.len() > 1 {
            let groups: Vec<String> = groups.into_iter().collect();
            return Err(Error::with_help(
                format!("`{name}` is ambiguous: {}", join_names(&groups)),
                "pass one of them",
            ));
        }
        let newest = matching.into_iter().reduce(|best, next| {
            // A later source has a lower precedence.
            if next.newest_first(best) == Ordering::Less { next } else { best }
        });
        let Some(known) = newest else { return Err(self.unknown(name, files)) };
        let mut schema = to_json(&known.schema);
        if let Value::Object(fields) = &mut schema {
            let id = json!([{ "group": known.group, "version": known.version, "kind": known.kind }]);
            fields.shift_insert(0, "x-kubernetes-group-version-kind".into(), id);
            fields.shift_insert(0, "$comment".into(), format!("{}; {}", known.schema_origin, known.scope()).into());
        }
        Ok(schema)
    }

    fn unknown(&self, name: &str, files: &[String]) -> Error {
        let names: BTreeSet<&str> = self.0.iter().map(|known| known.kind.as_str()).collect();
        let help = match did_you_mean(name, files.iter().map(String::as_str).chain(["list"]).chain(names)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "run `fleetwright schema list` to see the known kinds, and `fleetwright schema --help` to see the \
                     files"
                .to_string(),
        };
        Error::with_help(format!("there is no file and no known kind `{name}`"), help)
    }
}

/// The file and line of a definition, as a user would type the path.
fn shown_place(definition: &Definition) -> String {
    let (file, line) = (definition.at.file(), definition.at.position().line);
    match file.root() {
        Some(root) => format!("{}/{}:{line}", root.strip_prefix("./").unwrap_or(root), file.path()),
        None => format!("{}:{line}", file.path()),
    }
}

type Place = (String, u32, u32);

fn place(definition: &Definition) -> Place {
    let (path, start, length) = definition.at.order();
    (path.to_string(), start, length)
}

impl KnownKind {
    /// Returns whether a user may mean this kind: `Kind`, `kind.group`, `version/Kind` or `group/version/Kind`.
    fn has_name(&self, name: &str) -> bool {
        let is_kind = |text: &str| text.eq_ignore_ascii_case(&self.kind) || text.eq_ignore_ascii_case(&self.plural);
        match name.split('/').collect::<Vec<_>>().as_slice() {
            [kind] => match kind.split_once('.') {
                Some((kind, group)) => is_kind(kind) && group == self.group,
                None => is_kind(kind),
            },
            [version, kind] => self.group.is_empty() && *version == self.version && is_kind(kind),
            [group, version, kind] => *group == self.group && *version == self.version && is_kind(kind),
            _ => false,
        }
    }

    fn with_group(&self) -> String {
        if self.group.is_empty() { format!("v1/{}", self.kind) } else { format!("{}.{}", self.kind, self.group) }
    }

    /// The scope in the words of a `CustomResourceDefinition`.
    fn scope(&self) -> &'static str {
        match self.scope {
            Scope::Namespaced => "Namespaced",
            Scope::Cluster => "Cluster",
            Scope::Unknown => "",
        }
    }

    fn newest_first(&self, other: &Self) -> Ordering {
        api_version_order(&other.version, &self.version)
    }
}

impl std::fmt::Display for KnownKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slash = if self.group.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}/{}", self.group, self.version, self.kind)
    }
}
