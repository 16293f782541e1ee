//! A crate that keeps to the rules, in every way that looks as if it did not.

pub mod text;

pub mod yaml;

pub mod disk;

pub mod cli;
