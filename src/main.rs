//! The `fleetwright` binary.

/// The allocator; `Cargo.toml` states the reason.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    fleetwright::cli::run()
}
