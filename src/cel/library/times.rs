//! Parts of timestamps and durations.

use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::Timestamp;
use crate::cel::value::Value;

const DATE: &[&str] = &["timestamp.() int", "timestamp.(string) int"];
const CLOCK: &[&str] = &["timestamp.() int", "timestamp.(string) int", "duration.() int"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("getFullYear", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).year))
    }),
    Function::new("getMonth", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).month - 1))
    }),
    Function::new("getDayOfYear", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).day_of_year))
    }),
    Function::new("getDayOfMonth", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).day - 1))
    }),
    Function::new("getDate", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).day))
    }),
    Function::new("getDayOfWeek", ALWAYS, DATE, |arguments, _| {
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).weekday))
    }),
    Function::new("getHours", ALWAYS, CLOCK, |arguments, budget| {
        clock(arguments, budget, |second| second / 3600, 3_600_000_000_000)
    }),
    Function::new("getMinutes", ALWAYS, CLOCK, |arguments, budget| {
        clock(arguments, budget, |second| second / 60 % 60, 60_000_000_000)
    }),
    Function::new("getSeconds", ALWAYS, CLOCK, |arguments, budget| {
        clock(arguments, budget, |second| second % 60, 1_000_000_000)
    }),
    Function::new("getMilliseconds", ALWAYS, CLOCK, |arguments, _| {
        if let [Value::Duration(duration)] = arguments {
            return Ok(Value::Int(duration.0 / 1_000_000));
        }
        let (time, zone) = timestamp(arguments)?;
        Ok(Value::Int(time.date(zone).nanosecond / 1_000_000))
    }),
];

/// A part of the time of day, or the length of a duration in a unit.
fn clock(arguments: &[Value], _: &mut Budget, part: fn(i64) -> i64, unit: i64) -> Result<Value, Failure> {
    if let [Value::Duration(duration)] = arguments {
        return Ok(Value::Int(duration.0 / unit));
    }
    let (time, zone) = timestamp(arguments)?;
    Ok(Value::Int(part(time.date(zone).second)))
}

/// The timestamp and the offset of the time zone in seconds.
fn timestamp(arguments: &[Value]) -> Result<(Timestamp, i64), Failure> {
    match arguments {
        [Value::Timestamp(time)] => Ok((*time, 0)),
        [Value::Timestamp(time), Value::String(zone)] => Ok((*time, offset(zone)?)),
        _ => Err(Failure::no_overload()),
    }
}

/// The offset of a time zone in seconds. The rules of named zones are not known here, so their result is unknown.
fn offset(zone: &str) -> Result<i64, Failure> {
    if matches!(zone, "" | "UTC" | "Etc/UTC" | "GMT" | "Etc/GMT" | "Zulu") {
        return Ok(0);
    }
    let Some((hours, minutes)) = zone.split_once(':') else {
        let is_name = zone.starts_with(|c: char| c.is_ascii_uppercase())
            && zone.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c));
        return Err(if is_name { Failure::Unknown } else { Failure::error(format!("unknown time zone {zone}")) });
    };
    let number = |text: &str| {
        text.parse::<i64>()
            .ok()
            .filter(|number| number.abs() < 1_000)
            .ok_or_else(|| Failure::error(format!("unknown time zone {zone}")))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
    Ok(minutes * 60)
}
