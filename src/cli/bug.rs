//! Reports a panic as a bug in fleetwright.

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use super::exit::Exit;
use crate::report::one_line;

/// Runs the program. Reports a panic and returns [`Exit::Failed`].
pub(super) fn guard(program: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "{}", message(info));
    }));
    panic::catch_unwind(AssertUnwindSafe(program)).unwrap_or_else(|_| Exit::Failed.into())
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let what = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map_or_else(|| "an unknown location".to_owned(), ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "error: this is a bug in fleetwright, not in your files\n\
         help: please report the bug with the command, the files that it read, and this line:\n  \
         fleetwright {version}: {} at {place}",
        one_line(what.unwrap_or("a panic without a message"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_as_a_bug_and_exits_two() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let _ = sender.send(message(info));
        }));
        let caught = panic::catch_unwind(|| panic!("the mast broke"));
        panic::set_hook(before);
        assert!(caught.is_err());
        // Other tests may panic meanwhile, so the hook may receive several messages.
        let report = receiver.try_iter().find(|report| report.contains("the mast broke")).unwrap();
        assert!(report.starts_with("error: this is a bug in fleetwright") && report.contains("bug.rs"), "{report}");
        assert_eq!(format!("{:?}", ExitCode::from(Exit::Failed)), format!("{:?}", ExitCode::from(2)));
    }
}
