//! A panic is a bug of ours: it says so, and what to report.

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use super::exit::Exit;

/// Runs the program; a panic in it is reported and exits like any work that could not be done.
pub(super) fn guard(program: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "{}", message(info));
    }));
    panic::catch_unwind(AssertUnwindSafe(program)).unwrap_or_else(|_| Exit::Failed.into())
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let what = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "error: this is a bug in fleetwright, not in your files\n\
         help: please report it with the command, the file it read, and this line:\n  \
         fleetwright {version}: {} at {place}",
        what.unwrap_or("a panic without a message")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_that_it_is_a_bug_and_exits_two() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let _ = sender.send(message(info));
        }));
        let caught = panic::catch_unwind(|| panic!("the mast broke"));
        panic::set_hook(before);
        assert!(caught.is_err());
        // Other tests may panic meanwhile; ours is among what the hook saw.
        let said = receiver.try_iter().find(|said| said.contains("the mast broke")).unwrap();
        assert!(said.starts_with("error: this is a bug in fleetwright") && said.contains("bug.rs"), "{said}");
        assert_eq!(format!("{:?}", ExitCode::from(Exit::Failed)), format!("{:?}", ExitCode::from(2)));
    }
}
