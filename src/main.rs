//! The `fleetwright` binary.

fn main() {}
