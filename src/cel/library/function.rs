//! The table of functions, and their signatures.

use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::types::Type;
use crate::cel::value::Value;

/// A function with all its overloads.
#[derive(Debug)]
pub(crate) struct Function {
    /// The name, which may be qualified.
    pub name: &'static str,
    /// The minor version of Kubernetes 1 that introduced the function.
    pub since: u32,
    /// The signatures of the overloads: `(int) string` for a function, `string.(int) string` for a member.
    signatures: &'static [&'static str],
    /// The implementation of all overloads. No argument is unknown.
    pub run: Run,
}

/// An implementation.
pub(super) type Run = fn(&[Value], &mut Budget) -> Result<Value, Failure>;

/// The signature of an overload.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Whether the first parameter is a receiver.
    pub is_member: bool,
    /// The types of the receiver and the parameters.
    pub parameters: Vec<Type>,
    /// The type of the result.
    pub result: Type,
}

/// The minor version that introduced the functions that every supported version has.
pub(super) const ALWAYS: u32 = 0;

impl Function {
    /// Creates a function.
    pub(super) const fn new(name: &'static str, since: u32, signatures: &'static [&'static str], run: Run) -> Self {
        Self { name, since, signatures, run }
    }

    /// The signatures of the overloads.
    pub(crate) fn signatures(&self) -> impl Iterator<Item = Signature> {
        self.signatures.iter().map(|text| Signature::parse(text))
    }
}

impl Signature {
    /// Reads a signature of the table.
    fn parse(text: &'static str) -> Self {
        let mut rest = text;
        let mut parameters = Vec::new();
        let is_member = !rest.starts_with('(');
        if is_member {
            parameters.push(read_type(&mut rest));
            rest = rest.strip_prefix('.').unwrap_or(rest);
        }
        rest = rest.strip_prefix('(').unwrap_or(rest);
        while !rest.starts_with(')') && !rest.is_empty() {
            parameters.push(read_type(&mut rest));
            rest = rest.strip_prefix(", ").unwrap_or(rest);
        }
        rest = rest.strip_prefix(") ").unwrap_or_default();
        Self { is_member, parameters, result: read_type(&mut rest) }
    }
}

/// Reads a type at the start of a text: `int`, `list(A)`, `map(string, dyn)`.
fn read_type(rest: &mut &'static str) -> Type {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    *rest = after;
    let mut inner = |separator: &str| {
        *rest = rest.strip_prefix(separator).unwrap_or(rest);
        read_type(rest)
    };
    let read = match name {
        "null" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "type" => Type::Type,
        "quantity" => Type::Opaque("kubernetes.Quantity"),
        "url" => Type::Opaque("kubernetes.URL"),
        "ip" => Type::Opaque("net.IP"),
        "cidr" => Type::Opaque("net.CIDR"),
        "semver" => Type::Opaque("kubernetes.Semver"),
        "format" => Type::Opaque("kubernetes.NamedFormat"),
        "authorizer" => Type::Opaque("kubernetes.authorization.Authorizer"),
        "path" => Type::Opaque("kubernetes.authorization.PathCheck"),
        "group" => Type::Opaque("kubernetes.authorization.GroupCheck"),
        "resource" => Type::Opaque("kubernetes.authorization.ResourceCheck"),
        "decision" => Type::Opaque("kubernetes.authorization.Decision"),
        "A" => Type::Parameter('A'),
        "B" => Type::Parameter('B'),
        "list" => Type::list(inner("(")),
        "optional" => Type::optional(inner("(")),
        "map" => Type::map(inner("("), inner(", ")),
        _ => Type::Dyn,
    };
    if matches!(read, Type::List(..) | Type::Optional(_) | Type::Map(..)) {
        *rest = rest.strip_prefix(')').unwrap_or(rest);
    }
    read
}
