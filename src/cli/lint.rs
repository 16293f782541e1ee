//! `lint`.
use super::error::Error;
use super::exit::Exit;
use super::streams::Streams;

/// Judges.
#[derive(Debug, clap::Args)]
#[command(after_help = concat!("Examples:\n\n", "Exit codes:\n"))]
pub(super) struct Args {}
pub(super) fn run(_: &Args, _: &mut Streams) -> Result<Exit, Error> {
    Ok(Exit::Clean)
}
