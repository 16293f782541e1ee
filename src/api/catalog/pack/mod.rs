//! The packed schemas of the kinds that the binary knows.
//!
//! A pack is a compressed list of strings, of kinds, and of schemas. Equal strings and schemas are stored once. Opening a
//! pack decompresses it and reads its kinds; a schema is decoded on its first use.

mod bytes;
mod record;
mod packer;
mod open;

pub use open::{Kind, Pack, Run};
pub use packer::{Packer, Resolve};
