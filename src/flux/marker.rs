//! The comments by which image automation knows which policy decides a value.

use crate::kustomize::Files;
use crate::text::{File, Span};

/// What such a comment says, as in `# {"$imagepolicy": "flux-system:web:tag"}`.
const KEY: &str = "\"$imagepolicy\"";

/// A comment that names an `ImagePolicy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The place of the name.
    pub place: Span,
    /// The policy's namespace.
    pub namespace: String,
    /// The policy's name.
    pub name: String,
}

/// The markers of all files, in their order.
pub(super) fn markers(files: &Files) -> Vec<Marker> {
    files.parsed().flat_map(|(_, parsed)| of_file(&parsed.file)).collect()
}

fn of_file(file: &File) -> Vec<Marker> {
    let text = file.text();
    let places = text.match_indices(KEY);
    places.filter_map(|(at, _)| marker(file, at)).collect()
}

/// The marker whose key stands at an offset, if it stands in a comment.
fn marker(file: &File, at: usize) -> Option<Marker> {
    let text = file.text();
    let before = text.get(..at)?.rsplit('\n').next().unwrap_or_default();
    if !before.contains('#') {
        return None;
    }
    let rest = text.get(at + KEY.len()..)?.lines().next()?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let start = at + KEY.len() + (rest.len() - value.len());
    let value = value.split('"').next()?;
    let mut parts = value.split(':');
    let (namespace, name) = (parts.next()?, parts.next()?);
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.'))
    };
    // Templates have placeholders there.
    (is_name(namespace) && is_name(name)).then(|| Marker {
        place: file.span(start..start + value.len()),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_with_plain_names_are_markers() {
        let text = "a: 1 # {\"$imagepolicy\": \"apps:web\"}\nb: 2 # {\"$imagepolicy\":\"apps:db:tag\"}\n\
                    c: '{\"$imagepolicy\": \"apps:no\"}'\nd: # {\"$imagepolicy\": \"${X}:web\"}\ne: # {\"$imagepolicy\"";
        let found = of_file(&File::new("a.yaml", text));
        let names: Vec<String> = found.iter().map(|marker| format!("{}/{}", marker.namespace, marker.name)).collect();
        assert_eq!(names, ["apps/web", "apps/db"]);
        assert_eq!(found[0].place.text(), "apps:web");
    }
}
