//! sysbench's own options as a script reads them in `sysbench.opt`.

use crate::cli::args::Load;
use crate::target::{Endpoint, Target};
use crate::workload::lua::Setting;

/// All of them, by their names with `_`; a command has no load.
pub(super) fn settings(
    target: &Target,
    prepares: bool,
    seed: u64,
    clients: u32,
    load: Option<&Load>,
) -> Vec<(String, Setting)> {
    let of = |read: fn(&Load) -> f64| Setting::Double(load.map_or(0.0, read));
    let asked = load.map_or(&[][..], |load| &load.output.percentiles[..]);
    let mut all = vec![
        ("threads", Setting::Int(clients.into())),
        (
            "events",
            whole(load.and_then(|load| load.transactions).unwrap_or(0)),
        ),
        (
            "time",
            of(|load| load.seconds.map_or(0.0, |time| time.as_secs_f64())),
        ),
        ("warmup_time", of(|load| load.warm_up.as_secs_f64())),
        ("rate", of(|load| load.rate.unwrap_or(0.0))),
        (
            "report_interval",
            of(|load| load.output.report_interval.as_secs_f64()),
        ),
        (
            "percentile",
            Setting::Double(asked.first().copied().unwrap_or(95.0)),
        ),
        ("forced_shutdown", text("off")),
        ("debug", Setting::Bool(false)),
        ("validate", Setting::Bool(false)),
        ("verbosity", Setting::Int(3)),
        ("rand_seed", whole(seed)),
        (
            "db_ps_mode",
            text(if prepares { "auto" } else { "disable" }),
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
