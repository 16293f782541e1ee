//! The selection of an object that a user types.

use super::build::clusters_of;
use super::error::Error;
use super::repository::join_names;
use crate::flux::query::select::{Miss, Selector};
use crate::flux::{Applied, Cluster, Receiver, State};

/// Parses `Kind/namespace/name` or `Kind/name`.
pub(super) fn selector(typed: &str) -> Result<Selector, Error> {
    Selector::parse(typed).ok_or_else(|| {
        let help = "pass an object, for example `Deployment/apps/web` or `Namespace/apps`";
        Error::with_help(format!("`{typed}` does not have the form `Kind/namespace/name`"), help)
    })
}

/// Returns the selected object on each receiver that has it.
pub(super) fn received<'a>(
    selector: &Selector,
    receivers: &[Receiver<'a>],
) -> Result<Vec<(&'a Cluster, Applied<'a>)>, Miss> {
    let mut found = selector.find(&clusters_of(receivers))?;
    found.retain(|(cluster, applied)| {
        let is_for = |target: &Option<_>| *target == applied.by.target;
        receivers.iter().any(|receiver| receiver.cluster.name == cluster.name && is_for(&receiver.target))
    });
    Ok(found)
}

/// Returns the error for a selector that matches no object, or several.
pub(super) fn unknown_object(typed: &str, miss: Miss, receivers: &[Receiver<'_>]) -> Error {
    let clusters = clusters_of(receivers);
    match miss {
        Miss::Several(names) => Error::with_help(
            format!("`{typed}` is ambiguous: {}", join_names(&names)),
            "pass one of them as `Kind/namespace/name`",
        ),
        Miss::Unknown(meant) => {
            let message = match clusters.as_slice() {
                [cluster] if !cluster.name.is_empty() => {
                    format!("cluster `{}` does not receive `{typed}`", cluster.name)
                }
                [_] => format!("there is no `{typed}`"),
                _ => format!("no cluster receives `{typed}`"),
            };
            let unbuilt = clusters.iter().flat_map(|cluster| &cluster.appliers);
            let unbuilt = unbuilt.filter(|applier| applier.state != State::Built).count();
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if unbuilt > 0 => {
                    let unbuilt = crate::report::counted(unbuilt, "unbuilt applier");
                    format!("run `fleetwright graph` to see {unbuilt} that may create the object")
                }
                None => "run `fleetwright build` to see all objects".to_owned(),
            };
            Error::with_help(message, help)
        }
    }
}
