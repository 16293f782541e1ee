//! The origin of an object and the transformers that ran over the object.

use std::sync::Arc;

use crate::kube::Object;
use crate::yaml::Name;

/// A generator or transformer, as origin annotations describe it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PluginRef {
    /// The path of the file that configures the plugin.
    pub(crate) file: Name,
    pub(crate) kind: Name,
    /// The name of the object that configures the plugin.
    pub(crate) name: Name,
    pub(crate) namespace: Name,
}

impl PluginRef {
    /// A plugin that a field of a kustomization configures.
    pub(crate) fn from_field(file: &Name, kind: &str) -> Arc<Self> {
        Arc::new(Self { file: file.clone(), kind: kind.into(), name: "".into(), namespace: "".into() })
    }

    /// A plugin that an object configures.
    pub(crate) fn from_object(object: &Object, trace: &Trace) -> Arc<Self> {
        let file = match &trace.source {
            Some(Source::File(path)) => path.clone(),
            Some(Source::Generated(plugin_ref)) => plugin_ref.file.clone(),
            None => "".into(),
        };
        Arc::new(Self {
            file,
            kind: object.kind().into(),
            name: object.name().into(),
            namespace: object.namespace().unwrap_or_default().into(),
        })
    }
}

/// The recorded origin and transformations of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) source: Option<Source>,
    pub(crate) transformers: Vec<Arc<PluginRef>>,
}

impl Trace {
    /// Replaces the source with the source of a replacing object. The transformers of the replaced object stay.
    pub(crate) fn take_source(&mut self, other: &Self) {
        self.source.clone_from(&other.source);
    }
}

/// The source of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    File(Name),
    Generated(Arc<PluginRef>),
}
