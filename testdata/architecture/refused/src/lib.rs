//! A crate that breaks every rule.

pub mod text;

pub mod yaml;

pub mod rules;

pub mod engine;

pub mod disk;

pub mod cli;
