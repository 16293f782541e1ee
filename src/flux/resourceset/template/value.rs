//! The values of templates: the types of Go that JSON and the template functions create.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use arcstr::ArcStr;

use crate::text::Span;

/// A value with its position, if any.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The value.
    pub kind: Kind,
    /// The position of the input, kept by functions that only change the format of the value.
    pub place: Option<Span>,
}

/// A mapping that functions may change in place, as in Go.
pub(crate) type Map = Rc<RefCell<BTreeMap<ArcStr, Value>>>;

/// The types of Go that templates use. Functions distinguish `int` from `int64`.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// `nil`, the null of JSON.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`: constants, indices and the results of most functions.
    Int(i64),
    /// `int64`: integers of inputs, and the results of arithmetic.
    Int64(i64),
    /// `float64`
    Float(f64),
    /// `string`
    Text(ArcStr),
    /// A list and the type of its items.
    List(Rc<[Value]>, Items),
    /// `map[string]any`
    Map(Map),
    /// `map[string]string`, which functions do not accept as `map[string]any`.
    Texts(Map),
    /// The name of a value that is known only on the cluster.
    Unknown(ArcStr),
}

/// The type of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Items {
    /// `[]any`
    Any,
    /// `[]string`
    Text,
    /// `[]int`
    Int,
    /// `[][]any`
    List,
}

impl Value {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, place: None }
    }

    pub(crate) fn text(text: impl Into<ArcStr>) -> Self {
        Self::new(Kind::Text(text.into()))
    }

    pub(crate) fn bool(value: bool) -> Self {
        Self::new(Kind::Bool(value))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::new(Kind::List(items.into(), Items::Any))
    }

    pub(crate) fn texts<T: Into<ArcStr>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(|item| Self::text(item));
        Self::new(Kind::List(items.collect(), Items::Text))
    }

    pub(crate) fn map(entries: BTreeMap<ArcStr, Self>) -> Self {
        Self::new(Kind::Map(Rc::new(RefCell::new(entries))))
    }

    /// Returns whether `if` treats the value as true; `None` if the value is unknown.
    pub(crate) fn truth(&self) -> Option<bool> {
        Some(match &self.kind {
            Kind::Nil => false,
            Kind::Bool(value) => *value,
            Kind::Int(value) | Kind::Int64(value) => *value != 0,
            Kind::Float(value) => *value != 0.0,
            Kind::Text(text) => !text.is_empty(),
            Kind::List(items, _) => !items.is_empty(),
            Kind::Map(entries) | Kind::Texts(entries) => !entries.borrow().is_empty(),
            Kind::Unknown(_) => return None,
        })
    }

    /// The name of the value's Go type.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Nil => "<nil>",
            Kind::Bool(_) => "bool",
            Kind::Int(_) => "int",
            Kind::Int64(_) => "int64",
            Kind::Float(_) => "float64",
            Kind::Text(_) | Kind::Unknown(_) => "string",
            Kind::List(_, Items::Any) => "[]interface {}",
            Kind::List(_, Items::Text) => "[]string",
            Kind::List(_, Items::Int) => "[]int",
            Kind::List(_, Items::List) => "[][]interface {}",
            Kind::Map(_) => "map[string]interface {}",
            Kind::Texts(_) => "map[string]string",
        }
    }

    /// The name of the kind of the value's Go type.
    pub(crate) fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Nil => "invalid",
            Kind::List(..) => "slice",
            Kind::Map(_) | Kind::Texts(_) => "map",
            _ => self.type_name(),
        }
    }

    /// The name of this value if it is unknown, or else of the first unknown value in it.
    pub(crate) fn unknown(&self, depth: usize) -> Option<ArcStr> {
        match &self.kind {
            Kind::Unknown(name) => Some(name.clone()),
            _ if depth == 0 => None,
            Kind::List(items, _) => items.iter().find_map(|item| item.unknown(depth - 1)),
            Kind::Map(entries) | Kind::Texts(entries) => {
                entries.borrow().values().find_map(|value| value.unknown(depth - 1))
            }
            _ => None,
        }
    }

    /// Compares like Go's `reflect.DeepEqual`, including types: the `int` 1 differs from the `int64` 1. Values deeper
    /// than `depth` differ.
    pub(crate) fn deep_equal(&self, other: &Self, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        match (&self.kind, &other.kind) {
            (Kind::Nil, Kind::Nil) => true,
            (Kind::Bool(a), Kind::Bool(b)) => a == b,
            (Kind::Int(a), Kind::Int(b)) | (Kind::Int64(a), Kind::Int64(b)) => a == b,
            #[expect(clippy::float_cmp, reason = "Go compares likewise")]
            (Kind::Float(a), Kind::Float(b)) => a == b,
            (Kind::Text(a), Kind::Text(b)) => a == b,
            (Kind::List(a, of_a), Kind::List(b, of_b)) => {
                of_a == of_b && a.len() == b.len() && a.iter().zip(&**b).all(|(a, b)| a.deep_equal(b, depth - 1))
            }
            (Kind::Map(a), Kind::Map(b)) | (Kind::Texts(a), Kind::Texts(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                let same = |(key, a): (&ArcStr, &Self)| b.get(key).is_some_and(|b| a.deep_equal(b, depth - 1));
                a.len() == b.len() && a.iter().all(same)
            }
            _ => false,
        }
    }
}
