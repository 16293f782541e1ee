//! URLs.

use std::collections::BTreeMap;

use super::arguments::text;
use super::function::{ALWAYS, Function};
use crate::cel::failure::Failure;
use crate::cel::notation::Url;
use crate::cel::value::{MapKey, Value};

const PART: &[&str] = &["url.() string"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("url", ALWAYS, &["(string) url"], |arguments, budget| {
        let url = Url::parse(text(arguments, 0, budget)?);
        let url = url.map_err(|why| Failure::error(format!("URL parse error during conversion from string: {why}")))?;
        Ok(Value::Url(url.into()))
    }),
    Function::new("isURL", ALWAYS, &["(string) bool"], |arguments, budget| {
        Ok(Value::Bool(Url::is_valid(text(arguments, 0, budget)?)))
    }),
    Function::new("getScheme", ALWAYS, PART, |arguments, _| url(arguments).map(|url| Value::text(&*url.scheme))),
    Function::new("getHost", ALWAYS, PART, |arguments, _| url(arguments).map(|url| Value::text(&*url.host))),
    Function::new("getHostname", ALWAYS, PART, |arguments, _| url(arguments).map(|url| Value::text(url.hostname()))),
    Function::new("getPort", ALWAYS, PART, |arguments, _| url(arguments).map(|url| Value::text(url.port()))),
    Function::new("getEscapedPath", ALWAYS, PART, |arguments, _| url(arguments).map(|url| Value::text(&*url.path))),
    Function::new("getQuery", ALWAYS, &["url.() map(string, list(string))"], |arguments, budget| {
        let url = url(arguments)?;
        budget.spend(url.query.len())?;
        let pair = |(name, values): (String, Vec<String>)| {
            (MapKey::String(name.into()), Value::list(values.into_iter().map(Value::text)))
        };
        Ok(Value::map(url.parameters().into_iter().map(pair).collect::<BTreeMap<_, _>>()))
    }),
];

fn url(arguments: &[Value]) -> Result<&Url, Failure> {
    match arguments {
        [Value::Url(url)] => Ok(url),
        _ => Err(Failure::no_overload()),
    }
}
