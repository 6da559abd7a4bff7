//! Options with a range, which the description of the workloads has, too.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::Arg;
use clap::builder::ArgExt;
use serde_json::Value;

/// The least and the most that an option takes.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    pub(super) least: Value,
    pub(super) most: Value,
}

impl ArgExt for Bounds {}

/// `#[arg(within(1..=10_u32))]`: numbers of the option's type from the first to the last.
pub(super) trait Within {
    fn within<T>(self, range: RangeInclusive<T>) -> Self
    where
        T: FromStr + PartialOrd + Display + Clone + Into<Value> + Send + Sync + 'static;
}

impl Within for Arg {
    fn within<T>(self, range: RangeInclusive<T>) -> Self
    where
        T: FromStr + PartialOrd + Display + Clone + Into<Value> + Send + Sync + 'static,
    {
        let bounds = Bounds {
            least: range.start().clone().into(),
            most: range.end().clone().into(),
        };
        self.value_parser(move |text: &str| number(text, &range))
            .add(bounds)
    }
}

/// A number of a range.
pub(super) fn number<T>(text: &str, range: &RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    match text.parse::<T>() {
        Ok(number) if range.contains(&number) => Ok(number),
        // It may be a URL with its password.
        Err(_) if text.parse::<f64>().is_err() => Err("that is not a number".to_owned()),
        _ => Err(format!(
            "{text} is not from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_the_type_and_within_the_range() {
        let parsed = |text: &str| {
            let arg = Arg::new("n").long("n").within(2..=10_u16);
            let command = clap::Command::new("x").arg(arg);
            let matches = command.try_get_matches_from(["x", &format!("--n={text}")]);
            matches.map(|matches| matches.get_one::<u16>("n").copied())
        };
        assert_eq!(parsed("10").unwrap(), Some(10));
        for wrong in ["1", "11", "-3", "70000", "2.5", "x", ""] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        let error = parsed("11").unwrap_err().to_string();
        assert!(error.contains("11 is not from 2 to 10"), "{error}");
    }
}
