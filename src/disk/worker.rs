//! A worker process, which does the work of the program.
//!
//! In Rust, a failed allocation and a stack overflow abort the process, and no code can catch them. A hostile repository
//! must not decide the exit code, so a second process does the work, and the first one reports how it ended. A bounded
//! allocator in the same process covers allocations only, and its counter costs time in every allocation.

use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The end of a worker process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The worker ended with an exit code of this program.
    Code(u8),
    /// The worker was aborted; for example `signal: 6 (SIGABRT)`.
    Aborted(String),
}

/// Runs a command, and waits for its end. The program must call [`end_with_parent`].
pub fn run_worker(mut command: Command) -> io::Result<WorkerEnd> {
    Ok(wait(command.stdin(Stdio::piped()).spawn()?)?.0)
}

/// Runs a command without visible output, and returns its end with the text that it prints.
pub fn read_worker(mut command: Command) -> io::Result<(WorkerEnd, String)> {
    wait(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

fn wait(mut worker: Child) -> io::Result<(WorkerEnd, String)> {
    // `wait` would close the standard input, which is open for as long as this process lives.
    let lifeline = worker.stdin.take();
    let mut text = String::new();
    if let Some(mut stdout) = worker.stdout.take() {
        stdout.read_to_string(&mut text)?;
    }
    let status = worker.wait()?;
    drop(lifeline);
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code <= 2);
    Ok((code.map_or_else(|| WorkerEnd::Aborted(status.to_string()), WorkerEnd::Code), text))
}

/// Ends this process when its parent ends, so that a killed run does not continue in the background.
///
/// No command reads the standard input.
pub fn end_with_parent() {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(2);
    });
}

/// The exit code of a worker whose time is over. It is not an exit code of the program.
const LATE: i32 = 3;

/// Ends this process, which is a worker, unless the returned guard is dropped in time.
///
/// A template cannot be interrupted: a comparison of two nested lists is a single step for its interpreter.
pub fn exit_after(limit: Duration) -> impl Drop {
    let (guard, waiting) = mpsc::channel::<()>();
    thread::spawn(move || {
        if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            std::process::exit(LATE);
        }
    });
    Deadline(guard)
}

/// The guard of [`exit_after`]. The end of the channel ends the thread.
struct Deadline(#[expect(dead_code, reason = "only its drop matters")] mpsc::Sender<()>);

impl Drop for Deadline {
    fn drop(&mut self) {}
}

/// Limits the address space in bytes and the processor time in seconds, where the operating system supports it.
pub fn limit_resources(bytes: u64, seconds: u64) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        for (resource, most) in [(Resource::As, bytes), (Resource::Cpu, seconds)] {
            let known = getrlimit(resource);
            let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
            // Without a limit, the operating system ends the process when the memory of the machine is exhausted.
            let _ = setrlimit(resource, Rlimit { current: lower(known.current), ..known });
        }
    }
    #[cfg(not(unix))]
    let _ = (bytes, seconds);
}
