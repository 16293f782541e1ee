//! Expressions.

use std::ops::Range;

use arcstr::ArcStr;

use crate::cel::library::Function;
use crate::cel::value::Value;

/// The maximum height of an expression, which bounds the recursion of the checker and the evaluator. The API server has
/// the same limit.
pub(crate) const MAX_HEIGHT: u16 = 250;

/// An expression with its position.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    /// The range of the expression in the text, in bytes.
    pub at: Range<usize>,
    /// The expression.
    pub kind: Kind,
}

/// The kinds of expressions.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A literal.
    Literal(Value),
    /// A name: a variable, or the first part of a qualified name.
    Name(ArcStr),
    /// A field: `operand.field`.
    Select(Box<Expr>, ArcStr, Selection),
    /// An item or an entry: `operand[index]`, or `operand[?index]`.
    Index(Box<Expr>, Box<Expr>, Selection),
    /// A call of a function or an operator. The type checker finds the function.
    Call {
        /// The name, qualified after the check: `sets.contains`.
        name: ArcStr,
        /// The receiver, if any, and the arguments.
        arguments: Vec<Expr>,
        /// Whether the first argument is a receiver.
        is_member: bool,
        /// The function; `None` before the check.
        function: Option<&'static Function>,
    },
    /// `a && b && c`
    And(Vec<Expr>),
    /// `a || b || c`
    Or(Vec<Expr>),
    /// `a ? b : c`
    Conditional(Box<[Expr; 3]>),
    /// `a.or(b)` and, with a plain value, `a.orValue(b)`, which evaluate `b` only if `a` has no value.
    OrElse(Box<Expr>, Box<Expr>, Selection),
    /// A list.
    List(Vec<Argument>),
    /// A map.
    Map(Vec<Pair>),
    /// A macro that binds variables.
    Fold(Box<Fold>),
}

/// How a field or an item is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The value; it is an error if it does not exist.
    Value,
    /// Whether the field exists: `has(a.b)`.
    Test,
    /// An optional value: `a.?b`.
    Optional,
}

/// An item of a list.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// Whether an optional value without a content is left out: `[?a]`.
    pub is_optional: bool,
    /// The value.
    pub value: Expr,
}

/// An entry of a map.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Whether an optional value without a content is left out: `{?a: b}`.
    pub is_optional: bool,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
}

/// A macro that evaluates expressions for each item of a range, or for the content of an optional value.
#[derive(Debug, Clone)]
pub(crate) struct Fold {
    /// The macro.
    pub kind: FoldKind,
    /// The list, the map, or the optional value.
    pub range: Expr,
    /// The variables: an item or a key, or both an index and an item, or a key and a value.
    pub variables: Vec<ArcStr>,
    /// The condition under which an item takes part.
    pub condition: Option<Expr>,
    /// The expression of an item; for `filter`, the condition itself.
    pub body: Expr,
}

/// The macros that bind variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldKind {
    /// `all`
    All,
    /// `exists`
    Exists,
    /// `exists_one` and `existsOne`
    ExistsOne,
    /// `filter`
    Filter,
    /// `map` and `transformList`
    List,
    /// `transformMap`
    Map,
    /// `transformMapEntry`
    MapEntries,
    /// `sortBy`
    SortBy,
    /// `optMap`
    OptionalMap,
    /// `optFlatMap`
    OptionalFlatMap,
}
