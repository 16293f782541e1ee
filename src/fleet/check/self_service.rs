//! The restrictions of included files that teams own.
//!
//! A user who can change such a file must not gain rights beyond the namespaces of the tenant. Therefore, a file can
//! contain only the settings that are listed here, and the settings that fleet.yaml allows. A new setting is forbidden
//! by default. The check includes settings without a value, since they remove the value that the fleet sets for all
//! tenants.

use globset::{GlobBuilder, GlobMatcher};

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::fleet::input::files::Input;
use crate::fleet::input::includes::Restriction;
use crate::fleet::input::schema;
use crate::fleet::merge::levels::{Merged, MergedTenant, further_namespaces, namespace_of, namespace_place};
use crate::fleet::resolve::dependencies::{listed, name};
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::kube::quantity::Quantity;
use crate::text::{Index, Span};
use crate::yaml::{Entry, Node};

/// The rule id for settings that a restricted file must not contain.
const FORBIDDEN_SETTING: &str = "forbidden-setting";

/// The fields of `allow` that contain globs.
const GLOBS: [&str; 4] = ["sources", "secrets", "labels", "annotations"];

/// A mapping of a tenant's file, with the settings that are harmless in it.
struct Part {
    /// The prefix of its settings in `allow.settings`.
    prefix: &'static str,
    /// The definition in the schema.
    definition: &'static str,
    harmless: &'static [&'static str],
}

const TENANT: Part = Part {
    prefix: "",
    definition: "",
    harmless: &[
        "name",
        "role",
        "dependsOn",
        "source",
        "sources",
        "components",
        "namespaces",
        "defaults",
        "imageAutomation",
        "alerts",
        "receivers",
    ],
};
const SOURCE: Part = Part {
    prefix: "source.",
    definition: "Source",
    harmless: &["name", "url", "ref", "secret", "interval", "timeout", "verify", "ignore", "environments"],
};
const NAMESPACE: Part = Part { prefix: "namespace.", definition: "Namespace", harmless: &["name"] };
const COMPONENT: Part = Part {
    prefix: "component.",
    definition: "Component",
    harmless: &[
        "name",
        "namespace",
        "namespaces",
        "source",
        "dependsOn",
        "stages",
        "path",
        "interval",
        "retryInterval",
        "timeout",
        "wait",
        "prune",
        "force",
        "suspend",
        "deletionPolicy",
        "healthChecks",
        "healthCheckExprs",
        "decryption",
        "images",
        "substitute",
        "variables",
        "targetNamespace",
    ],
};

pub(super) fn check(input: &Input, merged: &Merged, findings: &mut Vec<Finding>) {
    // Also those whose globs match no file yet.
    let include = input.root.get("include");
    let entries = include.map(|include| if include.is_map() { std::slice::from_ref(include) } else { include.items() });
    for allow in entries.into_iter().flatten().filter_map(|entry| entry.get("allow")) {
        known_settings(allow, findings);
        valid_globs(allow, findings);
    }
    let names: Vec<&str> = input.tenants.iter().filter_map(name).collect();
    let tenants = input.tenants.iter().zip(&merged.tenants).zip(&input.restrictions);
    for ((tenant, merged), restrictions) in tenants {
        for restriction in restrictions.iter().filter(|_| tenant.is_map()) {
            let owner = name(tenant).unwrap_or_default();
            Restricted { tenant, owner, merged, restriction, names: &names, findings }.check();
        }
    }
}

/// Reports unknown names in `allow.settings`.
fn known_settings(allow: &Node, findings: &mut Vec<Finding>) {
    let items = items(allow, "settings");
    if items.is_empty() {
        return;
    }
    let schema = schema::tenant_schema();
    let mut known = Vec::new();
    for part in [&TENANT, &SOURCE, &NAMESPACE, &COMPONENT] {
        let object = match part.definition {
            "" => Some(&schema),
            definition => schema.pointer(&format!("/definitions/{definition}")),
        };
        let fields = object.and_then(|object| object.get("properties")?.as_object());
        known.extend(fields.into_iter().flatten().map(|(field, _)| format!("{}{field}", part.prefix)));
    }
    for item in items {
        let Some(text) = item.text().filter(|text| !known.iter().any(|known| known == text)) else { continue };
        let help = match did_you_mean(text, known.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                "write a field of a tenant, or `component.`, `source.` or `namespace.` with a field of these".into()
            }
        };
        findings
            .push(Finding::error(INVALID_FLEET, item.span().clone(), format!("unknown setting `{text}`")).help(help));
    }
}

fn matcher(glob: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(glob).literal_separator(true).build()?.compile_matcher())
}

/// Reports invalid globs, which match nothing.
fn valid_globs(allow: &Node, findings: &mut Vec<Finding>) {
    for item in GLOBS.iter().flat_map(|key| items(allow, key)) {
        if let Some(Err(error)) = item.text().map(matcher) {
            let glob = item.text().unwrap_or_default();
            let message = format!("`{glob}` is not a valid glob: {}", error.kind());
            let help = "`*` matches a part of a path segment, `**` several segments, `[ab]` one of the characters, \
                        and `{a,b}` one of the texts";
            findings.push(Finding::error(INVALID_FLEET, item.span().clone(), message).help(help));
        }
    }
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}

/// A tenant in a restricted file.
struct Restricted<'a> {
    tenant: &'a Node,
    owner: &'a str,
    merged: &'a MergedTenant,
    restriction: &'a Restriction,
    /// The names of all tenants.
    names: &'a [&'a str],
    findings: &'a mut Vec<Finding>,
}

impl<'a> Restricted<'a> {
    fn check(&mut self) {
        self.name();
        self.role();
        self.part(self.tenant, &TENANT);
        let first = self.tenant.get("source").filter(|source| !source.is_null());
        let sources = first.into_iter().chain(items(self.tenant, "sources"));
        for (at, source) in sources.enumerate() {
            self.part(source, &SOURCE);
            self.url(source, self.merged.sources.get(at));
        }
        for namespace in items(self.tenant, "namespaces") {
            self.part(namespace, &NAMESPACE);
        }
        let components = items(self.tenant, "components").iter();
        let components = components.flat_map(|component| std::iter::once(component).chain(items(component, "stages")));
        for component in self.tenant.get("defaults").into_iter().chain(components) {
            self.part(component, &COMPONENT);
            self.decryption(component);
        }
        self.access();
        self.namespaces();
        self.quota();
        let mut texts = Vec::new();
        every_text(self.tenant, None, &mut texts);
        for (key, text, at) in texts {
            if key == Some("secret") {
                self.secret(text, at);
            }
            if !substitutes_plainly(text) {
                let message = format!("`{}` contains an expression that Flux would evaluate", text.escape_debug());
                let help = "use `${NAME}` only; the rendered files are applied with the rights of Flux, and an \
                            expression could change their other fields";
                self.report(at, message, help);
            }
        }
    }

    fn report(&mut self, at: &Span, message: String, help: impl Into<String>) {
        // The schema reports an unknown field or an invalid value at the same place.
        if self.findings.iter().any(|finding| &finding.at.span == at && finding.rule != FORBIDDEN_SETTING) {
            return;
        }
        let finding = Finding::error(FORBIDDEN_SETTING, at.clone(), message).help(help);
        self.findings.push(finding.related(self.restriction.at.clone(), "restricted here"));
    }

    fn allows(&self, setting: &str) -> bool {
        items(&self.restriction.allow, "settings").iter().any(|item| item.text() == Some(setting))
    }

    fn place(&self) -> &'a Span {
        self.tenant.get("name").unwrap_or(self.tenant).span()
    }

    /// Without this check, the owner of one file could define the tenant of another team, with its namespaces.
    fn name(&mut self) {
        if self.restriction.allow.get("names").and_then(Node::text) == Some("any") || self.owner.is_empty() {
            return;
        }
        let path = self.tenant.span().file().path();
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        let in_folder = self.restriction.glob.rsplit('/').nth(1).is_some_and(|segment| segment.contains('*'));
        let folder = folder.rsplit('/').next().unwrap_or(folder);
        if self.owner == stem || (in_folder && self.owner == folder) {
            return;
        }
        let message = format!("tenant `{}` does not have the name of its file, `{stem}`", self.owner);
        let help = format!(
            "write `name: {stem}`, or rename the file; `allow: {{names: any}}` in the `include` of fleet.yaml allows other names"
        );
        self.report(self.place(), message, help);
    }

    fn role(&mut self) {
        let allowed: Vec<&str> = items(&self.restriction.allow, "roles").iter().filter_map(Node::text).collect();
        let allowed = if allowed.is_empty() { vec!["tenant"] } else { allowed };
        let Some(role) = self.merged.node.get("role").and_then(Node::text) else { return };
        if allowed.contains(&role) {
            return;
        }
        let written = self.tenant.get("role").filter(|role| !role.is_null());
        let at = written.map_or_else(|| self.place(), Node::span);
        let message = format!("`{}` has the role `{role}`, which its file must not claim", self.owner);
        let help = match role {
            "platform" => {
                "write `role: tenant`; a platform tenant is cluster admin, so define it in fleet.yaml".to_owned()
            }
            _ => format!("use {}", listed(&allowed)),
        };
        self.report(at, message, help);
    }

    /// Reports the settings of a mapping that are neither harmless nor allowed.
    fn part(&mut self, node: &'a Node, part: &Part) {
        for entry in node.entries() {
            let key = &*entry.key;
            let setting = format!("{}{key}", part.prefix);
            if part.harmless.contains(&key) || self.allows(&setting) {
                continue;
            }
            match key {
                "labels" | "annotations" if entry.node.is_map() => self.keys(entry, key),
                "quota" if self.restriction.allow.get("quota").is_some() => {}
                "access" if self.restriction.allow.get("access").is_some() => {}
                _ => {
                    let message = format!("`{}` must not set `{key}` in its file", self.owner);
                    let instead = match key {
                        "labels" | "annotations" | "quota" | "access" => format!("`allow: {{{key}: …}}`"),
                        _ => format!("`allow: {{settings: [{setting}]}}`"),
                    };
                    let help = format!(
                        "remove it, or set it in fleet.yaml; it could extend the rights of the tenant. {instead} in the \
                         `include` of fleet.yaml allows it"
                    );
                    self.report(&entry.key_span(), message, help);
                }
            }
        }
    }

    fn keys(&mut self, owner: &'a Entry, what: &str) {
        let allowed = self.globs(what);
        for entry in owner.node.entries() {
            if allowed.iter().any(|glob| glob.is_match(&*entry.key)) {
                continue;
            }
            let message = format!("`{}` must not set `{}` in `{what}` in its file", self.owner, entry.key);
            let help = format!(
                "remove it: policies and Flux select objects by such keys; `allow: {{{what}: [\"{}\"]}}` in the `include` \
                 of fleet.yaml allows it",
                entry.key
            );
            self.report(&entry.key_span(), message, help);
        }
    }

    fn globs(&self, key: &str) -> Vec<GlobMatcher> {
        items(&self.restriction.allow, key).iter().filter_map(|item| matcher(item.text()?).ok()).collect()
    }

    /// Checks the URL of a source: its own, or the URL of its `repository`.
    fn url(&mut self, source: &'a Node, merged: Option<&'a Node>) {
        if self.restriction.allow.get("sources").is_none() {
            return;
        }
        let own = source.get("url").filter(|url| !url.is_null());
        let inherited = || Some((source.get("repository")?, merged?.get("url")?));
        let Some((url, used)) = own.map(|url| (url, url)).or_else(inherited) else { return };
        let Some(text) = used.text() else { return };
        let allowed = self.globs("sources");
        if is_plain_url(text) && allowed.iter().any(|glob| glob.is_match(text)) {
            return;
        }
        let listing: Vec<&str> = items(&self.restriction.allow, "sources").iter().filter_map(Node::text).collect();
        let message = format!("`{}` must not use the source `{text}`", self.owner);
        self.report(url.span(), message, format!("use a URL that matches {}", listed(&listing)));
    }

    /// A Secret of another team could be in the same namespace, or be copied by the name.
    fn secret(&mut self, text: &str, at: &Span) {
        let own = self.is_own(text) || text.strip_prefix("flux-") == Some(self.owner);
        if own || self.globs("secrets").iter().any(|glob| glob.is_match(text)) {
            return;
        }
        let owner = self.owner;
        let message = format!("`{owner}` must not use the Secret `{text}`");
        let help = format!(
            "use a Secret of the tenant: `{owner}`, `flux-{owner}` or `{owner}-…`; `allow: {{secrets: [{text}]}}` in the \
             `include` of fleet.yaml allows it"
        );
        self.report(at, message, help);
    }

    /// Returns whether a name is that of the tenant, or starts with it and `-`, and belongs to no tenant with a longer name.
    fn is_own(&self, text: &str) -> bool {
        let starts = |owner: &str| text == owner || text.strip_prefix(owner).is_some_and(|rest| rest.starts_with('-'));
        starts(self.owner) && !self.names.iter().any(|other| other.len() > self.owner.len() && starts(other))
    }

    /// Without a Secret, Flux decrypts with its own identity, which can read the keys of other tenants.
    fn decryption(&mut self, component: &'a Node) {
        let Some(decryption) = component.get("decryption").filter(|decryption| decryption.is_map()) else { return };
        if self.allows("component.decryption") || decryption.get("secret").is_some_and(|secret| !secret.is_null()) {
            return;
        }
        let message = format!("`{}` must not decrypt with the identity of Flux", self.owner);
        let help = format!("set the Secret with the keys of the tenant: `secret: {}-sops`", self.owner);
        self.report(decryption.span(), message, help);
    }

    fn access(&mut self) {
        let Some(allowed) = self.restriction.allow.get("access").filter(|_| !self.allows("access")) else { return };
        let allowed: Vec<&str> = allowed.items().iter().filter_map(Node::text).collect();
        for role in items(self.tenant, "access").iter().filter_map(|access| access.get("role")) {
            if let Some(text) = role.text().filter(|text| !allowed.contains(text)) {
                let message = format!("`{}` must not grant the role `{text}`", self.owner);
                self.report(role.span(), message, format!("use {}", listed(&allowed)));
            }
        }
    }

    fn namespaces(&mut self) {
        let is_platform = self.merged.node.get("role").and_then(Node::text) == Some("platform");
        if is_platform || self.restriction.allow.get("namespaces").and_then(Node::text) == Some("any") {
            return;
        }
        let merged = self.merged;
        let written = items(self.tenant, "namespaces").iter().filter_map(|namespace| namespace.get("name"));
        let written = written.map(|node| (node, node.span()));
        let of_components = merged.components.iter().flat_map(|component| {
            let further = further_namespaces(&component.node).iter().map(|node| (node, node.span()));
            let own = namespace_of(&component.node).zip(namespace_place(&component.node));
            own.map(|(node, place)| (node, place.written())).into_iter().chain(further)
        });
        for (node, at) in written.chain(of_components) {
            let Some(text) = node.text().filter(|text| !self.is_own(text)) else { continue };
            let owner = self.owner;
            let message = format!("`{owner}` must not use the namespace `{text}`");
            let help = match text.strip_prefix(owner) {
                Some(rest) if rest.starts_with('-') => "it has the prefix of another tenant".to_owned(),
                _ => format!("choose a name with the prefix of the tenant, for example `namespace: {owner}-{text}`"),
            };
            self.report(at, message, help);
        }
    }

    /// Every namespace must have a quota of at most the maximum.
    fn quota(&mut self) {
        let Some(maximum) = self.restriction.allow.get("quota").filter(|maximum| maximum.is_map()) else { return };
        let merged = self.merged;
        let mut reported: Index<(String, u32, String), ()> = Index::default();
        for level in std::iter::once(&merged.node).chain(&merged.namespaces) {
            for limit in maximum.entries() {
                let Some((most, written)) = limit.node.text().and_then(|text| Some((Quantity::parse(text)?, text)))
                else {
                    continue;
                };
                let set = level.at_keys(&["quota", &limit.key]).filter(|quota| !quota.is_null());
                let value = set.and_then(Node::text);
                let is_small = value.and_then(Quantity::parse).is_some_and(|value| value <= most);
                let at = set.map_or_else(|| level.get("name").unwrap_or(level).span(), Node::span);
                let (path, start, _) = at.order();
                if is_small || reported.insert((path.to_owned(), start, limit.key.to_string()), ()).is_some() {
                    continue;
                }
                let message = match value {
                    Some(value) => {
                        format!("the quota `{}` of `{}` is `{value}`, more than `{written}`", limit.key, self.owner)
                    }
                    None => format!("`{}` removes the quota `{}`", self.owner, limit.key),
                };
                self.report(at, message, format!("set at most `{written}`"));
            }
        }
    }
}

/// Collects all scalars and keys, with the key of each scalar.
fn every_text<'a>(node: &'a Node, key: Option<&'a str>, texts: &mut Vec<(Option<&'a str>, &'a str, &'a Span)>) {
    if let Some(text) = node.text() {
        texts.push((key, text, node.span()));
    }
    for item in node.items() {
        every_text(item, key, texts);
    }
    for entry in node.entries() {
        texts.push((None, &entry.key, entry.node.span()));
        every_text(&entry.node, Some(&entry.key), texts);
    }
}

/// Returns whether a text contains no substitutions other than `${NAME}`, which cannot change the surrounding document.
fn substitutes_plainly(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let name = after.split_once('}').map(|(name, _)| name);
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if before.ends_with('$') || !name.is_some_and(is_name) {
            return false;
        }
        rest = after;
    }
    true
}

/// Returns whether a URL means what it looks like: no parent directories, escapes, queries, variables or passwords.
fn is_plain_url(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    let user = host.rsplit_once('@').map_or("", |(user, _)| user);
    !url.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '%' | '\\' | '$'))
        && !rest.split('/').any(|segment| matches!(segment, "." | ".."))
        && !user.contains([':', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_variables_are_harmless() {
        for text in ["", "$", "a $x b", "${GIT_BRANCH}", "a/${X}/${Y_1}"] {
            assert!(substitutes_plainly(text), "{text}");
        }
        for text in ["${X:=a}", "${X", "${}", "$${X}", "${X//a/b}", "${1}", "${X} ${Y:-}"] {
            assert!(!substitutes_plainly(text), "{text}");
        }
    }

    #[test]
    fn a_disguised_url_is_not_plain() {
        for url in ["https://github.com/acme/apps.git", "ssh://git@github.com/acme/apps.git", "oci://localhost:5000/x"]
        {
            assert!(is_plain_url(url), "{url}");
        }
        for url in [
            "https://github.com/acme/../evil/x.git",
            "https://github.com/acme/%2e%2e/evil",
            "https://github.com/acme/${X}",
            "https://github.com:x@evil.example/acme/y",
            "https://evil.example/x#/acme",
        ] {
            assert!(!is_plain_url(url), "{url}");
        }
    }
}
