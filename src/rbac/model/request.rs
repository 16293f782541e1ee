//! A request to the API server's authorizer.

/// A request to the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The verb: `get`, `create`, `impersonate`, or the HTTP method in lower case for a path.
    pub verb: &'a str,
    /// The resource or path.
    pub target: Target<'a>,
}

/// The target of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A resource.
    Resource(Resource<'a>),
    /// A non-resource path, such as `/metrics`.
    Path(&'a str),
}

/// A resource of the API. Fields that do not apply are empty, as in the API server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resource<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural name: `deployments`.
    pub name: &'a str,
    /// The subresource: `scale`.
    pub subresource: &'a str,
    /// The namespace; empty for the whole cluster.
    pub namespace: &'a str,
    /// The name of the object; empty if the request has none, such as `list` or `create`.
    pub object: &'a str,
}

impl<'a> Request<'a> {
    /// A request for a resource: all objects, in the whole cluster.
    pub fn new(verb: &'a str, group: &'a str, resource: &'a str) -> Self {
        let (name, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Self { verb, target: Target::Resource(Resource { group, name, subresource, ..Resource::default() }) }
    }

    /// The same request for a subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &'a str) -> Self {
        if let Target::Resource(resource) = &mut self.target {
            resource.subresource = subresource;
        }
        self
    }

    /// A request for a path.
    pub fn path(verb: &'a str, path: &'a str) -> Self {
        Self { verb, target: Target::Path(path) }
    }

    /// The same request in a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &'a str) -> Self {
        if let Target::Resource(resource) = &mut self.target {
            resource.namespace = namespace;
        }
        self
    }

    /// The same request for a single object.
    #[must_use]
    pub fn named(mut self, object: &'a str) -> Self {
        if let Target::Resource(resource) = &mut self.target {
            resource.object = object;
        }
        self
    }

    /// The namespace; empty for the whole cluster.
    pub fn namespace(&self) -> &'a str {
        match self.target {
            Target::Resource(resource) => resource.namespace,
            Target::Path(_) => "",
        }
    }
}
