//! A worker process, which does the work of the program.
//!
//! In Rust, a failed allocation and a stack overflow abort the process, and no code can catch them. A hostile repository
//! must not decide the exit code, so a second process does the work, and the first one reports how it ended. A bounded
//! allocator in the same process covers allocations only, and its counter costs time in every allocation.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The end of a worker process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The worker ended with an exit code of this program.
    Code(u8),
    /// The worker was aborted; for example `signal: 6 (SIGABRT)`.
    Aborted(String),
}

/// A worker process. The program must call [`end_with_parent`].
#[derive(Debug)]
pub struct Worker(Command);

impl Worker {
    /// Creates a process of a program with arguments.
    pub fn new(program: &Path, arguments: impl Iterator<Item = OsString>) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        Self(command)
    }

    /// Sets an environment variable.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.env(name, value);
    }

    /// Removes an environment variable.
    pub fn remove(&mut self, name: &OsStr) {
        self.0.env_remove(name);
    }

    /// Runs the process, and waits for its end.
    pub fn run(mut self) -> io::Result<WorkerEnd> {
        Ok(wait(self.0.spawn()?)?.0)
    }

    /// Runs the process without visible output, and returns its end and the text of its standard error.
    pub fn read(mut self) -> io::Result<(WorkerEnd, String)> {
        wait(self.0.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
    }
}

fn wait(mut worker: Child) -> io::Result<(WorkerEnd, String)> {
    // `wait` would close the standard input, which is open for as long as this process lives.
    let lifeline = worker.stdin.take();
    let mut text = Vec::new();
    if let Some(mut stderr) = worker.stderr.take() {
        stderr.read_to_end(&mut text)?;
    }
    let status = worker.wait()?;
    drop(lifeline);
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code <= 2);
    let end = code.map_or_else(|| WorkerEnd::Aborted(status.to_string()), WorkerEnd::Code);
    Ok((end, String::from_utf8_lossy(&text).into_owned()))
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
    exit_above(limit, u64::MAX)
}

/// The time between two measurements of the memory.
const INTERVAL: Duration = Duration::from_millis(20);

/// Ends this process as [`exit_after`] does, or when its memory grows by a number of bytes.
///
/// The limit of the address space is for the whole process. A single step of a template that doubles a value should end
/// long before.
pub fn exit_above(limit: Duration, growth: u64) -> impl Drop {
    let (guard, waiting) = mpsc::channel::<()>();
    thread::spawn(move || {
        let (start, before) = (Instant::now(), resident_memory());
        loop {
            let left = limit.saturating_sub(start.elapsed());
            // Only Linux shows the memory.
            let pause = if before.is_some() && growth < u64::MAX { left.min(INTERVAL) } else { left };
            if waiting.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let grown = before.zip(resident_memory()).map_or(0, |(before, now)| now.saturating_sub(before));
            if grown > growth || start.elapsed() >= limit {
                std::process::exit(LATE);
            }
        }
    });
    Deadline(guard)
}

/// The resident memory of this process in bytes, where the operating system shows it.
fn resident_memory() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    #[cfg(unix)]
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    #[cfg(not(unix))]
    let page = 4096;
    Some(pages.saturating_mul(page))
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
