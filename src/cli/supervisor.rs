//! Runs the program in a worker process, so that every input ends with an exit code of [`Exit`](super::exit::Exit).

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use super::error::Error;
use super::streams::Streams;
use crate::disk::{self, Worker, WorkerEnd};
use crate::report::one_line;
use crate::text::Span;

/// The environment variable that marks a worker.
const MARK: &str = "FLEETWRIGHT_WORKER";

/// The environment variable with the limit of the address space in GiB.
const MEMORY: &str = "FLEETWRIGHT_MEMORY";

/// The limit of processor time, in seconds for each GiB of memory. A fleet of a thousand clusters needs some seconds.
const SECONDS: u64 = 60;

/// The limit of the whole duration, in seconds for each GiB of memory. A worker may wait for something else than the
/// processor, such as a file system that does not answer.
const WHOLE_SECONDS: u64 = 120;

/// The default limit of the address space in GiB, ten times the need of a fleet of a thousand clusters.
const DEFAULT_GIB: u64 = 4;

/// The variable of the allocator of a worker: it uses no large pages. A small repository needs a third less memory, and a fleet of
/// a thousand clusters a tenth less, in the same time.
const ALLOCATOR: (&str, &str) = ("MIMALLOC_ALLOW_THP", "0");

/// The environment variable of a worker that searches for the line of a template: the number of a render, or zero.
const SEARCH: &str = "FLEETWRIGHT_SEARCH";

/// The maximum duration of such a worker.
const SEARCH_TIME: Duration = Duration::from_secs(5);

/// The maximum growth of the memory of such a worker in bytes.
const SEARCH_GROWTH: u64 = 768 << 20;

/// The start of a line with a reached position in the standard error of such a worker.
const REACHED: &str = "reached ";

/// The limits of such a worker: the address space in bytes, and the processor time in seconds.
const SEARCH_LIMITS: (u64, u64) = (2 << 30, 5);

/// Runs the program in a worker process. Runs it in this process if no other can be started.
pub(super) fn supervise(program: impl FnOnce() -> ExitCode) -> ExitCode {
    if env::var_os(MARK).is_some() {
        disk::end_with_parent();
        let (memory, seconds) = match searched_render() {
            Some(_) => SEARCH_LIMITS,
            None => (gib().saturating_mul(1 << 30), SECONDS.saturating_mul(gib())),
        };
        disk::limit_resources(memory, seconds);
        let _deadline = match searched_render() {
            Some(_) => disk::exit_above(SEARCH_TIME, SEARCH_GROWTH),
            None => disk::exit_above(Duration::from_secs(WHOLE_SECONDS.saturating_mul(gib())), u64::MAX),
        };
        return program();
    }
    match worker().and_then(Worker::run) {
        Ok(WorkerEnd::Code(code)) => ExitCode::from(code),
        Ok(WorkerEnd::Aborted(how)) => {
            let error = line_of_template().unwrap_or_else(|| exhausted(&how));
            error.report(&mut Streams::standard(anstream::ColorChoice::Auto)).into()
        }
        Err(_) => program(),
    }
}

fn exhausted(how: &str) -> Error {
    if how.contains("SIGXFSZ") {
        let message = format!("a file exceeds the limit of the shell ({how}); the result is incomplete");
        return Error::with_help(message, "raise the limit with `ulimit -f`");
    }
    let limit = gib();
    let message = format!("the memory, the stack or the time is exhausted ({how}); the result is incomplete");
    let help = format!(
        "look for a file in the repository that is unusually large or nested; for a large fleet, raise the limits of \
         memory and time with `{MEMORY}={}` (GiB, now {limit})",
        limit.saturating_mul(2)
    );
    Error::with_help(message, help)
}

/// This program with the same arguments, as a worker.
fn worker() -> io::Result<Worker> {
    let mut worker = Worker::new(&env::current_exe()?, env::args_os().skip(1));
    worker.set(MARK, "1");
    let (name, value) = ALLOCATOR;
    if env::var_os(name).is_none() {
        worker.set(name, value);
    }
    // `git` reads programs and repositories from its variables. A hook sets them for another repository.
    let of_git = env::vars_os().map(|(name, _)| name).filter(|name| name.as_encoded_bytes().starts_with(b"GIT_"));
    of_git.for_each(|variable| worker.remove(&variable));
    Ok(worker)
}

/// The error about the template that exhausts the memory or the time; `None` if it is something else.
fn line_of_template() -> Option<Error> {
    let search = |of: &str| {
        let mut worker = worker().ok()?;
        worker.set(SEARCH, of);
        // The renders have the same order in each process.
        worker.set("RAYON_NUM_THREADS", "1");
        let (end, text) = worker.read().ok()?;
        let (number, place) = text.lines().rev().find_map(|line| line.strip_prefix(REACHED))?.split_once(' ')?;
        matches!(end, WorkerEnd::Aborted(_)).then(|| (number.to_owned(), place.to_owned()))
    };
    let (number, _) = search("0")?;
    let (_, place) = search(&number)?;
    let message = format!("{place}: this line of a template exhausts the memory or the time of a render");
    let help = "a value that is joined with itself in a loop doubles in each step; use the value once";
    Some(Error::with_help(message, help))
}

/// The number of the render whose lines this process reports, or zero; `None` if this process does not search.
pub(super) fn searched_render() -> Option<usize> {
    env::var(SEARCH).ok().and_then(|of| of.parse().ok())
}

/// Reports a line of a template to the process that waits for this process.
pub(super) fn report_line(number: usize, path: &str, at: &Span) {
    // The main thread holds the lock of the standard output.
    let _ = writeln!(io::stderr(), "{REACHED}{number} {}:{}", one_line(path), at.position().line);
}

/// The maximum growth of the memory while a layout is rendered, in bytes.
pub(super) fn growth_of_render() -> u64 {
    gib().saturating_mul(1 << 28)
}

fn gib() -> u64 {
    let limit = env::var(MEMORY).ok().and_then(|text| text.parse().ok());
    limit.filter(|limit| *limit > 0).unwrap_or(DEFAULT_GIB)
}
