//! Objects that Flux applies and another controller writes: Secrets, and the controllers of Flux.

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, ApplierKind, CreatedObject, State, components, created_by};
use crate::kube::{Object, groups};
use crate::lint::facts::ownership_settings::is_left_to_others;
use crate::lint::view::View;
use crate::yaml::Node;

/// The kinds whose controllers write a Secret. Other operators use the data of an existing Secret.
const WRITERS: [(&str, &str); 3] =
    [("bitnami.com", "SealedSecret"), ("cert-manager.io", "Certificate"), ("external-secrets.io", "ExternalSecret")];

/// The findings of the Secrets that two writers change.
pub(super) fn twice_written<'v>(rule: &'static str, view: &'v View<'_>) -> impl Iterator<Item = Finding> + 'v {
    let writers = WRITERS.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind)).filter(is_applied);
    writers.flat_map(move |writer| {
        let secrets = created_by(writer.object).into_iter().filter(|created| &*created.kind == "Secret");
        secrets.filter_map(move |created| {
            // Different values of a variable may give two objects different names.
            if created.name.contains("${") || created.namespace.contains("${") {
                return None;
            }
            let secret = view.find("", "Secret", &created.namespace, &created.name).filter(is_applied)?;
            // ResourceSets do not support these annotations.
            if secret.by.kind == ApplierKind::Kustomization && is_left_to_others(secret.object) {
                return None;
            }
            Some(finding(rule, &secret, &writer, &conflict(secret.object, writer.object, &created)?))
        })
    })
}

/// Returns whether Flux applies an object at present.
fn is_applied(applied: &Applied<'_>) -> bool {
    let is_ours = matches!(applied.by.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
    is_ours && !applied.by.is_suspended() && applied.by.state != State::Failed
}

/// The findings of the FluxInstances whose controllers a Kustomization applies too.
///
/// A migration to Flux Operator ends with the removal of the bootstrap.
pub(super) fn twice_installed<'v>(rule: &'static str, view: &'v View<'_>) -> impl Iterator<Item = Finding> + 'v {
    let instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").filter(is_applied);
    instances.filter_map(move |instance| {
        let names = components(instance.object);
        let mut controllers = view.of_kind("apps", "Deployment").filter(is_applied);
        let controller = controllers.find(|controller| {
            controller.by.kind == ApplierKind::Kustomization
                && names.contains(&controller.object.name())
                && controller.object.namespace() == instance.object.namespace()
        })?;
        let (object, other) = (instance.object.reference(), &controller.by.reference);
        let file = controller.object.span().file().path();
        let message = format!("{object} installs the controllers of Flux, and {other} applies them too");
        let help = format!(
            "remove `{file}` after the migration to Flux Operator: at each reconciliation, the operator and \
             kustomize-controller replace the controllers of each other"
        );
        let label = Label::new(instance.by.place(instance.object.span()), "installs the controllers");
        let place = controller.by.place(controller.object.span());
        let finding = Finding::warning(rule, label, message).help(help).about(object);
        Some(finding.related(place, format!("{other} applies this one")))
    })
}

/// The consequence of two writers of a Secret; `None` if they write different fields.
///
/// Source: the controllers of External Secrets 2.9, Sealed Secrets 0.36 and cert-manager 1.21.
fn conflict(secret: &Object, writer: &Object, created: &CreatedObject) -> Option<String> {
    let fields = ["data", "stringData"].into_iter().filter_map(|field| secret.node.get(field));
    let mut keys = fields.flat_map(Node::entries).map(|entry| &entry.key);
    let has_keys = keys.clone().next().is_some();
    let shared = keys.find(|key| created.keys.contains(key));
    let shared = |program: &str| {
        let key = shared?;
        Some(format!(
            "remove the keys that {program} writes from the Secret, such as `{key}`: at each reconciliation, Flux \
             restores its own value"
        ))
    };
    match writer.kind() {
        "SealedSecret" => {
            let is_set = |name: &str| {
                let annotation = format!("sealedsecrets.bitnami.com/{name}");
                let template = writer.node.at_keys(&["spec", "template", "metadata", "annotations", &annotation]);
                secret.annotation(&annotation).or(template.and_then(Node::text)) == Some("true")
            };
            if is_set("patch") {
                shared("Sealed Secrets")
            } else if is_set("managed") {
                let help = "remove the Secret: Sealed Secrets replaces its data, labels and annotations, and Flux \
                            restores its own at each reconciliation";
                Some(help.to_owned())
            } else {
                let help = "remove the Secret: Sealed Secrets does not change a Secret that another program created, so \
                            that the SealedSecret fails";
                Some(help.to_owned())
            }
        }
        "Certificate" => shared("cert-manager"),
        _ => match writer.text_at(&["spec", "target", "creationPolicy"]) {
            Some("Merge" | "CreateOrMerge") => shared("External Secrets"),
            // The controller also removes the keys that the ExternalSecret lacks.
            _ if has_keys => Some(
                "remove the Secret: External Secrets replaces all of its data, and Flux restores its own at each \
                 reconciliation; if each writes other keys, set `creationPolicy: Merge` in the ExternalSecret"
                    .to_owned(),
            ),
            _ => None,
        },
    }
}

fn finding(rule: &'static str, secret: &Applied<'_>, writer: &Applied<'_>, help: &str) -> Finding {
    let (object, other) = (secret.object.reference(), writer.object.reference());
    let place = secret.by.place(secret.object.span());
    let label = Label::new(place, format!("{} contains it here", secret.by.reference));
    let message = format!("{object} is applied by {}, and {other} creates it too", secret.by.reference);
    let related = writer.by.place(writer.object.span());
    Finding::warning(rule, label, message).help(help).about(object).related(related, format!("{other} is here"))
}
