//! A worker process, which does the work of the program.
//!
//! In Rust, a failed allocation and a stack overflow abort the process, and no code can catch them. A hostile repository
//! must not decide the exit code, so a second process does the work, and the first one reports how it ended. A bounded
//! allocator in the same process covers allocations only, and its counter costs time in every allocation.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The end of a worker process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The worker ended with an exit code of this program.
    Code(u8),
    /// The worker was aborted; for example `signal: 6 (SIGABRT)`.
    Aborted(String),
}

/// Runs a program with arguments and the environment variable `mark`, and waits for its end.
///
/// The program must call [`end_with_parent`].
pub fn run_worker(program: &Path, arguments: impl Iterator<Item = OsString>, mark: &str) -> io::Result<WorkerEnd> {
    let mut worker = Command::new(program).args(arguments).env(mark, "1").stdin(Stdio::piped()).spawn()?;
    // `wait` would close the standard input, which is open for as long as this process lives.
    let lifeline = worker.stdin.take();
    let status = worker.wait()?;
    drop(lifeline);
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code <= 2);
    Ok(code.map_or_else(|| WorkerEnd::Aborted(status.to_string()), WorkerEnd::Code))
}

/// Ends this process when its parent ends, so that a killed run does not continue in the background.
///
/// No command reads the standard input.
pub fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(2);
    });
}

/// Limits the address space of this process, where the operating system supports it.
pub fn limit_memory(bytes: u64) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let known = getrlimit(Resource::As);
        let lower = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
        // Without the limit, the operating system ends the process when the memory of the machine is exhausted.
        let _ = setrlimit(Resource::As, Rlimit { current: lower(known.current), maximum: lower(known.maximum) });
    }
    #[cfg(not(unix))]
    let _ = bytes;
}
