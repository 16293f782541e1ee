//! Objects whose fields are computed before an expression reads them.

use std::sync::Arc;

use super::data::Value;
use super::trail::Read;
use crate::cel::failure::Failure;

/// An object with computed fields, such as the `variables` of a policy. An error of a field is the error of an expression
/// that reads it.
#[derive(Debug, Clone)]
pub struct Record {
    /// The name of the object's type.
    pub name: Arc<str>,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name of the field.
    pub name: Arc<str>,
    /// The value or the reason why there is none.
    pub value: Result<Value, Failure>,
    /// The fields that the computation read. An expression that reads this field reads them too.
    pub reads: Vec<Read>,
}

impl Record {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| &*field.name == name)
    }
}
