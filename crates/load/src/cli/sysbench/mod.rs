//! `diskproof-load sysbench …`: sysbench's command line as it stands, and its report beside ours.

mod command_line;
mod report;

use std::io::{BufWriter, stdout};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use url::Url;

use super::Stop;
use super::args::{
    Arrivals, Crowd, Load, MOST_CLIENTS, Output, percentile, positive_seconds, rate,
    report_interval, seconds,
};
use super::connect::{Task, with_driver};
use super::kernel_fence::KernelFence;
use super::lua::general::{self, Run};
use super::lua::hooked::{Counted, Hooked};
use super::lua::source::find;
use super::lua::{OnceTask, Ready, bytes_of_mib};
use super::run::{Kind, run_reported, seed};
use crate::driver::{Dialect, Driver, Protocol};
use crate::plain::Plain;
use crate::target::Target;
use crate::workload::distribution::{Law, Special};
use crate::workload::lua::{self, Laws, LuaOptions};
use crate::workload::sql::Errand;
use command_line::{CommandLine, help};
use report::{Head, SysbenchReport, first_line};

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
#[command(disable_help_flag = true)]
pub(super) struct SysbenchArgs {
    /// What you would type behind `sysbench`: [OPTIONS] SCRIPT [OPTIONS] run|prepare|cleanup|…
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<String>,
}

impl SysbenchArgs {
    /// The longest time that the script may compute; none if the words are refused anyway.
    pub(super) fn script_limit(&self) -> Duration {
        let line = CommandLine::read(&self.words);
        line.and_then(|line| script_limit(&line))
            .unwrap_or_default()
    }
}

fn script_limit(line: &CommandLine) -> Result<Duration, String> {
    line.read_by("script-limit", positive_seconds)
}

pub(super) fn run(args: &SysbenchArgs) -> Result<(), Stop> {
    let asks = |option: &str| args.words.iter().any(|word| word == option);
    if asks("--help") || asks("--version") {
        super::lua::say(&format!("{}\n", first_line()));
        if asks("--help") {
            super::lua::say(&format!("\n{}", help()));
        }
        return Ok(());
    }
    let line = CommandLine::read(&args.words).map_err(Stop::Arguments)?;
    let line = Line::read(line).map_err(Stop::Arguments)?;
    let target = line.target()?;
    let command = line.words.command.clone();
    let found = find(Path::new(&line.words.test)).map_err(|error| {
        Stop::Arguments(format!(
            "{error}; without a script, use `diskproof-load run oltp`; fileio is `kind = \"fileio\"` in a study"
        ))
    })?;
    let trusted = line.words.is_on("trust-script");
    let kernel_fence =
        (!trusted).then(|| KernelFence::new(&target, &found.folders, line.run.threads, MEMORY_MIB));
    let options = LuaOptions {
        script: found.name,
        text: found.text,
        path: found.path,
        folders: found.folders,
        command: command.clone(),
        general: general::settings(&target, &line.run),
        given: line.words.given.clone(),
        dialect: Dialect::Mysql,
        protocol: line.protocol(),
        laws: line.laws().map_err(Stop::Arguments)?,
        seed: line.run.seed,
        trusted,
        memory_limit_bytes: bytes_of_mib(MEMORY_MIB),
        output: lua::Output::Stdout,
        fence: target.fence(Errand::Measured, line.words.is_on("any-database")),
        is_ours: false,
        rows: None,
    };
    let ready = Ready {
        options,
        limit: script_limit(&line.words).map_err(Stop::Arguments)?,
        kernel_fence,
    };
    super::lua::say(&format!("{}\n\n", first_line()));
    if command == "run" {
        return with_driver(target, RunTask { line, ready });
    }
    let clients = line.run.threads;
    with_driver(target, OnceTask { ready, clients })
}

/// The command line with its numbers read.
struct Line {
    words: CommandLine,
    run: Run,
    /// As it was given: 0 stands for another one each time.
    seed_given: u64,
}

impl Line {
    fn read(words: CommandLine) -> Result<Self, String> {
        let seed_given = words.number("rand-seed")?;
        let run = Run {
            threads: words.number("threads")?,
            events: words.number("events")?,
            seconds: words.read_by("time", seconds)?.as_secs_f64(),
            rate: words.read_by("rate", |text| match text {
                "0" => Ok(0.0),
                text => rate(text),
            })?,
            report_interval_s: words
                .read_by("report-interval", report_interval)?
                .as_secs_f64(),
            warm_up_s: words.read_by("warmup-time", seconds)?.as_secs_f64(),
            percentile: words.read_by("percentile", |text| match text {
                "0" => Ok(0.0),
                text => percentile(text),
            })?,
            prepares: words.text("db-ps-mode") != Some("disable"),
            seed: seed(Some(seed_given).filter(|&seed| seed > 0)),
        };
        if !(1..=MOST_CLIENTS).contains(&run.threads) {
            return Err(format!(
                "--threads={}: from 1 to {MOST_CLIENTS} are possible",
                run.threads
            ));
        }
        Ok(Self {
            words,
            run,
            seed_given,
        })
    }

    fn protocol(&self) -> Protocol {
        if self.run.prepares {
            Protocol::Prepared
        } else {
            Protocol::Text
        }
    }

    fn laws(&self) -> Result<Laws, String> {
        let words = &self.words;
        let special = Special {
            draws: words.number("rand-spec-iter")?,
            window_percent: words.number("rand-spec-pct")?,
            hot_percent: words.number("rand-spec-res")?,
        };
        if special.draws == 0
            || !(1..=100).contains(&special.window_percent)
            || special.hot_percent > 99
        {
            return Err(
                "--rand-spec-iter, -pct and -res are from 1, from 1 to 100, and below 100".into(),
            );
        }
        let (h, exponent) = (
            words.number("rand-pareto-h")?,
            words.number("rand-zipfian-exp")?,
        );
        if h <= 0.0 || h >= 1.0 || !(0.0..=10.0).contains(&exponent) {
            return Err(
                "--rand-pareto-h lies between 0 and 1, --rand-zipfian-exp from 0 to 10".into(),
            );
        }
        let mut laws = Laws {
            default: Law::Uniform,
            gaussian: Law::Gaussian {
                draws: special.draws,
            },
            special: Law::Special1020(special),
            pareto: Law::Pareto { h },
            zipfian: Law::Zipfian { exponent },
        };
        laws.default = match words.text("rand-type").unwrap_or_default() {
            "special" => laws.special,
            "uniform" => Law::Uniform,
            "gaussian" => laws.gaussian,
            "pareto" => laws.pareto,
            "zipfian" => laws.zipfian,
            other => {
                return Err(format!(
                    "--rand-type={other}: known are special, uniform, gaussian, pareto and zipfian"
                ));
            }
        };
        Ok(laws)
    }

    /// The database that the options name.
    fn target(&self) -> Result<Target, Stop> {
        let words = &self.words;
        if words.is_on("mysql-dry-run") {
            return Ok(Target::Null(crate::target::Null::default()));
        }
        let text = |name: &str| words.text(name).unwrap_or_default();
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
        if !host.starts_with('/') {
            url.set_host(Some(&host)).map_err(|_| wrong("host"))?;
        }
        let port: u16 = words
            .number(&format!("{prefix}-port"))
            .map_err(Stop::Arguments)?;
        url.set_port(Some(port)).map_err(|()| wrong("port"))?;
        url.set_username(&own("user")).map_err(|()| wrong("user"))?;
        url.set_path(&own("db"));
        if let Some(socket) = socket {
            let name = if prefix == "pgsql" { "host" } else { "socket" };
            url.query_pairs_mut().append_pair(name, &socket);
        }
        if prefix == "mysql" {
            let mut options = url.query_pairs_mut();
            options.append_pair("ssl-mode", &self.ssl_mode());
            if let Some(file) = words.text("mysql-ssl-ca") {
                options.append_pair("ssl-ca", file);
            }
        }
        if let Some(mode) = words.text("pgsql-sslmode").filter(|_| prefix == "pgsql") {
            url.query_pairs_mut().append_pair("sslmode", mode);
        }
        let password = words
            .text(&format!("{prefix}-password"))
            .map(str::to_owned)
            .or_else(|| std::env::var("DISKPROOF_PASSWORD").ok());
        Ok(Target::parse(url.as_str(), password)?)
    }

    /// Encryption as MySQL's clients name it: sysbench 1.0 has on and off, 1.1 has their own words in
    /// capitals.
    fn ssl_mode(&self) -> String {
        match self.words.text("mysql-ssl").unwrap_or_default() {
            _ if self.words.is_on("mysql-ssl") => "required".to_owned(),
            "off" => "disabled".to_owned(),
            mode => mode.to_ascii_lowercase().replace('_', "-"),
        }
    }

    /// The socket that is used instead of the host: as the servers' own libraries choose it.
    fn socket(&self, prefix: &str, host: &str) -> Option<String> {
        if prefix == "pgsql" {
            return host.starts_with('/').then(|| host.to_owned());
        }
        let given = self.words.text("mysql-socket").map(str::to_owned);
        given.or_else(|| {
            let mut known = SOCKETS.iter().filter(|path| Path::new(path).exists());
            let found = known.next().filter(|_| host == "localhost")?;
            Some((*found).to_owned())
        })
    }

    fn load(&self) -> Load {
        let run = &self.run;
        let seconds = (run.seconds > 0.0).then(|| Duration::from_secs_f64(run.seconds));
        let transactions = (run.events > 0).then_some(run.events);
        let ignored = if self.words.text("db-driver") == Some("pgsql") {
            "pgsql-ignore-errors"
        } else {
            "mysql-ignore-errors"
        };
        let ignored = self.words.text(ignored).unwrap_or_default();
        Load {
            crowd: Crowd {
                clients: run.threads,
                workers: None,
                dilation: 1,
            },
            seconds: seconds.or(transactions.is_none().then_some(ENDLESS)),
            transactions,
            warm_up: Duration::from_secs_f64(run.warm_up_s),
            retry: match ignored {
                "" => vec!["none".to_owned()],
                codes => codes
                    .split(',')
                    .map(|code| code.trim().to_owned())
                    .collect(),
            },
            rate: (run.rate > 0.0).then_some(run.rate),
            arrivals: Arrivals::Poisson,
            output: Output {
                report_interval: Duration::from_secs_f64(run.report_interval_s),
                percentiles: [50.0, run.percentile, 99.0]
                    .into_iter()
                    .filter(|&percentile| percentile > 0.0)
                    .collect(),
                json: false,
                lockstep: false,
            },
        }
    }
}

struct RunTask {
    line: Line,
    ready: Ready,
}

impl Task for RunTask {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self { line, ready } = self;
        let (seed, protocol) = (ready.options.seed, ready.options.protocol);
        let workload = ready.workload(&driver)?;
        let name = workload.name();
        let hooks = workload.hooks()?;
        let fairness = workload.fairness();
        let load = line.load();
        let kind = Kind {
            workload: "lua",
            mix: name,
            protocol,
            seed,
        };
        let head = Head {
            threads: line.run.threads,
            report_interval_s: line.run.report_interval_s,
            rate: line.run.rate,
            seed: line.seed_given,
        };
        let percentile = line.run.percentile;
        let clients = usize::try_from(line.run.threads).unwrap_or(usize::MAX);
        run_reported(driver, workload, kind, &load, |ours| {
            Box::new(Hooked {
                hooks,
                inner: Box::new(SysbenchReport {
                    out: Plain(BufWriter::new(stdout())),
                    ours,
                    head,
                    percentile,
                    fairness,
                    ready: None,
                }),
                passes_all: false,
                percentile,
                clients,
                counted: Counted::default(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(options: &str) -> Result<Line, String> {
        let words: Vec<_> = format!("a.lua {options} run")
            .split(' ')
            .map(str::to_owned)
            .collect();
        Line::read(CommandLine::read(&words)?)
    }

    #[test]
    fn numbers_without_sense_are_refused() {
        for wrong in [
            "--time=inf",
            "--time=1e300",
            "--warmup-time=-1",
            "--report-interval=nan",
            "--rate=inf",
            "--percentile=101",
            "--threads=0",
            "--threads=4000000000",
        ] {
            let (name, _) = wrong.split_once('=').unwrap();
            let refusal = line(wrong).err().unwrap_or_default();
            assert!(refusal.starts_with(name), "{wrong}: {refusal}");
        }
        let off = line("--time=0 --rate=0 --percentile=0").unwrap();
        assert!(off.run.seconds == 0.0 && off.run.rate == 0.0);
        assert_eq!(off.load().output.percentiles, [50.0, 99.0]);
    }

    #[test]
    fn a_script_may_compute_for_a_minute_or_as_long_as_is_asked_for() {
        let limit = |options: &str| script_limit(&line(options).unwrap().words);
        assert_eq!(limit("--threads=1"), Ok(Duration::from_mins(1)));
        assert_eq!(limit("--script-limit=0.5"), Ok(Duration::from_millis(500)));
        assert!(limit("--script-limit=0").is_err());
    }

    /// A script may draw by each law, whichever is the default.
    #[test]
    fn a_laws_parameter_holds_without_its_type() {
        let laws = line("--rand-pareto-h=0.1 --rand-spec-iter=6")
            .and_then(|line| line.laws())
            .unwrap();
        assert_eq!(laws.default, laws.special);
        assert_eq!(laws.pareto, Law::Pareto { h: 0.1 });
        assert_eq!(laws.gaussian, Law::Gaussian { draws: 6 });
    }

    #[test]
    fn encryption_is_not_left_out_in_silence() {
        for (options, mode) in [
            ("--threads=1", "disabled"),
            ("--mysql-ssl=off", "disabled"),
            ("--mysql-ssl", "required"),
            ("--mysql-ssl=ON", "required"),
            ("--mysql-ssl=VERIFY_CA", "verify-ca"),
            ("--mysql-ssl=perhaps", "perhaps"),
        ] {
            assert_eq!(line(options).unwrap().ssl_mode(), mode, "{options}");
        }
        let options = "--mysql-host=h --mysql-ssl=VERIFY_CA --mysql-ssl-ca=x";
        let Ok(Target::Mysql(server)) = line(options).unwrap().target() else {
            panic!("{options}");
        };
        assert_eq!(server.options["ssl-mode"], "verify-ca");
        assert_eq!(server.options["ssl-ca"], "x");
    }
}
