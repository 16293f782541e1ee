use data_encoding::BASE64;

use crate::base::finding::{FaultKind, Finding, Severity};
use crate::base::set_aside;
use crate::flux::{Applied, ApplierKind};
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::facts::pods::containers::containers;
use crate::lint::facts::private_values::address::{in_address, in_webhook};
use crate::lint::facts::private_values::comment::calls_invented;
use crate::lint::facts::private_values::private::{Evidence, Private};
use crate::lint::facts::private_values::random::looks_random;
use crate::lint::facts::private_values::search::private_values;
use crate::lint::facts::private_values::secret::in_secret;
use crate::lint::facts::private_values::shape::{
    ADDRESS_WITH_KEY, ADDRESS_WITH_PASSWORD, LOCAL_ADDRESS, PASSWORD_HASH,
};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::text::{Span, folder_of};

declare! {
    /// The repository contains a private value in plain text.
    ///
    /// ## Why
    ///
    /// A committed value stays in the history, in every clone, in CI logs and in the artifacts of Flux. Treat the value
    /// as disclosed. The rule never shows the value.
    ///
    /// The rule checks Secrets and ConfigMaps with their generators, the templates of ExternalSecrets, the values of
    /// charts, environment variables of pods, the addresses of Providers, and the URLs of sources. It also checks YAML,
    /// JSON and other files in these values. If a variable sets a value, the finding is at the value of the variable. In all
    /// other objects, and in the variables of Kustomizations, the rule only checks the shape of values.
    ///
    /// The severity is error for a value that is private because of its shape: a private key, a token with a known
    /// prefix, a URL with a password, or the URL of a webhook. It is also error for a value of a Secret with a key such
    /// as `password`, and for a password in a file of a Secret. It is warning if only the name or a random text
    /// indicates that a value is private: a password in a ConfigMap, in a template, in chart values or in an
    /// environment variable, a URL with an API key, a URL with a password for localhost, and a random value in a
    /// Secret. It is also warning for a password hash at any place, for a value in a directory of examples or
    /// templates, if the repository has no cluster, and for a value that a comment calls invented, such as `# dummy
    /// values` at the start of the file. It is pedantic for a well-known password such as `changeme`, also in a URL.
    /// Such a value does not disclose a secret, but without a replacement, it is the password.
    ///
    /// A value that no cluster receives is also a warning in a directory with the configuration of a local cluster of kind,
    /// k3d or ctlptl.
    ///
    /// The rule also checks the objects that no cluster receives, since their values are in Git too. It reports only errors
    /// there, in objects with a random value or a value with the shape of a credential, and nothing in directories of
    /// examples, tests, templates, charts or documentation.
    ///
    /// These values are not private: public keys, certificates, addresses, user names, identifiers, empty values,
    /// variables, templates, references to a vault, SOPS-encrypted values, and placeholders such as `<token>` and
    /// `REPLACE_ME`.
    ///
    /// ## How to fix it
    ///
    /// Change the value first. Then encrypt the file with SOPS, seal it, or fetch the value with External Secrets. Let
    /// charts, pods, variables and Providers read the value from the Secret.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: correct-horse
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: ${DATABASE_PASSWORD}
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: secrets management](https://fluxcd.io/flux/security/secrets-management/),
    /// [SOPS](https://fluxcd.io/flux/guides/mozilla-sops/),
    /// [Flux: addresses of Providers](https://fluxcd.io/flux/components/notification/providers/#address)
    "plaintext-secret", Error, "the repository contains a private value in plain text", Check::Written(check),
}

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    // The schemas of definitions contain examples.
    if object.group() == "apiextensions.k8s.io" {
        return;
    }
    // A value with the name of a secret may be a placeholder, which only a received object would use.
    if context.is_unreached && (is_example(applied) || !has_credential(applied)) {
        return;
    }
    let at = |keys: &[&str]| object.node.at_keys(keys).map(private_values).unwrap_or_default();
    match (object.group(), object.kind()) {
        ("", "Secret") => check_secret(applied, found),
        ("", "ConfigMap") if object.node.get("sops").is_none() => {
            report(applied, "", &at(&["data"]), "move the value to a Secret, and encrypt the file with SOPS", found);
        }
        ("external-secrets.io", "ExternalSecret") => {
            // Most values of a template are settings beside the values that the operator fetches.
            let private = at(&["spec", "target", "template", "data"]);
            let help = "fetch the value with `spec.data`, and let the template read it: the template is not encrypted";
            report(applied, " in its template", &private, help, found);
        }
        (groups::HELM, "HelmRelease") => {
            let help = "let the chart read the value from a Secret, or move the value to a Secret that `valuesFrom` \
                        references";
            report(applied, " in its values", &at(&["spec", "values"]), help, found);
        }
        (groups::NOTIFICATION, "Provider") => {
            let address = object.node.at_keys(&["spec", "address"]).and_then(|address| in_webhook(address, "address"));
            let help = "move the address to the key `address` of the Secret in `secretRef`, and replace the webhook: \
                        everyone who knows the address can use it";
            report(applied, "", address.as_slice(), help, found);
        }
        (groups::SOURCE, _) => {
            let address = object.node.at_keys(&["spec", "url"]).and_then(|address| in_address(address, "url"));
            report(applied, "", address.as_slice(), "move the credentials to the Secret in `secretRef`", found);
        }
        (groups::KUSTOMIZE, "Kustomization") => {
            let help = "move the variable to a Secret that `spec.postBuild.substituteFrom` references";
            let variables = at(&["spec", "postBuild", "substitute"]);
            report(applied, " in its variables", &credentials(variables, &[]), help, found);
        }
        _ => {
            let environments = containers(object).filter_map(|container| container.get("env"));
            let environments: Vec<Vec<Private>> = environments.map(private_values).collect();
            for private in &environments {
                let help = "move the value to a Secret, and reference the Secret with `valueFrom.secretKeyRef`";
                report(applied, " in its environment", private, help, found);
            }
            let known: Vec<&Span> = environments.iter().flatten().map(|one| &one.span).collect();
            let help = "move the value to a Secret that the object references";
            report(applied, "", &credentials(private_values(&object.node), &known), help, found);
        }
    }
}

/// The values with the shape of a credential, except those at known places. In an object without a place for private
/// values, a name or an address is not sufficient.
fn credentials(mut private: Vec<Private>, known: &[&Span]) -> Vec<Private> {
    let is_credential = |one: &Private| match one.evidence {
        Evidence::Shape(what) => ![ADDRESS_WITH_KEY, LOCAL_ADDRESS, PASSWORD_HASH].contains(&what),
        Evidence::Name | Evidence::Secret | Evidence::Guessable => false,
    };
    private.retain(|one| is_credential(one) && !known.contains(&&one.span));
    private
}

/// Returns whether an object contains a value with the shape of a credential, such as a private key, or a random value of
/// a Secret.
fn has_credential(applied: &Applied<'_>) -> bool {
    let object = applied.object;
    let private = if object.is("", "Secret") { in_secret(object) } else { private_values(&object.node) };
    let is_random = |one: &Private| {
        let written = one.span.text().trim_matches(['"', '\'']);
        let decoded = BASE64.decode(written.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        looks_random(decoded.as_deref().unwrap_or(written).trim())
    };
    let is_credential = |one: &Private| matches!(one.evidence, Evidence::Shape(_)) || is_random(one);
    private.iter().any(|one| severity(applied, one) == Severity::Error && is_credential(one))
}

/// Creates one finding for each private value.
///
/// The findings of an object with the same severity have one cause, since one Secret can contain all its values.
fn report(applied: &Applied<'_>, place: &str, private: &[Private], help: &str, found: &mut Findings) {
    let object = applied.object;
    for one in private {
        let name = &one.name;
        let message = match one.evidence {
            // The items of a list have no name.
            Evidence::Shape(what) if name.is_empty() => format!("{} contains {what}{place}", object.reference()),
            Evidence::Shape(PASSWORD_HASH) => {
                format!("{} contains {PASSWORD_HASH} in `{name}`{place}", object.reference())
            }
            Evidence::Shape(what) => format!("{} contains {what} in plain text: `{name}`", object.reference()),
            Evidence::Guessable => {
                format!("{} contains a well-known value in `{name}`{place}", object.reference())
            }
            Evidence::Name | Evidence::Secret => {
                format!("{} contains `{name}` in plain text{place}", object.reference())
            }
        };
        let finding = finding(applied, one, severity(applied, one), message, help);
        // The value of a variable is in another file.
        let is_alone = one.variable.is_some();
        let (kind, what) = match one.evidence {
            Evidence::Guessable => ("well-known", format!(" well-known values{place}")),
            Evidence::Shape(PASSWORD_HASH) => ("hashed", format!(" password hashes{place}")),
            _ => ("private", format!(" private values in plain text{place}")),
        };
        let key = format!("{} {kind} {:?}", object.reference(), finding.severity);
        let before = format!("{} contains ", object.reference());
        found.push(if is_alone { finding } else { finding.caused_by(key, before, what) });
    }
}

/// Creates one finding for each Secret, at its first private value.
fn check_secret(applied: &Applied<'_>, found: &mut Findings) {
    let object = applied.object;
    let all = in_secret(object);
    let severity_of_all = all.iter().map(|one| severity(applied, one)).max();
    let Some(severity_of_all) = severity_of_all else { return };
    // If a Secret has a private value, the finding does not list its well-known passwords.
    let counts = |one: &&Private| severity(applied, one) >= severity_of_all.min(Severity::Warning);
    let Some(first) = all.iter().find(|one| severity(applied, one) == severity_of_all) else { return };
    let keys: Vec<String> = all.iter().filter(counts).map(|one| format!("`{}`", one.name)).collect();
    let (message, help) = match first.evidence {
        Evidence::Guessable => (
            format!("{} contains a well-known value in {}", object.reference(), keys.join(", ")),
            "create the Secret outside of Git, or encrypt another value: without a replacement, the well-known value is \
             the password",
        ),
        Evidence::Shape(PASSWORD_HASH) => (
            format!("{} contains a password hash in {}", object.reference(), keys.join(", ")),
            "change the password, then encrypt the file with SOPS, seal it, or fetch it with External Secrets: an \
             attacker can search for a password with the hash",
        ),
        _ => (
            format!("{} contains {} in plain text", object.reference(), keys.join(", ")),
            "change the value, then encrypt the file with SOPS, seal it, or fetch it with External Secrets: a committed \
             value stays in the history",
        ),
    };
    let place = |one: &Private| (place_of(applied, one).clone(), one.name.clone());
    let others = all.iter().filter(counts).filter(|one| one.span != first.span);
    let parts = std::iter::once(first).chain(others).map(place);
    let mut finding = finding(applied, first, severity_of_all, message, help).with_faults(parts);
    for other in all.iter().filter(counts).filter(|one| one.span != first.span) {
        finding = finding.related(other.span.clone(), format!("`{}`", other.name));
    }
    // The findings of one file have one cause, since SOPS encrypts files, and a rendered file is the output of one
    // command.
    let file = finding.at.span.file().path();
    let (key, summary) = match first.evidence {
        Evidence::Guessable => {
            (format!("{file} well-known"), format!(" Secrets of `{file}` contain well-known values"))
        }
        _ => (format!("{file} {severity_of_all:?}"), format!(" Secrets of `{file}` contain values in plain text")),
    };
    found.push(finding.caused_by(key, "", summary));
}

/// The severity of a value. Whoever writes an example or calls a value invented does not mean a secret.
fn severity(applied: &Applied<'_>, one: &Private) -> Severity {
    let is_doubtful = || is_example(applied) || calls_invented(place_of(applied, one));
    if is_named_example(&one.name) {
        let is_credential = matches!(one.evidence, Evidence::Shape(what) if what != ADDRESS_WITH_PASSWORD);
        return if is_credential { Severity::Warning } else { Severity::Pedantic };
    }
    match one.evidence {
        // Many keys in addresses only identify a web client, and a hash of a strong password does not disclose it. The
        // password of a program in the same Pod helps only who is in the Pod.
        Evidence::Shape(ADDRESS_WITH_KEY | LOCAL_ADDRESS | PASSWORD_HASH) | Evidence::Name => Severity::Warning,
        Evidence::Shape(_) | Evidence::Secret if is_doubtful() => Severity::Warning,
        Evidence::Shape(_) | Evidence::Secret => Severity::Error,
        Evidence::Guessable => Severity::Pedantic,
    }
}

/// Returns whether a name states that its value is an example: `EXAMPLE_DATABASE_URL`.
fn is_named_example(name: &str) -> bool {
    let first = name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    ["example", "sample"].iter().any(|word| first.eq_ignore_ascii_case(word)) && first.len() < name.len()
}

/// Returns whether no cluster is known to receive an object, and the name of its directory indicates examples, tests or
/// templates, whose values users replace.
fn is_example(applied: &Applied<'_>) -> bool {
    let folder = folder_of(applied.object.span().file().path());
    applied.by.kind == ApplierKind::Folder && set_aside::is_example(folder)
}

/// Returns a finding at a value, or at the value of the variable that sets it.
fn finding(applied: &Applied<'_>, one: &Private, severity: Severity, message: String, help: &str) -> Finding {
    let place = place_of(applied, one);
    let mut finding = Finding::error(RULE.id, place.clone(), message).help(help).about(applied.object.reference());
    if *place != one.span {
        finding = finding.of_kind(FaultKind::ValueOfVariable);
        finding = finding.related(one.span.clone(), "the variable is used here");
    }
    Finding { severity, ..finding }
}

/// The place of a value, or of the value of the variable that sets it.
fn place_of<'a>(applied: &'a Applied<'_>, one: &'a Private) -> &'a Span {
    let variable = one.variable.as_ref().and_then(|name| applied.by.variables.values.get(name));
    variable.map_or(&one.span, |variable| &variable.place)
}
