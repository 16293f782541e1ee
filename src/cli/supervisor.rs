//! Runs the program in a worker process, so that every input ends with an exit code of [`Exit`](super::exit::Exit).

use std::env;
use std::process::ExitCode;

use super::error::Error;
use super::streams::Streams;
use crate::disk::{self, WorkerEnd};

/// The environment variable that marks a worker.
const MARK: &str = "FLEETWRIGHT_WORKER";

/// The environment variable with the limit of the address space in GiB.
const MEMORY: &str = "FLEETWRIGHT_MEMORY";

/// The limit of processor time, in seconds for each GiB of memory. A fleet of a thousand clusters needs half a minute.
const SECONDS: u64 = 120;

/// The default limit of the address space in GiB, ten times the need of a fleet of a thousand clusters.
const DEFAULT_GIB: u64 = 4;

/// Runs the program in a worker process. Runs it in this process if no other can be started.
pub(super) fn supervise(program: impl FnOnce() -> ExitCode) -> ExitCode {
    if env::var_os(MARK).is_some() {
        disk::end_with_parent();
        disk::limit_resources(gib().saturating_mul(1 << 30), SECONDS.saturating_mul(gib()));
        return program();
    }
    // `git` reads programs and repositories from its variables. A hook sets them for another repository.
    let of_git = env::vars_os().map(|(name, _)| name).filter(|name| name.as_encoded_bytes().starts_with(b"GIT_"));
    let started = env::current_exe().and_then(|path| disk::run_worker(&path, env::args_os().skip(1), MARK, of_git));
    match started {
        Ok(WorkerEnd::Code(code)) => ExitCode::from(code),
        Ok(WorkerEnd::Aborted(how)) => {
            let limit = gib();
            let message = format!("the memory, the stack or the time is exhausted ({how}); the result is incomplete");
            let help = format!(
                "look for a file in the repository that is unusually large or nested; for a large fleet, raise the \
                 limits of memory and time with `{MEMORY}={}` (GiB, now {limit})",
                limit.saturating_mul(2)
            );
            Error::with_help(message, help).report(&mut Streams::standard(anstream::ColorChoice::Auto)).into()
        }
        Err(_) => program(),
    }
}

fn gib() -> u64 {
    let limit = env::var(MEMORY).ok().and_then(|text| text.parse().ok());
    limit.filter(|limit| *limit > 0).unwrap_or(DEFAULT_GIB)
}
