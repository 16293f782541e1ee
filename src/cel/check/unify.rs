//! The agreement of types.

use std::sync::Arc;

use crate::cel::types::{Merge, Type};

/// The types that parameters of a signature stand for.
#[derive(Debug, Default)]
pub(crate) struct Bindings(Vec<(char, Type)>);

impl Bindings {
    /// Returns whether an argument of a type can be passed for a parameter.
    pub(crate) fn accept(&mut self, actual: &Type, formal: &Type) -> bool {
        match (actual, formal) {
            (_, Type::Parameter(name)) => match self.0.iter_mut().find(|(own, _)| own == name) {
                Some((_, bound)) if is_compatible(actual, bound) => {
                    *bound = more_general(actual, bound);
                    true
                }
                Some(_) => false,
                None => {
                    self.0.push((*name, actual.clone()));
                    true
                }
            },
            (Type::List(item, _), Type::List(formal, _)) => self.accept(item, formal),
            (Type::Map(key, value), Type::Map(formal_key, formal_value)) => {
                self.accept(key, formal_key) && self.accept(value, formal_value)
            }
            (Type::Optional(value), Type::Optional(formal)) => self.accept(value, formal),
            _ => is_compatible(actual, formal),
        }
    }

    /// The type with its parameters replaced. A parameter without a binding can be any type.
    pub(crate) fn apply(&self, formal: &Type) -> Type {
        match formal {
            Type::Parameter(name) => {
                self.0.iter().find(|(own, _)| own == name).map_or(Type::Dyn, |(_, bound)| bound.clone())
            }
            Type::List(item, merge) => Type::List(Arc::new(self.apply(item)), merge.clone()),
            Type::Map(key, value) => Type::map(self.apply(key), self.apply(value)),
            Type::Optional(value) => Type::optional(self.apply(value)),
            other => other.clone(),
        }
    }
}

/// Returns whether a value of one type can be used as the other.
pub(crate) fn is_compatible(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Dyn | Type::Parameter(_), _)
        | (_, Type::Dyn | Type::Parameter(_))
        | (Type::Bool, Type::Bool)
        | (Type::Int, Type::Int)
        | (Type::Uint, Type::Uint)
        | (Type::Double, Type::Double)
        | (Type::String, Type::String)
        | (Type::Bytes, Type::Bytes)
        | (Type::Duration, Type::Duration)
        | (Type::Timestamp, Type::Timestamp)
        | (Type::Type, Type::Type)
        // These types can be null.
        | (
            Type::Null,
            Type::Null | Type::Object(_) | Type::Duration | Type::Timestamp | Type::Opaque(_) | Type::Optional(_),
        )
        | (Type::Object(_) | Type::Duration | Type::Timestamp | Type::Opaque(_) | Type::Optional(_), Type::Null) => {
            true
        }
        (Type::List(one, _), Type::List(other, _)) | (Type::Optional(one), Type::Optional(other)) => {
            is_compatible(one, other)
        }
        (Type::Map(key, value), Type::Map(other_key, other_value)) => {
            is_compatible(key, other_key) && is_compatible(value, other_value)
        }
        (Type::Opaque(one), Type::Opaque(other)) => one == other,
        (Type::Object(one), Type::Object(other)) => one.name() == other.name(),
        _ => false,
    }
}

/// The type that values of both compatible types have.
pub(crate) fn more_general(one: &Type, other: &Type) -> Type {
    match (one, other) {
        (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
        (Type::Null, other) => other.clone(),
        (Type::List(one, merge), Type::List(other, _)) => {
            Type::List(Arc::new(more_general(one, other)), Merge::clone(merge))
        }
        (Type::Map(key, value), Type::Map(other_key, other_value)) => {
            Type::map(more_general(key, other_key), more_general(value, other_value))
        }
        (Type::Optional(one), Type::Optional(other)) => Type::optional(more_general(one, other)),
        (one, _) => one.clone(),
    }
}

/// Returns whether two types are the same.
pub(crate) fn is_same(one: &Type, other: &Type) -> bool {
    one.to_string() == other.to_string()
}
