//! `CustomResourceDefinition` objects.

use std::fs;
use std::path::Path;

use fleetwright::api::catalog::pack::Packer;
use fleetwright::api::schema::{Schema, read};
use fleetwright::kube::Scope;
use fleetwright::text::File;
use fleetwright::yaml::{Node, parse};

use crate::{Error, files};

/// Adds the served versions of the definitions in a directory.
pub(crate) fn add(folder: &Path, packer: &mut Packer) -> Result<(), Error> {
    for path in files(folder)? {
        let file = File::new(path.to_string_lossy(), fs::read_to_string(&path)?);
        for document in &parse(&file).documents {
            definition(&document.node, packer).ok_or_else(|| format!("{}: not a definition", path.display()))?;
        }
    }
    Ok(())
}

fn definition(node: &Node, packer: &mut Packer) -> Option<()> {
    let text = |keys: &[&str]| node.at_keys(keys).and_then(Node::text);
    let (group, scope) = (text(&["spec", "group"])?, text(&["spec", "scope"])?);
    let (kind, plural) = (text(&["spec", "names", "kind"])?, text(&["spec", "names", "plural"])?);
    let scope = if scope == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
    for version in node.at_keys(&["spec", "versions"])?.items() {
        if version.get("served")?.text()? != "true" {
            continue;
        }
        let (schema, mistakes) = read(version.at_keys(&["schema", "openAPIV3Schema"])?);
        assert!(mistakes.is_empty(), "{kind}: {mistakes:?}");
        let id = [group, version.get("name")?.text()?, kind];
        packer.kind(id, plural, scope, &schema, &|_| (String::new(), Schema::default()));
    }
    Some(())
}
