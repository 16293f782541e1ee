//! The directories `templates/` and `policies/`, compiled into the binary.

use rust_embed::RustEmbed;

use crate::text::{Entry, File, LoadError, Tree};

#[derive(RustEmbed)]
#[folder = "templates/"]
struct Templates;

#[derive(RustEmbed)]
#[folder = "policies/"]
struct Policies;

/// The built-in layouts, such as `d1/layout.yaml`.
///
/// The path of each file is `templates/d1/…`, so that a finding shows the path in the project's repository.
pub fn templates() -> Tree {
    tree::<Templates>("templates")
}

/// The built-in policies, such as `no-latest-image.yaml`.
pub fn policies() -> Tree {
    tree::<Policies>("policies")
}

fn tree<Embedded: RustEmbed>(directory: &str) -> Tree {
    let mut tree = Tree::default();
    for path in Embedded::iter() {
        let Some(embedded) = Embedded::get(&path) else { continue };
        let file = File::decode(format!("{directory}/{path}"), embedded.data.into_owned());
        tree.insert_entry(&path, file.map_or_else(|error| Entry::Opaque(LoadError::Decode(error)), Entry::Text));
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_layouts_are_embedded_as_text() {
        let tree = templates();
        assert_eq!(tree.file("d1/layout.yaml").unwrap().path(), "templates/d1/layout.yaml");
        assert_eq!(tree.files().count(), tree.len());
    }
}
