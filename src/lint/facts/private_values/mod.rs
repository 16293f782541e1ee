//! Private values in plain text. Only this module decides which values are private.
//!
//! A value is private because of its shape (a private key, a token with a known prefix, an address with a password), or
//! because of its name. A name is less certain than a shape.

pub(super) mod encoding;
pub(crate) mod markers;
mod jwt;
mod name;
pub(crate) mod guessable;
pub(crate) mod assignment;
pub(crate) mod private;
pub(crate) mod placeholder;
pub(crate) mod random;
pub(crate) mod shape;
pub(crate) mod address;
pub(crate) mod comment;
mod evidence;
mod lines;
pub(crate) mod quick_check;
pub(crate) mod search;
pub(crate) mod secret;
