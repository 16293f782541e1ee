//! `policy show`: a built-in policy as it is valid on a cluster.

use std::collections::BTreeMap;

use crate::base::similar_names::did_you_mean;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::streams::Streams;
use crate::policy::{BUILT_IN, BuiltIn, built_in};
use crate::yaml::{Node, print};

pub(super) fn run(name: &str, parameters: &[String], streams: &mut Streams) -> Result<Exit, Error> {
    let policy = built_in(name).ok_or_else(|| {
        let help = match did_you_mean(name, BUILT_IN.iter().map(|policy| policy.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "run `fleetwright policy list` for the names".to_owned(),
        };
        Error::with_help(format!("there is no built-in policy `{name}`"), help)
    })?;
    let values = values(policy, parameters)?;
    if values.is_empty() {
        write!(streams.out(), "{}", policy.file.text())?;
        return Ok(Exit::Clean);
    }
    let nodes: Vec<Node> = policy.objects_with(&values).into_iter().map(|object| object.node).collect();
    write!(streams.out(), "{}", print(&nodes))?;
    Ok(Exit::Clean)
}

/// Reads the parameters as `NAME=VALUE`.
fn values(policy: &BuiltIn, parameters: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let known = policy.parameters();
    let mut values = BTreeMap::new();
    for parameter in parameters {
        let Some((name, value)) = parameter.split_once('=') else {
            let message = format!("`{parameter}` has no value");
            return Err(Error::with_help(message, "write the parameter as `NAME=VALUE`"));
        };
        if !known.contains_key(name) {
            let names: Vec<&str> = known.keys().copied().collect();
            let help = if names.is_empty() {
                "the policy has no parameters".to_owned()
            } else {
                format!("parameters: {}", names.join(", "))
            };
            return Err(Error::with_help(format!("policy `{}` has no parameter `{name}`", policy.name), help));
        }
        values.insert(name.to_owned(), value.to_owned());
    }
    Ok(values)
}
