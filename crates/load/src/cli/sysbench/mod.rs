//! `diskproof-load sysbench …`: sysbench's command line, as the options of ours that it stands for.

mod command_line;

use std::net::Ipv6Addr;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::Stop;
use super::args::{
    Arrivals, Crowd, Load, MOST_CLIENTS, Output, Protocol, Reach, percentile, positive_seconds,
    rate, report_interval, seconds,
};
use super::lua::args::LuaArgs;
use super::lua::{self, say};
use super::within::number;
use crate::target::{Null, Target};
use crate::workload::distribution::Choice;
use command_line::CommandLine;

/// Without an end of its own, a run ends when a person ends it.
const ENDLESS: Duration = Duration::from_secs(365 * 86_400);

/// sysbench has no limit of memory; this one is for each client.
const MEMORY_MIB: u32 = 1024;

/// Where a MySQL server's socket is, if nobody says it.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

#[derive(Debug, Clone, Args)]
pub(super) struct SysbenchArgs {
    /// What you would type behind `sysbench`: [OPTIONS] SCRIPT [OPTIONS] run|prepare|cleanup|…
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<String>,
}

impl SysbenchArgs {
    /// The longest time that the script may compute; none if the words are refused anyway.
    pub(super) fn script_limit(&self) -> Duration {
        let line = CommandLine::read(&self.words);
        line.and_then(|line| line.script_limit())
            .unwrap_or_default()
    }
}

pub(super) fn run(args: &SysbenchArgs) -> Result<(), Stop> {
    if args.words.iter().any(|word| word == "--version") {
        let own = env!("CARGO_PKG_VERSION");
        say(&format!(
            "sysbench 1.0.20 (as diskproof-load {own} runs it)\n"
        ));
        return Ok(());
    }
    let line = CommandLine::read(&args.words).map_err(Stop::Arguments)?;
    let load = line.load().map_err(Stop::Arguments)?;
    let lua = line.lua().map_err(Stop::Arguments)?;
    let reach = Reach {
        any_database: line.is_on("any-database"),
    };
    let target = line.target()?;
    if line.command == "run" {
        return lua::run_on(target, &lua, &reach, &load);
    }
    lua::once_on(target, &lua, &reach, &line.command, load.crowd.clients)
}

impl CommandLine {
    fn script_limit(&self) -> Result<Duration, String> {
        self.read_by("script-limit", positive_seconds)
    }

    fn lua(&self) -> Result<LuaArgs, String> {
        Ok(LuaArgs {
            script: self.test.clone().into(),
            protocol: match self.text("db-ps-mode") {
                Some("disable") => Protocol::Text,
                _ => Protocol::Prepared,
            },
            distribution: self.distribution()?,
            seed: Some(self.number::<u64>("rand-seed")?).filter(|&seed| seed > 0),
            trust_script: self.is_on("trust-script"),
            script_memory: MEMORY_MIB,
            script_limit: self.script_limit()?,
            given: self.given.clone(),
        })
    }

    fn load(&self) -> Result<Load, String> {
        let clients = self.read_by("threads", |text| number(text, &(1..=MOST_CLIENTS)))?;
        // 0 stands for none.
        let some = |name: &str| self.text(name).is_some_and(|text| text != "0");
        let transactions = Some(self.number::<u64>("events")?).filter(|&events| events > 0);
        let end = self.read_by("time", seconds)?;
        let ignored = if self.text("db-driver") == Some("pgsql") {
            "pgsql-ignore-errors"
        } else {
            "mysql-ignore-errors"
        };
        Ok(Load {
            crowd: Crowd {
                clients,
                workers: None,
                dilation: 1,
            },
            seconds: (!end.is_zero())
                .then_some(end)
                .or(transactions.is_none().then_some(ENDLESS)),
            transactions,
            warm_up: self.read_by("warmup-time", seconds)?,
            retry: match self.text(ignored).unwrap_or_default() {
                "" => vec!["none".to_owned()],
                codes => codes
                    .split(',')
                    .map(|code| code.trim().to_owned())
                    .collect(),
            },
            rate: some("rate")
                .then(|| self.read_by("rate", rate))
                .transpose()?,
            arrivals: Arrivals::Poisson,
            output: Output {
                report_interval: self.read_by("report-interval", report_interval)?,
                percentiles: some("percentile")
                    .then(|| self.read_by("percentile", percentile))
                    .transpose()?
                    .into_iter()
                    .collect(),
                json: false,
                lockstep: false,
            },
        })
    }

    fn distribution(&self) -> Result<Choice, String> {
        match self.text("rand-type").unwrap_or_default() {
            "special" => Ok(Choice::Special1020),
            "uniform" => Ok(Choice::Uniform),
            "gaussian" => Ok(Choice::Gaussian),
            "pareto" => Ok(Choice::Pareto),
            "zipfian" => Ok(Choice::Zipfian),
            other => Err(format!(
                "--rand-type={other}: known are special, uniform, gaussian, pareto and zipfian"
            )),
        }
    }

    /// The database that the options name.
    fn target(&self) -> Result<Target, Stop> {
        if self.is_on("mysql-dry-run") {
            return Ok(Target::Null(Null::default()));
        }
        let text = |name: &str| self.text(name).unwrap_or_default();
        let (scheme, prefix) = match text("db-driver") {
            "mysql" => ("mysql", "mysql"),
            "pgsql" => ("postgresql", "pgsql"),
            other => {
                return Err(Stop::Arguments(format!(
                    "--db-driver={other}: known are mysql and pgsql; for SQLite use `diskproof-load run lua`"
                )));
            }
        };
        let own = |name: &str| text(&format!("{prefix}-{name}")).to_owned();
        let host = own("host");
        if host.contains(',') {
            return Err(Stop::Arguments(format!(
                "--{prefix}-host={host}: one host is possible here"
            )));
        }
        let socket = self.socket(prefix, &host);
        let wrong = |what: &str| Stop::Arguments(format!("--{prefix}-{what} makes no address"));
        let mut url = Url::parse(&format!("{scheme}://host/")).map_err(|_| wrong("host"))?;
        if host.parse::<Ipv6Addr>().is_ok() {
            url.set_host(Some(&format!("[{host}]")))
        } else if !host.starts_with('/') {
            url.set_host(Some(&host))
        } else {
            Ok(())
        }
        .map_err(|_| wrong("host"))?;
        let port: u16 = self
            .number(&format!("{prefix}-port"))
            .map_err(Stop::Arguments)?;
        url.set_port(Some(port)).map_err(|()| wrong("port"))?;
        let encoded = |name: &str| utf8_percent_encode(&own(name), NON_ALPHANUMERIC).to_string();
        url.set_username(&encoded("user"))
            .map_err(|()| wrong("user"))?;
        url.set_path(&encoded("db"));
        if let Some(socket) = socket {
            let name = if prefix == "pgsql" { "host" } else { "socket" };
            url.query_pairs_mut().append_pair(name, &socket);
        }
        if prefix == "mysql" {
            let mut options = url.query_pairs_mut();
            options.append_pair("ssl-mode", &self.ssl_mode());
            if let Some(file) = self.text("mysql-ssl-ca") {
                options.append_pair("ssl-ca", file);
            }
        }
        if let Some(mode) = self.text("pgsql-sslmode").filter(|_| prefix == "pgsql") {
            url.query_pairs_mut().append_pair("sslmode", mode);
        }
        let password = self
            .text(&format!("{prefix}-password"))
            .map(str::to_owned)
            .or_else(|| std::env::var("DISKPROOF_PASSWORD").ok());
        Ok(Target::parse(url.as_str(), password)?)
    }

    /// Encryption as MySQL's clients name it: sysbench 1.0 has on and off, 1.1 has their own words in
    /// capitals.
    fn ssl_mode(&self) -> String {
        match self.text("mysql-ssl").unwrap_or_default() {
            _ if self.is_on("mysql-ssl") => "required".to_owned(),
            "off" => "disabled".to_owned(),
            mode => mode.to_ascii_lowercase().replace('_', "-"),
        }
    }

    /// The socket that is used instead of the host: as the servers' own libraries choose it.
    fn socket(&self, prefix: &str, host: &str) -> Option<String> {
        if prefix == "pgsql" {
            return host.starts_with('/').then(|| host.to_owned());
        }
        let given = self.text("mysql-socket").map(str::to_owned);
        given.or_else(|| {
            let mut known = SOCKETS.iter().filter(|path| Path::new(path).exists());
            let found = known.next().filter(|_| host == "localhost")?;
            Some((*found).to_owned())
        })
    }
}
