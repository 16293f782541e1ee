//! The binary.

fn main() -> std::process::ExitCode {
    fleetwright::cli::run()
}
