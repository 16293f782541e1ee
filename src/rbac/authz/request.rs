//! What somebody wants to do, as the API server's authorizer sees it.

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The verb: `get`, `create`, `impersonate`, or for a path the method in lower case.
    pub verb: &'a str,
    /// With what.
    pub target: Target<'a>,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A resource of the API.
    Resource(Resource<'a>),
    /// A path that is no resource, such as `/metrics`.
    Path(&'a str),
}

/// A resource of the API. Texts that do not apply are empty, as they are to the API server.
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
    /// The name of the object; empty where a request has none, such as `list`, or `create` of what has no name yet.
    pub object: &'a str,
}

impl<'a> Request<'a> {
    /// A request about a resource: all objects of it, in the whole cluster.
    pub fn new(verb: &'a str, group: &'a str, resource: &'a str) -> Self {
        let (name, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Self { verb, target: Target::Resource(Resource { group, name, subresource, ..Resource::default() }) }
    }

    /// The same about a subresource.
    #[must_use]
    pub fn of(mut self, subresource: &'a str) -> Self {
        if let Target::Resource(resource) = &mut self.target {
            resource.subresource = subresource;
        }
        self
    }

    /// A request about a path.
    pub fn path(verb: &'a str, path: &'a str) -> Self {
        Self { verb, target: Target::Path(path) }
    }

    /// The same in a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &'a str) -> Self {
        if let Target::Resource(resource) = &mut self.target {
            resource.namespace = namespace;
        }
        self
    }

    /// The same about one object.
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
