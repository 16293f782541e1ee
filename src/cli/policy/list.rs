//! `policy list`: the built-in policies.

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::streams::Streams;
use crate::policy::BUILT_IN;

pub(super) fn run(streams: &mut Streams) -> Result<Exit, Error> {
    let width = BUILT_IN.iter().map(|policy| policy.name.len()).max().unwrap_or_default();
    for policy in BUILT_IN.iter() {
        let parameters: Vec<String> =
            policy.parameters().iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let parameters =
            if parameters.is_empty() { String::new() } else { format!(" (parameters: {})", parameters.join("; ")) };
        writeln!(streams.out(), "{:width$}  {}{parameters}", policy.name, policy.description)?;
    }
    Ok(Exit::Clean)
}
