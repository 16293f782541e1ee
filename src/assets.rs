//! The directory `templates/`, compiled into the binary.

use rust_embed::RustEmbed;

use crate::text::{Entry, File, LoadError, Tree};

#[derive(RustEmbed)]
#[folder = "templates/"]
struct Templates;

/// The built-in layouts: `d1/layout.yaml` and so on. The files call themselves `templates/d1/…`, so that a finding
/// names a file that can be looked up.
pub fn templates() -> Tree {
    let mut tree = Tree::default();
    for path in Templates::iter() {
        let Some(embedded) = Templates::get(&path) else { continue };
        let file = File::decode(format!("templates/{path}"), embedded.data.into_owned());
        tree.insert_entry(&path, file.map_or_else(|error| Entry::Opaque(LoadError::Decode(error)), Entry::Text));
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_layouts_are_there_and_are_text() {
        let tree = templates();
        assert_eq!(tree.file("d1/layout.yaml").unwrap().path(), "templates/d1/layout.yaml");
        assert_eq!(tree.files().count(), tree.len());
    }
}
