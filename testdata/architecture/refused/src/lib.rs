//! A crate that does everything the house forbids.

pub mod text;

pub mod yaml;

pub mod rules;

pub mod disk;

pub mod cli;
