//! The methods to assume another identity.

/// A method to assume another identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// An object of this kind that names the account in `serviceAccountName`. Flux impersonates the account.
    ServiceAccountName(&'static str),
    /// An object of this kind without an account. The controller acts under its own identity.
    Controller(&'static str),
    /// A workload of this kind that runs as the account.
    Workload(&'static str),
    /// The verb `impersonate`.
    Impersonate,
    /// A token of the account.
    Token,
    /// A Secret to which Kubernetes writes a token of the account.
    TokenSecret,
    /// The verb `bind`: a binding to a role with more rights than the writer of the binding has.
    Bind,
    /// The verb `escalate`: a role with more rights than the writer of the role has, and a binding to the role.
    Escalate,
    /// A command in a pod that runs as the account, by this resource.
    Command(&'static str),
    /// The verbs that read Secrets.
    ReadSecrets,
    /// A change of a source of this kind, or of a FluxInstance. Its content decides which objects Flux applies.
    Content(&'static str),
    /// A client certificate, with the right to approve it.
    Certificate,
}

impl Method {
    /// Returns whether an admission policy can forbid the method by a check of objects.
    pub fn may_be_forbidden(self) -> bool {
        matches!(self, Self::ServiceAccountName(_) | Self::Controller(_) | Self::Workload(_) | Self::Content(_))
    }
}
