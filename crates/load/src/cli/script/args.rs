//! The script workload's own options.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol, Reach};
use crate::workload::script::Value;

/// A file with its weight, as `FILE` or `FILE@WEIGHT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct WeightedFile {
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) weight: u32,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Variables {
    /// A number (or true, false, null) that a variable begins with; may be given again.
    /// Known without it: `client_id`, `scale` (1), `random_seed`, `default_seed`
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    pub(in crate::cli) all: Vec<(String, Value)>,
}

/// The scripts that clients run, and on which database.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ScriptArgs {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    #[command(flatten)]
    pub(in crate::cli) reach: Reach,

    /// A script in pgbench's language (docs/scripts.md); each run of it is a transaction. Given
    /// again with weights, as in `--file hot.sql@9 --file cold.sql`, one is drawn each time
    #[arg(long = "file", value_name = "FILE[@WEIGHT]", required = true, value_parser = weighted_file)]
    pub(in crate::cli) files: Vec<WeightedFile>,

    #[command(flatten)]
    pub(in crate::cli) variables: Variables,

    /// Put variables into the statement's text, or bind them to statements prepared once
    #[arg(long, default_value = "text")]
    pub(in crate::cli) protocol: Protocol,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunScript {
    #[command(flatten)]
    pub(in crate::cli) script: ScriptArgs,

    /// The same seed gives the same draws [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,

    #[command(flatten)]
    pub(in crate::cli) load: Load,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CheckScript {
    #[command(flatten)]
    pub(in crate::cli) script: ScriptArgs,

    /// Refuse only what no table could mend: the tables are not there yet
    #[arg(long)]
    pub(in crate::cli) syntax: bool,
}

/// Scripts that are run once, on one connection.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct OnceScript {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,

    #[command(flatten)]
    pub(in crate::cli) reach: Reach,

    /// A script that is run once, statement by statement; several in the order given
    #[arg(long = "file", value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) variables: Variables,

    /// The same seed gives the same draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) seed: u64,
}

/// A name with an @ needs a weight after it only if it ends in @ and digits.
fn weighted_file(text: &str) -> Result<WeightedFile, String> {
    let (path, weight) = match text.rsplit_once('@') {
        Some((path, weight)) if weight.bytes().all(|byte| byte.is_ascii_digit()) => {
            let number = weight.parse();
            (
                path,
                number.map_err(|_| format!("{weight:?} is not a weight"))?,
            )
        }
        _ => (text, 1),
    };
    if path.is_empty() {
        return Err("the file's name is missing".into());
    }
    Ok(WeightedFile {
        path: path.into(),
        weight,
    })
}

fn variable(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a variable is given as NAME=VALUE")?;
    if !Value::is_name(name) {
        return Err(format!(
            "{name:?} is not a name; use letters, digits and _, and do not start with a digit"
        ));
    }
    let value =
        Value::parse(value).ok_or(format!("{value:?} is not a number, true, false or null"))?;
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_the_last_at() {
        let file = |text: &str| weighted_file(text).map(|file| (file.path, file.weight));
        assert_eq!(file("a.sql"), Ok(("a.sql".into(), 1)));
        assert_eq!(file("a.sql@12"), Ok(("a.sql".into(), 12)));
        assert_eq!(file("a@b.sql"), Ok(("a@b.sql".into(), 1)));
        assert_eq!(file("a@1@0"), Ok(("a@1".into(), 0)));
        for wrong in ["a@", "@1", "a@99999999999"] {
            assert!(file(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn variables_are_names_with_numbers() {
        assert_eq!(variable("rows=10"), Ok(("rows".into(), Value::Int(10))));
        assert_eq!(variable("p=1.5"), Ok(("p".into(), Value::Double(1.5))));
        for wrong in ["rows", "=1", "1a=2", "a b=1", "a=x", "a="] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }
}
