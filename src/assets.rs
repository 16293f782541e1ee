//! `templates/` and `schemas/` inside the binary, as trees.

use rust_embed::{Embed, EmbeddedFile};

use crate::text::{File, Tree};

#[derive(Embed)]
#[folder = "templates/"]
struct Templates;

#[derive(Embed)]
#[folder = "schemas/"]
struct Schemas;

/// The built-in layouts: `d1/…`.
pub fn templates() -> Tree {
    tree::<Templates>("templates")
}

/// The published schemas by their file names: `fleet.schema.json`, ….
pub fn schemas() -> Tree {
    tree::<Schemas>("schemas")
}

/// Files keep a path that names their folder in the binary, since findings show it; the tree's paths leave it out.
fn tree<E: Embed>(folder: &str) -> Tree {
    let mut tree = Tree::default();
    for path in E::iter() {
        let Some(EmbeddedFile { data, .. }) = E::get(&path) else { continue };
        if let Ok(file) = File::decode(format!("<built-in>/{folder}/{path}"), data.into_owned()) {
            tree.insert_entry(&path, crate::text::Entry::Text(file));
        }
    }
    tree
}
