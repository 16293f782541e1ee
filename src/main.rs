//! The `fleetwright` binary.

fn main() -> std::process::ExitCode {
    fleetwright::cli::run()
}
