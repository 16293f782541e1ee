//! Changes of Flux's controllers between two releases: defaults, flags, feature gates and supported versions of Kubernetes.

use crate::api::catalog::Releases;
use crate::api::release::{Change, Setting, flags, gates, kubernetes_range};
use crate::base::finding::{Finding, Severity};
use crate::flux::{CONTROLLERS, DEFAULT_CONTROLLERS};
use crate::kube::version::Version;
use crate::kube::{Object, groups};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Embedded, Node};

/// The id of a default that differs in the later release.
const CHANGED_DEFAULT: &str = "changed-default";
/// The id of a flag or feature gate that the later release does not know.
const REMOVED_FLAG: &str = "removed-flag";
/// The id of a pair of releases of Flux and Kubernetes that Flux does not support.
const UNSUPPORTED: &str = "unsupported-kubernetes";

/// The changes of the controllers of a cluster.
pub(super) fn changes(view: &View<'_>, now: &Releases, then: &Releases) -> Vec<Finding> {
    let Some(place) = Place::on(view) else { return Vec::new() };
    let mut found: Vec<Finding> = unsupported(&place, then).into_iter().collect();
    let (Some(from), Some(to)) = (&now.flux, &then.flux) else { return found };
    let arguments = Arguments::on(view);
    let installed = installed(view);
    let settings = flags().iter().map(|flag| (flag, "--")).chain(gates().iter().map(|gate| (gate, "")));
    for (setting, dashes) in settings.filter(|(setting, _)| installed.contains(&setting.controller)) {
        let uses: Vec<Span> = arguments.uses(setting, dashes);
        let kind = if dashes.is_empty() { "feature gate" } else { "flag" };
        let name = format!("{kind} `{dashes}{}` of {}", setting.name, setting.controller);
        match setting.change(from, to) {
            Some(Change::Removed(since)) => {
                let message = format!("{name} does not exist since Flux {}.{}", since.major, since.minor);
                let help = format!("remove the {kind}: the controller does not start with an unknown {kind}");
                found.extend(uses.into_iter().map(|at| {
                    let finding = Finding::error(REMOVED_FLAG, at, message.clone()).help(help.clone());
                    finding.caused_by(name.clone(), "", format!(" places set {message}"))
                }));
            }
            Some(Change::Default { from, to, since }) if uses.is_empty() => {
                let since = format!("{}.{}", since.major, since.minor);
                let message = format!("the default of {name} changes from `{from}` to `{to}` in Flux {since}");
                let help = if dashes.is_empty() {
                    format!("to keep it, set `--feature-gates={}={from}` on {}", setting.name, setting.controller)
                } else {
                    format!("to keep it, set `--{}={from}` on {}", setting.name, setting.controller)
                };
                let finding = Finding::warning(CHANGED_DEFAULT, place.at.clone(), message.clone()).help(help);
                found.push(finding.caused_by(name.clone(), format!("{message}: "), " places"));
            }
            Some(Change::Default { .. }) | None => {}
        }
    }
    found
}

fn unsupported(place: &Place, then: &Releases) -> Option<Finding> {
    let (flux, kubernetes) = (then.flux.as_ref()?, then.kubernetes.as_ref()?);
    let [oldest, newest] = kubernetes_range(flux)?;
    let numbers = |version: &Version| (version.major, version.minor);
    let pair = format!("Flux {}.{} and Kubernetes {}.{}", flux.major, flux.minor, kubernetes.major, kubernetes.minor);
    let (severity, why) = if numbers(kubernetes) < numbers(&oldest) {
        (Severity::Error, format!("this release needs Kubernetes {}.{} or later", oldest.major, oldest.minor))
    } else if numbers(kubernetes) > numbers(&newest) {
        (Severity::Warning, format!("this release was built for Kubernetes {}.{}", newest.major, newest.minor))
    } else {
        return None;
    };
    let finding = Finding::error(UNSUPPORTED, place.at.clone(), format!("{pair} are not a supported pair"));
    let finding = finding.help(format!("upgrade both together: {why}"));
    let finding =
        finding.caused_by(pair.clone(), "", format!(" clusters would have {pair}, which are not a supported pair"));
    Some(Finding { severity, ..finding })
}

/// The position that stands for the installation of Flux on a cluster.
struct Place {
    at: Span,
}

impl Place {
    fn on(view: &View<'_>) -> Option<Self> {
        let instance = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance").next().map(|applied| {
            let version = applied.object.node.at_keys(&["spec", "distribution", "version"]);
            version.map_or_else(|| applied.object.span().clone(), |version| version.span().clone())
        });
        let controller = || controllers(view).next().map(|object| object.span().clone());
        let applier = || view.appliers().find_map(|applier| Some(applier.object.as_ref()?.span().clone()));
        instance.or_else(controller).or_else(applier).map(|at| Self { at })
    }
}

fn controllers<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Object> {
    let deployments = view.of_kind("apps", "Deployment").map(|applied| applied.object);
    deployments.filter(|object| CONTROLLERS.contains(&object.name()))
}

/// The names of the controllers on a cluster; the default ones if the repository does not show them.
fn installed(view: &View<'_>) -> Vec<String> {
    let mut names: Vec<String> = controllers(view).map(|object| object.name().to_owned()).collect();
    for applied in view.of_kind(groups::FLUX_OPERATOR, "FluxInstance") {
        let components = applied.object.node.at_keys(&["spec", "components"]).map_or(&[][..], Node::items);
        names.extend(components.iter().filter_map(Node::text).map(str::to_owned));
    }
    if names.is_empty() { DEFAULT_CONTROLLERS.iter().map(|name| (*name).to_owned()).collect() } else { names }
}

/// The arguments of the controllers of a cluster.
struct Arguments {
    /// The controller, or none if a patch may apply to any controller, the text, and its position.
    texts: Vec<(Option<String>, String, Span)>,
}

impl Arguments {
    fn on(view: &View<'_>) -> Self {
        let mut texts = Vec::new();
        for object in controllers(view) {
            let containers = object.node.at_keys(&["spec", "template", "spec", "containers"]);
            for container in containers.map_or(&[][..], Node::items) {
                for argument in container.get("args").map_or(&[][..], Node::items) {
                    let text = argument.text().unwrap_or_default().to_owned();
                    texts.push((Some(object.name().to_owned()), text, argument.span().clone()));
                }
            }
        }
        for applied in view.of_kind(groups::FLUX_OPERATOR, "FluxInstance") {
            let patches = applied.object.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
            for patch in patches {
                let name = patch.at_keys(&["target", "name"]).and_then(Node::text).map(str::to_owned);
                let name = name.filter(|name| CONTROLLERS.contains(&name.as_str()));
                let Some(scalar) = patch.get("patch") else { continue };
                let embedded = Embedded::new(scalar);
                let mut start = 0;
                for line in scalar.text().unwrap_or_default().split('\n') {
                    let at = embedded.span(start..start + line.len()).unwrap_or_else(|| scalar.span().clone());
                    if line.contains("--") {
                        texts.push((name.clone(), line.to_owned(), at));
                    }
                    start += line.len() + 1;
                }
            }
        }
        Self { texts }
    }

    /// The positions that set a flag or a feature gate.
    fn uses(&self, setting: &Setting, dashes: &str) -> Vec<Span> {
        let sets = |text: &str| {
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            let name = format!("{dashes}{}", setting.name);
            let is_gate = !dashes.is_empty() || text.contains("feature-gates");
            is_gate && text.split_once(&name).is_some_and(|(_, rest)| ends(rest))
        };
        let of = self.texts.iter().filter(|(controller, text, _)| {
            controller.as_ref().is_none_or(|name| *name == setting.controller) && sets(text)
        });
        of.map(|(_, _, at)| at.clone()).collect()
    }
}
