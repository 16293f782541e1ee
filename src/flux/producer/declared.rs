//! ConfigMaps and Secrets that the configuration declares, or that every cluster has.

use std::sync::Arc;

use super::produced::{Produced, shell, unknown};
use crate::config::Declared;
use crate::text::File;
use crate::yaml::{Name, Node};

pub(super) fn find(all: &[Arc<Declared>], kind: &str, namespace: &str, name: &str) -> Option<Produced> {
    let declared = all.iter().find(|declared| {
        let external = &declared.external;
        external.kind.as_str() == kind && external.namespace == namespace && external.name == name
    })?;
    let place = declared.node.span();
    let mut data: Vec<(Name, Node)> = Vec::new();
    for entry in declared.node.get("data").map_or(&[][..], Node::entries) {
        data.push((entry.key.clone(), entry.node.clone()));
    }
    for key in declared.node.get("keys").map_or(&[][..], Node::items) {
        let Some(name) = key.shared_text() else { continue };
        let value = unknown(&name, key.span());
        data.push((name, value));
    }
    let open = data.is_empty();
    Some(Produced { object: shell(kind, namespace, name, data, place), open, by: None, has_computed_name: false })
}

/// The ConfigMap with the CA certificate of the API server, which Kubernetes creates in every namespace.
pub(super) fn root_certificate(namespace: &str, name: &str) -> Produced {
    let place = File::new("kubernetes", "").span(0..0);
    let data = vec![("ca.crt".into(), unknown("ca.crt", &place))];
    Produced {
        object: shell("ConfigMap", namespace, name, data, &place),
        open: false,
        by: None,
        has_computed_name: false,
    }
}
