//! sysbench's own options as a script reads them in `sysbench.opt`.

use crate::target::{Endpoint, Target};
use crate::workload::lua::Setting;

/// The options of a run that scripts ask for.
pub(in crate::cli) struct Run {
    pub(in crate::cli) threads: u32,
    /// 0: without limit.
    pub(in crate::cli) events: u64,
    pub(in crate::cli) seconds: f64,
    pub(in crate::cli) rate: f64,
    pub(in crate::cli) report_interval_s: f64,
    pub(in crate::cli) warm_up_s: f64,
    pub(in crate::cli) percentile: f64,
    pub(in crate::cli) prepares: bool,
    pub(in crate::cli) seed: u64,
}

/// All of them, by their names with `_`.
pub(in crate::cli) fn settings(target: &Target, run: &Run) -> Vec<(String, Setting)> {
    let mut all = vec![
        ("threads", Setting::Int(run.threads.into())),
        ("events", whole(run.events)),
        ("time", Setting::Double(run.seconds)),
        ("warmup_time", Setting::Double(run.warm_up_s)),
        ("rate", Setting::Double(run.rate)),
        ("report_interval", Setting::Double(run.report_interval_s)),
        ("percentile", Setting::Double(run.percentile)),
        ("forced_shutdown", text("off")),
        ("debug", Setting::Bool(false)),
        ("validate", Setting::Bool(false)),
        ("verbosity", Setting::Int(3)),
        ("rand_seed", whole(run.seed)),
        (
            "db_ps_mode",
            text(if run.prepares { "auto" } else { "disable" }),
        ),
        ("db_debug", Setting::Bool(false)),
    ];
    let (driver, server) = match target {
        Target::Mysql(server) => ("mysql", Some(server)),
        Target::Postgres(server) => ("pgsql", Some(server)),
        Target::Sqlite(_) => ("sqlite", None),
        Target::Null(_) => ("mysql", None),
    };
    all.push(("db_driver", text(driver)));
    let mut all: Vec<_> = all
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let mut add = |name: &str, value| all.push((format!("{driver}_{name}"), value));
    match server {
        Some(server) => {
            add("user", text(&server.user));
            add("db", text(&server.database));
            match &server.endpoint {
                Endpoint::Unix(path) => {
                    add("host", text("localhost"));
                    add("socket", text(&path.display().to_string()));
                }
                Endpoint::Tcp { host, port } => {
                    add("host", text(host));
                    add("port", Setting::Int((*port).into()));
                }
            }
        }
        None if driver == "mysql" => add("db", text("null")),
        None => {}
    }
    all
}

fn text(text: &str) -> Setting {
    Setting::Text(text.to_owned())
}

fn whole(number: u64) -> Setting {
    Setting::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
