//! sysbench's own options as a script reads them in `sysbench.opt`.

use crate::target::{Endpoint, Server, Target};
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
        ("histogram", Setting::Bool(false)),
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
    match target {
        Target::Mysql(server) => {
            all.push(("db_driver", text("mysql")));
            all.extend(of_server(
                server,
                [
                    "mysql_host",
                    "mysql_port",
                    "mysql_socket",
                    "mysql_user",
                    "mysql_db",
                ],
            ));
        }
        Target::Postgres(server) => {
            all.push(("db_driver", text("pgsql")));
            all.extend(of_server(
                server,
                [
                    "pgsql_host",
                    "pgsql_port",
                    "pgsql_socket",
                    "pgsql_user",
                    "pgsql_db",
                ],
            ));
        }
        Target::Sqlite(_) => all.push(("db_driver", text("sqlite"))),
        Target::Null(_) => {
            all.push(("db_driver", text("mysql")));
            all.push(("mysql_db", text("null")));
        }
    }
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn of_server(server: &Server, names: [&'static str; 5]) -> Vec<(&'static str, Setting)> {
    let [host, port, socket, user, database] = names;
    let mut all = vec![
        (user, text(&server.user)),
        (database, text(&server.database)),
    ];
    match &server.endpoint {
        Endpoint::Unix(path) => {
            all.push((host, text("localhost")));
            all.push((socket, text(&path.display().to_string())));
        }
        Endpoint::Tcp {
            host: name,
            port: number,
        } => {
            all.push((host, text(name)));
            all.push((port, Setting::Int((*number).into())));
        }
    }
    all
}

fn text(text: &str) -> Setting {
    Setting::Text(text.to_owned())
}

fn whole(number: u64) -> Setting {
    Setting::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
