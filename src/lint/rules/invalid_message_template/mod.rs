mod template;

use crate::base::finding::{Finding, Label, Severity};
use crate::kube::groups;
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
    /// version of Flux is unknown, a removed field is a warning.
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
                (
                    format!("the commit message template of {reference} reads `{name}`, which Flux 2.7 removed"),
                    format!("read `.Changed.Changes`, `.Changed.Objects` or `.Changed.FileChanges`: {nothing}"),
                    has == Some(true),
                )
            }
        };
        let label = Label::new(applied.by.place(node.span()), "Flux cannot run this template");
        let severity = if is_certain { Severity::Error } else { Severity::Warning };
        let finding = Finding::error(RULE.id, label, message).help(help).about(reference);
        found.push(Finding { severity, ..finding });
    }
}
