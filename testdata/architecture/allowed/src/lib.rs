//! A crate that keeps to the rules, also where it looks as if it broke them.

pub mod text;

pub mod yaml;

pub mod engine;

pub mod disk;

pub mod cli;
