//! The `fleetwright` binary.

/// See `Cargo.toml` for why.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    fleetwright::cli::run()
}
