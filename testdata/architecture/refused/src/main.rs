//! A binary that does more than call `cli`.

fn main() -> std::process::ExitCode {
    fleetwright::disk::read(std::env::args());
    fleetwright::cli::run()
}
