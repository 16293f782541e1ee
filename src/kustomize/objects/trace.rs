//! The origin of an object and the transformers that ran over it.

use std::sync::Arc;

use crate::kube::Object;
use crate::yaml::Name;

/// A generator or transformer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PluginRef {
    /// The file that configures it, by its path in the tree.
    pub(crate) file: Name,
    pub(crate) kind: Name,
    /// Name and namespace of one that is written as an object.
    pub(crate) name: Name,
    pub(crate) namespace: Name,
}

impl PluginRef {
    /// One that a field of a kustomization configures.
    pub(crate) fn from_field(file: &Name, kind: &str) -> Arc<Self> {
        Arc::new(Self { file: file.clone(), kind: kind.into(), name: "".into(), namespace: "".into() })
    }

    /// One that is written as an object.
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

/// What is noted of an object while it is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) source: Option<Source>,
    pub(crate) transformers: Vec<Arc<PluginRef>>,
}

impl Trace {
    /// What takes an object's place comes from elsewhere, and its steps are those of the object and no others.
    pub(crate) fn take_source(&mut self, other: &Self) {
        self.source.clone_from(&other.source);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    File(Name),
    Generated(Arc<PluginRef>),
}
