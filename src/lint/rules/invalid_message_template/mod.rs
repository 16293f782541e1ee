mod template;

use crate::api::release::api;
use crate::base::finding::{Finding, Label, Severity};
use crate::kube::{Object, groups};
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use template::{Problem, problem};

declare! {
    /// Flux cannot run the template of a commit message.
    ///
    /// ## Why
    ///
    /// An ImageUpdateAutomation runs its `messageTemplate` when it commits a change. If the template has a syntax error or
    /// reads a field that does not exist, the automation commits nothing, so images are not updated. Flux 2.7 removed
    /// `.Updated` and `.Changed.ImageResult`. The API server does not parse templates.
    ///
    /// The rule checks the ends of actions and blocks, and the fields that the template reads outside of blocks. If the
    /// version of Flux is unknown, a removed field is a warning. It is pedantic if Flux 2.7 also removed the `apiVersion` of
    /// the object, since a cluster that accepts the object has an earlier release.
    ///
    /// ## How to fix it
    ///
    /// Correct the template. Instead of `.Updated.Images`, read `.Changed.Changes`; each change has `OldValue`, `NewValue`
    /// and `Setter`. Instead of `.Updated.Objects`, read `.Changed.Objects`, and instead of `.Updated.Files`,
    /// `.Changed.FileChanges`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageUpdateAutomation
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 30m
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   git:
    ///     commit:
    ///       author:
    ///         email: flux@example.com
    ///       messageTemplate: "{{ range .Updated.Images }}{{ . }} {{ end }}"
    ///   update:
    ///     strategy: Setters
    ///     path: ./apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: image.toolkit.fluxcd.io/v1
    /// kind: ImageUpdateAutomation
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 30m
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   git:
    ///     commit:
    ///       author:
    ///         email: flux@example.com
    ///       messageTemplate: "{{ range .Changed.Changes }}{{ .NewValue }} {{ end }}"
    ///   update:
    ///     strategy: Setters
    ///     path: ./apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. Flux 2.3 introduced `.Changed`, and Flux 2.7 removed `.Updated` and
    /// `.Changed.ImageResult`.
    ///
    /// ## Source
    ///
    /// [Flux: message template](https://fluxcd.io/flux/components/image/imageupdateautomations/#message-template);
    /// `TemplateData` and `templateMsg` of image-automation-controller
    "invalid-message-template", Error, "Flux cannot run the template of a commit message", Check::Cluster(check),
}

/// The release of Flux that removed template fields.
const REMOVED_SINCE: (u64, u64) = (2, 7);

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::IMAGE, "ImageUpdateAutomation") {
        let object = applied.object;
        let node = object.node.at_keys(&["spec", "git", "commit", "messageTemplate"]);
        let Some((node, text)) = node.and_then(|node| Some((node, known_text(node)?))) else { continue };
        let Some(problem) = problem(text).filter(|_| !applied.completion.mentions("messageTemplate")) else { continue };
        let reference = object.reference();
        let mut is_removed = false;
        let nothing = "otherwise the automation commits nothing";
        let (message, help, is_certain) = match problem {
            Problem::Syntax(why) => (
                format!("Flux cannot parse the commit message template of {reference}: {why}"),
                format!("correct the template: {nothing}"),
                true,
            ),
            Problem::UnknownField(name) => (
                format!("the commit message template of {reference} reads an unknown field `.{name}`"),
                format!("read `.Changed`, `.AutomationObject` or `.Values`: {nothing}"),
                true,
            ),
            Problem::RemovedField(name) => {
                let has = view.has_flux(REMOVED_SINCE);
                if has == Some(false) {
                    continue;
                }
                is_removed = true;
                (
                    format!("the commit message template of {reference} reads `{name}`, which Flux 2.7 removed"),
                    format!("read `.Changed.Changes`, `.Changed.Objects` or `.Changed.FileChanges`: {nothing}"),
                    has == Some(true),
                )
            }
        };
        let label = Label::new(applied.by.place(node.span()), "Flux cannot run this template");
        let severity = match is_certain {
            true => Severity::Error,
            false if is_of_earlier_release(object) => Severity::Pedantic,
            false => Severity::Warning,
        };
        let mut finding = Finding::error(RULE.id, label, message).help(help).about(reference);
        if is_removed {
            // One update of Flux requires all of these corrections.
            finding = finding.caused_by("removed", "", " commit message templates read fields that Flux 2.7 removed");
        }
        found.push(Finding { severity, ..finding });
    }
}

/// Returns whether the release that removed the fields also removed the `apiVersion` of an object. A cluster that accepts the object
/// then has an earlier release, and can run the template.
fn is_of_earlier_release(object: &Object) -> bool {
    let version = object.text_at(&["apiVersion"]).and_then(|text| text.rsplit('/').next()).unwrap_or_default();
    let removed = api(object.group(), version, object.kind()).and_then(|api| api.removed.as_ref());
    removed.is_some_and(|removed| (removed.major, removed.minor) <= REMOVED_SINCE)
}
